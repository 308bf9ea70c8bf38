# The published sketch methods: what they print, their columns and their limits.
# threads
. "$SRC/tests/cli/lib/lib.sh"
page() { json "$1" "$2" "\"url\":\"$3\""; }
{
  page a "$(words 1 1000)" http://www.cs.example.org/one.html
  page b "$(words 1 1000) tail" http://ftp.cs.example.org/two.html
  page c "$(words 1 1000) other end" http://mirror.example.net/one.html
  page d "$(words 501 1500)" http://www.cs.example.org/three.html
  page e "$(words 1 1000)" http://copy.example.net/
  page x "$RICE" http://www.cs.example.org/rice.html
} >in.jsonl
SHOW="--columns similarity,supershingle,projection,simhash,site"
# What a run said of its decisions.
decided() { grep -E '^(decided|found)' said || true; }
for method in supershingle simhash projection combined combined-site; do
  title "$method"
  pairs in.jsonl --method $method
  decided
done
title "columns: the exact resemblance beside what the sketches show"
pairs in.jsonl --method combined-site $SHOW,exact
title "min values as published: counted, not banded"
pairs in.jsonl --method minhash --permutations 84 --family linear --verify none --threshold 0.5
decided
title "--verify exact: the documents must be as similar as the threshold, too"
pairs in.jsonl --method simhash --hamming 16
pairs in.jsonl --method simhash --hamming 16 --verify exact --threshold 0.999
decided
title "other numbers"
pairs in.jsonl --method supershingle --permutations 20 --supershingles 10 --agree 9 --shingle words:2
decided
pairs in.jsonl --method projection --bits 1024 --agree-bits 900 --complete $SHOW | cut -f1,2
decided
pairs in.jsonl --method projection --features shingles
decided
pairs in.jsonl --method combined --combined-bits 384
decided
title "weights"
for weights in one tf tfidf; do pairs in.jsonl --method simhash --weights $weights --hamming 8 | cut -f1,2 | tr '\n\t' '; '; echo; done
title "one proposes, another decides"
pairs in.jsonl --candidates simhash --confirm supershingle
pairs in.jsonl --candidates supershingle --confirm exact --threshold 0.99
pairs in.jsonl --candidates join --threshold 0.3 --confirm projection --agree-bits 250 --columns projection,exact
decided
title "dedup says what it rests on"
neardup dedup in.jsonl --method combined -o out 2>&1 | said
cat out/clusters.tsv
grep -E '"(candidates|confirm|shingle|decided|found)"' out/summary.json
title "the same bytes for any number of threads"
for method in supershingle simhash projection combined combined-site; do
  for threads in 1 2 5; do
    neardup pairs "$SRC/examples/corpus" --method $method --threads $threads $SHOW 2>/dev/null | sha256sum
  done | uniq | wc -l
done
title "wrong numbers"
fails pairs in.jsonl --method projection --bits 100
fails pairs in.jsonl --method projection --bits 2048
fails pairs in.jsonl --method projection --agree-bits 385
fails pairs in.jsonl --method projection --bits 128 --agree-bits 129
fails pairs in.jsonl --method combined --bits 320 --combined-bits 355
fails pairs in.jsonl --method supershingle --permutations 5
fails pairs in.jsonl --method supershingle --permutations 85
fails pairs in.jsonl --method supershingle --agree 7
fails pairs in.jsonl --method simhash --hamming 17
fails pairs in.jsonl --method minhash --family linear --bands 10 --rows 2
fails pairs in.jsonl --columns similarity,nonsense
fails pairs in.jsonl --columns site,site
fails pairs in.jsonl --method simhash --similarity cosine
fails pairs in.jsonl --method simhash --sample mod:4
