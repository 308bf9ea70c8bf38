# explain: what is said about two documents, in a pipe, on a terminal, as a page.
. "$SRC/tests/cli/lib/lib.sh"
export COLUMNS=72
{
  json one "$FOX $RICE printed on 12 March 2009" '"url":"http://a.org/"'
  json two "$FOX $RICE printed on 13 March 2009" '"url":"http://www.a.org/index.html"'
  json three "$FOX and then some $RICE" '"url":"http://b.org/x?sid=1"'
  json four "$FOX $RICE printed on 12 March 2009" '"url":"http://www.a.org/"'
} >in.jsonl

title "a date"
neardup explain one two in.jsonl
title "one passage"
neardup explain one three in.jsonl --shingle words:2 | grep -E '^(difference|URLs|words|jaccard)|then'
title "the same words"
neardup explain one four in.jsonl | sed -n 1,7p
title "folded, and whole"
{ json long "$(words 1 200)"; json longer "$(words 1 100) x $(words 101 200)"; } >long.jsonl
neardup explain long longer long.jsonl | tail -n 6
neardup explain long longer long.jsonl --whole | grep -c .

title "two files; ids twice; other formats"
printf 'the same line\nother' >a.txt; printf 'the same line\nand another' >b.txt
neardup explain a.txt b.txt | tail -n 1
printf '%s\n%s\n' "$FOX" "$FOX again" >lines.txt
neardup explain lines.txt:1 lines.txt:2 lines.txt --format lines | tail -n 2
{ json same "$FOX"; json same "$FOX more"; } >twice.jsonl
neardup explain same same twice.jsonl | tail -n 2
printf '{"id":"tab\\there","text":"a b"}\n{"id":"x","text":"a c"}\n' >tab.jsonl
neardup explain 'tab\there' x tab.jsonl | head -n 1
neardup explain "$(printf 'tab\there')" x tab.jsonl | head -n 1
neardup explain x x - <twice.jsonl 2>&1

title "a terminal: colours, NO_COLOR, nothing raw"
printf '{"id":"\\u001b[31mred","text":"one \\u202e two"}\n{"id":"b","text":"one three"}\n' >esc.jsonl
id=$(printf '\033[31mred')
seen() { TERM=xterm script -qec "$*" /dev/null </dev/null | tr -d '\r' | sed 's/\x1b/ESC/g'; }
seen "'$NEARDUP' explain '$id' b esc.jsonl" | sed -n '1,3p;$p'
NO_COLOR=1 seen "'$NEARDUP' explain '$id' b esc.jsonl" | grep -c ESC
neardup explain "$id" b esc.jsonl | grep -c "$(printf '\033')"

title "lines fit: wide characters take two columns, marks none"
python3 - >wide.jsonl <<'X'
import json
text = ("ᄀ ⺀ 漢字 カナ 한글 豈 ︰ ＡＢ ｱ 😀 e\u0301 a\u200db ✌\ufe0f é ϐ Ὀ ﬀ plain words go on " * 3).strip()
print(json.dumps({"id": "a", "text": text}))
print(json.dumps({"id": "b", "text": text.replace("plain", "other words")}))
X
COLUMNS=40 neardup explain a b wide.jsonl --whole | python3 -c '
import sys, unicodedata
wide = [sum(0 if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Cf") else
            2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line.rstrip("\n"))
        for line in sys.stdin]
body = wide[-8:]
print(max(body) <= 40, max(body) > 30)'

title "a page"
printf '{"id":"</title><script>alert(1)</script>","text":"a <b> c &amp; d"}\n{"id":"b","text":"a c e"}\n' >bad.jsonl
neardup explain '</title><script>alert(1)</script>' b bad.jsonl -o page.html; echo "exit $?"
grep -c '<script' page.html; grep -o "script-src [^;]*" page.html; grep -o '<mark>[^<]*</mark>' page.html
neardup explain a.txt b.txt -o - | head -c 15; echo

title "mistakes"
fails explain one nobody in.jsonl
fails explain one one in.jsonl
fails explain one
fails explain in.jsonl a.txt
fails explain one two in.jsonl -o nowhere/page.html
ls nowhere 2>&1
fails explain a.txt missing.txt

title "sources"
neardup study sources in.jsonl long.jsonl $SURE --threshold 0.5 -o study 2>/dev/null
ls study
title "empty, and missing"
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
neardup explain x y long.jsonl -o page.html --resume never; grep -c 'b.org' page.html; grep -o 'and [0-9,]* more words\|[0-9,]* more words' page.html | head -n 2
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
