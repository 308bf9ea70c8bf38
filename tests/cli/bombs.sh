# A gigabyte of zeros packed into little: rejected at --max-document, in flat
# memory, and what follows is read.
# slow
. "$SRC/tests/cli/lib/lib.sh"
show() { python3 "$SRC/tests/cli/lib/peak.py" out 200; }
export PYTHONDONTWRITEBYTECODE=1
gz() { python3 "$SRC/tests/cli/lib/bomb.py" "$1" "$2"; }
zst() { { printf '%s' "$1"; head -c 1G /dev/zero; printf '%s' "$2"; } | zstd -q; }
for pack in gz zst; do
  title "a line, $pack"
  $pack "$(json a "$FOX")"$'\n' $'\n'"$(json b "$RICE")"$'\n' >in
  dedup in --memory 128M
  show
  neardup inspect out/kept/in | cut -f1-6
  title "a text, $pack"
  $pack "" "" >in
  dedup in --memory 128M
  show
  kept out
done
for name in bomb bomb-in-bomb; do
  title "HTTP body: $name"
  python3 "$SRC/tests/cli/lib/records.py" $name >in
  dedup in --memory 128M
  show
  kept out
done
title "a window of 1 GB is refused"
{ head -c 300M /dev/zero; echo "$FOX"; } | zstd -q --long=30 -1 >in
dedup in --memory 128M | sed -E 's/[0-9]+ (bytes|MiB)/… \1/g'
show
