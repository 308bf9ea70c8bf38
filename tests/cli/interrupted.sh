# Ctrl-C: exit status 130 and one line, also while nobody reads what is written.
. "$SRC/tests/cli/lib/lib.sh"
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
