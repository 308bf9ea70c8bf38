"""Directories of a job on any file system of Spark, and the cost of its stages."""
import contextlib
import ctypes
import os
import shutil
import time
from urllib.parse import unquote, urlsplit

from neardup.errors import DataError, StateError

TRIES = 20  # attempts to read the metrics of a stage, half a second apart


def is_local(uri):
    return urlsplit(uri).scheme in ("", "file")


def local_path(uri):
    parts = urlsplit(uri)
    return parts.path if parts.scheme == "file" else uri


def as_uri(path):
    return path if urlsplit(path).scheme else "file://" + os.path.abspath(path)


def plain(uri):
    """Normalises a URI: file:///a%20b and file:/a b are the same path."""
    parts = urlsplit(uri)
    return unquote(f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.scheme else uri)


def folder(spark, uri, sync=True):
    """Returns a directory.  `sync`: on a local disk, sync files before they count as complete."""
    return LocalFolder(local_path(uri), sync) if is_local(uri) else HadoopFolder(spark, uri)


def _sync_folder(path):
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _sync_file_system(path):
    """Syncs the file system of a directory to disk."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if not hasattr(libc, "syncfs"):
            os.sync()
        elif libc.syncfs(fd):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    finally:
        os.close(fd)


class LocalFolder:
    """A directory that the driver and all executors see under the same path."""

    def __init__(self, path, sync=True):
        self.path = os.path.abspath(path)
        self.uri = "file://" + self.path
        self.synced = sync

    def at(self, name):
        return os.path.join(self.path, name) if name else self.path

    def child(self, name):
        return LocalFolder(self.at(name), self.synced)

    def child_uri(self, name):
        return self.uri.rstrip("/") + "/" + name

    def exists(self, name=""):
        return os.path.lexists(self.at(name))

    def is_folder(self, name=""):
        return os.path.isdir(self.at(name))

    def make(self, name=""):
        os.makedirs(self.at(name), exist_ok=True)

    def read(self, name):
        with open(self.at(name), encoding="utf-8") as f:
            return f.read()

    def write(self, name, text):
        """Replaces a file atomically."""
        with open(self.at(name) + ".new", "w", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            if self.synced:
                os.fsync(f.fileno())
        os.replace(self.at(name) + ".new", self.at(name))
        if self.synced:
            _sync_folder(os.path.dirname(self.at(name)))

    def sync(self):
        """Syncs the files written so far to the disk of this machine.  Files on a network file
        system are on its server when they are closed."""
        if self.synced:
            _sync_file_system(self.path)

    def put(self, path, name):
        """Moves a file of the driver here."""
        shutil.move(path, self.at(name))

    def sizes(self, name):
        """Returns the sizes of the parts of a stage."""
        at = self.at(name)
        if not os.path.isdir(at):
            return {}
        return {f: os.path.getsize(os.path.join(at, f)) for f in sorted(os.listdir(at))
                if not f.startswith((".", "_"))}

    def names(self, name=""):
        at = self.at(name)
        return sorted(os.listdir(at)) if os.path.isdir(at) else []

    def remove(self, name=""):
        at = self.at(name)
        if os.path.isdir(at) and not os.path.islink(at):
            shutil.rmtree(at)
        elif os.path.lexists(at):
            os.remove(at)

    def remove_empty(self, name=""):
        with contextlib.suppress(OSError):
            os.rmdir(self.at(name))

    def files(self, name=""):
        """Returns the sizes of all files below, except those of .neardup."""
        found = {}
        root = self.at(name)
        for place, folders, names in os.walk(root):
            folders[:] = sorted(f for f in folders if place != root or f != ".neardup")
            for n in names:
                path = os.path.join(place, n)
                found[os.path.relpath(path, root)] = os.lstat(path).st_size
        return found

    def take(self, old, new):
        """Moves a file or directory of the result into place, if that is still to be done."""
        if os.path.lexists(self.at(old)):
            os.rename(self.at(old), self.at(new))

    def gather(self, name, pieces):
        """Writes file `name` from the first bytes of others, one after another."""
        os.makedirs(os.path.dirname(self.at(name)), exist_ok=True)
        with open(self.at(name), "wb") as out:
            for piece, skip, length in pieces:
                with open(local_path(piece), "rb") as f:
                    f.seek(skip)
                    while length:
                        data = f.read(min(length, 16 << 20))
                        if not data:
                            raise DataError(f"{piece} is too short")
                        out.write(data)
                        length -= len(data)


class HadoopFolder:
    """A directory of a Hadoop file system: hdfs://, s3a:// …"""

    def __init__(self, spark, uri):
        self.spark = spark
        self.uri = uri.rstrip("/")
        self.jvm = spark.sparkContext._jvm
        self.conf = spark.sparkContext._jsc.hadoopConfiguration()
        self.fs = self._path("").getFileSystem(self.conf)

    def _path(self, name):
        return self.jvm.org.apache.hadoop.fs.Path(f"{self.uri}/{name}" if name else self.uri)

    def child(self, name):
        return HadoopFolder(self.spark, self.child_uri(name))

    def child_uri(self, name):
        return f"{self.uri}/{name}"

    def exists(self, name=""):
        return self.fs.exists(self._path(name))

    def is_folder(self, name=""):
        return self.exists(name) and self.fs.getFileStatus(self._path(name)).isDirectory()

    def make(self, name=""):
        self.fs.mkdirs(self._path(name))

    def read(self, name):
        stream = self.fs.open(self._path(name))
        try:
            return self.jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()

    def overwrite(self, name, text):
        """Overwrites a file in place; readers may see it incomplete."""
        stream = self.fs.create(self._path(name), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def write(self, name, text):
        """Writes a file through a rename, so that it is complete or missing."""
        self.overwrite(name + ".new", text)
        if self.exists(name):
            self.fs.delete(self._path(name), False)
        self.fs.rename(self._path(name + ".new"), self._path(name))

    def sync(self):
        """Does nothing: a store has every closed file."""

    def times(self):
        """Returns the modification time of each file, by the clock of the store, in milliseconds."""
        return {s.getPath().getName(): s.getModificationTime()
                for s in self.fs.listStatus(self._path("")) if s.isFile()}

    def put(self, path, name):
        self.gather(name, [("file://" + path, 0, os.path.getsize(path))])
        os.remove(path)

    def sizes(self, name):
        if not self.exists(name):
            return {}
        return {s.getPath().getName(): s.getLen() for s in self.fs.listStatus(self._path(name))
                if not s.getPath().getName().startswith((".", "_"))}

    def names(self, name=""):
        if not self.exists(name):
            return []
        return sorted(s.getPath().getName() for s in self.fs.listStatus(self._path(name)))

    def remove(self, name=""):
        self.fs.delete(self._path(name), True)

    def remove_empty(self, name=""):
        if self.is_folder(name) and not list(self.fs.listStatus(self._path(name))):
            self.fs.delete(self._path(name), False)

    def files(self, name=""):
        """Returns the sizes of all files below, except those of .neardup."""
        found = {}
        if not self.exists(name):
            return found
        base = self.fs.getFileStatus(self._path(name)).getPath().toString().rstrip("/")
        walk = self.fs.listFiles(self._path(name), True)
        while walk.hasNext():
            s = walk.next()
            file = s.getPath().toString()[len(base):].lstrip("/")
            if not file.startswith(".neardup/"):
                found[file] = s.getLen()
        return found

    def take(self, old, new):
        """Moves a file or directory of the result into place, if that is still to be done.
        If a directory is renamed file by file (S3), completes an interrupted move."""
        if not self.exists(old):
            return
        if not self.exists(new):
            if "/" in new:
                self.make(os.path.dirname(new))
            if not self.fs.rename(self._path(old), self._path(new)):
                raise StateError(f"{self.child_uri(old)} could not be renamed to {new}")
        elif self.is_folder(old):
            for file in sorted(self.files(old)):
                self.take(f"{old}/{file}", f"{new}/{file}")
            self.remove(old)
        else:
            self.remove(new)
            self.take(old, new)

    def gather(self, name, pieces):
        """Writes file `name` from the first bytes of others (full paths), one after
        another, inside the driver's JVM."""
        io = self.jvm.org.apache.commons.io.IOUtils
        parent = os.path.dirname(name)
        if parent:
            self.make(parent)
        out = self.fs.create(self._path(name), True)
        try:
            for piece, skip, length in pieces:
                at = self.jvm.org.apache.hadoop.fs.Path(piece)
                stream = at.getFileSystem(self.conf).open(at)
                try:
                    if io.copyLarge(stream, out, int(skip), int(length)) != length:
                        raise DataError(f"{piece} is too short")
                finally:
                    stream.close()
        finally:
            out.close()


class Meter:
    """The cost of stages, from Spark's metrics."""

    FIELDS = ("executorRunTime", "inputBytes", "outputBytes", "shuffleWriteBytes",
              "shuffleWriteRecords", "shuffleReadBytes")

    def __init__(self, spark):
        self.spark = spark
        self.context = spark.sparkContext
        self.stages = []

    def run(self, name, action):
        """Runs `action` in its own job group, then reads its cost."""
        sc = self.context
        group = f"neardup-{name}-{id(self)}-{len(self.stages)}"
        sc.setJobGroup(group, f"neardup: {name}", False)
        began = time.monotonic()
        try:
            result = action()
        finally:
            sc.setJobGroup("", "", False)
            sc.setLocalProperty("spark.jobGroup.id", None)
            sc.setLocalProperty("spark.job.description", None)
        seconds = time.monotonic() - began
        self.stages.append({"stage": name, "seconds": round(seconds, 3), **self._read(group)})
        return result

    def _read(self, group):
        for _ in range(TRIES):  # metrics may arrive late
            cost = self._read_once(group)
            if "metrics" not in cost:
                break
            time.sleep(0.5)
        return cost

    def _read_once(self, group):
        sums = dict.fromkeys(self.FIELDS, 0)
        shuffles = []
        scala = self.context._jsc.sc()
        try:
            scala.listenerBus().waitUntilEmpty()
            tracker = self.context.statusTracker()
            jobs = tracker.getJobIdsForGroup(group)
            if not jobs:
                return {"metrics": "not available: the job is not listed yet"}
            for job in jobs:
                for stage in tracker.getJobInfo(job).stageIds:
                    data = scala.statusStore().lastStageAttempt(stage)
                    if data.status().toString() in ("ACTIVE", "PENDING"):
                        return {"metrics": f"not available: stage {stage} has not ended"}
                    for field in self.FIELDS:
                        sums[field] += getattr(data, field)()
                    if data.shuffleWriteBytes():
                        shuffles.append((stage, data.shuffleWriteBytes()))
        except Exception as e:  # missing metrics must not fail the job
            return {"metrics": f"not available: {e.__class__.__name__}"}
        return {"executor_seconds": sums["executorRunTime"] / 1000,
                "read_bytes": sums["inputBytes"], "written_bytes": sums["outputBytes"],
                "shuffled_bytes": sums["shuffleWriteBytes"],
                "shuffles": [b for _, b in sorted(set(shuffles))]}
