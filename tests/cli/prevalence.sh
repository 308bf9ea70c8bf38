# neardup prevalence: a worked example, filtered runs, odd and bad input.
. "$SRC/tests/cli/lib/lib.sh"
# Topic 1: a and b are near-duplicates (0.9), b and c (0.6), x and y (0.4).
printf '1 Q0 a 1 9 one\n1 Q0 b 2 8 one\n1 Q0 c 3 7 one\n1 Q0 d 4 6 one\n2 Q0 x 1 5 one\n2 Q0 y 2 4 one\n' >one.txt
printf '1 Q0 d 0 9 two\n1 Q0 c 1 8 two\n1 Q0 e 2 7 two\n1 Q0 a 3 6 two\n' >two.txt
printf '1 0 a 1\n1 0 b 2\n1 0 d 0\n1 0 e 1\n2 0 x 0\n' >qrels.txt
printf 'a\tb\t0.9\nb\tc\t0.6\nx\ty\t0.4\n' >pairs.tsv
neardup prevalence --run one.txt two.txt --qrels qrels.txt --pairs pairs.tsv --filter-runs unique
title "the runs without near-duplicates"
head unique/*.txt
title "another threshold"
neardup prevalence --run one.txt --run two.txt --pairs pairs.tsv --threshold 0.4 --filter-runs other 2>&1 >said |
  grep removed
title "clusters instead of pairs, packed, into a directory"
printf 'a\tg1\nb\tg1\nc\tg2\nx\tg3\ny\tg3\n' | zstd -q >groups.zst
gzip <one.txt >one.txt.gz
neardup prevalence --run one.txt.gz --pairs groups.zst --pairs-kind clusters -o tables --filter-runs packed \
  >said 2>&1
ls tables | grep tsv; head -n 4 tables/topics.tsv; cat packed/one.txt
title "ties, repeats, ranks that disagree, judgements that disagree"
printf '1 Q0 b 2 8 t\n1 Q0 a 1 8 t\n1 Q0 a 3 7 t\n1 Q0 c 1 6 t\n' >odd.txt
printf '1 0 a 1\n1 0 a 0\n3 0 z 1\n' >odd.qrels
neardup prevalence --run odd.txt --qrels odd.qrels --pairs pairs.tsv --filter-runs odd.unique 2>&1 >said
cat odd.unique/odd.txt
title "an earlier result is replaced only with --resume never"
fails prevalence --run odd.txt --pairs pairs.tsv --filter-runs odd.unique >/dev/null
ls odd.unique
neardup prevalence --run two.txt --pairs pairs.tsv --filter-runs odd.unique --resume never >/dev/null 2>&1
ls odd.unique
title "no near-duplicates at all"
: >none; neardup prevalence --run two.txt --pairs none 2>/dev/null | sed -n '1,5p'
title "refused"
fails prevalence --run one.txt
fails prevalence --pairs pairs.tsv
fails prevalence --run missing.txt --pairs pairs.tsv
fails prevalence --run one.txt --pairs missing.tsv
fails prevalence --run one.txt --pairs pairs.tsv --threshold half
fails prevalence --run one.txt --pairs pairs.tsv --filter-runs .
fails prevalence --run one.txt unique/one.txt --pairs pairs.tsv --filter-runs new 2>&1 | tail -n 2
printf '1 Q0 a\n' >bad.txt; fails prevalence --run bad.txt --pairs pairs.tsv
printf '1 Q0 a 1 high t\n' >bad.txt; fails prevalence --run bad.txt --pairs pairs.tsv
fails prevalence --run none --pairs pairs.tsv
fails prevalence --run one.txt --pairs pairs.tsv --qrels none
printf '1 0 a\n' >bad.qrels; fails prevalence --run one.txt --pairs pairs.tsv --qrels bad.qrels
L=$(printf 'long%.0s' $(seq 50))
title "runs: blank lines, exponents, ties, long names"
printf '\n1 Q0 a 1 +9.5e1 r\n   \n1 Q0 b 2 9.5E+1 r\n1 Q0 c 2 95 r\n1 Q0 d 5 1e-400 r\n1 Q0 e 4 12345678901234567890123 r\n' >run
printf '1 Q0 f 6 -.5 r\n1 Q0 g 7 5. r\n1 Q0 h 7 0.12345678901234567890123 r\n2 Q0 a 1 1 r\n1 Q0 a 9 1 r\n1 Q0 %s 9 0 r\n' $L >>run
printf 'a\tb\t1\nb\tc\t0.5\ng\th\t1\n%s\ta\t1\n' $L >pairs
printf '\n1 0 a 1\n1 0 b 2\n1 0 %s 0\n2 a 1 x 0.5\n' $L >qrels
neardup prevalence --run run --pairs pairs --filter-runs out >said 2>&1
echo $?; sed 's/long[long]*/LONG/g' said | head -n 12; cut -d ' ' -f 1-5 out/run | sed 's/long[long]*/LONG/g'
title "scores that are none"
for score in . + - e5 1e 1e+ 1e5x 1e99999 1e400 0x10 ''; do
  printf '1 Q0 a 1 %s' "$score" >bad
  neardup prevalence --run bad --pairs pairs 2>&1 | grep neardup:
done
title "ranks that are none"
for rank in -1 x 1.5.5; do
  printf '1 Q0 a %s 1 r\n' "$rank" >bad
  neardup prevalence --run bad --pairs pairs 2>&1 | grep neardup:
done
for line in '1' '1 Q0' '1 Q0 a' '1 Q0 a 1'; do
  echo "$line" >bad
  neardup prevalence --run bad --pairs pairs 2>&1 | grep neardup:
done
title "judgements"
for line in '1' '1 0' '1 0 a' '1 0 a x' '1 a high 0.5 x'; do
  echo "$line" >bad
  neardup prevalence --run run --pairs pairs --qrels bad 2>&1 | grep neardup:
done
neardup prevalence --run run --pairs pairs --qrels qrels >said 2>&1
echo $?; grep -c . said
title "names of filtered runs"
cp run run.gz; mkdir -p sub; cp run sub/run; cp run .gz; ln run link
fails prevalence --run run run.gz --pairs pairs --filter-runs two >/dev/null
fails prevalence --run run sub/run --pairs pairs --filter-runs two >/dev/null
fails prevalence --run - --pairs pairs --filter-runs two <run >/dev/null
fails prevalence --run .gz --pairs pairs --filter-runs two | tail -n 1; ls -A two
zstd -q <run >run.zst; cp run .zst
neardup prevalence --run run.zst .zst --pairs pairs --filter-runs three >/dev/null 2>&1; ls -A three
mkdir same; ln run same/run; cp run summary.json
fails prevalence --run run --pairs pairs --filter-runs same | tail -n 1
fails prevalence --run same/run --pairs pairs --filter-runs same --force | tail -n 1
fails prevalence --run summary.json --pairs pairs --filter-runs four | tail -n 1
fails prevalence --run run --pairs pairs --threshold -1 | tail -n 1
