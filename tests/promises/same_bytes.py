"""Promise 1: same input and options give the same bytes, for any thread count,
memory budget, shard count, SIMD level and packing of the input."""

import gzip
import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

from promise_tools import ROOT, Broken, Skipped, counts, digest, expect, expect_whole, promise

THREADS = (1, 2, 3, 8)
MEMORY = ("32M", "256M", "4G")
CPUS = ("base", "sse41", "avx2", "avx512")  # one that the machine lacks is the best below it
SHARDS = (1, 3)


def hard_corpus(lab):
    """A generated corpus with all that could make a difference: buckets above
    the cap, copies, broken, blank and empty records, repeated ids."""
    lines = lab.corpus(4000, bytes=2000, seed=5, accents=0.05, near=0.2).read_bytes().splitlines(True)
    words = [f"word{i}" for i in range(300)]
    for i in range(400):  # one word changed: far more than --bucket-cap in one bucket
        words[lab.random.randrange(300)] = f"other{i % 7}"
        lines.append(json.dumps({"id": f"hot-{i}", "text": " ".join(words)}).encode() + b"\n")
    for i in range(200):
        text = ("", "one", "two words", "Two  Words!", "\u4e2d\u6587 \u0639\u0631\u0628")[i % 5]
        lines.append(json.dumps({"id": f"short-{i % 150}", "text": text}).encode() + b"\r\n")
        lines += [b"{\"id\": \"broken\n", b" \t\n", b"\n", b"\v\n"][i % 4:i % 4 + 1]
    lab.random.shuffle(lines)
    path = lab.fresh("hard/plain/corpus.jsonl")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(lines) + b'{"id": "last", "text": "no line end"}')
    return path


def packed(data, kind):
    if kind == "gz":
        return gzip.compress(data, 1)
    if not shutil.which("zstd"):
        raise Skipped("no zstd")
    return subprocess.run(["zstd", "-qc1"], input=data, check=True, capture_output=True).stdout


def result(lab, corpus, threads, memory, cpu, shards, *options):
    """The digest of one run with these settings."""
    out = lab.fresh(f"out-{corpus.parent.name}-{threads}-{memory}-{cpu}-{shards}")
    settings = ["--threads", threads, "--memory", memory, *options]
    order = list(range(1, shards + 1)) if shards > 1 else []
    lab.random.shuffle(order)
    for i in order:
        run = lab.dedup(corpus, out, *settings, "--shard", f"{i}/{shards}", cpu=cpu)
        expect(run.status in (0, 3) and "is read" in run.stderr, run.stderr)
    run = lab.dedup(corpus, out, *settings, cpu=cpu)
    expect(run.status in (0, 3), run.stderr)
    expect_whole(out)
    sha = digest(out)
    shutil.rmtree(out)
    return sha


def expect_one(results):
    """`results`: settings and digests; all must be the first one's."""
    first = None
    for settings, sha in results:
        first = first or (settings, sha)
        if sha != first[1]:
            raise Broken(f"{settings} gives other bytes than {first[0]}")
    return first[1]


def over(lab, corpus, cases, *options):
    with ThreadPoolExecutor(2) as pool:
        jobs = [(case, pool.submit(result, lab, corpus, *case, *options)) for case in cases]
        return [(case, job.result()) for case, job in jobs]


@promise("same bytes: threads x memory x SIMD level x shards, packings")
def generated_corpus(lab):
    plain = hard_corpus(lab)
    cases = [(t, m, c, s) for t in THREADS for m in MEMORY for c in CPUS for s in SHARDS]
    cases += [(t, "16M", "avx2", 1) for t in THREADS]  # less than the sorters want
    results = over(lab, plain, cases)
    data = plain.read_bytes()
    for kind in ("gz", "zst"):
        plain.write_bytes(packed(data, kind))  # rejected.tsv tells paths: the same place
        some = [(t, m, "avx2", 1) for t in THREADS for m in ("16M", "64M")] + [(2, "64M", "avx2", 3)]
        results += [((kind, *case), sha) for case, sha in over(lab, plain, some)]
    sha = expect_one(results)
    return f"{len(results)} settings, SHA-256 {sha[:16]}..."


@promise("same bytes: the example corpus in all formats")
def example_corpus(lab):
    corpus = ROOT / "examples/corpus"
    cases = [(t, "16M", c, s) for t in (1, 3) for c in ("base", "avx512") for s in (1, 3)]
    for options in ([], ["--keep", "longest"], ["--cluster", "components"], ["--shingle", "chars:7"]):
        expect_one(over(lab, corpus, cases if not options else cases[:3], *options))


@promise("same bytes: sketches, components and other ways to keep")
def other_options(lab):
    plain = lab.corpus(3000, bytes=1500, seed=11, near=0.4)
    cases = [(1, "16M", "base", 1), (3, "64M", "avx2", 1), (2, "16M", "avx512", 3)]
    for options in (["--verify", "sketch"], ["--verify", "none"], ["--cluster", "components"],
                    ["--keep", "centre"], ["--keep", "shortest"], ["--method", "digest"],
                    ["--bucket-cap", "3"], ["--shingle", "chars:9"], ["--tokens", "codepoints"]):
        expect_one(over(lab, plain, cases, *options))


@promise("same bytes: every sketch method, and one that decides for another")
def sketch_methods(lab):
    plain = lab.corpus(2500, bytes=1500, seed=13, near=0.4)
    cases = [(1, "16M", "base", 1), (3, "64M", "avx2", 1), (2, "16M", "avx512", 3), (8, "1G", "sse41", 1)]
    shown = ["--columns", "similarity,minhash,supershingle,projection,simhash,site,exact"]
    methods = (["supershingle"], ["simhash", "--hamming", "6"], ["projection", "--complete"],
               ["combined"], ["combined-site"], ["simhash", "--weights", "tfidf", "--hamming", "9"],
               ["minhash", "--family", "linear", "--threshold", "0.5", "--verify", "none"],
               ["projection", "--bits", "1024", "--features", "shingles", "--keep", "longest"],
               ["simhash", "--weights", "tf", "--confirm", "supershingle", "--bucket-cap", "3"])
    for method in methods:
        expect_one(over(lab, plain, cases, *shown, "--method", *method))


@promise("the result does not depend on where the output is, and may be moved")
def output_elsewhere(lab):
    folder = lab.fresh("apart")
    folder.mkdir()
    shutil.copy(lab.corpus(3000, bytes=1500, seed=11, near=0.4), folder / "a.jsonl")
    one, deep = lab.fresh("one"), lab.fresh("other") / "deep" / "down"
    lab.dedup(folder, one).expect(0)
    lab.dedup(folder, deep).expect(0)
    expect(digest(one) == digest(deep), "other bytes")
    moved = lab.fresh("moved")
    shutil.move(one, moved)
    lab.dedup(folder, moved).expect(0, "complete")
