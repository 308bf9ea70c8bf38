#!/usr/bin/env python3
"""Measures how well our methods agree with gold sets; writes docs/quality.md.

    bench/quality.py                    all sets of $NEARDUP_DATA/gold (some minutes)
    bench/quality.py --only cora        one set (may repeat), printed instead of written

Every figure is what `neardup eval` prints; the commands stand beside the figures.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEARDUP = ROOT / "build/neardup"
WORK = ROOT / "build/quality"
PAGE = ROOT / "docs/quality.md"


class Missing(Exception):
    """The data, or a method, is not there."""


def run(*arguments, to=None, ok=(0, 3)):
    """Runs neardup in the work folder; its output as text, or into a file."""
    command = [str(NEARDUP), *arguments]
    done = subprocess.run(command, cwd=WORK, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode not in ok:
        raise SystemExit(f"{' '.join(arguments)}: {done.stderr.decode('utf-8', 'replace')}")
    if to:
        (WORK / to).write_bytes(done.stdout)
    return done.stdout.decode("utf-8")


def evaluate(truth, result, *more):
    """The measures of all pairs, by name."""
    found = json.loads(run("eval", "--truth", truth, result, "--json", *more))
    return {**found, **found["groups"][0]}


WORK.mkdir(parents=True, exist_ok=True)
METHODS = run("pairs", "--help").split("(one of: minhash", 1)[1].split(")")[0].split() \
    if NEARDUP.exists() else []


def unpack(gold, name, to):
    source = gold / name
    if not source.exists():
        raise Missing(name)
    if name.endswith(".zst"):
        text = subprocess.run(["zstd", "-dcq", "--long=27", str(source)], check=True,
                              stdout=subprocess.PIPE).stdout
        (WORK / to).write_bytes(text)
    else:
        shutil.copyfile(source, WORK / to)


def field_clusters(documents, field, to):
    """A list of clusters from a field of JSONL."""
    with open(WORK / documents, encoding="utf-8") as lines, \
            open(WORK / to, "w", encoding="utf-8") as out:
        for line in lines:
            record = json.loads(line)
            name = str(record["id"]).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
            out.write(f"{name}\t{record[field]}\n")


def table(columns, rows):
    numbers = [all(not isinstance(row[i], str) or row[i] in ("", "-") for row in rows)
               for i in range(len(columns))]
    out = ["| " + " | ".join(columns) + " |",
           "|" + "|".join("--:" if n else "---" for n in numbers) + "|"]
    for row in rows:
        cells = [f"{c:.3f}" if isinstance(c, float) else f"{c:,}" if isinstance(c, int) else c
                 for c in row]
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out)


def shown(*commands):
    return "```shell\n" + "\n".join("neardup " + c for c in commands) + "\n```"


# --- judged pairs: which similarity agrees with people ----------------------------------------

ECIR = {"core": "news (NYT, Washington Post)", "terabyte": "GOV2", "web": "ClueWeb09"}
S3 = {"core": (0.68, "59 of 62"), "terabyte": (0.68, "59 of 62"), "web": (0.84, "38 of 41")}
MEASURES = [("jaccard", f"words:{k}") for k in (1, 2, 3, 5, 8)] + \
    [("jaccard", "chars:9"), ("jaccard", "aligned:64"), ("cosine", "words:1"), ("cosine", "words:3"),
     ("cosine", "words:5"), ("containment", "words:3"), ("containment", "words:5")]
STEPS = [f"{t / 100:.2f}" for t in range(5, 100, 5)]


def judged(truth, result, threshold):
    """Counts over the judged pairs of one list at a threshold: right yes, wrong yes, missed, all."""
    m = evaluate(truth, result, "--judged", "--threshold", threshold)
    pairs = len((WORK / truth).read_text().splitlines())
    return (m["common_pairs"], m["result_pairs"] - m["common_pairs"],
            m["truth_pairs"] - m["common_pairs"], pairs)


def rates(counts):
    right, wrong, missed, pairs = counts
    precision = right / (right + wrong) if right + wrong else 0.0
    recall = right / (right + missed) if right + missed else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return precision, recall, f1, (pairs - wrong - missed) / pairs


def ecir(gold):
    for name in ECIR:
        unpack(gold, f"ecir20-{name}.docs.jsonl.zst", f"{name}.jsonl")
        unpack(gold, f"ecir20-{name}.pairs.tsv", f"{name}.truth.tsv")
        lines = [line.split("\t") for line in (WORK / f"{name}.truth.tsv").read_text().splitlines()]
        (WORK / f"{name}.s3.tsv").write_text(
            "".join(f"{a}\t{b}\t{s3}\n" for a, b, _, s3 in lines))
    rows, best_rows = [], []
    for similarity, shingle in [("S3 (theirs)", ""), *MEASURES]:
        at = {}  # threshold: counts of each set
        for name in ECIR:
            result = f"{name}.s3.tsv"
            if shingle:
                result = f"{name}.pairs.tsv"
                run("pairs", f"{name}.jsonl", "--method", "join", "--similarity", similarity,
                    "--shingle", shingle, "--threshold", STEPS[0], to=result)
            for t in STEPS:
                at.setdefault(t, {})[name] = judged(f"{name}.truth.tsv", result, t)
        row = [similarity, f"`{shingle}`" if shingle else ""]
        for name in ECIR:
            t = max(STEPS, key=lambda t: rates(at[t][name])[2])
            row += [float(t), rates(at[t][name])[2]]
        pooled = {t: [sum(c) for c in zip(*at[t].values())] for t in STEPS}
        t = max(STEPS, key=lambda t: rates(pooled[t])[2])
        rows.append(row + [float(t), *rates(pooled[t])])
        best_rows.append((rates(pooled[t])[2], similarity, shingle, t))
        if similarity == "jaccard" and shingle == "words:5":
            standard = rates(pooled["0.80"])
    columns = ["similarity", "shingle"]
    for name in ECIR:
        columns += [f"{name}: threshold", "F1"]
    columns += ["all: threshold", "precision", "recall", "F1", "right"]
    ours = max(b for b in best_rows if b[2])
    published = [[ECIR[n], S3[n][0], S3[n][1], rates(judged(f"{n}.truth.tsv", f"{n}.s3.tsv",
                                                          str(S3[n][0])))[3]] for n in ECIR]
    return f"""## Human judgements

