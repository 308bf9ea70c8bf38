"""Folders of a job, on any file system that Spark knows, and its checkpoints.

A stage is done when its manifest lies beside its parts: it names every part
with its size.  Parts carry checksums (Parquet's per page, the library's per
block and run).  What is missing or damaged is an error, never a pass.
"""
import json
import os
import shutil
import time
from urllib.parse import unquote, urlsplit

from pyspark.sql.types import StructType

from neardup.errors import DataError, StateError

TRIES = 20  # at reading the metrics of a stage, with half a second between them


def is_local(uri):
    return urlsplit(uri).scheme in ("", "file")


def local_path(uri):
    parts = urlsplit(uri)
    return parts.path if parts.scheme == "file" else uri


def as_uri(path):
    return path if urlsplit(path).scheme else "file://" + os.path.abspath(path)


def plain(uri):
    """file:///a%20b and file:/a b are one path."""
    parts = urlsplit(uri)
    return unquote(f"{parts.scheme}://{parts.netloc}{parts.path}" if parts.scheme else uri)


def folder(spark, uri):
    return LocalFolder(local_path(uri)) if is_local(uri) else HadoopFolder(spark, uri)


class LocalFolder:
    """A folder that the driver and all executors see under one path."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.uri = "file://" + self.path

    def at(self, name):
        return os.path.join(self.path, name) if name else self.path

    def child(self, name):
        return LocalFolder(self.at(name))

    def child_uri(self, name):
        return self.uri.rstrip("/") + "/" + name

    def exists(self, name=""):
        return os.path.lexists(self.at(name))

    def is_empty(self):
        return not os.path.isdir(self.path) or not os.listdir(self.path)

    def make(self, name=""):
        os.makedirs(self.at(name), exist_ok=True)

    def read(self, name):
        with open(self.at(name), encoding="utf-8") as f:
            return f.read()

    def write(self, name, text):
        with open(self.at(name) + ".new", "w", encoding="utf-8") as f:
            f.write(text)
            f.flush()
            os.fsync(f.fileno())
        os.replace(self.at(name) + ".new", self.at(name))

    def put(self, path, name):
        """Moves a file of the driver here."""
        shutil.move(path, self.at(name))

    def sizes(self, name):
        """Sizes of the parts of a stage."""
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

    def rename(self, old, new):
        os.replace(self.at(old), self.at(new))

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
    """A folder of a file system of Hadoop's: hdfs://, s3a:// …"""

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

    def is_empty(self):
        return not self.exists() or not list(self.fs.listStatus(self._path("")))

    def make(self, name=""):
        self.fs.mkdirs(self._path(name))

    def read(self, name):
        stream = self.fs.open(self._path(name))
        try:
            return self.jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()

    def write(self, name, text):
        stream = self.fs.create(self._path(name + ".new"), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        if self.exists(name):
            self.fs.delete(self._path(name), False)
        self.fs.rename(self._path(name + ".new"), self._path(name))

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

    def rename(self, old, new):
        if self.exists(new):
            self.remove(new)
        if not self.fs.rename(self._path(old), self._path(new)):
            raise StateError(f"{self.child_uri(old)} could not be renamed to {new}")

    def gather(self, name, pieces):
        """Writes file `name` from the first bytes of others (full paths), one after
        another.  The bytes flow inside the driver's JVM."""
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
    """What a stage cost, from Spark's own metrics."""

    FIELDS = ("executorRunTime", "inputBytes", "outputBytes", "shuffleWriteBytes",
              "shuffleWriteRecords", "shuffleReadBytes")

    def __init__(self, spark):
        self.spark = spark
        self.context = spark.sparkContext
        self.stages = []

    def run(self, name, action):
        """Runs `action` under its own job group, then reads what it cost."""
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
        for _ in range(TRIES):  # a busy driver may be late with its metrics
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
                return {"metrics": "not available: Spark has not told of the job yet"}
            for job in jobs:
                for stage in tracker.getJobInfo(job).stageIds:
                    data = scala.statusStore().lastStageAttempt(stage)
                    if data.status().toString() in ("ACTIVE", "PENDING"):
                        return {"metrics": f"not available: stage {stage} has not ended for Spark"}
                    for field in self.FIELDS:
                        sums[field] += getattr(data, field)()
                    if data.shuffleWriteBytes():
                        shuffles.append((stage, data.shuffleWriteBytes()))
        except Exception as e:  # metrics are a report, not the job
            return {"metrics": f"not available: {e.__class__.__name__}"}
        return {"executor_seconds": sums["executorRunTime"] / 1000,
                "read_bytes": sums["inputBytes"], "written_bytes": sums["outputBytes"],
                "shuffled_bytes": sums["shuffleWriteBytes"],
                "shuffles": [b for _, b in sorted(set(shuffles))]}


class Checkpoints:
    """The stages of a job in its work folder."""

    def __init__(self, spark, place, meter):
        self.spark = spark
        self.place = place
        self.meter = meter
        self.resumed = []

    def agree(self, about):
        """Is what lies here the same job?"""
        text = json.dumps(about, sort_keys=True, indent=1)
        if self.place.exists("job.json"):
            old = json.loads(self.place.read("job.json"))
            # These are the job's own: they were chosen when it began.
            own = ("secret", "unit_bytes")
            different = sorted(k for k in set(old) | set(about)
                               if k not in own and old.get(k) != json.loads(text).get(k))
            if different:
                raise StateError(
                    f"{self.place.uri} holds another, unfinished job (it differs in "
                    f"{', '.join(different)}): finish that one, or remove the folder")
            return old
        self.place.make()
        self.place.write("job.json", text)
        return about

    def done(self, name):
        """The manifest of a finished stage, its parts checked; None: to be done."""
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
                raise StateError(f"{self.place.child_uri(name)}/{part} is no part of the job: "
                                 f"remove {self.place.uri} and run again")

    def save(self, name, make, codec="none", **more):
        """Runs a stage unless it is done.  `make` gives the DataFrame to write."""
        manifest = self.done(name)
        if manifest is not None:
            return manifest
        self.place.remove(name)
        df = make()
        # Packed values do not repeat: a dictionary of them would only cost time.
        self.meter.run(name, lambda: df.write.option("compression", codec)
                       .option("parquet.enable.dictionary", "false").mode("overwrite").parquet(self.place.child_uri(name)))
        manifest = {"parts": self.place.sizes(name), "schema": df.schema.json(),
                    "meter": self.meter.stages[-1], **more}
        self.place.write(f"{name}.json", json.dumps(manifest))
        return manifest

    def read(self, name, *columns):
        """A finished stage."""
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
