"""SIGINT and SIGTERM end a run that waits for a pipe, or for its reader: soon, with
status 130 or 143, in true words, and leaving nothing behind."""

import os
import shutil
import signal
import subprocess
import sys
import time

from promise_tools import digest, expect, promise

SOON = 0.2  # on a quiet machine; what is printed
LATE = 2.0  # on a busy one; what is refused

LINE = b'{"id": "a", "text": "the quick brown fox jumps over the lazy dog"}\n'
PAIR = b"a\tb\t0.9\n"
RUN = b"1 Q0 a 1 0.5 x\n"

# What comes through the pipe: as much as can be read, little now and then, nothing.
WRITERS = {
    "fast": "import os, sys\nb = (sys.argv[1].encode() + b'\\n') * 2000\n"
            "while True: os.write(1, b)",
    "slow": "import os, sys, time\nb = sys.argv[1].encode() + b'\\n'\n"
            "while True: os.write(1, b); time.sleep(0.05)",
    "idle": "import time\ntime.sleep(600)",
}

# Command, and a line of what it reads.
READERS = [
    (["dedup", "-", "-o", "OUT"], LINE),
    (["dedup", "-", "-o", "OUT", "--tmp", "TMP"], LINE),
    (["pairs", "-"], LINE),
    (["sketch", "-", "-o", "OUT"], LINE),
    (["inspect", "-"], LINE),
    (["plan", "-", "--precision", "0.9"], LINE),
    (["explain", "a", "b", "-"], LINE),
    (["study", "sampling", "-"], LINE),
    (["study", "sources", "-"], LINE),
    (["study", "join", "-"], LINE),
    (["cluster", "-"], PAIR),
    (["eval", "--truth", "PAIRS", "-"], PAIR),
    (["eval", "--truth", "-", "PAIRS"], PAIR),
    (["eval", "--truth", "PAIRS", "PAIRS", "--documents", "-"], b"a\t5\thttp://a.example/\n"),
    (["eval", "--truth", "PAIRS", "PAIRS", "--by", "size", "--corpus", "-"], LINE),
    (["prevalence", "--run", "-", "--pairs", "PAIRS"], RUN),
    (["prevalence", "--run", "RUN", "--pairs", "-"], PAIR),
    (["prevalence", "--run", "RUN", "--qrels", "-", "--pairs", "PAIRS"], b"1 0 a 1\n"),
]


class Bench:
    """Folders and files for commands; everything a command leaves shows here."""

    def __init__(self, lab):
        self.lab, self.out, self.tmp = lab, lab.fresh("signal-out"), lab.fresh("signal-tmp")
        self.tmp.mkdir()
        self.files = {"OUT": self.out, "TMP": self.tmp}
        for name, line in (("PAIRS", PAIR), ("RUN", RUN)):
            self.files[name] = lab.path(f"signal-{name}")
            self.files[name].write_bytes(line)
        self.env = {**os.environ, "TMPDIR": str(self.tmp)}
        self.worst = (0, "")

    def command(self, words):
        return [self.lab.neardup] + [str(self.files.get(w, w)) for w in words]

    def stop(self, process, number, what):
        """Sends the signal; what the command said."""
        start = time.monotonic()
        process.send_signal(number)
        try:
            _, stderr = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            expect(False, f"{what}: still there 30 s after the signal")
        seconds = time.monotonic() - start
        self.worst = max(self.worst, (seconds, what))
        said = (stderr or b"").decode()
        expect(process.returncode == 128 + number, f"{what}: {process.returncode}, {said}")
        expect(seconds < LATE, f"{what}: {seconds:.2f} s after the signal")
        return said

    def expect_nothing_left(self, what):
        left = [*self.tmp.rglob("*"), *([self.out] if self.out.exists() else [])]
        left += self.out.parent.glob(f"{self.out.name}.*")
        expect(not left, f"{what}: left behind: {left}")

    def verdict(self):
        seconds, what = self.worst
        return f"{seconds:.3f} s at most ({what}){'' if seconds <= SOON else ', MORE THAN 0.2 s'}"


