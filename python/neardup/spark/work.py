"""Common parts of the stages: the job, rows of binary data, and the tables that the driver
broadcasts.

The driver creates the function of a stage from a `Job` (plain values that are pickled
with it); it runs in Spark's Python workers, over Arrow batches.  Rows between stages are
blocks and runs, never single documents.  The stages are in sign.py, candidates.py,
texts.py, keep.py and exact.py.
"""
import gc
import sys
import tempfile
import zipimport

import numpy
import pyarrow as pa

import neardup
from neardup import _stage

FLUSH_ITEMS = 4 << 20  # items of 16 bytes before runs are sent
BATCH_BYTES = 16 << 20  # bytes of rows before a batch is sent

SIGNED = [
    ("unit", pa.int64()), ("task", pa.int64()), ("part", pa.int64()), ("docs", pa.int64()),
    ("rejects", pa.int64()), ("last", pa.bool_()), ("range", pa.bool_()), ("raw", pa.bool_()),
    ("lines", pa.int64()), ("begin", pa.int64()), ("end", pa.int64()), ("raw_bytes", pa.int64()),
    ("others", pa.int64()), ("empties", pa.int64()), ("tokens", pa.int64()),
    ("quarantined", pa.string()), ("skipped", pa.binary()), ("empty_rows", pa.binary()), ("ranks", pa.binary()),
    ("image", pa.binary()), ("texts", pa.binary()), ("texts_sum", pa.int64()),
]
META = [name for name, _ in SIGNED if name not in ("image", "texts", "texts_sum")]
RUNS = [("place", pa.int32()), ("kind", pa.int32()), ("data", pa.binary())]
SQL_TYPES = {pa.int64(): "bigint", pa.int32(): "int", pa.bool_(): "boolean",
             pa.string(): "string", pa.binary(): "binary", pa.float64(): "double"}


def sql_schema(fields):
    return ", ".join(f"`{name}` {SQL_TYPES[kind]}" for name, kind in fields)


class Job:
    """Parameters of every stage, sent to the executors."""

    def __init__(self, options, dedup, secret):
        self.options = dict(options)
        self.dedup = dedup
        self.secret = secret
        self.version = neardup.__version__
        self.max_document = 0

    def stage(self, driver=False):
        check_version(self.version)
        options = dict(self.options)
        if not driver:
            _settle_in()
            options.setdefault("tmp", tempfile.gettempdir())
            # A document takes at most an eighth of it, so the limit is that of the driver everywhere.
            options.setdefault("memory", str(max(512 << 20, 8 * self.max_document)))
        return _stage.Stage(options, self.dedup, self.secret)


def _settle_in():
    """Spares a reused worker a tenth of a second per task.  After every task Spark's worker collects
    garbage among all imported objects, and before the next it makes every cached finder of an archive
    read the archive's directory again, one finder per package.  Here the objects are frozen and the
    finders leave the cache; a later import creates them from the directory in memory."""
    if not gc.get_freeze_count():
        gc.freeze()
    for path, finder in list(sys.path_importer_cache.items()):
        if isinstance(finder, zipimport.zipimporter):
            sys.path_importer_cache.pop(path, None)


def check_version(version):
    if neardup.__version__ != version:
        raise RuntimeError(
            f"neardup {neardup.__version__} is installed on this executor, the driver has "
            f"{version}: install the same version everywhere (docs/cluster.md)")


class Rows:
    """Collects rows into batches of bounded size."""

    def __init__(self, fields, most=BATCH_BYTES):
        self.fields = fields
        self.schema = pa.schema(fields)
        self.most = most
        self.clear()

    def clear(self):
        self.rows = []
        self.bytes = 0

    def add(self, **row):
        self.rows.append(row)
        self.bytes += sum(len(v) for v in row.values() if isinstance(v, (bytes, str))) + 64
        return self.bytes >= self.most

    def batch(self):
        columns = [pa.array([row[name] for row in self.rows], kind) for name, kind in self.fields]
        self.clear()
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def rows_of(batches):
    """Yields every row as a dict; binary values are buffers, not copies."""
    for batch in batches:
        columns = {}
        for name in batch.schema.names:
            column = batch.column(name)
            if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
                columns[name] = [memoryview(v.as_buffer()).cast("B") if v.is_valid else b""
                                 for v in column]
            else:
                columns[name] = column.to_pylist()
        for i in range(batch.num_rows):
            yield {name: values[i] for name, values in columns.items()}


class Numbers:
    """The number of the first document of every block, and of the lines before it."""

    def __init__(self, keys, first, base):
        self.of = dict(zip(keys, zip(first, base)))

    def _find(self, row):
        try:
            return self.of[row["unit"], row["task"], row["part"]]
        except KeyError:
            raise RuntimeError("an unknown block: a part of the job's work "
                               "directory was replaced; remove it and run again") from None

    def first(self, row):
        return self._find(row)[0]

    def base(self, row):
        return self._find(row)[1]


class Positions:
    """Positions of all documents: usually the number of the document, but not for exact duplicates."""

    def __init__(self, positions):
        same = positions == numpy.arange(len(positions), dtype=numpy.uint32)
        absent = positions == 0xFFFFFFFF
        self.plain = bool(numpy.all(same | absent))
        self.n = len(positions)
        self.data = numpy.packbits(absent) if self.plain else positions

    def slice(self, first, n):
        if not self.plain:
            return numpy.ascontiguousarray(self.data[first:first + n])
        begin = first // 8
        absent = numpy.unpackbits(self.data[begin:(first + n + 7) // 8])[first - 8 * begin:][:n]
        out = numpy.arange(first, first + n, dtype=numpy.uint32)
        out[absent == 1] = 0xFFFFFFFF
        return out


class Wanted:
    """Documents to fetch, with their partitions, sorted by document."""

    def __init__(self, documents, places=None):
        self.documents = documents
        self.places = places

    def of(self, first, n):
        begin, end = numpy.searchsorted(self.documents, [first, first + n])
        return slice(int(begin), int(end))


class Dropped:
    """One bit per document."""

    def __init__(self, dropped):
        self.n = len(dropped)
        self.bits = numpy.packbits(dropped)

    def slice(self, first, n):
        begin = first // 8
        return numpy.ascontiguousarray(
            numpy.unpackbits(self.bits[begin:(first + n + 7) // 8])[first - 8 * begin:][:n])


def send(out, spread, kind):
    for place, run in spread.runs():
        if out.add(place=place, kind=kind, data=run):
            yield out.batch()


def by_place(batches):
    runs = {}
    for row in rows_of(batches):
        runs.setdefault((row["place"], row["kind"]), []).append(row["data"])
    return sorted(runs.items())
