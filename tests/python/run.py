#!/usr/bin/env python3
"""Tests of the Python package, in build/venv; speaks TAP.

tests/python/run.py [pytest arguments]
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VERDICT = re.compile(r"^(tests/python/|python/)?(\S+::.+?|\S+\.py) (PASSED|FAILED|ERROR|SKIPPED)(.*)$")


def main():
    if subprocess.run([ROOT / "tools/python-env"], stdin=subprocess.DEVNULL).returncode:
        print("1..1\nnot ok 1 - tools/python-env")
        return 1
    run = subprocess.run(
        [ROOT / "build/venv/bin/python", "-m", "pytest", "-v", "--tb=short", "-rs", *sys.argv[1:]],
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
