"""The figures of reading, sketching and deduplicating: speed, growth, memory, quality."""

import json
import os
import re
import shlex
import shutil
import subprocess
from fractions import Fraction

from bench_tools import Failed, Figure, at_least, at_most, line, warm

WC = ["env", "LC_ALL=C.UTF-8", "wc", "-w"]


def kernel_figure(b, what, kernel, path, bar):
    warm(path)
    size = os.path.getsize(path)
    ours, theirs = [b.program("kernels"), kernel, path], WC + [path]
    a, w = b.race(ours, theirs)
    details = ["`" + b.corpora[path] + "`", line(ours, a, size), line(theirs, w, size)]
    ratio = w["wall"] / a["wall"]
    if bar is None:
        return Figure(what, f"{ratio:.2f}×", "", None, details)
    return at_least(what, ratio, bar, details)


def bench_sketch(b):
    docs = b.size(250_000, 20_000)
    yield kernel_figure(b, "sketching plain text (words, 5-word shingles, 128 MinHash values), "
                        "one core, against `wc -w`", "sketch", b.corpus(docs, "text"), 2.0)
    yield kernel_figure(b, "the same where 5 % of the rarer words are not ASCII", "sketch",
                        b.corpus(docs, "text", accents=0.05), None)


def bench_html(b):
    yield kernel_figure(b, "HTML to tokens, one core, against `wc -w`", "html",
                        b.corpus(b.size(120_000, 10_000), "html"), 1.0)


def bench_dedup(b):
    path = b.corpus(b.size(250_000, 20_000))
    warm(path)
    size = os.path.getsize(path)
    one, two, wc = b.dedup(path, 1), b.dedup(path, 2), WC + [path]
    r1, r2, w = b.race(one, two, wc)
    made = "`" + b.corpora[path] + "`"
    yield at_least("`dedup` of JSONL, whole job, 2 threads, against `wc -w`",
                   w["wall"] / r2["wall"], 1.5, [made, line(two, r2, size), line(wc, w, size)])
    yield at_least("`dedup`, 2 threads against 1", r1["wall"] / r2["wall"], 1.8,
                   [made, line(two, r2, size), line(one, r1, size)])


def synced_run(b, path, *more):
    """A run to the end, with its result on disk: all of it, and what writing and waiting took."""
    r = b.measure([b.neardup, "dedup", path, "-o", b.out, "--threads", "2", *more])
    with open(os.path.join(b.out, "summary.json"), encoding="utf-8") as f:
        cost = json.load(f)["cost"]
    computing = sum(cost[f"{stage}_seconds"] for stage in ("read", "find", "verify"))
    return {**r, "all": r["wall"], "wall": r["wall"] - computing}


def bench_durable(b):
    """Writing a result and waiting until it is on disk, against copying its files and a sync."""
    docs = b.size(1_000_000, 20_000)
    files = b.size(100_000, 5_000)
    folder = os.path.join(b.dir, "files")
    os.makedirs(folder, exist_ok=True)
    with open(b.corpus(files, "lines"), encoding="utf-8") as lines:
        for i, text in enumerate(lines):
            if i % 1000 == 0:
                os.makedirs(f"{folder}/{i // 1000:04}", exist_ok=True)
            with open(f"{folder}/{i // 1000:04}/{i:06}.txt", "w", encoding="utf-8") as f:
                f.write(text)
    copied = os.path.join(b.dir, "copied")
    kept = os.path.join(b.dir, "result")
    for what, path in ((f"{docs:,} documents in one file", b.corpus(docs)),
                       (f"{files:,} small files", folder)):
        subprocess.run(["sync"], check=True)
        ours = unsynced = theirs = None
        for _ in range(b.rounds):
            run = synced_run(b, path)
            shutil.rmtree(kept, ignore_errors=True)
            os.rename(b.out, kept)
            shutil.rmtree(copied, ignore_errors=True)
            subprocess.run(["sync"], check=True)
            copy = b.measure(["sh", "-c", f"cp -r {kept} {copied} && sync"])
            shutil.rmtree(copied)
            subprocess.run(["sync"], check=True)
            loose = b.measure(b.dedup(path, 2))
            subprocess.run(["sync"], check=True)
            ours = run if not ours or run["wall"] < ours["wall"] else ours
            theirs = copy if not theirs or copy["wall"] < theirs["wall"] else theirs
            unsynced = loose if not unsynced or loose["wall"] < unsynced["wall"] else unsynced
        shutil.rmtree(kept, ignore_errors=True)
        yield at_most(f"writing a result and waiting for the disk, {what}, against `cp -r` of the "
                      "same files and `sync`", ours["wall"] / theirs["wall"], 1.15,
                      [f"`neardup dedup {path}`: {ours['wall']:.3f} s of {ours['all']:.3f} s; with "
                       f"`--sync no` the run takes {unsynced['wall']:.3f} s",
                       f"`cp -r RESULT COPY && sync`: {theirs['wall']:.3f} s"])
    shutil.rmtree(folder)
    b.drop()


def bench_growth(b):
    small, large = b.size(250_000, 5_000), b.size(1_000_000, 20_000)
    paths = [b.corpus(small), b.corpus(large)]
    for p in paths:
        warm(p)
    commands = [b.dedup(p, 2) for p in paths]
    # What the machine itself makes of four times the bytes: writing as much with cp,
    # and the job without its copy of the corpus.
    copies = [["sh", "-c", f"mkdir -p {b.out} && cp {p} {b.out}/"] for p in paths]
    listed = [[b.neardup, "pairs", p, "--threads", "2"] for p in paths]
    s, l, copy_s, copy_l, pairs_s, pairs_l = b.race(*commands, *copies, *listed,
                                                    touched=True)
    yield at_most(f"time of `dedup` for {large:,} documents against {small:,}",
                  l["wall"] / s["wall"], 4.4,
                  ["`" + b.corpora[p] + "`" for p in paths] +
                  [line(c, r, os.path.getsize(p)) for c, r, p in zip(commands, (s, l), paths)])
    for what, pair, results in (("`pairs`, which writes no copy of the corpus", listed,
                                 (pairs_s, pairs_l)),
                                ("`cp` of the two files", copies, (copy_s, copy_l))):
        yield Figure(f"the same for {what}", f"{results[1]['wall'] / results[0]['wall']:.2f}×", "",
                     None, [line(c, r, os.path.getsize(p))
                            for c, r, p in zip(pair, results, paths)])


