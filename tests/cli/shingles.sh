# --shingle and --tokens: what two documents are compared by.
. "$SRC/tests/cli/lib/lib.sh"
json a "one two three four five six seven" >in.jsonl
json b "one two three four five six eight" >>in.jsonl
for kind in words:5 words:1 words:2 words:7 words:8 chars:1 chars:5 chars:9 chars:200 \
    aligned:1 aligned:4 aligned:64; do
  echo "$kind $(pairs in.jsonl $SURE --threshold 0.000000001 --shingle $kind | tr '\t' ' ')"
done

title "code points"
json han "你好，世界！ Hello" >cp.jsonl
json han2 "你 好 世 界 hello" >>cp.jsonl
json shout "HELLO 你好世界" >>cp.jsonl
for tokens in words codepoints; do
  neardup inspect cp.jsonl --tokens $tokens --whole | cut -f4,6,7
  pairs cp.jsonl $SURE --threshold 0.1 --tokens $tokens --shingle words:2
done

title "1 to 4 words are one shingle, none match nothing"
{
  json a "Good morning."
  json b "good, MORNING"
  json c "good night"
  json d "?!"
  json e "?!"
  json f ""
} >short.jsonl
pairs short.jsonl $SURE
pairs short.jsonl $SURE --shingle chars:9
dedup short.jsonl $SURE
kept out
