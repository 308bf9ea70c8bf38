"""records.py CASE: an archive on standard output, with a bad record between
two good ones (a and b), as the case says; records.py alone lists the cases."""
import gzip
import sys

from bomb import gzip_bomb

FOX = b"the quick brown fox jumps over the lazy dog and runs away into the deep dark forest"
RICE = b"an entirely different sentence about cooking rice with plenty of salt and butter tonight"
WORDS = b"some words in the bad record body that are not in the others at all, my dear friend"


def record(name, body, length=None, kind="resource", media="text/plain"):
    head = (f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:x:{name}>\r\n"
            f"Content-Type: {media}\r\n")
    if length is not False:
        head += f"Content-Length: {len(body) if length is None else length}\r\n"
    return head.encode() + b"\r\n" + body + b"\r\n\r\n"


def response(fields, body):
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + fields + b"\r\n"
    return record("bad", head + body, kind="response", media="application/http")


def arc(name, length):
    return f"http://a.example/{name} 10.0.0.1 20200101000000 text/plain {length}\n".encode()


def arc_file(bad):
    return (b"filedesc://x.arc 0.0.0.0 20200101000000 text/plain 15\n1 0 example.or\n\n" +
            arc("a", len(FOX)) + FOX + b"\n" + bad + arc("b", len(RICE)) + RICE + b"\n")


A, B = record("a", FOX), record("b", RICE)
CASES = {f"length-{name}": (lambda n=length: A + record("bad", WORDS, n) + B) for name, length in {
    "zero": 0, "short": 40, "long": 100, "longer": 300, "5GB": 5_000_000_000, "absurd": "9" * 30,
    "negative": -5, "no-number": "x12", "empty": "", "none": False, "hex": "0x10",
    "sum": "1 1"}.items()}
CASES |= {
    "length-last": lambda: A + B + record("bad", b"some words", 100),
    "length-twice": lambda: A + record("bad", WORDS).replace(
        b"Content-Length", b"Content-Length: 1\r\nContent-Length") + B,
    # Longer than --max-document in the tests, and longer than what is looked back.
    "length-3MB-in-4MB": lambda: A + record("bad", WORDS, 3_000_000) + B + record("c", b"x " * 2_000_000),
    "length-3MB-of-many": lambda: A + record("bad", WORDS, 3_000_000) + B * 20_000,
    "large": lambda: A + record("bad", b"x " * 3_000_000) + B,
    "head-without-end": lambda: A + b"WARC/1.0\r\nWARC-Type: response\r\nX: " + b"x" * 3_000_000 + b"\r\n" + B,
    "head-of-nul": lambda: A + b"WARC/1.0\r\n" + b"\0" * 100_000 + b"\r\n" + B,
    "head-of-lines": lambda: A + b"WARC/1.0\r\n" + b"X: y\r\n" * 300_000 + B,
    "head-at-end": lambda: A + B + b"WARC/1.0\r\nWARC-Type: response\r\n",
    "no-type": lambda: A + record("bad", WORDS).replace(b"WARC-Type: resource\r\n", b"") + B,
    "rubbish-between": lambda: A + b"rubbish\r\n\r\nmore rubbish" * 100 + b"\r\n" + B,
    "rubbish-first": lambda: A + b"\0\1\2" * 50_000 + b"\r\n" + B,
    "http-head-without-end": lambda: A + record(
        "bad", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", kind="response",
        media="application/http") + B,
    "http-head-only-lines": lambda: A + record(
        "bad", b"HTTP/1.1 200 OK\r\n" + b"X-Long: y\r\n" * 100_000, kind="response",
        media="application/http") + B,
    "http-length-wrong": lambda: A + response(b"Content-Length: 99999999999999999999\r\n", WORDS) + B,
    "http-gzip-cut": lambda: A + response(b"Content-Encoding: gzip\r\n", gzip.compress(WORDS, mtime=0)[:-12]) + B,
    "http-gzip-bad": lambda: A + response(b"Content-Encoding: gzip\r\n", b"\x1f\x8b\x08\0" + b"\xff" * 200) + B,
    "http-gzip-not": lambda: A + response(b"Content-Encoding: gzip\r\n", WORDS) + B,
    "http-chunk-absurd": lambda: A + response(
        b"Transfer-Encoding: chunked\r\n", b"FFFFFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n") + B,
    "http-chunk-cut": lambda: A + response(b"Transfer-Encoding: chunked\r\n", b"100\r\nabc def ghi\r\n") + B,
    "bomb": lambda: A + response(b"Content-Encoding: gzip\r\n", gzip_bomb()) + B,
    "bomb-in-bomb": lambda: A + response(b"Content-Encoding: gzip, gzip\r\n", gzip.compress(gzip_bomb())) + B,
    "arc-length-long": lambda: arc_file(arc("bad", 5000) + WORDS + b"\n"),
    "arc-length-5GB": lambda: arc_file(arc("bad", 5_000_000_000) + WORDS + b"\n"),
    "arc-length-absurd": lambda: arc_file(arc("bad", "9" * 30) + WORDS + b"\n"),
    "arc-length-none": lambda: arc_file(arc("bad", "-") + WORDS + b"\n"),
    "arc-rubbish": lambda: arc_file(b"\0\0\0 not a head\n" + WORDS + b"\n"),
}

if len(sys.argv) > 1:
    sys.stdout.buffer.write(CASES[sys.argv[1]]())
else:
    print("\n".join(name for name in CASES if not name.startswith("bomb")))
