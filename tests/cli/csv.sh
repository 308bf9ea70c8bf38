# --csv: lists as RFC 4180, with a header, that no spreadsheet runs, and that can be undone.
. "$SRC/tests/cli/lib/lib.sh"
python3 - <<'X'
import json
ids = ["plain", "a,b", 'say "hi"', "=1+1", "+x", "-x", "@x", "'quoted", "''", "-", "=", "  =2", "\t=3", "\r=4",
       "line\nend", "\uff1d1", "\uff20x", "semi;colon", " space ", "\\x41", "\u202e=5", "日本", "=HYPERLINK(\"http://x\",\"y\")"]
with open("in.jsonl", "w") as out:
    for n, id in enumerate(ids):
        for half in ("", "!"):
            out.write(json.dumps({"id": id + half, "text": " ".join(f"w{n}x{i}" for i in range(9))}) + "\n")
    out.write('{"id": "cut, \n')
X
# Reads CSV, takes our ' away, and writes the TSV that it must be.
cat >undo.py <<'X'
import csv, sys
data = sys.stdin.buffer.read().decode()
assert data.count("\n") == data.count("\r\n") == data.count("\r"), "line ends"
rows = list(csv.reader(data.splitlines(keepends=True), strict=True))
print("header:", *rows[0], file=sys.stderr)
for row in rows[1:]:
    assert len(row) == len(rows[0]), row
    for cell in row:
        first = cell.lstrip(" ")[:1]
        assert cell == "-" or first not in tuple("=+-@\t\r\uff1d\uff0b\uff0d\uff20"), cell
    sys.stdout.buffer.write("\t".join(c[1:] if c.startswith("'") else c for c in row).encode() + b"\n")
X
title "pairs"
neardup pairs $SURE in.jsonl 2>/dev/null >pairs.tsv
neardup pairs $SURE --csv in.jsonl 2>/dev/null >pairs.csv
cat -A pairs.csv
python3 undo.py <pairs.csv | cmp - pairs.tsv
neardup pairs $SURE --columns exact,similarity,site in.jsonl 2>/dev/null >columns.tsv
neardup pairs $SURE --columns exact,similarity,site --csv in.jsonl 2>/dev/null | python3 undo.py | cmp - columns.tsv
neardup pairs $SURE --columns '' --csv in.jsonl 2>/dev/null | head -2
title "cluster"
neardup cluster pairs.tsv 2>/dev/null >clusters.tsv
neardup cluster --csv pairs.tsv 2>/dev/null >clusters.csv
head -4 clusters.csv
python3 undo.py <clusters.csv | cmp - clusters.tsv
title "dedup"
neardup dedup $SURE in.jsonl -o tsv 2>/dev/null
neardup dedup $SURE --csv in.jsonl -o csv 2>said || echo "exit $?"
grep -E '^(rejected|result)' said
(cd csv && ls)
for list in pairs clusters rejected; do python3 undo.py <csv/$list.csv | cmp - tsv/$list.tsv; done
grep -o 'rejected\.[ct]sv' csv/report.html tsv/report.html
neardup dedup $SURE --csv in.jsonl -o csv 2>&1 | head -1
neardup dedup $SURE in.jsonl -o csv 2>/dev/null || echo "exit $?"
title "nothing found: the header alone"
neardup cluster --csv /dev/null 2>/dev/null
json a "$FOX" | neardup pairs --csv - 2>/dev/null
title "many lines"
python3 - >many.jsonl <<'X'
import json
for i in range(300):
    print(json.dumps({"id": f"=@{i}," + "x" * 40, "text": "every document is the same"}))
X
neardup pairs many.jsonl 2>/dev/null | md5sum
neardup pairs --csv many.jsonl 2>/dev/null | python3 undo.py | md5sum
title "no option elsewhere, and neardup reads TSV only"
fails inspect --csv in.jsonl
fails cluster pairs.csv
