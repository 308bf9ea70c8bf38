# Ids, file names and reasons with every byte and with what turns or hides text: every table is
# UTF-8 without such characters, one line a row, and holds the bytes so that they can be had back.
# An id is found as it was printed and as it is.
. "$SRC/tests/cli/lib/lib.sh"
tables() { python3 "$SRC/tests/cli/lib/escapes.py" "$@"; }
tables make
title "every command that writes a table"
neardup inspect in >inspect.tsv || echo "exit $?"
grep -a '	rejected	' inspect.tsv | tables check "rejected of inspect" 7 1
cut -f 4 inspect.tsv | grep -v '^-$' | tables check "ids of inspect" 1 1
tables check inspect 7 <inspect.tsv
neardup pairs $SURE in 2>/dev/null >pairs.tsv || echo "exit $?"
tables check pairs 3 1 2 <pairs.tsv
neardup pairs $SURE --columns exact,minhash,site in 2>/dev/null | tables check "pairs --columns" 5 1 2
neardup cluster pairs.tsv 2>/dev/null >clusters.tsv
tables check cluster 4 1 2 <clusters.tsv
neardup dedup $SURE in -o out 2>/dev/null || echo "exit $?"
cmp pairs.tsv out/pairs.tsv
cmp <(LC_ALL=C sort clusters.tsv) <(LC_ALL=C sort out/clusters.tsv)
tables check clusters.tsv 4 1 2 <out/clusters.tsv
tables check rejected.tsv 2 1 <out/rejected.tsv
neardup sketch in -o in.nds 2>/dev/null || echo "exit $?"
neardup pairs $SURE in.nds 2>/dev/null | cmp - pairs.tsv
python3 - <<'X'
import os  # another run whose topic and name are not harmless either
with open(b"run\x1b\n\xff.txt", "wb") as f:
    f.write(b"t\x1b\xe2\x80\xae Q0 ja\x1fz 1 2 x\nt\x1b\xe2\x80\xae Q0 jb\x1fz 2 1 x\n")
X
neardup prevalence --run run* --pairs pairs.tsv -o tables >tables.txt 2>/dev/null || echo "exit $?"
tables check topics 12 <tables/topics.tsv
tables check runs 14 <tables/runs.tsv
grep -av '^#' tables.txt | tr '\t' ' ' | tables check tables 1
cut -f 1-3 tables/topics.tsv
neardup info in.nds | tables check info 2

title "lists are read with and without escapes"
tables raw 1 2 <pairs.tsv >raw.tsv
cmp -s raw.tsv pairs.tsv || echo "raw ids differ"
neardup cluster raw.tsv 2>/dev/null | cmp - clusters.tsv
same() { grep -aE '^(result_pairs|common_pairs)' | tr '\n' ' '; echo; }
neardup eval --truth raw.tsv pairs.tsv | same
neardup eval --truth pairs.tsv raw.tsv --corpus in 2>&1 | same
{ cut -f 1 pairs.tsv; cut -f 2 pairs.tsv; } >documents.tsv
tables raw 1 <documents.tsv >raw-documents.tsv
neardup eval --truth raw.tsv pairs.tsv --documents documents.tsv | same
neardup eval --truth pairs.tsv raw.tsv --documents raw-documents.tsv | same
title "backslashes that are no escapes, and where the documents are known, those that look like one"
printf 'C:\\new\\x\t5\nC:\\Users\t5\n' >paths
printf 'C:\\new\\x\tC:\\Users\t1\n' >plain
neardup eval --truth plain --documents paths plain | same
printf 'C:\\\\new\\\\x\tC:\\\\Users\t1\n' | neardup eval --truth plain --documents paths - | same
printf 'C:\\\\new\\\\x\t5\nC:\\\\Users\t5\n' >paths
neardup eval --truth plain --documents paths plain | same
printf 'a\\qb\t\xff\t1\n' | neardup cluster - 2>/dev/null

title "explain finds an id as it is printed, and as it is"
head -c 100000 pairs.tsv | awk 'NR % 47 == 1' | tables ids |
  while IFS= read -r -d '' printed && IFS= read -r -d '' raw; do
    for id in "$printed" "$raw"; do
      neardup explain "$id" ja=z in 2>&1 | head -1 | tee -a explained |
        grep -qaF "A             $printed " || echo "not found: $printed"
    done
  done
tables check explain 1 <explained
neardup explain 'ja\x1Bz' $'jb\x1bz' in | grep -a '^[AB]'
