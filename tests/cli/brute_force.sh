# Sketch methods find what comparing all sketches finds.  Every document has the
# word "all", so that with single words as shingles --candidates exact proposes
# every pair, and --confirm decides about it.
# slow
. "$SRC/tests/cli/lib/lib.sh"
python3 - >in.jsonl <<'X'
import json
import random
rng = random.Random(7)
texts = []
for i in range(180):
    if texts and rng.random() < 0.7:
        words = list(rng.choice(texts))
        for _ in range(rng.choice([0, 1, 1, 2, 3, 5, 10, 30])):
            words[rng.randrange(len(words))] = f"w{rng.randrange(500)}"
    else:
        words = [f"w{rng.randrange(500)}" for _ in range(rng.choice([5, 40, 200, 400]))]
    texts.append(words)
    host = rng.choice(["a.example.org", "b.example.org", "example.net", ""])
    print(json.dumps({"id": i, "text": "all " + " ".join(words), **({"url": f"http://{host}/{i}"} if host else {})}))
X
ALL="--shingle words:1 --bucket-cap 1000000 --columns similarity,minhash,supershingle,projection,simhash,site"
check() {
  neardup pairs in.jsonl $ALL "$@" >found 2>/dev/null
  neardup pairs in.jsonl $ALL "$@" --candidates exact --threshold "${T:-0.000000001}" >all 2>/dev/null
  cmp found all && echo "$*: $(($(wc -l <found) > 20 ? 1 : 0))"
}
for k in 0 1 2 3 5 8 12 16; do check --method simhash --hamming $k; done
check --method simhash --weights tf --hamming 6
check --method simhash --weights tfidf --hamming 6
check --method supershingle
check --method supershingle --agree 1
check --method supershingle --agree 5
check --method supershingle --permutations 84 --supershingles 42 --agree 20
check --method projection --agree-bits 373
check --method projection --complete
check --method projection --complete --agree-bits 330
check --method projection --bits 64 --agree-bits 63
check --method projection --bits 1024 --complete --features shingles
check --method combined --combined-bits 340
check --method combined-site --complete
check --method simhash --confirm projection --hamming 16 --agree-bits 384
title "linear min values: every pair that shares half of them"
neardup pairs in.jsonl $ALL --method minhash --family linear --verify none --threshold 0.5 >found 2>/dev/null
neardup pairs in.jsonl $ALL --method minhash --family linear --verify none --candidates exact --threshold 0.000000001 2>/dev/null |
  awk -F'\t' '$4 >= 0.5' | cmp - found && echo same
title "against another collection, by another order"
head -n 90 in.jsonl >left.jsonl
tail -n 90 in.jsonl >right.jsonl
for method in supershingle 'simhash --hamming 8' 'projection --complete' combined 'minhash --family linear'; do
  neardup pairs left.jsonl $ALL --method $method --against right.jsonl 2>/dev/null | sort >found
  neardup pairs in.jsonl $ALL --method $method 2>/dev/null | awk -F'\t' '$1 < 90 && $2 >= 90' | sort | cmp - found &&
    echo "$method: $(($(wc -l <found) > 10 ? 1 : 0))"
done
