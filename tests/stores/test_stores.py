"""The job on file systems that only Spark reads: a real HDFS (a name node and a data node, as
processes) and S3 (moto's server), on loopback.  The bytes are those of one machine."""
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "spark"))
from conftest import ROOT, dedup, tree, write_jsonl  # noqa: E402
from test_spark_cluster import HOME, PATIENCE, Process  # noqa: E402

from neardup.spark import __main__ as program  # noqa: E402
from neardup.spark import job, store  # noqa: E402

HADOOP = next((HOME / "jars").glob("hadoop-client-api-*.jar")).stem.rpartition("-")[2]
SDK = "2.29.52"  # the one that Hadoop 3.4.2 names; its bundle has 600 MB, these parts do
PARTS = ("s3", "s3-transfer-manager", "sts", "apache-client", "netty-nio-client")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Hdfs:
    """A name node and a data node."""

    def __init__(self, folder):
        jar = self.fetch()
        port = free_port()
        self.uri = f"hdfs://127.0.0.1:{port}"
        settings = {"fs.defaultFS": self.uri, "dfs.replication": "1",
                    "dfs.namenode.name.dir": f"file://{folder}/name",
                    "dfs.datanode.data.dir": f"file://{folder}/data",
                    "dfs.namenode.http-address": "127.0.0.1:0",
                    "dfs.datanode.address": "127.0.0.1:0",
                    "dfs.datanode.http.address": "127.0.0.1:0",
                    "dfs.datanode.ipc.address": "127.0.0.1:0",
                    "dfs.datanode.hostname": "127.0.0.1",
                    "dfs.namenode.datanode.registration.ip-hostname-check": "false"}
        (folder / "conf").mkdir()
        (folder / "conf/hdfs-site.xml").write_text("<configuration>" + "".join(
            f"<property><name>{k}</name><value>{v}</value></property>"
            for k, v in settings.items()) + "</configuration>")
        shutil.copy(folder / "conf/hdfs-site.xml", folder / "conf/core-site.xml")
        java = ["java", "-Xmx256m", "-cp", f"{folder}/conf:{HOME}/jars/*:{jar}"]
        server = "org.apache.hadoop.hdfs.server"
        subprocess.run([*java, f"{server}.namenode.NameNode", "-format", "-nonInteractive"],
                       check=True, capture_output=True)
        self.processes = [Process([*java, f"{server}.namenode.NameNode"], os.environ),
                          Process([*java, f"{server}.datanode.DataNode"], os.environ)]

    @staticmethod
    def fetch():
        name = f"hadoop-client-minicluster-{HADOOP}.jar"
        if not (ROOT / "build/hadoop" / name).exists():
            subprocess.run(
                ["java", "-cp", f"{HOME}/jars/*", "org.apache.ivy.Main", "-cache",
                 ROOT / "build/hadoop/ivy", "-notransitive", "-dependency", "org.apache.hadoop",
                 "hadoop-client-minicluster", HADOOP, "-retrieve",
                 f"{ROOT}/build/hadoop/[artifact]-[revision].[ext]"], check=True)
        return ROOT / "build/hadoop" / name

    def ready(self, folder):
        """Waits until a file can be written."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                folder.make()
                folder.write("there", "yes")
                return
            except Exception:
                said = [p.lines[-20:] for p in self.processes]
                assert all(p.process.poll() is None for p in self.processes), said
                assert time.monotonic() < end, said
                time.sleep(1)

    def end(self):
        for p in self.processes:
            p.end()


@pytest.fixture(scope="session")
def s3():
    from moto.server import ThreadedMotoServer

    os.environ.update(AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="test",
                      AWS_DEFAULT_REGION="us-east-1", AWS_EC2_METADATA_DISABLED="true")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    import boto3

    boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket="bucket")
    yield endpoint
    server.stop()


@pytest.fixture(scope="session")
def spark(s3):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.pop("NEARDUP_TEST_CRASH", None)
    from pyspark.sql import SparkSession

    settings = {
        **program.LOCAL, "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.jars.ivy": f"{ROOT}/build/hadoop/jars",
        "spark.jars.packages": ",".join(
            [f"org.apache.hadoop:hadoop-aws:{HADOOP}",
             *(f"software.amazon.awssdk:{part}:{SDK}" for part in PARTS)]),
        "spark.jars.excludes": "software.amazon.awssdk:bundle",
        "spark.hadoop.fs.s3a.endpoint": s3, "spark.hadoop.fs.s3a.endpoint.region": "us-east-1",
        "spark.hadoop.fs.s3a.access.key": "test", "spark.hadoop.fs.s3a.secret.key": "test",
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.connection.ssl.enabled": "false"}
    builder = SparkSession.builder.master("local[2,3]").appName("neardup stores")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module", params=["hdfs", "s3a"])
def base(request, spark, tmp_path_factory):
    """A URI that a test may write below."""
    if request.param == "s3a":
        yield "s3a://bucket"
        return
    hdfs = Hdfs(tmp_path_factory.mktemp("hdfs"))
    try:
        hdfs.ready(store.HadoopFolder(spark, f"{hdfs.uri}/try"))
        yield hdfs.uri
    finally:
        hdfs.end()


def run(*arguments):
    return program.main([*map(str, arguments), "--quiet"])


def file_system(spark, uri):
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(uri)
    return path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()), path


def upload(spark, folder, uri):
    to = store.HadoopFolder(spark, uri)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        to.gather(str(path.relative_to(folder)), [(f"file://{path}", 0, path.stat().st_size)])


def download(spark, uri, folder):
    fs, path = file_system(spark, uri)
    _, here = file_system(spark, f"file://{folder}")
    fs.copyToLocalFile(False, path, here, True)
    return folder


def test_files_of_every_format(spark, base, tmp_path):
    folder = tmp_path / "in"
    shutil.copytree(ROOT / "examples/corpus", folder)
    write_jsonl(folder / "c d%20e.jsonl", 31, 300)
    (folder / "empty.txt").write_bytes(b"")
    one = tree(dedup([folder], tmp_path / "one"))
    upload(spark, folder, f"{base}/files/in")
    assert run(f"{base}/files/in", f"{base}/files/out") == 0
    two = tree(download(spark, f"{base}/files/out", tmp_path / "two"))
    for name in ("pairs.tsv", "clusters.tsv"):
        two[name] = two[name].replace(f"{base}/files/in".encode(), str(folder).encode())
    assert sorted(two) == sorted(one)
    assert two == one
    assert len(one["pairs.tsv"].splitlines()) > 50


class Killed(Exception):
    pass


def test_a_killed_job_goes_on_and_a_missing_part_is_an_error(spark, base, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    write_jsonl(tmp_path / "in/c.jsonl", 32, 500)
    one = tree(dedup([tmp_path / "in"], tmp_path / "one"))
    upload(spark, tmp_path / "in", f"{base}/killed/in")

    def die(*_):
        raise Killed

    for out in ("out", "damaged"):
        with monkeypatch.context() as m:
            m.setattr(job.Run, "verify", die)
            with pytest.raises(Killed):
                run(f"{base}/killed/in", f"{base}/killed/{out}")
    work = store.HadoopFolder(spark, f"{base}/killed/damaged/.neardup")
    part = next(name for name in work.names("edges") if name.startswith("part-"))
    work.remove(f"edges/{part}")
    assert run(f"{base}/killed/in", f"{base}/killed/damaged") == 1
    assert run(f"{base}/killed/in", f"{base}/killed/out") == 0
    assert tree(download(spark, f"{base}/killed/out", tmp_path / "two")) == one
    report = json.loads((tmp_path / "two/spark.json").read_text())
    assert report["resumed_stages"] == ["sign", "copies", "edges"]


def test_parquet_in_a_store_gives_the_same_lists(spark, base, tmp_path):
    rows = write_jsonl(tmp_path / "c.jsonl", 33, 400)
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one")
    spark.createDataFrame([(r["id"], r["text"]) for r in rows], "id string, text string").coalesce(
        1).write.parquet(f"{base}/table/in.parquet")
    assert run(f"{base}/table/in.parquet", f"{base}/table/out") == 0
    two = download(spark, f"{base}/table/out", tmp_path / "two")
    for name in ("pairs.tsv", "clusters.tsv"):
        assert (two / name).read_bytes() == (one / name).read_bytes()
    kept = {r.id for r in spark.read.parquet(f"{base}/table/out/kept").collect()}
    assert kept == {json.loads(line)["id"]
                    for line in (one / "kept/c.jsonl").read_text().splitlines()}
