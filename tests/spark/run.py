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
    run = subprocess.run(
        [ROOT / "build/venv/bin/python", "-m", "pytest", "-v", "--tb=short", "-rs",
         "tests/spark", *sys.argv[1:]],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    number = 0
    for line in run.stdout.splitlines():
        found = VERDICT.match(line)
        if not found:
            continue
        number += 1
        name, verdict = found[2], found[3]
        mark = "ok" if verdict in ("PASSED", "SKIPPED") else "not ok"
        note = " # SKIP" + found[4].split("[")[0].rstrip() if verdict == "SKIPPED" else ""
        print(f"{mark} {number} - {name}{note}")
    print(f"1..{number}")
    if run.returncode or not number:
        print("\n".join("# " + line for line in run.stdout.splitlines()))
    return run.returncode or not number


if __name__ == "__main__":
    sys.exit(main())
