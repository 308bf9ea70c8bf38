# A chain: a is close to b, b to c, but a is not close to c.
. "$SRC/tests/cli/lib/lib.sh"
{
  json a "$(words 1 100)"
  json b "$(words 6 105)"
  json c "$(words 11 110)"
  json x "$RICE"
} >chain.jsonl

title "pairs"
pairs chain.jsonl $SURE --threshold 0.85
title "at a lower threshold the ends are a pair, too"
pairs chain.jsonl $SURE --threshold 0.8

title "star: every dropped document is close to the kept one"
dedup chain.jsonl $SURE --threshold 0.85
cat out/clusters.tsv out/pairs.tsv
cut -c1-20 out/kept/chain.jsonl
title "star, from the middle"
dedup chain.jsonl $SURE --threshold 0.85 --keep centre
cat out/clusters.tsv
title "components"
dedup chain.jsonl $SURE --threshold 0.85 --cluster components
cat out/clusters.tsv
cut -c1-20 out/kept/chain.jsonl
title "components, from the middle"
dedup chain.jsonl $SURE --threshold 0.85 --cluster components --keep centre
cat out/clusters.tsv

title "cluster makes the same of the list"
neardup pairs chain.jsonl $SURE --threshold 0.85 2>/dev/null >list.tsv
neardup cluster list.tsv
neardup cluster --cluster star list.tsv
