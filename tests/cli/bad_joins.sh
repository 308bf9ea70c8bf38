# Exact joins of bad input: a clear error or the right answer, never a wrong one.
. "$SRC/tests/cli/lib/lib.sh"
try() {
  title "$*"
  neardup pairs --format sets "$@" 2>&1 | said
}
printf '1 2 3 4 5\n1 2 x 4 5\n1 2 3 4 5\n' >letters.sets
try letters.sets --method join
printf '1 2 3 4 5\n-1 2 3 4 5\n1 2.5 3\n1 2 3 4 5\n' >negative.sets
try negative.sets --method exact
# The largest 64-bit numbers are tokens; one more is not.
printf '18446744073709551615 1 2 3 4\n18446744073709551615 4 3 2 1\n18446744073709551616 1 2 3 4\n' >large.sets
try large.sets --method join --threshold 0.9
printf '007 1 2 3\n7 1 2 03\n' >zeros.sets
try zeros.sets --method ppjoin --threshold 1
printf '\n1 2 3\n\n   \n1 2 3\n\n' >blank.sets
for method in exact join allpairs ppjoin ppjoin+; do
  try blank.sets --method $method --threshold 0.5
done
printf '' >nothing.sets
try nothing.sets --method join
title "thresholds"
printf '1 2 3 4 5\n1 2 3 4\n9 8 7\n' >three.sets
for t in 0 1.5 0,8 -1 abc '' 1e-3 0.8.1 nan; do
  echo "-- $t"
  neardup pairs --format sets three.sets --method join --threshold "$t" 2>&1 | said
done
echo "-- 1.0"
neardup pairs --format sets three.sets --method join --threshold 1.0 2>&1 | said
title "an overlap that no record reaches"
for method in exact join allpairs ppjoin ppjoin+; do
  neardup pairs --format sets three.sets --method $method --similarity overlap --threshold 1000000 2>/dev/null
done
neardup pairs --format sets three.sets --method join --similarity overlap --threshold 4 2>/dev/null
for t in 0 -4 4.5 99999999999999999999; do
  echo "-- $t"
  neardup pairs --format sets three.sets --method join --similarity overlap --threshold "$t" 2>&1 | said
done
title "no room for the sorted runs"
awk 'BEGIN { srand(1); for (r = 0; r < 30000; r++) { line = ""; for (i = 0; i < 20; i++)
  line = line " " int(rand() * 9000); print line } }' >runs.sets
for method in exact join; do
  (ulimit -f 4500; trap '' XFSZ
    neardup pairs --format sets runs.sets --method $method --threshold 0.9 --memory 16M --tmp . 2>&1) |
    sed -E 's/neardup-[A-Za-z0-9]+/neardup-…/' | said
done
