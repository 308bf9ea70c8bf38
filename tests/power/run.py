#!/usr/bin/env python3
"""Cuts the power of a disk while commands write to it, and after; speaks TAP.

tests/power/run.py [--moments N] [--neardup PATH] [--seed N] [--jobs N] [WORD...]

Each command of rows.py runs on an ext4 file system in a file, whose power is cut at N
moments: before calls that change the disk (power_cut.c counts them and stops the process), at
times during the run, most of them towards its end, and 0 to 7 seconds after its end.
Just before, some of what write-back and the journal might have done is done.  Then the disk is
mounted again.  What claims to be complete must be right; whatever else is there, the same
command must give the bytes of an undisturbed run, or refuse and name a remedy, which must do so.
After exit status 0 all must be there, unless the command was given --sync no: then a rerun
must notice what is damaged.

WORD chooses the rows whose title has one of the words; --moment I runs that moment only;
NEARDUP_SEED or --seed repeats a run; --slow adds the rows that take minutes.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True

import disk as disks  # noqa: E402
import rows as table  # noqa: E402
from bench import STOP, Bench  # noqa: E402
from judge import Broken  # noqa: E402

ENDS = ("complete", "old", "resumed", "refused", "none")


class Report:
    """One TAP line for each row, and the table at the end."""

    def __init__(self, count):
        self.number, self.failed, self.lines = 0, 0, []
        print(f"1..{count}", flush=True)

    def row(self, title, found, failures, note=""):
        self.number += 1
        self.failed += bool(failures)
        counts = {end: found.count(end) for end in ENDS + ("damaged",)}
        said = note or ", ".join(f"{n} {end}" for end, n in counts.items() if n)
        print(f"{'not ok' if failures else 'ok'} {self.number} - {title} # {said}")
        for failure in failures:
            print("\n".join("#   " + line for line in failure.splitlines()))
        sys.stdout.flush()
        if found or failures:
            numbers = [len(found) + len(failures), counts["complete"], counts["old"],
                       counts["resumed"], counts["refused"], counts["none"], counts["damaged"],
                       len(failures)]
            self.lines.append("| " + " | ".join([title, *map(str, numbers)]) + " |")

    def table(self):
        print("# | command | cuts | complete | older one | resumed | refused | nothing yet "
              "| damage noticed | wrong |\n# |" + "---|" * 9)
        print("\n".join("# " + line for line in self.lines), flush=True)


def run_row(row, options, folder, inputs, shim):
    """All moments of a row: what was found, and what is wrong."""
    found, failures = [], []
    bench = Bench(row, folder, inputs, shim, options.seed)
    if STOP.is_set():
        return [], ["stopped"]
    try:
        bench.prepare()
    except Exception as error:
        bench.stop()
        bench.disk.unmount()
        words = str(error) if isinstance(error, Broken) else traceback.format_exc()
        return [], [f"undisturbed: {words}"]
    for i, moment in enumerate(bench.moments(options.moments)):
        if STOP.is_set():
            break
        if options.moment is not None and i != options.moment:
            continue
        bench.seen, bench.status = [], None
        try:
            found.append(bench.one(moment))
        except Exception as error:
            words = str(error) if isinstance(error, Broken) else traceback.format_exc()
            failures.append("\n".join([
                f"moment {i}: {moment}", f"  {words}", f"  exit status of the command: {bench.status}",
                "  found on the disk:", *(f"    {line}" for line in bench.seen),
                f"  NEARDUP_SEED={options.seed} tests/power/run.py --slow --moments {options.moments} "
                f"--moment {i} '{row.title}'"]))
            if len(failures) >= options.failures:
                break
    shutil.rmtree(folder, ignore_errors=True)
    return found, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--neardup", default=table.ROOT / "build/neardup", type=Path)
    parser.add_argument("--moments", default=6, type=int)
    parser.add_argument("--moment", type=int, help="only this one, from 0")
    parser.add_argument("--failures", default=5, type=int, help="a row ends after so many")
    parser.add_argument("--seed", default=int(os.environ.get("NEARDUP_SEED") or time.time()), type=int)
    parser.add_argument("--jobs", default=2 * (os.cpu_count() or 1), type=int)
    parser.add_argument("--slow", action="store_true", help="also the rows that take minutes")
    parser.add_argument("words", nargs="*", metavar="WORD")
    options = parser.parse_args()
    neardup = Path(os.path.abspath(options.neardup))
    if not os.access(neardup, os.X_OK):
        sys.exit(f"{neardup} is not there: run make first")
    try:
        disks.enter_own_mounts()
    except disks.Unavailable as why:
        print(f"1..1\nok 1 - power cuts # SKIP {why}")
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))

    with tempfile.TemporaryDirectory(prefix="neardup-power-") as folder:
        folder = Path(folder)
        try:
            disks.probe(folder / "probe")
        except disks.Unavailable as why:
            print(f"1..1\nok 1 - power cuts # SKIP {why}")
            return 0
        print(f"# seed {options.seed}")
        shim = folder / "cut.so"
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-o", shim, HERE / "power_cut.c", "-ldl"],
                       check=True)
        inputs = table.make_inputs(folder / "in", neardup, options.seed)
        pythons = table.Pythons(inputs)
        rows = [r for r in table.rows(neardup, pythons.interpreter())
                if (options.slow or not r.slow)
                and (not options.words or any(w in r.title for w in options.words))]
        report = Report(len(rows))
        with ThreadPoolExecutor(options.jobs) as pool:
            jobs = []
            for i, row in enumerate(rows):
                reason = pythons.reason_against(row.needs) if row.needs else None
                jobs.append((row, reason, None if reason else pool.submit(
                    run_row, row, options, folder / f"row{i}", inputs, shim)))
            try:
                for row, reason, job in jobs:
                    found, failures = job.result() if job else ([], [])
                    report.row(row.title, found, failures, f"SKIP {reason}" if reason else "")
            except BaseException:
                STOP.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        report.table()
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
