#!/usr/bin/env python3
"""Writes the named character references of HTML as a C header: make_entities.py OUTPUT

References are sorted by their first two characters (an index finds that bucket),
then by bytes, so that within a bucket a name follows all of its own prefixes and
the longest match is the last entry that is a prefix of the input.
"""
import string
import sys
from html.entities import html5

FIRST = string.ascii_uppercase + string.ascii_lowercase
SECOND = FIRST + string.digits


def main():
    names = sorted(html5, key=lambda n: (FIRST.index(n[0]), SECOND.index(n[1]), n[2:]))
    pool, offsets, entries, counts = "", {}, [], [0] * (len(FIRST) * len(SECOND))
    for name in names:
        rest, value = name[2:], html5[name].encode("utf-8")
        # Decoding in place of the name must never need more than 6/5 of its room.
        assert len(value) <= 6 and 5 * len(value) <= 6 * (len(name) + 1), name
        if rest not in offsets:
            offsets[rest] = len(pool)
            pool += rest
        octal = "".join("\\%03o" % b for b in value)
        entries.append('{%d, %d, %d, "%s"}' % (offsets[rest], len(rest), len(value), octal))
        counts[FIRST.index(name[0]) * len(SECOND) + SECOND.index(name[1])] += 1
    starts = [0]
    for count in counts:
        starts.append(starts[-1] + count)
    assert len(pool) < 65536 and starts[-1] == len(names)

    out = ["/* Made by tools/make_entities.py: named character references of HTML. */",
           "#include <stdint.h>",
           "typedef struct entity {",
           "  uint16_t rest;   /* of the name, after its first two characters: place in the pool */",
           "  uint8_t rest_n;",
           "  uint8_t value_n;",
           "  char value[8]; /* UTF-8 */",
           "} entity;",
           "enum { ENTITY_SECONDS = %d };" % len(SECOND),
           "static const char entity_pool[] ="]
    out += ['  "%s"' % pool[i:i + 90] for i in range(0, len(pool), 90)]
    out[-1] += ";"
    out.append("static const uint16_t entity_start[%d] = {" % len(starts))
    out += ["  " + ", ".join(map(str, starts[i:i + 20])) + "," for i in range(0, len(starts), 20)]
    out.append("};")
    out.append("static const entity entity_table[%d] = {" % len(entries))
    out += ["  " + ", ".join(entries[i:i + 3]) + "," for i in range(0, len(entries), 3)]
    out.append("};")
    with open(sys.argv[1], "w", encoding="ascii") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make_entities.py OUTPUT")
    main()
