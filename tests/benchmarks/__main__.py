"""Run the benchmarks: `python -m tests.benchmarks [area …] [--write README.md]`."""

import argparse
import importlib
import os
from pathlib import Path

os.environ.setdefault("RAYON_NUM_THREADS", "1")  # read once, when a peer is imported

from tests.benchmarks.harness import Row, table
from tokenlab.files import write_between_markers

FOLDER = Path(__file__).parent
AREAS = sorted(path.stem.removeprefix("bench_") for path in FOLDER.glob("bench_*.py"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("areas", nargs="*", choices=[*AREAS, []], help="all of them where none is named")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="put the table between its benchmark markers"
    )
    arguments = parser.parse_args()
    rows: list[Row] = []
    for area in arguments.areas or AREAS:
        for row in importlib.import_module(f"tests.benchmarks.bench_{area}").rows():
            print(f"{row.verdict:>5}  {row.reached:7.2f}  ({row.goal})  {row.work}", flush=True)
            rows.append(row)
    print("\n" + table(rows))
    if arguments.write:
        write_between_markers(arguments.write, "benchmark", table(rows))


main()
