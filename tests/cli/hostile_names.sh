# Names and ids with ../, line ends and escape sequences: nothing is written
# outside the output directory, and a terminal gets no control characters.
. "$SRC/tests/cli/lib/lib.sh"
esc=$(printf '\033[31m')
mkdir -p deep/er in
printf '{"id":"../../../escaped","url":"http://../../x","text":"%s"}\n' "$FOX" >in/a.jsonl
printf '{"id":"/etc/\\u001b[31mred","text":"%s"}\n{"id":"line\\nend\\u0007","text":"%s and"}\nbroken\n' "$RICE" "$FOX" >>in/a.jsonl
printf '%s' "$FOX" >"in/$esc
..name.txt"
printf '{"id": broken %s\n' "$esc" >"in/$esc.jsonl"
cd deep/er
title "nothing outside the directory"
find ../.. | LC_ALL=C sort >../../../before
neardup dedup ../../in ../../deep/../in/a.jsonl -o out 2>/dev/null
echo "exit $?"
rm -rf ../../../after
find ../.. -path ../../deep/er/out -prune -o -print | LC_ALL=C sort >../../../after
cmp ../../../before ../../../after && echo "only the output"
rm ../../../before ../../../after
find out/kept -type f | LC_ALL=C sort | cat -v
counts out
title "the page and the summary hold no raw control characters"
cat out/*.html out/*.json | LC_ALL=C tr -d '\t\n' | LC_ALL=C grep -c '[[:cntrl:]]'
title "on a terminal"
on_terminal() { TERM=xterm script -qec "$NEARDUP $*" /dev/null </dev/null | tr -d '\r\t\n' | LC_ALL=C grep -c '[[:cntrl:]]'; }
on_terminal inspect ../../in
on_terminal pairs --progress none ../../in
on_terminal dedup --progress none ../../in -o other
on_terminal pairs --progress none "'../../in/$esc missing'"
on_terminal dedup --progress none "'../../in/$esc.jsonl'" -o "'third$esc'"
true
