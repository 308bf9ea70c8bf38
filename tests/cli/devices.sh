# Output into what is not a plain file: nothing takes the place of a device, and none is removed.
. "$SRC/tests/cli/lib/lib.sh"
mknod full c 1 7 2>/dev/null && [ -w full ] && ! echo x 2>/dev/null >full ||
  { echo "skipped, no device can be made"; exit 77; }
mknod null c 1 3
{ json a "$FOX"; json b "$FOX today"; json c "$RICE"; } >in.jsonl
for command in 'plan --precision 0.9 in.jsonl' 'explain a b in.jsonl' 'sketch in.jsonl' \
  'explain a nothing in.jsonl'; do
  fails $command -o full
  fails $command -o null 2>/dev/null
done
{ json a "$(words 1 9000)"; json b "$(words 1 9000 x)"; } >long.jsonl
fails explain a b long.jsonl --whole -o full
neardup sketch in.jsonl -o x.nds 2>/dev/null
fails merge x.nds -o null
ls -l full null | cut -c1
find . -name '*.part*'
title "plain files that fail are gone"
fails explain a nothing in.jsonl -o page.html
fails plan --precision 0.9 missing.jsonl -o plan
ls page.html plan 2>&1 | sed 's/.*\(page\|plan\).*/no \1/'
