#!/usr/bin/env python3
"""Hostile input: what it costs at one size and at twice that size.

bench/hostile.py [--write] [--rounds N] [WORD...]

Each case makes input that is meant to be slow or to fill memory, at n and 2n,
and runs the command on both, with --memory 128M where the table says nothing else.  Expected: twice the input takes
at most 2.2 times the time (user and system, the best of some rounds), and peak
memory stays within the budget and 64 MiB (of one record that is held: within its size
and 64 MiB).  --write puts the table into
docs/testing.md.  Exit status 1: a case is over a bar.
"""

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEARDUP = ROOT / "build/neardup"
DOCUMENT = ROOT / "docs/testing.md"
BEGIN, END = "<!-- bench/hostile.py --write -->", "<!-- end -->"
BUDGET, SLACK, MOST_RATIO = 128, 64, 2.2
CASES = []  # (title, n, make, arguments)
REJECTED = set()  # the makers of what is longer than --max-document
HELD = set()  # the makers of one record that is held in memory: the bar is its size and the slack

# A process inherits its parent's peak until it has its own, so a small one in
# between measures.
MEASURE = """
import os, sys
pid = os.fork()
if pid == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss)
"""


def case(title, n, *arguments, job="dedup"):
    """`make(out, n)` writes the input of size n to an open file (or, with a name, to a path)."""
    def mark(make):
        CASES.append((title, n, make, (job, *arguments)))
        return make
    return mark


def rejected(make):
    REJECTED.add(make)
    return make


def held(make):
    HELD.add(make)
    return make


def build(name, *libraries):
    program, source = ROOT / "build/bench" / name, ROOT / "bench" / f"{name}.c"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([os.environ.get("CC", "cc"), "-O3", "-o", program, source, *libraries], check=True)
    return program


def json_line(out, name, text):
    out.write(b'{"id":"%s","text":"%s"}\n' % (name, text))


# --- bombs --------------------------------------------------------------------------

def gzip_of_zeros(megabytes):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = bytes(1 << 20)
    zeros = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    crc = 0
    for _ in range(megabytes):
        crc = zlib.crc32(block, crc)
    size = (megabytes << 20) & 0xFFFFFFFF
    return (b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + zeros * megabytes + packer.flush() +
            crc.to_bytes(4, "little") + size.to_bytes(4, "little"))


