"""OUTPUT and the work folder: nobody else's data is touched, one driver at a time, and whatever
is killed, cut off, full or lost, the result is complete and right, or there is none."""
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import COMMAND, dedup, tree, write_jsonl
from test_spark_cluster import PATIENCE, Process

import neardup
from neardup.spark import __main__ as program
from neardup.spark import checkpoints, claim, output, store
from neardup.spark import dedup as spark_dedup


def run(*arguments):
    return program.main([*map(str, arguments), "--quiet"])


def everything(folder):
    return {str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
            for p in sorted(folder.rglob("*"))}


def wait_until(there, seconds=PATIENCE, step=0.002):
    end = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < end
        time.sleep(step)


# --- nobody else's data ---

@pytest.mark.parametrize("place", ["c", "c/below", ".", "link", "link/below/deeper"])
def test_an_input_is_never_an_output(spark, tmp_path, capsys, place):
    (tmp_path / "c").mkdir()
    write_jsonl(tmp_path / "c/c.jsonl", 1, 20)
    (tmp_path / "link").symlink_to("c", target_is_directory=True)
    before = everything(tmp_path)
    for more in ([], ["--force", "--resume", "never"], ["--io", "spark"]):
        assert run(tmp_path / "c", tmp_path / place, *more) == 2
        assert "the input" in capsys.readouterr().err
        assert run(f"file://{tmp_path}/c/c.jsonl", tmp_path / "c/c.jsonl", *more) == 2
    assert everything(tmp_path) == before


def test_a_plan_and_the_input_of_a_frame_are_inputs(spark, tmp_path, capsys):
    rows = write_jsonl(tmp_path / "c.jsonl", 1, 20)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/plan").write_text("neardup-plan 1\n")
    assert run(tmp_path / "c.jsonl", tmp_path / "out", "--force", "--sample",
               f"adaptive:{tmp_path}/out/plan") == 2
    assert "out/plan" in capsys.readouterr().err
    spark.createDataFrame([(r["id"], r["text"]) for r in rows], "id string, text string").coalesce(
        1).write.parquet(str(tmp_path / "in"))
    frame = spark.read.parquet(str(tmp_path / "in"))
    before = everything(tmp_path / "in")
    with pytest.raises(neardup.UsageError, match="the input"):
        spark_dedup(frame, work=tmp_path / "in")
    (tmp_path / "mine/sign").mkdir(parents=True)
    (tmp_path / "mine/sign/precious").touch()
    with pytest.raises(neardup.StateError, match="has no job"):
        spark_dedup(frame, work=tmp_path / "mine")
    assert (tmp_path / "mine/sign/precious").exists() and everything(tmp_path / "in") == before


@pytest.mark.parametrize("given, out, how", [
    ("/a/b", "/a/b", "is the input"), ("/a//b/", "/a/./b", "is the input"),
    ("/a/b", "/a/b/c", "lies below"), ("/a/b/c.jsonl", "/a", "contains"), ("/a", "/a/x/../y", "lies below"),
    ("/a/b", "/a/bc", None), ("/a/b", "/ab", None), ("/a", "/b", None),
])
def test_places_in_a_store_are_compared(spark, given, out, how):
    base = "hdfs://127.0.0.1:9"  # nobody answers there, and nobody is asked
    if how is None:
        output.check_inputs(spark, base + out, [base + given])
    else:
        with pytest.raises(neardup.UsageError, match=how):
            output.check_inputs(spark, base + out, ["/local", base + given])
    output.check_inputs(spark, "hdfs://127.0.0.1:8" + out, [base + given])