358 pairs of documents with human judgements (the ECIR 2020 collection of near-duplicates in the TREC
corpora; a grade of at least 1 is a near-duplicate). The pairs have a similarity S3 of at least 0.30, so
precision and recall refer to fairly similar documents. For every similarity: the threshold with the best
F1, in steps of 0.05, on each set and on all three together; *right* is the share of all judged pairs on
which the threshold agrees with the judgement.

{table(columns, rows)}

The best agreement has {ours[1]} on `{ours[2]}` at {ours[3]}. The default, Jaccard on `words:5` at 0.8,
aims at precision: precision {standard[0]:.3f}, recall {standard[1]:.3f}
here. The thresholds that the authors of the collection chose for S3, and how many of their test pairs
agree with the judgements, next to the same thresholds on all judged pairs:

{table(["set", "S3 threshold", "published: right", "here: right"], published)}

{shown("pairs core.jsonl --method join --similarity cosine --shingle words:1 --threshold 0.05 > pairs.tsv",
       "eval --truth core.truth.tsv --judged --threshold 0.80 pairs.tsv")}
"""


# --- whole corpora ---------------------------------------------------------------------------------

def score(truth, result, threshold=None, clusters=True):
    at = ["--threshold", threshold] if threshold else []
    m = evaluate(truth, result, *at)
    row = [m["result_pairs"], m.get("precision", 0.0), m.get("recall", 0.0), m.get("f1", 0.0)]
    if clusters:
        c = evaluate(truth, result, "--as", "clusters", *at)
        row += [c["bcubed_f1"], c["adjusted_rand"]]
    return row


HEAD = ["method", "shingle", "threshold", "pairs", "precision", "recall", "F1"]
CLUSTERS = ["B-cubed F1", "adjusted Rand"]


def sweep(truth, source, method, shingle, thresholds, more=(), clusters=True, label=None):
    """One search at the lowest threshold; all thresholds are read off it."""
    run("pairs", *source, "--method", method, "--shingle", shingle, "--threshold", thresholds[0],
        *more, to="pairs.tsv")
    name = label or (method + ("" if not more else " " + " ".join(more)))
    return [[f"`{name}`", f"`{shingle}`", t, *score(truth, "pairs.tsv", t, clusters)]
            for t in thresholds]


def best(rows):
    return [max(rows, key=lambda r: r[6])]


# The sketches of the papers: label, options.
SKETCHES = [
    ("supershingle", ["--method", "supershingle"]),
    ("projection", ["--method", "projection"]),
    ("combined", ["--method", "combined"]),
    ("simhash, 3 bits", ["--method", "simhash", "--hamming", "3"]),
    ("simhash, 8 bits", ["--method", "simhash", "--hamming", "8"]),
    ("minhash, 84 linear", ["--method", "minhash", "--permutations", "84", "--family", "linear",
                            "--verify", "none", "--threshold", "0.5"]),
]


def sketches(truth, source, clusters=True):
    rows = []
    for label, options in SKETCHES:
        if options[1] not in METHODS and options[1] != "minhash":
            continue
        arguments = ["pairs", *source, *options]
        done = subprocess.run([str(NEARDUP), *arguments], cwd=WORK, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode != 0:
            print(f"quality: {label}: {done.stderr.decode()[:200]}", file=sys.stderr)
            continue
        (WORK / "pairs.tsv").write_bytes(done.stdout)
        rows.append([f"`{' '.join(options)}`", "", "", *score(truth, "pairs.tsv", None, clusters)])
    return rows


def installguide(gold):
    folder = WORK / "installguide"
    if not folder.exists():
        unpack(gold, "installguide.tar.zst", "installguide.tar")
        subprocess.run(["tar", "xf", "installguide.tar"], cwd=WORK, check=True)
    unpack(gold, "installguide.clusters.tsv.zst", "installguide.truth.tsv")
    truth, source = "installguide.truth.tsv", ["installguide"]
    rows = sweep(truth, source, "join", "words:5", ["0.5", "0.6", "0.7", "0.8", "0.9"])
    rows += best(sweep(truth, source, "join", "words:1", ["0.6", "0.7", "0.8", "0.9"]))
    rows += best(sweep(truth, source, "join", "words:3", ["0.5", "0.6", "0.7", "0.8"]))
    rows += best(sweep(truth, source, "join", "words:8", ["0.3", "0.4", "0.5", "0.6", "0.7"]))
    rows += sweep(truth, source, "minhash", "words:5", ["0.8"])
    rows += sketches(truth, source)
    study = run("study", "library", "installguide", "--truth", truth)
    line = next(l for l in study.splitlines() if l.startswith("3\t")).split("\t")
    first = next(l for l in study.splitlines() if l.startswith("5\t50\t")).split("\t")
    return f"""## Installation guide

