# neardup eval: pairs, clusters, groups, and lists that are not as they should be.
. "$SRC/tests/cli/lib/lib.sh"
printf 'a\tb\t0.9\nb\tc\t0.85\nd\te\t1\nx\ty\t0.3\n' >truth.tsv
printf 'b\ta\t0.8\nd\te\t1.000000\na\tz\t0.7\n' >result.tsv
neardup eval --truth truth.tsv result.tsv
title "thresholds"
neardup eval --truth truth.tsv --truth-threshold 0.85 --threshold 0.8 result.tsv | sed -n '2,8p'
title "clusters"
neardup eval --truth truth.tsv result.tsv --as clusters
title "a clustering and its own pairs"
neardup cluster truth.tsv >clusters.tsv 2>said
neardup eval --truth truth.tsv clusters.tsv | sed -n '2,8p'
neardup eval --truth clusters.tsv truth.tsv | sed -n '2,8p'
neardup eval --truth clusters.tsv clusters.tsv --json
title "by site, by size"
{
  printf 'a\t10\thttp://www.cs.example.org/1\nb\t700\thttp://web.cs.example.org/2\nc\t12000\thttp://x.org\n'
  printf 'd\t5\t\ne\t6\nx\t1\nz\t3\thttp://z.org/\ny\t3\n'
} >documents.tsv
neardup eval --truth truth.tsv result.tsv --by site --documents documents.tsv
neardup eval --truth truth.tsv result.tsv --by size --documents documents.tsv | cut -f 1-4,12
title "by site, from the documents themselves"
{
  json a "$FOX" '"url":"http://www.a.org/1"'
  json b "$FOX" '"url":"http://www.a.org/2"'
  json c "$RICE" '"url":"http://b.org/"'
} >corpus.jsonl
neardup pairs corpus.jsonl 2>said >found.tsv
printf 'a\tb\nb\tc\n' | neardup eval --truth - --by site --corpus corpus.jsonl found.tsv | sed -n '1,8p'
title "packed, CR LF, no line end"
gzip <truth.tsv >truth.gz; zstd -q <result.tsv >result.zst
neardup eval --truth truth.gz result.zst | cmp - <(neardup eval --truth truth.tsv result.tsv)
printf 'a\tb\t1\r\nc\td\t1' | neardup eval --truth - --judged result.tsv | sed -n '2,8p'
title "lines that cannot be used"
printf 'a\tb\t1\nb\ta\t0\na\ta\t1\nd\te\t1\nd\te\t1\nq\tr\t1\n' >odd.tsv
fails eval --truth odd.tsv result.tsv --documents documents.tsv
printf 'a\tone\nb\tone\nc\ttwo\na\ttwo\n' >twice.tsv
fails eval --truth twice.tsv --truth-kind clusters clusters.tsv
: >empty
fails eval --truth empty result.tsv
fails eval --truth truth.tsv empty
printf '{"id": "a", "text": "one"}\n{"id": \n' >broken.jsonl
fails eval --truth truth.tsv --corpus broken.jsonl result.tsv
title "refused"
fails eval result.tsv
fails eval --truth truth.tsv
fails eval --truth truth.tsv result.tsv result.tsv
fails eval --truth - -
fails eval --truth truth.tsv --by site result.tsv
fails eval --truth truth.tsv --by colour --documents documents.tsv result.tsv
fails eval --truth truth.tsv --as sets result.tsv
fails eval --truth truth.tsv --threshold much result.tsv
fails eval --truth clusters.tsv --judged result.tsv
fails eval --truth missing.tsv result.tsv
printf 'a b\n' >bad; fails eval --truth truth.tsv bad
printf 'a\tb\tmuch\n' >bad; fails eval --truth truth.tsv bad
head -c 30 truth.gz >cut.gz; fails eval --truth cut.gz result.tsv 2>&1 | sed 's/byte [0-9]*/byte …/'
L=$(printf 'long%.0s' $(seq 50))
printf 'a\tb\t1\nb\tc\t0.5\ng\th\t1\n%s\ta\t1\n' $L >pairs
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
