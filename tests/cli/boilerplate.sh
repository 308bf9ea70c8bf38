# Passages of a site are left out: pages that share only them are no pairs.
# threads
python3 - >pages.jsonl <<'P'
import json, random
random.seed(5)
def text(n): return ' '.join(f'w{random.randrange(5000)}' for _ in range(n))
pages = []
for site in range(4):
    menu, foot = text(60), text(40)
    for p in range(12):
        pages.append((f's{site}p{p}', f'http://www.site{site}.org/{p}.html', f'{menu} {text(40)} {foot}'))
    near = pages[-9][2].split()
    near[75] = 'changed'
    pages.append((f's{site}near', f'http://site{site}.org/near.html', ' '.join(near)))
    pages.append((f's{site}menu', f'http://www.site{site}.org/m.html', f'{menu} {foot}'))
pages.append(('mirror', 'http://other.net/x', ' '.join(pages[1][2].split()[60:-40])))
for i, u, t in pages:
    print(json.dumps({'id': i, 'url': u, 'text': t}))
print(json.dumps({'id': 'nowhere', 'text': text(50)}))
P
neardup pairs pages.jsonl --threshold 0.6 --method exact 2>/dev/null | wc -l
for method in minhash exact join; do
  neardup pairs pages.jsonl --threshold 0.6 --method $method --ignore-boilerplate 2>log >$method
done
grep boiler log
cmp exact join && cmp exact minhash && cat exact
echo "== any number of threads, memory, shards"
neardup dedup pages.jsonl -o one --threshold 0.6 --ignore-boilerplate --threads 1 2>/dev/null
neardup dedup pages.jsonl -o two --threshold 0.6 --ignore-boilerplate --threads 3 --memory 16M 2>/dev/null
for shard in 1/2 2/2; do
  neardup dedup pages.jsonl -o three --threshold 0.6 --ignore-boilerplate --shard $shard 2>/dev/null
done
neardup dedup pages.jsonl -o three --threshold 0.6 --ignore-boilerplate 2>/dev/null
cmp one/clusters.tsv two/clusters.tsv && cmp one/clusters.tsv three/clusters.tsv && echo same
sed -n '/"boilerplate": {/,/}/p' one/summary.json
echo "== with sampling; another share; another similarity"
neardup pairs pages.jsonl --threshold 0.5 --method exact --ignore-boilerplate --sample sct:5,mod:2 2>/dev/null | cut -f1,2
neardup pairs pages.jsonl --threshold 0.6 --method exact --ignore-boilerplate --boilerplate-share 0.99 2>/dev/null | wc -l
neardup pairs pages.jsonl --threshold 30 --method join --similarity edit --ignore-boilerplate 2>/dev/null
echo "== wrong usage"
neardup pairs pages.jsonl --ignore-boilerplate --boilerplate-share 1
neardup pairs pages.jsonl --ignore-boilerplate --boilerplate-share 0
echo "== no site, too few pages"
neardup pairs "$SRC/examples/corpus/text" --threshold 0.5 2>/dev/null | cut -f3 | md5sum
neardup pairs "$SRC/examples/corpus/text" --threshold 0.5 --ignore-boilerplate 2>/dev/null | cut -f3 | md5sum
head -3 pages.jsonl >three.jsonl
neardup pairs three.jsonl --threshold 0.5 --ignore-boilerplate 2>/dev/null | wc -l
. "$SRC/tests/cli/lib/lib.sh"
title "more sites than there was room for"
seq 1 1500 | awk '{ printf "{\"id\":%d,\"url\":\"http://h%d.org/\",\"text\":\"a menu of all the sites here and a word w%d of its own\"}\n", $1, $1 % 1200, $1 }' >sites.jsonl
neardup pairs --ignore-boilerplate --verify exact sites.jsonl 2>&1 >/dev/null | grep -E '^(boiler|neardup)' || echo none
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
