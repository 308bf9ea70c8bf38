"""neardup.spark on local[2]: the bytes of one machine, whatever the cut."""
import gzip
import json
import random
import re
import shutil

import numpy
import pytest
from conftest import KILLER, ROOT, counts, dedup, page, texts, tree, write_jsonl

import neardup
from neardup import _stage
from neardup.spark import __main__ as program
from neardup.spark import components, job, last_report, store
from neardup.spark import dedup as spark_dedup
from neardup.spark import pairs as spark_pairs


def run(*arguments):
    return program.main([*map(str, arguments), "--quiet"])


@pytest.mark.parametrize("io", ["direct", "spark"])
def test_examples_are_written_byte_for_byte(spark, tmp_path, io, monkeypatch):
    monkeypatch.chdir(ROOT)
    one = dedup(["examples/corpus"], tmp_path / "one")
    assert run("examples/corpus", tmp_path / "two", "--io", io) == 0
    assert tree(tmp_path / "two") == tree(one)
    a, b = counts(one), counts(tmp_path / "two")
    assert a["counts"] == b["counts"]
    assert a["method"] == b["method"]
    assert page(one) == page(tmp_path / "two")
    assert not (tmp_path / "two/.neardup").exists()


@pytest.mark.parametrize("options", [
    ["--bucket-cap", "40", "--threshold", "0.6"],
    ["--keep", "longest", "--bucket-cap", "30"],
    ["--cluster", "components", "--keep", "field:score", "--threshold", "0.7"],
], ids=lambda o: " ".join(o))
def test_hot_buckets_orders_and_components(spark, tmp_path, options, monkeypatch):
    monkeypatch.setattr("neardup.spark.source.UNIT_BYTES", 4 << 20)  # several units
    write_jsonl(tmp_path / "c.jsonl", 3, 12000)  # above 4 MiB: ranges, read again
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one", *options)
    assert run(tmp_path / "c.jsonl", tmp_path / "two", *options) == 0
    assert tree(tmp_path / "two") == tree(one)
    assert page(one) == page(tmp_path / "two")
    a, b = counts(one), counts(tmp_path / "two")
    assert a["counts"] == b["counts"]
    if "--bucket-cap" in options:
        assert a["method"]["hot_buckets"] == b["method"]["hot_buckets"] > 0
        assert a["method"]["spared_star_edges"] == b["method"]["spared_star_edges"]


def test_a_frame_in_any_number_of_partitions(spark, tmp_path):
    rows = write_jsonl(tmp_path / "c.jsonl", 5, 900)
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one")
    want = {}
    for line in (one / "clusters.tsv").read_text().splitlines():
        name, cluster, kept, similarity = line.split("\t")
        want[name] = (cluster, kept == "kept", float(similarity))
    for parts in (1, 7):
        df = spark.createDataFrame(spark.sparkContext.parallelize(
            [(r["id"], r["text"]) for r in rows], parts), "id string, text string")
        got = {r.id: (r.cluster, r.kept, round(r.similarity, 6))
               for r in spark_dedup(df).collect()}
        assert len(got) == len(rows)
        alone = {r["id"]: (r["id"], True, 1.0) for r in rows}
        assert got == {**alone, **want}
        report = last_report()
        assert 0 < report["band_shuffle_bytes_per_document"] <= 200
    lines = [f"{r.id_a}\t{r.id_b}\t{r.similarity:.6f}" for r in
             spark_pairs(df, collapse=True).collect()]
    assert lines == (one / "pairs.tsv").read_text().splitlines()


def test_numbers_as_ids_and_nothing_at_all(spark):
    df = spark.createDataFrame([(7, "a b c d e f"), (8, "a b c d e f"), (9, None), (10, "")],
                               "id long, text string")
    got = {r.id: (r.cluster, r.kept) for r in spark_dedup(df).collect()}
    assert got == {7: (7, True), 8: (7, False), 9: (9, True), 10: (10, True)}
    assert spark_dedup(df.where("id > 100")).count() == 0
    with pytest.raises(neardup.Error, match="no column 'body'"):
        spark_dedup(df, text="body")
    with pytest.raises(neardup.Error, match="treshold"):
        spark_dedup(df, treshold=0.5)


