"""Sources of documents: files that every executor sees, files of another file system,
or the rows of a DataFrame."""
import os
import shutil

from neardup.errors import DataError, StateError, UsageError
from neardup.spark import keep, sign, store, work

# The part of a large uncompressed file that one Spark task reads; larger with few cores, because
# every task costs a Python worker a tenth of a second.
UNIT_BYTES = 64 << 20
UNIT_MOST = 512 << 20
UNITS_A_CORE = 6
WHOLE_FILE = (1 << 31) - (1 << 20)  # the limit of a Spark row


class Source:
    keeps_texts = True
    units = None
    problems = ()

    def check_blocks(self, blocks):
        """Checks that the parts of every task of a unit are 0, 1 … without a gap."""
        last = None
        for r in blocks:
            key = r["unit"], r["task"]
            if r["part"] != (last[1] + 1 if last and last[0] == key else 0):
                raise DataError(f"part {r['part']} of unit {r['unit']} does not follow: remove the "
                                "job's work directory and run again")
            last = key, r["part"]

    def file_of(self, unit):
        return unit

    def size(self):
        return 0, 0

    def unit_bytes(self, cores):
        return 0

    def cut(self, unit_bytes):
        """Splits the files into units of about `unit_bytes`, which is fixed for a job."""


class Files(Source):
    """Files below paths that the driver and all executors see; the library reads them in
    place, in the tasks of the one-machine command."""
    keeps_texts = False

    def __init__(self, run_stage, inputs, avoid):
        plan = run_stage.plan(inputs, avoid)
        self.files = plan.files()
        self.problems = plan.problems()
        self.tasks = plan.tasks()
        self.list = []

    def unit_bytes(self, cores):
        return max(UNIT_BYTES, min(UNIT_MOST, self.size()[1] // (UNITS_A_CORE * max(cores, 1))))

    def cut(self, unit_bytes):
        self.list = []
        for is_range, file, files, begin, end in self.tasks:
            if not is_range:
                self.list.append(sign.Unit(self.files[file:file + files], 0, 1))
                continue
            last = self.list[-1] if self.list else None
            if begin == 0:
                task = 0
            if (last is not None and begin and last.files[0] is self.files[file]
                    and end - last.at <= unit_bytes):
                last.end = task + 1
            else:
                unit = sign.Unit([self.files[file]], task, task + 1)
                unit.at = begin
                self.list.append(unit)
            task += 1

    def describe(self):
        return [[path, size, mtime] for path, _, _, size, mtime in self.files]

    def sign(self, run):
        self.send(run)
        n = len(self.list)
        return run.map(run.spark.range(0, n, 1, max(n, 1)),
                       sign.sign_files(run.job, self.units, False), work.SIGNED)

    def send(self, run):
        if self.units is None:
            self.units = run.send(self.list)

    def check_blocks(self, blocks):
        super().check_blocks(blocks)
        seen = {}
        for r in blocks:
            seen.setdefault(r["unit"], {})[r["task"]] = r["last"]
        for number, unit in enumerate(self.list):
            tasks = seen.get(number, {})
            if sorted(tasks) != list(range(unit.begin, unit.end)) or not all(tasks.values()):
                raise DataError(f"{unit.files[0][0]} was not read to its end: remove the job's work "
                                "directory and run again")

    def file_of(self, unit):
        return self.list[unit].files[0][0]

    def paths(self):
        units = self.units

        def paths(unit):
            return [f[0] for f in units.value[unit].files]

        return paths

    def size(self):
        return len(self.files), sum(f[3] for f in self.files)

    def write_kept(self, run, out):
        """Writes the kept documents below out/kept, byte for byte."""
        kept = os.path.join(out.path, "kept")
        shutil.rmtree(kept, ignore_errors=True)
        os.makedirs(kept)
        ranges = sorted({r["unit"] for r in run.blocks if r["range"]})
        whole = sorted({r["unit"] for r in run.blocks} - set(ranges))
        frame = run.signed()
        if whole:
            n = max(run.parallel, min(len(whole), 10000))
            some = frame.join(run.spark.createDataFrame([(u,) for u in whole], "unit bigint")
                              .hint("broadcast"), "unit") if ranges else frame
            done = run.meter.run("kept", lambda: run.map(
                some.repartitionById(n, (some.unit % n).cast("int")),
                keep.keep_files(run.job, run.numbers, run.gone, self.units, kept),
                keep.CUTS).toArrow())
            if done.num_rows != len(whole):
                raise DataError(f"{done.num_rows} of {len(whole)} groups of files were written")
        if ranges:
            self._write_ranges(run, frame, ranges, bool(whole), kept)

    def _write_ranges(self, run, frame, ranges, others, kept):
        some = frame.join(run.spark.createDataFrame([(u,) for u in ranges], "unit bigint")
                          .hint("broadcast"), "unit") if others else frame
        files = {}
        for r in run.blocks:
            if r["range"] and r["begin"] < r["end"]:
                files.setdefault(self.file_of(r["unit"]), []).append(r)
        regions = {}
        for path, real, name, size, mtime in self.files:
            if not any(u.files[0][0] == path for u in (self.list[n] for n in ranges)):
                continue
            self._check(path, real, size, mtime)
            target = os.path.join(kept, name)
            blocks = files.get(path, [])
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if not blocks:
                shutil.copyfile(real, target)
                continue
            at = cut = 0
            places = []
            for i, r in enumerate(blocks):
                key = r["unit"], r["task"], r["part"]
                begin = r["begin"] if i else 0
                end = blocks[i + 1]["begin"] if i + 1 < len(blocks) else max(r["end"], size)
                places.append((key, (real, begin, end, target, at)))
                gone = run.cuts.get(key, 0)
                at += end - begin - gone
                cut += gone
            if cut and cut >= max(blocks[-1]["end"], size):
                continue  # no document is kept
            with open(target, "wb") as f:
                f.truncate(at)
            regions.update(places)
        sent = run.send(regions)
        done = run.meter.run("kept", lambda: run.map(
            some, keep.cut_ranges(run.job, run.numbers, run.gone, sent), keep.CUTS).toArrow())
        if done.num_rows != len(regions):
            raise DataError(f"{done.num_rows} of {len(regions)} parts were written")
        for path, real, name, size, mtime in self.files:
            if path in files:
                self._check(path, real, size, mtime)

    def _check(self, path, real, size, mtime):
        now = os.stat(real)
        if now.st_size != size or now.st_mtime_ns != mtime:
            raise StateError(f"{path} has changed while it was being read; remove the job's work "
                             "directory and run again")


class Contents(Source):
    """Entire files of a file system that only Spark reads (hdfs://, s3a:// …)."""

    def __init__(self, spark, inputs):
        self.spark = spark
        self.files = []  # (name in ids, URI, name below kept/, size, time)
        jvm = spark.sparkContext._jvm
        conf = spark.sparkContext._jsc.hadoopConfiguration()
        for given in inputs:
            path = jvm.org.apache.hadoop.fs.Path(store.as_uri(given))
            fs = path.getFileSystem(conf)
            if not fs.exists(path):
                raise UsageError(f"{given} does not exist")
            root = fs.getFileStatus(path)
            base = root.getPath().toString()
            if root.isFile():
                self.files.append((given, base, root.getPath().getName(), root.getLen(),
                                   root.getModificationTime()))
                continue
            found = []
            walk = fs.listFiles(path, True)
            while walk.hasNext():
                s = walk.next()
                name = s.getPath().toString()[len(base):].lstrip("/")
                found.append((name, s))
            for name, s in sorted(found, key=lambda f: [p.encode() for p in f[0].split("/")]):
                self.files.append((f"{given.rstrip('/')}/{name}", s.getPath().toString(), name,
                                   s.getLen(), s.getModificationTime()))
        names = sorted((f[2] + "/" for f in self.files), key=str.encode)
        if any(b.startswith(a) for a, b in zip(names, names[1:])):
            # As in the command, prefix every name with the number of its file.
            self.files = [(p, u, f"{i + 1}/{n}", size, t)
                          for i, (p, u, n, size, t) in enumerate(self.files)]
        for given, uri, _, size, _ in self.files:
            if size > WHOLE_FILE:
                raise UsageError(f"{given} has {size} bytes: Spark reads entire files of at most 2 "
                                 "GB; split it, or store the documents as Parquet")
        self.sent = None

    def describe(self):
        return [[path, size, mtime] for path, _, _, size, mtime in self.files]

    def frame(self, run):
        if self.sent is None:
            self.sent = run.send({uri: (i, path, name)
                                  for i, (path, uri, name, _, _) in enumerate(self.files)})
        schema = "path string, content binary"
        full = [_escaped(f[1]) for f in self.files if f[3]]
        empty = [(f[1], b"") for f in self.files if not f[3]]
        df = self.spark.createDataFrame(empty, schema)  # Spark skips empty files
        if full:
            df = df.unionByName(self.spark.read.format("binaryFile").load(full)
                                .select("path", "content"))
        return df

    def sign(self, run):
        if not self.files:
            return run.spark.createDataFrame([], work.sql_schema(work.SIGNED))
        return run.map(self.frame(run), sign.sign_contents(run.job, self.sent), work.SIGNED)

    def check_blocks(self, blocks):
        super().check_blocks(blocks)
        missing = set(range(len(self.files))) - {r["unit"] for r in blocks}
        if missing:
            raise DataError(f"{self.files[min(missing)][0]} was not read: remove the job's work "
                            "directory and run again")

    def paths(self):
        names = [f[0] for f in self.files]

        def paths(unit):
            return [names[unit]]

        return paths

    def size(self):
        return len(self.files), sum(f[3] for f in self.files)

    def write_kept(self, run, out):
        """Executors write pieces, the driver's JVM concatenates them."""
        first, skipped = {}, {}
        for r in run.blocks:
            first.setdefault(r["unit"], r["first"])
            if r["skipped"]:
                skipped.setdefault(r["unit"], []).extend(sign.places_of(r["skipped"]))
        frame = self.frame(run)
        pieces = run.map(frame, keep.keep_contents(run.job, self.sent, run.send(first),
                                                   run.gone, run.send(skipped)), keep.KEPT)
        run.points.save("kept", lambda: pieces)
        rows = run.points.read("kept", "unit", "piece", "length").toArrow().to_pylist()
        if {r["unit"] for r in rows} != set(range(len(self.files))):
            raise DataError("not every file was written")
        # A text file per piece: its raw bytes, and a line end that is ignored.
        import pyspark.sql.functions as F

        run.place.remove("pieces")
        run.meter.run("pieces", lambda: run.points.read("kept").where("piece >= 0").select(
            F.col("data").cast("string").alias("value"), "unit", "piece").write.partitionBy(
                "unit", "piece").mode("overwrite").text(run.place.child_uri("pieces")))
        for unit in sorted({r["unit"] for r in rows if r["piece"] >= 0}):
            taken = []
            for piece, length in sorted((r["piece"], r["length"]) for r in rows
                                        if r["unit"] == unit):
                name = f"pieces/unit={unit}/piece={piece}"
                part = list(run.place.sizes(name))
                if len(part) != 1:
                    raise DataError(f"{name} has {len(part)} parts")
                taken.append((f"{run.place.uri}/{name}/{part[0]}", 0, length))
            out.gather(f"kept/{self.files[unit][2]}", taken)


def _escaped(uri):
    for c in "\\{}[]*?":
        uri = uri.replace(c, "\\" + c)
    return uri


class Frame(Source):
    """Rows of a DataFrame, in its order: by partition, then by row."""

    def __init__(self, df, columns):
        self.df = df
        self.columns = columns  # role: column

    def describe(self):
        return {"columns": self.columns, "schema": self.df.schema.simpleString()}

    def sign(self, run):
        exprs = []
        for role, name in self.columns.items():
            exprs.append(self.df[name].cast("string").alias(role))
        return run.map(self.df.select(*exprs), sign.sign_rows(run.job, list(self.columns)),
                       work.SIGNED)

    def paths(self):
        return lambda unit: [f"partition {unit}"]


class Parquet(Source):
    """Parquet files, in the order of their names and rows."""

    def __init__(self, spark, inputs, columns):
        self.spark = spark
        self.inputs = list(inputs)
        self.columns = columns
        self.contents = Contents(spark, inputs)
        self.files = [f for f in self.contents.files if f[0].endswith(".parquet")]
        if not self.files:
            raise UsageError(f"no .parquet file in {', '.join(self.inputs)}")

    def describe(self):
        return {"columns": self.columns, "files": [[f[0], f[3], f[4]] for f in self.files]}

    def frame(self):
        return (self.spark.read.option("parquet.page.verify-checksum.enabled", "true")
                .parquet(*[_escaped(f[1]) for f in self.files]))

    def sign(self, run):
        df = self.frame()
        names = [df[name].cast("string").alias(role) for role, name in self.columns.items()]
        self.sent = run.send({store.plain(f[1]): i for i, f in enumerate(self.files)})
        rows = df.select(*names, df["_metadata.file_path"].alias("file"),
                         df["_metadata.row_index"].alias("row"))
        return run.map(rows, sign.sign_parquet(run.job, list(self.columns), self.sent), work.SIGNED)

    def paths(self):
        names = [f[0] for f in self.files]
        return lambda unit: [names[unit]]

    def check_blocks(self, blocks):
        """Checks that the rows of every file have no gap; `begin` is the first index."""
        at = {}
        for r in blocks:
            if r["begin"] != at.get(r["unit"], 0):
                raise DataError(f"row {at.get(r['unit'], 0)} of {self.files[r['unit']][0]} are "
                                "missing: remove the job's work directory and run again")
            at[r["unit"]] = r["end"]

    def size(self):
        return len(self.files), sum(f[3] for f in self.files)

    def write_kept(self, run, out):
        """Writes all columns of the kept rows below kept/."""
        import numpy

        numbers = numpy.flatnonzero(run.dropped)
        starts = numpy.array([r["first"] for r in run.blocks] or [0])
        which = numpy.searchsorted(starts, numbers, "right") - 1
        gone = [(self.files[run.blocks[b]["unit"]][1],
                 int(n) - run.blocks[b]["first"] + run.blocks[b]["begin"])
                for n, b in zip(numbers.tolist(), which.tolist())]
        df = self.frame()
        gone = run.spark.createDataFrame([(store.plain(f), r) for f, r in gone],
                                         "nd_file string, nd_row bigint")
        import pyspark.sql.functions as F

        kept = df.withColumn("nd_file", F.expr(
            "regexp_replace(url_decode(replace(_metadata.file_path, '+', '%2B')), '^file:/+', "
            "'file:///')")).withColumn("nd_row", df["_metadata.row_index"]).join(
            gone, ["nd_file", "nd_row"], "left_anti").drop("nd_file", "nd_row")
        run.meter.run("kept", lambda: kept.write.mode("overwrite").parquet(out.child_uri("kept")))


def describe_inputs(spark, inputs):
    """Returns whether the inputs are local files; raises UsageError for a mixture."""
    local = [store.is_local(i) for i in inputs]
    if all(local):
        return True
    if any(local):
        raise UsageError("inputs must be either all local files or all files of another file system")
    return False
