# The output directory: new, empty, ours, or refused.
. "$SRC/tests/cli/lib/lib.sh"
{ json a "$FOX"; json b "$RICE"; json c "$FOX"; } >in.jsonl
fails dedup in.jsonl -o in.jsonl
fails dedup in.jsonl -o in.jsonl/out
mkdir foreign; echo precious >foreign/file
fails dedup in.jsonl -o foreign
cat foreign/file; ls -A foreign
title "nested directories are made; an empty one is fine"
neardup dedup in.jsonl -o x/y/z 2>/dev/null; echo "exit $?"; ls -A x/y/z
mkdir empty; neardup dedup in.jsonl -oempty 2>/dev/null; echo "exit $?"; ls -A empty
title "done already"
neardup dedup in.jsonl -o empty --threads 1; echo "exit $?"
title "another run's result is not replaced unasked"
fails dedup in.jsonl -o empty --threshold 0.9
json d "$RICE" >>in.jsonl
fails dedup in.jsonl -o empty
neardup dedup in.jsonl -o empty --resume never 2>&1 | said; counts empty
title "a result that kept nothing is replaced"
echo '{"id"' >bad.jsonl
neardup dedup bad.jsonl --format jsonl -o none 2>/dev/null; echo "exit $?"; ls -A none none/kept
cp in.jsonl bad.jsonl
neardup dedup bad.jsonl --format jsonl -o none --resume never 2>&1 | complaints; counts none; ls -A none none/kept
title "a run without its work is no result"
rm empty/summary.json
fails dedup in.jsonl -o empty
title "summary.json as a power cut after --sync no may leave it"
neardup dedup in.jsonl -o cut --sync no 2>/dev/null
: >cut/summary.json
fails dedup in.jsonl -o cut
head -c 3000 /dev/zero >cut/summary.json
neardup dedup in.jsonl -o cut --resume never 2>/dev/null; echo "exit $?"; counts cut
: >cut/summary.json; echo precious >cut/file
fails dedup in.jsonl -o cut --resume never
title "a commit that was interrupted at its end, and another one"
neardup dedup in.jsonl -o late 2>/dev/null
mkdir -m 700 late/.neardup late/.neardup/result late/.neardup/old
cp -r late/kept late/*.* late/.neardup/old
neardup dedup in.jsonl -o late --threshold 0.9 --resume never 2>/dev/null; echo "exit $?"; ls -A late
title "--tmp"
fails dedup in.jsonl -o other --tmp in.jsonl/x 2>&1 | sed 's/neardup-[0-9a-f]*/neardup-…/'
ls -A other 2>&1
mkdir tmp; neardup dedup in.jsonl -o other --tmp tmp 2>/dev/null; echo "exit $?"; ls -A tmp other
fails pairs in.jsonl --tmp nowhere
title "shards, then the rest"
seq 60000 | awk '{ printf "{\"id\":\"%d\",\"text\":\"w%d x%d y%d z%d v%d u%d and some more words to fill the line up to a length\"}\n", $1, $1%50000, $1%50000, $1%50000, $1%50000, $1%50000, $1%50000 }' >big.jsonl
for i in 1 2 3; do neardup dedup big.jsonl -o sharded --shard $i/3 2>/dev/null || echo "exit $?"; done
neardup dedup big.jsonl -o sharded 2>/dev/null; echo "exit $?"; counts sharded
neardup dedup big.jsonl -o whole 2>/dev/null; diff -r -x summary.json -x report.html sharded whole && echo same