def test_parquet_keeps_all_columns(spark, tmp_path):
    rows = write_jsonl(tmp_path / "c.jsonl", 6, 600)
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one")
    spark.createDataFrame([(r["id"], r["text"], r["score"]) for r in rows],
                          "id string, text string, score int").coalesce(1).write.parquet(
        str(tmp_path / "in.parquet"))
    assert run(tmp_path / "in.parquet", tmp_path / "two") == 0
    for name in ("pairs.tsv", "clusters.tsv"):
        assert (tmp_path / "two" / name).read_bytes() == (one / name).read_bytes()
    kept = spark.read.parquet(str(tmp_path / "two/kept"))
    want = [json.loads(line) for line in (one / "kept/c.jsonl").read_text().splitlines()]
    assert sorted(map(tuple, kept.collect())) == sorted((r["id"], r["text"], r["score"])
                                                        for r in want)


PLAN = """neardup-plan 1
threshold 0.6
precision 0.9
shingle words:5
tokens words
group 70 2
group - 4
end 2
"""


@pytest.mark.parametrize("sample", ["none", "mod:3", "sct:20", "adaptive:PLAN"])
def test_exact_is_two_stages_of_map_and_reduce(spark, tmp_path, sample):
    write_jsonl(tmp_path / "c.jsonl", 8, 500)
    (tmp_path / "plan").write_text(PLAN)
    options = ["--method", "exact", "--threshold", "0.6", "--sample",
               sample.replace("PLAN", str(tmp_path / "plan"))]
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one", *options)
    assert run(tmp_path / "c.jsonl", tmp_path / "two", *options) == 0
    assert tree(tmp_path / "two") == tree(one)
    assert counts(one)["counts"]["pairs"] > 50


@pytest.mark.parametrize("options", [
    ["--method", "simhash", "--hamming", "5"],
    ["--method", "projection", "--keep", "longest", "--verify", "exact"],
    ["--method", "combined-site", "--agree", "1"],
    ["--verify", "sketch", "--cluster", "components"],
], ids=lambda o: " ".join(o))
def test_methods_that_decide_by_sketches(spark, tmp_path, options, monkeypatch):
    """Many places and units, as if there were many times as many documents."""
    monkeypatch.setattr("neardup.spark.source.UNIT_BYTES", 1 << 20)
    monkeypatch.setattr(job, "PLACE_BYTES", 1 << 13)
    write_jsonl(tmp_path / "c.jsonl", 21, 900)
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one", *options)
    assert run(tmp_path / "c.jsonl", tmp_path / "two", *options) == 0
    assert tree(tmp_path / "two") == tree(one)
    a, b = counts(one), counts(tmp_path / "two")
    assert a["counts"] == b["counts"]
    assert a["method"] == b["method"]
    assert a["counts"]["pairs"] > 20
    assert page(one) == page(tmp_path / "two")


def test_a_sketch_method_over_a_frame_in_any_number_of_partitions(spark, tmp_path):
    rows = write_jsonl(tmp_path / "c.jsonl", 22, 400)
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one", "--method", "supershingle")
    for parts in (1, 5):
        df = spark.createDataFrame(spark.sparkContext.parallelize(
            [(r["id"], r["text"]) for r in rows], parts), "id string, text string")
        lines = [f"{r.id_a}\t{r.id_b}\t{r.similarity:.6f}" for r in
                 spark_pairs(df, method="supershingle", collapse=True).collect()]
        assert lines == (one / "pairs.tsv").read_text().splitlines()


