"""A standalone cluster on loopback: a master and two workers as processes, with
authentication; one worker is killed in the middle of a stage, then the driver."""
import hashlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import ROOT, dedup, tree, write_jsonl

import pyspark

HOME = Path(pyspark.__file__).parent
PATIENCE = 1200  # seconds: many times what a quiet machine takes, for one that is crowded


class Process:
    """A process in a group of its own, its lines collected."""

    def __init__(self, command, env):
        self.lines = []
        self.process = subprocess.Popen(
            [str(c) for c in command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def wait_for(self, pattern, seconds=PATIENCE):
        end = time.monotonic() + seconds
        at = 0
        while time.monotonic() < end:
            while at < len(self.lines):
                found = re.search(pattern, self.lines[at])
                at += 1
                if found:
                    return found
            if self.process.poll() is not None and at == len(self.lines):
                break
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} did not come:\n" + "\n".join(self.lines[-40:]))

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            os.killpg(self.process.pid, how)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        secret = secrets.token_hex(16)
        self.settings = {"spark.authenticate": "true", "spark.authenticate.secret": secret,
                         "spark.network.crypto.enabled": "true"}
        options = " ".join(f"-D{k}={v}" for k, v in self.settings.items())
        self.env = {**os.environ, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1",
                    "SPARK_NO_DAEMONIZE": "1", "SPARK_DAEMON_MEMORY": "256m",
                    "SPARK_MASTER_OPTS": options, "SPARK_WORKER_OPTS": options,
                    "SPARK_WORKER_DIR": str(folder / "workers"),
                    "SPARK_LOCAL_DIRS": str(folder / "local"),
                    "PYSPARK_PYTHON": sys.executable, "PYTHONDONTWRITEBYTECODE": "1"}
        self.env.pop("NEARDUP_TEST_CRASH", None)
        self.master = self.start("master.Master", "--port", "0", "--webui-port", "0")
        self.url = self.master.wait_for(r"Starting Spark master at (spark://\S+)")[1]
        self.workers = [self.worker() for _ in range(2)]
        for w in self.workers:
            w.wait_for("Successfully registered with master")

    def start(self, name, *more):
        return Process([HOME / "bin/spark-class", f"org.apache.spark.deploy.{name}", "--host",
                        "127.0.0.1", *more], self.env)

    def worker(self):
        return self.start("worker.Worker", "--cores", "1", "--memory", "700m", "--webui-port", "0",
                          self.url)

    def submit(self, *arguments, **settings):
        conf = {**self.settings, "spark.executor.memory": "512m", "spark.ui.enabled": "false",
                "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
                "spark.network.timeout": "600s", "spark.python.authenticate.socketTimeout": "300s",
                **settings}
        more = [x for k, v in conf.items() for x in ("--conf", f"{k}={v}")]
        return Process([sys.executable, "-m", "neardup.spark", *map(str, arguments), "--master",
                        self.url, *more], self.env)

    def end(self):
        for p in [*self.workers, self.master]:
            p.end()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    c = Cluster(tmp_path_factory.mktemp("cluster"))
    yield c
    c.end()


def digest(folder):
    """One SHA-256 over names and bytes of a result."""
    h = hashlib.sha256()
    for name, data in sorted(tree(folder).items()):
        h.update(name.encode() + b"\0" + data)
    return h.hexdigest()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "in").mkdir()
    for i in range(3):
        write_jsonl(folder / f"in/{i}.jsonl", 20 + i, 9000)
    # The examples lie beside it, so that one job has every format.
    (folder / "in/examples").symlink_to(ROOT / "examples/corpus", target_is_directory=True)
    dedup([folder / "in", ROOT / "examples/corpus"], folder / "one")
    return folder


def executors_of(worker):
    """The processes below a worker: its executor, and Python below that."""
    out = subprocess.run(["ps", "-e", "-o", "pid=,ppid="], capture_output=True, text=True).stdout
    children = {}
    for line in out.splitlines():
        pid, parent = map(int, line.split())
        children.setdefault(parent, []).append(pid)
    found, todo = [], [worker]
    while todo:
        for pid in children.get(todo.pop(), []):
            found.append(pid)
            todo.append(pid)
    return found


def test_a_worker_is_killed_in_the_middle_of_a_stage(cluster, corpus, tmp_path):
    out = tmp_path / "two"
    job = cluster.submit(corpus / "in", ROOT / "examples/corpus", out)
    try:
        job.wait_for("^copies ")  # now the edges are on their way
        time.sleep(0.5)
        victim = cluster.workers[0].process.pid
        hit = [victim, *executors_of(victim)]
        for pid in hit:
            os.kill(pid, signal.SIGKILL)
        assert len(hit) > 1, "the worker had no executor"
        assert not (out / "summary.json").exists()
        job.process.wait(PATIENCE)
    finally:
        job.end()
    assert job.process.returncode == 0, "\n".join(job.lines[-40:])
    assert digest(out) == digest(corpus / "one")


def test_the_driver_is_killed_and_started_again(cluster, corpus, tmp_path):
    cluster.workers[0].end(signal.SIGKILL)
    cluster.workers[0] = cluster.worker()
    cluster.workers[0].wait_for("Successfully registered with master")
    out = tmp_path / "two"
    job = cluster.submit(corpus / "in", ROOT / "examples/corpus", out)
    try:
        job.wait_for("^copies ")
    finally:
        job.end(signal.SIGKILL)
    assert not (out / "summary.json").exists()
    job = cluster.submit(corpus / "in", ROOT / "examples/corpus", out)
    try:
        job.process.wait(PATIENCE)
    finally:
        job.end()
    assert job.process.returncode == 0, "\n".join(job.lines[-40:])
    assert digest(out) == digest(corpus / "one")
    report = json.loads((out / "spark.json").read_text())
    assert report["resumed_stages"][:2] == ["sign", "copies"]
    assert 0 < report["band_shuffle_bytes_per_document"] <= 200


def test_without_the_secret_nobody_is_let_in(cluster, corpus, tmp_path):
    before = len(cluster.master.lines)
    job = cluster.submit(corpus / "in", tmp_path / "two", **{"spark.authenticate.secret": "wrong"})
    try:
        job.process.wait(PATIENCE)  # it gives up by itself, after three tries
    finally:
        job.end(signal.SIGKILL)
    assert job.process.returncode == 1
    assert any("Failed to connect to master" in line for line in job.lines)
    assert not any("Registered app" in line for line in cluster.master.lines[before:])
    assert not (tmp_path / "two/summary.json").exists()
