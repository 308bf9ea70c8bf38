# prevalence and eval: lists as programs and people really write them, and lists that are wrong.
. "$SRC/tests/cli/lib/lib.sh"
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
title "eval: sizes, contradictions, long ids, empty fields"
printf 'a\tb\t1\nb\tc\t0\nc\td\t1\n%s\ta\t1\na\t%s\t0\nb\ta\t0\nb\ta\t1\n' $L $L >truth
printf 'a\tx\nb\tx\nc\ty\nd\ty\nc\tx\nc\tz\n' >clusters
printf 'a\t10\nb\t-5\n' >sizes
fails eval --truth truth pairs --by size --documents sizes
printf 'a\tmany\n' >sizes; fails eval --truth truth pairs --by size --documents sizes
printf 'a\nb\t20\nc\t30\t\n' >sizes; fails eval --truth truth pairs --by size --documents sizes
fails eval --truth truth clusters | sed 's/long[long]*/LONG/g'
fails eval --truth truth --judged clusters --as pairs | sed 's/long[long]*/LONG/g'
fails eval --truth clusters --truth-kind clusters pairs --as clusters | sed 's/long[long]*/LONG/g'
fails eval --truth clusters --truth-kind clusters clusters --result-kind clusters --json
for line in '\tb' 'a\t' 'a'; do
  printf "$line\n" >bad
  fails eval --truth bad truth
done
fails eval --truth truth --truth-kind auto pairs --result-kind pairs | sed -n '2,4p;$p'
fails eval --truth truth --truth-kind lists pairs
