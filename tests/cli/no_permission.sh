# Files and folders that may not be read or written.
. "$SRC/tests/cli/lib/lib.sh"
mkdir in
echo "$FOX" >in/good.txt
echo secret >in/secret
mkdir in/closed ro
echo "$RICE" >in/closed/file
chmod 000 in/secret in/closed
chmod 555 ro
# Root may read everything unless it gives that up.
as=
[ "$(id -u)" = 0 ] && as="setpriv --bounding-set -dac_override,-dac_read_search"
$as true 2>/dev/null && ! $as cat in/secret 2>/dev/null ||
  { echo "skipped, root cannot give up its rights here"; exit 77; }
$as "$NEARDUP" dedup in -o out 2>said
echo "exit $?"
complaints <said
counts out
cat out/rejected.tsv
kept out
title "nothing but what may not be read"
$as "$NEARDUP" pairs in/secret 2>&1 | said
$as "$NEARDUP" inspect in/secret in/closed
echo "exit $?"
title "no place to write"
$as "$NEARDUP" dedup in/good.txt -o ro/out
echo "exit $?"
$as "$NEARDUP" pairs in/good.txt --tmp ro 2>&1 | sed 's/neardup-[A-Za-z0-9]*/neardup-…/'
chmod -R 755 in ro
