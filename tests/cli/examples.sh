# The corpus in examples/ gives what its description says.
# threads
. "$SRC/tests/cli/lib/lib.sh"
cd "$SRC"
out=$HOME/out

title "all pairs"
neardup pairs examples/corpus --recall 0.9999 2>/dev/null >"$HOME/pairs"
diff "$HOME/pairs" examples/expected-pairs.tsv && echo "as expected"

title "dedup"
neardup dedup examples/corpus --recall 0.9999 -o "$out" 2>"$HOME/said"
echo "exit $?"
said <"$HOME/said"
counts "$out"
cat "$out/rejected.tsv" "$out/clusters.tsv"
cut -f1,2 "$out/pairs.tsv" | wc -l
[ -e "$out/.neardup" ] && echo "temporary files are left"

title "kept"
kept "$out"

title "byte for byte"
cd "$out/kept"
find . -name '*.txt' -o -name '*.html' | while read -r f; do
  cmp "$f" "$SRC/examples/corpus/$f"
done
grep -vxFf "$SRC/examples/corpus/articles.jsonl" articles.jsonl
grep -o '"id": *"[^"]*"' articles.jsonl
grep -c '<DOC>' news.trec
grep '<DOCNO>' news.trec
gzip -t crawl.warc.gz && python3 "$SRC/tests/cli/lib/members.py" crawl.warc.gz

title "what is kept has no near-duplicates left, and is all there"
neardup pairs . --recall 0.9999 2>/dev/null
neardup inspect . | cut -f2,3 | sort | uniq -c

title "any number of threads, any budget, any CPU level: the same bytes"
cd "$SRC"
for how in "--threads 1" "--threads 3 --memory 16M" "--tmp $HOME"; do
  neardup dedup examples/corpus --recall 0.9999 -o "$HOME/again" $how 2>/dev/null
  diff -r -x summary.json -x report.html "$out" "$HOME/again" && echo same
  rm -r "$HOME/again"
done
NEARDUP_CPU=base neardup dedup examples/corpus --recall 0.9999 -o "$HOME/again" 2>/dev/null
diff -r -x summary.json -x report.html "$out" "$HOME/again" && echo same

title "chains: components"
neardup dedup examples/corpus --recall 0.9999 --cluster components -o "$HOME/components" 2>/dev/null
counts "$HOME/components"
grep -P '^(art-00[234]|.*larkpost)' "$HOME/components/clusters.tsv"

title "the usual recall may miss a pair, but invents none"
neardup pairs examples/corpus 2>/dev/null >"$HOME/usual"
grep -vxFf examples/expected-pairs.tsv "$HOME/usual"
[ "$(wc -l <"$HOME/usual")" -ge 30 ] && echo "at least 30 of 34"
