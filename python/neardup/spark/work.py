"""What the executors do: one function per stage, over Arrow batches.

A function is made on the driver from a `Job` (plain values that travel with it)
and runs in Spark's Python workers.  Rows between stages hold packed blocks and
runs, never single documents.
"""
import os
import shutil
import tempfile

import numpy
import pyarrow as pa

import neardup
from neardup import _stage

FLUSH_ITEMS = 4 << 20  # of 16 bytes, before runs go out
BATCH_BYTES = 16 << 20  # of rows, before a batch goes out

SIGNED = [
    ("unit", pa.int64()), ("task", pa.int64()), ("part", pa.int64()), ("docs", pa.int64()),
    ("rejects", pa.int64()), ("last", pa.bool_()), ("range", pa.bool_()), ("raw", pa.bool_()),
    ("lines", pa.int64()), ("begin", pa.int64()), ("end", pa.int64()), ("raw_bytes", pa.int64()),
    ("others", pa.int64()), ("empties", pa.int64()), ("tokens", pa.int64()),
    ("quarantined", pa.string()), ("empty_rows", pa.binary()), ("ranks", pa.binary()),
    ("image", pa.binary()), ("texts", pa.binary()), ("texts_sum", pa.int64()),
]
META = [name for name, _ in SIGNED if name not in ("image", "texts", "texts_sum")]
RUNS = [("place", pa.int32()), ("kind", pa.int32()), ("data", pa.binary())]
SQL_TYPES = {pa.int64(): "bigint", pa.int32(): "int", pa.bool_(): "boolean",
             pa.string(): "string", pa.binary(): "binary", pa.float64(): "double"}


def sql_schema(fields):
    return ", ".join(f"`{name}` {SQL_TYPES[kind]}" for name, kind in fields)


class Job:
    """What every stage needs to know; travels to the executors."""

    def __init__(self, options, dedup, secret):
        self.options = dict(options)
        self.dedup = dedup
        self.secret = secret
        self.version = neardup.__version__

    def stage(self, driver=False):
        check_version(self.version)
        options = dict(self.options)
        if not driver:
            options.setdefault("tmp", tempfile.gettempdir())
            options.setdefault("memory", "512M")
        return _stage.Stage(options, self.dedup, self.secret)


def check_version(version):
    if neardup.__version__ != version:
        raise RuntimeError(
            f"neardup {neardup.__version__} is installed on this executor, the driver has "
            f"{version}: install the same version everywhere (docs/cluster.md)")


class Rows:
    """Rows collected into batches of a bounded size."""

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
    """Every row of the batches as a dict; binary values as buffers, not copied."""
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


# --- sign -----------------------------------------------------------------------

def _signed(stage, block, unit):
    ranks, tokens = b"", b""
    if block["empties"] or stage.facts["ranked"]:
        rank, has = stage.ranks(block["image"], block["docs"])
        tokens = numpy.flatnonzero(has == 0).astype(numpy.uint32).tobytes()
        ranks = rank.tobytes() if stage.facts["ranked"] else b""
    return {**block, "unit": unit, "empty_rows": tokens, "ranks": ranks}


class Unit:
    """Some files, and which of their tasks belong together: read by one executor."""

    def __init__(self, files, begin, end):
        self.files = files
        self.begin = begin
        self.end = end


def sign_files(job, units, keep_texts):
    """Units (their numbers come as rows) → blocks."""

    def run(batches):
        stage = job.stage()
        out = Rows(SIGNED)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                unit = units.value[number]
                plan = stage.plan_files(unit.files)
                for block in stage.read(plan, unit.begin, unit.end, keep_texts):
                    if out.add(**_signed(stage, block, number), quarantined=None):
                        yield out.batch()
        if out.rows:
            yield out.batch()

    return run


class Spool:
    """A file of another file system, laid down here while it is read."""

    def __init__(self, content):
        self.folder = tempfile.mkdtemp(prefix="neardup-")
        self.path = os.path.join(self.folder, "file")
        with open(self.path, "wb") as f:
            f.write(content)
        self.mtime = os.stat(self.path).st_mtime_ns

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