@pytest.mark.parametrize("options, instead", [
    (["--against", "b.jsonl"], "both collections as input"),
    (["--threads", "4"], "local[4]"),
    (["--method", "ppjoin"], "use method exact, which finds the same pairs"),
    (["--family", "linear"], "use family fast"),
    (["--method", "simhash", "--weights", "tfidf"], "use weights tf or one"),
    (["--sample", "adaptive:0.9"], "use sample adaptive:FILE"),
    (["--sample", "sct:9"], "except with method exact"),
    (["--columns", "similarity,minhash"], "the similarity is listed"),
], ids=lambda o: " ".join(o) if isinstance(o, list) else "")
def test_what_one_machine_alone_can_do_is_refused(spark, tmp_path, options, instead, capsys):
    (tmp_path / "a.txt").write_text("a b c d e f g")
    assert run(tmp_path / "a.txt", tmp_path / "two", *options) == 2
    assert instead in capsys.readouterr().err
    assert not (tmp_path / "two").exists()


def test_star_edges_that_nothing_depends_on_are_spared(spark, tmp_path):
    """More candidates than one round of the verifier, most of them star edges."""
    rng = random.Random(4)
    words = [f"w{i}" for i in range(5000)]
    family = [rng.choice(words) for _ in range(80)]
    with open(tmp_path / "c.jsonl", "w") as f:
        for i in range(14000):
            w = list(family)
            w[rng.randrange(80)] = rng.choice(words)
            f.write(json.dumps({"id": f"d{i}", "text": " ".join(w)}) + "\n")
    options = ["--bucket-cap", "30", "--threshold", "0.6"]
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one", *options)
    assert run(tmp_path / "c.jsonl", tmp_path / "two", *options) == 0
    assert tree(tmp_path / "two") == tree(one)
    a, b = counts(one)["method"], counts(tmp_path / "two")["method"]
    assert a["spared_star_edges"] == b["spared_star_edges"] > 1000


def test_components_by_stars_are_those_of_union_find(spark):
    rng = random.Random(11)
    n = 400
    pairs = {tuple(sorted(rng.sample(range(n), 2))) for _ in range(260)}
    pairs |= {(i, i + 1) for i in range(200, 260)}  # a long chain
    packed = numpy.array(sorted(a << 32 | b for a, b in pairs), numpy.uint64)
    assert (components.of_pairs(spark, packed, n) == _stage.components(n, packed)).all()