13,889 HTML pages of Debian's installation guide, for nine architectures in nineteen languages. Pages of
one language with the same title count as near-duplicates: 1,900 clusters, 53,257 pairs. Some of these
differ a lot between architectures, so no threshold finds them.

{table(HEAD + CLUSTERS, rows)}

{shown("pairs installguide --method join --threshold 0.6 > pairs.tsv",
       "eval --truth installguide.truth.tsv pairs.tsv",
       "eval --truth installguide.truth.tsv --as clusters pairs.tsv")}

The same corpus in `neardup study library`, next to the figures of Williams and Giles (2013) for 95,558
scientific papers:

{table(["", "precision", "recall", "F", "published precision", "published recall", "published F"],
       [["simhash, k = 3", float(line[2]), float(line[3]), float(line[4]), 0.94, 0.88, 0.91],
        ["84 min values, w = 5, R = 50 %", float(first[3]), float(first[4]), float(first[5]), 1.0, 0.98,
         0.99]])}

{shown("study library installguide --truth installguide.truth.tsv -o library")}

""" + web_study(truth)


def web_archive(names, to):
    """The pages as a web archive, so that they have addresses: a site for each language."""
    with open(WORK / to, "wb") as out:
        for name in names:
            page = (WORK / name).read_bytes()
            language = name.split("/")[2]
            body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page
            head = ("WARC/1.0\r\nWARC-Type: response\r\n"
                    f"WARC-Target-URI: http://www.{language}.debian.org/{name}\r\n"
                    f"WARC-TREC-ID: {name}\r\nContent-Type: application/http; msgtype=response\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n")
            out.write(head.encode() + body + b"\r\n\r\n")


def web_study(truth):
    """study web with the pages' addresses."""
    names = [line.split("\t")[0] for line in (WORK / truth).read_text("utf-8").splitlines()]
    web_archive(names, "guide.warc")
    plain = run("study", "web", "guide.warc", "--truth", truth)
    rows = []
    for line in plain.split("pairs of\tpairs", 1)[1].split("\n\n")[0].splitlines()[1:]:
        cells = line.split("\t")
        if "site" in cells[0] or "=" in cells[0] or cells[2] == "-":
            continue
        rows.append([cells[0], int(cells[1]), float(cells[2]), float(cells[5]),
                     float(cells[7]) if cells[7] != "-" else "-",
                     float(cells[8]) if cells[8] != "-" else "-"])
    boilerplate = ""
    if "--ignore-boilerplate" in plain:
        lines = plain.split("with --ignore-boilerplate", 1)[1].split("\n\n")[0].splitlines()[2:]
        cells = [line.split("\t") for line in lines]
        boilerplate = f"""
Pairs on the same site, with and without passages that recur on its pages (`--ignore-boilerplate`):

{table(["algorithm", "pairs", "correct", "precision", "pairs without", "correct without",
        "precision without"],
       [[c[0], int(c[1]), int(c[2]), float(c[3]), int(c[4]), int(c[5]), float(c[6])] for c in cells])}
"""
    return f"""The same corpus in `neardup study web`, next to the figures of Henzinger (2006) for 1.6 billion pages.
Pages with equal texts are removed first, and each language counts as a site:

{table(["algorithm", "pairs", "precision", "R", "published precision", "published R"], rows)}
{boilerplate}
{shown("study web guide.warc --truth installguide.truth.tsv -o web")}
"""


