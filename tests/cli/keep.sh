# --keep: which member of a cluster stays.
. "$SRC/tests/cli/lib/lib.sh"
text=$(words 1 60)
{
  json long "$text and five more words here" '"time":"2020-05-01T00:00:00Z","url":"http://a.example/a/long/path?session=1","score":3'
  json short "$text" '"time":"2021-05-01T12:00:00+02:00","url":"http://a.example/page","score":-1e3'
  json middle "$text and two" '"time":"2019-12-31","url":"http://a.example/another-page","score":"17.5"'
  json newest "$text and two" '"time":1640995200,"url":"http://a.example/x?y","score":4'
  json bare "$text and three more"
  json other "$RICE"
} >in.jsonl

for keep in first longest shortest oldest newest url centre field:score field:nothing; do
  rm -rf out
  neardup dedup in.jsonl $SURE --keep $keep -o out 2>/dev/null || echo "exit $?"
  echo "$keep: $(grep -P '\tkept\t' out/clusters.tsv | cut -f1)" \
    "($(cut -d'"' -f4 out/kept/in.jsonl | paste -sd' '))"
done

title "copies: the most wanted of them stays"
{
  json a "$text" '"time":"2020-01-01"'
  json b "$text" '"time":"2022-01-01"'
  json c "$text" '"time":"2021-01-01"'
  json d "$text and one" '"time":"2021-06-01"'
} >copies.jsonl
dedup copies.jsonl $SURE --keep newest
cat out/clusters.tsv out/kept/copies.jsonl
title "and is the first where nothing else decides"
dedup copies.jsonl $SURE --keep url
cat out/clusters.tsv