def begin_reading(bench, words, writer, line):
    source = subprocess.Popen([sys.executable, "-I", "-S", "-c", WRITERS[writer], line.decode().strip()],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    process = subprocess.Popen(bench.command(words), stdin=source.stdout, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=bench.env)
    source.stdout.close()
    return source, process


@promise("signals end a run that reads a pipe, fast, slow or idle, in every command")
def reading(lab):
    bench = Bench(lab)
    for i, (words, line) in enumerate(READERS):
        for k, writer in enumerate(WRITERS):
            number = (signal.SIGINT, signal.SIGTERM)[(i + k) % 2]
            what = f"{' '.join(words)}, {writer}, {number.name}"
            source, process = begin_reading(bench, words, writer, line)
            try:
                time.sleep(0.3)
                expect(process.poll() is None, f"{what}: ended by itself: "
                       f"{process.communicate()[1] if process.poll() is not None else ''}")
                said = bench.stop(process, number, what)
            finally:
                source.kill()
                source.wait()
            expect("interrupted" in said, f"{what}: {said!r}")
            expect("Run the same command" not in said, f"{what}: nothing can be resumed, but: {said}")
            if words[0] == "dedup":
                expect("cannot be resumed" in said, f"{what}: {said}")
            bench.expect_nothing_left(what)
    return bench.verdict()


@promise("signals end a run whose output nobody reads")
def writing(lab):
    bench = Bench(lab)
    corpus = lab.path("signal-copies.jsonl")
    corpus.write_bytes(b"".join(LINE.replace(b'"a"', b'"%d"' % i) for i in range(2000)))
    pairs = lab.path("signal-many.tsv")
    pairs.write_bytes(b"".join(b"a\tb%d\t0.9\n" % i for i in range(200000)))
    commands = [["pairs", str(corpus)], ["inspect", str(corpus)] * 1, ["cluster", str(pairs)]]
    commands[1] = ["inspect", *[str(corpus)] * 20]
    for words in commands:
        for both in (False, True):  # stderr in the same full pipe
            number = (signal.SIGINT, signal.SIGTERM)[both]
            what = f"{words[0]} into a full pipe{', stderr too' if both else ''}"
            reader, writer = os.pipe()
            process = subprocess.Popen(bench.command(words), stdin=subprocess.DEVNULL, stdout=writer,
                                       stderr=writer if both else subprocess.PIPE, env=bench.env)
            os.close(writer)
            time.sleep(1)
            expect(process.poll() is None, f"{what}: it ended: {process.returncode}")
            bench.stop(process, number, what)
            os.close(reader)
            bench.expect_nothing_left(what)
    return bench.verdict()


@promise("signals: a named pipe without a writer, and a second Ctrl-C")
def waiting(lab):
    bench = Bench(lab)
    fifo = lab.path("signal-fifo")
    os.mkfifo(fifo)
    for words in (["cluster", str(fifo)], ["eval", "--truth", str(fifo), "PAIRS"]):
        for twice in (False, True):
            what = f"{words[0]} of a named pipe"
            process = subprocess.Popen(bench.command(words), stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=bench.env)
            time.sleep(0.2)
            if twice:
                process.send_signal(signal.SIGINT)
            bench.stop(process, signal.SIGINT, what)
    fifo.unlink()
    return bench.verdict()


@promise("signals: what is said about resuming is true")
def words(lab):
    source = lab.corpus(40000, bytes=2000, seed=21)
    whole = lab.fresh("signal-whole")
    lab.dedup(source, whole).expect(0)
    for options, said in (([], "Run the same command to resume."),
                          (["--resume", "never"], "without --resume never to resume")):
        out = lab.fresh("signal-resume")
        run = lab.begin_and_stop(signal.SIGINT, source, out, "--threads", "1", *options)
        run.expect(130, said)
        again = lab.dedup(source, out).expect(0, "by an earlier run")
        expect(digest(out) == digest(whole), "other bytes")
        shutil.rmtree(out)
        del again
    # Interrupted before anything is stored: no promise.
    bench = Bench(lab)
    process = lab.begin(source, bench.out, "--threads", "1")
    time.sleep(0.003)
    process.send(signal.SIGINT)
    run = process.wait()
    if "to resume" in run.stderr:
        lab.dedup(source, bench.out).expect(0, "by an earlier run")
