#!/usr/bin/env python3
"""Comparison of neardup with other MinHash libraries for Python: `make bench-peers`.

Same documents, same shingles, permutations, bands and threads, one run, and the whole job: from a
JSONL file to the list of duplicates. The peers are those of datasketch, rensa (its full-set mode, not
the one that samples), gaoya and text-dedup that could be installed; bench/peer_jobs.py has their code.

    bench/peers.py                100,000 generated documents of 2 KB, and real ones in NEARDUP_DATA
    bench/peers.py --docs 10000   fewer
    bench/peers.py --write        … and docs/peers.md anew
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True

import numpy
from bench_tools import Bench, Failed, machine

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "build/venv-peers"
BANDS, ROWS = 16, 8
THRESHOLD = "0.8"
ARROW = """
import json, sys, time
import neardup, pyarrow
path, threads, *rest = sys.argv[1:]
options = dict(zip(rest[::2], rest[1::2]))
with open(path, encoding="utf-8") as f:
    column = pyarrow.array([json.loads(line)["text"] for line in f], pyarrow.large_string())
for _ in range(int(options.pop("rounds"))):
    began, cpu = time.monotonic(), time.process_time()
    result = neardup.dedup(column, threads=threads, **options)
    print(json.dumps([time.monotonic() - began, time.process_time() - cpu, len(result.pairs)]))
