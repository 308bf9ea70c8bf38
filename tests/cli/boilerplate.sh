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
