"""members.py FILE.gz: a line per gzip member: its size and its first words."""
import sys
import zlib

data = open(sys.argv[1], "rb").read()
while data:
    unpacker = zlib.decompressobj(31)
    member = unpacker.decompress(data)
    assert unpacker.eof, "the last member is truncated"
    data = unpacker.unused_data
    print(len(member), b" ".join(member.split()[:3]).decode())
