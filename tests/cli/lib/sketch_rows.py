"""sketch_rows.py FILE NAME NUMBER: all pairs of a sketch file, by comparing all with all.

Reads the file as docs/formats.md describes it.  NAME is simhash (at most NUMBER bits differ),
projection (at least NUMBER bits agree) or minhash (at least NUMBER values agree).  Prints the two
ids and the share that agrees, as `neardup pairs` does.
"""
import struct
import sys

data = open(sys.argv[1], "rb").read()
name, number = sys.argv[2], int(sys.argv[3])
parameter_bytes, words = struct.unpack_from("<II", data, 16)
documents, chunks, size = struct.unpack_from("<QQQ", data, 24)
assert data[:8] == b"neardupS" and size == len(data)
at = 64 + (parameter_bytes + 7) // 8 * 8
found = []
for _ in range(chunks):
    docs, id_bytes = struct.unpack_from("<II", data, at)
    at += 16 + 16 * docs
    rows = [struct.unpack_from(f"<{words}Q", data, at + 8 * words * i) for i in range(docs)]
    at += 8 * words * docs
    shingles = struct.unpack_from(f"<{docs}I", data, at)
    ends = (0,) + struct.unpack_from(f"<{docs}I", data, at + 4 * docs)
    at += 8 * docs
    ids = [data[at + ends[i]:at + ends[i + 1]].decode() for i in range(docs)]
    at += (id_bytes + 7) // 8 * 8
    found += [(i, r) for i, r, n in zip(ids, rows, shingles) if n]
assert at == size
if name != "minhash":
    found = [(i, int.from_bytes(struct.pack(f"<{words}Q", *r), "little")) for i, r in found]
bits = 64 * words
for k, (a, x) in enumerate(found):
    for b, y in found[k + 1:]:
        if name == "minhash":
            same, all_of = sum(p == q for p, q in zip(x, y)), words
            near = same >= number
        else:
            same, all_of = bits - bin(x ^ y).count("1"), bits
            near = same >= (bits - number if name == "simhash" else number)
        if near:
            print(a, b, f"{same / all_of:.6f}", sep="\t")
