#!/usr/bin/env python3
"""Compares two builds of neardup: are their outputs equal, and is the new one as fast?

    bench/versions.py outputs OLD NEW    every method and command, byte for byte
    bench/versions.py speed OLD NEW      the main jobs, interleaved, best of --rounds (7)

OLD and NEW are build directories, such as build and another tree's build.  Outputs are compared
on examples/, on corpora of bench/generate.c and, where NEARDUP_DATA names them, on real ones.
Lists, kept documents and the numbers of summary.json must be equal; times, memory, the version
and the wording of pages may differ.  Exit status 1: something differs, or one job takes more
than --slower (1.05) times as long.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
from bench_tools import Bench, Failed

ROOT = Path(__file__).resolve().parent.parent
METHODS = ["minhash", "digest", "exact", "join", "allpairs", "ppjoin", "ppjoin+", "supershingle",
           "simhash", "projection", "combined", "combined-site"]
EXACT = ["exact", "join", "allpairs", "ppjoin", "ppjoin+"]
SKETCHED = ["supershingle", "simhash", "projection", "combined", "combined-site"]
# Of summary.json: what differs from run to run, from build to build, or is checked elsewhere.
UNSTEADY = {"cost", "version", "files", "program", "host", "started", "finished", "memory"}


# --- what is compared ------------------------------------------------------------------------
def variants(methods):
    """Options of `pairs` and `dedup`, each a list of words."""
    for method in methods:
        yield ["--method", method]
    for method in EXACT:
        yield ["--method", method, "--threshold", "0.5"]
    for method in ["join", "ppjoin+"]:
        for similarity, threshold in [("cosine", "0.85"), ("containment", "0.9"), ("overlap", "40")]:
            if method == "join" or similarity != "containment":
                yield ["--method", method, "--similarity", similarity, "--threshold", threshold]
    yield ["--method", "exact", "--fingerprint", "md5"]
    yield ["--method", "exact", "--sample", "mod:4"]
    yield ["--method", "exact", "--sample", "sct:3", "--sample", "cap:500"]
    yield ["--sample", "min:50"]
    yield ["--threshold", "0.5", "--recall", "0.99"]
    yield ["--bands", "9", "--rows", "13"]
    yield ["--family", "linear", "--permutations", "60"]
    yield ["--tokens", "web"]
    yield ["--tokens", "codepoints", "--shingle", "words:9"]
    yield ["--shingle", "chars:9"]
    yield ["--shingle", "aligned:64"]
    yield ["--ignore-boilerplate"]
    yield ["--verify", "none"]
    yield ["--verify", "sketch"]
    yield ["--memory", "24M", "--bucket-cap", "8"]
    yield ["--candidates", "supershingle", "--confirm", "projection"]
    yield ["--method", "projection", "--complete", "--agree-bits", "350"]
    for method in SKETCHED:
        yield ["--method", method, "--verify", "exact", "--threshold", "0.7"]
    yield ["--method", "simhash", "--weights", "tfidf", "--hamming", "6"]
    yield ["--method", "simhash", "--features", "shingles", "--weights", "tf"]
    yield ["--seed", "77", "--columns", "similarity,exact,minhash,simhash,site"]


DEDUP_ONLY = [["--keep", "longest"], ["--keep", "newest"], ["--keep", "url"], ["--keep", "centre"],
              ["--cluster", "components"], ["--csv"], ["--threads", "1"], ["--threads", "3"]]


def corpora(b, work):
    """(name, inputs, methods that fit it) of every corpus."""
    yield "examples", ["examples/corpus"], METHODS
    for mode, docs in [("planted", 3000), ("identical", 2000), ("oneword", 600)]:
        yield f"generated {mode}", [os.path.abspath(b.corpus(docs, mode=mode))], METHODS
    yield "generated html", [os.path.abspath(b.corpus(800, "html"))], METHODS
    data = os.environ.get("NEARDUP_DATA")
    if not data:
        print("real corpora: skipped, NEARDUP_DATA is not set", flush=True)
        return
    gold = Path(data) / "gold"
    for name in ["ecir20-core.docs", "ecir20-terabyte.docs", "ecir20-web.docs", "cora.docs",
                 "dblp-acm.docs"]:
        yield name, [str(gold / (name + ".jsonl.zst"))], METHODS
    for name, lines in [("laws-zh", 400), ("terms", 300)]:
        path = work / f"{name}.jsonl"
        with open(path, "wb") as f:
            unpack = subprocess.Popen(["zstd", "-dcq", "--long=27", gold / f"{name}.jsonl.zst"],
                                      stdout=subprocess.PIPE)
            for _ in range(lines):
                f.write(unpack.stdout.readline())
            unpack.stdout.close()
            unpack.wait()
        yield name, [str(path)], METHODS
    tree = work / "guide"
    tree.mkdir()
    unpack = subprocess.run(["zstd", "-dcq", "--long=27", gold / "installguide.tar.zst"],
                            stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "-x", "-C", tree], input=unpack.stdout, check=True)
    yield "installguide", [str(tree)], ["minhash", "join", "simhash", "combined"]
    for name in ["trec-samples", "warc-fixtures"]:
        yield name, [str(Path(data) / name)], METHODS


def other_commands(inputs, first):
    """Further commands over a corpus: (words, files to compare)."""
    yield ["inspect", *inputs]
    yield ["pairs", *inputs, "--csv", "--collapse"]
    yield ["pairs", *inputs, "--method", "join", "--top", "3"]
    yield ["explain", *first, *inputs]
    yield ["plan", *inputs]
    yield ["sketch", *inputs, "-o", "OUT/a.nds"]
    for study in ["web", "sampling", "library", "join", "sources"]:
        yield ["study", study, *inputs, "-o", "OUT"]


# --- running ---------------------------------------------------------------------------------
def digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while block := f.read(1 << 20):
            h.update(block)
    return h.hexdigest()


def steady(value):
    if isinstance(value, dict):
        return {k: steady(v) for k, v in value.items()
                if k not in UNSTEADY and not k.endswith("seconds") and not k.endswith("_bytes_peak")}
    return [steady(v) for v in value] if isinstance(value, list) else value


def contents(folder):
    """Every file below a folder with its digest; summaries without what is unsteady."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_dir() or path.suffix == ".html":
            found[name] = "is there"  # pages have wording
        elif path.suffix == ".json":
            found[name] = json.dumps(steady(json.loads(path.read_text("utf-8"))), sort_keys=True)
        elif path.name.endswith("times.tsv"):
            found[name] = "is there"
        else:
            found[name] = digest(path)
    return found


