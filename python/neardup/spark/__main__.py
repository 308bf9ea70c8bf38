"""python -m neardup.spark INPUT... OUTPUT [options]: the job as a program.

    spark-submit has no -m: pass it the file neardup/spark/__main__.py, or run
    `python -m neardup.spark` where Spark is installed.
"""
import argparse
import os
import re
import sys
import time

from neardup import _core
from neardup.errors import Error, UsageError

# Options of the command that are refused here, and the alternatives.
INSTEAD = {
    "threads": "set the cores of Spark: --master 'local[4]', --conf spark.executor.cores=4",
    "memory": "set the memory of Spark: --conf spark.executor.memoryOverhead=3g",
    "tmp": "executors use their own temporary directories (TMPDIR, spark.local.dir)",
    "shard": "Spark splits the work",
    "max_stdin": "standard input is not read",
    "progress": "every stage is logged when it ends; the web UI of Spark shows more",
    "against": "pass both collections as input, the reference collection first, and use the kept "
               "documents of the second; or use neardup dedup --against on one machine",
    "top": "use neardup pairs --top on one machine",
    "stats": "spark.json has the cost of every stage",
}


def parser():
    p = argparse.ArgumentParser(
        prog="python -m neardup.spark",
        description="Finds near-duplicates on a Spark cluster and writes what `neardup dedup` "
        "writes: kept/, clusters.tsv, pairs.tsv, rejected.tsv, summary.json, report.html, and spark.json with "
        "the cost of every stage.  A job that was killed resumes when it is started again.")
    p.add_argument("input", nargs="+", help="files or directories: local (seen by every executor "
                   "under the same path), hdfs://, s3a://; Parquet, or any --format")
    p.add_argument("output", help="a directory that is new or empty, or has this job, unfinished or "
                   "complete")
    p.add_argument("--io", choices=["auto", "direct", "spark"], default="auto",
                   help="direct: executors read the files themselves; spark: through Spark's file "
                   "systems (auto: direct for local files)")
    p.add_argument("--master", help="the Spark master, unless spark-submit sets it")
    p.add_argument("--conf", action="append", default=[], metavar="NAME=VALUE",
                   help="a Spark setting")
    p.add_argument("--quiet", action="store_true")
    for row in _core.option_table():
        if "dedup" not in row["commands"]:
            continue
        name = "--" + row["name"].replace("_", "-")
        if row["name"] in INSTEAD:
            p.add_argument(name, nargs="?", const="", help=argparse.SUPPRESS)
            continue
        words = ", ".join(f"{v} ({m})" if m else v for v, m in row["meanings"].items())
        help_ = (row["help"] + (f": {words}" if words else "")).replace("%", "%%")
        if row["type"] == "flag":
            p.add_argument(name, action="store_const", const="yes", help=help_)
        else:
            p.add_argument(name, metavar=row["metavar"] or "VALUE", help=help_)
    return p


# Spark settings, unless others are given.
PATIENT = {
    # A crowded machine may need longer than 15 s to fetch a result from the JVM.
    "spark.python.authenticate.socketTimeout": "300s",
}
LOCAL = {
    **PATIENT,
    # A local process that times out is slow, not lost.
    "spark.network.timeout": "1200s",
    # The JVM only moves bytes here, so its second compiler costs more than it gains.  Without it the
    # JVM would reserve 48 MiB for compiled code, too little for a session of many queries.
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m",
}


def _with_retries(master):
    """Sets the retries of a cluster: local[2] alone gives up when a task fails once."""
    cores = {"local": "1"}.get(master) or master.removeprefix("local[").removesuffix("]")
    return f"local[{cores},4]" if cores.isdigit() or cores == "*" else master


def session(given):
    # spark-submit has already started the JVM and set the master.
    local = (given.master.startswith("local") if given.master
             else "PYSPARK_GATEWAY_PORT" not in os.environ)
    if local:  # the workers are this Python
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("neardup").config(
        "spark.ui.showConsoleProgress", "false")
    if given.master:
        builder = builder.master(_with_retries(given.master))
    settings = {name: value for name, _, value in (s.partition("=") for s in given.conf)}
    settings = {**(LOCAL if local else PATIENT), **settings}
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def sources(spark, given, options, stage, avoid):
    from neardup.spark import source, store

    parquet = options.get("format") == "parquet" or all(
        i.rstrip("/").endswith(".parquet") for i in given.input)
    inputs = given.input
    if parquet:
        columns = {"id": options.get("id_field") or "id", "text": options.get("text_field") or "text"}
        keep = str(options.get("keep", "first"))
        if keep.startswith("field:"):
            columns["field"] = keep[6:]
        elif keep == "url":
            columns["url"] = options.get("url_field") or "url"
        elif keep in ("oldest", "newest"):
            columns["time"] = options.get("time_field") or "time"
        return source.Parquet(spark, inputs, columns)
    local = source.describe_inputs(spark, inputs)
    if given.io == "direct" and not local:
        raise UsageError("--io direct reads local files only")
    if local and given.io != "spark":
        return source.Files(stage, [store.local_path(i) for i in inputs], avoid)
    return source.Contents(spark, inputs)


