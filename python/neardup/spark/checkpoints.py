"""The stages of a job in its work directory.

A stage is complete when its manifest exists.  The manifest names every part with its
size and is written once they are on disk.  Parts have checksums (Parquet's per page,
the library's per block and run).  A missing or damaged part is always an error.
"""
import json

from pyspark.sql.types import StructType

from neardup.errors import DataError, StateError

JOB = "manifest"  # the command uses the same name, so neither resumes a run of the other
STAGES = ("sign", "copies", "edges", "verify", "values", "census", "counts", "pairs", "kept", "pieces",
          "result", "out")


def identity(about):
    """Returns the identity of a job, without the values that it chose itself."""
    return {k: v for k, v in about.items() if k not in ("secret", "unit_bytes")}


def job_of(place):
    """Returns the job in a directory of stages."""
    text = place.read(JOB)
    if not text.startswith("{"):
        raise StateError(f"{place.uri} holds an unfinished run of the command neardup: finish it with "
                         "that command, or choose another directory")
    return json.loads(text)


def differences(old, new):
    """Describes the differences between two jobs."""
    said = []
    for key in sorted(set(old) | set(new)):
        a, b = old.get(key), new.get(key)
        if a == b:
            continue
        if key == "options" and isinstance(a, dict) and isinstance(b, dict):
            for name in sorted(set(a) | set(b)):
                if a.get(name) != b.get(name):
                    said.append(f"--{name.replace('_', '-')} {a.get(name, 'not given')}, now "
                                f"{b.get(name, 'not given')}")
        elif key == "neardup":
            said.append(f"neardup {a}, now {b}")
        elif key == "plan":
            said.append("the plan of --sample")
        else:
            said.append({"input": "the input files, their sizes or times"}.get(key, key))
    return "; ".join(said)


class Checkpoints:
    """The stages of a job in its work directory."""

    def __init__(self, spark, place, meter, claim=None):
        self.spark = spark
        self.place = place
        self.meter = meter
        self.claim = claim
        self.resumed = []

    def agree(self, about):
        """Records the job, or raises StateError if the directory has another one."""
        text = json.dumps(about, sort_keys=True, indent=1)
        if self.place.exists(JOB):
            old = job_of(self.place)
            different = differences(identity(old), identity(json.loads(text)))
            if different:
                raise StateError(
                    f"{self.place.uri} holds another, unfinished job ({different}): finish that one, "
                    "start over with --resume never (resume=\"never\" in Python), or choose another "
                    "directory")
            return old
        self.place.make()
        self.place.write(JOB, text)
        return about

    def done(self, name):
        """Returns the manifest of a complete stage after checking its parts, or None."""
        if not self.place.exists(f"{name}.json"):
            return None
        manifest = json.loads(self.place.read(f"{name}.json"))
        self._check(name, manifest)
        self.resumed.append(name)
        return manifest

    def _check(self, name, manifest):
        found = self.place.sizes(name)
        for part, size in manifest["parts"].items():
            where = f"{self.place.child_uri(name)}/{part}"
            if part not in found:
                raise StateError(f"{where} is missing: remove {self.place.uri} and run again")
            if found[part] != size:
                raise DataError(f"{where} has {found[part]} bytes, it had {size}: remove "
                                f"{self.place.uri} and run again")
        for part in found:
            if part not in manifest["parts"]:
                raise StateError(f"{self.place.child_uri(name)}/{part} is not a part of the job: "
                                 f"remove {self.place.uri} and run again")

    def save(self, name, make, codec="none", **more):
        """Runs a stage unless it is complete.  `make` returns the DataFrame to write."""
        manifest = self.done(name)
        if manifest is not None:
            return manifest
        self._hold()
        self.place.remove(name)
        df = make()
        # Binary values do not repeat, so a dictionary would only cost time.
        self.meter.run(name, lambda: df.write.option("compression", codec)
                       .option("parquet.enable.dictionary", "false").mode("overwrite").parquet(self.place.child_uri(name)))
        manifest = {"parts": self.place.sizes(name), "schema": df.schema.json(),
                    "meter": self.meter.stages[-1], **more}
        self._hold()
        self.place.sync()
        self.place.write(f"{name}.json", json.dumps(manifest))
        return manifest

    def _hold(self):
        if self.claim is not None:
            self.claim.check()

    def read(self, name, *columns):
        """Returns the DataFrame of a complete stage."""
        manifest = json.loads(self.place.read(f"{name}.json"))
        self._check(name, manifest)
        paths = [f"{self.place.child_uri(name)}/{p}" for p in manifest["parts"]]
        schema = StructType.fromJson(json.loads(manifest["schema"]))
        if paths:
            df = (self.spark.read.option("parquet.page.verify-checksum.enabled", "true")
                  .schema(schema).parquet(*paths))
        else:
            df = self.spark.createDataFrame([], schema)
        return df.select(*columns) if columns else df

    def bytes(self, name):
        return sum(json.loads(self.place.read(f"{name}.json"))["parts"].values())