def terms(gold):
    unpack(gold, "terms.jsonl.zst", "terms.jsonl")
    field_clusters("terms.jsonl", "lineage", "terms.truth.tsv")
    truth, source = "terms.truth.tsv", ["terms.jsonl"]
    rows = sweep(truth, source, "minhash", "words:5", ["0.5", "0.6", "0.7", "0.8", "0.9"])
    rows += sketches(truth, source)
    return f"""## Terms of service

11,581 versions of terms of service, at most 60 of each. The versions of a text count as
near-duplicates, although they diverge over the years, so precision is more meaningful than recall. It is
limited as well: services of one company share their terms (Instagram's are Facebook's with another name).

{table(HEAD + CLUSTERS, rows)}

{shown("pairs terms.jsonl --threshold 0.8 > pairs.tsv", "eval --truth terms.truth.tsv pairs.tsv")}
"""


def laws(gold):
    unpack(gold, "laws-zh.jsonl.zst", "laws.jsonl")
    field_clusters("laws.jsonl", "cluster", "laws.truth.tsv")
    truth, source = "laws.truth.tsv", ["laws.jsonl"]
    rows = sweep(truth, source, "join", "words:5", ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8"])
    rows += best(sweep(truth, source, "join", "words:3", ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8"]))
    rows += sweep(truth, source, "minhash", "words:5", ["0.8"])
    rows += sketches(truth, source)
    return f"""## Chinese laws

3,476 laws; those with the same title and different dates are near-duplicates: 104 pairs. Every Chinese
character is a token. Precision is low because nearly equal laws have different titles: all 29 wrong pairs
of `join` at 0.8 are laws that neighbouring cities pass under their own names, laws with two spellings of a
title or in two directories, or one supplement. Sketches of single tokens (simhash, projection) are even less
precise, because all laws use similar characters.

{table(HEAD + CLUSTERS, rows)}

{shown("pairs laws.jsonl --method join --threshold 0.5 > pairs.tsv",
       "eval --truth laws.truth.tsv pairs.tsv")}
"""


def cora(gold):
    unpack(gold, "cora.docs.jsonl.zst", "cora.jsonl")
    unpack(gold, "cora.pairs.tsv", "cora.truth.tsv")
    truth, source = "cora.truth.tsv", ["cora.jsonl"]
    steps = ["0.2", "0.3", "0.4", "0.5", "0.6", "0.7"]
    rows = []
    for shingle in ("words:1", "words:2", "chars:3", "chars:4", "chars:5"):
        rows += best(sweep(truth, source, "join", shingle, steps))
    rows += best(sweep(truth, source, "join", "chars:3", steps, ["--similarity", "cosine"]))
    rows += best(sweep(truth, source, "join", "chars:3", ["0.5", "0.6", "0.7", "0.8", "0.9"],
                       ["--similarity", "containment"]))
    return f"""## Citations

1,295 citations of papers (Cora), 17,184 pairs that cite the same one. The best threshold of each
similarity:

{table(HEAD + CLUSTERS, rows)}

{shown("pairs cora.jsonl --method join --shingle chars:3 --threshold 0.5 > pairs.tsv",
       "eval --truth cora.truth.tsv pairs.tsv")}
"""


def dblp_acm(gold):
    unpack(gold, "dblp-acm.docs.jsonl.zst", "both.jsonl")
    unpack(gold, "dblp-acm.pairs.tsv", "dblp-acm.truth.tsv")
    lines = (WORK / "both.jsonl").read_text("utf-8").splitlines()
    for name in ("dblp", "acm"):
        chosen = [line for line in lines if json.loads(line)["id"].startswith(name + ":")]
        (WORK / f"{name}.jsonl").write_text("\n".join(chosen) + "\n", "utf-8")
    truth, source = "dblp-acm.truth.tsv", ["dblp.jsonl", "--against", "acm.jsonl"]
    steps = ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8"]
    rows = []
    for shingle in ("words:1", "words:2", "chars:3", "chars:4", "chars:5"):
        rows += best(sweep(truth, source, "join", shingle, steps, (), False, "join"))
    rows += best(sweep(truth, source, "join", "words:1", steps, ["--similarity", "cosine"], False))
    rows += best(sweep(truth, source, "join", "chars:3", steps, ["--similarity", "cosine"], False))
    return f"""## Bibliographic records

2,616 records of DBLP compared with 2,294 of the ACM, author and title; 2,224 pairs. The best threshold of each
similarity:

{table(HEAD, rows)}

{shown("pairs dblp.jsonl --against acm.jsonl --method join --shingle words:1 --threshold 0.6 > pairs.tsv",
       "eval --truth dblp-acm.truth.tsv pairs.tsv")}
"""


def titles(gold):
    unpack(gold, "dblp-titles.jsonl.zst", "titles.jsonl")
    field_clusters("titles.jsonl", "cluster", "titles.truth.tsv")
    truth, source = "titles.truth.tsv", ["titles.jsonl"]
    steps = ["0.4", "0.5", "0.6", "0.7", "0.8"]
    rows = []
    for shingle in ("chars:2", "chars:3", "chars:4"):
        rows += best(sweep(truth, source, "join", shingle, steps))
    rows += best(sweep(truth, source, "join", "chars:3", steps, ["--similarity", "cosine"]))
    for most in ("5", "10", "15", "20"):
        run("pairs", *source, "--method", "join", "--similarity", "edit", "--shingle", "chars:3",
            "--threshold", most, to="pairs.tsv")
        rows.append(["`join --similarity edit`", "`chars:3`", most, *score(truth, "pairs.tsv")])
    rows += sweep(truth, source, "minhash", "chars:3", ["0.6"])
    return f"""## Titles with typing errors

18,000 titles of papers with artificial typing errors. The best threshold of each similarity, and edit
distances up to a number of characters:

{table(HEAD + CLUSTERS, rows)}

{shown("pairs titles.jsonl --method join --shingle chars:3 --threshold 0.5 > pairs.tsv",
       "eval --truth titles.truth.tsv pairs.tsv")}
"""


SETS = {"ecir": ecir, "installguide": installguide, "terms": terms, "laws": laws, "cora": cora,
        "dblp-acm": dblp_acm, "titles": titles}

LEAD = """# Quality

Agreement of the results of `neardup` with gold sets: human judgements, and collections whose
near-duplicates are known. Written by `make quality` (`bench/quality.py`), which needs the sets; every
figure is printed by `neardup eval`. [evaluation.md](evaluation.md) explains the measures,
[methods.md](methods.md) the methods.

A method finds pairs that are similar by its own measure. If a set defines near-duplicates by titles or
dates, no similarity of texts agrees with it fully, and the best threshold depends more on the set than on
the method. The exact methods (`join`) show the limits of a similarity; the sketch methods show their
additional losses.

"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", action="append", choices=sorted(SETS))
    chosen = parser.parse_args().only
    data = os.environ.get("NEARDUP_DATA")
    if not data or not (Path(data) / "gold").is_dir():
        print("quality: skipped, no data (NEARDUP_DATA names the folder)")
        return 0
    parts = []
    for name in chosen or SETS:
        try:
            parts.append(SETS[name](Path(data) / "gold"))
            print(f"quality: {name}", file=sys.stderr)
        except Missing as missing:
            print(f"quality: {name} skipped, no {missing}", file=sys.stderr)
    if chosen:
        print("\n".join(parts))
    else:
        PAGE.write_text(LEAD + "\n".join(parts), "utf-8")
        shutil.rmtree(WORK)
    return 0


if __name__ == "__main__":
    sys.exit(main())
