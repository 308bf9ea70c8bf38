# The exact methods agree with one another and with the corpus' own list.
# threads
cd "$SRC"
for method in exact join allpairs ppjoin ppjoin+; do
  neardup pairs --method $method --threshold 0.8 examples/corpus 2>/dev/null |
    cmp - examples/expected-pairs.tsv && echo "$method agrees"
done
cd "$OLDPWD"
cat >four.lines <<'X'
a b c d e
a b c d e f
a b c d x
q r s
X
for similarity in jaccard cosine containment; do
  for method in exact join; do
    echo "== $similarity, $method"
    neardup pairs --format lines --shingle words:1 --method $method --similarity $similarity \
      --threshold 0.7 four.lines 2>/dev/null
  done
done
echo "== overlap of four words"
neardup pairs --format lines --shingle words:1 --method ppjoin --similarity overlap --threshold 4 \
  four.lines 2>/dev/null
echo "== at most two characters differ"
neardup pairs --format lines --method join --similarity edit --threshold 2 four.lines 2>/dev/null
echo "== every pair that shares a word"
neardup pairs --format lines --shingle words:1 --method exact four.lines 2>/dev/null
echo "== fingerprints change nothing"
for fingerprint in rabin xxh3 md5; do
  neardup pairs --format lines --shingle chars:3 --method exact --fingerprint $fingerprint \
    four.lines 2>/dev/null | sha256sum | cut -c1-16
done | uniq | wc -l
echo "== exactly 4/5 is not below 0.8"
printf '1 2 3 4 5\n1 2 3 4\n' >sets
neardup pairs --format sets --method join --threshold 0.8 sets 2>/dev/null
neardup pairs --format sets --method join --threshold 0.800000001 sets 2>/dev/null
echo "== wrong combinations"
neardup pairs --similarity cosine four.lines
neardup pairs --method exact --similarity edit --threshold 2 four.lines
neardup pairs --method join --similarity overlap four.lines
neardup pairs --method join --similarity overlap --threshold 0.5 four.lines
neardup pairs --method join --threshold 0 four.lines
neardup dedup --method exact --threshold 0 four.lines -o out
neardup dedup --format lines --method exact four.lines -o out 2>/dev/null && cat out/kept/four.lines
echo "== the best neighbour of each"
neardup pairs --format lines --shingle words:1 --method exact --top 1 four.lines 2>/dev/null
neardup pairs --format lines --shingle words:1 --method join --threshold 0.5 --top 1 four.lines 2>/dev/null
neardup pairs --top 1 four.lines
echo "== counts"
for method in allpairs ppjoin ppjoin+; do
  neardup pairs --format lines --shingle words:1 --method $method --threshold 0.5 --stats four.lines \
    2>&1 >/dev/null | grep -E '^(records|tokens|verified|results|average-length)'
done
