# Wrong usage: a message that says what is wrong, and exit status 2.
. "$SRC/tests/cli/lib/lib.sh"
json a "$FOX" >in.jsonl
fails nonsense
fails --nonsense
fails help nonsense
fails dedup
fails dedup in.jsonl
fails dedup -o out
fails dedup in.jsonl -o
fails dedup in.jsonl --output
fails dedup in.jsonl -o ''
fails dedup '' -o out
fails pairs
fails inspect
fails pairs in.jsonl -x
fails pairs in.jsonl -o out
fails pairs in.jsonl --treshold 0.8
fails pairs in.jsonl --completely-unknown-option
neardup pairs in.jsonl -- 2>&1 | said
fails pairs -- --threshold
fails pairs in.jsonl --keep first
fails inspect in.jsonl --threshold 0.8
fails cluster in.jsonl --shingle words:5
fails dedup in.jsonl -o out --whole
fails dedup in.jsonl -o out --threshold
fails explain in.jsonl in.jsonl --whole=yes
fails explain --nothing
fails merge --nothing
fails sketch in.jsonl -o
neardup sketch in.jsonl -oattached.nds 2>/dev/null; ls *.nds
fails plan in.jsonl --precision
fails plan in.jsonl --precision=2
fails pairs in.jsonl --threshold=2
title "numbers"
for t in '' 0 -1 1.1 0.8x abc 0,8 0.8000000001 1e-1 nan 99999999999999999999 0.; do
  fails pairs in.jsonl --threshold "$t"
done
fails pairs in.jsonl --recall 1.5
fails pairs in.jsonl --recall 0
fails pairs in.jsonl --threshold 0.000000001 --recall 0.999999999
for n in -1 x 1.5 2001 99999999999999999999 ''; do fails pairs in.jsonl --permutations "$n"; done
fails pairs in.jsonl --bands 100 --rows 100
fails pairs in.jsonl --permutations 10 --bands 20 --rows 1
fails pairs in.jsonl --bucket-cap 1
fails pairs in.jsonl --threads 5000
fails pairs in.jsonl --memory 1M
fails pairs in.jsonl --memory 12X
fails pairs in.jsonl --memory 99999999999T
fails pairs in.jsonl --max-document 0
fails pairs in.jsonl --max-document 2G
fails pairs in.jsonl --seed -1
title "sizes"
for size in 64MiB 64mb 64Mb 65536K 67108864 64MB 64Mi 64iB 64MBB 99999999T; do
  neardup pairs --memory $size in.jsonl 2>&1 | grep neardup: || echo $size
done
fails pairs --$(printf 'very-%.0s' $(seq 20))long in.jsonl
title "words"
for option in format tokens method similarity verify progress; do fails pairs in.jsonl --$option nonsense; done
fails dedup in.jsonl -o out --cluster nonsense
fails dedup in.jsonl -o out --resume nonsense
for keep in '' nonsense field: field; do fails dedup in.jsonl -o out --keep "$keep"; done
for shingle in '' words words: words:0 words:-1 words:x words:99999999999 chars:0 aligned:0 lines:3 words:5x; do
  fails pairs in.jsonl --shingle "$shingle"
done
for shard in 0/2 3/2 1 a/b 1/0 1/2x; do fails dedup in.jsonl -o out --shard "$shard"; done
fails pairs in.jsonl --id-field "$(printf 'x%.0s' $(seq 200))" 2>&1 | tail -n +2
title "inputs"
fails dedup missing.jsonl -o out
fails pairs in.jsonl missing.jsonl
fails inspect missing
fails pairs in.jsonl/x
fails pairs - - </dev/null
mkfifo fifo
fails pairs fifo
fails pairs /dev/null
title "nothing was made"
ls
