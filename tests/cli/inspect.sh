# neardup inspect: a line per record.
. "$SRC/tests/cli/lib/lib.sh"
cd "$SRC"
neardup inspect examples/corpus; echo "exit $?"
title "--whole"
neardup inspect --whole examples/corpus/text/note-*.txt examples/corpus/html/app-shell.html
printf '%s' "$(words 1 30)" >"$HOME/long.txt"
neardup inspect "$HOME/long.txt"
neardup inspect --whole "$HOME/long.txt"
title "standard input"
neardup inspect - <examples/corpus/news.trec | cut -f1-4
ls "$TMPDIR"
