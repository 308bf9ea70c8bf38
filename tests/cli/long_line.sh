# A line of 10 GB between good ones, as a file, through a pipe, packed; memory
# stays flat.
# slow
. "$SRC/tests/cli/lib/lib.sh"
first() { json a "$FOX"; }
last() { printf '\n'; json b "$RICE"; json c "$FOX"; }
show() {
  sed -E 's/, .*//' out/clusters.tsv
  python3 "$SRC/tests/cli/lib/peak.py" out 200
}
title "10 GB in a file"
first >in.jsonl
truncate -s 10G in.jsonl || { echo "skipped, no sparse files"; exit 77; }
last >>in.jsonl
dedup in.jsonl --memory 128M
show
cat out/kept/in.jsonl
rm in.jsonl
title "through a pipe"
{ first; head -c 500M /dev/zero; last; } >in.jsonl
dedup - --memory 128M <in.jsonl
show
cmp out/kept/stdin <(first; json b "$RICE") && echo same
title "as text, and as lines"
dedup in.jsonl --memory 128M --format text
kept out
dedup in.jsonl --memory 128M --format lines
rm in.jsonl
title "--max-document decides exactly"
printf '%s\n' 12345678 123456789 1234567 >lines
dedup lines --format lines --max-document 8
cat out/kept/lines
printf '%s\r\n' 12345678 123456789 >lines
dedup lines --format lines --max-document 8
head -c 1000 /dev/zero | tr '\0' 'a' >exact
dedup exact --max-document 1000
dedup exact --max-document 999
