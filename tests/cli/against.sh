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
