"""The OUTPUT directory of a job, on any file system: an unfinished job or a complete
result, never a partial one.

    OUTPUT/.neardup/         while a job is unfinished
        lock, lease-*        the claim of the driver
        manifest, sign …     the job and its complete stages (checkpoints.Checkpoints)
        out/                 results being written
        commit.json          out/ is complete: it is moved to OUTPUT, then .neardup is removed
    OUTPUT/kept … summary.json

The next driver that opens OUTPUT completes the moves of commit.json.  summary.json ends
with the name and size of every file, and on a local disk its XXH3, which the command
checks.
"""
import contextlib
import json
import posixpath
from urllib.parse import urlsplit

from neardup import _core
from neardup.errors import StateError, UsageError
from neardup.parquet import _escape as escape
from neardup.spark import checkpoints, claim, store

HIDDEN = ".neardup"
NAMES = ("kept", "pairs.tsv", "clusters.tsv", "rejected.tsv", "report.html", "spark.json",
         "summary.json")
SCHEMES = {"s3": "s3a", "s3n": "s3a"}


# --- inputs are never outputs ---

def _where(spark, uri):
    """Returns (store, path components) of a path that is not local."""
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(uri)
    fs = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    parts = urlsplit(fs.makeQualified(path).toString().replace("?", "%3F").replace("#", "%23"))
    names = [n for n in posixpath.normpath("/" + parts.path.lstrip("/")).split("/") if n]
    return (SCHEMES.get(parts.scheme.lower(), parts.scheme.lower()), parts.netloc.lower()), names


def check_inputs(spark, output, inputs):
    """Raises UsageError if an input is the output, contains it or lies inside it."""
    near = [store.local_path(i) for i in inputs if store.is_local(i)]
    if store.is_local(output):
        _core.check_outputs([("the output", store.local_path(output), True)],
                            [("the input", i) for i in near])
        return
    to, out = _where(spark, output)
    for given in inputs:
        if store.is_local(given):
            continue
        at, names = _where(spark, given)
        n = min(len(names), len(out))
        if at != to or names[:n] != out[:n]:
            continue
        how = ("is the input" if len(names) == len(out) else
               "lies below the input" if len(names) < len(out) else "contains the input")
        raise UsageError(f"the output {output} {how} {given}, which would be lost; choose another "
                         "directory for the output")


# --- the directory ---

def _is_ours(text):
    return text.lstrip().startswith("{") and text.lstrip()[1:].lstrip().startswith('"neardup"')


def claim_work(place, over=False):
    """Claims a directory of stages, which must be empty or have a job; `over`: start over."""
    names = place.names()
    # A job killed at its first step leaves only its claim.
    if checkpoints.JOB not in names and any(
            n != claim.LOCK and not n.startswith(claim.PREFIX)
            and not n.startswith(checkpoints.JOB + ".") for n in names):
        raise StateError(f"{place.uri} is not empty (it has {names[0]}) and has no job of "
                         "neardup.spark: choose an empty directory for the work")
    held = claim.claim(place)
    try:
        if over:
            for name in stages(place):  # the directory is the user's: other files stay
                if name.removesuffix(".json") in checkpoints.STAGES or name == checkpoints.JOB:
                    place.remove(name)
    except BaseException:
        held.close()
        raise
    return held


def stages(place):
    """Returns the names in a directory of stages except the claim, the manifest of the job first."""
    names = [n for n in place.names()
             if n != claim.LOCK and not n.startswith(claim.PREFIX) and n != "commit.json"]
    return sorted(names, key=lambda n: (n != checkpoints.JOB, not n.endswith(".json"), n))


