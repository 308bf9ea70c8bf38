# Thresholds are exact: 8 of 10 shingles are 0.8, and not 0.800000001.
. "$SRC/tests/cli/lib/lib.sh"
json a "$(words 1 13)" >in.jsonl
json b "$(words 2 14)" >>in.jsonl
for t in 0.8 0.80 .8 0.800000000 0.799999999 0.800000001 0.81 1 1.0 1.000; do
  echo "$t: $(pairs in.jsonl $SURE --threshold $t | tr '\t' ' ')"
done

title "a third, two thirds, one seventh"
printf '1 2\n2 3\n' >third.sets
printf '1 2\n1 2 3\n' >two-thirds.sets
printf '1 2 3 4\n4 5 6 7\n' >seventh.sets
for t in 0.333333333 0.333333334; do pairs third.sets --format sets $SURE --threshold $t; echo "$t"; done
for t in 0.666666666 0.666666667; do pairs two-thirds.sets --format sets $SURE --threshold $t; echo "$t"; done
for t in 0.142857142 0.142857143; do pairs seventh.sets --format sets $SURE --threshold $t; echo "$t"; done

title "dedup decides alike"
dedup in.jsonl $SURE --threshold 0.8
dedup in.jsonl $SURE --threshold 0.800000001
title "and so does cluster"
printf 'a\tb\t0.800000\n' | neardup cluster --threshold 0.8 - 2>/dev/null
printf 'a\tb\t0.800000\n' | neardup cluster --threshold 0.800001 - 2>/dev/null
