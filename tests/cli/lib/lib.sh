# Words that the command-line tests share.  Source it first:
#     . "$SRC/tests/cli/lib/lib.sh"
# Scripts show what must never change; times, memory and the number of
# candidates, which may, are masked or left out here.

# Two sentences with nothing in common.
FOX="the quick brown fox jumps over the lazy dog and runs away into the deep dark forest"
RICE="an entirely different sentence about cooking rice with plenty of salt and butter tonight"

# A method that finds every pair of these small tests, whatever its hash.
SURE="--rows 1 --bands 60"

title() { printf '\n== %s\n' "$*"; }

# words FROM TO [PREFIX]: a document of numbered words, "w7 w8 w9".
words() { seq -s ' ' -f "${3:-w}%g" "$1" "$2"; }

# json ID TEXT [MORE]: a line of JSONL; the text must need no escapes.
json() { printf '{"id":"%s","text":"%s"%s}\n' "$1" "$2" "${3:+,$3}"; }

# What a run said, without what varies.
said() { sed -E -e 's/^time +.*/time      …/' -e 's/[0-9,]+ candidates/… candidates/' \
  -e 's/^recall .*/recall    …/'; }

# Complaints only.
complaints() { grep -E '^(neardup:|Try|rejected|warning|capped)|rejected \(see' || true; }

# counts DIR: the counts, and whether nothing was lost.
counts() { python3 "$SRC/tests/cli/lib/counts.py" "$1"; }

# kept DIR: the kept files with their sizes (of packed ones the size depends on
# the packer's version).
kept() { (cd "$1/kept" && find . -type f -printf '%s %P\n' | LC_ALL=C sort -k2 |
  sed -E 's/^[0-9]+ (.*\.(gz|zst))$/packed \1/'); }

# dedup ARGUMENT...: a run into a fresh folder out: complaints, exit status,
# counts, rejected records.
dedup() {
  rm -rf out
  local status=0
  neardup dedup "$@" -o out 2>said || status=$?
  complaints <said
  echo "exit $status"
  if [ -f out/summary.json ]; then
    counts out
    cat out/rejected.tsv
  fi
}

# pairs ARGUMENT...: the pairs, the exit status if it is not 0.
pairs() {
  local status=0
  neardup pairs "$@" 2>said || status=$?
  complaints <said
  [ $status = 0 ] || echo "exit $status"
}

# fails ARGUMENT...: what the command says when it refuses.
fails() {
  local status=0
  echo "\$ neardup $*"
  neardup "$@" || status=$?
  echo "exit $status"
}
