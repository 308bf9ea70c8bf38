# The shell's limit on file sizes (ulimit -f) is a failure with a message.
. "$SRC/tests/cli/lib/lib.sh"
seq 100000 | sed 's/.*/{"id":"&","text":"one& two& three& four& five& six&"}/' >in.jsonl
mkdir tmp
(
  ulimit -f 1000
  neardup dedup in.jsonl -o out 2>&1 | sed -E 's/blocks-[0-9a-f]+/blocks-…/'
  echo "exit ${PIPESTATUS[0]}"
  neardup pairs - --tmp tmp <in.jsonl 2>&1 | sed -E 's/neardup-[A-Za-z0-9]+/neardup-…/'
  echo "exit ${PIPESTATUS[0]}"
)
ls -A tmp
ls -A out
title "without it, the same command goes on"
neardup dedup in.jsonl -o out 2>/dev/null
echo "exit $?"
counts out
