"""Stage sign: documents → blocks, from files, the contents of files, or columns.

On a retry, documents that kill the worker are found in child processes and left out:
a row of a table counts as one without text, a record of a file is rejected.
"""
import os
import shutil
import tempfile

import numpy
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _stage
from neardup.errors import DataError
from neardup.spark import store, work

ALL_TASKS = 0xFFFFFFFF  # of a plan


def _signed(stage, block, unit):
    ranks, tokens = b"", b""
    if block["empties"] or stage.facts["ranked"]:
        rank, has = stage.ranks(block["image"], block["docs"])
        tokens = numpy.flatnonzero(has == 0).astype(numpy.uint32).tobytes()
        ranks = rank.tobytes() if stage.facts["ranked"] else b""
    return {**block, "unit": unit, "empty_rows": tokens, "ranks": ranks}


class Unit:
    """Files and a range of their tasks, read by one executor."""

    def __init__(self, files, begin, end):
        self.files = files
        self.begin = begin
        self.end = end


def _in_child(action):
    """Tests whether a process survives `action`."""
    child = os.fork()
    if child == 0:
        try:
            action()
        except BaseException:
            pass  # the caller reports errors; only death matters here
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return status == 0


def _read_only(stage, files, begin, end):
    reader = _stage.Reader(stage, stage.plan_files(files), begin, end, False)
    while reader.read():
        pass


def _check_reading(stage, files, begin, end):
    """Raises DataError if a file kills the process before its first record is split off."""
    if _in_child(lambda: _read_only(stage, files, begin, end)):
        return
    named = files[0][0]
    for file in files:
        if len(files) > 1 and not _in_child(lambda f=file: _read_only(stage, [f], 0, ALL_TASKS)):
            named = file[0]
            break
    raise DataError(f"{named} kills the process that reads it, before a document of it is known: "
                    "remove it from the input")


def read_blocks(stage, files, begin, end, keep_texts, again=False, skipped=()):
    """Yields the blocks of files, each with the locations (file, offset) of the records left out:
    those known to kill the process and, on a retry, those found to kill it."""
    if again:
        _check_reading(stage, files, begin, end)
    reader = _stage.Reader(stage, stage.plan_files(files), begin, end, keep_texts)
    while reader.read():
        out = [place for place in skipped if reader.skip(*place)]
        while again:
            place = reader.deadly()
            if place is None:
                break
            if not reader.skip(*place):
                raise DataError(f"{files[place[0]][0]} kills the process that reads it, and leaving "
                                "out a document does not help: remove it from the input")
            out.append(place)
        yield reader.sign(), out


def _places(skipped):
    return numpy.array(skipped, numpy.uint64).tobytes() if skipped else b""


def places_of(data):
    """Returns (file, offset) of the records left out."""
    flat = numpy.frombuffer(data, numpy.uint64).tolist()
    return list(zip(flat[0::2], flat[1::2]))


def sign_files(job, units, keep_texts):
    """Numbers of units → blocks."""

    def run(batches):
        stage = job.stage()
        again = _is_retry()
        out = work.Rows(work.SIGNED)
        for batch in batches:
            for number in batch.column(0).to_pylist():
                unit = units.value[number]
                for block, skipped in read_blocks(stage, unit.files, unit.begin, unit.end,
                                                  keep_texts, again):
                    if out.add(**_signed(stage, block, number), quarantined=None,
                               skipped=_places(skipped)):
                        yield out.batch()
        if out.rows:
            yield out.batch()

    return run


class Spool:
    """A temporary local copy of a file of another file system."""

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
    """Rows (path, content) of entire files → blocks; `files` maps a path to its number, its
    name in ids and its name below kept/."""

    def run(batches):
        stage = job.stage()
        again = _is_retry()
        out = work.Rows(work.SIGNED)
        for row in work.rows_of(batches):
            number, path, name = files.value[row["path"]]
            with Spool(row["content"]) as spool:
                entry = (path, spool.path, name, len(row["content"]), spool.mtime)
                for block, skipped in read_blocks(stage, [entry], 0, ALL_TASKS, True, again):
                    if out.add(**_signed(stage, block, number), quarantined=None,
                               skipped=_places(skipped)):
                        yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def _survives(job, columns):
    """Tests whether a process survives sketching these rows."""
    return _in_child(lambda: sign_columns(job.stage(), 0, 0, columns))


def _killers(job, columns, begin, end):
    """Returns the rows that kill the process, found by bisection."""
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


def _sign_some(job, stage, task, part, some, again, where):
    """Returns the block of some rows, and the rows left out.  On a retry, rows that kill the
    worker count as rows without text; `where(i)` names a row without an id."""
    said = None
    bad = _killers(job, some, 0, len(some["text"])) if again else []
    if bad:
        mask = numpy.zeros(len(some["text"]), bool)
        mask[bad] = True
        said = "\n".join(str(some["id"][i].as_py()) if "id" in some else where(i) for i in bad)
        empty = pa.scalar("", some["text"].type)
        some = {**some, "text": pc.if_else(pa.array(mask), empty, some["text"])}
    return sign_columns(stage, task, part, some), said


def _is_retry():
    from pyspark import TaskContext

    return TaskContext.get().attemptNumber() > 0


def sign_rows(job, names):
    """Rows of a DataFrame (columns `names`: text, id …) → blocks, numbered by partition."""

    def run(batches):
        from pyspark import TaskContext

        unit = TaskContext.get().partitionId()
        again = _is_retry()
        stage = job.stage()
        out = work.Rows(work.SIGNED)
        part = 0
        for batch in batches:
            for begin in range(0, batch.num_rows, 4096):
                some = {name: batch.column(name).slice(begin, 4096) for name in names}
                block, said = _sign_some(
                    job, stage, 0, part, some, again,
                    lambda i, row=begin: f"row {row + i} of partition {unit}")
                part += 1
                if out.add(**_signed(stage, block, unit), quarantined=said, skipped=b""):
                    yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def sign_parquet(job, names, files):
    """Rows with their file and index → blocks, split at the ends of files."""

    def run(batches):
        again = _is_retry()
        stage = job.stage()
        out = work.Rows(work.SIGNED)
        for batch in batches:
            index = batch.column("row").to_numpy()
            name = batch.column("file")
            changes = pc.not_equal(name.slice(1), name.slice(0, len(name) - 1)).to_numpy(False)
            cuts = [0, *(numpy.flatnonzero(changes | (numpy.diff(index) != 1)) + 1).tolist(),
                    len(index)]
            for begin, end in zip(cuts, cuts[1:]):
                path = name[begin].as_py()
                unit, at = files.value[store.plain(path)], int(index[begin])
                some = {k: batch.column(k).slice(begin, end - begin) for k in names}
                block, said = _sign_some(job, stage, at >> 32, at & 0xFFFFFFFF, some, again,
                                         lambda i, row=at, of=path: f"row {row + i} of {of}")
                block.update(begin=at, end=int(index[end - 1]) + 1)
                if out.add(**_signed(stage, block, unit), quarantined=said, skipped=b""):
                    yield out.batch()
        if out.rows:
            yield out.batch()

    return run
