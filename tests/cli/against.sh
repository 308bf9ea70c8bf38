# Two collections: pairs between them only, whatever the method; dedup drops from
# the input what the other one holds.
. "$SRC/tests/cli/lib/lib.sh"
fox='the quick brown fox jumps over the lazy dog again and again'
printf '%s\n' "$fox today" 'completely different text about gardening and apple trees in spring' \
  "$fox today" 'a line that nobody has seen before in any of the files here' \
  'a line that nobody has seen before in any of the files here' >new.lines
printf '%s\n' "$fox" 'something else entirely which is old and was crawled a year ago' \
  "$fox today" >old.lines
for method in minhash exact join allpairs ppjoin ppjoin+; do
  echo "== $method"
  neardup pairs --format lines new.lines --against old.lines --method $method --threshold 0.8 \
    2>/dev/null
done
echo "== edit"
neardup pairs --format lines new.lines --against old.lines --method join --similarity edit \
  --threshold 6 2>/dev/null
echo "== dedup"
neardup dedup --format lines new.lines --against old.lines -o out 2>/dev/null
cat out/clusters.tsv
echo "-- kept"
ls out/kept
cat out/kept/new.lines
grep -E '"(documents|kept|dropped|rejected|against_documents)"' out/summary.json
echo "== nothing on the other side, and nowhere"
: >none.lines
neardup pairs --format lines new.lines --against none.lines 2>/dev/null
neardup pairs --format lines new.lines --against none.lines --method join 2>/dev/null
neardup pairs --format lines new.lines --against missing.lines
echo "== dedup names the best match, of equal ones the first"
base='one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen'
printf '%s\n' "$base seventeen eighteen" "$base nineteen" >new2.lines
printf '%s\n' "$base" "$base seventeen" "$base twenty seventeen" "$base nineteen" "$base nineteen" \
  >old2.lines
for method in minhash exact join; do
  echo "-- $method"
  neardup dedup --format lines new2.lines --against old2.lines --method $method --threshold 0.7 \
    -o best-$method 2>/dev/null
  cat best-$method/clusters.tsv
done
echo "-- edit"
printf '%s\n' abcdzzgy abcdefgh >old3.lines
printf '%s\n' abcdefgy >new3.lines
neardup dedup --format lines new3.lines --against old3.lines --method join --similarity edit \
  --threshold 3 -o best-edit 2>/dev/null
cat best-edit/clusters.tsv

echo "== copies in the other collection alone: every one makes a pair"
printf 'one two three four five six\n' >new4.lines
printf 'One, two: three four five six\none two three four five six\nseven\n' >old4.lines
neardup pairs --format lines new4.lines --against old4.lines 2>/dev/null
echo "== an input without documents: the other collection is not compared with itself"
printf '{"id":"n","text":null}\n' >new5.jsonl
printf '{"id":"o%s","text":"one two three four five six %s"}\n' 1 a 2 b 3 a >old5.jsonl
for method in minhash exact join allpairs ppjoin+; do
  neardup pairs new5.jsonl --against old5.jsonl --method $method --threshold 0.3 2>/dev/null
  neardup dedup new5.jsonl --against old5.jsonl --method $method --threshold 0.3 -o none-$method \
    2>/dev/null
  cat none-$method/clusters.tsv
  grep -E '^ *"(kept|dropped)"' none-$method/summary.json | tr -d ' \n'
  echo " $method"
done