def response(out, body, fields=b""):
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + fields + b"\r\n" + body
    out.write(b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:a>\r\n"
              b"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (len(http), http))


@rejected
@case("gzip bomb, GB unpacked", 1)
def gzip_bomb(out, n):
    out.write(gzip_of_zeros(n << 10))


@rejected
@case("zstd bomb, GB unpacked", 2)
def zstd_bomb(out, n):
    zeros = subprocess.Popen(["head", "-c", f"{n}G", "/dev/zero"], stdout=subprocess.PIPE)
    subprocess.run(["zstd", "-qc", "-1"], stdin=zeros.stdout, stdout=out, check=True)
    zeros.wait()


@rejected
@case("gzip in gzip in a WARC record, GB unpacked", 8)
def nested_bomb(out, n):
    packed = gzip_of_zeros(1 << 10)
    twice = zlib.compressobj(9, zlib.DEFLATED, 31)
    body = twice.compress(packed) + twice.flush()
    for _ in range(n):
        response(out, body, b"Content-Encoding: gzip, gzip\r\n")


# --- records ------------------------------------------------------------------------

@case("nested tags in each of 40 pages, 10^6", 1)
def nested_tags(out, n):
    for _ in range(40):
        response(out, b"<div>" * (n * 10**6) + b"some words of text")


@case("attributes in one tag, in each of 40 pages, 10^5", 5)
def attributes(out, n):
    tag = b"<p " + b" ".join(b"a%d=%d" % (i, i % 9) for i in range(n * 10**5)) + b">words of text"
    for _ in range(40):
        response(out, tag)


@case("JSON keys in each of 20 records, 10^5", 5)
def json_keys(out, n):
    keys = b",".join(b'"k%d":0' % i for i in range(n * 10**5))
    for _ in range(20):
        out.write(b'{"id":"a",%s,"text":"some words of text"}\n' % keys)


@rejected
@case("JSON keys in one record that is too long, 10^6", 10)
def many_json_keys(out, n):
    out.write(b'{"id":"a"')
    for i in range(n):
        out.write(b"".join(b',"k%d":0' % j for j in range(i * 10**6, (i + 1) * 10**6)))
    out.write(b',"text":"some words of text"}\n')


@held
@case("the same, taken: --memory 4096M --max-document 512M, 10^6", 10, "--memory", "4096M",
      "--max-document", "512M")
def taken_json_keys(out, n):
    many_json_keys(out, n)


@rejected
@case("nested JSON arrays in each of 20 records, 10^6", 3, "--format", "jsonl")
def nested_json(out, n):
    for _ in range(20):
        out.write(b'{"id":"a","text":"some words","x":' + b"[" * (n * 10**6) + b"]" * (n * 10**6) + b"}\n")


@rejected
@case("one line, GB", 5)
def long_line(out, n):
    out.truncate(n << 30)
    out.seek(n << 30)
    out.write(b"\n")


@case("ids of 1 MB, documents", 100)
def long_ids(out, n):
    for i in range(n):
        json_line(out, b"%08d" % i + b"x" * 10**6, b"words of the text number %d and no other one" % i)


# --- collections ----------------------------------------------------------------------

def words_from(begin, count):
    return b" ".join(b"w%d" % i for i in range(begin, begin + count))


@case("one shingle in every document, 10^3", 100)
def shared_shingle(out, n):
    for i in range(n * 1000):
        json_line(out, b"%d" % i, b"all of us have this " + words_from(20 * i, 20))


# What does not fit into memory is joined in passes, with any input: here it fits.
CASES.append(("the same, --method join --memory 512M, 10^3", 100, shared_shingle,
              ("dedup", "--method", "join", "--memory", "512M")))


@case("equal documents, 10^3", 500)
def equal(out, n):
    text = words_from(0, 40)
    for i in range(n * 1000):
        json_line(out, b"%d" % i, text)


@case("a chain A~B~C..., 10^3", 50)
def chain(out, n):
    for i in range(n * 1000):
        json_line(out, b"%d" % i, words_from(i, 60))


CASES.append(("the same, --cluster components, 10^3", 50, chain, ("dedup", "--cluster", "components")))

STOP_WORDS = b"the of and to a in is that it for was on".split()


@case("documents of stop words, 10^3", 50)
def stop_words(out, n):
    pick = random.Random(1).choices
    for i in range(n * 1000):
        json_line(out, b"%d" % i, b" ".join(pick(STOP_WORDS, k=40)))


@case("documents of one word, up to 2000 times, 10^3", 10)
def one_word(out, n):
    for i in range(n * 1000):
        json_line(out, b"%d" % i, b"the " * (5 + i % 2000))


# --- tables -----------------------------------------------------------------------------

MASK = (1 << 64) - 1


def unmix(x):
    """The inverse of nd_mix (base/hash.h)."""
    x ^= x >> 31 ^ x >> 62
    x = x * pow(0x94d049bb133111eb, -1, 1 << 64) & MASK
    x ^= x >> 27 ^ x >> 54
    x = x * pow(0xbf58476d1ce4e5b9, -1, 1 << 64) & MASK
    return x ^ x >> 30 ^ x >> 60


@case("numbers of a set that meet in a table, 50 sets of 10^3", 10, "--format", "sets", job="pairs")
def flood_sets(out, n):
    """Lines of numbers whose mixed low bits are all zero: what nd_mix alone puts into one slot."""
    for i in range(50):
        tokens = (unmix((i << 20 | j + 1) << 28) ^ 0x5851f42d4c957f2d for j in range(n * 1000))
        out.write(" ".join(map(str, tokens)).encode() + b"\n")


CASES.append(("the same, --method join, 50 sets of 10^3", 10, flood_sets,
              ("pairs", "--format", "sets", "--method", "join")))


@case("ids that meet in a table (cluster), 10^3", 8, job="cluster")
def flood_ids(out, n):
    subprocess.run([build("flood"), str(n * 1000)], stdout=out, check=True)


# --- measuring ----------------------------------------------------------------------------

def measure(folder, source, arguments, wanted, rounds):
    """The best time, the highest peak in MiB."""
    best, peak = None, 0
    for _ in range(rounds):
        out = folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        command = [NEARDUP, arguments[0], source, *arguments[1:]]
        if arguments[0] != "cluster":
            command += ["--tmp", folder] + ([] if "--memory" in arguments else ["--memory", f"{BUDGET}M"])
        if arguments[0] == "dedup":
            command += ["-o", out, "--sync", "no"]
        done = subprocess.run([sys.executable, "-I", "-S", "-c", MEASURE, *map(str, command)],
                              capture_output=True, check=True, timeout=600)
        status, seconds, kilobytes = done.stdout.split()
        if status != wanted:
            sys.exit(f"exit status {status.decode()}: {done.stderr.decode()}")
        best = float(seconds) if best is None else min(best, float(seconds))
        peak = max(peak, int(kilobytes) >> 10)
    return best, peak


def run_case(folder, title, n, make, arguments, rounds):
    results, sizes = [], []
    for size in (n, 2 * n):
        source = folder / ("input.pairs" if arguments[0] == "cluster" else "input")
        with open(source, "wb") as out:
            make(out, size)
        sizes.append(source.stat().st_size >> 20)
        results.append(measure(folder, source, arguments, b"3" if make in REJECTED else b"0", rounds))
        source.unlink()
    (t1, m1), (t2, m2) = results
    ratio = t2 / t1
    budget = int(arguments[arguments.index("--memory") + 1][:-1]) if "--memory" in arguments else BUDGET
    over = max(m1 - sizes[0], m2 - sizes[1]) if make in HELD else max(m1, m2) - budget
    ok = ratio <= MOST_RATIO and over <= SLACK
    return f"| {title} | {n} | {t1:.2f} s | {t2:.2f} s | {ratio:.2f} | {m1} MiB | {m2} MiB |", ok


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("words", nargs="*", metavar="WORD")
    options = parser.parse_args()
    lines = ["| case, unit of n | n | time at n | time at 2n | ratio | peak at n | peak at 2n |",
             "|---|---|---|---|---|---|---|"]
    print("\n".join(lines), flush=True)
    failed = 0
    with tempfile.TemporaryDirectory(prefix="neardup-hostile-") as folder:
        for one in CASES:
            if options.words and not any(w in one[0] for w in options.words):
                continue
            line, ok = run_case(Path(folder), *one, options.rounds)
            print(line + ("" if ok else " over a bar"), flush=True)
            lines.append(line)
            failed += not ok
    if options.write:
        text = DOCUMENT.read_text("utf-8")
        before, rest = text.split(BEGIN)
        DOCUMENT.write_text(before + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + rest.split(END)[1], "utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
