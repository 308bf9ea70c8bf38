# neardup cluster: lists of pairs, good and bad.
. "$SRC/tests/cli/lib/lib.sh"
printf 'a\tb\t0.9\nb\tc\t0.85\nd\te\t1\nf\tf\t1\nx\ty\t0.3\n' >list.tsv
neardup cluster list.tsv
title "star, threshold"
neardup cluster --cluster star list.tsv
neardup cluster --threshold 0.9 list.tsv
title "packed, piped, without a line end"
gzip <list.tsv >list.gz; neardup cluster list.gz 2>&1 | cmp - <(neardup cluster list.tsv 2>&1)
zstd -q <list.tsv >list.zst; neardup cluster list.zst 2>&1 | cmp - <(neardup cluster list.tsv 2>&1)
printf 'a\tb' | neardup cluster -
title "two columns, more than three, CR LF, empty lines, any order"
printf 'b\ta\r\n\r\nc\tb\t0.5\tnote\tnote\r\n' | neardup cluster -
title "ids stay escaped"
printf 'a\\tb\tc\\\\\t1.000000\n' | neardup cluster -
title "nothing"
neardup cluster - </dev/null
title "pairs of a long chain, one cluster"
seq 1 20000 | awk '{ printf "%d\t%d\t0.9\n", $1, $1 + 1 }' | neardup cluster - | cut -f2,3 | sort | uniq -c
title "bad lists"
printf 'a\tb\t0.9\nno tab here\n' >bad1; fails cluster bad1
printf 'a\tb\tmuch\n' >bad2; fails cluster bad2
printf '\tb\t1\n' >bad3; fails cluster bad3
printf 'a\tb\t-1\n' >bad4; fails cluster bad4
head -c 30 list.gz >cut.gz; fails cluster cut.gz 2>&1 | sed 's/byte [0-9]*/byte …/'
fails cluster missing.tsv
fails cluster list.tsv list.tsv
fails cluster
fails cluster .
title "a line without end"
head -c 70000000 /dev/zero | tr '\0' x | fails cluster -
title "lists of pairs with odd numbers"
for value in 1.2.3 1. .5 1.x 5000000000 -1 1e-1 ''; do
  printf 'a\tb\t%s\n' "$value" >list
  neardup cluster list 2>&1 | grep -E 'neardup:|^a'
done
for line in '\tb\t1' 'a\t\t1' 'a' 'a\tb'; do
  printf "$line\n" >list
  neardup cluster list 2>&1 | grep -E 'neardup:|^a'
done
