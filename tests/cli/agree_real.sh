# The exact methods agree with one another on real corpora.  (Whole large ones: bench/run agreement.)
# slow
. "$SRC/tests/cli/lib/lib.sh"
if [ ! -d "$NEARDUP_DATA/gold" ]; then
  echo "skipped, no data"
  exit 77
fi
# agree TITLE OPTION…: all methods give the same lines.
agree() {
  title "$1"
  shift
  for method in ${METHODS:-exact join allpairs ppjoin ppjoin+}; do
    neardup pairs --method $method "$@" 2>/dev/null | sha256sum
  done | uniq | wc -l
  neardup pairs --method join "$@" 2>/dev/null | wc -l
}
gold=$NEARDUP_DATA/gold sets=$NEARDUP_DATA/sets
for name in ecir20-core.docs ecir20-terabyte.docs ecir20-web.docs cora.docs dblp-acm.docs; do
  agree "$name" "$gold/$name.jsonl.zst" --threshold 0.5
done
agree "titles as words" "$gold/dblp-titles.jsonl.zst" --shingle words:1 --threshold 0.8
agree "titles as 3-grams, cosine" "$gold/dblp-titles.jsonl.zst" --shingle chars:3 --similarity cosine --threshold 0.9
METHODS="join allpairs ppjoin ppjoin+" agree "titles, edit distance" "$gold/dblp-titles.jsonl.zst" \
  --similarity edit --threshold 2
METHODS="exact join" agree "cora, containment" "$gold/cora.docs.jsonl.zst" --shingle words:1 \
  --similarity containment --threshold 0.9
zstd -dcq --long=27 "$gold/laws-zh.jsonl.zst" 2>/dev/null | head -n 200 >laws.jsonl
agree "some laws" laws.jsonl --threshold 0.7
zstd -dcq --long=27 "$gold/terms.jsonl.zst" 2>/dev/null | head -n 90 >terms.jsonl
agree "some terms" terms.jsonl --threshold 0.7
METHODS="join allpairs ppjoin ppjoin+" agree retail --format sets "$sets/retail.sets.zst" --threshold 0.8
agree dblp18k_q3 --format sets "$sets/dblp18k_q3.sets.zst" --threshold 0.9
