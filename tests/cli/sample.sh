# Samplers: all methods see the same sample; what is left out is said.
# threads
cd "$SRC"
for how in mod:4 mod:7:3 min:30 cap:25 sct:3 'mod:2 --sample cap:40 --sample sct:5'; do
  for method in exact join ppjoin; do
    neardup pairs --method $method --threshold 0.5 --sample $how examples/corpus 2>/dev/null |
      sha256sum
  done | uniq | wc -l
done
echo "== said on stderr"
neardup pairs --sample mod:40 --method exact --threshold 0.5 examples/corpus 2>&1 >/dev/null | grep sample
neardup pairs --sample mod:40 --verify exact examples/corpus 2>&1 >/dev/null | grep sample
echo "== the true similarity again: a part of the whole list"
neardup pairs --method exact --threshold 0.5 examples/corpus 2>/dev/null | sort >"$OLDPWD/all"
neardup pairs --method exact --threshold 0.5 --sample mod:8 --verify exact examples/corpus 2>/dev/null |
  sort >"$OLDPWD/some"
comm -13 "$OLDPWD/all" "$OLDPWD/some" | wc -l
[ "$(wc -l <"$OLDPWD/some")" -gt 30 ] && echo many
echo "== one ratio of 1 is everything"
neardup pairs --method exact --threshold 0.5 --sample mod:1 examples/corpus 2>/dev/null | sort |
  cmp - "$OLDPWD/all" && echo same
echo "== the summary, and any number of threads and memory"
neardup dedup examples/corpus -o "$OLDPWD/one" --sample sct:4,mod:3 --threads 1 2>/dev/null
neardup dedup examples/corpus -o "$OLDPWD/two" --sample sct:4 --sample mod:3 --threads 3 --memory 16M 2>&1 |
  grep -E '^(pairs|sample)'
cmp "$OLDPWD/one/pairs.tsv" "$OLDPWD/two/pairs.tsv" && cmp "$OLDPWD/one/clusters.tsv" "$OLDPWD/two/clusters.tsv" && echo same
sed -n '/"sample": {/,/}/p' "$OLDPWD/one/summary.json"
grep '"verify"' "$OLDPWD/one/summary.json"
cd "$OLDPWD"
echo "== emptied documents match nothing but their copies"
printf 'a b c d e f g\na b c d e f g\na b c d e f h\nz\n' >few.lines
neardup pairs --format lines --method exact --threshold 0.1 --sample mod:1000:7 few.lines 2>&1 | grep -v ^time
neardup pairs --format lines --threshold 0.1 --sample mod:1000:7 --verify sketch few.lines 2>/dev/null
for method in exact join; do
  neardup pairs --format lines --method $method --similarity overlap --threshold 1 --sample mod:1000:7 few.lines 2>/dev/null
done | wc -l
echo "== a plan"
printf 'neardup-plan 1\nthreshold 0.5\nprecision 0.9\nshingle words:5\ntokens words\ngroup 100 1\ngroup 300 4\ngroup - 16\nend 3\n' >plan
for method in exact join; do
  neardup pairs "$SRC/examples/corpus" --method $method --threshold 0.5 --sample adaptive:plan 2>&1 >/dev/null | grep sample
done
echo "== wrong usage"
neardup pairs --sample mod:4:4 few.lines
neardup pairs --sample smart few.lines
neardup pairs --sample mod:2 --sample mod:3 few.lines
neardup pairs --sample mod:2 --method digest few.lines
neardup pairs --sample mod:2 --method join --similarity edit --threshold 3 few.lines
neardup pairs --sample adaptive:nowhere few.lines
neardup pairs --sample adaptive:few.lines few.lines
neardup pairs --sample adaptive:plan few.lines
neardup pairs --sample adaptive:plan --threshold 0.5 --shingle words:3 few.lines
. "$SRC/tests/cli/lib/lib.sh"
title "a plan by hand: documents of different ratios"
for i in $(seq 40); do json $i "$(words $((i / 2 * 7)) $((i / 2 * 7 + 30 + i % 2 + i * i)))"; done >sizes.jsonl
plan() { printf 'neardup-plan 1\nthreshold 0.3\nprecision 0.9\nshingle words:5\ntokens words\n%bend %s\n' "$1" "$2"; }
plan 'group 200 2\ngroup 700 4\ngroup - 8\n' 3 >three
plan 'group 200 4\ngroup 700 4\ngroup - 8\n' 3 >same
for p in three same; do
  neardup pairs --method exact --threshold 0.3 --sample adaptive:$p sizes.jsonl 2>said | wc -l; grep sample said
  neardup pairs --method exact --threshold 0.3 --sample sct:9 --sample adaptive:$p sizes.jsonl 2>said | wc -l; grep sample said
  neardup pairs --threshold 0.3 --sample adaptive:$p sizes.jsonl --verify sample 2>said | wc -l; grep sample said
done
rm -rf out; neardup dedup --threshold 0.3 --sample adaptive:three sizes.jsonl -o out 2>/dev/null; grep '"plan"' out/summary.json
fails pairs --method exact --threshold 0.4 --sample adaptive:three sizes.jsonl
fails pairs --method exact --threshold 0.3 --shingle words:4 --sample adaptive:three sizes.jsonl
fails pairs --method exact --threshold 0.3 --tokens codepoints --shingle words:5 --sample adaptive:three sizes.jsonl
fails pairs --method exact --threshold 0.3 --sample adaptive:three --sample mod:2 sizes.jsonl
fails pairs --method exact --threshold 0.3 --sample adaptive:three --sample adaptive:0.9 sizes.jsonl
fails pairs --method exact --threshold 0.3 --sample adaptive: sizes.jsonl
fails pairs --method exact --threshold 0.3 --sample adaptive:$(printf 'x%.0s' $(seq 1100)) sizes.jsonl 2>&1 | cut -c 1-60
mkdir a; fails pairs --method exact --threshold 0.3 --sample adaptive:a sizes.jsonl
for bad in 'group 200 3\ngroup - 8\n:2' 'group - 8\n:2' 'group 9 2\ngroup 8 2\ngroup - 2\n:3' ':0' 'group - 0\n:1'; do
  plan "${bad%:*}" "${bad##*:}" >bad
  fails pairs --method exact --threshold 0.3 --sample adaptive:bad sizes.jsonl 2>&1 | sed -n 2p
done
title "samples: one document is emptied, none, all"
{ json a "$(words 1 80)"; json b "$(words 1 80) more"; json c "one two three four five"; } >sample.jsonl
for n in 2 4 8 64 1024; do neardup pairs --method exact --sample mod:$n sample.jsonl 2>&1 >/dev/null | grep sample; done
: >none.jsonl; neardup pairs --method exact --sample mod:2 none.jsonl 2>&1 >/dev/null | grep sample
