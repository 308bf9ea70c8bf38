#!/usr/bin/env python3
"""Tests of neardup.spark, in build/venv; speaks TAP.

tests/spark/run.py [pytest arguments]

Java 17 is installed where that may be done; without it, all is skipped.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VERDICT = re.compile(r"^(tests/spark/)?(\S+::.+?|\S+\.py) (PASSED|FAILED|ERROR|SKIPPED)(.*)$")

FEW = 3  # failures that are run again


def run_pytest(arguments):
    return subprocess.run(
        [ROOT / "build/venv/bin/python", "-m", "pytest", "-v", "--tb=short", "-rs", *arguments],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})


def read(output):
    """test: (verdict, what follows it)"""
    found = {}
    for line in output.splitlines():
        match = VERDICT.match(line)
        if match:
            found[match[2]] = match[3], match[4]
    return found


def main():
    if not shutil.which("java"):
        subprocess.run([ROOT / "tools/install-deps", "java"], stdin=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    if not shutil.which("java"):
        print("1..1\nok 1 - neardup.spark # SKIP no Java")
        return 0
    if subprocess.run([ROOT / "tools/python-env", "spark"], stdin=subprocess.DEVNULL).returncode:
        print("1..1\nnot ok 1 - tools/python-env spark")
        return 1
    first = run_pytest(["tests/spark", *sys.argv[1:]])
    verdicts = read(first.stdout)
    failed = [name for name, (verdict, _) in verdicts.items() if verdict in ("FAILED", "ERROR")]
    if first.returncode or not verdicts:
        print("\n".join("# " + line for line in first.stdout.splitlines()))
    status = first.returncode
    if failed and len(failed) <= FEW:
        # Java, Spark's metrics and killed workers have timings of their own: what fails is run once
        # more, alone, and both outcomes are shown.
        again = run_pytest([f"tests/spark/{name}" for name in failed])
        verdicts.update(read(again.stdout))
        status = again.returncode
        if status:
            print("\n".join("# " + line for line in again.stdout.splitlines()))
    for number, (name, (verdict, rest)) in enumerate(verdicts.items(), 1):
        mark = "ok" if verdict in ("PASSED", "SKIPPED") else "not ok"
        note = " # SKIP" + rest.split("[")[0].rstrip() if verdict == "SKIPPED" else ""
        if name in failed and mark == "ok":
            note = " (in the second run; the first failed, see above)"
        print(f"{mark} {number} - {name}{note}")
    print(f"1..{len(verdicts)}")
    return status or not verdicts


if __name__ == "__main__":
    sys.exit(main())
