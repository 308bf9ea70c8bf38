# Text files and lines that are no text: NUL bytes, other encodings, binary.
. "$SRC/tests/cli/lib/lib.sh"
mkdir in
python3 - <<'EOF'
import os, random
w = lambda n, b: open("in/" + n, "wb").write(b)
w("nul", b"a\0b\0c " * 1000)
w("only-nul", b"\0" * 100000)
w("bytes", bytes(range(256)) * 100)
w("invalid", b"caf\xe9 cr\xe8me \xff\xfe\xfd")
w("cut-utf8", "日本語".encode()[:-1])
w("utf16", ("hello world " * 20).encode("utf-16"))
w("utf16-odd", ("hello world " * 20).encode("utf-16")[:-1])
w("bom", b"\xef\xbb\xbfhello bom")
w("one-byte", b"\xff")
w("magic", b"\x1f")
w("html-open", b"<html><body><p" + b" a='" * 100000)
w("html-comment", b"<html><body>before<!-- " + b"x" * 100000)
w("html-deep", b"<html>" + b"<div>" * 200000 + b"deep")
w("html-refs", b"<html>" + b"&#xFFFFFFFFF;&amp&notanentity;&#0;&" * 10000)
w("marks", ("a" + "\u0301" * 100000).encode())
w("ligature", ("\ufdfa" * 20000).encode())
EOF
for f in in/*; do neardup inspect "$f" | cut -f1-6 || echo "exit $?"; done
dedup in
diff -r in out/kept && echo same
title "as lines"
cat in/nul in/invalid in/cut-utf8 in/bytes >lines
dedup lines --format lines --shingle words:1
# Every kept line is a line of the input.
LC_ALL=C comm -13 <(LC_ALL=C sort lines) <(LC_ALL=C sort out/kept/lines) | wc -c
