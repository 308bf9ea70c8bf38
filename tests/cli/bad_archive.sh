# WARC and ARC with wrong lengths, endless heads, rubbish, cut and bad bodies:
# the good records around them are found, and every byte is accounted for.
. "$SRC/tests/cli/lib/lib.sh"
export PYTHONDONTWRITEBYTECODE=1
for name in $(python3 "$SRC/tests/cli/lib/records.py"); do
  title "$name"
  python3 "$SRC/tests/cli/lib/records.py" $name >in
  dedup in --method digest --max-document 2M
  neardup inspect in --max-document 2M | cut -f4,6 | sort | uniq -c
  # What is kept can be read again, without complaint.
  neardup inspect out/kept/in 2>&1 >again | head -3
  cut -f3 again | grep -c rejected | grep -v '^0$'
done
exit 0
