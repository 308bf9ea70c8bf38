# neardup prevalence on real runs, against a slow version in Python.
# slow
[ -d "$NEARDUP_DATA/trec-runs-qrels" ] || { echo "skipped, no data"; exit 77; }
cd "$NEARDUP_DATA/trec-runs-qrels" || exit 1
runs=(web2012-*.txt.zst)
folder=$(mktemp -d)
tables=$folder/tables
neardup prevalence --run "${runs[@]}" --qrels web2012.qrels.zst --pairs groups-clueweb09.tsv.zst -o "$tables" \
  --filter-runs "$folder/unique" 2>&1 >/dev/null | sed 's/unique$/unique/; s/in .*\//in /'
python3 "$SRC/tests/cli/lib/prevalence.py" groups-clueweb09.tsv.zst web2012.qrels.zst "${runs[@]}" >"$tables/slow"
{
  echo topics; sed '1d' "$tables/topics.tsv" | grep -v '^mean\|^all'
  echo relevant; sed '1d' "$tables/relevant.tsv" | grep -v '^mean\|^all'
  echo run_topics_more; sed '1d' "$tables/run_topics_more.tsv" | cut -f 1-7
} >"$tables/fast"
cmp "$tables/fast" "$tables/slow" && echo "the same"
tail -n 1 "$tables/topics.tsv" "$tables/relevant.tsv" | grep all
# What was filtered has no near-duplicates left.
neardup prevalence --run "$folder/unique"/*.txt --pairs groups-clueweb09.tsv.zst 2>/dev/null |
  sed -n '/per run/,$p' | cut -f 13
rm -r "$folder"
