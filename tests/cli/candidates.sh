# --candidates and --confirm: one method proposes, another decides.
. "$SRC/tests/cli/lib/lib.sh"
{
  json a "$(words 1 104)"
  json near "$(words 6 109)"
  json far "$(words 40 143)"
  json x "$RICE"
} >in.jsonl
title "the decision is the exact one, whoever proposes"
pairs in.jsonl --candidates join --confirm minhash
pairs in.jsonl --candidates minhash --confirm exact $SURE
pairs in.jsonl --candidates exact --confirm ppjoin --threshold 0.3
title "sketches decide about what a join proposes"
pairs in.jsonl --candidates join --confirm minhash --verify sketch --permutations 1024 |
  awk -F'\t' '{ print $1, $2, ($3 > 0.85 && $3 < 0.96) }'
title "what does not fit"
fails pairs in.jsonl --confirm digest
fails pairs in.jsonl --candidates minhash --confirm join --similarity cosine
fails pairs in.jsonl --candidates join --confirm minhash --similarity cosine
fails pairs in.jsonl --candidates join --confirm exact --verify sketch
fails pairs in.jsonl --candidates minhash --confirm join --top 1
