#!/usr/bin/env python3
"""Tests of neardup.spark, in build/venv; speaks TAP.

tests/spark/run.py [pytest arguments]   all of tests/spark, or the files that are named

Java 17 is installed where that may be done; without it, all is skipped.
"""

import ctypes
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PR_SET_CHILD_SUBREAPER = 36  # of Linux
VERDICT = re.compile(r"^(tests/(?:spark|stores)/)?(\S+::.+?|\S+\.py) (PASSED|FAILED|ERROR|SKIPPED)(.*)$")


def run_pytest(arguments):
    return subprocess.run(
        [ROOT / "build/venv/bin/python", "-m", "pytest", "-v", "--tb=short", "-rs", *arguments],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", errors="replace", env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})


def adopt_orphans():
    """Spark's Java outlives the Python that started it; here it can be waited for, so that its CPU
    time counts."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def wait_for_orphans(seconds=20):
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.1)
    except ChildProcessError:
        pass


def read(output):
    """test: (verdict, what follows it)"""
    found = {}
    for line in output.splitlines():
        match = VERDICT.match(line)
        if match:
            found[match[2]] = match[3], match[4]
    return found


def main(folder="tests/spark", packages=("spark",)):
    if not shutil.which("java"):
        subprocess.run([ROOT / "tools/install-deps", "java"], stdin=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    if not shutil.which("java"):
        print("1..1\nok 1 - neardup.spark # SKIP no Java")
        return 0
    if subprocess.run([ROOT / "tools/python-env", *packages], stdin=subprocess.DEVNULL).returncode:
        print(f"1..1\nnot ok 1 - tools/python-env {' '.join(packages)}")
        return 1
    arguments = sys.argv[1:]
    if not any(a.startswith(folder) for a in arguments):
        arguments.insert(0, folder)
    adopt_orphans()
    done = run_pytest(arguments)
    wait_for_orphans()
    verdicts = read(done.stdout)
    if done.returncode or not verdicts:
        print("\n".join("# " + line for line in done.stdout.splitlines()))
    for number, (name, (verdict, rest)) in enumerate(verdicts.items(), 1):
        mark = "ok" if verdict in ("PASSED", "SKIPPED") else "not ok"
        note = " # SKIP" + rest.split("[")[0].rstrip() if verdict == "SKIPPED" else ""
        print(f"{mark} {number} - {name}{note}")
    print(f"1..{len(verdicts)}")
    return done.returncode or not verdicts


if __name__ == "__main__":
    sys.exit(main())
