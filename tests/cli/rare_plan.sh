# Plans: what is said when sampling promises much, little, or cannot be measured.
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
title "refused"
for option in '--documents x' '--documents 0' '--precision 0' '--precision 1.5' '--recall 0' '--threshold 0' \
  '--threshold 2'; do
  fails plan $option in.jsonl 2>&1 | head -n 2
done
fails plan --precision 0.9 in.jsonl >/dev/full 2>/dev/null
fails info x.nds x.nds | grep -c documents
