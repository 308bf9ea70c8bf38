#!/usr/bin/env python3
"""The Spark job beside the one-machine command, on the same documents.

bench/spark.py [--docs N] [--parts P] [--rounds R]     (make bench-spark)

Prints the time of `neardup dedup` and of `python -m neardup.spark` on local[2]
(the start of the JVM apart), the ratio, whether the results are the same bytes,
and what every stage cost, from Spark's own metrics.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build/bench"
PYTHON = ROOT / "build/venv/bin/python"


def corpus(documents, parts):
    """JSONL files of 2 KB documents, one generator for all of them."""
    generate = WORK / "generate"
    if not generate.exists():
        subprocess.run(["cc", "-O2", "-I", ROOT / "include", "-I", ROOT / "src", "-o", generate,
                        ROOT / "bench/generate.c", "-lm"], check=True)
    folder = WORK / f"spark-{documents}-{parts}"
    if (folder / "done").exists():
        return folder / "in"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "in").mkdir(parents=True)
    each = -(-documents // parts)
    for p in range(parts):
        n = min(each, documents - p * each)
        with open(folder / f"in/part-{p:03}.jsonl", "wb") as f:
            subprocess.run([generate, "--docs", str(n), "--first", str(p * each), "--format",
                            "jsonl"], stdout=f, check=True)
    (folder / "done").touch()
    return folder / "in"


def digest(folder):
    h = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if path.name in ("summary.json", "spark.json", "report.html"):
            continue
        h.update(str(path.relative_to(folder)).encode() + b"\0")
        with open(path, "rb") as f:
            while block := f.read(1 << 22):
                h.update(block)
    return h.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--docs", type=int, default=2_000_000)
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=1)
    given = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    if subprocess.run([ROOT / "tools/python-env", "spark"]).returncode:
        return 1
    source = corpus(given.docs, given.parts)
    size = sum(p.stat().st_size for p in source.iterdir())
    print(f"{given.docs:,} documents, {size / 1e9:.2f} GB in {given.parts} files")
    best = {}
    for _ in range(given.rounds):
        one, two = WORK / "spark-one", WORK / "spark-two"
        for folder in (one, two):
            shutil.rmtree(folder, ignore_errors=True)
        began = time.monotonic()
        subprocess.run([ROOT / "build/neardup", "dedup", source, "-o", one, "--threads", "2",
                        "--progress", "none"], check=True, stderr=subprocess.DEVNULL)
        single = time.monotonic() - began
        told = subprocess.run(
            [PYTHON, "-m", "neardup.spark", source, two, "--master", "local[2]", "--conf",
             "spark.driver.memory=3g", "--conf", "spark.ui.enabled=false"],
            stderr=subprocess.PIPE, text=True, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"})
        found = re.search(r"^time +([\d.]+) s, after ([\d.]+) s", told.stderr, re.M)
        if told.returncode or not found:
            print(told.stderr[-3000:])
            return 1
        job, start = map(float, found.groups())
        same = digest(one) == digest(two)
        if not same:
            print("the results differ")
            return 1
        ratio = job / single
        if not best or ratio < best["ratio"]:
            best = {"ratio": ratio, "single": single, "job": job, "start": start,
                    "report": json.loads((two / "spark.json").read_text())}
    report = best["report"]
    print(f"neardup dedup, 2 threads    {best['single']:8.2f} s")
    print(f"neardup.spark, local[2]     {best['job']:8.2f} s   "
          f"(and {best['start']:.2f} s to start the JVM)")
    print(f"ratio                       {best['ratio']:8.2f}   (bar: at most 6)")
    print("same bytes                       yes")
    print(f"band shuffle                {report['band_shuffle_bytes_per_document']:8} bytes a "
          "document (bar: at most 200)")
    print(f"\n{'stage':10}{'seconds':>9}{'executor s':>12}{'shuffled':>16}{'written':>16}")
    for s in report["stages"]:
        print(f"{s['stage']:10}{s['seconds']:9.2f}{s.get('executor_seconds', 0):12.2f}"
              f"{s.get('shuffled_bytes', 0):16,}{s.get('written_bytes', 0):16,}")
    return 0 if best["ratio"] <= 6 else 1


if __name__ == "__main__":
    sys.exit(main())
