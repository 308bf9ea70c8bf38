"""A corpus whose ids and names hold every byte, and the check of the tables made of it.

    escapes.py make                 below the current folder; expected ids in ids.txt (hex, a line each)
    escapes.py check NAME COLUMNS [ID-COLUMN ...]   a table on stdin: its form, and its ids in ids.txt
    escapes.py raw COLUMN ...       the table on stdin with these columns unescaped, where a line can hold it
    escapes.py ids                  ids of column 1 as a NUL-separated list: printed, raw (without those of NUL)

Written without a look at the C code: the escapes are undone as docs/formats.md tells.
"""

import json
import os
import re
import sys

BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
                 "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]")
POINTS = [*range(1, 0x180), 0x34f, 0x61c, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029,
          *range(0x202a, 0x202f), *range(0x2060, 0x2070), 0xfeff, 0xfffc, 0xfffd, 0xfff9, 0xe0001,
          0xe0041, 0x1f600, 0x10ffff]
ESCAPE = re.compile(rb"\\(?:([tnr\\])|x([0-9a-f]{2}))?")
LETTER = {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}


def unescape(field):
    def one(found):
        if found[1]:
            return LETTER[found[1]]
        if found[2]:
            return bytes.fromhex(found[2].decode())
        raise SystemExit(f"a backslash that begins no escape: {field!r}")
    return ESCAPE.sub(one, field)


def text(number):
    """A document like no other."""
    return " ".join(f"word{number}x{i}" for i in range(12))


def make():
    ids, number = [], 0
    os.makedirs("in/names")
    with open("in/a.jsonl", "w", encoding="ascii") as out:
        for c in [0, *POINTS]:
            for half in "ab":
                id = f"j{half}{chr(c)}z"
                out.write(json.dumps({"id": id, "text": text(number), "url": f"http://x/{id}"}) + "\n")
                ids.append(id.encode())
            number += 1
    with open("in/t.trec", "wb") as out:
        for b in range(1, 256):
            if chr(b).isspace() or b in b"<>" or b == 0x85 or b == 0xa0:
                continue
            for half in b"ab":
                id = b"t%c%cz" % (half, b)
                out.write(b"<DOC>\n<DOCNO>%s</DOCNO>\n<TEXT>\n%s\n</TEXT>\n</DOC>\n" %
                          (id, text(number).encode()))
                ids.append(id)
            number += 1
    with open("in/w.warc", "wb") as out:
        for b in range(1, 256):
            if b in b"\r\n \t\v\f":
                continue
            for half in b"ab":
                id = b"w%c%cz" % (half, b)
                body = text(number).encode()
                out.write(b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-TREC-ID: %s\r\nWARC-Target-URI: "
                          b"http://x/%s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n" % (id, id, len(body), body))
                ids.append(id)
            number += 1
    for b in range(1, 256):
        if b == ord("/"):
            continue
        for half in b"ab":
            name = b"in/names/n%c%cz" % (half, b)
            with open(name, "wb") as out:
                out.write(text(number).encode())
            ids.append(name)
        number += 1
    rejected = b"in/names/r\n\x1b\t\xff\xe2\x80\xae\\.jsonl"
    with open(rejected, "wb") as out:
        out.write(b'{"id": "good", "text": "one of a kind \xe2\x80\xae"}\n{"id": \x1b\n{"text": 5}\n')
    ids += [b"good", rejected + b":2", rejected + b":3"]
    with open("ids.txt", "w") as out:
        out.writelines(id.hex() + "\n" for id in ids)
    print(len(ids), "ids")


def check(name, columns, *id_columns):
    data = sys.stdin.buffer.read()
    shown = data.decode("utf-8")  # or fail
    if BAD.search(shown):
        raise SystemExit(f"{name}: {BAD.search(shown)[0]!r} is not escaped")
    if data and not data.endswith(b"\n"):
        raise SystemExit(f"{name}: no line end")
    rows = [line.split(b"\t") for line in data.split(b"\n")[:-1]]
    with open("ids.txt") as f:
        known = {bytes.fromhex(line) for line in f}
    seen = set()
    for row in rows:
        if len(row) != int(columns):
            raise SystemExit(f"{name}: {len(row)} columns: {row!r}")
        for c in id_columns:
            id = unescape(row[int(c) - 1])
            if id not in known:
                raise SystemExit(f"{name}: {row[int(c) - 1]!r} is {id!r}, and no id")
            seen.add(id)
        for cell in row:
            unescape(cell)
    print(f"{name}: {len(rows)} lines, {len(seen)} ids, all as they should be")


def raw(*columns):
    for line in sys.stdin.buffer.read().split(b"\n")[:-1]:
        row = line.split(b"\t")
        for c in columns:
            id = unescape(row[int(c) - 1])
            if not set(id) & set(b"\t\n\r\\"):
                row[int(c) - 1] = id
        sys.stdout.buffer.write(b"\t".join(row) + b"\n")


def ids():
    for line in sys.stdin.buffer.read().split(b"\n")[:-1]:
        printed = line.split(b"\t")[0]
        if b"\0" not in unescape(printed):
            sys.stdout.buffer.write(printed + b"\0" + unescape(printed) + b"\0")


{"make": make, "check": check, "raw": raw, "ids": ids}[sys.argv[1]](*sys.argv[2:])
