"""The commands whose power is cut: one row each.

{fs} is the disk that loses its power, {in} a folder with the inputs on another one.
"""

import gzip
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RUNS = 12


class Row:
    """Commands that run one after another, and what they leave on the disk.

    `folders` and `files` are the outputs.  `old` runs first, undisturbed, and is on disk before
    anything is cut.  `synced` is false where the command was told not to wait for the disk.
    `scratch` are folders that must be empty in the end; `inputs_inside` puts the input on the disk.
    `most` bounds the moments of what starts slowly; `needs` is python or spark."""

    def __init__(self, title, steps, folders=(), files=(), old=(), synced=True, scratch=(),
                 inputs_inside=False, slow=False, most=None, needs=None, preload=True):
        self.title, self.steps, self.old, self.synced = title, steps, old, synced
        self.folders, self.files = list(folders), list(files)
        self.scratch, self.inputs_inside = list(scratch), inputs_inside
        self.recognises = title.startswith("dedup")  # its own result, when it is run again
        self.slow, self.most, self.needs, self.preload = slow, most, needs, preload


def words(text):
    return text.split()


def rows(neardup, python):
    """The table.  `python` is the interpreter with the package."""
    n = str(neardup)

    def dedup(more, source="{in}/docs.jsonl", out="{fs}/out"):
        return [n, "dedup", *words(source), "-o", out, *words(more)]

    never = "--resume never"
    runs = ("--run " + " ".join(f"{{in}}/run{i}.txt" for i in range(RUNS))
            + " --qrels {in}/qrels.txt --pairs {in}/groups.tsv")
    yield Row("dedup, JSONL", [dedup("")], ["out"])
    yield Row("dedup, gzip, --keep longest", [dedup("--keep longest", "{in}/docs.jsonl.gz")], ["out"])
    yield Row("dedup, many small files, --keep centre", [dedup("--keep centre", "{in}/files")], ["out"])
    yield Row("dedup, WARC, --cluster components",
              [dedup("--cluster components", "{in}/docs.warc {in}/docs.warc.gz")], ["out"])
    yield Row("dedup, input on the same disk", [dedup("", "{fs}/in/docs.jsonl")], ["out"],
              inputs_inside=True)
    yield Row("dedup, --tmp on the same disk", [dedup("--tmp {fs}/tmp")], ["out"], scratch=["tmp"])
    yield Row("dedup, --memory 16M", [dedup("--memory 16M --method exact")], ["out"])
    yield Row("dedup, --shard 1/2, 2/2, both",
              [dedup("--shard 1/2"), dedup("--shard 2/2"), dedup("")], ["out"])
    yield Row("dedup, --resume never over an older result",
              [dedup(never)], ["out"], old=[dedup("--threshold 0.5")])
    yield Row("dedup, --sync no", [dedup("--sync no")], ["out"], synced=False)
    yield Row("dedup, --sync no over an older result",
              [dedup("--sync no " + never)], ["out"], old=[dedup("--threshold 0.5")], synced=False)
    yield Row("sketch", [[n, "sketch", *words("{in}/docs.jsonl -o {fs}/a.nds")]], files=["a.nds"])
    yield Row("sketch, --sync no", [[n, "sketch", *words("{in}/docs.jsonl -o {fs}/a.nds --sync no")]],
              files=["a.nds"], synced=False)
    yield Row("sketch, --resume never over an older file",
              [[n, "sketch", *words("{in}/docs.jsonl -o {fs}/a.nds --resume never")]],
              files=["a.nds"], old=[[n, "sketch", *words("{in}/less.jsonl -o {fs}/a.nds")]])
    yield Row("merge", [[n, "merge", *words("{in}/one.nds {in}/two.nds -o {fs}/all.nds")]],
              files=["all.nds"])
    yield Row("plan", [[n, "plan", *words("{in}/docs.jsonl --precision 0.9 -o {fs}/a.plan")]],
              files=["a.plan"])
    yield Row("plan, --resume never over an older file",
              [[n, "plan", *words("{in}/docs.jsonl --precision 0.9 -o {fs}/a.plan " + never)]],
              files=["a.plan"],
              old=[[n, "plan", *words("{in}/docs.jsonl --precision 0.8 -o {fs}/a.plan")]])
    yield Row("explain", [[n, "explain", *words("{in}/one.txt {in}/two.txt -o {fs}/page.html")]],
              files=["page.html"])
    yield Row("explain, --resume never over an older page",
              [[n, "explain", *words("{in}/one.txt {in}/two.txt -o {fs}/page.html " + never)]],
              files=["page.html"],
              old=[[n, "explain", *words("{in}/two.txt {in}/one.txt -o {fs}/page.html")]])
    yield Row("study", [[n, "study", "sources", *words("{in}/less.jsonl -o {fs}/out")]], ["out"])
    yield Row("study, --resume never over an older one",
              [[n, "study", "sources", *words("{in}/less.jsonl -o {fs}/out " + never)]], ["out"],
              old=[[n, "study", "sources", *words("{in}/one.jsonl -o {fs}/out")]])
    yield Row("prevalence", [[n, "prevalence", *words(runs + " -o {fs}/out --filter-runs {fs}/unique")]],
              ["out", "unique"])
    yield Row("Parquet, from Python",
              [[python, "-m", "neardup", "dedup", "{in}/docs.parquet", "-o", "{fs}/out"]], ["out"],
              needs="python")
    yield Row("Parquet, --resume never over an older result",
              [[python, "-m", "neardup", "dedup", "{in}/docs.parquet", "-o", "{fs}/out",
                *words(never)]], ["out"], needs="python",
              old=[[python, "-m", "neardup", "dedup", "{in}/docs.parquet", "-o", "{fs}/out",
                    "--threshold", "0.5"]])
    yield Row("Spark, work folder and output",
              [[python, "-m", "neardup.spark", "--master", "local[2]", "--quiet",
                "--conf", "spark.ui.enabled=false", "--conf", "spark.driver.host=127.0.0.1",
                "--conf", "spark.driver.bindAddress=127.0.0.1",
                "--conf", "spark.sql.shuffle.partitions=3", "{in}/less.jsonl", "{fs}/out"]], ["out"],
              needs="spark", slow=True, most=12, preload=False)


