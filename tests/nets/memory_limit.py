"""A control group limits the memory, as of a container or a batch job."""

import os
import re
import time
from pathlib import Path

from net_tools import Skipped, expect, need_root, net, summary

MIB = 1 << 20


def memory_group():
    """Our own group of the memory controller: its folder, and whether it is of version 2."""
    need_root()
    groups = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    for _, controllers, group in groups:
        for _, place, kind, options, *_ in mounts:
            one = kind == "cgroup" and "memory" in controllers.split(",") and "memory" in options.split(",")
            two = kind == "cgroup2" and not controllers
            folder = Path(place + group)
            if one and (folder / "memory.limit_in_bytes").exists():
                return folder, False
            if two and "memory" in (folder / "cgroup.subtree_control").read_text().split():
                return folder, True
    raise Skipped("no control group of memory is to be had")


class Group:
    """A group below our own; it goes when the block ends."""

    def __init__(self, parent, version_2, limit, name="neardup-net"):
        self.path, self.version_2, self.limit = parent / f"{name}-{os.getpid()}", version_2, limit

    def __enter__(self):
        try:
            self.path.mkdir()
            if self.limit:
                self.write(self.limit)
        except OSError as error:
            raise Skipped(f"no control group can be made: {error}") from None
        return self

    def write(self, limit):
        name = "memory.max" if self.version_2 else "memory.limit_in_bytes"
        (self.path / name).write_text(str(limit))

    def join(self):
        (self.path / "cgroup.procs").write_text("0")

    def kills(self):
        name = "memory.events" if self.version_2 else "memory.oom_control"
        return int(re.search(r"^oom_kill (\d+)", (self.path / name).read_text(), re.M)[1])

    def __exit__(self, *_):
        for _ in range(50):
            try:
                self.path.rmdir()
                return
            except OSError:
                time.sleep(0.1)


def corpus_of(lab):
    """More than the limit, with records that are texts."""
    return lab.jsonl(20000 if lab.quick else 120000, words=150)


def expect_respect(out, limit):
    """Half of the limit is the budget, and an eighth of that the longest document."""
    longest = summary(out)["method"]["max_document_in_force"]
    expect(longest == min(limit // 16, 64 * MIB), f"the longest document is {longest} at {limit}")


@net("a memory limit of a control group: the usual --memory respects it")
def limited(lab):
    parent, version_2 = memory_group()
    corpus = lab.jsonl(10000, words=150) if lab.quick else corpus_of(lab)
    options = ["--method", "exact", "--threshold", "0.8"]  # sorts as much as fits the memory
    right = lab.undisturbed(corpus, *options, "--memory", "1G", timeout=300)
    notes = []
    for limit in (100,) if lab.quick else (100, 200):
        with Group(parent, version_2, limit * MIB) as group:
            out = lab / f"out-{limit}"
            run = lab.finish("dedup", corpus, "-o", out, *options, before=group.join, right=right,
                             out=out, timeout=400)
            expect(group.kills() == 0, f"something was killed at {limit} MiB")
            expect_respect(out, limit * MIB)
            notes.append(f"{re.search(r'peak memory ([0-9.]+ MB)', run.err)[1]} at {limit} MiB")
    return ", ".join(notes)


@net("a memory limit of the group above ours")
def nested(lab):
    parent, version_2 = memory_group()
    if version_2:
        raise Skipped("version 2 hands controllers on to groups without processes only")
    corpus = lab.jsonl(2000)
    right = lab.undisturbed(corpus)
    with Group(parent, version_2, 100 * MIB) as outer:
        with Group(outer.path, version_2, None, "inner") as inner:
            out = lab / "out"
            lab.finish("dedup", corpus, "-o", out, before=inner.join, right=right, out=out, timeout=400)
            expect_respect(out, 100 * MIB)
            expect(inner.kills() + outer.kills() == 0, "something was killed")


@net("a run that is killed for its memory resumes")
def killed(lab):
    if lab.quick:
        raise Skipped("takes long")
    parent, version_2 = memory_group()
    corpus = corpus_of(lab)
    right = lab.undisturbed(corpus, "--max-document", "1M", timeout=300)
    out, killed_runs = lab / "out", 0
    for limit in (6, 12, 20, 30):
        with Group(parent, version_2, limit * MIB) as group:
            run = lab.run("dedup", corpus, "-o", out, "--max-document", "1M", "--memory", "4G",
                          before=group.join, timeout=400)
            killed_runs += run.status == -9
            expect(run.status in (-9, 0, 1), f"{run}")
            if run.status == 0:
                break
            lab.failures += 1
            expect(not (out / "summary.json").exists(), f"it looks complete: {run}")
    lab.finish("dedup", corpus, "-o", out, "--max-document", "1M", "--memory", "4G", right=right,
               out=out, timeout=400)
    return f"{killed_runs} were killed"
