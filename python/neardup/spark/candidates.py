"""Stages copies and edges: blocks → runs of digests and keys → exact duplicates, candidates.

The keys depend on the method: bands of MinHash values, mega-shingles, or pieces of bits.
"""
import numpy

from neardup import _stage
from neardup.spark import work


def digest_runs(job, numbers, places):
    """Blocks → runs of digests (kind 0) and of hashes of ids (kind 1)."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(work.RUNS)
        digests, ids = _stage.Spread(places, 8), _stage.Spread(places, 4)
        for row in work.rows_of(batches):
            stage.digests(digests, ids, row["image"], numbers.value.first(row))
            if digests.waiting + ids.waiting > work.FLUSH_ITEMS:
                yield from work.send(out, digests, 0)
                yield from work.send(out, ids, 1)
        yield from work.send(out, digests, 0)
        yield from work.send(out, ids, 1)
        if out.rows:
            yield out.batch()

    return run


def copies(job):
    """Runs of a partition → numbers (exact duplicate, first occurrence); documents with repeated ids."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(work.RUNS)
        for (place, kind), runs in work.by_place(batches):
            data = stage.repeated(runs) if kind else stage.copies(runs)
            if data and out.add(place=place, kind=kind, data=data):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run


def key_runs(job, numbers, positions, ranges):
    """Blocks → runs of keys."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(work.RUNS)
        spread = _stage.Spread(stage.facts["keys"] * ranges, stage.facts["key_bytes"])
        for row in work.rows_of(batches):
            first = numbers.value.first(row)
            stage.keys(spread, row["image"], positions.value.slice(first, row["docs"]), ranges)
            if spread.waiting > work.FLUSH_ITEMS:
                yield from work.send(out, spread, 0)
        yield from work.send(out, spread, 0)
        if out.rows:
            yield out.batch()

    return run


COUNTS = 9  # the kind of a row with counts


def edges(job, documents, places, ranges):
    """Runs of keys → runs of edges, and counts of the buckets."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(work.RUNS)
        seen = numpy.zeros(5, numpy.uint64)
        for (place, _), runs in work.by_place(batches):
            spread = _stage.Spread(places, 1)
            items = sum(_run_length(r) for r in runs)
            buckets, hot, hot_documents, largest = stage.group(
                spread, place // ranges, runs, documents)
            seen[:3] += numpy.array([buckets, hot, hot_documents], numpy.uint64)
            seen[3] = max(int(seen[3]), largest)
            seen[4] += numpy.uint64(items)
            yield from work.send(out, spread, 0)
        out.add(place=0, kind=COUNTS, data=seen.tobytes())
        yield out.batch()

    return run


def _run_length(run):
    return int(numpy.frombuffer(run, numpy.uint64, 1, 8)[0])


def merged(job, how):
    """Runs of a partition → one run with distinct keys; counts pass through."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(work.RUNS)
        for (place, kind), runs in work.by_place(batches):
            for data in runs if kind == COUNTS else [stage.merge(runs, how)]:
                if out.add(place=place, kind=kind, data=bytes(data)):
                    yield out.batch()
        if out.rows:
            yield out.batch()

    return run
