# --id-field --text-field --url-field --time-field
. "$SRC/tests/cli/lib/lib.sh"
cat >in.jsonl <<EOF
{"text":"wrong $RICE","body":"$FOX","no":1,"link":"http://a.example/long?q","when":"2020"}
{"body":"$FOX","nested":{"body":"inner","no":9},"no":2,"link":"http://a.example/","when":"2021","id":"z"}
{"b\u006fdy":"$FOX","no":"t\u0068ree","list":[{"no":4}]}
{"body":"first","body":"$FOX","no":1,"no":"last wins"}
{"no":5,"text":"$FOX"}
EOF
pairs in.jsonl --id-field no --text-field body
for keep in url newest oldest; do
  title "--keep $keep"
  dedup in.jsonl --id-field no --text-field body --url-field link --time-field when --keep $keep
  cat out/clusters.tsv
done
title "no id: the line"
pairs in.jsonl --id-field none --text-field body
title "the usual names"
neardup inspect in.jsonl | cut -f1,3-
title "texts that are none"
for value in 1 true false null '{}' '[]'; do printf '{"text":%s}\n' "$value"; done >types.jsonl
neardup inspect types.jsonl 2>/dev/null | cut -f 3-; neardup inspect --text-field body types.jsonl 2>/dev/null | tail -n 1 | cut -f 3-
