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
