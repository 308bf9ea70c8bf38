"""Stage write: kept files, and rows of results."""
import os
import shutil
import tempfile

import numpy
import pyarrow as pa

from neardup import _core
from neardup.spark import work
from neardup.spark.sign import ALL_TASKS, Spool, read_blocks


CUTS = [("unit", pa.int64()), ("task", pa.int64()), ("part", pa.int64()), ("bytes", pa.int64())]


def cut_ranges(job, numbers, dropped, regions):
    """Blocks of ranges → their regions of the kept file."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(CUTS)
        for row in work.rows_of(batches):
            key = row["unit"], row["task"], row["part"]
            region = regions.value.get(key)
            if region is None:
                continue
            source, begin, end, target, at = region
            stage.cut(row["image"], dropped.value.slice(numbers.value.first(row), row["docs"]),
                      source, begin, end, target, at)
            if out.add(unit=key[0], task=key[1], part=key[2], bytes=end - begin):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def keep_files(job, numbers, dropped, units, directory):
    """All blocks of a unit of entire files (rows are grouped by unit) → the kept files."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(CUTS)
        groups = {}
        for row in work.rows_of(batches):
            groups.setdefault(row["unit"], []).append(row)
        for number, rows in sorted(groups.items()):
            rows.sort(key=lambda r: (r["task"], r["part"]))
            gone = numpy.concatenate([dropped.value.slice(numbers.value.first(r), r["docs"])
                                      for r in rows])
            _keep(stage, units.value[number].files, [r["image"] for r in rows], gone, directory)
            if out.add(unit=number, task=0, part=0, bytes=0):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def _keep(stage, files, images, gone, directory):
    work = tempfile.mkdtemp(prefix="neardup-")
    try:
        stage.keep(stage.plan_files(files), images, gone, directory, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


KEPT = [("unit", pa.int64()), ("piece", pa.int64()), ("length", pa.int64()), ("data", pa.binary())]
PIECE = 64 << 20


def keep_contents(job, files, first_of, dropped, skipped):
    """Rows (path, content) of entire files → the kept files, in pieces.  `skipped`: the records of
    a file that are not parsed."""

    def run(batches):
        stage = job.stage()
        for row in work.rows_of(batches):
            number, path, name = files.value[row["path"]]
            with Spool(row["content"]) as spool:
                entry = (path, spool.path, name, len(row["content"]), spool.mtime)
                blocks = [b for b, _ in read_blocks(stage, [entry], 0, ALL_TASKS, True,
                                                    skipped=skipped.value.get(number, ()))]
                blocks.sort(key=lambda b: (b["task"], b["part"]))
                first, docs = first_of.value[number], sum(b["docs"] for b in blocks)
                target = os.path.join(spool.folder, "kept")
                _keep(stage, [entry], [b["image"] for b in blocks],
                      dropped.value.slice(first, docs), target)
                kept = os.path.join(target, name)
                out = work.Rows(KEPT, PIECE)
                if not os.path.exists(kept):
                    out.add(unit=number, piece=-1, length=0, data=b"")
                else:
                    with open(kept, "rb") as f:
                        piece = 0
                        while True:
                            data = f.read(PIECE)
                            if not data and piece:
                                break
                            if out.rows:
                                yield out.batch()
                            out.add(unit=number, piece=piece, length=len(data), data=data)
                            piece += 1
                            if not data:
                                break
                yield out.batch()

    return run


SUMS = [("file", pa.int64()), ("xxh3", pa.string())]


def file_sums(folder, names):
    """Numbers of files below a directory that every executor sees → their XXH3."""

    def run(batches):
        out = work.Rows(SUMS)
        for row in work.rows_of(batches):
            name = names.value[row["id"]]
            if out.add(file=row["id"], xxh3=_core.file_sum(os.path.join(folder, name))):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def result_rows(job, numbers, places, names_of):
    """Blocks → a row per document: id, cluster, kept, similarity."""
    fields = [("id", pa.string()), ("cluster", pa.string()), ("kept", pa.bool_()),
              ("similarity", pa.float64())]

    def run(batches):
        stage = job.stage()
        schema = pa.schema(fields)
        for row in work.rows_of(batches):
            first, n = numbers.value.first(row), row["docs"]
            if not n:
                continue
            data, ends = stage.ids(row["image"], None, 0, numpy.arange(n, dtype=numpy.uint32))
            offsets = numpy.concatenate([[0], ends]).astype(numpy.int32)
            ids = pa.StringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(data))
            w = places.value
            span = w.of(first, n)
            rows = (w.documents[span] - numpy.uint32(first)).astype(numpy.int64)
            kept = numpy.ones(n, bool)
            kept[rows] = False
            similarity = numpy.ones(n)
            similarity[rows] = w.places[span]
            clusters = ids.to_pylist()
            for r, name in zip(rows, names_of.value[span]):
                clusters[r] = name
            yield pa.RecordBatch.from_arrays(
                [ids, pa.array(clusters, pa.string()), pa.array(kept), pa.array(similarity)],
                schema=schema)

    return fields, run
