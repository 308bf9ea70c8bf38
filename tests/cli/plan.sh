# Plans: what they say, the file, and what is wrong with others.
cd "$SRC"
neardup plan --precision 0.9 --threshold 0.5 examples/corpus -o "$OLDPWD/plan" 2>&1 |
  sed -E 's/about [0-9]+ s instead of [0-9]+/about N s instead of N/; s/, [0-9]+ s$/, N s/'
cd "$OLDPWD"
cat plan
cd "$SRC"
neardup pairs --method exact --threshold 0.5 --sample "adaptive:$OLDPWD/plan" examples/corpus 2>&1 >"$OLDPWD/a" | grep sample
neardup pairs --method exact --threshold 0.5 --sample adaptive:0.9 examples/corpus 2>/dev/null | cmp - "$OLDPWD/a" && echo same
neardup dedup examples/corpus --threshold 0.5 --sample adaptive:0.9 -o "$OLDPWD/out" 2>/dev/null
grep '"plan"' "$OLDPWD/out/summary.json"
echo "== another plan in the same directory is another run"
sed 's/^group .*/group - 2/; s/^end.*/end 1/' "$OLDPWD/plan" | awk '!/^group/ || !n++' >"$OLDPWD/other"
cp "$OLDPWD/plan" "$OLDPWD/p"
neardup dedup examples/corpus --threshold 0.5 --sample "adaptive:$OLDPWD/p" -o "$OLDPWD/two" 2>/dev/null
cp "$OLDPWD/other" "$OLDPWD/p"
neardup dedup examples/corpus --threshold 0.5 --sample "adaptive:$OLDPWD/p" -o "$OLDPWD/two" 2>&1 | sed 's/run .*/run …/'
echo "== min-hash"
neardup plan --recall 0.99 --threshold 0.7 examples/corpus 2>/dev/null
neardup plan --recall 0.99 --threshold 0.7 examples/corpus 2>&1 >/dev/null | grep ^minhash
echo "== wrong usage"
neardup plan --precision 2 examples/corpus
neardup plan --precision x examples/corpus
neardup plan --documents 1 examples/corpus
neardup plan --recall 1 examples/corpus
neardup plan --recall 0.999999999 --threshold 0.008 examples/corpus
neardup plan
neardup plan --precision 0.9 examples/corpus -o /nowhere/plan
neardup pairs --method exact --sample adaptive:0.9 examples/corpus
neardup pairs --method exact --similarity cosine --threshold 0.9 --sample adaptive:0.9 examples/corpus
