#!/usr/bin/env python3
"""Runs the two largest jobs that one machine should do, and records what they took.

    bench/soak.py                   both, at full size: 45 GB of free disk
    bench/soak.py --documents 1e6   the first one, smaller
    bench/soak.py --write           … and docs/scale.md anew

1. dedup of 10 million documents of 2 KB (20 GB) with --memory 1G, every planted pair looked up
   in the result.
2. All pairs within 3 bits among 100 million 64-bit fingerprints.
"""

import argparse
import os
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True

from bench_tools import Bench, Failed, line, machine

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPORT = os.path.join("docs", "scale.md")
THRESHOLD = 0.8


class DiskWatch(threading.Thread):
    """The most bytes that a folder held, looked at twice a second."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.most, self.over = folder, 0, threading.Event()

    def now(self):
        total = 0
        for where, _, names in os.walk(self.folder):
            for name in names:
                try:
                    total += os.lstat(os.path.join(where, name)).st_blocks * 512
                except OSError:
                    pass  # it was there a moment ago
        return total

    def run(self):
        while not self.over.wait(0.5):
            self.most = max(self.most, self.now())

    def stop(self):
        self.over.set()
        self.join()
        self.most = max(self.most, self.now())
        return self.most


def planted_pairs(path):
    """Planted pairs at or above the threshold: how many, and the ids as one sorted file."""
    wanted = path + ".wanted"
    with open(wanted, "wb") as out:
        chosen = subprocess.Popen(["awk", "-F\t", f"$3 >= {THRESHOLD} {{ print $1 \"\\t\" $2 }}",
                                   path], stdout=subprocess.PIPE)
        subprocess.run(["sort", "-S", "1G"], stdin=chosen.stdout, stdout=out, check=True,
                       env={**os.environ, "LC_ALL": "C"})
    with open(wanted, "rb") as f:
        return sum(1 for _ in f), wanted


def found_clusters(clusters, wanted):
    """How many of the wanted pairs have both documents in one cluster."""
    program = (
        'FILENAME == ARGV[1] { cluster[$1] = $2; next }'
        '($1 in cluster) && cluster[$1] == cluster[$2] { n++ } END { print n + 0 }')
    done = subprocess.run(["awk", "-F\t", program, clusters, wanted], capture_output=True,
                          text=True, check=True)
    return int(done.stdout)


def soak_dedup(b, documents):
    print(f"making {documents:,} documents", flush=True)
    path = b.corpus(documents, truth=True)
    size = os.path.getsize(path)
    command = b.dedup(path, os.cpu_count(), "--memory", "1G")
    watch = DiskWatch(b.out)
    print(" ".join(command), flush=True)
    watch.start()
    result = b.measure(command)
    most = watch.stop()
    pairs, wanted = planted_pairs(path + ".truth")
    found = found_clusters(os.path.join(b.out, "clusters.tsv"), wanted)
    kept = sum(os.path.getsize(os.path.join(w, n))
               for w, _, names in os.walk(os.path.join(b.out, "kept")) for n in names)
    with open(b.log, encoding="utf-8", errors="replace") as f:
        said = f.read().strip().splitlines()
    os.unlink(wanted)
    return [
        f"## {documents:,} documents, {size / 1e9:.1f} GB, in 1 GiB of memory",
        "",
        line(command, result, size) + ".",
        "",
        "| | |",
        "|---|---|",
        f"| time | {result['wall']:.0f} s, {result['cpu']:.0f} s CPU |",
        f"| speed | {size / 1e6 / result['wall']:.0f} MB/s, "
        f"{documents / result['wall']:,.0f} documents a second |",
        f"| peak memory | {result['peak'] / 2**20:,.0f} MiB |",
        f"| disk, most at once, of it the documents kept | {most / 1e9:.1f} GB, {kept / 1e9:.1f} GB |",
        f"| planted pairs at or above {THRESHOLD} in one cluster | {found:,} of {pairs:,}: "
        f"{found / max(pairs, 1):.4f} |",
        "",
        "What it said:",
        "",
        "```text",
        *said,
        "```",
    ]


def soak_fingerprints(b, fingerprints):
    program = b.program("hamming_bench")
    command = [program, str(fingerprints), "3", str(os.cpu_count())]
    print(" ".join(command), flush=True)
    out = os.path.join(b.dir, "soak.txt")
    result = b.measure(command, stdout=out)
    with open(out, encoding="utf-8") as f:
        said = f.read().strip().splitlines()
    os.unlink(out)
    return [
        f"## {fingerprints:,} fingerprints, all pairs within 3 bits",
        "",
        line(command, result) + " (making and sorting them for comparison included).",
        "",
        "```text",
        *said,
        "```",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=float, help="of the first job (1e7; 0: none)")
    parser.add_argument("--fingerprints", type=float, help="of the second job (1e8; 0: none)")
    parser.add_argument("--build", default="build", help="where make built (build)")
    parser.add_argument("--write", action="store_true", help=f"write {REPORT}")
    args = parser.parse_args()
    os.chdir(ROOT)
    given = args.documents is not None or args.fingerprints is not None
    documents = int(args.documents or (0 if given else 10_000_000))
    fingerprints = int(args.fingerprints or (0 if given else 100_000_000))
    b = Bench(args.build, False, 1)
    sections = []
    start = time.monotonic()
    try:
        if documents:
            sections.append(soak_dedup(b, documents))
            b.drop()
        if fingerprints:
            sections.append(soak_fingerprints(b, fingerprints))
    except Failed as error:
        raise SystemExit(f"bench/soak.py: {error}")
    finally:
        b.drop()
    text = "\n\n".join("\n".join(x) for x in sections)
    print(text)
    print(f"\n{time.monotonic() - start:.0f} s in all")
    if args.write:
        head = ["# Scale", "",
                "What the largest jobs of one machine take. `bench/soak.py --write` writes this page; it needs "
                "45 GB of free disk and takes some minutes.", "", machine(b) + ".", "", ""]
        with open(REPORT, "w", encoding="utf-8") as f:
            f.write("\n".join(head) + text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
