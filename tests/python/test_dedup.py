"""dedup and pairs over everything that texts may be."""
import json
import signal
import subprocess
import sys
import threading
import time
import warnings

import neardup
import numpy
import pandas
import polars
import pyarrow
import pytest
from conftest import ROOT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TEXTS = ["the quick brown fox jumps over the lazy dog today", "nothing of it is here, not a word", None,
         "The quick, brown fox jumps over the lazy dog today!", "", "été à la plage où il fait beau 中文"]
KEEP = [True, True, True, False, True, True]
CLUSTER = [0, 1, 2, 0, 4, 5]


def datasets_of(texts):
    import datasets
    return datasets.Dataset.from_dict({"text": texts})


FORMS = {
    "list": list,
    "tuple": tuple,
    "generator": lambda t: (x for x in t),
    "string": pyarrow.array,
    "large_string": lambda t: pyarrow.array(t, pyarrow.large_string()),
    "string_view": lambda t: pyarrow.array(t, pyarrow.string_view()),
    "dictionary": lambda t: pyarrow.array(t).dictionary_encode(),
    "slice": lambda t: pyarrow.array(["x", "y", None] + t + ["z"]).slice(3, len(t)),
    "view slice": lambda t: pyarrow.array(["x"] + t, pyarrow.string_view()).slice(1),
    "chunks": lambda t: pyarrow.chunked_array([t[:2], [], t[2:3], t[3:]], pyarrow.string()),
    "table": lambda t: pyarrow.table({"id": range(len(t)), "text": t}),
    "batch": lambda t: pyarrow.RecordBatch.from_pydict({"n": range(len(t)), "text": t}).slice(0),
    "struct": lambda t: pyarrow.table({"n": [0] + [1] * len(t), "text": ["x"] + t}).slice(1)
                               .to_struct_array(),
    "reader": lambda t: pyarrow.table({"text": t}).to_reader(max_chunksize=2),
    "one text column": lambda t: pyarrow.table({"id": range(len(t)), "content": t}),
    "polars series": polars.Series,
    "polars frame": lambda t: polars.DataFrame({"text": t}),
    "pandas series": pandas.Series,
    "pandas frame": lambda t: pandas.DataFrame({"text": t}),
    "pandas strings": lambda t: pandas.Series(t, dtype="string"),
    "numpy": lambda t: numpy.array(t, dtype=object),
    "dataset": datasets_of,
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(form):
    result = neardup.dedup(FORMS[form](TEXTS))
    assert result.keep == KEEP and result.cluster == CLUSTER
    assert result.pairs == [(0, 3, 1.0)]
    assert result.summary["documents"] == 5 and result.summary["others"] == 1
    assert neardup.pairs(FORMS[form](TEXTS)) == [(0, 3, 1.0)]


def test_arrow_is_not_copied():
    """The library reads where pyarrow's buffers lie: a job over much text needs little memory."""
    code = """if 1:
        import resource, neardup, pyarrow
        texts = pyarrow.array(["word%d " % i * 2000 for i in range(20000)], pyarrow.large_string())
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        neardup.dedup(texts, threads=1)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        print(grown / texts.nbytes)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.2


def test_result_goes_back_to_arrow():
    table = pyarrow.table({"text": TEXTS, "n": range(len(TEXTS))})
    result = neardup.dedup(table)
    assert table.filter(pyarrow.array(result.keep))["n"].to_pylist() == [0, 1, 2, 4, 5]
    assert pyarrow.array(result.cluster).type == pyarrow.uint32()
    assert pyarrow.table(result.pairs).to_pylist() == [{"a": 0, "b": 3, "similarity": 1.0}]
    frame = polars.DataFrame({"text": TEXTS})
    assert len(frame.filter(polars.Series(result.keep))) == 5
    assert polars.DataFrame(result.pairs).columns == ["a", "b", "similarity"]
    assert numpy.asarray(result.keep).tolist() == KEEP
    assert numpy.asarray(result.cluster).tolist() == CLUSTER
    assert memoryview(result.similarity).tolist()[3] == 1.0
    assert result.keep[-1] and result.keep[1:3] == [True, True] and len(result) == 6
    with pytest.raises(IndexError):
        result.keep[6]


def test_arrays_outlive_the_result():
    keep = [pyarrow.array(neardup.dedup([f"text number {i}"] * 50).keep) for i in range(50)]
    assert all(k.to_pylist() == [True] + [False] * 49 for k in keep)
    pairs = pyarrow.table(neardup.pairs(["a b c"] * 30))
    assert pairs.num_rows == 435
    pairs.validate(full=True)


def test_empty_inputs_give_empty_results():
    for nothing in ([], pyarrow.array([], pyarrow.string()), polars.Series([], dtype=polars.String),
                    pyarrow.table({"text": pyarrow.array([], pyarrow.string_view())}),
                    pyarrow.array([], pyarrow.null()), pyarrow.nulls(3)):
        result = neardup.dedup(nothing)
        assert list(result.keep) == [True] * len(nothing) and len(result.pairs) == 0
        pyarrow.array(result.keep).validate(full=True)


def test_files_give_what_the_command_gives(examples, tmp_path):
    result = neardup.dedup(examples)
    subprocess.run([ROOT / "build/neardup", "dedup", str(examples), "-o", tmp_path / "out"], check=True,
                   capture_output=True)
    lines = [line.split("\t") for line in (tmp_path / "out/clusters.tsv").read_text().splitlines()]
    shown = [[result.ids[i], result.ids[c], "kept" if k else "dropped", f"{s:.6f}"]
             for i, (c, k, s) in enumerate(zip(result.cluster, result.keep, result.similarity))
             if list(result.cluster).count(c) > 1]
    assert shown == lines
    assert neardup.dedup(str(examples)).keep == result.keep
    assert neardup.dedup([examples]).keep == result.keep
    assert len(neardup.pairs(examples)) == 34
    summary = neardup.dedup_files(examples, tmp_path / "again")
    assert summary["kept"] == 40
    assert (tmp_path / "again/pairs.tsv").read_bytes() == (tmp_path / "out/pairs.tsv").read_bytes()
    assert neardup.dedup(examples, against=examples / "text").keep.to_pylist().count(False) > 10


def test_same_as_the_command_on_real_texts(data, tmp_path):
    lines = subprocess.run(["zstd", "-dc", data / "gold/terms.jsonl.zst"], capture_output=True,
                           check=True).stdout.splitlines()[:4000]
    (tmp_path / "terms.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    texts = pyarrow.array([json.loads(line)["text"] for line in lines], pyarrow.string_view())
    ids = [json.loads(line)["id"] for line in lines]
    said = subprocess.run([ROOT / "build/neardup", "pairs", tmp_path / "terms.jsonl"],
                          capture_output=True, check=True, text=True).stdout
    found = neardup.pairs(texts)
    assert len(found) > 100
    assert said == "".join(f"{ids[a]}\t{ids[b]}\t{s:.6f}\n" for a, b, s in found)


def test_against_and_values():
    result = neardup.dedup(TEXTS, against=["THE quick brown fox jumps over the lazy dog today"])
    assert result.keep == [False, True, True, False, True, True]
    assert result.cluster[0] == 6 and result.summary["against_documents"] == 1
    newest = neardup.dedup(TEXTS, keep="newest", keep_values=["2001", None, None, "2003", "2002", None])
    assert newest.cluster[0] == 3
    table = pyarrow.table({"text": TEXTS, "score": [1.5, 0, 0, 2.5, 0, 0],
                           "time": pyarrow.array(range(6), pyarrow.timestamp("s")),
                           "url": ["http://a/?q", "", "", "http://a/", "", ""]})
    assert neardup.dedup(table, keep="field:score").cluster[0] == 3
    assert neardup.dedup(table, keep="newest").cluster[0] == 3
    assert neardup.dedup(table, keep="oldest").cluster[3] == 0
    assert neardup.dedup(table, keep="url").cluster[0] == 3
    with pytest.raises(neardup.UsageError, match="no column 'rank'"):
        neardup.dedup(table, keep="field:rank")
    with pytest.raises(neardup.UsageError, match="2 values for 6 texts"):
        neardup.dedup(TEXTS, keep="newest", keep_values=["1", "2"])


def test_rejected_texts_are_told():
    with pytest.warns(neardup.RejectedWarning, match="1 documents were rejected, e.g. 1: "):
        result = neardup.dedup(["a b c", "long " * 100, "a b c"], max_document=100)
    assert result.keep == [True, False, False]
    assert result.rejected == [(1, "longer than max_document (100 bytes)")]
    s = result.summary
    assert s["documents"] == s["kept"] + s["dropped"] + s["rejected"] == 3


def test_progress_is_called_and_may_stop():
    seen = []
    neardup.dedup(["a b c d e f"] * 1000, progress=lambda *p: seen.append(p))
    assert {"read", "find"} <= {p[0] for p in seen}
    assert all(p[4] >= 0 for p in seen)

    def stop(stage, *rest):
        raise KeyError("enough")
    with pytest.raises(KeyError, match="enough"):
        neardup.dedup(["a b c d e f"] * 1000, progress=stop)


def test_other_threads_run_meanwhile():
    """The GIL is free: a thread counts while the job runs."""
    texts = pyarrow.array([f"{i} " * 400 for i in range(20000)])
    count, done = 0, threading.Event()

    def tick():
        nonlocal count
        while not done.is_set():
            count += 1
            time.sleep(0.001)
    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    neardup.dedup(texts, threads=1)
    seconds = time.monotonic() - began
    done.set()
    thread.join()
    assert count > seconds * 50


def test_ctrl_c_stops_it():
    code = """if 1:
        import neardup, pyarrow, sys
        texts = pyarrow.array(["%d " % (i % 7) * 3000 + str(i) for i in range(40000)],
                              pyarrow.large_string())
        print("ready", flush=True)
        try:
            neardup.dedup(texts, threads=1, method="exact")
        except KeyboardInterrupt:
            print("stopped")
    """
    job = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert job.stdout.readline() == "ready\n"
    time.sleep(0.4)
    began = time.monotonic()
    job.send_signal(signal.SIGINT)
    said, _ = job.communicate(timeout=60)
    assert said == "stopped\n" and time.monotonic() - began < 10


def test_many_threads_at_once():
    found = []
    threads = [threading.Thread(target=lambda: found.append(neardup.dedup(TEXTS).keep.to_pylist()))
               for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert found == [KEEP] * 8


# --- whatever is passed -------------------------------------------------------

class Wrong:
    def __init__(self, value):
        self.value = value

    def __arrow_c_array__(self, requested_schema=None):
        return self.value

    __arrow_c_stream__ = None


class WrongArray(Wrong):
    def __getattribute__(self, name):
        if name == "__arrow_c_stream__":
            raise AttributeError
        return super().__getattribute__(name)


class WrongStream:
    def __arrow_c_stream__(self, requested_schema=None):
        return pyarrow.array(["a"]).__arrow_c_array__()[0]


def damaged(kind, offsets):
    size = numpy.int32 if kind == pyarrow.string() else numpy.int64
    return pyarrow.Array.from_buffers(
        kind, len(offsets) - 1, [None, pyarrow.py_buffer(numpy.array(offsets, size)),
                                 pyarrow.py_buffer(b"abcdefgh")])


@pytest.mark.parametrize("bad", [
    5, object(), [1], [b"bytes"], [["x"]], ["\ud800"], pyarrow.array([1, 2]), pyarrow.table({"a": [1]}),
    pyarrow.table({"text": [1.5]}), WrongArray(3), WrongArray((1, 2)), WrongArray(()), WrongStream(),
    damaged(pyarrow.string(), [0, 5, 2]), damaged(pyarrow.large_string(), [0, 7, 5, 6]),
    pyarrow.array([["a"]]), pyarrow.array([b"x"]), None, 1.5, [pandas.NA, 7],
], ids=lambda x: type(x).__name__)
def test_bad_input_raises_our_errors(bad):
    with pytest.raises(neardup.Error):
        neardup.dedup(bad)


def test_place_and_reason_are_told():
    with pytest.raises(neardup.DataError, match=r"texts\[2\] is int, not str"):
        neardup.dedup(["a", "b", 3])
    with pytest.raises(neardup.DataError, match=r"texts\[1\] cannot be encoded as UTF-8"):
        neardup.dedup(["a", "\udfff"])
    with pytest.raises(neardup.DataError, match="text 1 of a chunk ends before it begins"):
        neardup.dedup(damaged(pyarrow.string(), [0, 5, 2]))
    with pytest.raises(neardup.IOFailure, match="nowhere"):
        neardup.dedup("nowhere")
    used = pyarrow.table({"text": ["a"]}).to_reader().__arrow_c_stream__()

    class Again:
        def __arrow_c_stream__(self, requested_schema=None):
            return used
    neardup.dedup(Again())
    with pytest.raises(neardup.DataError, match="stream"):
        neardup.dedup(Again())
        neardup.dedup(Again())


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda x: st.lists(x, max_size=5) | st.dictionaries(st.text(max_size=3), x, max_size=3), max_leaves=8)
words = st.sampled_from(["a", "b", "c", "the", "été", "中", "", "x1", " ", "\n", "A", "\0"])
texts = st.lists(st.none() | st.lists(words, max_size=12).map(" ".join) | st.text(max_size=20), max_size=12)
quick = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(anything)
def test_fuzz_texts(thing):
    if isinstance(thing, str):
        return  # a path
    try:
        result = neardup.dedup(thing, threads=1)
    except neardup.Error:
        return
    assert len(result.keep) == len(list(thing))


@quick
@given(st.dictionaries(st.sampled_from([r for r in neardup.options() if r not in ("tmp", "memory", "against")]),
                       anything | st.sampled_from(["minhash", "exact", "words:2", "star", "first", "0.5", 0.5, 3]),
                       max_size=3))
def test_fuzz_options(options):
    if "threads" in options:
        options["threads"] = str(options["threads"])[:1]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", neardup.RejectedWarning)
            neardup.dedup(["a b c d", "a b c d e"], **options)
    except (neardup.Error, TypeError) as e:
        assert isinstance(e, neardup.Error) or "multiple values" in str(e)


@quick
@given(texts, st.sampled_from(["minhash", "exact", "join"]), st.sampled_from(["words:2", "chars:3"]))
def test_fuzz_layouts_agree(items, method, shingle):
    """Every layout gives what the list gives, and what the definition says."""
    def run(x):
        r = neardup.dedup(x, 0.7, method=method, shingle=shingle, threads=1, recall=0.99)
        return r.keep.to_pylist(), r.cluster.to_pylist(), r.pairs.to_pylist()
    kept, cluster, pairs = run(items)
    for kind in (pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()):
        assert run(pyarrow.array(items, kind)) == (kept, cluster, pairs)
    for i, c in enumerate(cluster):
        assert kept[i] == (c == i) and kept[c] and c <= i
    for a, b, s in pairs:
        assert a < b and 0.7 <= s <= 1 and cluster[a] != a or cluster[b] != b
