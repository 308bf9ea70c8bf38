# Truncated and corrupt gzip and zstd: what comes before the damage is read and
# kept, the rest of the member is one rejected place, other files are not touched.
# (What follows behind a damaged member: resync.sh.)
. "$SRC/tests/cli/lib/lib.sh"
data=$SRC/tests/data/cli
mkdir in
echo "$FOX" >in/good.txt
# Where a damage is noticed, and what it is called, depends on the unpacking
# library; that the counts add up and what is kept can be read does not.
hide() { sed -E -e 's/@[0-9]+//' -e 's/byte [0-9]+/byte …/' -e 's/(damaged .* at byte …: ).*/\1…/'; }
check() {
  rm -rf out
  neardup dedup in -o out 2>/dev/null
  echo "exit $?"
  counts out | grep -v '^[0-9]* documents'
  tail -n 1 out/rejected.tsv | hide
  : >kept
  [ -e out/kept/bad ] && $unpack <out/kept/bad >kept
  neardup inspect out/kept >list || echo "what is kept cannot be read"
  cmp in/good.txt out/kept/good.txt
}
beginning() {
  cmp <(head -n "$(wc -l <kept)" all) kept && echo "kept: a beginning of the file"
}
for kind in gz zst; do
  file=$data/docs.jsonl.$kind
  case $kind in gz) unpack=zcat ;; zst) unpack="zstd -dcq" ;; esac
  $unpack <"$file" >all
  size=$(stat -c %s "$file")
  title "$kind, whole"
  cp "$file" in/bad
  dedup in
  cmp in/bad out/kept/bad
  for cut in 1 2 3 4 5 10 11 18 19 100 1000 $((size / 2)) $((size - 9)) $((size - 8)) $((size - 5)) \
      $((size - 4)) $((size - 1)); do
    title "$kind, cut at $cut"
    head -c $cut "$file" >in/bad
    if [ $cut -lt 18 ]; then dedup in; else check; beginning; fi
  done
  for at in 20 200 2000 $((size - 2)); do
    title "$kind, a wrong bit at $at"
    python3 - "$file" $at <<'EOF'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[2])] ^= 0x10
open("in/bad", "wb").write(data)
EOF
    check
  done
  title "$kind, rubbish behind"
  { cat "$file"; echo rubbish; } >in/bad
  check
  cmp all kept && echo "kept: all"
  title "$kind, a broken member behind a good one"
  { cat "$file"; head -c 1000 "$file"; cat "$file"; } >in/bad
  check
  cmp all <(head -n "$(wc -l <all)" kept) && echo "kept: all of the first"
done
