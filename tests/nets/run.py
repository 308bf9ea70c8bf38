#!/usr/bin/env python3
"""Runs the command under what the system does to it; speaks TAP.

tests/nets/run.py [--quick] [--neardup PATH] [WORD...]

Runs the nets whose title has one of the words (all of them): users without
permissions, memory limits, quotas, full file systems, clocks that jump, folders
of 2 million files, paths of 4,096 bytes, files that are none.  Each failure must
have the right exit status and a message, destroy nothing, and leave a directory
that the same command finishes with the bytes of an undisturbed run once the
cause is gone.  --quick takes less than a minute.  The last line counts what was
tried.  Most nets need root; what a machine cannot do is skipped and says why.

Mounts live in a name space of their own, and go with it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import net_tools  # noqa: E402
import ordinary_user, shared_folder, memory_limit, small_disks, clocks  # noqa: E401, E402, F401
import many_files, long_paths, odd_files  # noqa: E401, E402, F401


def enter_name_space():
    """Starts this program again where its mounts are seen by nobody else."""
    if os.geteuid() != 0 or os.environ.get("NEARDUP_NETS") == "inside" or not shutil.which("unshare"):
        return
    inside = ["unshare", "-m", "--propagation", "private"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode == 0:
        os.execvpe("unshare", [*inside, sys.executable, *sys.argv],
                   {**os.environ, "NEARDUP_NETS": "inside"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--neardup", default=net_tools.ROOT / "build/neardup", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("words", nargs="*", metavar="WORD")
    options = parser.parse_args()
    neardup = Path(os.path.abspath(options.neardup))
    if not os.access(neardup, os.X_OK):
        sys.exit(f"{neardup} is not there: run make first")
    enter_name_space()

    chosen = [(title, check) for title, check in net_tools.NETS
              if not options.words or any(w in title for w in options.words)]
    failed = 0
    print(f"1..{len(chosen)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="neardup-nets-", ignore_cleanup_errors=True) as folder:
        lab = net_tools.Lab(folder, neardup, options.quick)
        for number, (title, check) in enumerate(chosen, 1):
            start = time.monotonic()
            verdict, note, details = "ok", "", ""
            try:
                lab.begin(number)
                note = check(lab) or ""
            except net_tools.Skipped as skipped:
                note = f"SKIP {skipped}"
            except net_tools.Broken as broken:
                verdict, details = "not ok", str(broken)
            except Exception:
                verdict, details = "not ok", traceback.format_exc()
            finally:
                lab.clean_up()
            failed += verdict != "ok"
            took = f"{time.monotonic() - start:.1f} s"
            print(f"{verdict} {number} - {title} # {note + ', ' if note else ''}{took}")
            for line in details.splitlines():
                print(f"#   {line}")
            sys.stdout.flush()
        print(f"# {lab.runs} runs, {lab.failures} of them failures as they should be, "
              f"{lab.finished} finished with the bytes of an undisturbed run")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
