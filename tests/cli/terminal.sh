# What a terminal shows: a progress line that fits and goes away, colours, widths.
. "$SRC/tests/cli/lib/lib.sh"
unset COLUMNS NO_COLOR
export TERM=xterm
on() { python3 "$SRC/tests/cli/lib/terminal.py" "$@"; }
{ json a "$FOX"; json b "$FOX today"; json c "$RICE"; } >in.jsonl

for columns in 120 40 0; do
  title "dedup, $columns columns"
  rm -rf out
  on $columns neardup dedup $SURE in.jsonl -o out | said | grep -E '^(progress|not|exit|kept)'
done
title "a slow reader of a large file sees the time that is left"
python3 - >large.jsonl <<'X'
import json, random
random.seed(3)
words = [f"w{i}" for i in range(5000)]
for i in range(6000):
    print(json.dumps({"id": f"d{i}", "text": " ".join(random.choices(words, k=180))}))
X
on 200 neardup pairs --threads 1 large.jsonl | grep -E '^(progress|exit)'
title "a terminal that can do nothing"
TERM=dumb on 80 neardup pairs $SURE in.jsonl | said
title "no progress, and progress for programs"
on 80 neardup pairs $SURE --progress none in.jsonl | said
neardup pairs $SURE --progress json in.jsonl 2>&1 >/dev/null |
  python3 -c 'import json, sys; print({json.loads(x)["stage"] for x in sys.stdin} <= {"read", "find", "verify", "write"})'
title "explain: colours"
on 50 neardup explain a b in.jsonl | grep -c '\\e\['
title "explain: none"
NO_COLOR=1 on 50 neardup explain a b in.jsonl | grep -c '\\e\['
TERM=dumb on 50 neardup explain a b in.jsonl | grep -c '\\e\['
title "no name of a terminal, and an empty NO_COLOR"
(unset TERM; on 50 neardup explain a b in.jsonl | grep -c '\\e\['; on 80 neardup pairs $SURE in.jsonl | grep -c '^progress')
NO_COLOR= on 50 neardup explain a b in.jsonl | grep -c '\\e\['
title "help is as wide as the terminal, within limits"
for columns in 30 45 90 300; do
  on $columns neardup pairs --help | awk -v c=$columns 'length > w && !/neardup / { w = length }
    END { print c, w <= (c < 40 ? 40 : c > 100 ? 100 : c) ? "fits" : "too wide: " w }'
done
title "a terminal gets no control characters, wherever they are"
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
