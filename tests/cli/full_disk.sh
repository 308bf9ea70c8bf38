# A full disk: a message that says so, nothing half true, and a rerun with room
# goes on.
. "$SRC/tests/cli/lib/lib.sh"
if [ -z "$INSIDE" ]; then
  # A name space of our own: what is mounted there goes when we go.
  for how in "unshare -m" "unshare -rm"; do
    if $how mount -t tmpfs -o size=1m none "$HOME" 2>/dev/null; then
      INSIDE=1 exec $how bash "$0"
    fi
  done
  echo "skipped, nothing can be mounted here"
  exit 77
fi
seq 100000 | sed 's/.*/{"id":"&","text":"one& two& three& four& five& six&"}/' >in.jsonl
mkdir small
mount -t tmpfs -o size=2m none small
hide() { sed -E "s#(blocks-|small/neardup-)[A-Za-z0-9.-]+#\1…#g"; }

title "dedup"
neardup dedup in.jsonl -o small/out 2>&1 | hide
echo "exit ${PIPESTATUS[0]}"
[ -e small/out/summary.json ] && echo "it looks complete"
ls -A small/out
mount -o remount,size=100m small
neardup dedup in.jsonl -o small/out 2>&1 | said | sed 's/; .* of them by/; some of them by/'
counts small/out
neardup dedup in.jsonl -o fresh 2>/dev/null
diff -r -x summary.json -x report.html fresh small/out && echo same
ls -A small/out
rm -r small/out fresh
umount small

title "half of the free space is for standard input"
mount -t tmpfs -o size=2m none small
neardup dedup - -o small/out <in.jsonl
echo "exit $?"
neardup dedup - -o small/out --max-stdin 100M <in.jsonl
echo "exit $?"
neardup pairs - --tmp small <in.jsonl 2>&1 | hide
ls -A small
umount small

title "while the result is written"
mount -t tmpfs -o size=100m none small
fallocate -l 90m small/ballast
neardup dedup in.jsonl -o small/out --tmp "$HOME" 2>&1 | hide | said | tail -1
neardup dedup in.jsonl -o fresh 2>/dev/null
for left in 2 6 10 14 40; do
  rm -rf small/out
  fallocate -l 90m small/ballast
  truncate -s $((100 - left))m small/ballast
  fallocate -l $((100 - left))m small/ballast
  neardup dedup in.jsonl -o small/out 2>/dev/null
  status=$?
  case $status in
    0) diff -r -x summary.json -x report.html fresh small/out >/dev/null && echo whole ;;
    1) [ -e small/out/summary.json ] && echo "it looks complete" || echo refused ;;
    *) echo "exit $status" ;;
  esac
done | sort -u
rm -r small/* fresh
umount small

title "pairs and inspect through a pipe"
mount -t tmpfs -o size=1m none small
neardup pairs in.jsonl --tmp small 2>&1 | hide
neardup pairs - --tmp small --max-stdin 1G <in.jsonl 2>&1 | hide
TMPDIR=small neardup inspect - --max-stdin 1G <in.jsonl 2>&1 | hide
ls -A small
umount small

title "a file system of 64 MiB, and a result of 90"
rm in.jsonl
awk 'BEGIN { for (i = 0; i < 3000; i++) {
  printf "{\"id\":\"%d\",\"text\":\"", i
  for (j = 0; j < 3000; j++) printf "w%d-%d ", i, j
  print "\"}" } }' >in.jsonl
mount -t tmpfs -o size=64m none small
neardup dedup in.jsonl -o small/out 2>&1 | hide
echo "exit ${PIPESTATUS[0]}"
[ -e small/out/summary.json ] && echo "it looks complete"
mount -o remount,size=300m small
neardup dedup in.jsonl -o small/out 2>&1 | said
counts small/out
cmp in.jsonl small/out/kept/in.jsonl && echo same
ls -A small/out
umount small