def outcome(build, words, work):
    """What a command gives: status, standard output, files."""
    folder = Path(tempfile.mkdtemp(dir=work))
    out = folder / "out"
    command = [str(build / "neardup")] + [w.replace("OUT", str(out)) for w in words]
    if any(w == "OUT/a.nds" for w in words):
        out.mkdir()
    try:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=900)
        files = contents(out) if out.is_dir() else {}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    printed = hashlib.sha256(done.stdout).hexdigest()
    return {"status": done.returncode, "lines": done.stdout.count(b"\n"), "output": printed, **files}


def compare(old, new, words, work):
    a, b = outcome(old, words, work), outcome(new, words, work)
    unlike = [k for k in {**a, **b} if a.get(k) != b.get(k)]
    return words, a["status"], unlike, len(a) - 3


def compare_outputs(b, old, new, only):
    differ = same = refused = files = 0
    with tempfile.TemporaryDirectory(prefix="neardup-versions-") as folder:
        work = Path(folder)
        for name, inputs, methods in corpora(b, work):
            if only not in name:
                continue
            first = subprocess.run([old / "neardup", "pairs", *inputs], capture_output=True,
                                   cwd=ROOT).stdout.decode("utf-8", "replace").split("\n")[0]
            first = first.split("\t")[:2] if first else ["0", "1"]
            every = list(variants(methods))
            jobs = [["pairs", *inputs, *v] for v in every]
            jobs += [["dedup", *inputs, "-o", "OUT", "--sync", "no", *v]
                     for v in every + DEDUP_ONLY]
            jobs += other_commands(inputs, first)
            if name == "installguide":
                jobs = [j for j in jobs if "--method" not in j or j[j.index("--method") + 1] in methods]
            counts = [0, 0]
            with ThreadPoolExecutor(2) as pool:
                for words, status, unlike, n in pool.map(lambda w: compare(old, new, w, work), jobs):
                    files += n
                    counts[bool(unlike)] += 1
                    refused += status == 2
                    if unlike:
                        print(f"DIFFERS {' '.join(words)}: {', '.join(unlike[:6])}", flush=True)
            same += counts[0]
            differ += counts[1]
            print(f"{name:24} {counts[0]} commands give the same, {counts[1]} differ", flush=True)
    print(f"{same} commands with {files} files equal ({refused} refused by both), {differ} differ")
    return differ == 0


