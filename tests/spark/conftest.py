"""A session of Spark's for all tests, corpora, and the one-machine command."""
import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
KILLER = "this text kills its worker"

if not shutil.which("java"):
    pytest.skip("no Java", allow_module_level=True)
pytest.importorskip("pyspark")

import neardup  # noqa: E402

COMMAND = Path(neardup.__file__).with_name("neardup-command")


@pytest.fixture(scope="session")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["NEARDUP_TEST_CRASH"] = KILLER
    from pyspark.sql import SparkSession

    from neardup.spark import __main__ as program

    builder = SparkSession.builder
    for name, value in program.LOCAL.items():
        builder = builder.config(name, value)
    session = (builder.master("local[2,3]").appName("neardup tests")
               .config("spark.ui.enabled", "false")
               .config("spark.ui.showConsoleProgress", "false")
               .config("spark.driver.host", "127.0.0.1")
               .config("spark.driver.bindAddress", "127.0.0.1")
               .config("spark.sql.shuffle.partitions", "3")
               .getOrCreate())
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def texts(seed, n):
    """Copies, near copies and families of many, among unrelated texts."""
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(5000)]
    out = []
    family = [rng.choice(words) for _ in range(80)]
    for i in range(n):
        kind = rng.random()
        if out and kind < 0.1:
            text = rng.choice(out)
        elif kind < 0.3:
            w = list(family)
            w[rng.randrange(len(w))] = rng.choice(words)
            text = " ".join(w)
        elif out and kind < 0.5:
            w = rng.choice(out).split()
            for _ in range(rng.randrange(1, 5)):
                w[rng.randrange(len(w))] = rng.choice(words)
            text = " ".join(w)
        else:
            text = " ".join(rng.choice(words) for _ in range(rng.randrange(30, 150)))
        out.append(text)
    return out


def write_jsonl(path, seed, n):
    rng = random.Random(seed)
    rows = [{"id": f"d{i}", "text": t, "score": rng.randrange(9)}
            for i, t in enumerate(texts(seed, n))]
    with open(path, "w") as f:
        for row in rows:
            f.write(json.dumps(row) + "\n")
    return rows


def dedup(inputs, out, *options):
    told = subprocess.run([COMMAND, "dedup", *map(str, inputs), "-o", str(out),
                           *map(str, options)], capture_output=True, text=True)
    assert told.returncode in (0, 3), told.stderr
    return out


def tree(folder):
    """Every file of a result but those with times in them."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(Path(folder).rglob("*"))
            if p.is_file() and p.name not in ("summary.json", "spark.json", "report.html")}


def page(folder):
    """report.html without what a run cost, the command, and links, which only one machine shows."""
    text = (Path(folder) / "report.html").read_text("utf-8")
    text = re.sub(r'<section id="(cost|again)">.*?</section>', "", text, flags=re.S)
    return re.sub(r',"u":"[^"]*"', "", text)


def counts(folder):
    return json.loads((Path(folder) / "summary.json").read_text())
