# What is stored of standard input has a bound, and a message that says where it was and what to do.
. "$SRC/tests/cli/lib/lib.sh"
mkdir tmp
export TMPDIR=$PWD/tmp
for i in $(seq 200); do echo "{\"id\":\"$i\",\"text\":\"$FOX $i\"}"; done >in.jsonl
hide() { sed -E 's#tmp/neardup-[A-Za-z0-9]+/#tmp/neardup-…/#'; }

title "as much as is allowed"
bytes=$(wc -c <in.jsonl)
neardup pairs - --max-stdin "$bytes" <in.jsonl 2>/dev/null | wc -l
neardup pairs in.jsonl --max-stdin 1 2>/dev/null | wc -l

title "a byte more"
for command in "dedup - -o out" "dedup - -o out --tmp tmp" "pairs -" "sketch - -o out" "inspect -" \
  "plan -" "study sampling -" "study sources -" "explain 1 2 -" \
  "eval --truth list --corpus - list"; do
  printf '1\t2\t1\n' >list
  echo "-- $command"
  # shellcheck disable=SC2086
  neardup $command --max-stdin $((bytes - 1)) <in.jsonl 2>&1 >/dev/null | hide | sed "s/$((bytes - 1))/MOST/"
  echo "exit ${PIPESTATUS[0]}"
  ls -A tmp
  [ -e out ] && echo "out is there"
done

title "an endless pipe"
yes '{"id":"a","text":"x"}' | neardup dedup - -o out --max-stdin 3M 2>&1
echo "exit ${PIPESTATUS[1]}"
[ -e out ] && echo "out is there"

title "what was there before stays"
neardup dedup in.jsonl -o out 2>/dev/null
neardup dedup - -o out --resume never --max-stdin 5 <in.jsonl 2>&1
ls -A out
