"""MinHash, SimHash, Projection and the LSH index."""
import pickle
import random

import neardup
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

KINDS = [neardup.MinHash, neardup.SimHash, neardup.Projection]
quick = settings(max_examples=60, deadline=None)


def random_words(rng, n):
    return [f"w{rng.randrange(5000)}" for _ in range(n)]


def test_docstrings_of_the_extension():
    import doctest
    from neardup import _core
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    tried = 0
    for kind in (*KINDS, neardup.LSH):
        for test in finder.find(kind, kind.__name__, module=_core):
            tried += runner.run(test).attempted
    assert tried > 15 and runner.failures == 0


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(a=st.lists(st.binary(max_size=6), max_size=30), b=st.lists(st.binary(max_size=6), max_size=30))
def test_parts_give_the_whole(kind, a, b):
    whole, parts, one, two = kind(a + b), kind(a), kind(a), kind(b)
    for x in b:
        parts.update(x)
    one.merge(two)
    assert parts == whole == one
    for x in (whole, two):
        again = kind.from_bytes(bytes(x))
        assert again == x and hash(again) == hash(x) and pickle.loads(pickle.dumps(x)) == x
        assert x.copy() == x and len(x.bytes()) == len(x) * 8 + 20 + len(f"{SPEC[kind]} words")


SPEC = {neardup.MinHash: "words:5", neardup.SimHash: "words:1", neardup.Projection: "words:1"}


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.binary(max_size=300))
def test_strange_bytes_are_refused(kind, data):
    with pytest.raises(neardup.DataError):
        kind.from_bytes(data)


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=st.data())
def test_damaged_bytes_never_crash(kind, data):
    good = bytearray(bytes(kind("some words are in here, and more")))
    for _ in range(3):
        good[data.draw(st.integers(0, 40))] = data.draw(st.integers(0, 255))
    try:
        kind.from_bytes(good).jaccard(kind("x"))
    except neardup.Error:
        pass


def test_texts_are_those_of_dedup():
    """The estimate is unbiased: over many pairs it meets the exact value."""
    rng = random.Random(1)
    errors = []
    for _ in range(60):
        a = random_words(rng, 200)
        b = a[:rng.randrange(50, 200)] + random_words(rng, 60)
        a, b = " ".join(a), " ".join(b)
        exact = neardup.pairs([a, b], threshold=None, method="exact")
        exact = exact[0][2] if len(exact) else 0.0
        errors.append(neardup.MinHash(a, permutations=512).jaccard(neardup.MinHash(b, permutations=512)) - exact)
    assert abs(sum(errors) / len(errors)) < 0.015
    assert max(map(abs, errors)) < 0.1


def test_cosine_of_projections():
    rng = random.Random(2)
    words = random_words(rng, 400)
    a, b = neardup.Projection(words, bits=1024), neardup.Projection(words[:200] + random_words(rng, 200), bits=1024)
    assert 0.35 < a.cosine(b) < 0.65  # half of the words
    assert a.distance(a) == 0 and a.jaccard(a) == 1 and len(a.digest()) == 128
    x, y = neardup.SimHash(words), neardup.SimHash(words[:390])
    assert x.distance(y) < 12 and int(x) == int.from_bytes(x.digest(), "little")


def test_sketches_that_do_not_fit_are_refused():
    a = neardup.MinHash("x")
    for other in (neardup.MinHash("x", permutations=64), neardup.MinHash("x", seed=2),
                  neardup.MinHash("x", shingle="words:2"), neardup.SimHash("x"), 3):
        with pytest.raises(neardup.UsageError):
            a.jaccard(other)
        with pytest.raises(neardup.UsageError):
            a.merge(other)
    for wrong in (3, [3], None, ["a", None]):
        with pytest.raises(neardup.Error):
            a.update(wrong)
    for options in ({"permutations": 0}, {"permutations": 10**6}, {"shingle": "letters"}, {"seed": -1}):
        if options == {"permutations": 0}:
            continue  # chosen
        with pytest.raises(neardup.UsageError):
            neardup.MinHash(**options)
    for bits in (0, 63, 2048, -64):
        with pytest.raises(neardup.UsageError):
            neardup.Projection(bits=bits)
    with pytest.raises(neardup.DataError):
        neardup.MinHash("\ud800")


def test_index_finds_what_dedup_finds():
    rng = random.Random(3)
    texts = []
    for _ in range(300):
        if texts and rng.random() < 0.4:
            words = rng.choice(texts).split()
            words[rng.randrange(len(words))] = "changed"
        else:
            words = random_words(rng, rng.randrange(20, 120))
        texts.append(" ".join(words))
    pairs = {(a, b) for a, b, _ in neardup.pairs(texts, 0.8, method="exact")}
    index = neardup.LSH(0.8, recall=0.999, permutations=256, verify=False)
    found = set()
    for i, text in enumerate(texts):
        m = neardup.MinHash(text, permutations=256)
        found |= {(j, i) for j in index.query(m)}
        index.insert(i, m)
    assert len(pairs) > 40 and len(pairs & found) >= 0.98 * len(pairs)
    assert index.predicted_recall >= 0.999


def test_index_keeps_its_books():
    index = neardup.LSH(0.5)
    sketches = {k: neardup.MinHash(f"text number {k} has words of its own {k * k}") for k in range(50)}
    for k, m in sketches.items():
        index.insert(k, m)
    with pytest.raises(neardup.UsageError, match="already"):
        index.insert(3, sketches[3])
    assert all(k in index.query(m) for k, m in sketches.items())
    for k in range(0, 50, 2):
        index.remove(k)
    assert len(index) == 25 and 3 in index and 4 not in index
    assert not any(k in index.query(sketches[k]) for k in range(0, 50, 2))
    with pytest.raises(neardup.UsageError, match="not in the index"):
        index.remove(4)
    index.insert("empty", neardup.MinHash())
    assert index.query(neardup.MinHash()) == []
    index.remove("empty")
    for wrong in (neardup.SimHash("x"), neardup.MinHash("x", permutations=64), neardup.MinHash("x", seed=5)):
        with pytest.raises(neardup.UsageError):
            index.insert("k", wrong)
        with pytest.raises(neardup.UsageError):
            index.query(wrong)
