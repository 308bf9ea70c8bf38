"""Parquet files and datasets, through the command and the functions."""
import json
import subprocess
import sys

import neardup
import pyarrow
import pyarrow.parquet
import pytest
from conftest import ROOT
from neardup import parquet


def command(*words, status=0):
    done = subprocess.run([sys.executable, "-m", "neardup", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    return done


@pytest.fixture
def articles(examples):
    lines = (examples / "articles.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def table(articles):
    n = len(articles)
    return pyarrow.table({
        "id": [a["id"] for a in articles], "text": [a["text"] for a in articles],
        "tags": [["x", "y"][: i % 3] for i in range(n)], "score": [i / 7 for i in range(n)],
        "nested": [{"a": i, "b": None} for i in range(n)],
    }).replace_schema_metadata({"origin": "here"})


def test_parquet_gives_what_jsonl_gives(table, examples, tmp_path):
    pyarrow.parquet.write_table(table, tmp_path / "data.parquet", row_group_size=5, compression="zstd")
    done = command("dedup", tmp_path / "data.parquet", "-o", tmp_path / "out")
    assert "kept" in done.stderr
    assert command("dedup", "--quiet", tmp_path / "data.parquet", "-o", tmp_path / "silent").stderr == ""
    assert (tmp_path / "silent/pairs.tsv").read_bytes() == (tmp_path / "out/pairs.tsv").read_bytes()
    subprocess.run([ROOT / "build/neardup", "dedup", examples / "articles.jsonl", "-o", tmp_path / "want"],
                   check=True, capture_output=True)
    for name in ("clusters.tsv", "pairs.tsv", "rejected.tsv"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "want" / name).read_bytes(), name
    assert (tmp_path / "out/pairs.tsv").stat().st_size > 0
    kept = pyarrow.parquet.read_table(tmp_path / "out/kept/data.parquet")
    ids = [json.loads(x)["id"] for x in (tmp_path / "want/kept/articles.jsonl").read_text("utf-8").splitlines()]
    assert kept["id"].to_pylist() == ids
    mask = pyarrow.array([i in set(ids) for i in table["id"].to_pylist()])
    assert kept.equals(table.filter(mask)) and kept.schema.metadata[b"origin"] == b"here"
    file = pyarrow.parquet.ParquetFile(tmp_path / "out/kept/data.parquet")
    assert file.metadata.row_group(0).column(0).compression == "ZSTD"
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert summary["documents"] == len(table) == summary["kept"] + summary["dropped"]
    said = command("pairs", tmp_path / "data.parquet").stdout
    want = subprocess.run([ROOT / "build/neardup", "pairs", examples / "articles.jsonl"], capture_output=True,
                          text=True, check=True).stdout
    assert said == want


def test_folders_options_and_batches(table, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    halves = table.rename_columns(["key", "content", "tags", "score", "nested"])
    pyarrow.parquet.write_table(halves.slice(0, 9), folder / "a.parquet")
    pyarrow.parquet.write_table(halves.slice(9), folder / "sub/b.parquet")
    monkeypatch.setattr(parquet, "BATCH", 3)
    monkeypatch.setattr(parquet, "GROUP_BYTES", 1)
    summary = neardup.dedup_files(folder, tmp_path / "out", text_field="content", id_field="key",
                                  keep="field:score")
    whole = neardup.dedup(table, keep="field:score")
    kept = [pyarrow.parquet.read_table(tmp_path / "out/kept/data" / n) for n in ("a.parquet", "sub/b.parquet")]
    got = kept[0]["key"].to_pylist() + kept[1]["key"].to_pylist()
    assert got == table.filter(pyarrow.array(whole.keep))["id"].to_pylist()
    assert summary["files"] == 2 and len(got) < len(table)
    assert neardup.dedup(folder, text_field="content", keep="field:score").keep == whole.keep
    assert neardup.pairs(folder, text_field="content") == neardup.pairs(table)


def test_rows_without_ids_have_places(tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a b c", None, "d e f", "A b, c"]}), tmp_path / "x.parquet")
    command("dedup", tmp_path / "x.parquet", "-o", tmp_path / "out")
    x = tmp_path / "x.parquet"
    assert (tmp_path / "out/pairs.tsv").read_text() == f"{x}:1\t{x}:4\t1.000000\n"
    assert pyarrow.parquet.read_table(tmp_path / "out/kept/x.parquet")["text"].to_pylist() == ["a b c", None, "d e f"]


def test_ids_are_escaped(tmp_path):
    data = pyarrow.table({"id": ["a\t\x1b\\", "b\u202e\n"], "text": ["a b c", "A b, c"]})
    pyarrow.parquet.write_table(data, tmp_path / "x.parquet")
    command("dedup", tmp_path / "x.parquet", "-o", tmp_path / "out")
    assert (tmp_path / "out/pairs.tsv").read_text() == "a\\t\\x1b\\\\\tb\\xe2\\x80\\xae\\n\t1.000000\n"


def test_datasets_folders(table, tmp_path):
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict(table.select(["id", "text", "score"]).to_pydict())
    data.save_to_disk(tmp_path / "one", num_shards=3)
    neardup.dedup_files(tmp_path / "one", tmp_path / "out")
    again = datasets.load_from_disk(tmp_path / "out/kept/one")
    want = table.filter(pyarrow.array(neardup.dedup(table).keep))["id"].to_pylist()
    assert again["id"][:] == want and again.features == data.features
    both = datasets.DatasetDict({"train": data, "test": data.select(range(3))})
    both.save_to_disk(tmp_path / "two")
    neardup.dedup_files(tmp_path / "two", tmp_path / "out2")
    again = datasets.load_from_disk(tmp_path / "out2/kept/two")
    assert len(again["test"]) + len(again["train"]) == len(want)


def test_failures_leave_nothing(table, tmp_path):
    bad = tmp_path / "bad.parquet"
    pyarrow.parquet.write_table(table, bad)
    raw = bytearray(bad.read_bytes())
    raw[20:400] = b"\xff" * 380
    bad.write_bytes(raw)
    done = command("dedup", bad, "-o", tmp_path / "out", status=1)
    assert "bad.parquet" in done.stderr and "Traceback" not in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.parquet"]
    good = tmp_path / "good.parquet"
    pyarrow.parquet.write_table(table, good)
    with pytest.raises(neardup.UsageError, match="no column 'body'"):
        neardup.dedup_files(good, tmp_path / "out", text_field="body")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    with pytest.raises(neardup.StateError, match="not empty"):
        neardup.dedup_files(good, tmp_path / "full")
    with pytest.raises(neardup.UsageError, match="neither Parquet"):
        neardup.dedup_files([good, ROOT / "README.md"], tmp_path / "out")
    assert command("dedup", good, "-o", tmp_path / "out", "--treshold", "1", status=2)


def rows_of(path):
    """What the package reads of a file: its rows, or the message of the failure."""
    source = parquet.Source(str(path), path.name, False)
    try:
        return pyarrow.Table.from_batches(source.batches(None), schema=source.schema()).to_pylist()
    except neardup.Error as e:
        return str(e)


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none"])
def test_damage_in_pages_is_never_other_data(table, tmp_path, compression):
    """Kept files have checksums, and inputs that have them are checked: page by page."""
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet", row_group_size=5, compression=compression)
    neardup.dedup_files(tmp_path / "in.parquet", tmp_path / "out")
    kept = (tmp_path / "out/kept/in.parquet").read_bytes()
    footer = len(kept) - 8 - int.from_bytes(kept[-8:-4], "little")
    hit = tmp_path / "hit.parquet"
    hit.write_bytes(kept)
    whole = rows_of(hit)
    told = 0
    for at in range(4, footer, 7 if footer < 5000 else 31):
        damaged = bytearray(kept)
        damaged[at] ^= 0x10
        hit.write_bytes(damaged)
        got = rows_of(hit)
        assert got == whole or (isinstance(got, str) and str(hit) in got), at
        told += got != whole
    assert told > 50
    # A page header has no checksum. Of a type that no reader knows, the page is passed over.
    column = pyarrow.parquet.ParquetFile(tmp_path / "out/kept/in.parquet").metadata.row_group(0).column(0)
    damaged = bytearray(kept)
    assert damaged[column.data_page_offset] == 0x15
    damaged[column.data_page_offset + 1] ^= 0x10
    hit.write_bytes(damaged)
    assert "0 readable rows" in rows_of(hit)


def test_a_damaged_input_ends_the_job(table, tmp_path):
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet", compression="none", write_page_checksum=True)
    raw = bytearray((tmp_path / "in.parquet").read_bytes())
    at = raw.index(table["text"][3].as_py()[:40].encode())
    raw[at] ^= 1
    (tmp_path / "in.parquet").write_bytes(raw)
    done = command("dedup", tmp_path / "in.parquet", "-o", tmp_path / "out", status=1)
    assert str(tmp_path / "in.parquet") in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_finished_result_is_known_again(table, examples, tmp_path):
    x, out = tmp_path / "x.parquet", tmp_path / "out"
    pyarrow.parquet.write_table(table, x)
    neardup.dedup_files(x, out)
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in out.rglob("*") if p.is_file()}
    assert "complete already" in command("dedup", x, "-o", out, "--threads", 1).stderr
    assert neardup.dedup_files(x, out)["complete"]
    assert {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in out.rglob("*") if p.is_file()} == before
    summary = json.loads((out / "summary.json").read_text())
    assert {f["name"] for f in summary["files"]} == {
        str(p.relative_to(out)) for p in out.rglob("*") if p.is_file() and p.name != "summary.json"}
    with pytest.raises(neardup.StateError, match="there threshold 0.8, now 0.7"):
        neardup.dedup_files(x, out, 0.7)
    kept = out / "kept/x.parquet"
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1])
    with pytest.raises(neardup.StateError, match="kept/x.parquet has another size"):
        neardup.dedup_files(x, out)
    kept.write_bytes(whole[:99] + b"?" + whole[100:])
    text = (out / "summary.json").read_text()
    (out / "summary.json").write_text(text.replace('"sync": "yes"', '"sync": "no"'))
    with pytest.raises(neardup.StateError, match="kept/x.parquet has other contents"):
        neardup.dedup_files(x, out)
    neardup.dedup_files(x, out, 0.7, resume="never")
    assert json.loads((out / "summary.json").read_text())["options"]["threshold"] == "0.7"
    pyarrow.parquet.write_table(table.slice(1), x)
    with pytest.raises(neardup.StateError, match="other input files"):
        neardup.dedup_files(x, out, 0.7)
    # The command of other files and this one know each other's results.
    subprocess.run([ROOT / "build/neardup", "dedup", examples / "articles.jsonl", "-o", tmp_path / "c"],
                   check=True, capture_output=True)
    with pytest.raises(neardup.StateError, match="another run"):
        neardup.dedup_files(x, tmp_path / "c")
    done = subprocess.run([ROOT / "build/neardup", "dedup", examples / "articles.jsonl", "-o", out],
                          capture_output=True)
    assert done.returncode == 1 and not (out / ".neardup").exists()


def test_inputs_and_files_of_others_stay(table, tmp_path):
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    pyarrow.parquet.write_table(table, folder / "x.parquet")
    whole = (folder / "x.parquet").read_bytes()
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    for out in (folder, folder / "sub", tmp_path, tmp_path / "link/new", folder / "x.parquet"):
        for more in ({}, {"force": True, "resume": "never"}):
            with pytest.raises(neardup.UsageError, match="the input"):
                neardup.dedup_files(folder, out, **more)
    mine = tmp_path / "mine"
    (mine / "kept").mkdir(parents=True)
    (mine / "kept/x.parquet").write_text("precious")
    for more in ({}, {"force": True}):
        with pytest.raises(neardup.StateError):
            neardup.dedup_files(folder / "x.parquet", mine, **more)
    assert (mine / "kept/x.parquet").read_text() == "precious"
    (mine / "kept").rename(mine / "other")
    neardup.dedup_files(folder / "x.parquet", mine, force=True)
    assert (mine / "other/x.parquet").read_text() == "precious" and (mine / "summary.json").exists()
    assert (folder / "x.parquet").read_bytes() == whole and list((folder / "sub").iterdir()) == []