def test_components_by_stars_in_a_whole_job(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(job, "EDGES_ON_DRIVER", 10)
    write_jsonl(tmp_path / "c.jsonl", 14, 400)
    options = ["--cluster", "components", "--keep", "longest", "--threshold", "0.6"]
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one", *options)
    assert run(tmp_path / "c.jsonl", tmp_path / "two", *options) == 0
    assert tree(tmp_path / "two") == tree(one)


class Killed(Exception):
    pass


def test_a_killed_job_goes_on_and_damage_is_an_error(spark, tmp_path, monkeypatch, capsys):
    write_jsonl(tmp_path / "c.jsonl", 9, 700)
    one = dedup([tmp_path / "c.jsonl"], tmp_path / "one")
    arguments = (tmp_path / "c.jsonl", tmp_path / "two")

    def die(*_):
        raise Killed

    with monkeypatch.context() as m:
        m.setattr(job.Run, "verify", die)
        with pytest.raises(Killed):
            run(*arguments)
    work = tmp_path / "two/.neardup"
    assert not (tmp_path / "two/pairs.tsv").exists()
    shutil.copytree(work, tmp_path / "copy")

    def again():
        shutil.rmtree(work)
        shutil.copytree(tmp_path / "copy", work)

    def part(stage):
        return next(p for p in sorted((work / stage).iterdir()) if p.name.startswith("part-"))

    assert run(*arguments, "--threshold", "0.7") == 1  # another job
    part("edges").unlink()
    assert run(*arguments) == 1
    again()
    damaged = part("sign")
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 0x10
    damaged.write_bytes(data)
    (work / "sign" / f".{damaged.name}.crc").unlink(missing_ok=True)
    capsys.readouterr()
    assert run(*arguments) == 1
    said = capsys.readouterr().err
    assert re.search("(?i)damaged|crc|checksum|corrupt", said) and "Traceback" not in said
    again()
    assert run(*arguments) == 0
    assert tree(tmp_path / "two") == tree(one)
    report = json.loads((tmp_path / "two/spark.json").read_text())
    assert report["resumed_stages"] == ["sign", "copies", "edges"]
    assert run(*arguments) == 0  # complete already
    assert json.loads((tmp_path / "two/spark.json").read_text()) == report


def test_versions_are_compared(spark, tmp_path, monkeypatch):
    monkeypatch.setattr(neardup, "__version__", "9.9.9")
    with pytest.raises(neardup.Error, match="the driver has neardup 9.9.9, executors have"):
        job.check_executors(spark)


def test_a_document_that_kills_its_worker_is_left_out(spark):
    some = texts(12, 60)
    rows = [(f"d{i}", t) for i, t in enumerate(some)]
    rows[33] = ("bad", KILLER)
    df = spark.createDataFrame(spark.sparkContext.parallelize(rows, 3), "id string, text string")
    got = {r.id: r.kept for r in spark_dedup(df).collect()}
    assert len(got) == 60
    assert got["bad"]
    assert last_report()["quarantined"] == ["bad"]


def test_a_row_of_parquet_that_kills_its_worker_is_left_out(spark, tmp_path):
    rows = [(f"d{i}", t) for i, t in enumerate(texts(13, 40))]
    rows[7] = ("bad", KILLER)
    spark.createDataFrame(rows, "id string, text string").coalesce(1).write.parquet(
        str(tmp_path / "in.parquet"))
    assert run(tmp_path / "in.parquet", tmp_path / "out") == 0
    assert json.loads((tmp_path / "out/spark.json").read_text())["quarantined"] == ["bad"]
    kept = {r.id for r in spark.read.parquet(str(tmp_path / "out/kept")).collect()}
    assert "bad" in kept and len(kept) == counts(tmp_path / "out")["counts"]["kept"] < 40


def _records(kind, rows):
    """Documents (id, text) as the bytes of a file."""
    out = []
    for name, text in rows:
        if kind == "jsonl":
            out.append(json.dumps({"id": name, "text": text}) + "\n")
        elif kind == "trec":
            out.append(f"<DOC>\n<DOCNO>{name}</DOCNO>\n<TEXT>\n{text}\n</TEXT>\n</DOC>\n")
        else:
            http = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{text}"
            out.append("WARC/1.0\r\nWARC-Type: response\r\n"
                       f"WARC-Record-ID: <urn:uuid:{name}>\r\nWARC-TREC-ID: {name}\r\n"
                       "Content-Type: application/http; msgtype=response\r\n"
                       f"Content-Length: {len(http)}\r\n\r\n{http}\r\n\r\n")
    return [r.encode() for r in out]


def _pack(path, records):
    """A file; one whose name ends in .gz with a member per record."""
    packed = path.suffix == ".gz"
    path.write_bytes(b"".join(gzip.compress(r, mtime=0) if packed else r for r in records))


@pytest.mark.parametrize("io, kind, n", [
    ("direct", "jsonl", 9000), ("spark", "trec", 200), ("direct", "warc.gz", 200)])
def test_a_record_that_kills_its_worker_is_left_out(spark, tmp_path, io, kind, n):
    """Two of them, in one block or (9000: ranges of a large file) in two."""
    rows = [(f"d{i}", t) for i, t in enumerate(texts(17, n))]
    bad = [n // 3, n - 5]
    killing = {i: (f"bad{i}", f"{rows[0][1]} {KILLER}") for i in bad}
    (tmp_path / "in").mkdir()
    records = _records(kind.partition(".")[0], rows)
    _pack(tmp_path / f"in/c.{kind}", [r for i, r in enumerate(records) if i not in bad])
    one = tree(dedup([tmp_path / "in"], tmp_path / "one"))
    with_bad = _records(kind.partition(".")[0],
                        [killing.get(i, row) for i, row in enumerate(rows)])
    _pack(tmp_path / f"in/c.{kind}", with_bad)
    assert run(tmp_path / "in", tmp_path / "two", "--io", io) == 3
    two = tree(tmp_path / "two")
    assert two.pop("rejected.tsv").decode().splitlines() == [
        f"{place}\t{_stage.SKIPPED}" for place in
        (f"{tmp_path}/in/c.{kind}:{i + 1}" if kind == "jsonl" else
         f"{tmp_path}/in/c.{kind}@{sum(map(len, with_bad[:i]))}" for i in bad)]
    assert one.pop("rejected.tsv") == b""
    assert two == one
    told = json.loads((tmp_path / "two/spark.json").read_text())["quarantined"]
    assert [t.rsplit("c." + kind, 1)[1][1:] for t in told] == [
        str(i + 1) if kind == "jsonl" else str(sum(map(len, with_bad[:i]))) for i in bad]
    a, b = counts(tmp_path / "one")["counts"], counts(tmp_path / "two")["counts"]
    assert (b["documents"], b["rejected"]) == (a["documents"] + 2, 2)
    assert b["kept"] + b["dropped"] == n - 2


def test_a_text_that_kills_its_worker_is_left_out(spark, tmp_path):
    """A file is a document, among others of one task."""
    (tmp_path / "in").mkdir()
    for i, text in enumerate(texts(18, 30)):
        (tmp_path / f"in/{i:02}.txt").write_text(text)
    one = tree(dedup([tmp_path / "in"], tmp_path / "one"))
    (tmp_path / "in/11x.txt").write_text(KILLER)
    assert run(tmp_path / "in", tmp_path / "two") == 3
    two = tree(tmp_path / "two")
    assert two.pop("rejected.tsv").decode() == f"{tmp_path}/in/11x.txt\t{_stage.SKIPPED}\n"
    assert one.pop("rejected.tsv") == b""
    assert two == one
    told = json.loads((tmp_path / "two/spark.json").read_text())["quarantined"]
    assert told == [f"{tmp_path}/in/11x.txt"]


def test_the_program_tries_again_on_one_machine():
    assert program._with_retries("local") == "local[1,4]"
    assert program._with_retries("local[2]") == "local[2,4]"
    assert program._with_retries("local[*]") == "local[*,4]"
    for master in ("local[2,1]", "local-cluster[2,1,512]", "spark://h:7077", "yarn"):
        assert program._with_retries(master) == master


def test_a_folder_for_work_is_needed_on_a_cluster(spark, monkeypatch):
    df = spark.createDataFrame([("a", "b")], "id string, text string")
    monkeypatch.setattr(spark.sparkContext, "master", "spark://somewhere:7077")
    with pytest.raises(neardup.Error, match="work="):
        spark_dedup(df)


def test_hadoop_folders(spark, tmp_path):
    """The way to hdfs:// and s3a://, over file://."""
    f = store.HadoopFolder(spark, f"file://{tmp_path}/place")
    f.make()
    f.write("a.json", "{}")
    f.write("a.json", '{"x": 1}')
    assert f.read("a.json") == '{"x": 1}'
    (tmp_path / "x").write_bytes(b"0123456789")
    f.put(str(tmp_path / "x"), "x")
    assert f.sizes("")["x"] == 10
    f.gather("sub/y", [(f.child_uri("x"), 2, 3), (f.child_uri("x"), 0, 1)])
    assert (tmp_path / "place/sub/y").read_bytes() == b"2340"
    f.take("x", "z")
    f.take("x", "z")  # was done before
    assert "z" in f.names() and "x" not in f.names()
    f.gather("old/a/b", [(f.child_uri("z"), 0, 2)])
    f.gather("old/c", [(f.child_uri("z"), 0, 3)])
    f.gather("new/c", [(f.child_uri("z"), 0, 1)])  # a move that was killed
    f.take("old", "new")
    assert f.files("new") == {"a/b": 2, "c": 3} and not f.exists("old")
    f.remove("sub")
    assert not f.exists("sub/y")
