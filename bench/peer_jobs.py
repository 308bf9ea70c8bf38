#!/usr/bin/env python3
"""One library's whole job, from a JSONL file to the list of duplicates; for bench/peers.py.

bench/peer_jobs.py NAME CORPUS OUT.npy THREADS BANDS ROWS

Same documents, same features for all: the lower-case runs of letters and digits, five in a row
(documents with fewer: all of them as one), bands x rows permutations, threshold 0.8. Each library is
called by its quickest documented way to pairs. Prints seconds, CPU seconds and the number of documents
with a near-duplicate; the pairs go to OUT.npy.
"""

import json
import os
import re
import sys
import time

WORD = re.compile(r"[^\W_]+")
SHINGLE = 5


def read(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(line)["text"] for line in f]


def shingles(text):
    words = WORD.findall(text.lower())
    if len(words) <= SHINGLE:
        return {" ".join(words)} if words else set()
    return set(map(" ".join, zip(*(words[i:] for i in range(SHINGLE)))))


def datasketch(path, bands, rows):
    from datasketch import MinHash, MinHashLSH
    k = bands * rows
    lsh = MinHashLSH(threshold=0.8, num_perm=k, params=(bands, rows))
    pairs = []
    sets = ([s.encode() for s in shingles(text)] for text in read(path))
    for i, m in enumerate(MinHash.generator(sets, num_perm=k, seed=1)):
        pairs += [(j, i) for j in lsh.query(m)]
        lsh.insert(i, m, check_duplication=False)
    return pairs


def rensa(path, bands, rows):
    """The full-set R-MinHash with candidates as pairs."""
    from rensa import RMinHash, RMinHashLSH
    k = bands * rows
    lsh = RMinHashLSH(threshold=0.8, num_perm=k, num_bands=bands)
    sketches = RMinHash.from_token_sets([list(shingles(t)) for t in read(path)], num_perm=k, seed=1)
    lsh.insert_many(sketches)
    return [(j, i) for i, found in enumerate(lsh.query_all(sketches)) for j in found if j < i]


def rensa_flags(path, bands, rows):
    """Its quickest way: only a flag for each document that has a candidate."""
    from rensa import RMinHash, RMinHashLSH
    k = bands * rows
    lsh = RMinHashLSH(threshold=0.8, num_perm=k, num_bands=bands)
    matrix = RMinHash.digest_matrix_from_token_sets([list(shingles(t)) for t in read(path)], num_perm=k,
                                                    seed=1)
    return [(-1, i) for i, flag in enumerate(lsh.query_duplicate_flags_matrix_one_shot(matrix)) if flag]


def gaoya(path, bands, rows):
    """With its own analyser, which is in Rust."""
    from gaoya.minhash import MinHashStringIndex
    index = MinHashStringIndex(32, 0.8, bands, rows, None, "word", True, (SHINGLE, SHINGLE),
                               id_container="vec")
    texts = read(path)
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    return [(j, i) for i, found in enumerate(index.par_bulk_query(texts)) for j in found if j < i]


def neardup_list(path, bands, rows):
    """Texts as Python strings."""
    import neardup
    return neardup.pairs(read(path), threads=int(sys.argv[4]), permutations=bands * rows, bands=bands,
                         rows=rows)


def main():
    name, path, out, threads, bands, rows = sys.argv[1:]
    os.environ["RAYON_NUM_THREADS"] = threads
    began, cpu = time.monotonic(), time.process_time()
    pairs = globals()[name](path, int(bands), int(rows))
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    import numpy
    table = numpy.array([(a, b) for a, b, *_ in pairs], dtype=numpy.int64).reshape(-1, 2)
    numpy.save(out, table)
    print(json.dumps({"seconds": seconds, "cpu": cpu}))


if __name__ == "__main__":
    main()
