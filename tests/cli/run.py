#!/usr/bin/env python3
"""Runs the command-line tests: every tests/cli/NAME.sh against NAME.out.

tests/cli/run.py [--neardup PATH] [--update] [NAME...]

A script runs with bash in a fresh folder, with `neardup` in its PATH and
    $NEARDUP        the command          $SRC   the source tree
    $NEARDUP_DATA   real data, if any    $SANITIZER   asan, tsan or empty
What it prints on stdout and stderr, followed by its exit status, must be
NAME.out byte for byte; the folder reads as $TMP there, the source tree as
$SRC, the command as neardup.  --update writes NAME.out anew: read the diff.
A script that lacks what it needs prints the reason ("skipped, no data") and
exits with 77.  Marks, each on a line of its own in the script:
    # slow      not with the sanitizers
    # threads   with the thread sanitizer, too
Speaks TAP.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
JOBS = 2
TIMEOUT = {"": 120, "asan": 300, "tsan": 300}
DIFF_LINES = 200


def marked(script, word):
    return re.search(rf"^# {word}$", script.read_text("utf-8"), re.M) is not None


def wanted(script, sanitizer):
    if sanitizer == "tsan":
        return marked(script, "threads")
    return sanitizer == "" or not marked(script, "slow")


def execute(script, neardup, sanitizer):
    """The script's output with its paths made neutral, and its exit status."""
    folder = Path(tempfile.mkdtemp(prefix="neardup-cli-")).resolve()
    work = folder / "work"
    tools = folder / "bin"
    work.mkdir()
    tools.mkdir()
    (tools / "neardup").symlink_to(neardup)
    env = {**os.environ, "NEARDUP": str(neardup), "SRC": str(ROOT), "SANITIZER": sanitizer,
           "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(work), "TMPDIR": str(folder),
           "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb", "COLUMNS": "80"}
    process = subprocess.Popen(["bash", str(script)], cwd=work, env=env, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    try:
        output, _ = process.communicate(timeout=TIMEOUT[sanitizer])
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        output += f"\nstopped after {TIMEOUT[sanitizer]} s\n".encode()
        status = -9
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for path, name in ((work, b"$TMP"), (folder, b"$TMP/.."), (neardup, b"neardup"), (ROOT, b"$SRC")):
        output = output.replace(os.fsencode(str(path)), name)
    if output and not output.endswith(b"\n"):
        output += b"\n[no line end]\n"
    return output, status


def difference(expected, got):
    def lines(data):
        return data.decode("utf-8", "backslashreplace").splitlines()

    diff = list(difflib.unified_diff(lines(expected), lines(got), "expected", "got", lineterm=""))
    if len(diff) > DIFF_LINES:
        diff[DIFF_LINES:] = [f"… {len(diff) - DIFF_LINES} more lines"]
    return "".join(f"#   {line}\n" for line in diff)


def check(script, options):
    """(verdict, TAP comment, details) of one script."""
    start = time.monotonic()
    output, status = execute(script, options.neardup, options.sanitizer)
    seconds = f"{time.monotonic() - start:.1f} s"
    if status == 77:
        reason = output.decode("utf-8", "replace").strip().splitlines() or ["skipped"]
        return "ok", f"# SKIP {reason[-1]}", ""
    got = output + f"[exit status {status}]\n".encode()
    expected_path = script.with_suffix(".out")
    expected = expected_path.read_bytes() if expected_path.exists() else None
    if got == expected:
        return "ok", f"# {seconds}", ""
    if options.update and status >= 0:
        expected_path.write_bytes(got)
        return "ok", "# updated", ""
    if expected is None:
        note = f"#   {expected_path.name} is missing; --update writes it\n"
        return "not ok", f"# {seconds}", note + difference(b"", got)
    return "not ok", f"# {seconds}", difference(expected, got)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--neardup", default=ROOT / "build/neardup", type=Path)
    parser.add_argument("--sanitizer", default="", choices=list(TIMEOUT))
    parser.add_argument("--timeout", type=int, help="seconds a script may take, for slow builds")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.timeout:
        TIMEOUT[options.sanitizer] = options.timeout
    options.neardup = Path(os.path.abspath(options.neardup))
    if not os.access(options.neardup, os.X_OK):
        sys.exit(f"{options.neardup} is not there: run make first")

    names = [Path(n).stem for n in options.names]
    scripts = [HERE / f"{n}.sh" for n in names] or sorted(HERE.glob("*.sh"))
    scripts = [s for s in scripts if names or wanted(s, options.sanitizer)]
    failed = 0
    print(f"1..{len(scripts)}", flush=True)
    with ThreadPoolExecutor(JOBS) as pool:
        results = pool.map(lambda s: check(s, options), scripts)
        for number, (script, (verdict, comment, details)) in enumerate(zip(scripts, results), 1):
            print(f"{verdict} {number} - {script.stem} {comment}\n{details}", end="", flush=True)
            failed += verdict != "ok"
    if not options.update and not names:
        for left in sorted(HERE.glob("*.out")):
            if not left.with_suffix(".sh").exists():
                print(f"# {left.name} has no script")
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
