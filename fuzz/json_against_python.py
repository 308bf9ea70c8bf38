#!/usr/bin/env python3
"""JSON lines as neardup reads them, against Python's json module; speaks TAP.

fuzz/json_against_python.py [--seed N] [--rounds N] [--neardup PATH]

Random and damaged objects go through `neardup inspect --format jsonl`; what it
takes, what it rejects, and the id that it reads must be Python's. Known
differences are left out of the comparison: Python takes NaN and Infinity, RFC
8259 does not; more than 1,000 levels of nesting are refused here.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINES = 400
STRINGS = ["", "a", "é", "\u2028", "😀", "\\", '"', "\x7f", "\ud800", "a\tb", "x" * 70, "\ufeff"]


def value(r, depth=0):
    kind = r.randrange(9 if depth < 4 else 6)
    if kind < 2:
        return r.choice(STRINGS) + r.choice(STRINGS)
    if kind == 2:
        return r.choice([0, -1, 10**20, 1.5, -2e-7, 1e308])
    if kind < 6:
        return r.choice([None, True, False])
    if kind == 6:
        return [value(r, depth + 1) for _ in range(r.randrange(4))]
    return {r.choice(STRINGS): value(r, depth + 1) for _ in range(r.randrange(4))}


def line(r):
    """One object as bytes, sometimes damaged; no line end inside."""
    members = [("text", "w" + r.choice(["ord", "\u00e9", ""])), ("id", f"i{r.randrange(10**6)}")]
    members += [(r.choice(STRINGS) or "k", value(r)) for _ in range(r.randrange(4))]
    r.shuffle(members)
    text = "{" + ",".join(
        json.dumps(k, ensure_ascii=r.random() < .5) + r.choice([":", " : "])
        + json.dumps(v, ensure_ascii=r.random() < .5) for k, v in members) + "}"
    data = bytearray(text.encode("utf-8", "surrogatepass"))
    for _ in range(r.choice([0, 0, 1, 1, 2, 3])):
        at = r.randrange(len(data) + 1)
        how = r.randrange(4)
        if how == 0 and at < len(data):
            del data[at]
        elif how == 1:
            data[at:at] = bytes([r.choice(b'{}[]",:\\0123456789eE+-.truefalsn \t\x00\x1f\x80\xff')])
        elif how == 2 and at < len(data):
            data[at] ^= 1 << r.randrange(8)
        else:
            data[at:at] = data[at:at + r.randrange(8)]
    return bytes(data).replace(b"\n", b" ").replace(b"\r", b" ")


class NotJson(ValueError):
    pass


def refuse(name):
    raise NotJson(name)


def by_python(data):
    """The id, or None where it is no object with a text, a string."""
    try:
        found = json.loads(data.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        return None
    name = found.get("id")
    return name if isinstance(name, str) else ""


def escaped(text):
    """As ids are written: tab, line ends and backslash escaped."""
    for a, b in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(a, b)
    return text


def by_neardup(neardup, lines, folder):
    path = folder / "in.jsonl"
    path.write_bytes(b"".join(x + b"\n" for x in lines))
    done = subprocess.run([neardup, "inspect", "--format", "jsonl", path.name], cwd=folder,
                          capture_output=True)
    if done.returncode not in (0, 3):
        raise SystemExit(f"Bail out! exit status {done.returncode}: {done.stderr.decode()}")
    found = {}
    for row in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        place, _, kind, name = row.split("\t")[:4]
        number = int(place.rsplit(":", 1)[1])
        found[number] = None if kind == "rejected" else name
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--neardup", default=ROOT / "build/neardup", type=Path)
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else int(time.time())
    r = random.Random(seed)
    print(f"1..1\n# seed {seed}")
    problems, accepted, total = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        for _ in range(args.rounds):
            lines = [line(r) for _ in range(LINES)]
            found = by_neardup(args.neardup.resolve(), lines, Path(name))
            for i, data in enumerate(lines, 1):
                if not data.strip(b" \t"):
                    continue
                expected, got = by_python(data), found.get(i, "missing")
                total += 1
                accepted += expected is not None
                if (expected is None) != (got is None):
                    problems.append(f"Python {expected!r}, neardup {got!r}: {data!r}")
                elif expected and not any(0xD800 <= ord(c) < 0xE000 for c in expected) \
                        and escaped(expected) != got:
                    problems.append(f"id {expected!r} read as {got!r}: {data!r}")
    ok = not problems and 0 < accepted < total
    print(f"{'ok' if ok else 'not ok'} 1 - JSON agrees with Python: {accepted} of {total} lines taken")
    for p in problems[:20]:
        print("# " + p)
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
