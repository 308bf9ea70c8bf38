"""Stage verify: fetches and compares the texts of candidates; and fetches the ids of documents."""
import numpy
import pyarrow as pa

from neardup.spark import work


def pieces(data, ends):
    """Yields the parts of a buffer that end at `ends` (an array of 8-byte numbers)."""
    view, begin = memoryview(data), 0
    for end in numpy.frombuffer(ends, numpy.uint64).tolist():
        yield view[begin:end]
        begin = end


TEXTS = [("place", pa.int32()), ("documents", pa.binary()), ("ends", pa.binary()),
         ("texts", pa.binary())]


def _plan_of(stage, row, plans, units):
    """Returns the plan of the files of a block whose texts are read again, or None."""
    if not row["raw"]:
        return None
    if row["unit"] not in plans:
        plans.clear()
        plans[row["unit"]] = stage.plan_files(units.value[row["unit"]].files)
    return plans[row["unit"]]


def _sample(stage, row, first, sample, plans, units):
    documents = sample.documents[sample.of(first, row["docs"])]
    if not len(documents):
        return {}
    data, ends = stage.texts(row["image"], row["texts"], row["texts_sum"],
                             _plan_of(stage, row, plans, units),
                             numpy.ascontiguousarray(documents - numpy.uint32(first)))
    return dict(sampled=documents.tobytes(), sample_ends=ends.tobytes(), sample=data)


def fetch_texts(job, numbers, wanted, units, evidence=False):
    """Blocks → the texts of the wanted documents, by partition; with `evidence`, the data that
    they are compared by: texts, sketches, or both."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(TEXTS)
        plans = {}
        for row in work.rows_of(batches):
            first = numbers.value.first(row)
            w = wanted.value
            span = w.of(first, row["docs"])
            documents, places = w.documents[span], w.places[span]
            if not len(documents):
                continue
            plan = _plan_of(stage, row, plans, units)
            order = numpy.argsort(places, kind="stable")
            cuts = numpy.flatnonzero(numpy.diff(places[order])) + 1
            for some in numpy.split(order, cuts):
                numbers_here = numpy.ascontiguousarray(documents[some])
                data, ends = stage.texts(row["image"], row["texts"], row["texts_sum"], plan,
                                         numbers_here - numpy.uint32(first), evidence)
                if out.add(place=int(places[some[0]]), documents=numbers_here.tobytes(),
                           ends=ends.tobytes(), texts=data):
                    yield out.batch()
        if out.rows:
            yield out.batch()

    return run


class Pairs:
    """Pairs of documents by partition: those of partition p are pairs[begin[p]:begin[p + 1]]."""

    def __init__(self, pairs, begin):
        self.pairs = pairs
        self.begin = begin


def verify(job, pairs, everything):
    """The texts of a partition → the similarities of its pairs."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(work.RUNS)
        places = {}
        for row in work.rows_of(batches):
            places.setdefault(row["place"], []).append(row)
        for place, rows in sorted(places.items()):
            documents, texts = [], []
            for row in rows:
                documents.extend(numpy.frombuffer(row["documents"], numpy.uint32))
                texts.extend(pieces(row["texts"], row["ends"]))
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


NAMES = [("documents", pa.binary()), ("ends", pa.binary()), ("ids", pa.binary()),
         ("unit", pa.int64()), ("task", pa.int64()), ("part", pa.int64()), ("cut", pa.int64()),
         ("parts", pa.binary()), ("sampled", pa.binary()), ("sample_ends", pa.binary()),
         ("sample", pa.binary())]


class Shown:
    """Data for the report: dropped documents and the texts of a sample, or None."""

    def __init__(self, dropped, sample):
        self.dropped = dropped
        self.sample = sample


def names(job, numbers, wanted, paths, shown=None, units=None):
    """Blocks → the ids of the documents in the lists; with `shown`, also the data for the report
    and the writer: the dropped bytes of file ranges (`cut`), the parts of the corpus, and the
    texts of a sample."""

    def run(batches):
        stage = job.stage()
        out = work.Rows(NAMES)
        plans = {}
        for row in work.rows_of(batches):
            first = numbers.value.first(row)
            documents = wanted.value.documents[wanted.value.of(first, row["docs"])]
            more = dict(cut=0, parts=b"", sampled=b"", sample_ends=b"", sample=b"")
            if shown is not None:
                dropped = shown.value.dropped.slice(first, row["docs"])
                if row["range"]:
                    more["cut"] = stage.cut_bytes(row["image"], dropped)
                more["parts"] = stage.parts(row["image"], dropped)
                if shown.value.sample is not None:
                    more.update(_sample(stage, row, first, shown.value.sample, plans, units))
            elif not len(documents):
                continue
            data, ends = stage.ids(row["image"], paths(row["unit"]), numbers.value.base(row),
                                   numpy.ascontiguousarray(documents - numpy.uint32(first)))
            if out.add(documents=documents.tobytes(), ends=ends.tobytes(), ids=data,
                       unit=row["unit"], task=row["task"], part=row["part"], **more):
                yield out.batch()
        if out.rows:
            yield out.batch()

    return run
