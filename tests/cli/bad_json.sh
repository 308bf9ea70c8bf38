# JSONL: nested without end, NUL bytes, invalid UTF-8, wrong types, odd ids.
. "$SRC/tests/cli/lib/lib.sh"
good() { json a "$FOX" >in.jsonl; cat >>in.jsonl; json b "$RICE" >>in.jsonl; }
show() {
  dedup in.jsonl
  cat out/clusters.tsv out/pairs.tsv
  grep -vxFf in.jsonl out/kept/in.jsonl
  grep -c . out/kept/in.jsonl
}
repeat() { head -c $(($2 * ${#1})) <(yes "$1" | tr -d '\n'); }

title "nested without end"
{
  printf '{"id":"x","text":'; repeat '[' 1000000; echo
  repeat '{"x":' 1000000; echo
  printf '{"id":"deep enough","text":"t","x":'; repeat '[' 900; repeat ']' 900; echo '}'
  printf '{"id":"x","text":"t","x":'; repeat '[' 1001; repeat ']' 1001; echo '}'
} | good
show
title "NUL bytes"
printf '{"id":"n\\u0000l","text":"escaped \\u0000 nul"}\n{"id":"raw","text":"a\0b"}\n\0\0\0\n\0\n' | good
show
title "invalid UTF-8"
printf '{"id":"bad","text":"caf\xe9"}\n{"id":"surrogate","text":"\xed\xa0\x80"}\n{"id":"long","text":"\xc0\x80"}\n{"id":"cut","text":"\xe4\xbd"}\n{"i\xffd":1,"text":"x"}\n{"id":"lone","text":"\\ud800 x"}\n{"id":"high","text":"\xf4\x90\x80\x80"}\n' | good
show
title "wrong types, wrong syntax"
cat <<'EOF' | good
{"id":"x"}
{"id":"x","text":null}
{"id":"x","text":5}
{"id":"x","text":["a"]}
{"id":"x","text":"abc}
not json
[1,2]
"string"
{"id":"x","text":"a"} trailing
{"id":"x","text":"a"}{"id":"y","text":"b"}

   
{"id":"x",}
{'id':'x','text':'y'}
{"id":"x","text":"\q"}
{"id":"x","text":"\u12"}
{"id":"x","text":"a	b"}
{"id":"x","text":"a"
{"text":"no id at all"}
{}
EOF
show
title "ids with tabs and line ends, numbers, none; duplicate ids"
{
  json 'tab\there' "$FOX"
  json 'line\nend\r' "$FOX"
  json 'back\\slash' "$FOX"
  json 'back\\slash' "$FOX"
  json 'back\\slash' "$RICE"
  echo "{\"id\":7,\"text\":\"$FOX one\"}"
  echo '{"id":null,"text":"p"}'
  echo '{"id":"","text":"q"}'
  echo '{"id":{"a":1},"text":"r"}'
  echo '{"id":true,"text":"s"}'
  json "$(repeat x 100000)" "very long id"
} | good
dedup in.jsonl
cat out/clusters.tsv out/pairs.tsv
neardup inspect in.jsonl | cut -f1,4 | cut -c1-60
title "a byte order mark, CR LF, no last line end"
printf '\xef\xbb\xbf{"id":"bom","text":"%s"}\r\n\r\n{"id":"last","text":"%s"}' "$FOX" "$RICE" >in.jsonl
dedup in.jsonl
cmp in.jsonl out/kept/in.jsonl && echo same
title "the same in a large file, read in ranges"
{ json a "$FOX"; echo '{"bad'; printf '\0\n'; seq 200000 | sed 's/.*/{"id":"&","text":"w& x& y&"}/'; echo '[]'; json b "$FOX"; } >large.jsonl
dedup large.jsonl
cat out/clusters.tsv
neardup dedup - -o piped <large.jsonl 2>/dev/null
cmp out/kept/large.jsonl piped/kept/stdin && echo same
gzip -1 <large.jsonl | neardup dedup - -o packed 2>/dev/null
zcat packed/kept/stdin | cmp - out/kept/large.jsonl && echo same