class Output:
    """A claimed OUTPUT directory.  `over`: start over, and replace a complete result."""

    def __init__(self, folder, over=False, force=False):
        self.folder = folder
        self.over = over
        self.force = force
        self.place = folder.child(HIDDEN)
        self.claim = None
        self.old = []
        self._refuse()
        self.made = not folder.exists()
        folder.make()
        try:
            self.claim = claim.claim(self.place)
            if self.place.exists("commit.json"):
                self._finish()  # of a driver that was killed
                self.claim = claim.claim(self.place)
            self._look()
        except BaseException:
            self.close()
            raise

    def _refuse(self):
        """Raises StateError if the directory belongs to others."""
        shown = self.folder.uri
        if self.folder.exists() and not self.folder.is_folder():
            raise StateError(f"{shown} is not a directory: choose another name for the output")
        names = self.folder.names()
        if not names:
            return
        if HIDDEN in names:
            if self.place.exists(checkpoints.JOB):
                checkpoints.job_of(self.place)
            elif self.place.exists("result"):
                raise StateError(f"{shown} has a result that the command neardup has not moved into "
                                 "place: finish that run, or choose another directory")
            return
        if self.summary() is not None:
            return
        if not self.force:
            raise StateError(f"{shown} is not empty (it has {names[0]}) and is not a result of "
                             "neardup: choose a new or empty directory, or --force to write into it")
        for name in NAMES:
            if name in names and self.folder.is_folder(name):
                raise StateError(f"{shown}/{name} is a directory that neardup did not make, and --force "
                                 "removes no directory: choose another one for the output")

    def summary(self):
        """Returns the text of a summary.json written by neardup, or None."""
        if not self.folder.exists("summary.json") or self.folder.is_folder("summary.json"):
            return None
        try:
            text = self.folder.read("summary.json")
        except UnicodeDecodeError:
            return None
        return text if _is_ours(text) else None

    def _look(self):
        """Reads the state of the directory, once it is claimed."""
        names = self.folder.names()
        text = self.summary()
        self.old = []
        if text is not None:
            with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError):
                self.old = sorted({f["name"].split("/")[0] for f in json.loads(text)["files"]})
            # Accept only names that are in the directory.
            self.old = [n for n in self.old if n in names and n not in ("", ".", "..", HIDDEN)]
            self.old = self.old or [n for n in NAMES if n in names]
            self.old = [n for n in self.old if n != "summary.json"] + ["summary.json"]
        self.complete = text is not None and not self.place.exists(checkpoints.JOB)
        if self.over:
            for name in stages(self.place):
                self.place.remove(name)

    def finished(self, about):
        """Returns the summary if OUTPUT has the intact result of this job, or None.  Raises
        StateError for the result of another job."""
        if not self.complete or self.over:
            return None
        shown = self.folder.uri
        told = {}
        with contextlib.suppress(Exception):
            told = json.loads(self.folder.read("spark.json")).get("job", {})
        if told != about:
            what = checkpoints.differences(told, about) if told else "it was not made by neardup.spark"
            raise StateError(f"{shown} holds the result of another job ({what}): choose another "
                             "directory, or --resume never to replace that result")
        summary = json.loads(self.summary())
        if hasattr(self.folder, "path"):
            _core.verify_output(self.folder.path)
            return summary
        again = "the result is damaged; --resume never replaces it"
        sizes = {escape(name): n for name, n in self.folder.files().items()}
        for file in summary.get("files", []):
            name = file["name"]
            if name not in sizes:
                raise StateError(f"{shown}/{name} is missing: {again}")
            if sizes[name] != file["bytes"]:
                raise StateError(f"{shown}/{name} has {sizes[name]} bytes, it had {file['bytes']}: "
                                 f"{again}")
        return summary

    # --- commit ---

    def commit(self, out):
        """Makes `out` the result, summary.json last, and removes .neardup."""
        names = out.names()
        if "summary.json" not in names:
            raise StateError(f"{out.uri}/summary.json is missing: run again")
        for name in names:
            if name in self.old or not self.folder.exists(name):
                continue
            if not self.force or self.folder.is_folder(name):
                raise StateError(f"{self.folder.uri}/{name} is in the way and not part of a result of "
                                 "neardup: move it away, and run the same command again")
        self.claim.check()
        out.sync()
        new = [n for n in names if n != "summary.json"] + ["summary.json"]
        self.place.write("commit.json", json.dumps({"phase": "old", "old": self.old, "new": new}))
        self._finish()

    def _finish(self):
        """Performs the moves of commit.json; can be repeated after an interruption."""
        todo = json.loads(self.place.read("commit.json"))
        if todo["phase"] == "old":
            # summary.json first, as it describes the files removed next.
            for name in reversed(todo["old"]):
                self.folder.remove(name)
            self.folder.sync()
            todo["phase"] = "new"
            self.place.write("commit.json", json.dumps(todo))
        for name in todo["new"]:
            self.folder.take(f"{HIDDEN}/out/{name}", name)
            if name == "summary.json" and not self.folder.exists(name):
                raise StateError(f"{self.folder.uri}/{name} is missing: remove {self.place.uri} and "
                                 "run again")
        self.folder.sync()
        for name in stages(self.place):
            self.place.remove(name)
        self.place.remove("commit.json")
        self._leave()

    def _leave(self):
        """Releases the claim and removes .neardup."""
        if self.claim is not None:
            if isinstance(self.claim, claim.Lock):
                self.place.remove(claim.LOCK)
            self.claim.close()
            self.claim = None
        self.place.remove_empty()
        self.folder.sync()

    def close(self):
        """Releases the claim; unfinished stages stay for a resume."""
        if self.claim is None:
            return
        if stages(self.place) or self.place.exists("commit.json"):
            self.claim.close()
            self.claim = None
            return
        self._leave()
        if self.made:
            self.folder.remove_empty()
