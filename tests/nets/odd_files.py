"""Files that are none, or change, or are one where they should be two."""

import os
import shutil
import socket
import threading
import time
from pathlib import Path

from net_tools import Skipped, expect, need, net, summary, tool

MIB = 1 << 20


@net("files of /proc and /sys: no size, but content")
def system_files(lab):
    files = [f for f in ("/proc/version", "/proc/cpuinfo", "/proc/self/status", "/proc/meminfo",
                         "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/kernel/profiling",
                         "/proc/sys/kernel/ostype") if os.access(f, os.R_OK)]
    read = 0
    for f in files:
        out = lab / f"out-{Path(f).name}"
        run = lab.run("dedup", f, "-o", out)
        # Read in full, or refused with a reason; never taken for empty without a word.
        expect(run.status in (0, 1, 3) and (run.status == 0 or "neardup: " in run.err + run.out
                                            or "rejected" in run.err), f"{run}")
        if run.status:
            lab.failures += 1
            continue
        kept = out / "kept" / Path(f).name
        content = kept.read_bytes() if kept.exists() else b""
        expect(content, f"{f} has content, and was taken for empty: {run}")
        if f == "/proc/version":
            expect(content == Path(f).read_bytes(), f"other bytes of {f}: {run}")
        read += 1
    lab.run("inspect", "/proc/self/mem", timeout=20)
    lab.run("pairs", "/proc/self/attr", timeout=20)
    lab.run("inspect", "/sys/kernel/mm", timeout=60)
    return f"{read} of {len(files)} read, the others refused"


def meddle(lab, corpus, change, lines=True):
    """Runs while `change` is called again and again; with `lines` it leaves no line torn."""
    statuses = []
    original = corpus.read_bytes()
    right = lab.undisturbed(corpus)
    stop = threading.Event()

    def meddler():
        while not stop.is_set():
            change()
            time.sleep(0.002)

    for _ in range(3 if lab.quick else 20):
        stop.clear()
        thread = threading.Thread(target=meddler)
        thread.start()
        out = lab / "out"
        try:
            run = lab.run("dedup", corpus, "-o", out, timeout=60)
        finally:
            stop.set()
            thread.join()
        statuses.append(run.status)
        if run.status == 1:
            lab.failures += 1
            expect("neardup: " in run.err and str(corpus) in run.err, f"{run}")
            expect(not (out / "summary.json").exists(), f"it looks complete: {run}")
        elif run.status in (0, 3):
            c = summary(out)["counts"]
            expect(c["documents"] == c["kept"] + c["dropped"] + c["rejected"], f"{c} do not add up: {run}")
            kept = out / "kept" / corpus.name
            expect(kept.exists() or not c["kept"], f"{c['kept']} are kept: {run}")
            if lines:
                expect(not c["rejected"] and kept.read_bytes().endswith(b"\n"), f"a line is torn: {run}")
        else:
            expect(False, f"{run}")
        # The file holds still again, as it was before.
        fresh = corpus.with_name("fresh")
        fresh.write_bytes(original)
        fresh.rename(corpus)
        lab.finish("dedup", corpus, "-o", out, "--resume", "never", right=right, out=out)
        shutil.rmtree(out)
    return f"{statuses.count(1)} of {len(statuses)} runs refused"


@net("a file that grows while it is read")
def growing(lab):
    corpus = lab.jsonl(20000)

    def grow():
        with open(corpus, "a") as f:
            f.write('{"id": "new", "text": "a line that was not there before, and comes again"}\n')

    return meddle(lab, corpus, grow)


@net("a file that is replaced while it is read")
def replaced(lab):
    corpus = lab.jsonl(20000)
    others = [lab.jsonl(20000, name=f"other-{i}").read_bytes() for i in range(2)]
    turn = [0]

    def replace():
        turn[0] += 1
        again = corpus.with_name("next")
        again.write_bytes(others[turn[0] % 2])
        os.rename(again, corpus)

    return meddle(lab, corpus, replace)


@net("a file that is cut and written again while it is read")
def rewritten(lab):
    corpus = lab.jsonl(20000)
    content = corpus.read_bytes()

    def rewrite():
        with open(corpus, "r+b") as f:
            f.truncate(len(content) // 3)
            time.sleep(0.001)
            f.seek(0)
            f.write(content[::-1] if time.monotonic_ns() % 2 else content)

    return meddle(lab, corpus, rewrite, lines=False)


@net("FIFOs, sockets and devices in a folder are counted, not waited for")
def not_files(lab):
    folder = lab.text_files(50)
    right = lab.undisturbed(folder)
    os.mkfifo(folder / "fifo")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(folder / "socket"))
        names = ["fifo", "socket"]
        if os.geteuid() == 0:
            os.mknod(folder / "zero", 0o600 | 0o020000, os.makedev(1, 5))
            names.append("zero")
        out = lab / "out"
        run = lab.refuse("dedup", folder, "-o", out, status=3, says=f"rejected  {len(names)}", timeout=30)
        rejected = (out / "rejected.tsv").read_text()
        for name in names:
            expect(f"/{name}" in rejected, f"{name} is not in {rejected}: {run}")
    for name in names:
        lab.refuse("dedup", folder / name, "-o", lab / "other", says="pipe it in", timeout=30)
        (folder / name).unlink()
    lab.finish("dedup", folder, "-o", out, "--resume", "never", right=right, out=out)


