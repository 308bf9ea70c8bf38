"""What the tests of the promises share: corpora, runs of the command, digests.

A check is a function that takes a Lab and raises Broken when a promise is
broken; run.py collects the functions that @promise marks.
"""

import gzip
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROMISES = []  # (title, function)
RESULTS = {"kept", "pairs.tsv", "clusters.tsv", "rejected.tsv", "summary.json", "report.html"}
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


class Broken(Exception):
    pass


class Skipped(Exception):
    pass


def promise(title):
    def mark(function):
        PROMISES.append((title, function))
        return function
    return mark


def expect(truth, complaint):
    if not truth:
        raise Broken(complaint)


def unpacked(data):
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:4] == ZSTD_MAGIC:
        return subprocess.run(["zstd", "-dcq"], input=data, check=True, capture_output=True).stdout
    return data


def digest(out):
    """SHA-256 of a result: the names and unpacked bytes of kept/, and the lists."""
    out = Path(out)
    sha = hashlib.sha256()
    lists = [out / "pairs.tsv", out / "clusters.tsv", out / "rejected.tsv"]
    for path in sorted(p for p in (out / "kept").rglob("*") if p.is_file()) + lists:
        data = unpacked(path.read_bytes())
        sha.update(f"{path.relative_to(out)}\0{len(data)}\0".encode())
        sha.update(data)
    return sha.hexdigest()


def counts(out):
    return json.loads((Path(out) / "summary.json").read_text())


def expect_whole(out):
    """A complete directory: nothing but results, and every document counted."""
    names = {p.name for p in Path(out).iterdir()}
    expect(names <= RESULTS and "summary.json" in names, f"{out} holds {sorted(names)}")
    c = counts(out)["counts"]
    expect(c["documents"] == c["kept"] + c["dropped"] + c["rejected"], f"counts do not add up: {c}")


class Run:
    """A finished run of the command."""

    def __init__(self, status, stderr, seconds):
        self.status, self.stderr, self.seconds = status, stderr, seconds

    def expect(self, status, *words):
        expect(self.status == status, f"exit status {self.status}, not {status}: {self.stderr}")
        for word in words:
            expect(word in self.stderr, f"no {word!r} in: {self.stderr}")
        return self


# A process inherits its parent's peak until it has its own, so a small one in
# between measures: exit status and peak go to a file.
MEASURE = """
import os, sys
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, usage = os.wait4(pid, 0)
open(sys.argv[1], "w").write(str(usage.ru_maxrss * 1024))
sys.exit(os.waitstatus_to_exitcode(status))
"""


class Process:
    """A run that is on its way."""

    def __init__(self, command, env, log):
        self.log, self.start = log, time.monotonic()
        with open(log, "wb") as stderr:
            self.child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL,
                                          stdout=subprocess.DEVNULL, stderr=stderr)

    def send(self, number):
        self.child.send_signal(number)

    def wait(self, timeout=120):
        deadline = time.monotonic() + timeout
        while True:
            if self.child.poll() is not None:
                break
            if time.monotonic() > deadline:
                self.child.kill()
                self.child.wait()
                raise Broken(f"still running after {timeout} s: {' '.join(map(str, self.child.args))}")
            time.sleep(0.002)
        return Run(self.child.returncode, self.log.read_text("utf-8", "replace"),
                   time.monotonic() - self.start)


class Lab:
    """A folder of its own, the command, the corpora, and chance."""

    def __init__(self, folder, neardup, seed, kills):
        self.folder, self.neardup, self.kills = Path(folder), str(neardup), kills
        self.random = random.Random(seed)
        self.made = {}
        self.runs = 0

    def path(self, name):
        return self.folder / name

    def fresh(self, name):
        path = self.path(name)
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
        return path

    def generator(self):
        program, source = ROOT / "build/bench/generate", ROOT / "bench/generate.c"
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            program.parent.mkdir(parents=True, exist_ok=True)
            new = program.with_name(f"generate.{os.getpid()}")
            compiler = os.environ.get("CC", "cc").split()
            subprocess.run([*compiler, "-O3", "-o", new, source, "-lm"], check=True)
            new.rename(program)
        return program

    def corpus(self, docs, **options):
        """JSONL with planted near-duplicates, made once."""
        key = (docs, *sorted(options.items()))
        if key not in self.made:
            path = self.path(f"corpus-{len(self.made)}.jsonl")
            words = [w for k, v in options.items() for w in (f"--{k}", str(v))]
            with open(path, "wb") as out:
                subprocess.run([self.generator(), "--docs", str(docs), *words], check=True, stdout=out)
            self.made[key] = path
        return self.made[key]

    def begin(self, inputs, out, *options, cpu=None, peak_to=None):
        self.runs += 1
        env = {k: v for k, v in os.environ.items() if k != "NEARDUP_CPU"}
        if cpu:
            env["NEARDUP_CPU"] = cpu
        inputs = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        command = [self.neardup, "dedup", *map(str, inputs), "-o", str(out), *map(str, options)]
        if peak_to:
            command = [sys.executable, "-I", "-S", "-c", MEASURE, str(peak_to), *command]
        return Process(command, env, self.path(f"log-{self.runs}"))

    def dedup(self, inputs, out, *options, cpu=None):
        return self.begin(inputs, out, *options, cpu=cpu).wait()

    def measured(self, inputs, out, *options):
        """A run and its peak memory."""
        peak = self.path("peak")
        run = self.begin(inputs, out, *options, peak_to=peak).wait()
        return run, int(peak.read_text())

    def begin_and_stop(self, number, inputs, out, *options, logs=1):
        """Sends a signal once that many logs hold a block; the run."""
        work = Path(out) / ".neardup"
        for _ in range(20):
            process = self.begin(inputs, out, *options)
            while process.child.poll() is None:
                if len(begun_logs(work)) >= logs:
                    process.send(number)
                    if number == signal.SIGSTOP:
                        return process
                    break
            run = process.wait()
            if run.status != 0 and run.status != 3:
                return run
            shutil.rmtree(out)  # it was too quick for us
        raise Broken("every run ended before it could be stopped")


def begun_logs(work):
    """Logs with a whole block in them: magic, checksum, bytes after the header."""
    logs = []
    for path in Path(work).glob("blocks-*"):
        try:
            with open(path, "rb") as log:
                head = log.read(24)
                if len(head) == 24 and log.seek(0, 2) > int.from_bytes(head[16:], "little") + 120:
                    logs.append(path)
        except FileNotFoundError:
            pass
    return logs