def sign_contents(job, files):
    """Rows (path, content) of whole files → blocks; `files` maps a path to its
    number, the name in ids and the name below kept/."""

    def run(batches):
        stage = job.stage()
        out = Rows(SIGNED)
        for row in rows_of(batches):
            number, path, name = files.value[row["path"]]
            with Spool(row["content"]) as spool:
                plan = stage.plan_files(
                    [(path, spool.path, name, len(row["content"]), spool.mtime)])
                for block in stage.read(plan, 0, len(plan.tasks()), True):
                    if out.add(**_signed(stage, block, number), quarantined=None):
                        yield out.batch()
        if out.rows:
            yield out.batch()

    return run


KILLED = "killed its worker and was left out"


def _survives(job, columns):
    """Does signing these rows leave a process alive?  Asks a child."""
    child = os.fork()
    if child == 0:
        try:
            sign_columns(job.stage(), 0, 0, columns)
        except BaseException:
            pass  # an error is said by the caller; only death matters here
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return status == 0


def _killers(job, columns, begin, end):
    """Rows that kill, found by halving."""
    if _survives(job, {k: v.slice(begin, end - begin) for k, v in columns.items()}):
        return []
    if end - begin == 1:
        return [begin]
    middle = (begin + end) // 2
    found = _killers(job, columns, begin, middle) + _killers(job, columns, middle, end)
    return found


def sign_columns(stage, task, part, columns):
    crash = os.environ.get("NEARDUP_TEST_CRASH")  # tests: a text that kills its worker
    if crash and crash in columns["text"].to_pylist():
        os.abort()
    return stage.sign(task, part, **columns)


def sign_rows(job, names):
    """Rows of a DataFrame (columns `names`: text, id …) → blocks, numbered by
    partition; on a retry, rows that kill the worker are set aside."""

    def run(batches):
        from pyspark import TaskContext

        context = TaskContext.get()
        unit = context.partitionId()
        again = context.attemptNumber() > 0
        stage = job.stage()
        out = Rows(SIGNED)
        part = 0
        for batch in batches:
            columns = {name: batch.column(name) for name in names}
            for begin in range(0, batch.num_rows, 4096):
                some = {k: v.slice(begin, 4096) for k, v in columns.items()}
                n = len(some["text"])
                bad = _killers(job, some, 0, n) if again else []
                said = None
                if bad:
                    mask = numpy.zeros(n, bool)
                    mask[bad] = True
                    said = "\n".join(str(some["id"][i].as_py()) if "id" in some else
                                     f"row {begin + i} of partition {unit}" for i in bad)
                    empty = pa.scalar("", some["text"].type)
                    some["text"] = pa.compute.if_else(pa.array(mask), empty, some["text"])
                block = sign_columns(stage, 0, part, some)
                part += 1
                if out.add(**_signed(stage, block, unit), quarantined=said):
                    yield out.batch()
        if out.rows:
            yield out.batch()

    return run


# --- copies and candidates ---------------------------------------------------------

def _send(out, spread, kind):
    for place, run in spread.runs():
        if out.add(place=place, kind=kind, data=run):
            yield out.batch()


def digest_runs(job, numbers, places):
    """Blocks → runs of digests (kind 0) and of hashes of ids (kind 1)."""

    def run(batches):
        stage = job.stage()
        out = Rows(RUNS)
        digests, ids = _stage.Spread(places, 8), _stage.Spread(places, 4)
        for row in rows_of(batches):
            stage.digests(digests, ids, row["image"], numbers.value.first(row))
            if digests.waiting + ids.waiting > FLUSH_ITEMS:
                yield from _send(out, digests, 0)
                yield from _send(out, ids, 1)
        yield from _send(out, digests, 0)
        yield from _send(out, ids, 1)
        if out.rows:
            yield out.batch()

    return run


def _by_place(batches):
    runs = {}
    for row in rows_of(batches):
        runs.setdefault((row["place"], row["kind"]), []).append(row["data"])
    return sorted(runs.items())


def copies(job):
    """Runs of a place → (copy, first) numbers; documents whose id came before."""

    def run(batches):
        stage = job.stage()
        out = Rows(RUNS)
        for (place, kind), runs in _by_place(batches):
            data = stage.repeated(runs) if kind else stage.copies(runs)
            if data and out.add(place=place, kind=kind, data=data):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def band_runs(job, numbers, positions, ranges):
    """Blocks → runs of band keys."""

    def run(batches):
        stage = job.stage()
        out = Rows(RUNS)
        spread = _stage.Spread(stage.facts["bands"] * ranges, 4)
        for row in rows_of(batches):
            first = numbers.value.first(row)
            stage.bands(spread, row["image"], first,
                        positions.value.slice(first, row["docs"]), ranges)
            if spread.waiting > FLUSH_ITEMS:
                yield from _send(out, spread, 0)
        yield from _send(out, spread, 0)
        if out.rows:
            yield out.batch()

    return run


