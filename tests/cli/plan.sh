# Plans: what they say, the file, and what is wrong with others.
cd "$SRC"
neardup plan --precision 0.9 --threshold 0.5 examples/corpus -o "$OLDPWD/plan" 2>&1 |
  sed -E 's/about [0-9]+ s instead of [0-9]+/about N s instead of N/; s/, [0-9]+ s$/, N s/'
cd "$OLDPWD"
cat plan
cd "$SRC"
neardup pairs --method exact --threshold 0.5 --sample "adaptive:$OLDPWD/plan" examples/corpus 2>&1 >"$OLDPWD/a" | grep sample
neardup pairs --method exact --threshold 0.5 --sample adaptive:0.9 examples/corpus 2>/dev/null | cmp - "$OLDPWD/a" && echo same
neardup dedup examples/corpus --threshold 0.5 --sample adaptive:0.9 -o "$OLDPWD/out" 2>/dev/null
grep '"plan"' "$OLDPWD/out/summary.json"
echo "== another plan in the same directory is another run"
sed 's/^group .*/group - 2/; s/^end.*/end 1/' "$OLDPWD/plan" | awk '!/^group/ || !n++' >"$OLDPWD/other"
cp "$OLDPWD/plan" "$OLDPWD/p"
neardup dedup examples/corpus --threshold 0.5 --sample "adaptive:$OLDPWD/p" -o "$OLDPWD/two" 2>/dev/null
cp "$OLDPWD/other" "$OLDPWD/p"
neardup dedup examples/corpus --threshold 0.5 --sample "adaptive:$OLDPWD/p" -o "$OLDPWD/two" 2>&1 | sed 's/run .*/run …/'
echo "== min-hash"
neardup plan --recall 0.99 --threshold 0.7 examples/corpus 2>/dev/null
neardup plan --recall 0.99 --threshold 0.7 examples/corpus 2>&1 >/dev/null | grep ^minhash
echo "== wrong usage"
neardup plan --precision 2 examples/corpus
neardup plan --precision x examples/corpus
neardup plan --documents 1 examples/corpus
neardup plan --recall 1 examples/corpus
neardup plan --recall 0.999999999 --threshold 0.008 examples/corpus
neardup plan
neardup plan --precision 0.9 examples/corpus -o /nowhere/plan
neardup pairs --method exact --sample adaptive:0.9 examples/corpus
neardup pairs --method exact --similarity cosine --threshold 0.9 --sample adaptive:0.9 examples/corpus
cd "$OLDPWD"
. "$SRC/tests/cli/lib/lib.sh"
python3 - >in.jsonl <<'X'
import json, random
r = random.Random(5)
words = [f"w{i}" for i in range(3000)]
last = []
for i in range(400):
    text = [r.choice(words) for _ in range(r.choice([20, 60, 300, 900]))]
    if i % 2:
        text = list(last)
        for _ in range(max(1, len(text) // 12)):
            text[r.randrange(len(text))] = r.choice(words)
    last = text
    print(json.dumps({"id": i, "text": " ".join(text)}))
X
said() { sed -E 's/about [0-9]+ s instead of [0-9]+/about N s instead of N/; s/, [0-9]+ s$/, N s/'; }
title "much can be left out"
neardup plan --precision 0.5 --threshold 0.3 in.jsonl 2>&1 | said
title "little"
neardup plan --precision 0.9 in.jsonl 2>&1 | said
title "nothing to measure by"
head -n 1 in.jsonl >one.jsonl
neardup plan --precision 0.9 one.jsonl 2>&1 | said
title "some of the documents"
neardup plan --documents 50 --recall 0.9 in.jsonl 2>&1 | said
title "for programs"
neardup plan --recall 0.9 --progress json in.jsonl 2>said; grep -cv '^{' said
neardup plan --precision 0.9 --progress json in.jsonl 2>said >plan; grep -cv '^{' said
neardup sketch --progress json in.jsonl -o x.nds 2>said; grep -cv '^{' said
rm -rf out; neardup dedup --progress json in.jsonl -o out 2>said; grep -cv '^{' said
title "small documents follow large ones, whose pairs lie around the threshold"
python3 - >up.jsonl <<'X'
import json, random
r = random.Random(7)
words = [f"w{i}" for i in range(3000)]
for i in range(300):
    for size, changes in ((60, 1), (700, 28)):
        text = [r.choice(words) for _ in range(size)]
        print(json.dumps({"id": f"{i}-{size}", "text": " ".join(text)}))
        for k in r.sample(range(size), changes):
            text[k] = r.choice(words)
        print(json.dumps({"id": f"{i}-{size}-again", "text": " ".join(text)}))
X
neardup plan --precision 0.7 --threshold 0.7 up.jsonl 2>&1 | grep -E '^(tokens  |warning)'
neardup plan --precision 0.5 --threshold 0.75 up.jsonl 2>&1 | grep -E '^(tokens  |warning)'
title "no number of bands suffices"
fails plan --recall 0.99 --threshold 0.0001 one.jsonl
title "refused"
for option in '--documents x' '--documents 0' '--precision 0' '--precision 1.5' '--recall 0' '--threshold 0' \
  '--threshold 2'; do
  fails plan $option in.jsonl 2>&1 | head -n 2
done
fails plan --precision 0.9 in.jsonl >/dev/full 2>/dev/null
fails info x.nds x.nds | grep -c documents
fails info missing.nds x.nds
neardup info x.nds x.nds 2>&1 >/dev/full; echo "exit $?"
# Written at the end, after records were rejected: the disk's failure is said, too.
{ cat one.jsonl; echo '{"id":1}'; } >bad.jsonl
neardup plan bad.jsonl >/dev/null 2>&1; echo "exit $?"
neardup plan bad.jsonl 2>&1 >/dev/full | tail -n 1; neardup plan bad.jsonl >/dev/full 2>/dev/null; echo "exit $?"
