# The exact methods against a plain count of all pairs: every method, similarity and threshold.
cat >check.py <<'X'
import random
import subprocess
import sys
from fractions import Fraction
from itertools import combinations

seed = 20240
print("seeds", seed, "to", seed + 23)
THRESHOLDS = ["0.5", "0.55", "0.6", "0.65", "0.7", "0.75", "0.8", "0.85", "0.9", "0.95", "0.99", "1"]
METHODS = {"jaccard": "exact join allpairs ppjoin ppjoin+", "cosine": "exact join allpairs ppjoin ppjoin+",
           "overlap": "exact join allpairs ppjoin ppjoin+", "containment": "exact join"}


def corpus(r):
    """Skewed, tiny, blank, equal and changed records, and pairs that lie exactly on thresholds."""
    records = []
    for _ in range(r.randrange(2, 40)):
        kind = r.randrange(6)
        if kind == 0 and records:
            records.append(list(r.choice(records)))
        elif kind == 1 and records:
            records.append([x if r.random() > .15 else r.randrange(2**64) for x in r.choice(records)])
        elif kind == 2:
            records.append([])
        else:
            records.append([int(r.random() ** 3 * 60) for _ in range(r.randrange(1, 30))])
    for num, den in ((4, 5), (3, 4), (9, 10), (1, 2), (19, 20)):
        base = r.randrange(2**40)
        extra = r.randrange(den - num + 1)
        records.append([base + i for i in range(num + extra)])
        records.append([base + i for i in range(num)] + [base + i for i in range(num + extra, den)])
    r.shuffle(records)
    return records


def as_set(record):
    seen, out = {}, set()
    for x in record:
        seen[x] = seen.get(x, 0) + 1
        out.add((x, seen[x]))
    return out


def reaches(kind, x, y, t):
    c = len(x & y)
    if c == 0:
        return False
    if kind == "jaccard":
        return Fraction(c, len(x | y)) >= t
    if kind == "cosine":
        return c * c >= t * t * len(x) * len(y)
    if kind == "containment":
        return Fraction(c, min(len(x), len(y))) >= t
    return c >= t


bad = runs = pairs = 0
for k in range(24):
    r = random.Random(seed + k)
    records = corpus(r)
    with open("in.sets", "w") as f:
        f.writelines(" ".join(map(str, x)) + "\n" for x in records)
    sets = [as_set(x) for x in records]
    cut = r.randrange(1, len(records)) if k % 3 == 0 else 0
    for kind, methods in METHODS.items():
        t = str(r.randrange(1, 12)) if kind == "overlap" else THRESHOLDS[(k + len(kind)) % len(THRESHOLDS)]
        want = {(i + 1, j + 1) for i, j in combinations(range(len(sets)), 2)
                if reaches(kind, sets[i], sets[j], Fraction(t)) and (not cut or i < cut <= j)}
        pairs += len(want)
        inputs = ["in.sets"]
        if cut:
            with open("a.sets", "w") as f, open("b.sets", "w") as g:
                for i, x in enumerate(records):
                    (f if i < cut else g).write(" ".join(map(str, x)) + "\n")
            inputs = ["a.sets", "--against", "b.sets"]
        for method in methods.split():
            runs += 1
            done = subprocess.run(["neardup", "pairs", "--format", "sets", *inputs, "--method", method,
                                   "--similarity", kind, "--threshold", t, "--threads",
                                   str(1 + k % 3)], capture_output=True, text=True)
            got = set()
            for line in done.stdout.splitlines():
                a, b, _ = line.split("\t")
                shift = cut if b.startswith("b.sets") else 0
                got.add((int(a.split(":")[1]), int(b.split(":")[1]) + shift))
            if got != want or done.returncode:
                bad += 1
                print(f"seed {seed + k}, {method}, {kind} {t}, cut {cut}: {len(got)} pairs, not "
                      f"{len(want)}; {done.stderr.strip().splitlines()[-1:]}")
print(runs, "runs,", pairs, "pairs,", bad, "wrong")
X
python3 check.py
