"""The driver of a job: the stages in their order, each a checkpoint.

    sign → copies → edges → verify → components → write

Executors read, sketch, group and compare.  The driver numbers the blocks, keeps a few
bytes per document, and performs the sequential steps with the library's functions: the
order of the verified candidates and the greedy stars.
"""
import base64
import contextlib
import hashlib
import json
import os
import secrets
import tempfile
import time

import numpy

import neardup
from neardup import _stage
from neardup.errors import DataError, StateError, UsageError
from neardup.spark import candidates, checkpoints, components, exact, page, store, texts, work

NONE = 0xFFFFFFFF
PLACE_BYTES = 64 << 20  # approximate size of a partition
EDGES_ON_DRIVER = 200_000_000  # beyond that, components are found by the executors

SETTINGS = {
    # A row has an entire block, so a few of them fill a batch.
    "spark.sql.parquet.enableVectorizedReader": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(32 << 20),
    "spark.sql.adaptive.enabled": "false",
    # A small list may wait behind a long stage or on a busy machine.
    "spark.sql.broadcastTimeout": "36000",
}


@contextlib.contextmanager
def settings(spark, **more):
    """Sets Spark's settings for a job and restores them afterwards."""
    wanted = {**SETTINGS, **more}
    old = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in old.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)


def check_executors(spark):
    """Checks that every executor has the version of the driver."""
    version = neardup.__version__

    def look(batches):  # self-contained: the module may be missing
        import pyarrow

        for _ in batches:
            try:
                import neardup as there

                said = there.__version__
            except ImportError as e:
                said = f"none ({e})"
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([said])], ["version"])

    n = max(2 * spark.sparkContext.defaultParallelism, 2)
    rows = spark.range(0, n, 1, n).mapInArrow(look, "version string").collect()
    found = {row.version for row in rows}
    if found != {version}:
        raise StateError(
            f"the driver has neardup {version}, executors have "
            f"{', '.join(sorted(found))}: install the same version everywhere, or send it along "
            "with --archives (docs/cluster.md)")


def _plan_of(sample):
    """Returns the plan that --sample names; it is part of the identity of a job."""
    for part in sample.split(","):
        name = part.removeprefix("adaptive:")
        if name != part and os.path.isfile(name):
            with open(name, encoding="utf-8", errors="replace") as f:
                return f.read()
    return ""


