# Inputs: standard input, several files, directories, names that clash.
. "$SRC/tests/cli/lib/lib.sh"
{ json a "$FOX"; json b "$RICE"; json c "$FOX"; } >in.jsonl

title "standard input"
pairs - <in.jsonl
pairs - --format lines --shingle words:3 <<<"$FOX
$FOX"
dedup - <in.jsonl
cat out/clusters.tsv
kept out
cmp <(head -2 in.jsonl) out/kept/stdin && echo "byte for byte"
title "packed on standard input"
gzip <in.jsonl >in.gz
dedup - <in.gz
zcat out/kept/stdin | cmp - <(head -2 in.jsonl) && echo "packed again"

title "a directory: every file in it, sorted, hidden ones and those of subfolders too"
mkdir -p d/sub/sub
echo "$FOX" >d/b.txt
echo "$RICE" >d/a.txt
echo "$FOX" >d/sub/sub/c.txt
echo "$RICE" >d/.hidden
echo "$FOX" >"d/sub/name with spaces"
echo "$FOX" >d/sub/$'tab\tand\nline'
ln -s ../in.jsonl d/link
dedup d
cat out/clusters.tsv
kept out | cat -A
pairs d/
title "in the order of the arguments"
pairs d/sub d/b.txt in.jsonl
title "no output inside an input, no input inside an output"
fails dedup d -o d/out
fails dedup d -o d/out --force --resume never
dedup d >/dev/null
fails dedup out/kept -o out --resume never
kept out
rm -r out

title "names that clash are numbered"
mkdir -p one two
cp in.jsonl one/x.jsonl
sed 's/"id":"/&two-/' in.jsonl >two/x.jsonl
dedup one two
kept out
dedup one/x.jsonl two/x.jsonl
kept out
title "a file where another input has a folder"
mkdir -p three/x
echo "$RICE" >three/x/y
echo "$FOX" >x
dedup x three
kept out
title "one file twice"
dedup in.jsonl in.jsonl
grep warning said
kept out

title "a file of no documents stays as it is"
mkdir odd
printf '\n\n  \n' >odd/blank.jsonl
printf 'WARC/1.0\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Length: 3\r\n\r\nabc\r\n\r\n' >odd/info.warc
gzip -n <odd/info.warc >odd/info.warc.gz
: >odd/empty
dedup odd
diff -r odd out/kept && echo same
kept out
title "packed files of one document that go leave nothing behind"
mkdir packed
for f in 1.gz 2.gz; do gzip <<<"$FOX" >packed/$f; done
for f in 3.zst 4.zst; do zstd -q <<<"$RICE" >packed/$f; done
dedup packed
kept out