@net("a folder that holds itself through a bind mount")
def bind_loop(lab):
    folder = lab.text_files(20)
    right = lab.undisturbed(folder)
    loop = folder / "loop"
    lab.mount("--bind", folder, at=loop)
    for _ in range(3):  # deeper and deeper
        loop = loop / "loop"
        if loop.exists():
            lab.mount("--rbind", folder, at=loop)
    run = lab.run("dedup", folder, "-o", lab / "out", timeout=60)
    expect(run.status in (0, 3), f"{run}")
    run = lab.run("dedup", folder, "-o", folder / "inside", timeout=60)
    expect(run.status in (0, 1, 2, 3), f"{run}")
    shutil.rmtree(folder / "inside", ignore_errors=True)
    while lab.mounts:
        tool("umount", "-l", lab.mounts.pop())
    (folder / "loop").rmdir()
    lab.finish("dedup", folder, "-o", lab / "out", "--resume", "never", right=right, out=lab / "out")


FOLDING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Opens lower-case names below kept/, as a file system without case would. */
static int folded(const char *symbol, const char *path, int flags, unsigned mode) {
  char name[4096];
  snprintf(name, sizeof name, "%s", path);
  char *p = strstr(name, "/kept/");
  for (; p && *p; p++)
    if (*p >= 'A' && *p <= 'Z') *p += 'a' - 'A';
  int (*next)(const char *, int, unsigned) = (int (*)(const char *, int, unsigned))dlsym(RTLD_NEXT, symbol);
  return next(name, flags, mode);
}

#define OPENER(name)                           \
  int name(const char *path, int flags, ...) { \
    va_list more;                              \
    va_start(more, flags);                     \
    unsigned mode = va_arg(more, unsigned);    \
    va_end(more);                              \
    return folded(#name, path, flags, mode);   \
  }
OPENER(open)
OPENER(open64)
"""


@net("names that differ only in case, where opening does not tell them apart")
def case_preloaded(lab):
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if not compiler:
        raise Skipped("no compiler")
    (lab / "folding.c").write_text(FOLDING)
    tool(compiler, "-shared", "-fPIC", "-O1", "-o", lab / "folding.so", lab / "folding.c", "-ldl")
    env = {"LD_PRELOAD": str(lab / "folding.so")}
    corpus = lab / "in"
    corpus.mkdir()
    for name, text in zip(("README", "other", "readme"), lab.documents(3)):
        (corpus / name).write_text(text + "\n")
    right = lab.undisturbed(corpus)
    out = lab / "out"
    lab.refuse("dedup", corpus, "-o", out, env=env, says="case")
    expect(not (out / "summary.json").exists(), "it looks complete")
    lab.finish("dedup", corpus, "-o", out, right=right, out=out)


@net("names that differ only in case, on a file system that does not tell them apart")
def case_folded(lab):
    need("chattr")
    try:
        disk = lab.image(64 * MIB, "mkfs.ext4", "-q", "-O", "casefold", at=lab / "disk")
        folded = disk / "folded"
        folded.mkdir()
        tool("chattr", "+F", folded, skip="no folders without case here")
    except Skipped:  # of ASCII only
        folded = lab.image(320 * MIB, "mkfs.xfs", "-q", "-f", "-n", "version=ci", at=lab / "disk")
    texts = lab.documents(30)
    cases = {
        "files": (["README", "readme", "other"], 3),
        "accents": (["\u00e9", "e\u0301", "other"], 3),
        "a file and a folder": (["A/x", "a", "other"], 3),
        "files in folders": (["A/x", "a/X", "other"], 3),
        "two folders": (["A/x", "a/y", "other"], 3),
    }
    refused = 0
    for number, (what, (names, n)) in enumerate(cases.items()):
        corpus = lab / f"in-{number}"
        for i, name in enumerate(names):
            (corpus / name).parent.mkdir(parents=True, exist_ok=True)
            (corpus / name).write_text(texts[3 * number + i] + "\n")
        right = lab.undisturbed(corpus)
        out = folded / f"out-{number}"
        run = lab.run("dedup", corpus, "-o", out)
        if run.status == 0:
            kept = sorted(p.read_text().strip() for p in (out / "kept").rglob("*") if p.is_file())
            expect(kept == sorted(texts[3 * number:3 * number + n]),
                   f"{what}: {n} documents are kept as {len(kept)} files: {run}")
        else:
            refused += 1
            lab.failures += 1
            expect(run.status == 1 and "neardup: " in run.err and "case" in run.err, f"{what}: {run}")
            expect(not (out / "summary.json").exists(), f"{what}: it looks complete: {run}")
        lab.finish("dedup", corpus, "-o", lab / f"out-{number}", right=right, out=lab / f"out-{number}")
    return f"{refused} of {len(cases)} refused"
