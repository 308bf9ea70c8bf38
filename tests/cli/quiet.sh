# --quiet: every command takes it and prints errors only; outputs and exit status stay.
. "$SRC/tests/cli/lib/lib.sh"
{ json a "$FOX"; json b "$FOX today"; json b "$RICE"; echo '{"broken"'; } >in.jsonl
printf 'a\tb\t1\nb\tb\t1\na\tq\t1\na\tb\t1\n' >odd.tsv
printf 't1 Q0 a 1 9 r\nt1 Q0 b 2 9 r\n' >run.txt
neardup sketch in.jsonl -o one.nds 2>/dev/null

# Runs a command with and without --quiet.
both() {
  rm -rf loud quiet
  echo "\$ neardup $*"
  neardup "${@//OUT/loud}" >loud.txt 2>loud.err
  echo "exit $?, $(wc -l <loud.err | sed 's/^0$/no/;s/^[1-9].*/some/') lines on stderr"
  neardup "${@//OUT/quiet}" --quiet >quiet.txt 2>quiet.err
  echo "quiet: exit $?, $(wc -l <quiet.err) lines on stderr"
  cmp loud.txt quiet.txt
  [ ! -e loud ] || diff -r -x summary.json -x report.html -x .neardup loud quiet
}

both dedup $SURE in.jsonl -o OUT
both pairs $SURE in.jsonl
both cluster odd.tsv
both explain a b in.jsonl
both inspect in.jsonl
both plan in.jsonl
both sketch in.jsonl -o OUT
both merge one.nds -o OUT
both info one.nds
both eval --truth odd.tsv --corpus in.jsonl odd.tsv
both study library in.jsonl
both prevalence --run run.txt --pairs odd.tsv
title "a finished result, and a shard"
neardup dedup $SURE in.jsonl -o OUT -q; echo "exit $?"
neardup dedup $SURE in.jsonl -o OUT -q; echo "exit $?"
neardup dedup $SURE in.jsonl -o part --shard 1/2 -q; echo "exit $?"
title "errors are printed"
fails dedup --quiet missing.jsonl -o new
fails pairs -q in.jsonl --treshold 1
fails pairs --quiet=yes in.jsonl
title "what was asked for is printed"
neardup pairs $SURE -q --progress json in.jsonl 2>&1 >/dev/null | grep -c '^{"stage"' | sed 's/^[1-9].*/some/'
neardup pairs -q --method join --stats in.jsonl 2>&1 >/dev/null | head -n 1
title "no bar on a terminal"
unset COLUMNS
TERM=xterm python3 "$SRC/tests/cli/lib/terminal.py" 80 neardup dedup -q $SURE in.jsonl -o bar
