# --method, --verify, --collapse, --seed, --permutations, --bands, --rows, --bucket-cap
. "$SRC/tests/cli/lib/lib.sh"
{
  json a "$(words 1 104)"
  json b "$(words 1 104)"
  json near "$(words 6 109)"
  json c "$(words 1 104)"
  json far "$(words 40 143)"
  json x "$RICE"
} >in.jsonl
title "every copy"
pairs in.jsonl $SURE
title "--collapse"
pairs in.jsonl $SURE --collapse
pairs in.jsonl $SURE --collapse=no | wc -l
title "--method digest"
pairs in.jsonl --method digest
dedup in.jsonl --method digest
cat out/clusters.tsv
title "--verify none lists every candidate, exact figures or not"
pairs in.jsonl $SURE --verify none --collapse | cut -f1,2
title "--verify sketch"
pairs in.jsonl --permutations 1024 --verify sketch --collapse | awk -F'\t' '{ print $1, $2, ($3 > 0.85 && $3 < 0.96) }'
title "another seed, the same pairs"
pairs in.jsonl $SURE >one
for seed in 0 2 18446744073709551615 random; do pairs in.jsonl $SURE --seed $seed | cmp - one; done
title "the cut as asked for"
neardup dedup in.jsonl --bands 20 --rows 5 -o cut 2>&1 | grep recall
neardup dedup in.jsonl --permutations 128 --threshold 0.5 -o cut2 2>&1 | grep -c recall
grep -E '"(permutations|bands|rows)": [0-9]' cut/summary.json
title "hot buckets become stars, and are reported"
for i in $(seq 50); do json "d$i" "$(words 1 200) only$i"; done >hot.jsonl
neardup dedup hot.jsonl --bucket-cap 10 -o hot 2>&1 | grep -c '^capped .* buckets* larger than --bucket-cap, compared with the preferred document only'
counts hot
neardup dedup hot.jsonl --bucket-cap 1000 -o cool 2>&1 | grep -c '^capped'
counts cool
title "one hot bucket, one id twice"
for i in 1 2 3 4 5 6; do json same "$FOX $i"; done >hot.jsonl
neardup pairs --bands 1 --rows 1 --bucket-cap 2 hot.jsonl 2>&1 >/dev/null | grep capped
{ json a "$FOX"; json a "$RICE"; json b "$(words 1 9)"; json c "$(words 20 29)"; } >twice.jsonl
rm -rf out; neardup dedup twice.jsonl -o out 2>&1 | grep -i 'id'
title "--stats without a join"
neardup pairs --stats hot.jsonl 2>&1 >/dev/null | grep -c records
