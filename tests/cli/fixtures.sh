# Real archives, valid, odd and broken: everything is read or rejected.
. "$SRC/tests/cli/lib/lib.sh"
[ -d "$NEARDUP_DATA/warc-fixtures" ] || { echo "skipped, no data"; exit 77; }
check() {
  rm -rf out
  neardup dedup "$1" -o out 2>said
  case $? in
    0 | 3) ;;
    *) echo "exit $?"; complaints <said ;;
  esac
  counts out | sed 's/[0-9][0-9]*/…/g'
  # Every reason has a place, and what is kept can be read again.
  grep -vcP '^[^\t]+\t[^\t]+$' out/rejected.tsv
  neardup inspect out/kept >again
  cut -f3 again | grep -c rejected
  kept=$(python3 -c 'import json; print(json.load(open("out/summary.json"))["counts"]["kept"])')
  [ "$(grep -vcP '\tother\t' again)" = "$kept" ] && echo "all kept documents are there"
}
title warc-fixtures
check "$NEARDUP_DATA/warc-fixtures"
title trec-samples
check "$NEARDUP_DATA/trec-samples"
