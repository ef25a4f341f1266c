#!/usr/bin/env python3
"""Reads an images file with Python's own library: read_images.py FILE.sectile-images prints all of it as JSON."""
import hashlib, json, struct, sys, zlib

def samples(png):
    """Grey and alpha of a 16-bit grey and alpha PNG (colour type 4, not interlaced)."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        data = png[at + 8:at + 8 + size]
        assert zlib.crc32(kind + data) == struct.unpack_from(">I", png, at + 8 + size)[0]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlaced = struct.unpack(">IIBBBBB", data)
            assert (depth, color, interlaced) == (16, 4, 0)
        packed += data if kind == b"IDAT" else b""
        at += 12 + size
    raw, row, before, out = zlib.decompress(packed), 4 * width, bytes(4 * width), b""
    for y in range(height):
        kind, line = raw[y * (row + 1)], bytearray(raw[y * (row + 1) + 1:(y + 1) * (row + 1)])
        for x in range(row):
            left, up, corner = (line[x - 4], before[x], before[x - 4]) if x > 3 else (0, before[x], 0)
            near = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]
            line[x] = (line[x] + (0, left, up, (left + up) // 2, near)[kind]) & 255
        before = bytes(line)
        out += before
    values = struct.unpack(f">{2 * width * height}H", out)
    return list(values[::2]), list(values[1::2])

def read(path):
    file = open(path, "rb").read()
    assert file[:8] == b"SECTIMG\x1a" and struct.unpack_from("<I", file, 8) == (1,)
    width, height, ions, images, text, head, length = struct.unpack_from("<IIIIIQQ", file, 12)
    assert head == 112 + 152 * ions + text and length == len(file)
    assert hashlib.sha256(file[:80] + bytes(32) + file[112:head]).digest() == file[80:112]
    names, found, end = file[head - text:head], [], head
    for n in range(ions):
        entry = 112 + 152 * n
        at, formula, modifier, msm, fdr = struct.unpack_from("<IHHdd", file, entry)
        peaks = []
        for k in range(4):
            offset, size, crc, mz, low, high = struct.unpack_from("<QIIdff", file, entry + 24 + 32 * k)
            peak = dict(mz=mz, low=low, high=high, codes=None, alpha=None)
            if size:
                assert offset == end and zlib.crc32(file[offset:offset + size]) == crc
                peak["codes"], peak["alpha"] = samples(file[offset:offset + size])
                end += size
            peaks.append(peak)
        name = [names[at:at + formula].decode(), names[at + formula:at + formula + modifier].decode()]
        found.append(dict(name=name, msm=msm, fdr=fdr, peaks=peaks))
    assert end == length
    return dict(width=width, height=height, store=file[48:80].hex(), ions=found)

if __name__ == "__main__":
    json.dump(read(sys.argv[1]), sys.stdout)
