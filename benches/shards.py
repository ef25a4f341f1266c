"""What it costs to compute a median in shards: processor and wall time of all shards, one after the other, and of
assembling them, beside one run over the same files.

    cargo build --release
    python3 benches/shards.py [--program target/release/sectile] [--exposures 40] [--size 2048] [--shards 12] [--memory 64MiB]

What shards have beyond one run is the overhead: starting, opening the exposures, planning, writing the part.
"""

import argparse
import filecmp
import os
import resource
import shutil
import subprocess
import tempfile
import time


def run(program, folder, *arguments):
    """Processor and wall seconds of one process."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([program, "-q", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, time.perf_counter() - started


def add(times):
    return tuple(sum(column) for column in zip(*times))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/sectile")
    parser.add_argument("--exposures", type=int, default=40)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--shards", type=int, default=12)
    parser.add_argument("--memory", default="64MiB", help="of each process")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", help="where the stack is written; a temporary one if none is given")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    folder = options.folder or tempfile.mkdtemp()
    try:
        stack = ["--exposures", str(options.exposures), "--size", str(options.size)]
        run(program, folder, "demo-data", ".", *stack)
        memory = ["--memory", options.memory]
        one, shards, assembled = [], [], []
        for _ in range(options.rounds):
            one.append(run(program, folder, "median", "exposures.txt", *memory, "-o", "one.fits"))
            which = [f"{number}/{options.shards}" for number in range(1, options.shards + 1)]
            median = ["median", "exposures.txt", *memory, "-o", "out.fits", "--shard"]
            shards.append(add(run(program, folder, *median, shard) for shard in which))
            assembled.append(run(program, folder, "assemble", "out.fits"))
            assert filecmp.cmp(f"{folder}/one.fits", f"{folder}/out.fits", shallow=False)
        print(f"{options.exposures} exposures of {options.size}², {options.shards} shards, best of {options.rounds}")
        for kind, column in (("processor", 0), ("wall", 1)):
            whole, parts, last = (min(times[column] for times in all) for all in (one, shards, assembled))
            over = (parts - whole) / whole * 100
            print(f"{kind:9} one run {whole:.3f} s, all shards {parts:.3f} s ({over:+.1f} %), assembling {last:.3f} s")
    finally:
        if not options.folder:
            shutil.rmtree(folder)


main()
