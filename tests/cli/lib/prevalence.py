"""The tables of `neardup prevalence`, the slow way: prevalence.py PAIRS QRELS RUN...

PAIRS is a list of groups (id TAB group) or of pairs with a number.  Prints the
tables "topics" (the level 0.5), "relevant" and "run_topics_more".
"""

import subprocess
import sys
from collections import defaultdict

TOPS = (10, 20, 50, 100, 200, 500)


def lines(path):
    text = subprocess.run(["zstd", "-dcqf", path], check=True, stdout=subprocess.PIPE).stdout
    return [line.split() for line in text.decode().splitlines() if line.strip()]


def main():
    near = defaultdict(set)
    groups = defaultdict(list)
    for a, b, *rest in lines(sys.argv[1]):
        if not rest:
            groups[b].append(a)
        elif float(rest[0]) >= 0.5:
            near[a].add(b)
            near[b].add(a)
    for members in groups.values():
        for a in members:
            near[a].update(set(members) - {a})

    def share(documents):
        inside = set(documents)
        return sum(1 for d in documents if near[d] & inside)

    runs, topics = [], {}
    for path in sys.argv[3:]:
        run = defaultdict(list)
        for number, (topic, _, document, rank, score, _) in enumerate(lines(path)):
            run[topic].append((-float(score), int(rank), number, document))
            topics.setdefault(topic, set())
        runs.append({t: [r[3] for r in sorted(results)] for t, results in run.items()})
        for topic, results in runs[-1].items():
            topics[topic].update(results)
    relevant = defaultdict(list)
    for topic, _, document, grade in lines(sys.argv[2]):
        if int(grade) > 0:
            relevant[topic].append(document)
    for name, collections in (("topics", topics), ("relevant", relevant)):
        print(name)
        for topic in topics:
            documents = list(collections[topic])
            print(f"{topic}\t{len(documents)}\t{100 * share(documents) / len(documents):.2f}")
    print("run_topics_more")
    shares = [[(share(results[:n]), len(results[:n])) for n in TOPS]
              for run in runs for results in run.values()]
    for x in range(5, 100, 5):
        cells = [sum(1 for s in shares if 100 * s[k][0] > x * s[k][1]) for k in range(len(TOPS))]
        print("\t".join([str(x)] + [f"{100 * c / len(shares):.2f}" for c in cells]))


main()