# --- speed -----------------------------------------------------------------------------------
def speed_jobs(b):
    big = b.corpus(b.size(150_000, 10_000))
    html = b.corpus(b.size(60_000, 5_000), "html")
    oneword = b.corpus(b.size(100_000, 8_000), mode="oneword")
    small = b.corpus(b.size(20_000, 4_000))
    yield "dedup, JSONL, 1 thread", ["dedup", big, "-o", b.out, "--sync", "no", "--threads", "1"]
    yield "dedup, JSONL, 2 threads", ["dedup", big, "-o", b.out, "--sync", "no", "--threads", "2"]
    yield "pairs, JSONL", ["pairs", big, "--threads", "1"]
    yield "pairs, 32 MiB", ["pairs", big, "--threads", "1", "--memory", "32M"]
    yield "dedup, HTML", ["dedup", html, "-o", b.out, "--sync", "no", "--threads", "1"]
    yield "dedup, one word differs", ["dedup", oneword, "-o", b.out, "--sync", "no"]
    for method in ["exact", "join", "ppjoin+", "supershingle", "simhash", "projection", "combined"]:
        yield f"pairs --method {method}", ["pairs", small, "--method", method, "--threads", "1"]
    data = os.environ.get("NEARDUP_DATA")
    if data:
        terms = os.path.join(data, "gold", "terms.jsonl.zst")
        yield "dedup, terms of service", ["dedup", terms, "-o", b.out, "--sync", "no"]
        for name in ["debdirs", "dblp18k_q3"]:
            sets = os.path.join(data, "sets", name + ".sets.zst")
            yield f"join, {name}", ["pairs", "--format", "sets", sets, "--method", "join"]
    yield "sketch", ["sketch", big, "-o", b.out + ".nds", "--resume", "never", "--sync", "no"]


def compare_speed(b, old, new, slower):
    worst = 0
    for what, words in speed_jobs(b):
        try:
            o, n = b.race([str(old / "neardup"), *words], [str(new / "neardup"), *words])
        except Failed as reason:
            print(f"{what:28} failed: {reason}", flush=True)
            worst = float("inf")
            continue
        ratio = n["wall"] / o["wall"]
        worst = max(worst, ratio)
        print(f"{what:28} {o['wall']:8.3f} s  {n['wall']:8.3f} s  {ratio:5.2f}x  peak "
              f"{o['peak'] >> 20} and {n['peak'] >> 20} MiB", flush=True)
    print(f"at most {worst:.2f}x of the old time")
    return worst <= slower


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["outputs", "speed"])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="small corpora for speed")
    parser.add_argument("--only", default="", metavar="WORD", help="outputs: corpora with it in their name")
    parser.add_argument("--slower", type=float, default=1.05)
    args = parser.parse_args()
    old, new = args.old.resolve(), args.new.resolve()
    os.chdir(ROOT)
    b = Bench(str(new), args.quick, args.rounds)
    try:
        ok = compare_outputs(b, old, new, args.only) if args.what == "outputs" \
            else compare_speed(b, old, new, args.slower)
    finally:
        b.drop()
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
