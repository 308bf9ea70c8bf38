# What the studies count is what `neardup pairs` finds with the same sketch.
. "$SRC/tests/cli/lib/lib.sh"
# 25 texts of 150 words in four versions each, with 0, 1, 4 and 16 words changed.
awk 'BEGIN {
  srand(7)
  for (text = 0; text < 25; text++) {
    for (i = 0; i < 150; i++) word[i] = "w" int(rand() * 3000)
    for (version = 0; version < 4; version++) {
      line = ""
      for (i = 0; i < 150; i++) line = line " " (version && i % 150 < 4 ^ (version - 1) ? "v" version "t" text "i" i : word[i])
      printf "{\"id\":\"%d-%d\",\"url\":\"http://www.s%d.org/%d\",\"text\":\"%s\"}\n", text, version, version % 2, text, line
    }
  }
}' >corpus.jsonl
count() { neardup pairs corpus.jsonl "$@" 2>said | wc -l; }
neardup study web corpus.jsonl -o web >said
neardup study library corpus.jsonl -o library >said
title "B and C"
awk -F '\t' 'NR > 1 { print $1, $5 }' web/graphs.tsv >study
{ echo "B $(count --method supershingle --tokens web)"; echo "C $(count --method projection --tokens web)"; } >pairs
cmp study pairs && echo same
title "B by similarity"
neardup pairs corpus.jsonl --method supershingle --tokens web --columns supershingle 2>said | awk -F '\t' '{ n[$NF]++ } END { for (b in n) print b, n[b] }' | sort >pairs
awk -F '\t' 'NR > 1 && $2 { print $1, $2 }' web/b_similarity.tsv >study
cmp study pairs && echo same
title "simhash for every distance"
awk -F '\t' 'NR > 1 { print $1, $2 }' library/simhash.tsv >study
for k in 0 1 2 3 4 5 6 7 8 9 10; do echo "$k $(count --method simhash --hamming $k)"; done >pairs
cmp study pairs && echo same
title "84 min values"
awk -F '\t' '$2 == 50 || $2 == 80 { print $1, $2, $3 }' library/shingles.tsv >study
for w in 5 8 10; do
  for r in 50 80; do
    echo "$w $r $(count --method minhash --permutations 84 --family linear --verify none --shingle words:$w --threshold 0.$r)"
  done
done >pairs
cmp study pairs && echo same
