# Truncated and corrupt gzip and zstd: what comes before the damage is read and
# kept, the rest is one rejected place, other files are not touched.
. "$SRC/tests/cli/lib/lib.sh"
data=$SRC/tests/data/cli
mkdir in
echo "$FOX" >in/good.txt
# Where a damage is noticed depends on the unpacking library; that what was kept
# is the beginning of the original, in whole lines, does not.
check() {
  rm -rf out
  neardup dedup in -o out 2>/dev/null
  echo "$1: exit $?, $(counts out | sed -E 's/^[0-9]+ documents, [0-9]+ kept/… documents, … kept/')"
  sed -E -e 's/@[0-9]+/@…/' -e 's/byte [0-9]+/byte …/' out/rejected.tsv
  $2 <out/kept/bad >kept 2>/dev/null
  lines=$(wc -l <kept)
  cmp <(head -n "$lines" all) kept
  neardup inspect out/kept >/dev/null || echo "what is kept cannot be read"
  cmp in/good.txt out/kept/good.txt
}
for kind in gz zst; do
  case $kind in gz) cat=zcat ;; zst) cat="zstd -dcq" ;; esac
  $cat <"$data/docs.jsonl.$kind" >all
  size=$(stat -c %s "$data/docs.jsonl.$kind")
  title "$kind, cut"
  for cut in 1 2 3 4 5 10 11 18 19 100 1000 $((size / 2)) $((size - 9)) $((size - 8)) $((size - 5)) \
      $((size - 4)) $((size - 1)); do
    head -c $cut "$data/docs.jsonl.$kind" >in/bad
    if [ $cut -ge 18 ]; then check "$([ $cut -gt 1000 ] && echo later || echo $cut)" "$cat"
    else dedup in; fi
  done
  title "$kind, one bit"
  for at in 20 200 2000 $((size - 2)); do
    python3 - "$data/docs.jsonl.$kind" $at <<'EOF'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
data[int(sys.argv[2])] ^= 0x10
open("in/bad", "wb").write(data)
EOF
    check bit "$cat"
  done
  title "$kind, rubbish behind"
  { cat "$data/docs.jsonl.$kind"; echo rubbish; } >in/bad
  check rubbish "$cat"
  title "$kind, a broken member between good ones"
  { cat "$data/docs.jsonl.$kind"; head -c 1000 "$data/docs.jsonl.$kind"; cat "$data/docs.jsonl.$kind"; } >in/bad
  check member "$cat"
  [ "$(wc -l <kept)" -ge "$(wc -l <all)" ] && echo "all of the first member"
done
