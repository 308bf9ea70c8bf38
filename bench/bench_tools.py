"""What all parts of the bench share: building, corpora, running, figures, the report.

A part is a generator over a Bench that yields Figure and Table objects; bench_*.py hold them,
each with a table PARTS of the names that `bench/run NAME` knows.
"""

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys

# A fresh small process starts each command, because the kernel counts the starter's own memory
# into the command's peak (ru_maxrss survives exec).
MEASURE = """
import json, os, sys, time
out, err, *command = sys.argv[1:]
flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
begin = time.monotonic()
pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
    (os.POSIX_SPAWN_OPEN, 1, out, flags, 0o644), (os.POSIX_SPAWN_OPEN, 2, err, flags, 0o644)])
_, status, usage = os.wait4(pid, 0)
wall = time.monotonic() - begin
print(json.dumps({"wall": wall, "cpu": usage.ru_utime + usage.ru_stime,
    "peak": usage.ru_maxrss * 1024, "status": os.waitstatus_to_exitcode(status)}))
"""


class Failed(Exception):
    """A command that a figure needs did not do its job."""


class Bench:
    """Sizes, places and helpers that all figures share."""

    def __init__(self, build, quick, rounds):
        self.build = build
        self.dir = os.path.join(build, "bench")
        self.quick = quick
        self.rounds = rounds
        self.neardup = os.path.join(build, "neardup")
        self.out = os.path.join(self.dir, "out")
        self.log = os.path.join(self.dir, "stderr")
        self.corpora = {}
        self.programs = {}
        self.cc = shlex.split(os.environ.get("CC", "cc"))
        os.makedirs(self.dir, exist_ok=True)

    def size(self, full, quick):
        return quick if self.quick else full

    # --- building --------------------------------------------------------------------------
    def program(self, name, *sources):
        """Compiles bench/SOURCE… (NAME.c when none is named) with the library's own objects."""
        if name in self.programs:
            return self.programs[name]
        core = os.path.join(self.build, "libneardup_core.a")
        if not os.path.exists(core):
            raise SystemExit(f"bench/run: {core} is missing; run make first")
        libs = []
        for package in ["zlib", "libzstd", "libxxhash", "icu-uc", "libisal"]:
            found = subprocess.run(["pkg-config", "--libs", package], capture_output=True,
                                   text=True)
            if found.returncode == 0:
                libs += found.stdout.split()
        path = os.path.join(self.dir, name)
        files = [os.path.join("bench", source) for source in sources or [name + ".c"]]
        command = [*self.cc, "-std=gnu11", "-O3", "-D_GNU_SOURCE", "-Iinclude", "-Isrc", "-o", path,
                   *files, core, *libs, "-pthread", "-lm"]
        if subprocess.run(command).returncode != 0:
            raise SystemExit("bench/run: the compiler failed, see above; is the build complete?")
        self.programs[name] = path
        return path

    # --- corpora ---------------------------------------------------------------------------
    def corpus(self, docs, form="jsonl", truth=False, **options):
        """The path of a generated corpus; made once, removed by drop()."""
        name = "-".join([f"{docs}"] + [f"{k}-{v}" for k, v in sorted(options.items())])
        path = os.path.join(self.dir, f"corpus-{name}.{form}")
        if path in self.corpora:
            return path
        per_document = 2200 * (2.2 if form == "html" else 1)
        need = int(docs * per_document) + (64 << 20)
        if shutil.disk_usage(self.dir).free < need:
            raise Failed(f"{self.dir} has no room for {need >> 20} MiB more")
        command = [self.program("generate"), "--docs", str(docs), "--format", form]
        for key, value in options.items():
            command += [f"--{key}", str(value)]
        if truth:
            command += ["--truth", path + ".truth"]
        with open(path, "wb") as f:
            self.corpora[path] = shlex.join(command) + " > " + path
            subprocess.run(command, stdout=f, check=True)
            os.fsync(f.fileno())
        return path

    def drop(self):
        for path in list(self.corpora):
            for p in (path, path + ".truth"):
                if os.path.exists(p):
                    os.unlink(p)
        self.corpora.clear()
        self.clean_output()

    def clean_output(self):
        shutil.rmtree(self.out, ignore_errors=True)

    # --- running ---------------------------------------------------------------------------
    def measure(self, command, stdout=os.devnull):
        """Runs a command once: wall and CPU seconds, peak bytes."""
        self.clean_output()
        starter = [sys.executable, "-S", "-E", "-c", MEASURE, stdout, self.log]
        done = subprocess.run(starter + command, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{shlex.join(command)}: {done.stderr.strip().splitlines()[-1]}")
        result = json.loads(done.stdout)
        if result["status"] != 0:
            with open(self.log, errors="replace") as f:
                tail = f.read().strip().splitlines()[-1:]
            raise Failed(f"{shlex.join(command)}: exit status {result['status']}: {' '.join(tail)}")
        return result

    def race(self, *commands, touched=False):
        """Runs the commands in turns; the best result of each.  `touched`: free memory is
        touched again before every round, for results of gigabytes."""
        best = [None] * len(commands)
        for _ in range(self.rounds):
            if touched and not self.quick:
                self.clean_output()
                touch_memory()
            for i, command in enumerate(commands):
                result = self.measure(command)
                if best[i] is None or result["wall"] < best[i]["wall"]:
                    best[i] = result
        self.clean_output()
        return best

    def dedup(self, path, threads, *more):
        """The job without the wait for the disk, which the part "durable" measures."""
        return [self.neardup, "dedup", path, "-o", self.out, "--threads", str(threads), "--sync",
                "no", *more]


def touch_memory():
    """Touches the free memory once.  A virtual machine gets a page from its host when it first
    touches it, which takes several times as long as using it again: whether a result of some
    gigabytes lands on new or on used pages would decide what a run takes."""
    try:
        with open("/proc/meminfo", encoding="utf-8") as f:
            free = int(re.search(r"MemFree:\s*(\d+)", f.read())[1]) << 10
    except (OSError, TypeError):
        return
    program = "import ctypes, mmap, sys; n = int(sys.argv[1]); m = mmap.mmap(-1, n); " \
              "ctypes.memset(ctypes.addressof(ctypes.c_char.from_buffer(m)), 1, n)"
    if free > 1 << 30:
        subprocess.run([sys.executable, "-c", program, str(free - (1 << 29))])


class Figure:
    """A measured figure and the commands behind it.  Its bar and verdict go to the terminal only."""

    def __init__(self, what, value, bar, ok, details):
        self.what, self.value, self.bar, self.ok, self.details = what, value, bar, ok, details

    @property
    def verdict(self):
        return "" if self.ok is None else "PASS" if self.ok else "below"


class Table:
    """Numbers that belong side by side; only in the report and on the terminal."""

    def __init__(self, title, columns, rows, command):
        self.title, self.columns, self.rows, self.command = title, columns, rows, command

    def text(self):
        rows = [self.columns, *self.rows]
        widths = [max(len(r[i]) for r in rows) for i in range(len(self.columns))]
        return ["  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in rows]

    def markdown(self):
        lines = ["| " + " | ".join(r) + " |" for r in (self.columns, *self.rows)]
        return [lines[0], "|" + "---|" * len(self.columns), *lines[1:]]


def at_least(what, value, bar, details):
    return Figure(what, f"{value:.2f}×", f"≥ {bar:g}×", value >= bar, details)


def at_most(what, value, bar, details):
    return Figure(what, f"{value:.2f}×", f"≤ {bar:g}×", value <= bar, details)


def line(command, result, bytes_=0):
    speed = f", {bytes_ / 1e6 / result['wall']:.0f} MB/s" if bytes_ else ""
    return (f"`{shlex.join(command)}`: {result['wall']:.3f} s{speed}, {result['cpu']:.3f} s CPU, "
            f"peak {result['peak'] / 2**20:.0f} MiB")


def warm(path):
    with open(path, "rb", buffering=0) as f:
        while f.read(1 << 24):
            pass


# --- the report ---------------------------------------------------------------------------------
def first_line(command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def machine(b):
    cpu, memory = platform.machine(), "unknown"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            cpu = re.search(r"model name\s*:\s*(.*)", f.read())[1]
        with open("/proc/meminfo", encoding="utf-8") as f:
            kib = int(re.search(r"MemTotal:\s*(\d+)", f.read())[1])
            memory = f"{kib / 2**20:.0f} GiB"
    except (OSError, TypeError):
        pass
    return (f"{cpu}, {os.cpu_count()} cores, {memory} of memory; "
            f"{platform.system()} {platform.release()}; {first_line(b.cc + ['--version'])}; "
            f"{first_line([b.neardup, '--version'])}; {first_line(['wc', '--version'])}")


def section(b, name, results):
    """The lines of one part of the report."""
    figures = [r for r in results if isinstance(r, Figure)]
    text = [f"## {name}", "",
            f"`bench/run {name}`, {b.rounds} rounds, on: {machine(b)}.", ""]
    if figures:
        text += ["| measurement | figure |", "|---|---|"]
        text += [f"| {f.what} | {f.value} |" for f in figures]
    for table in (r for r in results if isinstance(r, Table)):
        text += ["", f"{table.title} (`{table.command}`):", "", *table.markdown()]
    if any(f.details for f in figures):
        text += ["", "The commands behind them:", ""]
    for f in figures:
        if f.details:
            text += [f"- {f.what}: {f.value}"] + [f"  - {d}" for d in f.details]
    return text


INTRODUCTION = """\
# Performance

Written by `make bench` (`bench/run`); `bench/run --write NAME` measures one part anew. Every
figure is a ratio within one run: what is compared takes turns, and the best time of each counts.
Files were in the page cache, and all free memory had been touched. The corpora come from
`bench/generate.c`: Zipf words, documents of about 2 KB, planted near-duplicates of known
resemblance. Real sets and texts are read from the folder in `NEARDUP_DATA`.
"""


def write_report(path, order, sections):
    """Puts new sections into the page; the others stay as they are."""
    old = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for part in f.read().split("\n## ")[1:]:
                old[part.split("\n", 1)[0]] = ("## " + part).rstrip("\n").split("\n")
    old.update(sections)
    text = [INTRODUCTION]
    for name in order:
        if name in old:
            text += ["\n".join(old[name]) + "\n"]
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(text))
