"""The stages, run one after another over arbitrary cuts of the input, give the
bytes of the one-machine command."""
import json
import os
import random
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

numpy = pytest.importorskip("numpy")

import neardup  # noqa: E402
from neardup import _stage  # noqa: E402

SECRET = bytes(range(1, _stage.SECRET_BYTES + 1))
NONE = 0xFFFFFFFF
COMMAND = Path(neardup.__file__).with_name("neardup-command")


def words(rng, n):
    return " ".join(rng.choice(VOCABULARY) for _ in range(n))


VOCABULARY = [f"w{i}" for i in range(3000)]


def make_corpus(folder, seed, documents=600):
    """JSONL, packed JSONL, lines and a damaged record; copies and near copies."""
    rng = random.Random(seed)
    texts = []
    for i in range(documents):
        kind = rng.random()
        if texts and kind < 0.15:
            text = rng.choice(texts)
        elif texts and kind < 0.5:
            w = rng.choice(texts).split()
            for _ in range(rng.randrange(1, 6)):
                w[rng.randrange(len(w))] = rng.choice(VOCABULARY)
            text = " ".join(w)
        else:
            text = words(rng, rng.randrange(20, 200))
        texts.append(text)
    texts += ["", "...", "one", "one"]
    third = len(texts) // 3
    with open(folder / "a.jsonl", "w") as f:
        for i, t in enumerate(texts[:third]):
            f.write(json.dumps({"id": f"a{i}", "text": t, "score": rng.randrange(50)}) + "\n")
            if i == 5:
                f.write("{ this is damaged\n\n")
    with open(folder / "b.jsonl", "w") as f:
        for i, t in enumerate(texts[third:2 * third]):
            f.write(json.dumps({"id": f"b{i % 50}", "text": t, "score": rng.randrange(50)}) + "\n")
    subprocess.run(["gzip", "-f", folder / "b.jsonl"], check=True)
    (folder / "text").mkdir()
    for i, t in enumerate(texts[2 * third:]):
        (folder / "text" / f"{i:03}.txt").write_text(t)


def command(*arguments):
    return subprocess.run([COMMAND, *map(str, arguments)], capture_output=True)


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes()
            for p in sorted(folder.rglob("*")) if p.is_file()}


