# report.html: the numbers of summary.json, the same page for any number of threads,
# nothing of a document as markup, bounded for any corpus.
# threads
. "$SRC/tests/cli/lib/lib.sh"
check() { python3 "$SRC/tests/cli/lib/report_check.py" "$@"; }

title "the examples"
neardup dedup "$SRC/examples/corpus" -o one --threads 1 2>/dev/null; check one
neardup dedup "$SRC/examples/corpus" -o many --threads 4 2>/dev/null; check many
check --plain one >a; check --plain many >b; cmp a b && echo same
for how in "--method exact" "--method ppjoin" "--method digest" "--similarity edit --threshold 3 --method join" \
  "--similarity overlap --threshold 9 --method join" "--cluster components --threshold 0.5" "--verify none"; do
  rm -rf other; neardup dedup "$SRC/examples/corpus" -o other $how 2>/dev/null || echo "exit $?"
  echo "$how:"; check other | sed -n 1,2p
done

title "a sample is said to be one"
neardup dedup "$SRC/examples/corpus" -o sampled --sample mod:4 --sample cap:9 2>/dev/null; check sampled
grep -o 'Sampled by <code>[^<]*' sampled/report.html
python3 - <<'PY'
import json, re
page, said = open("sampled/report.html").read(), json.load(open("sampled/summary.json"))["sample"]
print(all(f'id="n-sample-{n}" value="{said[f]}"' in page for n, f in
          (("kept", "shingles_kept"), ("seen", "shingles_seen"), ("emptied", "documents_left_without_shingles"))))
print(re.search('id="command">(.*)</code>', page)[1].replace("$SRC", "").split()[-2:])
PY

title "hostile names and texts"
python3 - <<'PY'
import json
bad = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\u2028]]>\\ \u0001\u001b[31m"
with open("bad.jsonl", "w") as f:
    for i in range(6):
        words = " ".join(f"{bad} w{k}" for k in range(40 - (i == 3)))
        f.write(json.dumps({"id": f"{bad}{i}", "url": f"http://{bad}.example.org/{i}", "text": words}) + "\n")
    f.write("{ broken " + bad.replace("\n", " ") + "\n")
PY
neardup dedup bad.jsonl -o bad 2>/dev/null; echo "exit $?"; check bad
grep -c '<script>alert\|<img' bad/report.html
grep -o '<script[^>]*>' bad/report.html

title "nothing to see"
: >empty.jsonl
neardup dedup empty.jsonl --format jsonl -o none 2>/dev/null; check none
printf '\n\n' >blank.txt
neardup dedup blank.txt --format text -o blank 2>/dev/null; check blank

title "many clusters, many words, a word of a megabyte"
python3 - <<'PY'
import json, random
random.seed(5)
with open("many.jsonl", "w") as f:
    for i in range(12000):
        words = [f"word{random.randrange(10**6)}" for _ in range(30)]
        for copy in range(2):
            f.write(json.dumps({"id": f"{'x' * 300}-{i}-{copy}", "text": " ".join(words + ["end"] * copy)}) + "\n")
    long = [f"long{i}" for i in range(30000)]
    for i in range(40):
        long[i * 700] = f"other{i}"
        f.write(json.dumps({"id": f"long-{i}", "text": " ".join(long)}) + "\n")
    for i in range(3):
        f.write(json.dumps({"id": f"giant-{i}", "text": " ".join(["y" * 1000000] + [f"w{k}" for k in range(40)] + ["z"] * i)}) + "\n")
PY
neardup dedup many.jsonl -o many2 2>/dev/null; check many2 | sed 's/[0-9]* clusters/… clusters/'

title "--against, and sites"
{ for i in 1 2 3; do json "a$i" "$FOX $i" "\"url\":\"http://www.A.example.org/$i\""; done; } >in.jsonl
json b "$FOX 1" '"url":"http://b.org/"' >other.jsonl
neardup dedup in.jsonl -o against --against other.jsonl $SURE 2>/dev/null; check against
grep -o 'a.example.org, [a-z]*: [0-9]*' against/report.html
title "more files than a report lists: by folder"
rm a b; mkdir -p a b/c
for i in $(seq 120); do echo "$(words $i $((i + 30)))" >a/$i.txt; echo "$(words $i $((i + 30)) v)" >b/c/$i.txt; done
echo "$FOX" >top.txt
rm -rf out; neardup dedup --threshold 0.9 top.txt a/ b -o out 2>/dev/null; echo $?
grep -o 'By folder' out/report.html | head -n 1
grep -oE '>(a|b/c|\.)<' out/report.html | sort -u
title "inputs with quotes, and more of them than are shown"
mkdir "it's"; names=()
for i in $(seq 30); do echo "$FOX $i" >"it's/$i.txt"; names+=("it's/$i.txt"); done
rm -rf out; neardup dedup "${names[@]}" -o out 2>/dev/null
grep -o 'neardup dedup.*' out/report.html | head -n 1 | cut -c 1-60
grep -o ' … -o out' out/report.html | head -n 1
