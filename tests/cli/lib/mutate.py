"""mutate.py SEED COUNT FROM TO: COUNT damaged copies of the files below FROM."""
import random
import sys
from pathlib import Path

seed, count, source, target = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
rng = random.Random(seed)
files = sorted(p for p in source.rglob("*") if p.is_file() and p.stat().st_size)
favoured = [p for p in files if p.suffix in (".gz", ".jsonl", ".trec", ".warc", ".zst")] * 5
INTERESTING = [b"\0", b"\n", b"\r\n", b"\xff", b"{", b"[" * 50, b'"', b"\\u", b"<", b"<!--", b"&#",
               b"</DOC>", b"WARC/1.0\r\n", b"Content-Length: 99999999999\r\n", b"-1", b"\xef\xbb\xbf",
               b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"chunked", b"\r\n\r\n"]
for number in range(count):
    path = rng.choice(files + favoured)
    data = bytearray(path.read_bytes())
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(data) + 1)
        how = rng.randrange(6)
        if how == 0 and data:
            data[at % len(data)] ^= 1 << rng.randrange(8)
        elif how == 1:
            data[at:at] = rng.choice(INTERESTING)
        elif how == 2:
            del data[at:at + rng.choice([1, 2, 10, 1000])]
        elif how == 3:
            data[at:at] = data[at // 2:at // 2 + rng.choice([1, 30, 3000])]
        elif how == 4 and rng.randrange(4) == 0:
            del data[at:]
        else:
            data[at:at + 4] = rng.randbytes(4)
    (target / f"{number:03}{path.suffix}").write_bytes(data)