def walk(folder, out, options, places=3, edge_places=2, seed=0):
    """The whole job, stage by stage, blocks taken in any order."""
    stage = _stage.Stage(options, True, SECRET)
    rng = random.Random(seed)
    plan = stage.plan([folder], out)
    blocks = []
    for t in range(len(plan.tasks())):
        blocks += stage.read(plan, t, t + 1, rng.random() < 0.5)
    blocks.sort(key=lambda b: (b["task"], b["part"]))
    paths = [f[0] for f in plan.files()]
    first, lines = 0, {}
    for b in blocks:
        b["first"] = first
        first += b["docs"]
        b["base"] = 0
        if b["range"]:
            file = plan.tasks()[b["task"]][1]
            b["base"] = lines.get(file, 0)
            lines[file] = b["base"] + b["lines"]
    n = first
    shuffled = rng.sample(blocks, len(blocks))
    # copies
    digests, ids = _stage.Spread(places, 8), _stage.Spread(places, 4)
    at = [[] for _ in range(places)]
    for b in shuffled:
        stage.digests(digests, ids, b["image"], b["first"])
        for place, run in digests.runs():
            at[place].append(run)
    same = numpy.arange(n, dtype=numpy.uint32)
    ranks = numpy.zeros(n, numpy.uint64)
    for b in blocks:
        r, tokens = stage.ranks(b["image"], b["docs"])
        ranks[b["first"]:b["first"] + b["docs"]] = r
        same[b["first"]:b["first"] + b["docs"]][tokens == 0] = NONE
    for runs in at:
        pairs = numpy.frombuffer(stage.copies(runs), numpy.uint32).reshape(-1, 2)
        same[pairs[:, 0]] = pairs[:, 1]
    settle = _stage.Settle(stage, same, ranks if stage.facts["ranked"] else None, str(out.parent))
    position = settle.positions()
    # candidates
    kinds_of_keys = stage.facts["keys"]
    keys = _stage.Spread(kinds_of_keys * places, stage.facts["key_bytes"])
    at = [[] for _ in range(kinds_of_keys * places)]
    for b in shuffled:
        stage.keys(keys, b["image"], position[b["first"]:b["first"] + b["docs"]], places)
        if rng.random() < 0.5:
            for place, run in keys.runs():
                at[place].append(run)
    for place, run in keys.runs():
        at[place].append(run)
    edges = [[] for _ in range(edge_places)]
    for place, runs in enumerate(at):
        if not runs:
            continue
        spread = _stage.Spread(edge_places, 1)
        stage.group(spread, place // places, runs, n)
        for place, run in spread.runs():
            edges[place].append(run)
    merged = [_stage.run_items(stage.merge(runs, _stage.MERGE_LEAST)) for runs in edges]
    pairs = numpy.concatenate([k for k, _ in merged])
    kinds = numpy.concatenate([v for _, v in merged])
    # texts of those that take part
    def texts_of(wanted):
        texts = {}
        for b in shuffled:
            rows = numpy.array([d - b["first"] for d in wanted
                                if b["first"] <= d < b["first"] + b["docs"]], numpy.uint32)
            data, ends = stage.texts(b["image"], b["texts"], b["texts_sum"], plan, rows, True)
            begin = 0
            for row, end in zip(rows, ends):
                texts[int(row) + b["first"]] = data[begin:int(end)]
                begin = int(end)
        return texts

    def verify(pairs, everything):
        wanted = sorted({int(p) >> 32 for p in pairs} | {int(p) & NONE for p in pairs})
        texts = texts_of(wanted)
        return stage.verify(pairs, numpy.array(wanted, numpy.uint32), [texts[d] for d in wanted],
                            everything)

    settle.verify(pairs, kinds, verify(settle.as_documents(pairs), False))
    settle.finish(verify(settle.cluster(), True))
    wanted = numpy.flatnonzero(settle.wanted()).astype(numpy.uint32)
    names = {}
    for b in shuffled:
        rows = wanted[(wanted >= b["first"]) & (wanted < b["first"] + b["docs"])] - b["first"]
        data, ends = stage.ids(b["image"], paths, b["base"], rows.astype(numpy.uint32))
        begin = 0
        for row, end in zip(rows, ends):
            names[int(row) + b["first"]] = data[begin:int(end)]
            begin = int(end)
    names = [names[int(d)] for d in wanted]
    out.mkdir()
    settle.write_pairs(out / "pairs.tsv", wanted, names)
    settle.write_clusters(out / "clusters.tsv", wanted, names)
    (out / "rejected.tsv").write_bytes(
        b"".join(stage.rejects(b["image"], paths, b["base"]) for b in blocks))
    centre, _ = settle.result()
    dropped = (centre != numpy.arange(n)).astype(numpy.uint8)
    work = out.parent / "work"
    work.mkdir()
    stage.keep(stage.plan([folder], out), [b["image"] for b in blocks], dropped, out / "kept", work)
    return settle.counts()


CASES = [
    {},
    {"threshold": "0.6"},
    {"cluster": "components", "threshold": "0.5"},
    {"keep": "longest"},
    {"keep": "centre", "threshold": "0.6"},
    {"keep": "field:score", "cluster": "components"},
    {"bucket_cap": "3", "threshold": "0.5"},
    {"bucket_cap": "2", "threshold": "0.5", "keep": "shortest"},
    {"shingle": "chars:9", "threshold": "0.7"},
    {"verify": "sketch", "threshold": "0.6"},
    {"verify": "none", "bucket_cap": "3"},
    {"method": "supershingle", "agree": "1"},
    {"method": "simhash", "hamming": "6"},
    {"method": "simhash", "verify": "exact", "keep": "longest"},
    {"method": "projection", "agree_bits": "350"},
    {"method": "combined", "cluster": "components"},
    {"method": "combined-site"},
    {"candidates": "simhash", "confirm": "projection"},
    {"sample": "mod:2", "threshold": "0.5"},
    {"sample": "adaptive:PLAN", "threshold": "0.5"},
]
PLAN = """neardup-plan 1
threshold 0.5
precision 0.9
shingle words:5
tokens words
group 60 1
group - 2
end 2
"""


@pytest.mark.parametrize("options", CASES, ids=lambda o: " ".join(map(str, o.values())) or "plain")
def test_stages_give_the_bytes_of_one_machine(tmp_path, options):
    seed = 7
    folder = tmp_path / "in"
    folder.mkdir()
    make_corpus(folder, seed)
    (tmp_path / "plan").write_text(PLAN)
    options = {k: v.replace("PLAN", str(tmp_path / "plan")) for k, v in options.items()}
    arguments = [x for k, v in options.items() for x in (f"--{k.replace('_', '-')}", v)]
    told = command("dedup", folder, "-o", tmp_path / "one", *arguments)
    assert told.returncode in (0, 3), told.stderr
    counts = walk(folder, tmp_path / "cut", options, places=3, edge_places=5, seed=seed)
    for name in ("pairs.tsv", "clusters.tsv", "rejected.tsv"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name
    assert tree(tmp_path / "cut/kept") == tree(tmp_path / "one/kept")
    summary = json.loads((tmp_path / "one/summary.json").read_text())["counts"]
    assert counts["candidates"] == summary["candidate_pairs"]
    assert counts["pairs"] == summary["pairs"] > 20
    assert counts["clusters"] == summary["clusters"]


def test_a_damaged_part_is_an_error(tmp_path):
    stage = _stage.Stage({}, True, SECRET)
    block = stage.sign(0, 0, pa.array(["some words", None, "more words here"]))
    assert block["docs"] == 3
    bad = bytearray(block["image"])
    bad[-20] ^= 1
    digests, ids = _stage.Spread(1, 8), _stage.Spread(1, 4)
    with pytest.raises(neardup.Error, match="damaged"):
        stage.digests(digests, ids, bytes(bad), 0)
    stage.digests(digests, ids, block["image"], 0)
    run = digests.take(0)
    for cut in (run[:-1], run[:10], b"", run[:30] + bytes([run[30] ^ 1]) + run[31:]):
        with pytest.raises(neardup.Error, match="damaged"):
            stage.copies([cut])
    rows = numpy.array([0], numpy.uint32)
    with pytest.raises(neardup.Error, match="damaged"):
        stage.texts(block["image"], b"x" + block["texts"][1:], block["texts_sum"], None, rows)


def test_what_only_one_machine_can_do_is_refused():
    for options in ({"against": "x"}, {"method": "ppjoin"}, {"family": "linear"}, {"shard": "1/2"}):
        with pytest.raises(neardup.Error, match="one machine"):
            _stage.Stage(options, True, SECRET)
