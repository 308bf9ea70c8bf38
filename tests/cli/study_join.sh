# The study of the joins: its results are those of a plain count of all pairs.
awk 'BEGIN { srand(5); for (r = 0; r < 260; r++) { n = 6 + int(rand() * 18); line = "";
  for (i = 0; i < n; i++) { if (r % 4 == 0 || i >= m || rand() < .06) t[i] = "w" int(rand() * rand() * 90);
    line = line " " t[i] } m = n; print line } print line }' >in.lines
neardup study join --format lines in.lines -o st >all.tsv 2>log
echo "exit $?"
cat >naive.py <<'X'
from collections import Counter
from fractions import Fraction
from itertools import combinations

texts = list(dict.fromkeys(" ".join(x.split()) for x in open("in.lines")))


def sets(pieces):
    out = []
    for text in texts:
        count = Counter()
        out.append(set())
        for p in pieces(text):
            count[p] += 1
            out[-1].add((p, count[p]))
    return out


def grams(q):
    return lambda text: [text[i:i + q] for i in range(len(text) - q + 1)]


kinds = {"words": sets(str.split), "3-grams": sets(grams(3)), "4-grams": sets(grams(4))}
print("records", len(texts))
for name, kind, similarity in (("words, Jaccard", "words", "j"), ("words, cosine", "words", "c"),
                               ("3-grams, Jaccard", "3-grams", "j")):
    for t in ("0.95", "0.90", "0.85", "0.80"):
        f = Fraction(t)
        n = 0
        for x, y in combinations(kinds[kind], 2):
            c = len(x & y)
            n += c > 0 and (Fraction(c, len(x | y)) >= f if similarity == "j"
                            else c * c >= f * f * len(x) * len(y))
        print(name, t, n, sep="\t")
X
python3 naive.py >want
{ awk -F'\t' '$1 == "words" { print "records", $2 }' st/records.tsv
  awk -F'\t' 'NR > 1 && $3 == "join" { print $1 "\t" $2 "\t" $6 }' st/thresholds.tsv; } >got
cmp want got && echo "the same results"
cut -f3 want | sort -nu | wc -l | awk '$1 > 4 { print "some" }'
echo "== methods: results agree, candidates fall"
awk -F'\t' 'NR > 1 { key = $1 FS $2; if (!(key in r)) r[key] = $6; bad += r[key] != $6
  c[key, $3] = $5 } END { for (k in r) { if (c[k, "ppjoin"] > c[k, "allpairs"]) bad++
  if (c[k, "ppjoin+"] > c[k, "ppjoin"]) bad++ } print bad + 0 }' st/thresholds.tsv
echo "== Table 2"
cut -f1,10- st/quality.tsv
awk -F'\t' 'NR > 1 && ($3 > $5 || $3 > 1 || $3 < 0)' st/quality.tsv
echo "== the largest sample is everything"
awk -F'\t' '$1 == "jaccard" && $2 == "1.0" { print $4, $6 }' st/growth.tsv |
  sort -u -k2 | wc -l
awk -F'\t' '$2 == "1.0" { print $3 }' st/growth.tsv | uniq
echo "== files"
ls st
grep -c '<svg' st/index.html
echo "== token sets have no q-grams"
printf '1 2 3 4 5\n1 2 3 4 5 6\n7 8\n' >three.sets
neardup study join --format sets three.sets 2>/dev/null | grep -c -e gram -e Table.2
neardup study join --format sets three.sets 2>/dev/null | awk -F'\t' '$2 == "0.80" && $3 == "join"' | cut -f1,2,6
echo "== nothing to study, and too much"
: >empty.lines
neardup study join --format lines empty.lines 2>/dev/null | sed -n 1,3p
awk 'BEGIN { for (r = 0; r < 9000; r++) print "a line that is number " r " of a few that are different from all others" }' >many.lines
neardup study join --format lines many.lines --memory 16M 2>&1 >/dev/null
