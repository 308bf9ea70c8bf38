"""Runs one test program in its own group, and reads the TAP that it printed."""

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAP = re.compile(r"^(not )?ok\b(?: +(\d+))?(?: +- +)?(.*)$")
SKIP = re.compile(r"# *skip\b", re.I)
# Where a failing output says why, and how many lines from there on are worth repeating.
DECISIVE = re.compile(r"^not ok\b|(WARNING|ERROR|FATAL): \w*Sanitizer|runtime error: |^(# +)?E  "
                      r"|^(# +)?Traceback|^[\w.]*Error\b|^\[ +ERROR +\]|^stopped after|left behind")
MATCH_LINES, REPORT_LINES, MOST_LINES = 4, 32, 40

running = {}  # process groups by process id, for stop_all


class Result:
    """What one test program printed: its cases, its output, what it took."""

    def __init__(self, name, status, output, seconds, cpu):
        self.name, self.status, self.output = name, status, output
        self.seconds, self.cpu = seconds, cpu
        self.cases = []  # [verdict, name, note, details]; verdict is ok, FAIL or skip
        planned = 0
        for line in output.splitlines():
            plan = re.match(r"^1\.\.(\d+)\b", line)
            found = TAP.match(line)
            if plan:
                planned += int(plan[1])
            elif found:
                verdict = "skip" if SKIP.search(line) else "FAIL" if found[1] else "ok"
                title, _, note = found[3].partition("# ")
                self.cases.append([verdict, title.strip(), re.sub(r"(?i)^skip\w* *", "", note), []])
            elif self.cases:
                self.cases[-1][3].append(line)
        missing = planned - len(self.cases)
        if missing > 0:
            self.cases.append(["FAIL", f"{missing} cases not reached", "", []])
        # Does every failure show its reason in its own lines?
        self.explained = (missing <= 0 and (status == 0) == (self.count("FAIL") == 0)
                          and all(case[3] for case in self.cases if case[0] == "FAIL"))
        if status != 0 and not self.count("FAIL"):
            self.cases.append(["FAIL", f"exit status {status}", "", []])
        if not self.cases:
            self.cases.append(["ok", name, f"{seconds:.1f} s", []])

    def count(self, verdict):
        return sum(1 for case in self.cases if case[0] == verdict)

    def decisive(self):
        """The lines that say why it failed: its first reasons, or else its last words."""
        lines = self.output.splitlines()
        chosen = {}
        for i, line in enumerate(lines):
            if len(chosen) >= MOST_LINES:
                break
            if DECISIVE.search(line):
                more = REPORT_LINES if "Sanitizer" in line else MATCH_LINES
                for j in range(i, min(i + more, len(lines))):
                    chosen[j] = lines[j]
        picked = [chosen[i] for i in sorted(chosen)] or lines[-MATCH_LINES:]
        how = f"exit status {self.status}"
        if self.status < 0:
            how = f"ended by {signal.Signals(-self.status).name}"
        return [how, *picked[:MOST_LINES]]


def temporary_folder(in_memory):
    shm = Path("/dev/shm")
    place = shm if in_memory and os.access(shm, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="neardup-test-", dir=place, ignore_cleanup_errors=True)


def run(name, command, env, timeout, in_memory=False):
    """Runs a program in its own group and temporary folder; never hangs."""
    start = time.monotonic()
    late = []
    with temporary_folder(in_memory) as tmp, tempfile.TemporaryFile() as output:
        os.chmod(tmp, 0o711)  # some tests run as another user
        process = subprocess.Popen([str(c) for c in command], cwd=ROOT, env={**env, "TMPDIR": tmp},
                                   stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True)

        def stop():
            late.append(True)
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(timeout, stop)
        running[process.pid] = process
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        del running[process.pid]
        process.returncode = status = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
        if late:
            text += f"\nstopped after {timeout} s\n"
    return Result(name, status, text, time.monotonic() - start, usage.ru_utime + usage.ru_stime)


def stop_all():
    for pid in list(running):
        try:
            os.killpg(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass


def print_checks(cases):
    """Prints (title, complaints) pairs as TAP; one without complaints passes.  Returns the exit status."""
    failed = 0
    print(f"1..{len(cases)}")
    for number, (title, complaints) in enumerate(cases, 1):
        complaints = list(complaints)
        failed += bool(complaints)
        print(f"{'not ok' if complaints else 'ok'} {number} - {title}")
        for complaint in complaints:
            print(f"#   {complaint}")
    return 1 if failed else 0
