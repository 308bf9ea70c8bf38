# threads
# One damaged gzip member or zstd frame does not cost the rest of the file: the
# stretch that cannot be read is one reject, and what follows is read and kept.
. "$SRC/tests/cli/lib/lib.sh"
cat >make.py <<'END'
"""make.py FORMAT PACKING MEMBER PLACE LINES: ten members, of which one (from 1) is damaged:
in its header, its body, its checksum, or nowhere (none); LINES: members end in the middle
of lines."""
import subprocess
import sys
import zlib

form, packing, member, place = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]


def text(i):
    return " ".join(f"w{i}x{j * j % (40 + i)}y{j}" for j in range(60))


def record(i):
    if form == "warc":
        return (f"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:{i}>\r\n"
                f"Content-Type: text/plain\r\nContent-Length: {len(text(i))}\r\n\r\n{text(i)}\r\n\r\n")
    if form == "trec":
        return f"<DOC>\n<DOCNO>{i}</DOCNO>\n<TEXT>\n{text(i)}\n</TEXT>\n</DOC>\n"
    if form == "jsonl":
        return f'{{"id":"{i}","text":"{text(i)}"}}\n'
    return text(i) + "\n"  # lines and text


def pack(data):
    if packing == "zst":
        return subprocess.run(["zstd", "-q"], input=data, stdout=subprocess.PIPE).stdout
    z = zlib.compressobj(6, zlib.DEFLATED, 31)
    return z.compress(data) + z.flush()


records = [record(i).encode() for i in range(1, 11)]
if len(sys.argv) > 5:  # the members' borders move by half a record
    whole, half = b"".join(records), len(records[0]) // 2
    at = [0] + [half + sum(map(len, records[:i])) for i in range(1, 10)] + [len(whole)]
    records = [whole[a:b] for a, b in zip(at, at[1:])]
members = [bytearray(pack(r)) for r in records]
bad = members[member - 1]
if place == "header":
    bad[3] ^= 0xe0
elif place == "magic":
    bad[0] ^= 1
elif place == "body":  # no legal kind of block
    bad[10] |= 6
elif place == "checksum":
    bad[-6 if packing == "gz" else -1] ^= 1
elif place == "cut":
    del bad[len(bad) // 2:]
sys.stdout.buffer.write(b"".join(members))
END
unpacked() { case $1 in *.gz) zcat "$1" ;; *) zstd -dcq "$1" ;; esac }
# documents FILE: ids (lines have none), one line.
documents() { neardup inspect "$1" $format 2>/dev/null | cut -f3,4 | sed 's/urn:x://' |
  sed -E 's/^(text|html)\t//' | paste -sd ' ' | sed 's/^/  /'; }
# What was read and what is kept: a sound file with the same documents, with
# more threads, too.
check() {
  echo "$*"
  python3 make.py "$@" >in.$2
  dedup in.$2 $format | grep -v '^rejected' | hide
  if [ -e out/kept/in.$2 ]; then
    unpacked out/kept/in.$2 >kept || echo "what is kept is damaged"
    documents out/kept/in.$2
    documents in.$2 | sed -E 's/ rejected\t[^ ]*//g' | cmp - <(documents out/kept/in.$2)
  fi
  rm -rf other
  neardup dedup in.$2 $format -o other --threads 3 2>/dev/null
  diff -r out other -x summary.json -x report.html
}
hide() { sed -E -e 's/@[0-9]+//' -e 's/^in.*: (damaged .*) at byte.*/  \1/' -e 's/^in.*: (truncated .*):.*/  \1/' \
  -e 's/^(exit|[0-9])/  \1/'; }
format=
for form in warc jsonl trec; do
  title $form
  for member in 1 3 10; do
    for place in header body checksum; do check $form gz $member $place; done
  done
  check $form zst 3 magic
  check $form zst 3 checksum
done
title "one member truncated, others behind it"
check jsonl zst 3 cut
# What the beginning of a gzip member gives, depends on the packing library.
check warc gz 3 cut | grep -v documents
title "members that end in the middle of records: no record is glued from two"
check warc gz 3 header half
check jsonl gz 3 body half
check jsonl gz 1 header half
check trec gz 3 header half
title "lines: the first line behind the damage might be the end of one, and is given up"
format="--format lines"
check lines gz 3 header
check lines gz 3 header half
title "a text is one document"
format="--format text"
check lines gz 3 header
title "the file ends in the middle of its last member: as ever"
format=
check jsonl gz 10 cut
title "a large file with many damaged members"
python3 - <<'END'
import gzip
import json
import random
draw = random.Random(7)
with open("large.jsonl.gz", "wb") as packed, open("good.jsonl", "w") as good:
    for member in range(400):
        lines = [json.dumps({"id": f"{member}-{i}", "text": " ".join(
            str(draw.randrange(10**6)) for _ in range(12))}) + "\n" for i in range(150)]
        data = bytearray(gzip.compress("".join(lines).encode(), 1, mtime=0))
        if member % 7 == 3:
            data[2] ^= 1
        else:
            good.writelines(lines)
        packed.write(data)
END
for threads in 1 2 5; do
  dedup large.jsonl.gz --threads $threads --method digest | grep -v '^large'
  zcat out/kept/large.jsonl.gz | cmp - good.jsonl && echo "kept: all that is good"
done
