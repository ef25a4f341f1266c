#!/usr/bin/env python3
"""Reads a segment store with numpy alone: read_store.py FILE.sectile OUT writes OUT.mz, .intensity, ..."""
import struct, sys, zlib
import numpy as np

def bits(block, at, n, width):
    """n values of `width` bits, least significant first; eight values take `width` bytes."""
    size = -(-n // 8) * width
    ones = np.unpackbits(block[at:at + size], bitorder="little").reshape(8 * -(-n // 8), width)[:n]
    return ones.astype(np.uint64) @ (np.uint64(1) << np.arange(width, dtype=np.uint64)), at + size

def column(block, at, n, width, shift, count, high):
    values, at = bits(block, at, n, width)
    places = block[at:at + count].astype(int)
    rest = block[at + count:at + count * (1 + high)].reshape(count, high).astype(np.uint64)
    for byte in range(high):
        values[places] |= rest[:, byte] << np.uint64(8 * byte + width)
    return values << np.uint64(shift), at + count * (1 + high)

def floats(keys, size):
    return keys.astype(f"<u{size}").view(f"<f{size}").astype("<f8")

def peaks(block, n, mz_size, intensity_size):
    """Sorted m/z, intensities and pixels of one block."""
    entry = 16 + mz_size + intensity_size
    for g in range(-(-n // 128)):
        k = min(128, n - 128 * g)
        e = block[g * entry:(g + 1) * entry].tobytes()
        first = int.from_bytes(e[:mz_size], "little")
        base = int.from_bytes(e[mz_size:entry - 16], "little")
        least, at, mw, ms, mc, iw, sh, ic, pw, high = struct.unpack("<II8B", e[entry - 16:])
        deltas, at = column(block, at, k, mw, ms, mc, high & 15)
        orders, at = column(block, at, k, iw, sh, ic, high >> 4)
        pixel, at = bits(block, at, k, pw)
        orders += np.uint64(base)
        sign = np.uint64(1 << (8 * intensity_size - 1))
        values = np.where(orders & sign, orders ^ sign, ~orders)
        keys = np.cumsum(deltas, dtype=np.uint64) + np.uint64(first)
        yield floats(keys, mz_size), floats(values, intensity_size), pixel + np.uint64(least)

def read(path):
    file = open(path, "rb").read()
    assert file[:8] == b"SECTILE\x1a" and struct.unpack_from("<I", file, 8) == (1,)
    mz_size, intensity_size = file[12:14]
    per_block, width, height, slices, left = struct.unpack_from("<IIIIQ", file, 16)
    blocks, mask_at, directory = [struct.unpack_from("<I", file, at)[0] for at in (72, 84, 88)]
    pixels = width * height * slices
    mask = np.unpackbits(np.frombuffer(file, "u1", -(-pixels // 8), mask_at), bitorder="little")[:pixels]
    tic = np.frombuffer(file, "<f4", pixels, struct.unpack_from("<Q", file, 96)[0])
    found = []
    for n in range(blocks):
        at, size, crc = struct.unpack_from("<QII", file, directory + 32 * n + 16)
        assert zlib.crc32(file[at:at + size]) == crc, f"block {n} is damaged"
        found += peaks(np.frombuffer(file, "u1", size, at), min(per_block, left - n * per_block), mz_size, intensity_size)
    return [np.concatenate([group[i] for group in found] or [[]]) for i in range(3)] + [tic, mask]

if __name__ == "__main__":
    for array, (name, kind) in zip(read(sys.argv[1]), dict(mz="f8", intensity="f8", pixel="u4", tic="f4", mask="u1").items()):
        array.astype("<" + kind).tofile(f"{sys.argv[2]}.{name}")