def test_folders_of_others_and_finished_results(spark, tmp_path, capsys):
    write_jsonl(tmp_path / "c.jsonl", 2, 60)
    one = tree(dedup([tmp_path / "c.jsonl"], tmp_path / "one"))
    out = tmp_path / "out"
    arguments = (tmp_path / "c.jsonl", out)
    (out / "kept").mkdir(parents=True)
    (out / "kept/mine").write_text("precious")
    for more, said in (([], "it has kept"), (["--force"], "removes no directory")):
        assert run(*arguments, *more) == 1
        assert said in capsys.readouterr().err
    assert everything(out) == {"kept": None, "kept/mine": b"precious"}
    shutil.move(out / "kept", out / "other")
    (out / "pairs.tsv").write_text("somebody's")
    assert run(*arguments) == 1
    assert run(*arguments, "--force") == 0
    assert (out / "other/mine").read_text() == "precious"
    shutil.rmtree(out / "other")
    assert tree(out) == one
    made = everything(out)
    assert run(*arguments) == 0  # complete already
    assert run(*arguments, "--threshold", "0.7") == 1
    said = capsys.readouterr().err
    assert "--threshold not given, now 0.7" in said and "--resume never" in said
    write_jsonl(tmp_path / "d.jsonl", 2, 70)
    assert run(tmp_path / "d.jsonl", out) == 1
    assert "the input files" in capsys.readouterr().err
    assert everything(out) == made
    assert neardup.__version__ and subprocess.run(  # the command knows whose it is, too
        [COMMAND, "dedup", tmp_path / "c.jsonl", "-o", out], capture_output=True).returncode == 1
    (out / "pairs.tsv").write_bytes(one["pairs.tsv"][:-1])
    assert run(*arguments) == 1
    assert "pairs.tsv has another size" in capsys.readouterr().err
    summary = (out / "summary.json").read_text()
    (out / "pairs.tsv").write_bytes(one["pairs.tsv"].replace(b"1", b"2", 1))
    (out / "summary.json").write_text(summary.replace(claim.boot_id(), "an earlier one"))
    assert run(*arguments) == 1  # a power cut may have done that
    assert "pairs.tsv has other contents" in capsys.readouterr().err
    (out / "kept/c.jsonl").unlink()
    (out / "kept/more").touch()  # of nobody's: kept/ belongs to the result
    assert run(*arguments, "--resume", "never") == 0
    assert tree(out) == one
    listed = json.loads((out / "summary.json").read_text())["files"]
    assert {f["name"]: f["bytes"] for f in listed} == {
        str(p.relative_to(out)): p.stat().st_size for p in out.rglob("*")
        if p.is_file() and p.name != "summary.json"}
    # A name in a summary is one of the folder's, whatever it says.
    (tmp_path / "beside").touch()
    text = (out / "summary.json").read_text()
    (out / "summary.json").write_text(text.replace('"name": "pairs.tsv"', '"name": "../beside"'))
    assert run(*arguments, "--resume", "never") == 1  # so pairs.tsv is of nobody's result
    assert "pairs.tsv is in the way" in capsys.readouterr().err
    assert run(*arguments, "--force") == 0
    assert (tmp_path / "beside").exists() and tree(out) == one


# --- one driver at a time ---

def hadoop(spark, path):
    """The way to other stores, over file://."""
    return store.HadoopFolder(spark, f"file://{path}")


