"""Promise 5: memory is a budget.  Corpora far larger than it finish, with a peak
of at most the budget and 64 MiB, and give the same bytes."""

import shutil

from promise_tools import digest, expect, expect_whole, promise

SLACK = 64 << 20
WAYS = ([], ["--keep", "longest"], ["--cluster", "components"])


def within(lab, corpus, budget, cases):
    peaks = []
    truth = {}
    for threads, way in cases:
        key = " ".join(way)
        if key not in truth:
            out = lab.fresh("roomy")
            lab.dedup(corpus, out, "--memory", "4G", "--threads", "2", *way).expect(0)
            truth[key] = digest(out)
            shutil.rmtree(out)
        out = lab.fresh("tight")
        run, peak = lab.measured(corpus, out, "--memory", f"{budget}M", "--threads", threads, *way)
        run.expect(0)
        peaks.append(peak)
        case = f"{threads} threads {key}"
        expect(peak <= (budget << 20) + SLACK,
               f"{case}: peak memory {peak >> 20} MiB with a budget of {budget} MiB")
        expect_whole(out)
        expect(digest(out) == truth[key], f"{case}: other bytes")
        shutil.rmtree(out)
    return f"peak {max(peaks) >> 20} MiB of {budget} + 64"


@promise("160 MB in a budget of 20 MB")
def long_documents(lab):
    corpus = lab.corpus(80000, bytes=2000, seed=41)
    return within(lab, corpus, 20, [(2, WAYS[0]), (8, WAYS[0]), (8, WAYS[1]), (2, WAYS[2])])


@promise("short documents, 120 MB of them in a budget of 20 MB")
def short_documents(lab):
    corpus = lab.corpus(600000, bytes=120, seed=42)
    return within(lab, corpus, 20, [(8, WAYS[0]), (2, WAYS[1]), (8, WAYS[2])])


@promise("giant and tiny lines in a budget of 20 MB")
def odd_lines(lab):
    """Lines near --max-document on all threads, and ranges of the shortest lines."""
    corpus = lab.fresh("odd.txt")
    words = [f"w{i:x}" for i in range(5000)]
    pick = lab.random.choices
    with open(corpus, "w") as out:
        for i in range(24):
            out.write(" ".join(pick(words, k=400000)) + "\n")
            out.write("\n".join(pick("abcdefgh", k=5000)) + "\n")
        out.write("\n".join(pick("abcdefgh", k=200000)) + "\n")
    return within(lab, corpus, 20, [(2, ["--format", "lines"]), (8, ["--format", "lines"])])


@promise("sketches of 300,000 documents in a budget of 20 MB")
def sketches(lab):
    """Sketches that do not fit: 8, 48, 100 and 672 bytes a document."""
    corpus = lab.corpus(300000, bytes=120, seed=43)
    linear = ["--permutations", "84", "--family", "linear", "--verify", "none",
              "--threshold", "0.5"]
    return within(lab, corpus, 20, [(2, ["--method", "simhash"]),
                                    (2, ["--method", "simhash", "--weights", "tfidf"]),
                                    (2, ["--method", "projection"]),
                                    (8, ["--method", "combined-site"]), (2, linear)])
