#!/usr/bin/env python3
"""Ion images beside what users of Python have, in one run: ratios of CPU time, and peaks of memory.

    python3 -m venv .venv && .venv/bin/pip install numpy scipy pyimzML
    cargo build --release
    SECTILE_PYTHON=.venv/bin/python3 python3 benches/ions.py [--rounds 3] [--pixels 100x100]
        [--peaks 2000] [--folder DIR] [--bindings DIR]

Makes one large set (20 million peaks; `generate_ions`), then lets both sides take turns, round after
round, each in a process of its own, and the least of each counts: these machines are shared, so absolute
figures mean little and ratios of one run more.

- pyimzML: parse the XML, read all spectra into numpy arrays, sort them stably by m/z; an image out of
  the sorted arrays by scipy.sparse.coo_matrix; pyimzML's own getionimage.
- `sectile pack --memory 64MiB` of the same pair, with all it reads and writes; the time is what the
  system says of the process.
- benches/dataset.rs (and with --bindings benches/wasm/dataset.mjs) on a set of 15 million peaks in memory: the
  XML, packing without files, one image out of blocks that are in memory. Where its bindings come from
  is said in benches/beside.py; `cargo xtask bench wasm` makes them, too.

Prints one JSON object a line, then a table of ratios with the targets. SECTILE_PYTHON names a Python
with numpy, scipy and pyimzML; without it, this one must have them.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PPM = 3e-6
CARGO = ["cargo", "--quiet"]


def say(side, bench, **figures):
    print(json.dumps({"target": side, "bench": bench, **figures}), flush=True)


def cpu(work):
    """What `work` gives, and the seconds on the processor that it took."""
    start = time.process_time()
    result = work()
    return result, time.process_time() - start


def least(work, repeats):
    return min(cpu(work)[1] for _ in range(repeats))


def peers(imzml):
    """Times Python in this process and prints its lines."""
    import numpy
    from pyimzml.ImzMLParser import ImzMLParser, getionimage
    from scipy.sparse import coo_matrix

    parser, seconds = cpu(lambda: ImzMLParser(str(imzml)))
    spectra = len(parser.coordinates)
    say("python", "xml", spectra_per_second=round(spectra / seconds))

    column, row = numpy.array(parser.coordinates)[:, :2].T
    column, row = column - column.min(), row - row.min()
    shape = (int(row.max()) + 1, int(column.max()) + 1)
    lengths = []

    def read():
        mzs, intensities = [], []
        for index in range(spectra):
            mz, intensity = parser.getspectrum(index)
            mzs.append(mz)
            intensities.append(intensity)
            lengths.append(len(mz))
        pixels = numpy.repeat((row * shape[1] + column).astype("u4"), lengths)
        return numpy.concatenate(mzs), numpy.concatenate(intensities), pixels

    (mz, intensity, pixel), reading = cpu(read)

    def sort():
        order = numpy.argsort(mz, kind="stable")
        return mz[order], intensity[order], pixel[order]

    (mz, intensity, pixel), sorting = cpu(sort)
    peaks = len(mz)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rate = round(peaks / (reading + sorting) / 1e6, 2)
    say("python", "pack", peaks=peaks, million_peaks_per_second=rate, peak_bytes=memory)

    # About as many peaks as the windows of benches/dataset.rs have: those that hold a peak taken at random,
    # without the few crowded ones.
    centres = numpy.random.default_rng(1).choice(mz, 2000)
    low = numpy.searchsorted(mz, centres * (1 - PPM), "left")
    high = numpy.searchsorted(mz, centres * (1 + PPM), "right")
    fit = numpy.flatnonzero((high - low > 300) & (high - low < 700))[:300]
    centres, hits = centres[fit], float((high - low)[fit].mean())

    def images():
        for centre in centres:
            a = numpy.searchsorted(mz, centre * (1 - PPM), "left")
            b = numpy.searchsorted(mz, centre * (1 + PPM), "right")
            place = (pixel[a:b] // shape[1], pixel[a:b] % shape[1])
            coo_matrix((intensity[a:b], place), shape=shape).toarray()

    each = least(images, 5) / len(centres) * 1e6
    say("numpy and coo", "image", peaks_per_image=round(hits), us_per_image=round(each, 2))
    each = least(lambda: getionimage(parser, centres[0], tol=centres[0] * PPM), 3) * 1e6
    say("getionimage", "image", us_per_image=round(each, 2))


def pack(program, imzml, store):
    """Runs `sectile pack` and prints what it has cost the system."""
    command = [program, "pack", imzml, "-o", store, "--memory", "64MiB", "--json", "--restart"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        events = [json.loads(line) for line in child.stdout if line.startswith("{")]
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}")
    done = events[-1]
    seconds = usage.ru_utime + usage.ru_stime
    say(
        "sectile pack", "pack", peaks=done["peaks"],
        million_peaks_per_second=round(done["peaks"] / seconds / 1e6, 2),
        peak_bytes=usage.ru_maxrss * 1024, bytes_per_peak=round(done["bytes"] / done["peaks"], 3),
    )


def lines(command):
    """The JSON lines that a command prints."""
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def better(bench, one, other):
    """Of two lines of one bench, the one with less time."""
    if bench == "image":
        return min(one, other, key=lambda line: line["us_per_image"])
    rate = "spectra_per_second" if bench == "xml" else "million_peaks_per_second"
    return max(one, other, key=lambda line: line[rate])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pixels", default="100x100")
    parser.add_argument("--peaks", default="2000")
    parser.add_argument("--folder", default=str(ROOT / "target" / "bench-ions"), help="where the set is put")
    parser.add_argument("--bindings", help="folder of the bindings of benches/wasm")
    parser.add_argument("--program", default=None, help="the sectile to be timed")
    parser.add_argument("--part", choices=("peers", "pack"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    program = options.program or target / "release" / "sectile"
    imzml = Path(options.folder) / f"{options.pixels}x{options.peaks}.imzML"
    if options.part == "peers":
        return peers(imzml)
    if options.part == "pack":
        return pack(program, imzml, imzml.with_suffix(".sectile"))
    if not imzml.exists():
        Path(options.folder).mkdir(parents=True, exist_ok=True)
        make = ["run", "--release", "--no-default-features", "--example", "generate_ions", "--", imzml]
        lines([*CARGO, *make, "--pixels", options.pixels, "--peaks", options.peaks])
    python = os.environ.get("SECTILE_PYTHON", sys.executable)
    same = ["--pixels", options.pixels, "--peaks", options.peaks, "--folder", options.folder, "--program", program]
    commands = [
        [python, __file__, "--part", "peers", *same],
        [python, __file__, "--part", "pack", *same],
        [*CARGO, "bench", "--no-default-features", "--bench", "dataset"],
    ]
    if options.bindings:
        commands.append(["node", "benches/wasm/dataset.mjs", options.bindings])
    best = {}
    for _ in range(options.rounds):
        for command in commands:
            for line in lines(command):
                key = (line["bench"], line["target"], line.get("mz", ""))
                best[key] = better(line["bench"], line, best.get(key, line))
    for line in best.values():
        print(json.dumps(line))
    table(best)


def table(best):
    """Ratios: how many times as fast as what users have."""
    python = {bench: best[bench, "python", ""] for bench in ("xml", "pack")}
    images = {peer: best["image", peer, ""]["us_per_image"] for peer in ("numpy and coo", "getionimage")}
    print(f"\n{'':<26} {'figure':>22}  times as fast as")
    for (bench, side, mz), line in best.items():
        name = f"{bench}, {side} {mz}"
        if side in ("python", *images):
            name = f"{bench}, {side}"
        if bench == "xml":
            rate = line["spectra_per_second"]
            print(f"{name:<26} {rate:>11,} spectra/s  pyimzML {rate / python['xml']['spectra_per_second']:.1f}")
        elif bench == "pack":
            rate = line["million_peaks_per_second"]
            ratio = rate / python["pack"]["million_peaks_per_second"]
            memory = line["peak_bytes"] / 1e6
            print(f"{name:<26} {rate:>8} M peaks/s      numpy {ratio:.1f}, {memory:.0f} MB")
        else:
            each = line["us_per_image"]
            ratios = ", ".join(f"{peer} {time / each:,.0f}" for peer, time in images.items())
            print(f"{name:<26} {each:>11,} us an image  {ratios}")
    print("\ntargets: xml 50,000 spectra/s; pack 8 M peaks/s natively, 4 in wasm; image 10 us in wasm, 20 times")
    print("numpy and coo, 1,000 times getionimage; store 5.6 bytes a peak with f32 m/z, 9.1 with f64:")
    for (bench, side, mz), line in best.items():
        if "bytes_per_peak" in line:
            print(f"  {side} {mz}: {line['bytes_per_peak']} bytes a peak")


if __name__ == "__main__":
    main()
