# explain: documents that are empty, equal, long, rejected; characters of every width.
. "$SRC/tests/cli/lib/lib.sh"
export COLUMNS=60
: >empty.txt; echo "$FOX" >fox.txt
fails explain empty.txt fox.txt
fails explain fox.txt missing.txt
title "no words at all"
{ json a "..." ; json b "!!!"; json c "$FOX"; json d "$FOX"; } >few.jsonl
neardup explain a b few.jsonl | sed -n '1,4p;$p'
neardup explain a c few.jsonl | grep -E '^(jaccard|containment|cosine|edit)'
title "equal, and shown whole"
neardup explain c d few.jsonl --whole | tail -n 3
title "rejected records beside it"
{ cat few.jsonl; echo '{"id": broken'; json c "$FOX again"; } >bad.jsonl
fails explain c nothing bad.jsonl
fails explain c c bad.jsonl | tail -n 2
fails explain d d bad.jsonl
title "pages of what is long, has addresses, has no words"
json x "$(words 1 9000)" '"url":"http://a.org/x"' >long.jsonl
json y "$(words 1 4000) new $(words 4001 9000)" '"url":"http://b.org/y"' >>long.jsonl
json z "..." >>long.jsonl
neardup explain x y long.jsonl -o page.html; grep -c 'b.org' page.html; grep -o 'and [0-9,]* more words\|[0-9,]* more words' page.html | head -n 2
neardup explain x z long.jsonl -o page.html --resume never; grep -o '<em>no words</em>' page.html
title "lines fit, whatever is in them"
python3 - >wide.jsonl <<'X'
import json
points = [0x2ff, 0x300, 0x36f, 0x370, 0x10ff, 0x1100, 0x115f, 0x1160, 0x200a, 0x200b, 0x200f, 0x2010, 0x2e7f, 0x2e80, 0x303f,
          0xa4cf, 0xa4d0, 0xabff, 0xac00, 0xd7a3, 0xd7ff, 0xe000, 0xf8ff, 0xf900, 0xfaff, 0xfb00, 0xfdff, 0xfe00, 0xfe0f, 0xfe10,
          0xfe2f, 0xfe30, 0xfe6f, 0xfe70, 0xfeff, 0xff00, 0xff60, 0xff61, 0x1f2ff, 0x1f300, 0x1f600, 0x20000, 0x2fffd, 0x30000]
text = " ".join("a" + chr(p) + "b" for p in points)
print(json.dumps({"id": "a", "text": text}))
print(json.dumps({"id": "b", "text": text.replace("a", "c", 1)}))
X
neardup explain a b wide.jsonl --whole >shown; echo $?; grep -c . shown
for columns in 1 20 39 1000; do COLUMNS=$columns neardup explain a b wide.jsonl --whole | wc -l; done
