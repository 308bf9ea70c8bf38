#!/usr/bin/env python3
"""Which branches that no test took are answered:  tools/coverage_untaken.py BRANCHES.json LIST

Reads gcovr's JSON, and in the sources the marks

    if (n > UINT32_MAX) ... /* untaken: more than 2^32 things */

on the line of such a branch, or alone on the line above it.  Writes every branch that was not taken
to LIST, by line, with its reason or "open", prints how many there are of each, and names the marks
whose branches were all taken.  A mark changes no percentage.
"""

import collections
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = re.compile(r"/\* untaken: (.*?) \*/")


def marks(source):
    """line number: (number of the mark's line, reason)"""
    found = {}
    for number, text in enumerate(source, 1):
        mark = MARK.search(text)
        if mark:
            alone = mark[0] == text.strip()
            found[number + alone] = number, mark[1]
    return found


def main():
    counts, unneeded = collections.Counter(), []
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for file in json.loads(Path(sys.argv[1]).read_text("utf-8"))["files"]:
            source = (ROOT / file["file"]).read_text("utf-8").splitlines()
            known, met = marks(source), set()
            for line in file["lines"]:
                missing = sum(branch["count"] == 0 for branch in line.get("branches", ()))
                if not missing:
                    continue
                number = line["line_number"]
                _, why = known.get(number, (0, "open"))
                met.add(number)
                counts[why] += missing
                out.write(f'{file["file"]}:{number}: {missing}: {why}: {source[number - 1].strip()}\n')
            unneeded += [f'{file["file"]}:{at}: {why}' for line, (at, why) in known.items()
                         if line not in met]
    for why, n in counts.most_common():
        print(f"  {n:5d} {why}")
    for mark in unneeded:
        print(f"  all taken, though marked: {mark}")


if __name__ == "__main__":
    main()
