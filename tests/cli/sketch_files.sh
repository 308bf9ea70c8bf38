# neardup sketch, merge, info: sketch files in place of documents.
. "$SRC/tests/cli/lib/lib.sh"
corpus="$SRC/examples/corpus"
said() { grep -vE '^(time|neardup: warning)' || true; }
title "a file gives the pairs that the documents give"
for method in minhash supershingle simhash projection combined combined-site \
  'minhash --family linear' 'simhash --weights tfidf' 'projection --features shingles'; do
  neardup sketch "$corpus" -o one.nds --resume never --method $method 2>/dev/null
  neardup pairs "$corpus" --method $method --verify sketch >direct 2>/dev/null
  neardup pairs one.nds --method $method >stored 2>/dev/null
  cmp direct stored && echo "$method: $(wc -l <stored) pairs"
done
title "one file, several methods, and other thresholds"
neardup sketch "$corpus" -o web.nds --method combined-site --columns simhash 2>&1 |
  sed -E 's/^time.*/time …/; s/ to .*/ to …/'
neardup info web.nds | grep -v '^bytes.[0-9]'  # ids are paths here
for method in supershingle 'projection --agree-bits 365' combined combined-site 'simhash --hamming 8'; do
  neardup pairs "$corpus" --method $method --shingle words:8 >direct 2>/dev/null
  neardup pairs web.nds --method $method 2>/dev/null | cmp - direct && echo "$method: same"
done
neardup pairs web.nds --candidates simhash --confirm supershingle --columns supershingle,simhash,site 2>/dev/null | tail -n 2
title "the same bytes whatever the threads and the memory"
for threads in 1 2 7; do
  neardup sketch "$corpus" -o threads.nds --resume never --method combined --threads $threads --memory 16M 2>/dev/null
  sha256sum <threads.nds
done | uniq | wc -l
title "merging"
{ json a "$(words 1 200)"; json "tab\\there" "$(words 2 201)"; } >one.jsonl
{ json c "$(words 1 200)"; json empty ""; } >two.jsonl
neardup sketch one.jsonl -o one.nds --resume never --method simhash 2>/dev/null
neardup sketch two.jsonl -o two.nds --method simhash 2>/dev/null
neardup merge one.nds two.nds -o both.nds
neardup info both.nds
neardup sketch one.jsonl two.jsonl -o direct.nds --method simhash 2>/dev/null
for input in both.nds 'one.nds two.nds' direct.nds 'one.jsonl two.jsonl'; do
  neardup pairs $input --method simhash 2>/dev/null | sha256sum
done | uniq | wc -l
neardup pairs both.nds --method simhash --hamming 16 2>/dev/null
neardup pairs one.nds --against two.nds --method simhash 2>/dev/null
neardup pairs - --method simhash <both.nds 2>/dev/null | wc -l
title "what only documents can do"
fails pairs web.nds --method combined --verify exact
fails pairs web.nds --method combined --columns exact
fails pairs web.nds --method join
fails pairs web.nds --candidates supershingle --confirm exact
fails pairs web.nds --method supershingle --sample mod:2
fails pairs web.nds --method supershingle --ignore-boilerplate
fails dedup web.nds -o out
title "files that do not fit"
fails pairs one.nds --method projection
fails pairs one.nds --method simhash --seed 7
fails pairs one.nds --method simhash --tokens codepoints
fails pairs one.nds --method simhash --weights tf
fails pairs web.nds --method supershingle --shingle words:3
fails pairs web.nds --method supershingle --permutations 60
fails pairs web.nds --method projection --bits 128
neardup sketch two.jsonl -o seed.nds --method simhash --seed 2 2>/dev/null
neardup sketch two.jsonl -o tf.nds --method simhash --weights tf 2>/dev/null
neardup sketch two.jsonl -o more.nds --method simhash --columns site 2>/dev/null
neardup sketch one.jsonl -o idf1.nds --method simhash --weights tfidf 2>/dev/null
neardup sketch two.jsonl -o idf2.nds --method simhash --weights tfidf 2>/dev/null
fails pairs one.nds seed.nds --method simhash
fails merge one.nds seed.nds -o no.nds
fails merge one.nds tf.nds -o no.nds
fails merge one.nds more.nds -o no.nds
fails merge idf1.nds idf2.nds -o no.nds 2>&1 | sed -E 's/[0-9a-f]{16}/…/g'
fails pairs one.nds one.jsonl --method simhash
fails pairs one.jsonl one.nds --method simhash
fails merge one.nds one.jsonl -o no.nds
ls no.nds* 2>&1 | wc -l
title "damage"
python3 - <<'X'
from pathlib import Path
good = Path("one.nds").read_bytes()
def write(name, data): Path(name).write_bytes(data)
def patch(at, new): return good[:at] + new + good[at + len(new):]
write("cut.nds", good[:-1])
write("cut_head.nds", good[:40])
write("long.nds", good + b"x")
write("version.nds", patch(12, b"\2\0\0\0"))
write("order.nds", patch(8, b"\1\2\3\4"))
write("parameters.nds", patch(66, b"X"))
write("row.nds", good[:-30] + bytes([good[-30] ^ 1]) + good[-29:])
X
for name in cut cut_head long version order parameters row; do
  fails info $name.nds
done
fails pairs row.nds --method simhash
fails pairs cut.nds --method simhash
fails merge cut.nds -o no.nds
title "usage"
fails sketch one.jsonl
fails sketch one.jsonl -o x.nds --method exact
fails sketch one.nds -o x.nds --method simhash
fails sketch nowhere -o x.nds
fails sketch one.jsonl -o missing/x.nds 2>&1 | sed 's/part-[0-9]*/part-…/'
fails merge one.nds
fails info one.jsonl
fails info
{ json a "$(words 1 20)"; echo broken; } >bad.jsonl
neardup sketch bad.jsonl -o bad.nds 2>/dev/null
echo "exit $?"
neardup info bad.nds
title "ids with line ends in a sketch file"
printf '{"id":"a\\tb\\nc\\rd\\\\e","text":"%s"}\n{"id":"x\\\\","text":"%s"}\n' "$FOX" "$FOX" >ids.jsonl
neardup sketch ids.jsonl -o ids.nds 2>/dev/null
neardup pairs ids.nds 2>/dev/null; neardup pairs ids.jsonl 2>/dev/null
fails sketch -o none.nds
