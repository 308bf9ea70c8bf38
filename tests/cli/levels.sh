# Every CPU level that the machine has gives the same bytes, whatever the method.
. "$SRC/tests/cli/lib/lib.sh"
python3 - >in.jsonl <<'X'
import json, random
r = random.Random(11)
words = [f"w{i}" for i in range(400)] + ["Über", "naïve", "слово", "中文"]
last = []
for i in range(160):
    text = r.choices(words, k=r.choice([3, 20, 70])) if i % 3 == 0 else list(last)
    for _ in range(i % 3):
        text[r.randrange(len(text))] = r.choice(words)
    last = text
    print(json.dumps({"id": i, "text": " ".join(text), "url": f"http://s{i % 7}.example.org/{i}"}))
X
same() {
  for level in base sse41 avx2 avx512 ''; do
    NEARDUP_CPU=$level neardup pairs --threads 2 "$@" in.jsonl 2>/dev/null | sha256sum
  done | sort -u | wc -l
  neardup pairs "$@" in.jsonl 2>/dev/null | wc -l
}
for method in minhash exact join ppjoin+ allpairs simhash projection combined supershingle digest; do
  echo "$method $(same --method $method | xargs)"
done
echo "edit $(same --method join --similarity edit --threshold 6 | xargs)"
echo "codepoints $(same --tokens codepoints --shingle chars:4 | xargs)"
echo "linear $(same --family linear --threshold 0.5 | xargs)"
title "a level that is none is no level"
NEARDUP_CPU=fastest neardup pairs in.jsonl 2>/dev/null | cmp - <(neardup pairs in.jsonl 2>/dev/null) && echo same
