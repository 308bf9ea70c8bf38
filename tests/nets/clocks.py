"""Clocks that jump: between runs, during a run, to the ends of time.

A library of a few lines, preloaded, shifts the clock that shows the time of day;
the one that only counts, which the kernel promises to be steady, stays.
"""

import os
import re
import shutil
import subprocess

from net_tools import Skipped, expect, net, summary

SOURCE = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* NET_CLOCK: seconds to add, or "jump": a year back and forth at every call. */
static long long shift(void) {
  static int calls;
  const char *how = getenv("NET_CLOCK");
  if (!how) return 0;
  if (*how == 'j') return (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % 3 - 1) * 31536000LL;
  return atoll(how);
}

int clock_gettime(clockid_t id, struct timespec *t) {
  int r = (int)syscall(SYS_clock_gettime, id, t);
  if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) t->tv_sec += shift();
  return r;
}

int timespec_get(struct timespec *t, int base) {
  return clock_gettime(CLOCK_REALTIME, t) == 0 ? base : 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  t->tv_sec = now.tv_sec;
  t->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
"""
YEAR = 31556952
CLOCKS = ["jump", -YEAR, YEAR, -3600, 3600, -56 * YEAR - 400 * 86400, 80 * YEAR, 136 * YEAR, 300 * YEAR]


def clock_library(lab):
    compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
    if not compiler:
        raise Skipped("no compiler")
    (lab / "clock.c").write_text(SOURCE)
    library = lab / "clock.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, lab / "clock.c"], check=True)
    return library


def expect_sane(run, out):
    """No time of the summary or of the last lines is negative or absurd."""
    shown = re.search(r"^time +(-?[\d.]+) s", run.err, re.M)
    if shown:
        expect(0 <= float(shown[1]) < 300, f"time of the run: {run}")

    def numbers(thing):
        if isinstance(thing, dict):
            for name, value in thing.items():
                if "seconds" in name and isinstance(value, (int, float)):
                    expect(0 <= value < 600, f"{name} is {value}: {run}")
                numbers(value)
        elif isinstance(thing, list):
            for value in thing:
                numbers(value)

    numbers(summary(out))


def cases(lab):
    library = clock_library(lab)
    for clock in CLOCKS[::4] if lab.quick else CLOCKS:
        yield str(clock), {"LD_PRELOAD": str(library), "NET_CLOCK": str(clock)}
    if shutil.which("faketime") and not lab.quick:
        found = [os.path.join(d, "libfaketimeMT.so.1") for d, _, files in os.walk("/usr/lib")
                 if "libfaketimeMT.so.1" in files]
        for when in ("@1970-01-02 00:00:00", "@2106-02-07 06:28:10", "-10y") if found else ():
            yield f"libfaketime {when}", {"LD_PRELOAD": found[0], "FAKETIME": when,
                                          "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


@net("clocks that jump, during and between runs")
def jumping(lab):
    corpus = lab.jsonl(3000)
    right = lab.undisturbed(corpus)
    tried = 0
    for number, (name, env) in enumerate(cases(lab)):
        out = lab / f"out-{number}"
        # Interrupted under this clock, resumed under the true one; and the other way round.
        for first, second in ((env, {}), ({}, env), (env, env)):
            run = lab.run("dedup", corpus, "-o", out, env=first, file_size=corpus.stat().st_size // 2)
            expect(run.status == 1 and (out / ".neardup").exists(), f"was not interrupted: {run}")
            lab.failures += 1
            run = lab.finish("dedup", corpus, "-o", out, env=second, right=right, out=out)
            expect_sane(run, out)
            run = lab.run("dedup", corpus, "-o", out, env=first)
            expect(run.status == 0 and "complete" in run.out + run.err, f"{name}: {run}")
            shutil.rmtree(out)
            tried += 1
    return f"{tried} times, {number + 1} clocks"


@net("input and parts from the ends of time")
def times_of_files(lab):
    corpus = lab.jsonl(1000)
    right = lab.undisturbed(corpus)
    done = 0
    for when in (0, 1, -1, -2 ** 31, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 33):
        os.utime(corpus, (when, when))
        if int(corpus.stat().st_mtime) != when:
            continue
        done += 1
        out = lab / f"out-{done}"
        run = lab.run("dedup", corpus, "-o", out, file_size=corpus.stat().st_size // 2)
        expect(run.status == 1 and (out / ".neardup").exists(), f"was not interrupted: {run}")
        lab.failures += 1
        for path in (out / ".neardup").rglob("*"):
            os.utime(path, (when, when))
        run = lab.finish("dedup", corpus, "-o", out, right=right, out=out)
        expect_sane(run, out)
        os.utime(corpus, (when + 1, when + 1))
        lab.refuse("dedup", corpus, "-o", out, says="--resume never")
    return f"{done} times"
