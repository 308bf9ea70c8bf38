# A reader that leaves, a full device, no standard output: an end without a trace.
. "$SRC/tests/cli/lib/lib.sh"
for i in $(seq 3000); do echo "{\"id\":\"document-number-$i\",\"text\":\"$FOX\"}"; done >same.jsonl
mkdir tmp
export TMPDIR=$PWD/tmp
title "pairs | head"
neardup pairs same.jsonl 2>/dev/null | head -1
echo "${PIPESTATUS[0]}"; ls -A tmp
title "standard input, inspect | head"
neardup inspect - <same.jsonl 2>/dev/null | head -1 | cut -f1-4
ls -A tmp
neardup pairs - <same.jsonl 2>/dev/null | head -1
ls -A tmp
title "cluster | head"
seq 1 50000 | sed 's/.*/a\tb&\t1/' >list
neardup cluster list 2>/dev/null | head -1
title "help | head"
neardup dedup --help | head -1
python3 - <<'X'
import os, subprocess
reader, writer = os.pipe()
os.close(reader)  # before anything is written
p = subprocess.run(["neardup", "--help"], stdout=writer, stderr=subprocess.PIPE)
print(p.returncode, len(p.stderr))
X
title "a full device"
[ -w /dev/full ] || { echo "skipped, no /dev/full"; exit 77; }
neardup pairs same.jsonl >/dev/full; echo "exit $?"; ls -A tmp
neardup inspect same.jsonl >/dev/full; echo "exit $?"
neardup cluster list >/dev/full; echo "exit $?"
neardup --help >/dev/full; echo "exit $?"
neardup dedup --help >/dev/full; echo "exit $?"
neardup --version >/dev/full; echo "exit $?"
title "no standard output, input, error"
neardup pairs same.jsonl >&-; echo "exit $?"; ls -A tmp
neardup inspect same.jsonl >&-; echo "exit $?"
neardup pairs - <&-; echo "exit $?"; ls -A tmp
neardup dedup same.jsonl -o out >&- 2>&-; echo "exit $?"; counts out
