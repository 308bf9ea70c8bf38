# --similarity edit against comparing all pairs, with characters of every width.
. "$SRC/tests/cli/lib/lib.sh"
title "wide characters by edit distance: as comparing all"
python3 - >wide.txt <<'X'
import random
r = random.Random(3)
lines = []
for i in range(300):
    if i % 3:
        t = list(lines[-1])
        for _ in range(r.randrange(4)):
            t[r.randrange(len(t))] = chr(r.randrange(0x1208, 0x1246))
    else:
        t = [chr(r.choice([0x61, 0x430, 0x1208]) + r.randrange(20 if i % 2 else 3)) for _ in range(r.choice([8, 40, 90, 300]))]
    lines.append(t)
    print("".join(t))
X
neardup pairs --format lines --method join --similarity edit --threshold 4 wide.txt 2>/dev/null >found
python3 - <<'X' | cmp - found && wc -l <found
def distance(a, b, most):
    if abs(len(a) - len(b)) > most:
        return most + 1
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
        if min(row) > most:
            return most + 1
    return row[-1]
lines = [x.rstrip("\n") for x in open("wide.txt", encoding="utf-8")]
for i, a in enumerate(lines):
    for j in range(i + 1, len(lines)):
        d = distance(a.lower(), lines[j].lower(), 4)
        if d <= 4:
            print(f"wide.txt:{i + 1}\twide.txt:{j + 1}\t{d}")
X
