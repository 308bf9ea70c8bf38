"""The figures of the sketches of the web: super-shingles, projections, simhash.

bench/kernels.c times text → tokens → sketch against wc; bench/hamming_bench.c times all pairs
within a Hamming distance against sorting the same numbers and against comparing all with all.
"""

import os
import re

from bench_core import kernel_figure
from bench_tools import Failed, Figure, at_least, at_most

FIXED = 12 << 20  # what a run takes for a few documents


def bench_sketches(b):
    path = b.corpus(b.size(250_000, 20_000), "text")
    yield kernel_figure(b, "projection of 384 bits over plain text, one core, against `wc -w`",
                        "projection", path, 0.7)
    yield kernel_figure(b, "simhash of 64 bits, every different token once", "simhash", path, 1.5)
    yield kernel_figure(b, "the same, as often as it occurs (tf)", "simhash-tf", path, 1.5)
    yield kernel_figure(b, "the same, tf-idf, both passes over the text", "simhash-idf", path, None)
    yield kernel_figure(b, "8-word shingles, 84 min values, 6 super-shingles", "super", path, 1.5)
    yield kernel_figure(b, "the same with 84 linear functions (`--family linear`)", "linear", path,
                        None)
    pages = b.corpus(b.size(120_000, 10_000), "html")
    yield kernel_figure(b, "HTML to web tokens, against `wc -w`", "web", pages, None)


def numbers(b, command):
    """Runs hamming_bench: its lines, and the numbers after their names."""
    out = os.path.join(b.dir, "hamming.txt")
    b.measure(command, stdout=out)
    with open(out, encoding="utf-8") as f:
        lines = f.read().splitlines()
    os.unlink(out)
    found = {}
    for text in lines:
        match = re.fullmatch(r"([a-z ]+): ([0-9.]+)", text)
        if match:
            found[match[1]] = float(match[2])
    if len(found) < 3:
        raise Failed(f"{command[0]} printed something else")
    return found, ["`" + " ".join(command) + "`"] + lines[1:4]


def bench_hamming(b):
    n = b.size(10_000_000, 1_000_000)
    program = b.program("hamming_bench")
    best, details = None, None
    for _ in range(b.rounds):
        got, lines = numbers(b, [program, str(n), "3"])
        if best is None or got["against sorting"] < best["against sorting"]:
            best, details = got, lines
    yield at_most(f"simhash, all pairs within 3 bits of {n:,} fingerprints, 1 % planted, against "
                  "sorting them 4 times", best["against sorting"], 3, details)
    yield at_least("the same, against comparing all with all (extrapolated from 100,000)",
                   best["faster than all with all"], 100 if n >= 10_000_000 else 10, [])
    memory = best["bytes per document above the fingerprints"]
    yield Figure("memory above the fingerprints", f"{memory:.2f} bytes a document",
                 "≤ 16, and 1 MiB", memory <= 16 + 2**20 / n, [])
    yield from whole_run(b)
    for k in (1, 5, 7):
        command = [program, str(n // 10), str(k)]
        got, lines = numbers(b, command)
        yield Figure(f"all pairs within {k} bits of {n // 10:,}, against sorting them {k + 1} times",
                     f"{got['against sorting']:.2f}×", "", None, lines)


def whole_run(b):
    """`neardup pairs` over a file of simhashes: peak memory by document, and inside a budget."""
    n = b.size(10_000_000, 1_000_000)
    path = b.corpus(n, "lines", bytes=60)
    sketches = os.path.join(b.dir, "simhash.sketches")
    b.measure([b.neardup, "sketch", "--format", "lines", path, "--method", "simhash", "-o", sketches,
               "--resume", "never"])
    command = [b.neardup, "pairs", "--method", "simhash", sketches]
    out = [os.path.join(b.dir, name) for name in ("roomy.tsv", "tight.tsv")]
    roomy = b.measure(command, stdout=out[0])
    above = (roomy["peak"] - 8 * n - FIXED) / n
    yield Figure(f"`neardup pairs` over {n:,} simhashes of a file, memory above the sketches",
                 f"{above:.2f} bytes a document", "≤ 16, and 12 MiB", above <= 16,
                 ["`" + " ".join(command) + "`",
                  f"peak {roomy['peak'] / 1e6:.0f} MB, of them {8 * n / 1e6:.0f} MB of sketches and "
                  f"{FIXED / 1e6:.0f} MB whatever their number; {roomy['wall']:.1f} s"])
    budget = b.size(64, 16)
    command += ["--memory", f"{budget}M"]
    tight = b.measure(command, stdout=out[1])
    with open(out[0], "rb") as f, open(out[1], "rb") as g:
        same = f.read() == g.read()
    for name in out + [sketches]:
        os.unlink(name)
    limit = (budget + 64) << 20
    yield Figure(f"the same in a budget of {budget} MiB, peak", f"{tight['peak'] >> 20} MiB",
                 f"≤ {budget} + 64 MiB, same bytes", same and tight["peak"] <= limit,
                 ["`" + " ".join(command) + "`", f"{tight['wall']:.1f} s"])


PARTS = {
    "sketches": bench_sketches,
    "hamming": bench_hamming,
}
