"""The studies beside one run of the method that they study."""

import os
import subprocess

from bench_tools import at_most, line, warm


def race_study(b, what, path, study, run, bar):
    warm(path)
    size = os.path.getsize(path)
    ours = [b.neardup, "study", study, path, "-o", b.out]
    one = [b.neardup, "pairs", path, *run]
    s, o = b.race(ours, one)
    made = ["`" + b.corpora[path] + "`"] if path in b.corpora else []
    return at_most(what, s["wall"] / o["wall"], bar, made + [line(ours, s, size), line(one, o, size)])


EXACT = ["--method", "exact", "--threshold", "0.85"]


def bench_studies(b):
    path = b.corpus(b.size(100_000, 5_000), spread=1)
    yield race_study(b, "`study sampling`, all of it, against one run of `--method exact`", path,
                     "sampling", EXACT, 20)
    yield race_study(b, "`study sources` against one run of `pairs`", path, "sources", [], 20)
    data = os.environ.get("NEARDUP_DATA")
    packed = os.path.join(data, "gold", "terms.jsonl.zst") if data else ""
    if b.quick or not os.path.exists(packed):
        return
    path = os.path.join(b.dir, "terms.jsonl")
    try:
        subprocess.run(["zstd", "-dqf", "--long=27", packed, "-o", path], check=True)
        yield race_study(b, "`study sampling` of 11,581 versions of terms of service, the same",
                         path, "sampling", EXACT, 20)
    finally:
        os.unlink(path)


PARTS = {"studies": bench_studies}
