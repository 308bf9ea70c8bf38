# The study of sampling: its numbers are those of real sampled runs.
cd "$SRC"
neardup study sampling examples/corpus -o "$OLDPWD/st" >"$OLDPWD/all.tsv" 2>/dev/null
list() { # pairs without copies, at a threshold, from a sample
  neardup pairs --collapse --method exact --threshold $1 --sample $2 examples/corpus 2>/dev/null |
    cut -f1,2 | sort | comm -23 - "$OLDPWD/copies"
}
neardup pairs --collapse --method digest examples/corpus 2>/dev/null | cut -f1,2 | sort >"$OLDPWD/copies"
for t in 0.50 0.85; do
  list $t mod:1 >"$OLDPWD/truth"
  for r in 0 1 2 3; do
    list $t mod:4:$r >"$OLDPWD/found"
    echo $(wc -l <"$OLDPWD/truth") $(wc -l <"$OLDPWD/found") $(comm -12 "$OLDPWD/truth" "$OLDPWD/found" | wc -l)
  done | awk -v t=$t '{ p += $3 / $2; r += $3 / $1; f += $2; n = $1 }
    END { printf "all\t%s\t1/4\t%.4f\t%.4f\t%d\t%.1f\n", t, p / 4, r / 4, n, f / 4 }'
  awk -v t=$t '$1 == "all" && $2 == t && $3 == "1/4"' "$OLDPWD/st/precision.tsv"
done
for sct in 10; do
  list 0.5 sct:$sct | wc -l
done
cd "$OLDPWD"
cat st/published.tsv st/nikkhoo-3-2.tsv st/nikkhoo-3-4.tsv
awk '$1 == "0.85" && $2 == "0.85"' st/adaptive.tsv
ls st | wc -l
grep -c '<svg' st/index.html
echo "== nothing to study"
printf 'one two\n' >lonely.lines
neardup study sampling --format lines lonely.lines >lonely && head -8 lonely
: >empty.lines
neardup study sampling --format lines empty.lines >empty && sed -n 3p empty
echo "== a shingle on 12 documents gives 66 pairs, one on 2 gives 1: 66 of 67 go with SCT 10"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "here stand five common words a$i b$i c$i d$i e$i"; done >twelve.lines
sed -i '12s/.*/here stand five common words x b12 c12 a1 b1 c1 d1 e1/' twelve.lines
neardup study sampling --format lines twelve.lines -o twelve >/dev/null && cut -f1,13 twelve/nikkhoo-3-4.tsv | tail -2
echo "== the same for any number of threads, CPU level and memory, though 16 MB do not hold all lists"
awk 'BEGIN {
  srand(11)
  for (d = 0; d < 150; d++) {
    line = ""
    for (i = 0; i < 1500; i++) line = line " w" int(rand() * 3000)
    print line
  }
}' >mixed.lines
for how in '--threads 1' '--threads 3' '--memory 16M --threads 2'; do
  neardup study sampling --format lines --shingle words:1 mixed.lines $how | sha256sum
done | uniq | wc -l
NEARDUP_CPU=base neardup study sampling --format lines --shingle words:1 mixed.lines >base
neardup study sampling --format lines --shingle words:1 mixed.lines | cmp - base && echo same
for study in sources web library; do
  for how in '--threads 1' '--threads 3'; do
    neardup study $study "$SRC/examples/corpus" $how | sha256sum
  done | uniq | wc -l
done
