# Inputs that are rare: many files and sites, odd names, plans by hand, lists with odd numbers.
. "$SRC/tests/cli/lib/lib.sh"
title "more files than a report lists: by folder"
mkdir -p a b/c
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
title "more sites than there was room for"
seq 1 1500 | awk '{ printf "{\"id\":%d,\"url\":\"http://h%d.org/\",\"text\":\"a menu of all the sites here and a word w%d of its own\"}\n", $1, $1 % 1200, $1 }' >sites.jsonl
neardup pairs --ignore-boilerplate --verify exact sites.jsonl 2>&1 >/dev/null | grep -E '^(boiler|neardup)' || echo none
title "a plan by hand: documents of different ratios"
for i in $(seq 40); do json $i "$(words $((i / 2 * 7)) $((i / 2 * 7 + 30 + i % 2 + i * i)))"; done >sizes.jsonl
plan() { printf 'neardup-plan 1\nthreshold 0.3\nprecision 0.9\nshingle words:5\ntokens words\n%bend %s\n' "$1" "$2"; }
plan 'group 200 2\ngroup 700 4\ngroup - 8\n' 3 >three
plan 'group 200 4\ngroup 700 4\ngroup - 8\n' 3 >same
for p in three same; do
  neardup pairs --method exact --threshold 0.3 --sample adaptive:$p sizes.jsonl 2>said | wc -l; grep sample said
  neardup pairs --method exact --threshold 0.3 --sample sct:9 --sample adaptive:$p sizes.jsonl 2>said | wc -l; grep sample said
  neardup pairs --threshold 0.3 --sample adaptive:$p sizes.jsonl --verify sample 2>said | wc -l; grep sample said
done
rm -rf out; neardup dedup --threshold 0.3 --sample adaptive:three sizes.jsonl -o out 2>/dev/null; grep '"plan"' out/summary.json
fails pairs --method exact --threshold 0.4 --sample adaptive:three sizes.jsonl
fails pairs --method exact --threshold 0.3 --shingle words:4 --sample adaptive:three sizes.jsonl
fails pairs --method exact --threshold 0.3 --tokens codepoints --shingle words:5 --sample adaptive:three sizes.jsonl
fails pairs --method exact --threshold 0.3 --sample adaptive:three --sample mod:2 sizes.jsonl
fails pairs --method exact --threshold 0.3 --sample adaptive:three --sample adaptive:0.9 sizes.jsonl
fails pairs --method exact --threshold 0.3 --sample adaptive: sizes.jsonl
fails pairs --method exact --threshold 0.3 --sample adaptive:$(printf 'x%.0s' $(seq 1100)) sizes.jsonl 2>&1 | cut -c 1-60
fails pairs --method exact --threshold 0.3 --sample adaptive:a sizes.jsonl
for bad in 'group 200 3\ngroup - 8\n:2' 'group - 8\n:2' 'group 9 2\ngroup 8 2\ngroup - 2\n:3' ':0' 'group - 0\n:1'; do
  plan "${bad%:*}" "${bad##*:}" >bad
  fails pairs --method exact --threshold 0.3 --sample adaptive:bad sizes.jsonl 2>&1 | sed -n 2p
done
title "lists of pairs with odd numbers"
for value in 1.2.3 1. .5 1.x 5000000000 -1 1e-1 ''; do
  printf 'a\tb\t%s\n' "$value" >list
  neardup cluster list 2>&1 | grep -E 'neardup:|^a'
done
for line in '\tb\t1' 'a\t\t1' 'a' 'a\tb'; do
  printf "$line\n" >list
  neardup cluster list 2>&1 | grep -E 'neardup:|^a'
done
title "ids with line ends in a file of sketches"
printf '{"id":"a\\tb\\nc\\rd\\\\e","text":"%s"}\n{"id":"x\\\\","text":"%s"}\n' "$FOX" "$FOX" >ids.jsonl
neardup sketch ids.jsonl -o ids.nds 2>/dev/null
neardup pairs ids.nds 2>/dev/null; neardup pairs ids.jsonl 2>/dev/null
fails sketch -o none.nds
title "wide characters by edit distance: as comparing all"
python3 - >wide.txt <<'X'
import random
r = random.Random(3)
lines = []
for i in range(300):
    if i % 3:
        t = list(lines[-1])
        for _ in range(r.randrange(4)):
            t[r.randrange(len(t))] = chr(r.randrange(0x1208, 0x1246))
    else:
        t = [chr(r.choice([0x61, 0x430, 0x1208]) + r.randrange(20 if i % 2 else 3)) for _ in range(r.choice([8, 40, 90, 300]))]
    lines.append(t)
    print("".join(t))
X
neardup pairs --format lines --method join --similarity edit --threshold 4 wide.txt 2>/dev/null >found
python3 - <<'X' | cmp - found && wc -l <found
def distance(a, b, most):
    if abs(len(a) - len(b)) > most:
        return most + 1
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
        if min(row) > most:
            return most + 1
    return row[-1]
lines = [x.rstrip("\n") for x in open("wide.txt", encoding="utf-8")]
for i, a in enumerate(lines):
    for j in range(i + 1, len(lines)):
        d = distance(a.lower(), lines[j].lower(), 4)
        if d <= 4:
            print(f"wide.txt:{i + 1}\twide.txt:{j + 1}\t{d}")
X