def test_a_lease_is_exclusive_until_its_holder_is_gone(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(claim, "TRIES", 1)
    folder = hadoop(spark, tmp_path / "out")
    first = claim.claim(folder)
    with pytest.raises(neardup.StateError, match=f"process {os.getpid()} on"):
        claim.claim(folder)
    first.check()
    assert len(folder.names()) == 1  # the other one has taken its own back
    # Killed: by number and start on the same machine, by silence elsewhere.
    first.ended.set()
    first.thread.join()
    path = tmp_path / "out" / first.name
    told = json.loads(path.read_text())

    def tell(text):
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
        path.write_text(text)

    for change in ({"start": told["start"] - 1}, {"boot": "before"}):
        tell(json.dumps({**told, **change}))
        second = claim.claim(folder)
        assert not path.exists()
        with pytest.raises(neardup.StateError, match="belongs to another driver"):
            first.check()
        first.lost = None
        second.close()
    for change in ({"host": "elsewhere"}, {"space": "another container"}):
        tell(json.dumps({**told, "start": 0, **change}))
        with pytest.raises(neardup.StateError, match="its lease ends 120 s after"):
            claim.claim(folder)
    tell("{")  # cut off
    with pytest.raises(neardup.StateError, match="starting just now"):
        claim.claim(folder)
    os.utime(path, (time.time() - claim.LAPSE - 5,) * 2)
    claim.claim(folder).close()
    assert folder.names() == []


def test_of_drivers_that_begin_at_once_at_most_one_goes_on(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(claim, "BEAT", 0.05)
    folder = hadoop(spark, tmp_path / "out")
    folder.make()
    held, most, won, guard = [0], [0], [0], threading.Lock()

    def driver():
        try:
            lease = claim.claim(folder)
        except neardup.StateError:
            return
        with guard:
            held[0] += 1
            won[0] += 1
            most[0] = max(most[0], held[0])
        time.sleep(0.1)
        lease.check()
        with guard:
            held[0] -= 1
        lease.close()

    for _ in range(8):
        drivers = [threading.Thread(target=driver) for _ in range(3)]
        for d in drivers:
            d.start()
        for d in drivers:
            d.join()
    assert most[0] == 1 and won[0] >= 4 and folder.names() == []


def test_a_lock_of_a_work_folder(spark, tmp_path):
    df = spark.createDataFrame([("a", "b c d e f"), ("b", "b c d e f")], "id string, text string")
    held = output.claim_work(store.LocalFolder(tmp_path / "work"))
    with pytest.raises(neardup.StateError, match="another driver"):
        spark_dedup(df, work=tmp_path / "work")
    held.close()
    about = {"options": {"threshold": "0.9"}, "secret": "x"}
    checkpoints.Checkpoints(spark, store.LocalFolder(tmp_path / "work"), None).agree(about)
    with pytest.raises(neardup.StateError, match="--threshold 0.9, now 0.5"):
        spark_dedup(df, work=tmp_path / "work", threshold=0.5)
    assert spark_dedup(df, work=tmp_path / "work", threshold=0.5, resume="never").count() == 2


# --- the commit ---

class Killed(BaseException):
    pass


@pytest.mark.parametrize("kind", ["local", "store"])
def test_a_commit_is_finished_by_whoever_comes_next(spark, tmp_path, monkeypatch, kind):
    """Killed before every step that changes the folder, also while finishing."""
    monkeypatch.setattr(claim, "TRIES", 1)

    def folder():
        return store.LocalFolder(tmp_path / "out") if kind == "local" else hadoop(spark, tmp_path / "out")

    def write(at, word, names):
        for name in names:
            (at / name).parent.mkdir(parents=True, exist_ok=True)
            (at / name).write_text(word)
        files = ", ".join(f'{{"name": "{n}", "bytes": 3}}' for n in names)
        (at / "summary.json").write_text(f'{{"neardup": "{word}", "files": [{files}]}}')

    def commit():
        """As a driver does, with its results written."""
        o = output.Output(folder(), over=True)
        try:
            o.place.write("manifest", "{}")
            write(tmp_path / "out/.neardup/out", "new", ["kept/a", "kept/b/c", "pairs.tsv", "extra"])
            o.commit(o.place.child("out"))
        except Killed:
            bury(o)
            raise

    def bury(o):
        """What the system does for a driver that is killed; a lease of a dead one has ended."""
        if isinstance(o.claim, claim.Lock):
            o.claim.close()
        elif o.claim is not None:
            o.claim.ended.set()
        for lease in (tmp_path / "out").glob(".neardup/*lease-*"):
            lease.unlink()

    left = [0]

    def dying(method):
        def step(*arguments):
            if not left[0]:
                raise Killed
            left[0] -= 1
            return method(*arguments)
        return step

    where = store.LocalFolder if kind == "local" else store.HadoopFolder
    o = output.Output(folder())
    write(tmp_path / "out/.neardup/out", "new", ["pairs.tsv"])
    (tmp_path / "out/pairs.tsv").write_text("somebody's")  # since the job began
    with pytest.raises(neardup.StateError, match="in the way"):
        o.commit(o.place.child("out"))
    bury(o)
    assert (tmp_path / "out/pairs.tsv").read_text() == "somebody's"
    finished = steps = 0
    for steps in range(60):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        write(tmp_path / "out", "old", ["kept/a", "kept/z", "pairs.tsv", "rejected.tsv"])
        with monkeypatch.context() as m:
            for name in ("write", "remove", "take", "remove_empty"):
                m.setattr(where, name, dying(getattr(where, name)))
            left[0] = steps
            try:
                commit()
                finished += 1
            except Killed:
                left[0] = steps % 3 + 2  # and again, while it is finished
                o = output.Output.__new__(output.Output)
                try:
                    o.__init__(folder())
                    o.close()
                except Killed:
                    bury(o)
        committed = not (tmp_path / "out/.neardup/manifest").exists() or (
            tmp_path / "out/.neardup/commit.json").exists()
        o = output.Output(folder())
        o.close()
        found = {k: v for k, v in everything(tmp_path / "out").items()
                 if not k.startswith(".neardup") and v is not None}
        words = {v[:3] if k != "summary.json" else json.loads(v)["neardup"].encode()
                 for k, v in found.items()}
        assert words in ({b"old"}, {b"new"}), (steps, found.keys())
        if committed and words == {b"new"}:
            assert sorted(found) == ["extra", "kept/a", "kept/b/c", "pairs.tsv", "summary.json"]
        if finished:
            break
    assert finished and steps > 8
    assert not (tmp_path / "out/.neardup").exists()


# --- kills from outside ---

STEPS = ["manifest", "sign.json", "copies.json", "edges.json", "verify", "verify.json", "out",
         "out/summary.json"]


def test_the_driver_is_killed_at_every_boundary(spark, tmp_path, capsys):
    """One output folder, a driver after the other; beside the first, a second one is refused."""
    write_jsonl(tmp_path / "c.jsonl", 40, 1500)
    options = ["--cluster", "components", "--bucket-cap", "20", "--threshold", "0.6"]
    one = tree(dedup([tmp_path / "c.jsonl"], tmp_path / "one", *options))
    out = tmp_path / "out"
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("NEARDUP_TEST_CRASH", None)
    killed = []
    for step in STEPS:
        if (out / ".neardup" / step).exists():
            continue  # the one before was too quick to be stopped there
        driver = Process([sys.executable, "-m", "neardup.spark", tmp_path / "c.jsonl", out, *options,
                          "--master", "local[2]", "--conf", "spark.ui.enabled=false"], env)
        try:
            wait_until(lambda: (out / ".neardup" / step).exists()
                       or driver.process.poll() is not None)
            if not killed:
                assert run(tmp_path / "c.jsonl", out, *options) == 1
                assert "another driver or run is writing" in capsys.readouterr().err
        finally:
            driver.end(signal.SIGKILL)
        if driver.process.returncode != -signal.SIGKILL:
            assert driver.process.returncode == 0, driver.lines[-20:]
            break
        killed.append(step)
        if not (out / ".neardup/commit.json").exists():
            assert not (out / "summary.json").exists()
    assert len(killed) >= 6, killed
    assert run(tmp_path / "c.jsonl", out, *options) == 0
    assert tree(out) == one
    assert not (out / ".neardup").exists()


# --- disks and files that fail ---

def local_folders(spark):
    found = spark.sparkContext._jvm.org.apache.spark.SparkEnv.get().blockManager(
        ).diskBlockManager().localDirs()
    return [f.getPath() for f in found]


class Thief(threading.Thread):
    """Removes the first files of every shuffle as soon as they are there."""

    def __init__(self, folders):
        super().__init__(daemon=True)
        self.folders, self.ended = folders, threading.Event()
        self.seen, self.taken = {}, {}

    def run(self):
        while not self.ended.wait(0.005):
            for folder in self.folders:
                for place, _, names in os.walk(folder):
                    for name in names:
                        if name.startswith("shuffle_") and name.endswith(".index"):
                            self.look(place, name)

    def look(self, place, name):
        _, shuffle, task, _ = name.split("_")
        self.seen.setdefault(shuffle, set()).add(task)
        if shuffle not in self.taken:
            self.taken[shuffle] = task
            for gone in (name, name.replace(".index", ".data")):
                try:
                    os.remove(os.path.join(place, gone))
                except FileNotFoundError:
                    pass


def test_lost_shuffle_files_are_made_again(spark, tmp_path):
    write_jsonl(tmp_path / "c.jsonl", 41, 1500)
    one = tree(dedup([tmp_path / "c.jsonl"], tmp_path / "one"))
    thief = Thief(local_folders(spark))
    before = {n for f in thief.folders for _, _, names in os.walk(f) for n in names}
    thief.taken = {n.split("_")[1]: None for n in before if n.startswith("shuffle_")}
    thief.start()
    try:
        assert run(tmp_path / "c.jsonl", tmp_path / "out") == 0
    finally:
        thief.ended.set()
        thief.join()
    taken = {s: t for s, t in thief.taken.items() if t is not None}
    assert len(taken) >= 3
    assert tree(tmp_path / "out") == one


@pytest.fixture
def small_disk(tmp_path):
    """A file system that can be made larger: size(bytes)."""
    if os.geteuid():
        pytest.skip("only root can mount a small disk")
    at = tmp_path / "disk"
    at.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", at],
                      capture_output=True).returncode:
        pytest.skip("a tmpfs cannot be mounted here")

    def size(n):
        subprocess.run(["mount", "-o", f"remount,size={n}", at], check=True)

    size.at = at
    yield size
    subprocess.run(["umount", "-l", at], check=True)


def test_a_full_disk_of_the_output(spark, tmp_path, small_disk, capsys):
    write_jsonl(tmp_path / "c.jsonl", 42, 3000)
    one = tree(dedup([tmp_path / "c.jsonl"], tmp_path / "one"))
    out = small_disk.at / "out"
    failed = 0
    for size in (64 << 10, 500 << 10, 1 << 20, 2 << 20, 64 << 20):
        small_disk(size)
        status = run(tmp_path / "c.jsonl", out)
        if status == 0:
            break
        said = capsys.readouterr().err
        assert status == 1 and "No space left on device" in said and "resume" in said, said
        assert not (out / "summary.json").exists()
        failed += 1
    assert failed >= 2
    assert tree(out) == one


def test_a_full_disk_of_an_executor(spark, tmp_path, small_disk):
    write_jsonl(tmp_path / "c.jsonl", 43, 6000)
    one = tree(dedup([tmp_path / "c.jsonl"], tmp_path / "one"))
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("NEARDUP_TEST_CRASH", None)

    def driver():
        return Process([sys.executable, "-m", "neardup.spark", tmp_path / "c.jsonl", tmp_path / "out",
                        "--master", "local[2]", "--conf", "spark.ui.enabled=false", "--conf",
                        f"spark.local.dir={small_disk.at}"], env)

    small_disk("600K")
    first = driver()
    try:
        first.process.wait(PATIENCE)
        first.thread.join(10)
    finally:
        first.end(signal.SIGKILL)
    assert first.process.returncode == 1, first.lines[-20:]
    assert first.lines[-1].startswith("neardup.spark: a disk is full (No space left"), first.lines[-5:]
    assert not (tmp_path / "out/summary.json").exists()
    small_disk("512M")
    second = driver()
    try:
        second.process.wait(PATIENCE)
    finally:
        second.end(signal.SIGKILL)
    assert second.process.returncode == 0, second.lines[-20:]
    assert tree(tmp_path / "out") == one
