"""Millions of files in one folder: their list stays in memory, and little else of them."""

import os
import subprocess
import threading

from net_tools import digest, expect, net

MIB = 1 << 20
BUDGET = 256 * MIB
PATH = "document-{:08}.txt"


def make_files(folder, n, distinct):
    """Small texts; the first so many of them are distinct, the others repeat those."""
    folder.mkdir()
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    for i in range(n):
        j = i % distinct
        f = os.open(PATH.format(i), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=place)
        os.write(f, b"w%d x%d y%d z%d a%d b%d c%d\n" % (j, j * 7, j * 13, j * 17, j * 19, j * 23, j * 29))
        os.close(f)
    os.close(place)


def peak_of(lab, *arguments, timeout, stdout=subprocess.DEVNULL):
    """Runs the command; its resident memory at most, in bytes, and what it said."""
    lab.runs += 1
    with open(lab / "said", "w+b") as said:
        process = subprocess.Popen([str(a) for a in (lab.neardup, *arguments)], stdout=stdout,
                                   stderr=said, cwd=lab.folder)
        timer = threading.Timer(timeout, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
    expect(process.returncode == 0, f"{arguments}: exit {process.returncode}\n{text[-1000:]}")
    return usage.ru_maxrss * 1024, text


@net("2 million files in one folder: finished, and within the memory")
def many_files(lab):
    n, distinct = (50_000, 10_000) if lab.quick else (2_000_000, 200_000)
    if lab.quick:
        disk = lab.mount("-t", "tmpfs", "-o", "size=800m", "none", at=lab / "disk")
    else:
        disk = lab.image(4096 * MIB, "mkfs.ext4", "-q", "-O", "inline_data,^has_journal", "-I", "256",
                         "-N", "2600000", at=lab / "disk", mount="loop,noatime")
    folder = disk / "in"
    make_files(folder, n, distinct)
    path = len(str(folder)) + 1 + len(PATH.format(0))
    cost = n * (path + 41 + 16)  # as docs/tuning.md has it
    notes = []
    budget = ["--memory", f"{BUDGET >> 20}M"]
    peak, _ = peak_of(lab, "inspect", folder, timeout=600)
    notes.append(f"list {peak >> 20} MiB")
    expect(peak <= cost + 64 * MIB, f"the list of {n} files takes {peak >> 20} MiB, not {cost >> 20}")
    peak, said = peak_of(lab, "pairs", folder, *budget, "--tmp", disk, timeout=900)
    notes.append(f"pairs {peak >> 20} MiB")
    expect(peak <= BUDGET + cost + 64 * MIB, f"pairs takes {peak >> 20} MiB: {said}")
    outs = [disk / "out-1", disk / "out-2"]
    for out, more in zip(outs, ([], ["--threads", "1"]) if lab.quick else ([],)):
        peak, said = peak_of(lab, "dedup", folder, *budget, *more, "-o", out, timeout=1500)
        notes.append(f"dedup {peak >> 20} MiB")
        expect(peak <= BUDGET + 2 * cost + 64 * MIB, f"dedup takes {peak >> 20} MiB: {said}")
        kept = sum(1 for _ in os.scandir(out / "kept"))
        expect(kept == distinct, f"{kept} kept of {distinct}: {said}")
    if lab.quick:
        expect(digest(outs[0]) == digest(outs[1]), "one thread gives other bytes")
    peak, said = peak_of(lab, "dedup", folder, *budget, "-o", outs[0], timeout=900)
    expect("complete" in said, said)
    notes.append(f"complete already {peak >> 20} MiB")
    return ", ".join(notes)
