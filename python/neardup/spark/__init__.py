"""Near-duplicates on an Apache Spark cluster, with the bytes of one machine.

>>> from neardup.spark import dedup                            # doctest: +SKIP
>>> result = dedup(df, id="id", text="text", threshold=0.8)    # doctest: +SKIP
>>> df.join(result.where("kept"), "id").write.parquet("out")   # doctest: +SKIP

docs/cluster.md describes how to run the job on YARN, Kubernetes, EMR, Dataproc and a
standalone cluster, and its cost.
"""
from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any, Callable

from neardup.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["dedup", "pairs", "last_report"]

_last: dict[str, Any] = {}


def last_report() -> dict[str, Any]:
    """Returns the cost of the last job of this process: time and bytes per stage, the
    bytes of the band shuffle, and quarantined documents."""
    return dict(_last)


def _columns(df: DataFrame, id: str, text: str, options: dict[str, Any]) -> dict[str, str]:
    columns = {"id": id, "text": text}
    keep = str(options.get("keep", "first"))
    if keep == "url":
        columns["url"] = options.pop("url_field", "url")
    elif keep in ("oldest", "newest"):
        columns["time"] = options.pop("time_field", "time")
    elif keep.startswith("field:"):
        columns["field"] = keep[len("field:"):]
    for name in columns.values():
        if name not in df.columns:
            raise UsageError(f"the DataFrame has no column {name!r}; it has "
                             f"{', '.join(df.columns)}")
    return columns


def _place(spark: Any, work: str | os.PathLike[str] | None, sync: bool) -> Any:
    from neardup.spark import store

    if work is not None:
        return store.folder(spark, str(work), sync)
    master = spark.sparkContext.master
    if not master.startswith("local"):
        raise UsageError(f"on {master} a job needs work=, a directory that the driver and "
                         "all executors can access, such as hdfs:///tmp/neardup")
    path = tempfile.mkdtemp(prefix="neardup-spark-")
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return store.folder(spark, path, False)


def _run(df: DataFrame, id: str, text: str, work: str | os.PathLike[str] | None, dedup: bool,
         log: Callable[[str], None] | None, options: dict[str, Any]) -> Any:
    from neardup.spark import job, output, source

    options = {k: v for k, v in options.items() if v is not None}
    columns = _columns(df, id, text, options)
    for name in ("format", "id_field", "text_field", "url_field", "time_field", "progress",
                 "force", "csv", "max_stdin"):
        if name in options:
            raise UsageError(f"{name} is an option for files; a DataFrame has columns")
    spark = df.sparkSession
    over = str(options.pop("resume", "auto")) == "never"
    place = _place(spark, work, str(options.pop("sync", "yes")) not in ("no", "False"))
    if work is not None:
        output.check_inputs(spark, str(work), df.inputFiles())
    claim = output.claim_work(place, over)
    run = None
    try:
        run = job.Run(spark, source.Frame(df, columns), options, place, dedup, log, claim)
        run.claim = claim
        return run.run()
    except BaseException:
        claim.close()
        if run is not None:
            run.close()
        raise


def dedup(df: DataFrame, id: str = "id", text: str = "text", threshold: float | str | None = None,
          work: str | os.PathLike[str] | None = None, log: Callable[[str], None] | None = None,
          **options: Any) -> DataFrame:
    """Finds the documents to keep: a DataFrame with id, cluster, kept and similarity.

    There is a row per document.  `cluster` is the id of the document kept in its place
    (its own if it is kept), `similarity` the similarity to that document.  Documents are
    in the order of the DataFrame, by partition and row, unless `keep` sets another keep
    order.  `work` is a directory for the stages: a job that was killed resumes if it is
    started again with the same directory (`resume="never"` starts over).  The other
    options are those of the command.
    """
    from neardup.spark import job, result

    run = _run(df, id, text, work, True, log, {**options, "threshold": threshold})
    try:
        with job.settings(run.spark):
            out = result.clusters(run, df.schema[id].dataType)
        _last.clear()
        _last.update(run.report())
        return out
    finally:
        run.close()


def pairs(df: DataFrame, id: str = "id", text: str = "text", threshold: float | str | None = None,
          work: str | os.PathLike[str] | None = None, log: Callable[[str], None] | None = None,
          collapse: bool = False, **options: Any) -> DataFrame:
    """Finds the near-duplicate pairs: a DataFrame with id_a, id_b and similarity.

    With `collapse` an exact duplicate appears only with its first occurrence.
    """
    from neardup.spark import job, result

    run = _run(df, id, text, work, False, log, {**options, "threshold": threshold})
    try:
        with job.settings(run.spark):
            out = result.pairs(run, df.schema[id].dataType, collapse)
        _last.clear()
        _last.update(run.report())
        return out
    finally:
        run.close()
