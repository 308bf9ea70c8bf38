# Joins of more than the memory holds: blocks of the records, the same result for any budget.
# slow
. "$SRC/tests/cli/lib/lib.sh"
# 24,000 sets; one in three is a changed copy of the one before it.
awk 'BEGIN { srand(7); for (r = 0; r < 24000; r++) { n = 12 + int(rand() * 30); line = "";
  for (i = 0; i < n; i++) { if (r % 3 != 2 || i >= m || rand() < .1) t[i] = int(rand() * rand() * 60000);
    line = line " " t[i] } m = n; print line } }' >many.sets
head -n 9000 many.sets >few.sets
awk 'BEGIN { srand(3); for (r = 0; r < 9000; r++) { line = ""; n = 5 + int(rand() * 40);
  for (i = 0; i < n; i++) { if (r % 2 == 0 || rand() < .05) t[i] = int(rand() * 5000);
    line = line " w" t[i] } print line } }' >words.lines

# same TITLE OPTION…: a small and a large budget give the same pairs, in one join and in several.
same() {
  title "$1"
  shift
  neardup pairs --format "$@" --memory 1G --threads 1 --stats >large.tsv 2>large.log
  neardup pairs --format "$@" --memory 16M --threads 2 --stats >small.tsv 2>small.log
  cmp large.tsv small.tsv && echo same
  [ "$(wc -l <large.tsv)" -gt 10 ] && echo some
  [ "$(sed -n 's/^joins\t//p' large.log)" = 1 ] && echo one
  [ "$(sed -n 's/^joins\t//p' small.log)" -gt 1 ] && echo several
  diff <(grep -E '^(records|results)' large.log) <(grep -E '^(records|results)' small.log)
}
same jaccard sets many.sets --method join --threshold 0.7
same ppjoin+ sets many.sets --method ppjoin+ --threshold 0.9
same cosine sets many.sets --method allpairs --similarity cosine --threshold 0.8
same overlap sets many.sets --method ppjoin --similarity overlap --threshold 12
same containment sets many.sets --method join --similarity containment --threshold 0.9
same "two collections" sets many.sets --method join --threshold 0.8 --against few.sets
same edit lines words.lines --method join --similarity edit --threshold 4
title "exact, with more than one round"
neardup pairs --format sets many.sets --method exact --threshold 0.7 --memory 1G 2>/dev/null >large.tsv
neardup pairs --format sets many.sets --method exact --threshold 0.7 --memory 16M 2>/dev/null |
  cmp - large.tsv && echo same
neardup pairs --format sets many.sets --method join --threshold 0.7 2>/dev/null | cmp - large.tsv &&
  echo "as join"
title "a record of ten million tokens, and one that lacks a hundredth of them"
seq -s ' ' 1 10000000 >long.sets
seq -s ' ' 1 9900000 >>long.sets
echo '1 2 3' >>long.sets
neardup pairs --format sets long.sets --method join --threshold 0.95 --max-document 100M 2>&1 | said
title "the same with less memory than it needs"
neardup pairs --format sets long.sets --method join --threshold 0.95 --memory 64M 2>&1 | said
