# --format, and what auto makes of the same bytes whatever the file is called.
. "$SRC/tests/cli/lib/lib.sh"
show() { neardup inspect "$@" 2>&1; echo "exit $?"; }
{ json a "$FOX"; json b "$RICE"; } >j
printf '%s\n%s\n\n%s\n' "$FOX" "$RICE" "$FOX" >l
printf '1 2 3\n\n18446744073709551615 0 0\n1 x\n-1\n18446744073709551616\n' >s
printf '<DOC>\n<DOCNO> T-1 </DOCNO>\n<TEXT>\n%s\n</TEXT>\n</DOC>\n<DOC>\n<DOCNO>T-2</DOCNO>\n%s\n</DOC>\n' \
  "$FOX" "$RICE" >t
printf 'WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:1>\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n' \
  ${#FOX} "$FOX" >w
printf 'filedesc://x.arc 0.0.0.0 20200101000000 text/plain 15\n1 0 example.or\n\nhttp://a.example/ 10.0.0.1 20200101000000 text/plain %d\n%s\n' \
  ${#FOX} "$FOX" >a
printf '<html><head><title>t</title><script>no words</script></head><body><p>%s</p>' "$FOX" >h

for f in j l s t w a h; do title "auto $f"; show $f; done
for how in "text j" "lines j" "lines l" "sets s" "jsonl l" "trec t" "warc w" "arc a" "text h" \
    "warc l" "arc l" "trec l" "sets l"; do
  title "--format $how"
  show --format ${how% *} ${how#* }
done

title "packed, under a wrong name"
gzip <j >packed.txt; show packed.txt
zstd -q <w >packed.jsonl; show packed.jsonl
title "several members, zero bytes between"
{ gzip <j; head -c 512 /dev/zero; gzip <j; } >members.gz; show members.gz

title "sets: repeated tokens are numbered"
printf '1 1 1 2\n1 1 2 2\n' >m.sets
pairs m.sets --format sets $SURE --threshold 0.1

title "a damaged first line does not make a text of a JSONL file"
{ echo '{"id":"x","text":"cut off'; cat j; json c "and a third"; } >damaged; show damaged
