# Shingles that were made to have one fingerprint under the default seed
# (bench/collide.c): documents that have nothing in common but "end".
. "$SRC/tests/cli/lib/lib.sh"
cat >in.txt <<'END'
w27493 w457467 wa67992 wf52ffa end
w2eaf52 w4023ef w95efa0 wd5d2fb end
w394728 w67e72b waa7ee3 wf6b629 end
wef7ed w51cc82 wbdd87e wf970ca end
w5f6fe w6be2f6 wa8b849 wff2877 end
w114380 w493b20 w970591 wcd8ac0 end
w2884fb w62422d w94e9fe wf03f88 end
w3630d0 w753a19 wa98aa9 we2fcbd end
END
title "without verifying they are all near-duplicates"
neardup pairs --format lines --verify none in.txt 2>/dev/null | wc -l
title "with another seed they are not"
neardup pairs --format lines --verify none --seed 2 in.txt 2>/dev/null | wc -l
neardup pairs --format lines --verify none --seed random in.txt 2>/dev/null | wc -l
title "verified pairs are right, with every method"
for method in minhash exact join allpairs ppjoin ppjoin+ supershingle simhash projection combined \
  combined-site; do
  echo "$method $(neardup pairs --format lines --method $method --verify exact in.txt 2>/dev/null | wc -l)"
done
neardup dedup --format lines in.txt -o out 2>/dev/null
counts out
cmp in.txt out/kept/in.txt && echo same
