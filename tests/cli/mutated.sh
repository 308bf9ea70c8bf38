# Damaged copies of the examples: no crash, nothing lost.
. "$SRC/tests/cli/lib/lib.sh"
seed=${NEARDUP_SEED:-1}
mkdir in
python3 "$SRC/tests/cli/lib/mutate.py" $seed 200 "$SRC/examples/corpus" in
neardup inspect in >list
case $? in 0 | 3) echo inspected ;; *) echo "inspect failed, seed $seed" ;; esac
neardup dedup in -o out 2>said
case $? in 0 | 3) echo done ;; *) echo "dedup failed, seed $seed"; cat said ;; esac
counts out | sed 's/[0-9][0-9]*/…/g'
grep -vcP '^[^\t]+\t[^\t]+$' out/rejected.tsv
exit 0