def _digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class Run:
    """One job over a source of documents."""

    def __init__(self, spark, source, options, place, dedup=True, log=None, claim=None,
                 finished=None):
        """`claim`: of the work directory; `finished`: returns a complete result, if any."""
        self.spark = spark
        self.sc = spark.sparkContext
        self.source = source
        self.dedup = dedup
        self.log = log or (lambda message: None)
        self.began = time.monotonic()
        self.meter = store.Meter(spark)
        self.place = place
        self.points = checkpoints.Checkpoints(spark, place, self.meter, claim)
        self.broadcasts = []
        self.tmp = self.claim = None
        secret = secrets.token_bytes(_stage.SECRET_BYTES)
        about = {"neardup": neardup.__version__, "command": "dedup" if dedup else "pairs",
                 "options": {k: str(v) for k, v in sorted(options.items())},
                 "input": _digest(source.describe()), "secret": base64.b64encode(secret).decode(),
                 "unit_bytes": source.unit_bytes(self.sc.defaultParallelism),
                 "plan": _plan_of(str(options.get("sample", "")))}
        work.Job(options, dedup, secret).stage(driver=True)  # reports wrong options before anything else
        self.about = checkpoints.identity(about)
        self.complete = finished(self.about) if finished else None
        if self.complete:
            return
        about = self.points.agree(about)
        self.job = work.Job(options, dedup, base64.b64decode(about["secret"]))
        self.stage = self.job.stage(driver=True)
        self.job.max_document = self.stage.facts["max_document"]
        source.cut(about["unit_bytes"])
        self.facts = self.stage.facts
        self.parallel = max(self.sc.defaultParallelism, 1)
        self.tmp = tempfile.mkdtemp(prefix="neardup-")

    def send(self, value):
        b = self.sc.broadcast(value)
        self.broadcasts.append(b)
        return b

    def map(self, df, function, fields):
        return df.mapInArrow(function, work.sql_schema(fields))

    # --- the stages ---

    def run(self):
        with settings(self.spark):
            check_executors(self.spark)
            self.sign()
            self.copies()
            if self.facts["exact"]:
                exact.candidates(self)
            elif self.facts["keys"]:
                self.edges()
            else:
                self.pairs = self.kinds = numpy.empty(0, numpy.uint64)
            if self.facts["direct"]:
                self.settle.direct(self.pairs, self.kinds)
            else:
                self.settle.verify(self.pairs, self.kinds, self.verify(
                    "verify", self.settle.as_documents(self.pairs), False))
            if self.dedup:
                self.cluster()
        return self

    def sign(self):
        keep = "zstd" if self.source.keeps_texts else "none"
        self.points.save("sign", lambda: self.source.sign(self), keep)
        table = self.points.read("sign", *work.META).toArrow()
        rows = sorted(table.select([c for c in work.META if c not in ("empty_rows", "ranks")])
                      .to_pylist(), key=lambda r: (r["unit"], r["task"], r["part"]))
        self.blocks = rows
        self.source.check_blocks(rows)
        first, lines = 0, {}
        for r in rows:
            r["first"] = first
            first += r["docs"]
            r["base"] = 0
            if r["range"]:
                file = self.source.file_of(r["unit"])
                r["base"] = lines.get(file, 0)
                lines[file] = r["base"] + r["lines"]
        self.documents = first
        if first >= NONE:
            raise neardup.errors.LimitError(
                f"{first} documents exceed the limit of 4,294,967,294 per job: split the "
                "input")
        keys = [(r["unit"], r["task"], r["part"]) for r in rows]
        if len(set(keys)) != len(keys):
            raise StateError("a block was read twice: remove the job's work directory and run again")
        self.numbers = self.send(work.Numbers(keys, [r["first"] for r in rows],
                                              [r["base"] for r in rows]))
        # Kept by the driver, per document.
        self.same = numpy.arange(first, dtype=numpy.uint32)
        self.ranks = numpy.zeros(first, numpy.uint64) if self.facts["ranked"] else None
        at = dict(zip(keys, rows))
        for row in work.rows_of(table.to_batches()):
            r = at[row["unit"], row["task"], row["part"]]
            if len(row["empty_rows"]):
                empty = numpy.frombuffer(row["empty_rows"], numpy.uint32)
                self.same[r["first"] + empty.astype(numpy.int64)] = NONE
            if self.ranks is not None:
                self.ranks[r["first"]:r["first"] + r["docs"]] = numpy.frombuffer(
                    row["ranks"], numpy.uint64)
        self.quarantined = [q for r in rows if r["quarantined"]
                            for q in r["quarantined"].split("\n")]
        if any(r["skipped"] for r in rows):
            reason = "\t" + _stage.SKIPPED
            self.quarantined += [line.removesuffix(reason) for line in os.fsdecode(
                self.rejected()).split("\n") if line.endswith(reason)]
        self.log(f"sign      {first:,} documents in {len(rows):,} blocks")

    def signed(self, *more):
        return self.points.read("sign", "unit", "task", "part", "docs", "image", *more)

    def places_for(self, bytes_):
        return int(max(self.parallel, min(10000, -(-bytes_ // PLACE_BYTES))))

    def copies(self):
        places = self.places_for(self.documents * 28)

        def make():
            runs = self.map(self.signed(), candidates.digest_runs(self.job, self.numbers, places),
                            work.RUNS)
            return self.map(runs.repartitionById(places, runs.place), candidates.copies(self.job),
                            work.RUNS)

        self.points.save("copies", make)
        self.repeated = 0
        for row in work.rows_of(self.points.read("copies").toArrow().to_batches()):
            numbers = numpy.frombuffer(row["data"], numpy.uint32)
            if row["kind"]:
                self.repeated += len(numbers)
            elif not self.facts["open"]:
                self.same[numbers[0::2]] = numbers[1::2]
        self.settle = _stage.Settle(self.stage, self.same, self.ranks, self.tmp)
        self.positions = self.settle.positions()
        self.firsts = int(numpy.count_nonzero(self.positions != NONE))
        self.log(f"copies    {self.firsts:,} distinct texts")

    def edges(self):
        keys, items = self.facts["keys"], self.facts["key_items"]
        bytes_ = self.firsts * items * (8 + self.facts["key_bytes"])
        ranges = max(1, -(-self.places_for(bytes_) // keys))
        places = self.places_for(self.firsts * 9)
        positions = self.send(work.Positions(self.positions))

        def make():
            runs = self.map(self.signed(),
                            candidates.key_runs(self.job, self.numbers, positions, ranges), work.RUNS)
            n = max(self.parallel, min(keys * ranges, 10000))
            edges = self.map(runs.repartitionById(n, runs.place % n),
                             candidates.edges(self.job, self.documents, places, ranges), work.RUNS)
            return self.map(edges.repartitionById(places, edges.place),
                            candidates.merged(self.job, _stage.MERGE_LEAST), work.RUNS)

        manifest = self.points.save("edges", make)
        self.take_edges("edges")
        if self.items != self.firsts * items:
            raise DataError(f"{self.items} keys arrived of {self.firsts * items}: remove the job's "
                            "work directory and run again")
        self.edge_meter = manifest["meter"]
        self.log(f"edges     {len(self.pairs):,} candidate pairs; {self.buckets['hot_buckets']:,} "
                 "oversized buckets gave stars")

    def take_edges(self, name):
        """Reads candidates, ascending, and the counts of the buckets."""
        runs = []
        seen = numpy.zeros(5, numpy.uint64)
        for row in work.rows_of(self.points.read(name).toArrow().to_batches()):
            if row["kind"] == candidates.COUNTS:
                c = numpy.frombuffer(row["data"], numpy.uint64)
                largest = max(seen[3], c[3])
                seen += c
                seen[3] = largest
            else:
                runs.append((row["place"], _stage.run_items(row["data"])))
        runs.sort(key=lambda r: r[0])
        empty = numpy.empty(0, numpy.uint64)
        self.pairs = numpy.concatenate([r[1][0] for r in runs] or [empty])
        self.kinds = numpy.concatenate([r[1][1] for r in runs] or [empty])
        self.buckets = dict(zip(("buckets", "hot_buckets", "hot_documents", "largest_bucket"),
                                (int(x) for x in seen[:4])))
        self.items = int(seen[4])

    def verify(self, name, pairs, everything):
        """Returns the similarities of pairs, computed by the executors that receive both texts."""
        n = len(pairs)
        if n == 0:
            return numpy.empty(0, numpy.uint64)
        a, b = (pairs >> numpy.uint64(32)).astype(numpy.uint32), pairs.astype(numpy.uint32)
        token_bytes = 7 * sum(r["tokens"] for r in self.blocks) / max(self.documents, 1)
        taking = len(numpy.union1d(a, b))
        places = int(max(2 * self.parallel, min(10000, taking * token_bytes // PLACE_BYTES)))
        place = self.share(pairs, a, places)
        order = numpy.argsort(place, kind="stable")
        begin = numpy.searchsorted(place[order], numpy.arange(places + 1))
        # Send every document once to each partition with one of its pairs.
        wide = place.astype(numpy.uint64)
        keys = numpy.unique(numpy.concatenate([
            a.astype(numpy.uint64) << numpy.uint64(32) | wide,
            b.astype(numpy.uint64) << numpy.uint64(32) | wide]))
        wanted = self.send(work.Wanted((keys >> numpy.uint64(32)).astype(numpy.uint32),
                                       keys.astype(numpy.uint32).astype(numpy.int32)))
        here = self.send(texts.Pairs(pairs[order], begin))

        def make():
            met = self.map(self.signed("texts", "texts_sum", "raw"),
                           texts.fetch_texts(self.job, self.numbers, wanted, self.source.units,
                                             True), texts.TEXTS)
            return self.map(met.repartitionById(places, met.place),
                            texts.verify(self.job, here, everything), work.RUNS)

        self.points.save(name, make)
        values = numpy.zeros(n, numpy.uint64)
        got = 0
        for row in work.rows_of(self.points.read(name).toArrow().to_batches()):
            some = numpy.frombuffer(row["data"], numpy.uint64)
            p = row["place"]
            if len(some) != begin[p + 1] - begin[p]:
                raise DataError(f"partition {p} compared {len(some)} of {begin[p + 1] - begin[p]} "
                                "pairs: remove the job's work directory and run again")
            values[order[begin[p]:begin[p + 1]]] = some
            got += len(some)
        if got != n:
            raise DataError(f"{got} of {n} pairs were compared: remove the job's work directory and "
                            "run again")
        self.log(f"{name:9} {n:,} pairs compared, {taking:,} documents fetched")
        return values

    def share(self, pairs, a, places):
        """Assigns pairs to partitions.  A component stays together, so that each text is sent
        once; one that is too large is split by the first documents of its pairs."""
        root = _stage.components(self.documents, pairs)[a]
        roots, inverse, size = numpy.unique(root, return_inverse=True, return_counts=True)
        before = numpy.cumsum(size) - size
        place = before * places // len(pairs)
        out = place[inverse]
        large = size > 4 * len(pairs) / places
        if large.any():
            out = numpy.where(large[inverse], a.astype(numpy.uint64) * numpy.uint64(places)
                              // numpy.uint64(max(self.documents, 1)), out)
        return out.astype(numpy.int64)

    def cluster(self):
        roots = None
        if self.facts["components"]:
            pairs, _ = self.settle.pairs()
            if len(pairs) > EDGES_ON_DRIVER:
                roots = components.of_pairs(self.spark, pairs, self.documents)
        missing = self.settle.cluster(roots)
        self.settle.finish(self.verify("values", missing, True))
        self.centre, self.value = self.settle.result()
        self.dropped = self.centre != numpy.arange(self.documents, dtype=numpy.uint32)
        counts = self.settle.counts()
        self.log(f"clusters  {counts['clusters']:,}; {counts['dropped']:,} documents dropped")

    # --- results ---

    def names(self, documents):
        """Returns the ids of some documents, escaped as in the lists.  The same pass over the
        blocks collects the data for the writer and the report."""
        wanted = self.send(work.Wanted(documents))
        shown, more = None, ()
        if self.dedup:
            self.gone = self.send(work.Dropped(self.dropped))
            self.shown = page.Shown(self)
            if not self.source.keeps_texts:  # otherwise the blocks have the texts
                more = ("texts", "texts_sum", "raw")
            shown = self.send(texts.Shown(self.gone.value, self.shown.wanted if more else None))
        rows = self.meter.run("ids", lambda: self.map(
            self.signed("range", *more),
            texts.names(self.job, self.numbers, wanted, self.source.paths(), shown,
                        self.source.units), texts.NAMES).toArrow())
        out = [None] * len(documents)
        self.cuts = {}
        for row in work.rows_of(rows.to_batches()):
            self.cuts[row["unit"], row["task"], row["part"]] = row["cut"]
            if shown is not None:
                self.shown.take(row)
            places = numpy.searchsorted(documents, numpy.frombuffer(row["documents"], numpy.uint32))
            for p, name in zip(places.tolist(), texts.pieces(row["ids"], row["ends"])):
                out[p] = bytes(name)
        if any(name is None for name in out):
            raise DataError("the ids of some documents are missing: remove the job's work "
                            "directory and run again")
        return out

    def rejected(self):
        """Returns the lines of rejected.tsv."""
        bad = [(r["unit"], r["task"], r["part"]) for r in self.blocks if r["rejects"]]
        if not bad:
            return b""
        keys = self.spark.createDataFrame(bad, "unit bigint, task bigint, part bigint")
        rows = list(work.rows_of(self.points.read("sign", "unit", "task", "part", "image").join(
            keys.hint("broadcast"), ["unit", "task", "part"]).toArrow().to_batches()))
        rows.sort(key=lambda r: (r["unit"], r["task"], r["part"]))
        paths = self.source.paths()
        return b"".join(self.stage.rejects(r["image"], paths(r["unit"]),
                                           self.numbers.value.base(r)) for r in rows)

    def summary(self):
        blocks = self.blocks
        files, bytes_ = self.source.size()
        problems = len(self.source.problems)
        rejects = sum(r["rejects"] for r in blocks) + problems
        seconds = {s["stage"]: s["seconds"] for s in self.meter.stages}
        out = dict.fromkeys(("buckets", "hot_buckets", "hot_documents", "largest_bucket"), 0)
        out.update(getattr(self, "buckets", {}))
        out.update({
            "files": files, "bytes": bytes_, "documents": self.documents + rejects,
            "raw_bytes": sum(r["raw_bytes"] for r in blocks), "rejected": rejects,
            "others": sum(r["others"] for r in blocks), "empty": sum(r["empties"] for r in blocks),
            "tokens": sum(r["tokens"] for r in blocks), "repeated_ids": self.repeated,
            "seconds": time.monotonic() - self.began, "threads": self.parallel,
            "temporary_bytes": sum(self.points.bytes(n) for n in
                                   ("sign", "copies", "edges", "verify", "values")
                                   if self.place.exists(f"{n}.json")),
            "read_seconds": seconds.get("sign", 0),
            "find_seconds": seconds.get("copies", 0) + seconds.get("edges", 0),
            "verify_seconds": seconds.get("verify", 0) + seconds.get("values", 0),
            "write_seconds": seconds.get("ids", 0) + seconds.get("kept", 0)})
        return out

    def report(self):
        """Returns the cost of every stage, and facts known only to Spark."""
        band = getattr(self, "edge_meter", {}).get("shuffles", [])
        return {"spark": self.sc.version, "neardup": neardup.__version__, "job": self.about,
                "parallelism": self.parallel, "documents": self.documents,
                "band_shuffle_bytes": band[0] if band else 0,
                "band_shuffle_bytes_per_document":
                    round(band[0] / self.documents, 1) if band and self.documents else 0,
                "quarantined": self.quarantined, "resumed_stages": self.points.resumed,
                "stages": self.meter.stages}

    def close(self):
        if self.claim is not None:  # the work directory stays
            self.claim.close()
        for b in self.broadcasts:
            with contextlib.suppress(Exception):
                b.unpersist()
        if self.tmp is None:
            return
        with contextlib.suppress(OSError):
            for name in os.listdir(self.tmp):
                os.remove(os.path.join(self.tmp, name))
            os.rmdir(self.tmp)


def usage(message):
    raise UsageError(message)


def as_json(value):
    return json.dumps(value, indent=2) + "\n"