COUNTS = 9  # the kind of a row that holds counts, not a run


def edges(job, documents, places):
    """Runs of band keys → runs of edges, and what was counted on the way."""

    def run(batches):
        stage = job.stage()
        out = Rows(RUNS)
        seen = numpy.zeros(5, numpy.uint64)
        for _, runs in _by_place(batches):
            spread = _stage.Spread(places, 1)
            items = sum(_run_length(r) for r in runs)
            buckets, hot, hot_documents, largest = stage.group(spread, runs, documents)
            seen[:3] += numpy.array([buckets, hot, hot_documents], numpy.uint64)
            seen[3] = max(int(seen[3]), largest)
            seen[4] += numpy.uint64(items)
            yield from _send(out, spread, 0)
        out.add(place=0, kind=COUNTS, data=seen.tobytes())
        yield out.batch()

    return run


def _run_length(run):
    return int(numpy.frombuffer(run, numpy.uint64, 1, 8)[0])


def merged(job, how):
    """Runs of a place → one run, each key once; counts pass through."""

    def run(batches):
        stage = job.stage()
        out = Rows(RUNS)
        for (place, kind), runs in _by_place(batches):
            for data in runs if kind == COUNTS else [stage.merge(runs, how)]:
                if out.add(place=place, kind=kind, data=bytes(data)):
                    yield out.batch()
        if out.rows:
            yield out.batch()

    return run


# --- texts, ids, values ----------------------------------------------------------

class Numbers:
    """The first document of every block, and the lines before it."""

    def __init__(self, keys, first, base):
        self.of = dict(zip(keys, zip(first, base)))

    def _find(self, row):
        try:
            return self.of[row["unit"], row["task"], row["part"]]
        except KeyError:
            raise RuntimeError("a block came that the driver does not know: a part of the job's "
                               "work folder was exchanged; remove it and run again") from None

    def first(self, row):
        return self._find(row)[0]

    def base(self, row):
        return self._find(row)[1]


class Positions:
    """Positions of all documents; most often a document's number, but for copies."""

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
    """Documents that are wanted at places: sorted by document."""

    def __init__(self, documents, places=None):
        self.documents = documents
        self.places = places

    def of(self, first, n):
        begin, end = numpy.searchsorted(self.documents, [first, first + n])
        return slice(int(begin), int(end))


TEXTS = [("place", pa.int32()), ("documents", pa.binary()), ("ends", pa.binary()),
         ("texts", pa.binary())]


def fetch_texts(job, numbers, wanted, units):
    """Blocks → the texts of documents that are wanted, each to its place."""

    def run(batches):
        stage = job.stage()
        out = Rows(TEXTS)
        plans = {}
        for row in rows_of(batches):
            first = numbers.value.first(row)
            w = wanted.value
            span = w.of(first, row["docs"])
            documents, places = w.documents[span], w.places[span]
            if not len(documents):
                continue
            plan = None
            if row["raw"]:
                if row["unit"] not in plans:
                    plans.clear()
                    plans[row["unit"]] = stage.plan_files(units.value[row["unit"]].files)
                plan = plans[row["unit"]]
            order = numpy.argsort(places, kind="stable")
            cuts = numpy.flatnonzero(numpy.diff(places[order])) + 1
            for some in numpy.split(order, cuts):
                numbers_here = numpy.ascontiguousarray(documents[some])
                data, ends = stage.texts(row["image"], row["texts"], row["texts_sum"], plan,
                                         numbers_here - numpy.uint32(first))
                if out.add(place=int(places[some[0]]), documents=numbers_here.tobytes(),
                           ends=ends.tobytes(), texts=data):
                    yield out.batch()
        if out.rows:
            yield out.batch()

    return run


class Pairs:
    """Pairs of documents by place: those of place p are pairs[begin[p]:begin[p + 1]]."""

    def __init__(self, pairs, begin):
        self.pairs = pairs
        self.begin = begin