def run(given, spark, options, log):
    """Runs the job and returns it, finished."""
    from neardup import _stage
    from neardup.spark import job, output, result, store

    over = options.pop("resume", "auto") == "never"
    force = options.pop("force", "no") == "yes"
    synced = options.pop("sync", "yes") != "no"
    plan = [part.removeprefix("adaptive:") for part in options.get("sample", "").split(",")
            if part.startswith("adaptive:") and os.path.isfile(part.removeprefix("adaptive:"))]
    output.check_inputs(spark, given.output, [*given.input, *plan])
    target = store.folder(spark, given.output, synced)
    plain = {k: v for k, v in options.items() if v != "parquet"}
    stage = _stage.Stage(plain, True, b"\1" * _stage.SECRET_BYTES)
    avoid = target.path if hasattr(target, "path") else None
    source = sources(spark, given, options, stage, avoid)
    out = output.Output(target, over, force)
    try:
        r = job.Run(spark, source, plain, out.place, True, log, out.claim, out.finished)
        try:
            if r.complete:
                return r
            if hasattr(r.source, "send"):
                r.source.send(r)
            r.run()
            with job.settings(spark):
                out.commit(result.write(r, out.place, given.input, given.output))
            return r
        finally:
            r.close()
    finally:
        out.close()


NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded|ENOSPC")


def failure(e):
    """Returns the message of an exception of Spark in one line, or None for any other."""
    module = type(e).__module__
    if not module.startswith(("pyspark.", "py4j.")):
        return None
    text = str(e)
    if NO_SPACE.search(text):
        return ("a disk is full (No space left on device): free some space where spark.local.dir, "
                "TMPDIR and the output directory are, then run the same command to resume")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    said = causes[-1].removeprefix("Caused by: ") if causes else lines[0] if lines else type(e).__name__
    errors = [line for line in lines if re.match(r"neardup\.errors\.\w+: ", line)]
    if errors:
        said = errors[-1].partition(": ")[2]
    return f"Spark has failed: {said[:1000]}; run the same command to resume"


def main(arguments=None):
    given = parser().parse_args(arguments)
    skip = {"input", "output", "io", "master", "conf", "quiet"}
    options = {k: v for k, v in vars(given).items() if k not in skip and v is not None}

    def log(message):
        if not given.quiet:
            print(message, file=sys.stderr, flush=True)

    began = time.monotonic()
    try:
        for name in INSTEAD.keys() & options.keys():
            raise UsageError(f"--{name} is not an option on a cluster: {INSTEAD[name]}")
        spark = session(given)
        ready = time.monotonic()
        r = run(given, spark, options, log)
        done = time.monotonic()
        if r.complete:
            log(f"{given.output} is complete already: nothing to do")
            return 3 if r.complete["counts"]["rejected"] else 0
        report = r.report()
        counts = r.settle.counts()
        log(f"kept      {counts['kept']:,}")
        log(f"dropped   {counts['dropped']:,} from {counts['clusters']:,} clusters")
        log(f"pairs     {counts['pairs']:,}")
        for s in report["stages"]:
            log(f"  {s['stage']:9} {s['seconds']:8.2f} s  shuffled "
                f"{s.get('shuffled_bytes', 0):,} bytes, wrote {s.get('written_bytes', 0):,}")
        log(f"shuffle   {report['band_shuffle_bytes_per_document']} bytes per document by band")
        if r.quarantined:
            log(f"left out  {len(r.quarantined)} documents that killed their worker: "
                + ", ".join(r.quarantined[:10]))
        log(f"time      {done - ready:.2f} s, after {ready - began:.2f} s to start Spark")
        return 3 if sum(b["rejects"] for b in r.blocks) or r.source.problems else 0
    except UsageError as e:
        print(f"neardup.spark: {e}", file=sys.stderr)
        return 2
    except Error as e:
        print(f"neardup.spark: {e}", file=sys.stderr)
        return 1
    except OSError as e:
        print(f"neardup.spark: {e}; run the same command to resume", file=sys.stderr)
        return 1
    except Exception as e:
        said = failure(e)
        if said is None:
            raise
        print(f"neardup.spark: {said}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
