#!/usr/bin/env python3
"""The median beside what users would pick instead, in one run: ratios of CPU time.

    cargo build --release --target wasm32-unknown-unknown --manifest-path benches/wasm/Cargo.toml
    wasm-bindgen --target nodejs --out-dir target/bench-wasm <the .wasm of that build>
    SECTILE_PYTHON=.venv/bin/python3 python3 benches/beside.py [--rounds 3] [--native] [--bindings target/bench-wasm]

With --build it does the first two steps itself. Peers (numpy.nanmedian, bottleneck.nanmedian) and
our benches take turns, round after round, each in a process of its own, and the least of each
counts: these machines are shared, so absolute figures mean little and ratios of one run more.
Prints one JSON object a line, then two tables of "times bottleneck" with the targets: "arrays" is
`nanmedian` of native f32 arrays in one call, just what the peers are given; "stored bytes" is the
kernel of a job, which has to swap the bytes of FITS pixels first.

SECTILE_PYTHON names a Python with numpy and bottleneck; without it, this one must have them.
"""
import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZES = (5, 10, 20, 50, 100, 200, 400)
TARGETS = {
    0.0: dict(zip(SIZES, (40, 40, 30, 13, 8, 8, 8))),
    0.1: dict(zip(SIZES, (17, 28, 20, 11, 6.5, 6.5, 6.5))),
}


def peers(elements):
    """Times the peers in this process and prints their lines."""
    import bottleneck
    import numpy

    warnings.simplefilter("ignore")
    rivals = {
        "numpy": lambda a: numpy.nanmedian(a, axis=0),
        "bottleneck": lambda a: bottleneck.nanmedian(a, axis=0),
    }
    random = numpy.random.default_rng(1)
    for n in SIZES:
        for nan in TARGETS:
            stack = random.normal(100, 10, (n, elements // n)).astype("f4")
            stack[random.random(stack.shape) < nan] = numpy.nan
            for name, median in rivals.items():
                least = min(cpu(median, stack) for _ in range(3))
                each = round(least * 1e9 / stack.size, 3)
                line = {"target": name, "bench": "median", "n": n, "nan": nan, "ns_per_element": each}
                print(json.dumps(line), flush=True)


def cpu(median, stack):
    start = time.process_time()
    median(stack)
    return time.process_time() - start


def build(bindings):
    """Builds the wasm bench as the module that is shipped is built, and its bindings."""
    env = dict(os.environ)
    target = Path(env.setdefault("CARGO_TARGET_DIR", str(ROOT / "target" / "bench-wasm-build")))
    manifest = ROOT / "benches" / "wasm" / "Cargo.toml"
    triple = "wasm32-unknown-unknown"
    subprocess.run(
        ["cargo", "build", "--release", "--target", triple, "--manifest-path", manifest],
        cwd=ROOT, env=env, check=True,
    )
    module = target / triple / "release" / "sectile_bench_wasm.wasm"
    tool = os.environ.get("SECTILE_WASM_BINDGEN", "wasm-bindgen")
    subprocess.run([tool, "--target", "nodejs", "--out-dir", bindings, module], check=True)
    # The binding is CommonJS; without this Node would go by the package.json of the whole tree.
    (Path(bindings) / "package.json").write_text('{ "type": "commonjs" }')
    bound = Path(bindings) / "sectile_bench_wasm_bg.wasm"
    features = (
        "simd", "bulk-memory", "bulk-memory-opt", "nontrapping-float-to-int", "sign-ext",
        "mutable-globals", "reference-types", "multivalue",
    )
    optimiser = ROOT / "node_modules" / "binaryen" / "bin" / "wasm-opt"
    flags = ["--no-inline=*", "-O3", *(f"--enable-{name}" for name in features)]
    subprocess.run(["node", optimiser, *flags, bound, "-o", bound], check=True)


def lines(command):
    """The JSON lines that a command prints."""
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--elements", type=int, default=1_000_000)
    parser.add_argument("--bindings", default=str(ROOT / "target" / "bench-wasm"))
    parser.add_argument("--build", action="store_true", help="build the wasm bench first")
    parser.add_argument("--native", action="store_true", help="time the native bench, too")
    parser.add_argument("--peers", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peers:
        return peers(options.elements)
    if options.build:
        build(options.bindings)
    sizes = ",".join(map(str, SIZES))
    python = os.environ.get("SECTILE_PYTHON", sys.executable)
    commands = [
        [python, __file__, "--peers", "--elements", str(options.elements)],
        ["node", "benches/wasm/median.mjs", options.bindings, "--n", sizes],
        ["node", "benches/wasm/median.mjs", options.bindings, "--job"],
    ]
    if options.native:
        commands.append(["cargo", "bench", "--quiet", "--no-default-features", "--bench", "median", "--", sizes])
    best = {}
    for _ in range(options.rounds):
        for command in commands:
            for line in lines(command):
                key = (line["bench"], line["target"], line["n"], line["nan"])
                best[key] = min(best.get(key, float("inf")), line["ns_per_element"])
    for (bench, target, n, nan), each in best.items():
        print(json.dumps({"bench": bench, "target": target, "n": n, "nan": nan, "ns_per_element": each}))
    table(best)


def table(best):
    for bench in ("arrays", "stored bytes"):
        print(f"\n{bench}, ns an element and times bottleneck (target)")
        print(f"{'n':>5} {'nan':>4} {'bottleneck':>10} {'wasm':>7} {'times':>6} {'target':>6} {'x numpy':>8}  native")
        for nan, targets in TARGETS.items():
            for n, target in targets.items():
                ours = best[bench, "wasm", n, nan]
                rival = best["median", "bottleneck", n, nan]
                numpy = best["median", "numpy", n, nan]
                native = best.get((bench, "native", n, nan), "")
                times, over = rival / ours, numpy / ours
                print(f"{n:>5} {nan:>4} {rival:>10} {ours:>7} {times:>6.1f} {target:>6} {over:>8.1f}  {native}")
    for (bench, target, n, nan), each in best.items():
        if bench == "median in a job":
            print(f"{bench}, {target}: n = {n}, {nan:.0%} NaN: {each} ns an element (target 1.5)")


if __name__ == "__main__":
    main()
