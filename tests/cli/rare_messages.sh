# What is said of one thing, of none, and of many; what a terminal never gets; Ctrl-C.
. "$SRC/tests/cli/lib/lib.sh"
title "one document with boilerplate"
menu=$(words 1 40 menu)
for i in 1 2 3 4 5; do json $i "$menu $(words $((i * 100)) $((i * 100 + 60)))" "\"url\":\"http://a.org/$i\""; done >site.jsonl
neardup pairs --ignore-boilerplate site.jsonl 2>&1 >/dev/null | grep boiler
head -n 2 site.jsonl | sed 's/a.org/b.org/' >>site.jsonl
json no "$FOX" >>site.jsonl
neardup pairs --ignore-boilerplate site.jsonl 2>&1 >/dev/null | grep boiler
title "documents that are nothing but boilerplate"
for i in 1 2 3 4; do json $i "$(for k in $(seq $i); do words 1 12 menu; done | paste -sd ' ')" "\"url\":\"http://c.org/$i\""; done >menus.jsonl
neardup pairs --ignore-boilerplate menus.jsonl 2>&1 >/dev/null | grep boiler
json 5 "$(words 1 12 menu) $(words 1 60)" '"url":"http://c.org/5"' >>menus.jsonl
neardup pairs --ignore-boilerplate menus.jsonl 2>&1 >/dev/null | grep boiler
title "samples: one document is emptied, none, all"
{ json a "$(words 1 80)"; json b "$(words 1 80) more"; json c "one two three four five"; } >sample.jsonl
for n in 2 4 8 64 1024; do neardup pairs --method exact --sample mod:$n sample.jsonl 2>&1 >/dev/null | grep sample; done
: >none.jsonl; neardup pairs --method exact --sample mod:2 none.jsonl 2>&1 >/dev/null | grep sample
title "one hot bucket, one id twice"
for i in 1 2 3 4 5 6; do json same "$FOX $i"; done >hot.jsonl
neardup pairs --bands 1 --rows 1 --bucket-cap 2 hot.jsonl 2>&1 >/dev/null | grep hot
{ json a "$FOX"; json a "$RICE"; json b "$(words 1 9)"; json c "$(words 20 29)"; } >twice.jsonl
rm -rf out; neardup dedup twice.jsonl -o out 2>&1 | grep -i 'id'
title "texts that are none"
for value in 1 true false null '{}' '[]'; do printf '{"text":%s}\n' "$value"; done >types.jsonl
neardup inspect types.jsonl 2>/dev/null | cut -f 3-; neardup inspect --text-field body types.jsonl 2>/dev/null | tail -n 1 | cut -f 3-
title "sizes"
for size in 64MiB 64mb 64Mb 65536K 67108864 64MB 64Mi 64iB 64MBB 99999999T; do
  neardup pairs --memory $size none.jsonl 2>&1 | grep neardup: || echo $size
done
fails pairs --$(printf 'very-%.0s' $(seq 20))long none.jsonl
title "--stats without a join"
neardup pairs --stats hot.jsonl 2>&1 >/dev/null | grep -c records
title "a terminal gets no control characters, wherever they are"
on() { python3 "$SRC/tests/cli/lib/terminal.py" "$@"; }
export TERM=xterm
python3 - >control.jsonl <<'X'
import json
for i in range(300):
    print(json.dumps({"id": "x" * (i % 17) + "\x9b31m\x7f\u00e9\x1b[2J" + str(i), "text": "a b c d e f g h i j"}))
X
on 80 neardup pairs control.jsonl >screen
grep -ac '31m' screen; grep -acP '\xc2\x9b|\x7f|\x1b' screen
on 80 neardup explain "$(printf 'no\302\233such\033id')" x control.jsonl | tail -n 2
mkdir names; printf 'x y z\n' >"names/$(printf 'a\302\251')"; printf 'x y z\n' >"names/$(printf 'b\302c')"
on 80 neardup inspect names | grep -ac "$(printf '\302\251')"
title "a terminal that goes away"
python3 - <<'X'
import os, pty, subprocess
ours, theirs = pty.openpty()
p = subprocess.Popen(["neardup", "inspect", "-"], stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE,
                     start_new_session=True)
os.close(theirs)
os.close(ours)
said = p.communicate(b'{"text": "one two three"}\n')[1].decode().splitlines()
print(p.returncode, said[-1])
X
title "Ctrl-C while nobody reads"
for i in $(seq 600); do echo "$FOX"; done >copies.txt
python3 - <<'X'
import signal, subprocess, time
p = subprocess.Popen(["neardup", "pairs", "--format", "lines", "copies.txt"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdout.read(1)  # it writes more than a pipe holds
time.sleep(0.3)
p.send_signal(signal.SIGINT)
print(p.stderr.read().decode().splitlines()[-1], p.wait())
X
title "Ctrl-C, once"
python3 - <<'X'
import os, signal, subprocess, time
for command in (["pairs", "-"], ["dedup", "-", "-o", "gone"], ["inspect", "-"], ["pairs", "--progress", "json", "-"]):
    p = subprocess.Popen(["neardup", *command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    line = b'{"text": "one two three four five six seven eight"}\n'
    p.stdin.write(line * 1000)
    p.stdin.flush()
    time.sleep(0.3)
    p.send_signal(signal.SIGINT)  # which is noted between two reads
    try:
        p.stdin.write(line * 1000)
        p.stdin.close()
    except BrokenPipeError:
        pass
    said = p.stderr.read().decode()
    print(command[0], p.wait(), [x for x in said.splitlines() if not x.startswith("{")])
X
ls gone 2>&1 | sed 's/.*: //'
