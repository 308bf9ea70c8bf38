# The sketch methods against all pairs of their own files, compared one by one.
# slow
. "$SRC/tests/cli/lib/lib.sh"
python3 - >in.txt <<'X'
import random
r = random.Random(4)
words = [f"w{i}" for i in range(900)]
texts = []
for i in range(420):
    if i % 3 and texts:
        t = list(texts[r.randrange(max(0, i - 60), i)])  # clusters that drift apart
        for _ in range(r.choice([0, 1, 1, 2, 4, 8])):
            t[r.randrange(len(t))] = r.choice(words)
    else:
        t = r.choices(words, k=r.randrange(20, 90))
    texts.append(t)
print("\n".join(" ".join(t) for t in texts + [[], ["one"]]))
X
# METHOD NUMBER OPTION...: the file's pairs, the documents' and the command's; how many.
held() {
  method=$1 number=$2
  shift 2
  rm -f all.nds
  neardup sketch --format lines in.txt -o all.nds --method $method "$@" 2>/dev/null
  python3 "$SRC/tests/cli/lib/sketch_rows.py" all.nds $method $number >want
  case $method in
    simhash) set -- "$@" --hamming $number ;;
    projection) set -- "$@" --agree-bits $number --complete ;;
    minhash) set -- "$@" --threshold 0.$percent ;;
  esac
  for input in all.nds "--format lines in.txt"; do
    neardup pairs $input --method $method "$@" --verify sketch 2>/dev/null >got
    cmp want got || diff want got | head -n 4
  done
  wc -l <want
}
title "simhash, every distance"
for k in $(seq 0 16); do held simhash $k; done | tr '\n' ' '
echo
for weights in tf tfidf; do held simhash 9 --weights $weights; done | tr '\n' ' '
echo
held simhash 6 --features shingles --shingle words:2
title "projection, every width"
for bits in $(seq 64 64 1024); do held projection $((bits * 9 / 10)) --bits $bits; done | tr '\n' ' '
echo
held projection 256 --features shingles --shingle words:2
title "min values, counted"
for percent in 10 50 90; do
  held minhash $(((84 * percent + 99) / 100)) --permutations 84 --family linear --shingle words:2
done | tr '\n' ' '
echo
