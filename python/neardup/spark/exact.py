"""method="exact" as the paper's two-stage MapReduce (Nikkhoo 2010, section 3.1).

    1  document → (shingle, document); shingle → every pair of its documents
    2  pairs, counted → resemblance

sample="mod:N" keeps a share of the shingles, sample="sct:N" those that at most N
documents have; a separate MapReduce counts these first.
"""
import numpy

from neardup import _stage
from neardup.errors import DataError
from neardup.spark import work

SIZES = 8  # the kind of a row with documents and their numbers of shingles


def _texts(stage, row, first, rows, plans, units):
    plan = None
    if row["raw"]:
        if row["unit"] not in plans:
            plans.clear()
            plans[row["unit"]] = stage.plan_files(units.value[row["unit"]].files)
        plan = plans[row["unit"]]
    data, ends = stage.texts(row["image"], row["texts"], row["texts_sum"], plan, rows)
    view, begin, out = memoryview(data), 0, []
    for end in ends.tolist():
        out.append(view[begin:end])
        begin = end
    return out


def _each_text(job, numbers, positions, units, batches, some=256):
    """Yields (stage, documents, texts), without exact duplicates."""
    stage, plans = job.stage(), {}
    for row in work.rows_of(batches):
        first = numbers.value.first(row)
        rows = numpy.flatnonzero(positions.value.slice(first, row["docs"]) != 0xFFFFFFFF)
        for begin in range(0, len(rows), some):
            here = rows[begin:begin + some].astype(numpy.uint32)
            yield stage, here + numpy.uint32(first), _texts(stage, row, first, here, plans, units)


def census(job, numbers, positions, units, places):
    def run(batches):
        out, spread = work.Rows(work.RUNS), _stage.Spread(places, 4)
        for stage, _, texts in _each_text(job, numbers, positions, units, batches):
            stage.census(spread, texts)
            if spread.waiting > work.FLUSH_ITEMS:
                yield from work.send(out, spread, 0)
        yield from work.send(out, spread, 0)
        if out.rows:
            yield out.batch()

    return run


def common(job):
    """Runs of a partition → the shingles that too many documents have."""

    def run(batches):
        stage, out = job.stage(), work.Rows(work.RUNS)
        for (place, kind), runs in work.by_place(batches):
            keys = stage.common(stage.merge(runs, _stage.MERGE_SUM))
            if keys and out.add(place=place, kind=kind, data=keys):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def shingles(job, numbers, positions, units, places, left_out):
    """Map 1: blocks → runs of (shingle, document), and the sizes of documents."""

    def run(batches):
        out, spread = work.Rows(work.RUNS), _stage.Spread(places, 8)
        told = None
        for stage, documents, texts in _each_text(job, numbers, positions, units, batches):
            if told is not stage and left_out is not None:
                stage.leave_out(left_out.value)
            told = stage
            sizes = stage.prints(spread, documents, texts)
            out.add(place=0, kind=SIZES, data=documents.tobytes() + sizes.tobytes())
            if spread.waiting > work.FLUSH_ITEMS:
                yield from work.send(out, spread, 0)
            elif out.bytes > work.BATCH_BYTES:
                yield out.batch()
        yield from work.send(out, spread, 0)
        if out.rows:
            yield out.batch()

    return run


def expand(job, documents, places):
    """Reduce 1: the documents of a shingle → every pair of them, with count 1."""

    def run(batches):
        stage, out = job.stage(), work.Rows(work.RUNS)
        for (place, kind), runs in work.by_place(batches):
            if kind == SIZES:
                for data in runs:
                    if out.add(place=0, kind=SIZES, data=bytes(data)):
                        yield out.batch()
                continue
            spread = _stage.Spread(places, 4)
            stage.expand(spread, runs, documents)
            yield from work.send(out, spread, 0)
        if out.rows:
            yield out.batch()

    return run


def summed(job):
    """Reduce 2, first half: sums the counts of a pair; sizes pass through."""

    def run(batches):
        stage, out = job.stage(), work.Rows(work.RUNS)
        for (place, kind), runs in work.by_place(batches):
            for data in runs if kind == SIZES else [stage.merge(runs, _stage.MERGE_SUM)]:
                if out.add(place=place, kind=kind, data=bytes(data)):
                    yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def judged(job, sizes):
    """Reduce 2, second half: counts → resemblances."""

    def run(batches):
        stage, out = job.stage(), work.Rows(work.RUNS)
        for row in work.rows_of(batches):
            data = stage.judge(row["data"], sizes.value)
            if out.add(place=row["place"], kind=0, data=data):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def candidates(run):
    """Fills run.pairs and run.kinds: candidates by position, or (facts.direct) pairs
    of documents with their similarities."""
    positions = run.send(work.Positions(run.positions))
    units = run.source.units
    tokens = sum(r["tokens"] for r in run.blocks)
    places = run.places_for(tokens * 16)
    texts = ("texts", "texts_sum", "raw")
    left_out = None
    if run.facts["sct"]:
        def make_census():
            runs = run.map(run.signed(*texts), census(run.job, run.numbers, positions, units,
                                                      places), work.RUNS)
            return run.map(runs.repartitionById(places, runs.place), common(run.job), work.RUNS)

        run.points.save("census", make_census)
        keys = [numpy.frombuffer(r["data"], numpy.uint64)
                for r in work.rows_of(run.points.read("census").toArrow().to_batches())]
        left_out = run.send(numpy.sort(numpy.concatenate(
            keys or [numpy.empty(0, numpy.uint64)])))

    def make_counts():
        runs = run.map(run.signed(*texts), shingles(run.job, run.numbers, positions, units, places,
                                                    left_out), work.RUNS)
        counted = run.map(runs.repartitionById(places, runs.place),
                          expand(run.job, max(run.documents, 1), places), work.RUNS)
        return run.map(counted.repartitionById(places, counted.place), summed(run.job), work.RUNS)

    run.points.save("counts", make_counts)
    frame = run.points.read("counts")
    sizes = numpy.zeros(max(run.documents, 1), numpy.uint32)
    seen = 0
    for row in work.rows_of(frame.where(f"kind = {SIZES}").toArrow().to_batches()):
        both = numpy.frombuffer(row["data"], numpy.uint32)
        half = len(both) // 2
        sizes[both[:half]] = both[half:]
        seen += half
    if seen != run.firsts:
        raise DataError(f"the shingles of {seen} of {run.firsts} documents arrived: remove the "
                        "job's work directory and run again")
    sent = run.send(sizes)
    run.points.save("pairs", lambda: run.map(frame.where("kind = 0"), judged(run.job, sent),
                                             work.RUNS))
    found = sorted(((r["place"], _stage.run_items(r["data"])) for r in work.rows_of(
        run.points.read("pairs").toArrow().to_batches())), key=lambda r: r[0])
    empty = numpy.empty(0, numpy.uint64)
    pairs = numpy.concatenate([k for _, (k, _) in found] or [empty])
    values = numpy.concatenate([v for _, (_, v) in found] or [empty])
    run.buckets = {}
    if run.facts["direct"]:
        run.pairs, run.kinds = pairs, values
        return
    a = run.positions[(pairs >> numpy.uint64(32)).astype(numpy.int64)].astype(numpy.uint64)
    b = run.positions[pairs.astype(numpy.uint32)].astype(numpy.uint64)
    keys = numpy.minimum(a, b) << numpy.uint64(32) | numpy.maximum(a, b)
    run.pairs = numpy.sort(keys)
    run.kinds = numpy.zeros(len(keys), numpy.uint64)
