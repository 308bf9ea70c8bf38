"""The figures of the exact joins.

bench/join_bench.c times our join against a plain PPJoin (bench/join_ppjoin.c) on real and
generated sets, counts what each filter leaves, and measures memory; bench/edit_bench.c times the
edit-distance joins on titles.
"""

import hashlib
import os
import re
import shutil
import subprocess

from bench_tools import Failed, Figure, Table, at_least

METHODS = ["allpairs", "ppjoin", "ppjoin+"]


def columns_of(b, command):
    """Runs a command of join_bench: the fields of its lines, and its notes."""
    out = os.path.join(b.dir, "joins.txt")
    b.measure(command, stdout=out)
    with open(out, encoding="utf-8") as f:
        lines = f.read().splitlines()
    os.unlink(out)
    head = next((x.split() for x in lines if not x.startswith("#")), None)
    if head is None:
        raise Failed(f"{command[0]} printed nothing")
    rows = [dict(zip(head, x.split())) for x in lines if not x.startswith("#")][1:]
    return rows, [x[2:].strip() for x in lines if x.startswith("#")]


def name_of(row):
    return f"{row['sets']} at {row['t']}"


def least(rows, value):
    row = min(rows, key=value)
    return value(row), name_of(row)


def bench_joins(b):
    program = b.program("join_bench", "join_bench.c", "join_ppjoin.c")
    quick = ["--quick"] if b.quick else []
    # On a busy machine CPU time is the better measure, and two threads cannot be judged.
    busy = os.getloadavg()[0] > 1.5
    command = [program, "--rounds", str(b.rounds), *quick, *(["--cpu"] if busy else [])]
    rows, notes = columns_of(b, command)
    shown = " ".join(command)

    def faster(row):
        return float(row["faster"])

    def speedup(row):
        return float(row["speedup"])

    for wanted, bar in ((("0.80", "0.70"), 3), (("0.95", "0.90"), 1.5)):
        value, where = least([r for r in rows if r["t"] in wanted], faster)
        yield at_least(f"`join`, one thread, against a plain PPJoin at {' and '.join(wanted)}: "
                       f"the least, {where}", value, bar, [])
    long = [r for r in rows if float(r["join"]) > 100]
    if busy:
        yield Figure("`join` on two threads against one", "not measured: the machine was busy",
                     "≥ 1.7× over 0.1 s, ≥ 1×", None, [])
    elif long:
        value, where = least(long, speedup)
        yield at_least(f"`join` on two threads against one, runs over 0.1 s: the least, {where}",
                       value, 1.7, [])
    if not busy:
        value, where = least(rows, speedup)
        yield Figure(f"`join` on two threads against one, all runs: the least, {where}",
                     f"{value:.2f}×", "≥ 1× (5 % is noise)", value >= 0.95, [])
    known = [r for r in rows if r["count"] == "known"]
    yield Figure("pair counts that are known beforehand", f"{len(known)} right", "all",
                 not [r for r in rows if r["count"] in ("WRONG", "DIFFERS")],
                 ["`join` and the plain PPJoin agree on every input and threshold"] + notes)
    what = "CPU milliseconds" if busy else "Milliseconds"
    yield Table(what + " of the join phase (index and join, sets in memory)",
                ["sets", "threshold", "pairs", "join", "two threads", "plain PPJoin",
                 "PPJoin / join", "one / two threads"],
                [[r["sets"], r["t"], r["pairs"], r["join"], r["threads"], r["ppjoin"],
                  r["faster"] + "×", r["speedup"] + "×"] for r in rows], shown)


def bench_filters(b):
    program = b.program("join_bench", "join_bench.c", "join_ppjoin.c")
    command = [program, "--methods", *(["--quick"] if b.quick else [])]
    rows, _ = columns_of(b, command)
    by_input = {}
    for row in rows:
        by_input.setdefault(name_of(row), {})[row["method"]] = row

    def factor(a, c):
        def of(item):
            x, y = (int(item[1][m]["verified"]) for m in (a, c))
            return x / y if y else float("inf") if x else 1.0
        return of

    # Where every prefix is one token long, its position tells nothing, and both indexes are equal.
    for a, c in zip(METHODS, METHODS[1:]):
        told = [x for x in by_input.items() if a != "allpairs" or
                x[1][a]["index"] != x[1][c]["index"]]
        item = min(told, key=factor(a, c))
        same = len(by_input) - len(told)
        yield Figure(f"candidates verified by `{a}` for one of `{c}`: the least, {item[0]}"
                     + (f" ({same} inputs have prefixes of one token only)" if same else ""),
                     f"{factor(a, c)(item):.2f}×", "> 1×", factor(a, c)(item) > 1, [])
    table = []
    for name, methods in by_input.items():
        item = (name, methods)
        table.append([name, *(methods[m]["verified"] for m in METHODS),
                      f"{factor('allpairs', 'ppjoin')(item):.2f}×",
                      f"{factor('ppjoin', 'ppjoin+')(item):.2f}×",
                      *(methods[m]["ms"] for m in METHODS), methods["join"]["ms"]])
    yield Table("Candidates verified, and milliseconds (one run)",
                ["sets", *METHODS, "allpairs / ppjoin", "ppjoin / ppjoin+",
                 *(m + " ms" for m in METHODS), "join ms"], table, " ".join(command))


