#!/usr/bin/env python3
"""Opens the pages that neardup writes in a real browser; speaks TAP.

tests/browser/run.py [--neardup PATH]

Chromium is driven by playwright-core, accessibility is judged by axe-core; both
come from npm and go below build/browser. Where Node.js, Chromium or the packages
cannot be had, everything is skipped, and says why.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HOME = ROOT / "build/browser"
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
SECONDS = 240  # a guard against hanging

BAD = "</script><script>window.hit=1</script><img src=x onerror='window.hit=2'>\"'&<b>\u202e\u2028]]>\\ \u0001"


def skip(reason):
    print(f"1..1\nok 1 - pages in a browser # skip {reason}")
    sys.exit(0)


def quietly(*command, **more):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="replace", **more)


def find_browser():
    for name in BROWSERS:
        path = shutil.which(name)
        if path:
            return path
    return None


def prepare():
    """The browser and the packages; installs what is missing."""
    if not (find_browser() and shutil.which("node") and shutil.which("npm")):
        quietly(ROOT / "tools/install-deps", "browser", timeout=240)
    browser = find_browser()
    if not shutil.which("node") or not shutil.which("npm"):
        skip("no Node.js")
    if not browser:
        skip("no Chromium")
    wanted = (HERE / "package.json").read_text("utf-8")
    HOME.mkdir(parents=True, exist_ok=True)
    stamp = HOME / "installed"
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        (HOME / "package.json").write_text(wanted, "utf-8")
        done = quietly("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", cwd=HOME, timeout=180)
        if done.returncode != 0:
            skip("npm cannot install playwright-core and axe-core")
        stamp.write_text(wanted, "utf-8")
    return browser


def write_hostile(path):
    with open(path, "w", encoding="utf-8") as out:
        for group in range(8):
            for i in range(3):
                words = " ".join(f"{BAD} g{group}w{k}" for k in range(60 - i))
                out.write(json.dumps({"id": f"{BAD}{group}-{i}", "text": words,
                                      "url": f"javascript:window.hit=3//{BAD}{group}{i}"}) + "\n")
        out.write(json.dumps({"id": "\u05e9\u05dc\u05d5\u05dd \u202e", "text": "\u05e9\u05dc\u05d5\u05dd"}) + "\n")
        out.write("{ " + BAD + "\n")


def write_sites(path):
    """Pages of three sites, each a few times with other words at the end."""
    with open(path, "w", encoding="utf-8") as out:
        for page in range(60):
            for i in range(1 + page % 5):
                words = [f"p{page}w{k}" for k in range(100)] + [f"end{i}x{k}" for k in range(i * 5)]
                url = f"http://www.site{page % 3}.example/page/{page}?v={i}"
                out.write(json.dumps({"id": f"doc-{page}-{i}", "url": url, "text": " ".join(words)}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--neardup", type=Path, default=ROOT / "build/neardup")
    neardup = parser.parse_args().neardup.resolve()
    browser = prepare()
    with tempfile.TemporaryDirectory(prefix="neardup-browser-") as folder:
        folder = Path(folder)
        write_hostile(folder / "hostile.jsonl")
        write_sites(folder / "sites.jsonl")
        shutil.copytree(ROOT / "examples/corpus", folder / "examples")
        for name, given, more in (("examples", "examples", ["--threshold", "0.5"]), ("sites", "sites.jsonl", []),
                                  ("hostile", "hostile.jsonl", [])):
            quietly(neardup, "dedup", given, "-o", f"out-{name}", *more, cwd=folder)
        (folder / "empty.jsonl").write_text("")
        quietly(neardup, "dedup", "empty.jsonl", "--format", "jsonl", "-o", "out-empty", cwd=folder)
        quietly(neardup, "explain", "art-002", "art-003", "examples", "-o", "explain.html", cwd=folder)
        quietly(neardup, "explain", f"{BAD}0-0", f"{BAD}0-1", "hostile.jsonl", "-o", "bad.html", cwd=folder)
        quietly(neardup, "study", "sources", "sites.jsonl", "-o", "study", cwd=folder)
        for name in ("sampling", "web", "library", "join"):
            quietly(neardup, "study", name, "sites.jsonl", "-o", name, cwd=folder)
        (folder / "run.txt").write_text("".join(f"1 Q0 d{i} {i + 1} {9 - i} r\n" for i in range(9)))
        (folder / "pairs.tsv").write_text("d0\td1\t0.9\nd3\td4\t0.6\n")
        quietly(neardup, "prevalence", "--run", "run.txt", "--pairs", "pairs.tsv", "-o", "prevalence", cwd=folder)
        env = {**os.environ, "NODE_PATH": str(HOME / "node_modules"), "HOME": str(folder)}
        cases = subprocess.Popen(["node", HERE / "pages.js", browser, folder, neardup], env=env,
                                 start_new_session=True)
        try:
            return cases.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(cases.pid, signal.SIGKILL)  # the browser, too
            print(f"not ok - stopped after {SECONDS} s")
            return 1


if __name__ == "__main__":
    sys.exit(main())
