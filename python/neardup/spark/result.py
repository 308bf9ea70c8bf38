"""Results as DataFrames and as the files of the command."""
import json
import os
import shutil
import tempfile

import numpy
import pyarrow as pa

from neardup.errors import DataError
from neardup.parquet import _escape as escape
from neardup.spark import claim, keep, texts, work

LISTS = ("pairs.tsv", "clusters.tsv", "rejected.tsv")


def _ratio(values):
    """Converts numerator << 32 | denominator to a float."""
    low = (values & numpy.uint64(0xFFFFFFFF)).astype(numpy.float64)
    return (values >> numpy.uint64(32)).astype(numpy.float64) / numpy.where(low == 0, 1, low)


def clusters(run, id_type):
    """Returns a row per document: id, cluster, kept, similarity."""
    gone = numpy.flatnonzero(run.dropped).astype(numpy.uint32)
    centres = run.centre[gone]
    names = _raw_names(run, numpy.unique(centres))
    places = run.send(work.Wanted(gone, _ratio(run.value[gone])))
    cluster = run.send(numpy.array([names[c] for c in centres.tolist()], dtype=object))
    fields, function = keep.result_rows(run.job, run.numbers, places, cluster)
    run.points.save("result", lambda: run.map(run.signed(), function, fields))
    out = run.points.read("result")
    return out.select(out.id.cast(id_type), out.cluster.cast(id_type), "kept", "similarity")


def _raw_names(run, documents):
    """Returns the ids of documents as they are in the DataFrame."""
    wanted = run.send(work.Wanted(documents))
    table = run.meter.run("ids", lambda: run.map(
        run.signed(), texts.names(run.job, run.numbers, wanted, no_paths), texts.NAMES).toArrow())
    out = {}
    for row in work.rows_of(table.to_batches()):
        data, start = memoryview(row["ids"]), 0
        for d, end in zip(numpy.frombuffer(row["documents"], numpy.uint32).tolist(),
                          numpy.frombuffer(row["ends"], numpy.uint64).tolist()):
            out[d] = bytes(data[start:end]).decode("utf-8", "replace")
            start = end
    return out


def no_paths(unit):
    return None


def pairs(run, id_type, collapse):
    """Returns a row per pair: id_a, id_b, similarity, in input order."""
    wanted = numpy.flatnonzero(run.settle.wanted()).astype(numpy.uint32)
    names = _raw_names(run, wanted)
    numbers = [str(d).encode() for d in wanted.tolist()]
    path = os.path.join(run.tmp, "pairs.tsv")
    run.settle.write_pairs(path, wanted, numbers, collapse)
    rows = []
    with open(path) as f:
        for line in f:
            a, b, similarity = line.rstrip("\n").split("\t")
            rows.append((names[int(a)], names[int(b)], float(similarity)))
    os.remove(path)
    columns = list(zip(*rows)) or [(), (), ()]
    table = pa.table({"id_a": pa.array(columns[0], pa.string()),
                      "id_b": pa.array(columns[1], pa.string()),
                      "similarity": pa.array(columns[2], pa.float64())})
    out = run.spark.createDataFrame(table)
    return out.select(out.id_a.cast(id_type), out.id_b.cast(id_type), "similarity")


def write(run, target, inputs=(), directory="OUTPUT"):
    """Writes the files of the command to a directory: lists, kept documents, summary and report;
    and spark.json with the cost of every stage."""
    from neardup.spark import job

    wanted = numpy.flatnonzero(run.settle.wanted()).astype(numpy.uint32)
    names = run.names(wanted)
    local = tempfile.mkdtemp(prefix="neardup-")
    out = target.child("out")
    try:
        out.remove()
        out.make()
        run.settle.write_pairs(os.path.join(local, "pairs.tsv"), wanted, names, True)
        if run.dedup:
            run.settle.write_clusters(os.path.join(local, "clusters.tsv"), wanted, names)
        rejected = run.rejected() + "".join(
            f"{path}\t{reason}\n" for path, reason in run.source.problems).encode()
        with open(os.path.join(local, "rejected.tsv"), "wb") as f:
            f.write(rejected)
        if run.dedup:
            run.shown.fetch()
            run.source.write_kept(run, out)
        run.settle.write_summary(os.path.join(local, "summary.json"), run.summary())
        if run.dedup:
            run.shown.write(local, wanted, names, rejected, inputs, directory)
        with open(os.path.join(local, "spark.json"), "w") as f:
            f.write(job.as_json(run.report()))
        for name in sorted(os.listdir(local)):
            if name != "summary.json":
                out.put(os.path.join(local, name), name)
        _list_files(run, out, os.path.join(local, "summary.json"))
        out.put(os.path.join(local, "summary.json"), "summary.json")
    finally:
        shutil.rmtree(local, ignore_errors=True)
    return out


def _list_files(run, out, summary):
    """Adds the name and size of every file to summary.json, and its XXH3 if executors open files
    themselves."""
    sizes = out.files()
    names = sorted(sizes, key=os.fsencode)
    files = [{"name": escape(name), "bytes": sizes[name]} for name in names]
    if hasattr(out, "path") and names:
        n = min(len(names), run.parallel)
        rows = run.meter.run("sums", lambda: run.map(
            run.spark.range(0, len(names), 1, n), keep.file_sums(out.path, run.send(names)),
            keep.SUMS).toArrow()).to_pylist()
        for row in rows:
            files[row["file"]]["xxh3"] = row["xxh3"]
        missing = [f["name"] for f in files if "xxh3" not in f]
        if missing:
            raise DataError(f"{out.uri}/{missing[0]} was not read again: run again")
    origin = ""
    if hasattr(out, "path"):  # the next run uses these to decide whether to check the contents
        origin = f'  "sync": "{"yes" if out.synced else "no"}",\n  "boot": "{claim.boot_id()}",\n'
    with open(summary, encoding="utf-8") as f:
        text = f.read().rstrip()
    lines = ",\n".join("    " + json.dumps(f) for f in files)
    with open(summary, "w", encoding="utf-8") as f:
        f.write(f'{text[:-1].rstrip()},\n{origin}  "files": [\n{lines}\n  ]\n}}\n')