def bench_join_memory(b):
    program = b.program("join_bench", "join_bench.c", "join_ppjoin.c")
    command = [program, "--memory", *(["--quick"] if b.quick else [])]
    rows, _ = columns_of(b, command)
    most = max(rows, key=lambda r: max(float(r["preparing"]), float(r["joining"])))
    value = max(float(most["preparing"]), float(most["joining"]))
    yield Figure(f"memory of a join, bytes per token of the input (its 8 included): the most, "
                 f"{name_of(most)}", f"{value:.1f}", "≤ 24", value <= 24, [])
    yield Table("Peak bytes per token while sets are prepared, and while they are joined",
                ["sets", "threshold", "tokens", "preparing", "joining"],
                [[r[k] for k in ("sets", "t", "tokens", "preparing", "joining")] for r in rows],
                " ".join(command))


def bench_edit(b):
    data = os.environ.get("NEARDUP_DATA")
    path = os.path.join(data or "", "gold", "dblp-titles.jsonl.zst")
    if not data or not os.path.exists(path):
        yield Figure("edit-distance join", "skipped, no data", "", None, [])
        return
    program = b.program("edit_bench")
    command = [program, path, *(["2"] if b.quick else ["6", "3"])]
    out = os.path.join(b.dir, "edit.txt")
    b.measure(command, stdout=out)
    with open(out, encoding="utf-8") as f:
        text = f.read()
    os.unlink(out)
    shown = re.sub(re.escape(data), "$NEARDUP_DATA", " ".join(command))
    rows = [x.split() for x in text.splitlines() if re.match(r"\s*\d", x)]
    pass_join = {r[0]: r for r in rows if r[1] == "pass-join"}
    grams = {r[0]: r for r in rows if r[1] != "pass-join"}
    ratios = {t: float(grams[t][2]) / float(pass_join[t][2]) for t in grams}
    worst = min(ratios, key=ratios.get)
    yield at_least("edit-distance `join` (our Pass-Join) against PPJoin over q-grams with the best "
                   f"q, one thread, everything from the bytes on: the least, distance {worst}",
                   ratios[worst], 1, [])
    yield Table("Edit distance on 18,000 titles, milliseconds (all: from the bytes on)",
                ["distance", "method", "all", "all, two threads", "join", "join, two threads",
                 "candidates", "verified", "pairs"], rows, shown)


def bench_agreement(b):
    """All exact methods on every real corpus: the same lines."""
    data = os.environ.get("NEARDUP_DATA")
    if not data or not os.path.isdir(os.path.join(data, "gold")):
        yield Figure("agreement on real corpora", "skipped, no data", "", None, [])
        return
    gold = [("cora.docs.jsonl.zst", []), ("dblp-acm.docs.jsonl.zst", []),
            ("dblp-titles.jsonl.zst", ["--shingle", "chars:3"]), ("ecir20-core.docs.jsonl.zst", []),
            ("ecir20-terabyte.docs.jsonl.zst", []), ("ecir20-web.docs.jsonl.zst", []),
            ("laws-zh.jsonl.zst", []), ("terms.jsonl.zst", [])]
    inputs = [(os.path.join(data, "gold", name), more) for name, more in gold[:6 if b.quick else 8]]
    for name in ("retail", "dblp18k_q3") if b.quick else ("retail", "dblp18k_q3", "debdesc",
                                                            "debdirs"):
        inputs.append((os.path.join(data, "sets", name + ".sets.zst"), ["--format", "sets"]))
    if not b.quick:
        pages = os.path.join(b.dir, "installguide")
        shutil.rmtree(pages, ignore_errors=True)
        os.makedirs(pages)
        archive = os.path.join(data, "gold", "installguide.tar.zst")
        done = subprocess.run(f"zstd -dcq --long=27 '{archive}' | tar -x -C '{pages}'", shell=True)
        if done.returncode == 0:
            inputs.append((pages, []))
    out = os.path.join(b.dir, "pairs.tsv")
    rows, wrong = [], 0
    for path, more in inputs:
        seen, row = set(), [os.path.basename(path), " ".join(more)]
        for method in ["exact", "join", *METHODS]:
            result = b.measure([b.neardup, "pairs", path, "--method", method, "--threshold", "0.8",
                                *more], stdout=out)
            with open(out, "rb") as f:
                text = f.read()
            seen.add(hashlib.sha256(text).hexdigest())
            row.append(f"{result['wall']:.2f}")
        os.unlink(out)
        wrong += len(seen) > 1
        rows.append(row[:2] + [str(text.count(b"\n")), "yes" if len(seen) == 1 else "NO"] + row[2:])
    shutil.rmtree(os.path.join(b.dir, "installguide"), ignore_errors=True)
    yield Figure("real corpora on which all exact methods give the same lines",
                 f"{len(inputs) - wrong} of {len(inputs)}", "all", wrong == 0, [])
    yield Table("Pairs at 0.8, and seconds of the whole command",
                ["corpus", "options", "pairs", "agree", "exact", "join", *METHODS], rows,
                f"{b.neardup} pairs CORPUS --method METHOD --threshold 0.8")


PARTS = {
    "joins": bench_joins,
    "filters": bench_filters,
    "join-memory": bench_join_memory,
    "edit": bench_edit,
    "agreement": bench_agreement,
}