def verify(job, pairs, everything):
    """The texts of a place → the values of its pairs."""

    def run(batches):
        stage = job.stage()
        out = Rows(RUNS)
        places = {}
        for row in rows_of(batches):
            places.setdefault(row["place"], []).append(row)
        for place, rows in sorted(places.items()):
            documents, texts = [], []
            for row in rows:
                ends = numpy.frombuffer(row["ends"], numpy.uint64)
                view = memoryview(row["texts"])
                begin = 0
                for d, end in zip(numpy.frombuffer(row["documents"], numpy.uint32), ends):
                    documents.append(d)
                    texts.append(view[begin:int(end)])
                    begin = int(end)
            order = numpy.argsort(numpy.array(documents, numpy.uint32))
            p = pairs.value
            values = stage.verify(
                numpy.ascontiguousarray(p.pairs[p.begin[place]:p.begin[place + 1]]),
                numpy.array(documents, numpy.uint32)[order], [texts[i] for i in order], everything)
            if out.add(place=place, kind=0, data=values.tobytes()):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


NAMES = [("documents", pa.binary()), ("ends", pa.binary()), ("ids", pa.binary())]


def names(job, numbers, wanted, paths):
    """Blocks → the ids of documents that the lists name."""

    def run(batches):
        stage = job.stage()
        out = Rows(NAMES)
        for row in rows_of(batches):
            first = numbers.value.first(row)
            documents = wanted.value.documents[wanted.value.of(first, row["docs"])]
            if not len(documents):
                continue
            data, ends = stage.ids(row["image"], paths(row["unit"]), numbers.value.base(row),
                                   numpy.ascontiguousarray(documents - numpy.uint32(first)))
            if out.add(documents=documents.tobytes(), ends=ends.tobytes(), ids=data):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


# --- results ------------------------------------------------------------------------

class Dropped:
    """One bit per document."""

    def __init__(self, dropped):
        self.n = len(dropped)
        self.bits = numpy.packbits(dropped)

    def slice(self, first, n):
        begin = first // 8
        return numpy.ascontiguousarray(
            numpy.unpackbits(self.bits[begin:(first + n + 7) // 8])[first - 8 * begin:][:n])


CUTS = [("unit", pa.int64()), ("task", pa.int64()), ("part", pa.int64()), ("bytes", pa.int64())]


def cut_bytes(job, numbers, dropped):
    """Blocks of ranges → the bytes that go."""

    def run(batches):
        stage = job.stage()
        out = Rows(CUTS)
        for row in rows_of(batches):
            gone = stage.cut_bytes(
                row["image"], dropped.value.slice(numbers.value.first(row), row["docs"]))
            if out.add(unit=row["unit"], task=row["task"], part=row["part"], bytes=gone):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def cut_ranges(job, numbers, dropped, regions):
    """Blocks of ranges → their part of the kept file, at its place."""

    def run(batches):
        stage = job.stage()
        out = Rows(CUTS)
        for row in rows_of(batches):
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
    """All blocks of a unit of whole files (rows come by unit) → the kept files."""

    def run(batches):
        stage = job.stage()
        out = Rows(CUTS)
        groups = {}
        for row in rows_of(batches):
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


def keep_contents(job, files, first_of, dropped):
    """Rows (path, content) of whole files → what is kept of them, in pieces."""

    def run(batches):
        stage = job.stage()
        for row in rows_of(batches):
            number, path, name = files.value[row["path"]]
            with Spool(row["content"]) as spool:
                entry = (path, spool.path, name, len(row["content"]), spool.mtime)
                plan = stage.plan_files([entry])
                blocks = list(stage.read(plan, 0, len(plan.tasks()), True))
                blocks.sort(key=lambda b: (b["task"], b["part"]))
                first, docs = first_of.value[number], sum(b["docs"] for b in blocks)
                target = os.path.join(spool.folder, "kept")
                _keep(stage, [entry], [b["image"] for b in blocks],
                      dropped.value.slice(first, docs), target)
                kept = os.path.join(target, name)
                out = Rows(KEPT, PIECE)
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


def result_rows(job, numbers, places, names_of):
    """Blocks → a row per document: id, cluster, kept, similarity."""
    fields = [("id", pa.string()), ("cluster", pa.string()), ("kept", pa.bool_()),
              ("similarity", pa.float64())]

    def run(batches):
        stage = job.stage()
        schema = pa.schema(fields)
        for row in rows_of(batches):
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