def bench_memory(b):
    slack = 64 << 20
    for docs in (b.size(250_000, 80_000), b.size(1_000_000, 0)):
        if not docs:
            continue
        path = b.corpus(docs)
        size = os.path.getsize(path)
        budget = min(64, size // 8 >> 20)
        command = b.dedup(path, 2, "--memory", f"{budget}M")
        result = b.measure(command)
        b.clean_output()
        ok = result["peak"] <= (budget << 20) + slack
        yield Figure(f"peak memory, corpus {size / (budget << 20):.0f}× larger than `--memory`",
                     f"{result['peak'] / 2**20:.0f} MiB", f"≤ {budget} + 64 MiB", ok,
                     ["`" + b.corpora[path] + "`", line(command, result, size)])


def bench_hard(b):
    docs = b.size(1_000_000, 20_000)
    b.drop()
    modes = ["unrelated", "identical", "oneword"]
    paths = [b.corpus(docs, mode=m) for m in modes]
    for p in paths:
        warm(p)
    commands = [b.dedup(p, 2) for p in paths]
    results = b.race(*commands)
    base = results[0]["wall"]
    details = ["`" + b.corpora[p] + "`" for p in paths] + [
        line(c, r, os.path.getsize(p)) for c, r, p in zip(commands, results, paths)]
    yield at_most(f"{docs:,} identical documents against unrelated ones",
                  results[1]["wall"] / base, 1.5, details[:2] + details[3:5])
    yield at_most(f"{docs:,} documents that differ in one word against unrelated ones",
                  results[2]["wall"] / base, 1.5, details[0:3:2] + details[3:6:2])
    b.drop()


def shingle_set(text):
    """The definition, written down again: nothing here comes from neardup."""
    words = re.findall("[a-z0-9]+", text.lower())
    if len(words) < 5:
        return {tuple(words)} if words else set()
    return set(zip(words, words[1:], words[2:], words[3:], words[4:]))


def bench_quality(b):
    docs = b.size(40_000, 4_000)
    path = b.corpus(docs, truth=True, near=0.5, spread=0.5, seed=7)
    with open(path, encoding="utf-8") as f:
        texts = {d["id"]: d["text"] for d in map(json.loads, f)}
    with open(path + ".truth", encoding="utf-8") as f:
        planted = {(a, c): float(j) for a, c, j in (x.rstrip("\n").split("\t") for x in f)}
    exact, sets = {}, {}

    def resemblance(pair):
        if pair not in exact:
            for d in pair:
                if d not in sets:
                    sets[d] = shingle_set(texts[d])
            x, y = (sets[d] for d in pair)
            exact[pair] = Fraction(len(x & y), len(x | y))
            sets.pop(pair[1])
            if len(sets) > 1000:
                sets.clear()
        return exact[pair]

    # The generator's own numbers are checked too.
    for pair in list(planted)[:1000]:
        if abs(float(resemblance(pair)) - planted[pair]) > 1e-6:
            raise Failed(f"the generator's resemblance of {pair} is wrong")

    for threshold in ("0.5", "0.7", "0.8", "0.9"):
        t = Fraction(threshold)
        listing = os.path.join(b.dir, "pairs.tsv")
        command = [b.neardup, "pairs", path, "--threshold", threshold]
        b.measure(command, stdout=listing)
        with open(listing, encoding="utf-8") as f:
            rows = [x.rstrip("\n").split("\t") for x in f]
        os.unlink(listing)
        found = {(a, c): s for a, c, s in rows}
        if len(found) < len(rows):
            raise Failed(f"{shlex.join(command)} lists {len(rows) - len(found)} pairs twice")
        false = sum(resemblance(p) < t for p in found)
        wrong = sum(f"{float(resemblance(p)):.6f}" != s for p, s in found.items())
        wanted = [p for p, j in planted.items() if j >= t]
        close = [p for p in wanted if planted[p] < t + Fraction(1, 20)]
        got = sum(p in found for p in wanted)
        got_close = sum(p in found for p in close)
        recall = got / max(1, len(wanted))
        close_recall = got_close / max(1, len(close))
        precision = 1 - false / max(1, len(found))
        yield Figure(
            f"threshold {threshold}: precision, recall of planted pairs",
            f"{precision:.4f}, {recall:.4f}", "1, ≥ 0.95",
            false == 0 and wrong == 0 and recall >= 0.95,
            ["`" + b.corpora[path] + "`",
             f"`{shlex.join(command)}`: {len(found)} pairs, {false} false, {wrong} with another "
             "similarity than the one counted with Python sets (every reported pair was checked)",
             f"{got} of {len(wanted)} planted pairs with resemblance ≥ {threshold} found; of those "
             f"below {float(t) + 0.05:g}: {got_close} of {len(close)} ({close_recall:.4f})"])


PARTS = {
    "sketch": bench_sketch,
    "html": bench_html,
    "dedup": bench_dedup,
    "durable": bench_durable,
    "growth": bench_growth,
    "memory": bench_memory,
    "hard": bench_hard,
    "quality": bench_quality,
}
