#!/usr/bin/env python3
"""Annotation beside numpy and scipy, in one run on the same peaks: formulas a second, and the same scores.

    python3 -m venv .venv && .venv/bin/pip install numpy scipy
    SECTILE_PYTHON=.venv/bin/python3 python3 benches/annotate.py [--rounds 2] [--peaks 15000000]
        [--folder DIR] [--bindings DIR]

The native bench and with --bindings benches/wasm/annotate.mjs take turns with Python, each in a process of its own;
processor time, the least of each counts. Where bindings come from is said in benches/beside.py.

Python gets the peaks that the native bench writes (`--export`), sorted by m/z, and the isotope patterns, which it
need not compute: two binary searches an image, numpy.bincount, numpy.corrcoef, the sums of the spectral score, and
at 30 levels scipy.ndimage's dilation, erosion and labels. That is METASPACE's way with its C++ parts left to scipy.

Prints one JSON object a line, then ratios. SECTILE_PYTHON names a Python with numpy and scipy; without it, this one
must have them.
"""
import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ["cargo", "--quiet", "bench", "--no-default-features", "--bench", "annotate", "--"]
SIDE = 100
FORMULAS = 120


def peers(folder):
    """Times Python in this process and prints its line."""
    import numpy
    from scipy import ndimage

    mz, intensity, pixel = (
        numpy.fromfile(folder / name, kind)
        for name, kind in (("mz.f32", "f4"), ("intensity.f32", "f4"), ("pixel.u32", "u4"))
    )
    theory = numpy.fromfile(folder / "theory.f64").reshape(-1, 3, 4)
    mz = mz.astype("f8")
    cross = ndimage.generate_binary_structure(2, 1)
    square = ndimage.generate_binary_structure(2, 2)
    peaks = []

    def images(centres, widths):
        first = numpy.searchsorted(mz, centres - widths, "left")
        last = numpy.searchsorted(mz, centres + widths, "right")
        peaks.append((last - first).mean())
        return numpy.array([
            numpy.bincount(pixel[a:b], intensity[a:b], SIDE * SIDE).astype("f4") for a, b in zip(first, last)
        ])

    def chaos(image):
        image = image.reshape(SIDE, SIDE)
        top, count = image.max(), 0
        for level in range(30):
            closed = ndimage.binary_dilation(image > numpy.float32(top * numpy.float32(level)) / numpy.float32(30), cross)
            closed = ndimage.binary_erosion(closed, square, border_value=1)
            count += ndimage.label(closed, cross)[1]
        score = 1 - count / 30 / numpy.count_nonzero(image > 0)
        return 0 if numpy.isclose(score, 1) else score

    def formula(ion):
        centres, widths, weights = ion
        four = images(centres, widths)
        within = four[:, four[0] > 0].sum(axis=1, dtype="f8")
        off = weights / numpy.linalg.norm(weights) - within / numpy.linalg.norm(within)
        spectral = 1 - numpy.abs(off).mean()
        with numpy.errstate(all="ignore"):
            alike = numpy.nan_to_num(numpy.corrcoef(four)[0, 1:])
        spatial = numpy.clip(numpy.average(alike, weights=weights[1:]), 0, 1)
        return spectral * spatial * chaos(four[0])

    some = slice(None, None, max(1, len(theory) // FORMULAS))
    chosen, ours = theory[some], numpy.fromfile(folder / "msm.f64")[some]
    best = float("inf")
    for _ in range(2):
        start = time.process_time()
        scores = [formula(ion) for ion in chosen]
        best = min(best, time.process_time() - start)
    off = float(numpy.abs(numpy.array(scores) - ours).max())
    if off > 2e-6:
        sys.exit(f"MSM differs by {off}")
    print(json.dumps({
        "bench": "ions that were all measured", "target": "numpy and scipy", "ions": len(chosen),
        "peaks_an_image": round(float(numpy.mean(peaks))), "ions_per_second": round(len(chosen) / best, 1),
        "msm_differs_by": off,
    }), flush=True)


def lines(command):
    """The JSON lines that a command prints."""
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peaks", default="15000000")
    parser.add_argument("--folder", default=str(ROOT / "target" / "bench-annotate"), help="where the peaks are put")
    parser.add_argument("--bindings", help="folder of the bindings of benches/wasm")
    parser.add_argument("--part", choices=("peers",), help=argparse.SUPPRESS)
    options = parser.parse_args()
    folder = Path(options.folder)
    if options.part:
        return peers(folder)
    folder.mkdir(parents=True, exist_ok=True)
    lines([*BENCH, options.peaks, "--export", folder])
    python = os.environ.get("SECTILE_PYTHON", sys.executable)
    commands = [[python, __file__, "--part", "peers", "--folder", folder], [*BENCH, options.peaks]]
    if options.bindings:
        commands.append(["node", "benches/wasm/annotate.mjs", options.bindings, "--peaks", options.peaks])
    best = {}
    for _ in range(options.rounds):
        for command in commands:
            for line in lines(command):
                key = (line["bench"], line["target"])
                best[key] = max(line, best.get(key, line), key=lambda line: line["ions_per_second"])
    for line in best.values():
        print(json.dumps(line))
    python = best["ions that were all measured", "numpy and scipy"]["ions_per_second"]
    print()
    for (bench, target), line in best.items():
        rate = line["ions_per_second"]
        print(f"{bench + ', ' + target:<64} {rate:>10,} a second  numpy and scipy {rate / python:,.1f}")
    print("\ntargets: 5,000 formulas a second in wasm, 9,000 natively; 20,000 isotope patterns a second")


if __name__ == "__main__":
    main()
