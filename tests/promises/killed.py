"""Promise 7: kill it at any time; the output directory is complete or resumable,
and a rerun gives what an undisturbed run gives."""

import gzip
import os
import shutil
import signal
import time

from promise_tools import begun_logs, counts, digest, expect, expect_whole, promise


def big_input(lab):
    """About 100 MB: a plain file that is read in ranges, and packed ones."""
    folder = lab.path("big")
    if not folder.exists():
        folder.mkdir()
        plain = lab.corpus(40000, bytes=2000, seed=21)
        os.link(plain, folder / "a.jsonl")
        part = lab.corpus(12000, bytes=2000, seed=21, first=30000).read_bytes()
        (folder / "b.jsonl.gz").write_bytes(gzip.compress(part, 1))
        short = lab.corpus(70000, bytes=100, seed=22)  # several blocks a range
        os.link(short, folder / "c.jsonl")
        (folder / "d.jsonl").write_bytes(part[:1 << 20] + b"\n")
    return folder


def undisturbed(lab):
    if not hasattr(lab, "truth"):
        out = lab.fresh("undisturbed")
        run = lab.dedup(big_input(lab), out)
        expect(run.status in (0, 3), run.stderr)
        expect_whole(out)
        lab.truth = digest(out), run.seconds
        shutil.rmtree(out)
    return lab.truth


def settings(lab, tmp):
    """Options that may change from run to run, and --tmp, which may not."""
    free = ["--threads", lab.random.choice((1, 2, 3, 8)), "--memory", lab.random.choice(("512M", "1G"))]
    return free + (["--tmp", tmp] if tmp else [])


@promise("SIGKILL at random times, also while resuming")
def random_kills(lab):
    source, (truth, seconds) = big_input(lab), undisturbed(lab)
    killed = resumed = rounds = 0
    while killed < lab.kills:
        out, tmp = lab.fresh("killed"), None
        if rounds % 3 == 2:
            tmp = lab.fresh("killed-tmp")
            tmp.mkdir()
        for _ in range(lab.random.choice((1, 1, 2, 4))):
            process = lab.begin(source, out, *settings(lab, tmp))
            time.sleep(lab.random.uniform(0, 1.2 * seconds))
            process.send(signal.SIGKILL)
            run = process.wait()
            killed += run.status == -9
            expect(run.status in (-9, 0, 3), run.stderr)
            if run.status != -9:  # too quick: aim earlier
                if "by an earlier run" not in run.stderr:
                    seconds = min(seconds, run.seconds)
                break
        run = lab.dedup(source, out, *settings(lab, tmp))
        expect(run.status in (0, 3), run.stderr)
        expect_whole(out)
        expect(tmp is None or not any(tmp.iterdir()), f"{tmp} is not empty")
        expect(digest(out) == truth, f"other bytes after {killed} kills")
        resumed += counts(out)["cost"]["resumed_documents"] > 0
        rounds += 1
    expect(resumed > 0, "no run resumed anything")
    return f"{killed} kills, {resumed} of {rounds} runs resumed"


@promise("Ctrl-C: exit status 130, and the same command goes on")
def interrupted(lab):
    source, (truth, _) = big_input(lab), undisturbed(lab)
    for number in (signal.SIGINT, signal.SIGTERM):
        out = lab.fresh("interrupted")
        run = lab.begin_and_stop(number, source, out, "--threads", "2", logs=2)
        run.expect(128 + number, "Run the same command to resume.")
        expect((out / ".neardup/manifest").exists(), "nothing is left to resume")
        run = lab.dedup(source, out)
        expect(run.status in (0, 3), run.stderr)
        expect("by an earlier run" in run.stderr, f"nothing was resumed: {run.stderr}")
        expect(digest(out) == truth, "other bytes")
        expect_whole(out)


def flip(path, random):
    data = bytearray(path.read_bytes())
    used = len(data.rstrip(b"\0"))
    data[random.randrange(used // 4, used * 3 // 4)] ^= 1 << random.randrange(8)
    path.write_bytes(data)


def cut_short(path, random):
    os.truncate(path, random.randrange(len(path.read_bytes().rstrip(b"\0"))))


def wipe(path, random):
    size = len(path.read_bytes().rstrip(b"\0"))
    with open(path, "r+b") as file:
        file.seek(random.randrange(size))
        file.write(bytes(random.randrange(1, 100000)))


def grow(path, random):
    with open(path, "ab") as file:
        file.write(random.randbytes(5000))


@promise("damaged logs of an interrupted run are noticed")
def damaged_logs(lab):
    source, (truth, _) = big_input(lab), undisturbed(lab)
    for spoil in (flip, flip, cut_short, wipe, grow):
        out = lab.fresh("damaged")
        lab.begin_and_stop(signal.SIGKILL, source, out, "--threads", "2", logs=2).expect(-9)
        for log in begun_logs(out / ".neardup"):
            spoil(log, lab.random)
        run = lab.dedup(source, out)
        expect(run.status in (0, 3), run.stderr)
        expect_whole(out)
        expect(digest(out) == truth, f"other bytes after {spoil.__name__}")