"""


class Row:
    def __init__(self, name, wall, cpu, pairs, note=""):
        self.name, self.wall, self.cpu, self.note = name, wall, cpu, note
        self.pairs = pairs  # a set of a << 32 | b, or None; an int: only that many are known
        self.dropped = None

    def count(self, truth):
        if isinstance(self.pairs, set):
            return len(self.pairs), len(self.pairs & truth), len({p & 0xFFFFFFFF for p in self.pairs})
        return None, None, self.dropped


def packed(table):
    return {int(a) << 32 | int(b) for a, b in table}


class Race:
    def __init__(self, bench, path, threads, rounds):
        self.b, self.path, self.threads, self.rounds = bench, str(path), threads, rounds
        with open(path, encoding="utf-8") as f:
            self.number = {str(json.loads(line)["id"]): i for i, line in enumerate(f)}
        self.work = tempfile.mkdtemp(dir=bench.dir)

    def close(self):
        shutil.rmtree(self.work)

    def command(self, *more):
        return [self.b.neardup, "pairs", self.path, "--threads", str(self.threads), "--threshold",
                THRESHOLD, *more]

    def read_pairs(self, path):
        pairs = set()
        with open(path, encoding="utf-8") as f:
            for line in f:
                a, b, _ = line.split("\t")
                pairs.add(self.number[a] << 32 | self.number[b])
        return pairs

    def neardup(self, name, *more):
        out = os.path.join(self.work, "pairs.tsv")
        cut = ["--permutations", str(BANDS * ROWS), "--bands", str(BANDS), "--rows", str(ROWS)]
        runs = [self.b.measure(self.command(*cut, *more), out) for _ in range(self.rounds)]
        best = min(runs, key=lambda r: r["wall"])
        return Row(name, best["wall"], min(r["cpu"] for r in runs), self.read_pairs(out))

    def truth(self):
        out = os.path.join(self.work, "truth.tsv")
        self.b.measure(self.command("--method", "join"), out)
        return self.read_pairs(out)

    def python(self, name, job, python, rounds):
        out = os.path.join(self.work, "pairs.npy")
        best = None
        for _ in range(rounds):
            done = subprocess.run(
                [python, ROOT / "bench/peer_jobs.py", job, self.path, out, str(self.threads), str(BANDS),
                 str(ROWS)], capture_output=True, text=True,
                env={**os.environ, "RAYON_NUM_THREADS": str(self.threads), "OMP_NUM_THREADS": "1",
                     "OPENBLAS_NUM_THREADS": "1"})
            if done.returncode:
                raise Failed(f"{name}: {done.stderr.strip().splitlines()[-1]}")
            got = json.loads(done.stdout.splitlines()[-1])
            if best is None or got["seconds"] < best["seconds"]:
                best = got
        table = numpy.load(out)
        row = Row(name, best["seconds"], best["cpu"], None)
        if len(table) and table[0][0] < 0:  # only flags
            row.dropped = len(table)
        else:
            row.pairs = packed(table)
        return row

    def text_dedup(self):
        """Its own command; what importing takes is measured and taken off."""
        start = [str(PEERS / "bin/python"), "-m", "text_dedup.minhash"]
        work = os.path.join(self.work, "td")
        os.makedirs(work)
        command = start + ["--path", "json", "--data_files", self.path, "--split", "train", "--column",
                           "text", "--cache_dir", work + "/cache", "--output", work + "/out", "--ngram", "5",
                           "--num_perm", str(BANDS * ROWS), "--b", str(BANDS), "--r", str(ROWS),
                           "--threshold", THRESHOLD, "--hash_func", "xxh3", "--num_proc",
                           str(self.threads)]
        env = os.environ.copy()
        os.environ.update(HF_HOME=work, HF_DATASETS_OFFLINE="1", HF_HUB_OFFLINE="1")
        try:
            idle = self.b.measure(start + ["--help"])
            run = self.b.measure(command, os.path.join(work, "log"))
        finally:
            os.environ.clear()
            os.environ.update(env)
        text = Path(self.b.log).read_text(errors="replace") + Path(work, "log").read_text(errors="replace")
        counts = dict(re.findall(r"\b(Before|After)\s*:\s*(?:minhash\.py:\d+\s*)?(\d+)", text))
        row = Row("text-dedup", run["wall"] - idle["wall"], run["cpu"] - idle["cpu"], None)
        if len(counts) == 2:
            row.dropped = int(counts["Before"]) - int(counts["After"])
        return row


def arrow_ratio(race, lines):
    """neardup.dedup on an Arrow column against the command on the same text."""
    best = {"arrow": [9e9, 9e9], "command": [9e9, 9e9]}
    cut = ["permutations", str(BANDS * ROWS), "bands", str(BANDS), "rows", str(ROWS)]
    for _ in range(max(2, race.rounds)):
        run = race.b.measure(race.command("--collapse", *(f"--{x}" if i % 2 == 0 else x
                                                          for i, x in enumerate(cut))))
        best["command"] = [min(best["command"][0], run["wall"]), min(best["command"][1], run["cpu"])]
        done = subprocess.run([sys.executable, "-c", ARROW, race.path, str(race.threads), "rounds", "2",
                               *cut], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            wall, cpu, _ = json.loads(line)
            best["arrow"] = [min(best["arrow"][0], wall), min(best["arrow"][1], cpu)]
    ratio = best["arrow"][0] / best["command"][0]
    cpu = best["arrow"][1] / best["command"][1]
    lines.append(f"`neardup.dedup` on an Arrow column: {best['arrow'][0]:.2f} s; `neardup pairs --collapse` "
                 f"on the JSONL file: {best['command'][0]:.2f} s. Ratio {ratio:.2f} (CPU {cpu:.2f}).")
    goal("Arrow column, ratio", ratio, 1.1, False)


def goal(what, value, bar, more):
    """Prints whether a goal of ours is met; readers of the page need only the figure."""
    met = value >= bar if more else value <= bar
    print(f"{'met' if met else 'MISSED'}: {what}: {value:.2f}, at {'least' if more else 'most'} {bar}", flush=True)


def contest(bench, title, path, threads, rounds):
    """One corpus: a table and what follows from it, as Markdown."""
    print(f"\n{title}", flush=True)
    race = Race(bench, path, threads, rounds)
    rows, notes = [], []

    def take(make, *args):
        try:
            rows.append(make(*args))
            r = rows[-1]
            print(f"  {r.name:44} {r.wall:9.2f} s {r.cpu:9.2f} s CPU", flush=True)
        except Failed as e:
            notes.append(f"Not measured: {e}")
            print(f"  {e}", flush=True)

    take(race.neardup, "neardup, as the others: `--verify sketch`", "--verify", "sketch")
    take(race.neardup, "neardup, every pair verified exactly (default)")
    take(race.python, "neardup.pairs on a list of str", "neardup_list", sys.executable, min(rounds, 2))
    python = PEERS / "bin/python"
    for name, job in (("gaoya", "gaoya"), ("rensa, pairs", "rensa"), ("rensa, flags only", "rensa_flags"),
                      ("datasketch", "datasketch")):
        if have(name.split(",")[0]):
            take(race.python, name, job, python, 1)
        else:
            notes.append(f"{name} could not be installed here.")
    if have("text_dedup"):
        take(race.text_dedup)
    else:
        notes.append("text-dedup could not be installed here.")

    truth = race.truth()
    out = [f"## {title}", "", f"{len(race.number):,} documents, {len(truth):,} pairs at or above {THRESHOLD} "
           "(counted by `--method join`).", "",
           "| | seconds | CPU seconds | pairs listed | of them true | true pairs found | documents with a match |",
           "|---|---:|---:|---:|---:|---:|---:|"]
    for r in rows:
        listed, true, documents = r.count(truth)
        share = "" if true is None else f"{true / max(1, len(truth)):.1%}"
        out.append(f"| {r.name} | {r.wall:.2f} | {r.cpu:.2f} | {number(listed)} | {number(true)} | {share} "
                   f"| {number(documents)} |")
    out.append("")
    ours = {r.name: r for r in rows if r.name.startswith("neardup")}
    peers = [r for r in rows if not r.name.startswith("neardup")]
    for r in list(ours.values())[:2]:
        fastest = min(peers, key=lambda p: p.cpu)
        times = fastest.cpu / r.cpu
        out.append(f"- {r.name}: {times:.1f} times as fast as {fastest.name}, the fastest other library.")
        goal(f"{r.name}, times as fast as {fastest.name}", times, 3, True)
        slow = [p for p in peers if p.name == "datasketch"]
        if slow:
            times = slow[0].cpu / r.cpu
            out[-1] = out[-1][:-1] + f"; {times:.0f} times as fast as datasketch."
            goal(f"{r.name}, times as fast as datasketch", times, 50, True)
    arrow_ratio(race, notes)
    out += [f"- {n}" for n in notes] + [""]
    print("\n".join(out[2:]))
    race.close()
    return out


def number(n):
    return "" if n is None else f"{n:,}"


def have(module):
    return subprocess.run([PEERS / "bin/python", "-c", f"import {module}"], stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL).returncode == 0


def versions():
    code = ("from importlib.metadata import version as v\n"
            "for n in ('datasketch', 'rensa', 'gaoya', 'text-dedup', 'numpy'):\n"
            " try: print(n, v(n))\n except Exception: pass")
    done = subprocess.run([PEERS / "bin/python", "-c", code], capture_output=True, text=True)
    return ", ".join(done.stdout.splitlines())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--docs", type=int, default=100000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="write docs/peers.md")
    parser.add_argument("--only", choices=["generated", "terms"])
    args = parser.parse_args()
    os.chdir(ROOT)
    bench = Bench("build", False, args.rounds)
    text = []
    if args.only != "terms":
        text += contest(bench, f"{args.docs:,} documents of 2 KB", bench.corpus(args.docs), args.threads,
                        args.rounds)
        bench.drop()
    data = os.environ.get("NEARDUP_DATA")
    terms = Path(data or "", "gold/terms.jsonl.zst")
    if args.only == "generated" or not data or not terms.exists():
        print("the real documents: skipped, no data (NEARDUP_DATA)")
    else:
        plain = os.path.join(bench.dir, "terms.jsonl")
        subprocess.run(["zstd", "-qdf", str(terms), "-o", plain], check=True)
        text += contest(bench, "Versions of terms of service", plain, args.threads, args.rounds)
        os.unlink(plain)
    if args.write:
        write(bench, args, text)


def write(bench, args, text):
    threads = "one thread" if args.threads == 1 else f"{args.threads} threads"
    head = f"""# Comparison with other libraries

`make bench-peers` writes this page (`bench/peers.py --write`). Every library does the same job on the
same documents: from a JSONL file to the list of near-duplicates, with sets of 5-word shingles,
{BANDS * ROWS} permutations in {BANDS} bands of {ROWS} rows, threshold {THRESHOLD}, {threads}, in one run.
`bench/peer_jobs.py` calls them, in bulk where possible. The time to import a Python library is not
counted; the start of our command is. Ratios are of CPU seconds, because other programs may run at the
same time.

datasketch and rensa list every pair that shares a band, gaoya those whose estimate reaches the
threshold; text-dedup keeps one document of each connected component and lists no pairs. With `--verify
sketch` neardup lists pairs by the same rule as gaoya; by default it verifies every pair exactly, so all
listed pairs are true.

{versions()}. {machine(bench)}.
"""
    (ROOT / "docs/peers.md").write_text(head + "\n" + "\n".join(text).rstrip() + "\n", "utf-8")
    print("written: docs/peers.md")


if __name__ == "__main__":
    main()
