# Unreadable, dangling, looping, vanished, shrunk and grown files.
# slow
. "$SRC/tests/cli/lib/lib.sh"
mkdir in
echo "$FOX" >in/good.txt
title "links that lead nowhere, loops, a FIFO, a socket"
ln -s nowhere in/dangling
ln -s loop2 in/loop1
ln -s loop1 in/loop2
ln -s . in/self
mkfifo in/fifo
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("in/socket")'
dedup in
kept out
pairs in
neardup inspect in | cut -f1,3,7
rm in/dangling in/loop* in/self in/fifo in/socket

title "a read that fails"
if [ -e /proc/self/mem ]; then
  ln -s /proc/self/mem in/mem
  dedup in
  kept out
  rm in/mem
fi

# Files are listed first; then standard input is read to its end.  So whatever
# happens before that end happens between listing and reading.
between() { # COMMAND: run between listing and reading
  rm -rf out fifo
  mkfifo fifo
  neardup dedup in - -o out <fifo 2>said &
  exec 9>fifo
  # The spool is made when the listing is done.
  for i in $(seq 200); do [ -e out/.neardup/stdin ] && break; sleep 0.05; done
  eval "$1"
  json piped "$RICE" >&9
  exec 9>&-
  wait $!
  echo "exit $?"
  complaints <said
  if [ -f out/summary.json ]; then
    counts out
    cat out/rejected.tsv
    kept out
  fi
}
title "vanished"
echo "gone soon" >in/gone.txt
: >in/gone-empty
gzip <<<"gone too" >in/gone.gz
seq 800000 >in/large.txt
seq 800000 | sed 's/.*/{"id":"&","text":"&"}/' >in/large.jsonl
between 'rm in/gone* in/large*'
title "shrunk: what was read can no longer be kept"
seq 100 >in/shrunk.txt
between 'echo 1 >in/shrunk.txt'
neardup dedup in -o out --resume never 2>/dev/null
echo "exit $?"
diff -r in out/kept
rm in/shrunk.txt
title "grown"
for f in grown.txt grown.jsonl nothing.txt; do
  json first "$RICE one" >in/$f
  [ $f = nothing.txt ] && : >in/$f
  between 'json second "some other words" >>in/'$f
  rm in/$f
done
title "become a directory"
echo 1 >in/changed
between 'rm in/changed; mkdir in/changed'
exit 0