def generator():
    program, source = ROOT / "build/bench/generate", ROOT / "bench/generate.c"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        new = program.with_name(f"generate.{os.getpid()}")
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-O3", "-o", new, source, "-lm"], check=True)
        new.rename(program)
    return program


def warc_record(document):
    page = f"<html><body><p>{document['text']}</p></body></html>".encode()
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + page
    head = (f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:{document['id']}>\r\n"
            f"WARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Target-URI: {document['url']}\r\n"
            f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n")
    return head.encode() + http + b"\r\n\r\n"


def make_inputs(folder, neardup, seed):
    """All that the rows read."""
    folder = Path(folder)
    folder.mkdir()
    rng = random.Random(seed)

    def corpus(name, docs, size):
        with open(folder / name, "wb") as out:
            subprocess.run([generator(), "--docs", str(docs), "--bytes", str(size),
                            "--seed", str(seed % 1000 + 1), "--near", "0.2"], check=True, stdout=out)
        return [json.loads(line) for line in (folder / name).read_text().splitlines()]

    documents = corpus("docs.jsonl", 8000, 1500)
    corpus("less.jsonl", 1500, 800)
    with gzip.open(folder / "docs.jsonl.gz", "wb", 1) as out:
        out.write((folder / "docs.jsonl").read_bytes())
    (folder / "files").mkdir()
    for i, document in enumerate(documents[:600]):
        place = folder / "files" / f"{i % 7}"
        place.mkdir(exist_ok=True)
        (place / f"{i}.txt").write_text(document["text"])
    with open(folder / "docs.warc", "wb") as out:
        out.writelines(map(warc_record, documents[:3000]))
    with gzip.open(folder / "docs.warc.gz", "wb", 1) as out:
        out.write(b"".join(map(warc_record, documents[2500:5000])))
    for name, start in (("one", 0), ("two", 4000)):
        part = folder / f"{name}.jsonl"
        part.write_text("".join(json.dumps(d) + "\n" for d in documents[start:start + 4000]))
        subprocess.run([neardup, "sketch", part, "-o", folder / f"{name}.nds"], check=True,
                       capture_output=True)
    text = "\n".join(d["text"] for d in documents[:30])
    (folder / "one.txt").write_text(text)
    (folder / "two.txt").write_text(text.replace(" ", "  ").replace("e", "a", 40))
    for run in range(RUNS):
        with open(folder / f"run{run}.txt", "w") as out:
            for topic in range(40):
                for rank, doc in enumerate(rng.sample(range(2000), 150), 1):
                    out.write(f"{topic} Q0 d{doc} {rank} {1000 - rank} run{run}\n")
    with open(folder / "qrels.txt", "w") as out:
        out.writelines(f"{t} 0 d{d} {rng.randrange(2)}\n" for t in range(40)
                       for d in rng.sample(range(2000), 60))
    with open(folder / "groups.tsv", "w") as out:
        out.writelines(f"d{i}\td{i + 1}\t0.{rng.randrange(50, 99)}\n" for i in range(0, 1600, 2))
    return folder


PARQUET = """
import json, sys, pyarrow, pyarrow.parquet
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
table = pyarrow.table({k: [r.get(k) for r in rows] for k in ("id", "url", "text")})
pyarrow.parquet.write_table(table, sys.argv[2], row_group_size=1000)
"""


class Pythons:
    """The interpreter with the package, made when a row first needs it."""

    def __init__(self, folder):
        self.folder, self.known = Path(folder), {}

    def reason_against(self, need):
        """Why there is none, or None."""
        if need in self.known:
            return self.known[need]
        self.known[need] = self._try(need)
        return self.known[need]

    def _try(self, need):
        if need == "spark" and not shutil.which("java"):
            return "no Java"
        made = subprocess.run([ROOT / "tools/python-env", *(["spark"] if need == "spark" else [])],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if made.returncode:
            return "tools/python-env: " + (made.stderr.strip().splitlines() or ["failed"])[-1]
        if need == "python" and not (self.folder / "docs.parquet").exists():
            subprocess.run([self.interpreter(), "-c", PARQUET, self.folder / "docs.jsonl",
                            self.folder / "docs.parquet"], check=True)
        return None

    @staticmethod
    def interpreter():
        return str(ROOT / "build/venv/bin/python")


if __name__ == "__main__":
    sys.exit("run tests/power/run.py")
