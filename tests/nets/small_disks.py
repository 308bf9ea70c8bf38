"""File systems of a quota, without space and without inodes."""

import os
import shutil
import subprocess
import time

from net_tools import Skipped, expect, need, net, tool

MIB = 1 << 20


def fails_then_finishes(lab, corpus, out, right, says, make_room, *options):
    """A run that fails for want of room, or fits; then there is room."""
    run = lab.run("dedup", corpus, "-o", out, *options, timeout=300)
    if run.status == 0:
        return False
    lab.failures += 1
    expect(run.status == 1 and "neardup: " in run.err, f"{run}")
    expect(any(w in run.err for w in says), f"does not say why: {run}")
    expect(str(out.parent) in run.err, f"does not say where: {run}")
    expect(not (out / "summary.json").exists(), f"it looks complete: {run}")
    make_room()
    lab.finish("dedup", corpus, "-o", out, *options, right=right, out=out, timeout=300)
    return True


@net("a quota on btrfs: refused, and resumed when it is raised")
def quota(lab):
    need("btrfs")
    disk = lab.image(2048 * MIB, "mkfs.btrfs", "-q", at=lab / "disk")
    tool("btrfs", "quota", "enable", disk, skip="btrfs has no quota here")
    corpus = lab.jsonl(10000, words=100)  # 9 MB
    right = lab.undisturbed(corpus)
    failed = 0
    limits = (1, 8, 14) if lab.quick else (1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21)
    for limit in limits:
        part = disk / f"part-{limit}"
        tool("btrfs", "subvolume", "create", part)
        tool("btrfs", "qgroup", "limit", f"{limit}M", part)
        failed += fails_then_finishes(
            lab, corpus, part / "out", right, ["Disk quota exceeded"],
            lambda: tool("btrfs", "qgroup", "limit", "none", part))
    expect(failed >= 2, f"only {failed} quotas were too small")
    return f"{failed} of {len(limits)} quotas were too small"


def free_bytes(disk, least):
    """What is free, once the file system has taken back what was removed."""
    for _ in range(100):
        now = os.statvfs(disk)
        if now.f_bavail * now.f_frsize >= least:
            break
        os.sync()
        time.sleep(0.1)
    return now.f_bavail * now.f_frsize


def full(lab, maker, size, *options):
    disk = lab.image(size, maker, *options, at=lab / "disk")
    corpus = lab.jsonl(10000, words=100)
    right = lab.undisturbed(corpus)
    failed, empty = 0, free_bytes(disk, 0)
    rooms = (1, 8, 14) if lab.quick else (0.2, 1, 2, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21)
    for room in rooms:
        ballast = disk / "ballast"
        ballast_size = int(free_bytes(disk, empty - MIB) - room * MIB)
        expect(ballast_size > 0, "the disk is too small")
        with open(ballast, "wb") as f:
            os.posix_fallocate(f.fileno(), 0, ballast_size)
        failed += fails_then_finishes(lab, corpus, disk / "out", right, ["No space left on device"],
                                      ballast.unlink)
        shutil.rmtree(disk / "out")
        ballast.unlink(missing_ok=True)
        os.sync()
    expect(failed >= 2, f"only {failed} disks were too small")
    return f"{failed} of {len(rooms)} disks were too small"


@net("a full ext4")
def full_ext4(lab):
    return full(lab, "mkfs.ext4", 128 * MIB, "-q", "-m", "0")


@net("a full xfs")
def full_xfs(lab):
    return full(lab, "mkfs.xfs", 320 * MIB, "-q")


@net("a full btrfs")
def full_btrfs(lab):
    if lab.quick:
        raise Skipped("takes long")
    return full(lab, "mkfs.btrfs", 256 * MIB, "-q")


@net("a file system without inodes, though bytes are free")
def inodes(lab):
    corpus = lab.text_files(400)
    right = lab.undisturbed(corpus)
    disk = lab.image(64 * MIB, "mkfs.ext4", "-q", "-m", "0", "-N", "1000", at=lab / "disk")
    lefts = (0, 1, 3, 200) if lab.quick else (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100, 200, 300, 340)
    failed = 0
    for left in lefts:
        ballast = disk / "ballast"
        ballast.mkdir()
        n = os.statvfs(disk).f_favail - left
        for i in range(n):
            os.mknod(ballast / str(i), 0o600)
        expect(os.statvfs(disk).f_bavail > 1000, "no bytes are free")
        failed += fails_then_finishes(lab, corpus, disk / "out", right, ["inodes"],
                                      lambda: shutil.rmtree(ballast))
        shutil.rmtree(ballast, ignore_errors=True)
        shutil.rmtree(disk / "out")
    expect(failed >= len(lefts) - 1, f"only {failed} of {len(lefts)} lacked inodes")
    # The same for --tmp, and for pairs.
    ballast.mkdir()
    for i in range(os.statvfs(disk).f_favail):
        os.mknod(ballast / str(i), 0o600)
    lab.refuse("pairs", corpus, "--tmp", disk, says="inodes")
    lab.refuse("dedup", corpus, "-o", lab / "out", "--tmp", disk, says="inodes")
    shutil.rmtree(ballast)
    lab.finish("dedup", corpus, "-o", lab / "out", "--tmp", disk, right=right, out=lab / "out")
    return f"{failed + 2} times"


@net("a file system that becomes read-only")
def read_only(lab):
    disk = lab.image(64 * MIB, "mkfs.ext4", "-q", at=lab / "disk")
    corpus = lab.jsonl(2000)
    right = lab.undisturbed(corpus)
    out = disk / "out"
    run = lab.run("dedup", corpus, "-o", out, file_size=corpus.stat().st_size // 2)
    expect(run.status == 1, f"was not interrupted: {run}")
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    lab.refuse("dedup", corpus, "-o", out, says=["Read-only file system"])
    lab.refuse("dedup", corpus, "-o", disk / "other", says=["Read-only file system"])
    subprocess.run(["mount", "-o", "remount,rw", disk], check=True)
    lab.finish("dedup", corpus, "-o", out, right=right, out=out)
