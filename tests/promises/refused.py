"""Promise 7, the other side: a directory is never overwritten by mistake, and
the refusal says what differs."""

import os
import shutil
import signal

from promise_tools import counts, digest, expect, expect_whole, promise


def source_of(lab):
    """A folder of its own, so that it may be changed."""
    folder = lab.fresh("source")
    folder.mkdir()
    shutil.copy(lab.corpus(20000, bytes=2000, seed=31), folder / "a.jsonl")
    return folder


def snapshot(folder):
    return {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in folder.rglob("*")}


@promise("two runs in one directory: the second is refused")
def two_at_once(lab):
    source, out = source_of(lab), lab.fresh("shared")
    first = lab.begin_and_stop(signal.SIGSTOP, source, out, "--threads", "1")
    try:
        lab.dedup(source, out).expect(1, "another run is writing to")
        lab.dedup(source, out, "--resume", "never").expect(1, "another run is writing to")
        lab.dedup(source, out, "--shard", "1/2").expect(1, "another run is writing to")
    finally:
        first.send(signal.SIGCONT)
    first.wait().expect(0)
    expect_whole(out)
    alone = lab.fresh("alone")
    lab.dedup(source, alone).expect(0)
    expect(digest(alone) == digest(out), "the refused runs left their marks")


@promise("another run's unfinished directory: refused, saying what differs")
def unfinished_by_another(lab):
    source, out = source_of(lab), lab.fresh("unfinished")
    file = source / "a.jsonl"
    lab.begin_and_stop(signal.SIGKILL, source, out, "--threads", "1").expect(-9)
    before = snapshot(out)
    lab.dedup(source, out, "--threshold", "0.9").expect(1, "--threshold", "0.8", "0.9", "--resume never")
    lab.dedup(source, out, "--keep", "longest").expect(1, "--keep", "first", "longest")
    lab.dedup([source, file], out).expect(1, "a.jsonl")
    stat = file.stat()
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1000))
    lab.dedup(source, out).expect(1, "a.jsonl", "changed at")
    with open(file, "ab") as more:
        more.write(b'{"id": "new", "text": "one more"}\n')
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    lab.dedup(source, out).expect(1, "a.jsonl", f"{stat.st_size} bytes", f"{file.stat().st_size} bytes")
    after = {p: s for p, s in snapshot(out).items() if p.is_file() and p.name != "lock"}
    expect(after == {p: before.get(p) for p in after}, "a refused run changed the directory")
    os.truncate(file, stat.st_size)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    lab.dedup(source, out).expect(0, "by an earlier run")  # the right one still resumes
    expect_whole(out)


@promise("--resume never starts over and replaces")
def start_over(lab):
    source, out, alone = source_of(lab), lab.fresh("over"), lab.fresh("alone")
    lab.begin_and_stop(signal.SIGKILL, source, out, "--threads", "1").expect(-9)
    lab.dedup(source, out, "--threshold", "0.6", "--resume", "never").expect(0)
    lab.dedup(source, alone, "--threshold", "0.6").expect(0)
    expect_whole(out)
    expect(counts(out)["cost"]["resumed_documents"] == 0, "old blocks were used")
    expect(digest(out) == digest(alone), "other bytes")
    lab.dedup(source, out, "--resume", "never").expect(0)  # over a complete one, too
    lab.dedup(source, lab.fresh("alone")).expect(0)
    expect(digest(out) == digest(lab.path("alone")), "other bytes")


@promise("a complete directory: said to be, left alone, not replaced")
def complete_already(lab):
    source, out = source_of(lab), lab.fresh("complete")
    lab.dedup(source, out).expect(0)
    before = snapshot(out)
    lab.dedup(source, out).expect(0, "complete already")
    lab.dedup(source, out, "--threads", "3", "--memory", "1G").expect(0, "complete already")
    lab.dedup(source, out, "--threshold", "0.7").expect(1, "another run", "--resume never")
    os.utime(source / "a.jsonl")
    lab.dedup(source, out).expect(1, "another run")
    expect(snapshot(out) == before, "it was changed")


@promise("somebody else's directory is refused and left alone")
def foreign(lab):
    source = source_of(lab)
    for names in (["notes.txt"], ["kept/letter.txt"], ["summary.json", "kept/letter.txt"]):
        out = lab.fresh("foreign")
        for name in names:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text("{}")
        before = snapshot(out)
        for options in ([], ["--resume", "never"]):
            lab.dedup(source, out, *options).expect(1, "not a result of neardup")
            after = snapshot(out)
            expect(after == before, f"changed: {sorted(map(str, after))}")
    file = lab.fresh("file")
    file.write_text("mine")
    lab.dedup(source, file).expect(1)
    expect(file.read_text() == "mine", "a file was overwritten")
    lab.dedup(lab.path("missing"), lab.fresh("nothing")).expect(1)
    expect(not lab.path("nothing").exists(), "a run without input left a directory")
