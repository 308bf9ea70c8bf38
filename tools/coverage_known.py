#!/usr/bin/env python3
"""Which branches that no test took are answered:  tools/coverage_known.py BRANCHES.json LIST

Reads gcovr's JSON and tools/coverage.known (a pattern of source lines, a tab, why no test takes
that branch).  Writes every branch that was not taken to LIST, by line, with its answer or "open",
and prints how many there are of each.  An answer changes no percentage.
"""

import collections
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def answers():
    for line in (ROOT / "tools/coverage.known").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            pattern, why = line.split("\t", 1)
            yield re.compile(pattern), why.strip()


def main():
    known = list(answers())
    counts, used = collections.Counter(), set()
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for file in json.loads(Path(sys.argv[1]).read_text("utf-8"))["files"]:
            source = (ROOT / file["file"]).read_text("utf-8").splitlines()
            for line in file["lines"]:
                missing = sum(branch["count"] == 0 for branch in line.get("branches", ()))
                if not missing:
                    continue
                text = source[line["line_number"] - 1].strip()
                where = f'{file["file"]}: {text}'
                why = next((w for p, w in known if p.search(where)), "open")
                used.add(why)
                counts[why] += missing
                out.write(f'{file["file"]}:{line["line_number"]}: {missing}: {why}: {text}\n')
    for why, n in counts.most_common():
        print(f"  {n:5d} {why}")
    for why in {w for _, w in known} - used:
        print(f"  never met: {why}")


if __name__ == "__main__":
    main()
