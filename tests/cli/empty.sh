# Empty input of every kind is no failure.
. "$SRC/tests/cli/lib/lib.sh"
: >nothing
mkdir -p folder/inner/inner
printf '\n\n \n' >blank
for input in nothing folder blank; do
  title "$input"
  dedup $input
  kept out
  wc -c out/*.tsv | head -3
  pairs $input
  neardup inspect $input; echo "exit $?"
done
for format in text lines jsonl warc arc trec sets; do
  title "nothing as $format"
  dedup nothing --format $format
  kept out
done
title "standard input"
dedup - </dev/null
kept out
title "packed nothing"
gzip -n </dev/null >nothing.gz
zstd -q </dev/null >nothing.zst
dedup nothing.gz nothing.zst
cmp nothing.gz out/kept/nothing.gz && cmp nothing.zst out/kept/nothing.zst && echo same
title "many empty documents do not match one another"
mkdir many
for i in $(seq 20); do : >many/$i; echo '...' >many/dots$i; done
dedup many
find out/kept -type f | wc -l
