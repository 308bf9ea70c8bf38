#!/usr/bin/env python3
"""Holds the command to its promises; speaks TAP.

tests/promises/run.py [--neardup PATH] [--kills N] [--seed N] [WORD...]

Runs the checks whose title has one of the words (all of them).  Everything
random follows from the seed, which is printed, except the moment a kill
arrives.  --kills 200 is a good night's test.
"""

import argparse
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import promise_tools  # noqa: E402
import budget, killed, refused, sacred, same_bytes, signals  # noqa: E401, E402, F401


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--neardup", default=promise_tools.ROOT / "build/neardup", type=Path)
    parser.add_argument("--kills", default=10, type=int)
    parser.add_argument("--seed", default=int(time.time()), type=int)
    parser.add_argument("words", nargs="*", metavar="WORD")
    options = parser.parse_args()
    neardup = Path(os.path.abspath(options.neardup))
    if not os.access(neardup, os.X_OK):
        sys.exit(f"{neardup} is not there: run make first")

    chosen = [(title, check) for title, check in promise_tools.PROMISES
              if not options.words or any(w in title for w in options.words)]
    failed = 0
    print(f"1..{len(chosen)}\n# seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="neardup-promises-") as folder:
        lab = promise_tools.Lab(folder, neardup, options.seed, options.kills)
        for number, (title, check) in enumerate(chosen, 1):
            start = time.monotonic()
            verdict, note, details = "ok", "", ""
            try:
                note = check(lab) or ""
            except promise_tools.Skipped as skipped:
                note = f"SKIP {skipped}"
            except promise_tools.Broken as broken:
                verdict, details = "not ok", str(broken)
            except Exception:
                verdict, details = "not ok", traceback.format_exc()
            failed += verdict != "ok"
            note = note or f"{time.monotonic() - start:.1f} s"
            print(f"{verdict} {number} - {title} # {note}")
            for line in details.splitlines():
                print(f"#   {line}")
            sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
