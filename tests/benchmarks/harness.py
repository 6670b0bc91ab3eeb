"""Measuring speed as ratios: both sides in one run, interleaved A B A B, medians, equal output checked first.

A file `bench_<area>.py` here defines `rows()`, a generator of `Row`s made by `compare` or `growth`.
`python -m tests.benchmarks` runs them all; pytest collects none of them.
"""

from __future__ import annotations

import gc
import os
import platform
import statistics
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table; `reached` is a ratio, and `is_open` marks an aim that is no condition."""

    work: str
    goal: str
    reached: float
    is_met: bool
    ours_seconds: float
    peer_seconds: float
    peer: str
    is_open: bool = False
    unit: str = "s"

    @property
    def verdict(self) -> str:
        """In words, since a table may be read without colour."""
        return "met" if self.is_met else "open" if self.is_open else "SHORT"


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Run once; return the seconds and what came out."""
    gc.collect()
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def interleaved(first: Callable[[], Any], second: Callable[[], Any], rounds: int) -> tuple[float, float]:
    """Run A B A B …; return the median seconds of each."""
    seconds = [(timed(first)[0], timed(second)[0]) for _ in range(rounds)]
    first_median, second_median = (statistics.median(column) for column in zip(*seconds, strict=True))
    return first_median, second_median


def compare(
    work: str,
    *,
    ours: Callable[[], Any],
    peer: Callable[[], Any],
    peer_name: str = "tokenizers",
    at_least: float,
    is_open: bool = False,
    rounds: int = 5,
    is_equal: Callable[[Any, Any], bool] | None = None,
) -> Row:
    """Compare with a peer: `reached` is the peer's time divided by ours.

    Args:
        work: what is done, and on what input.
        ours, peer: one run each; caches must be emptied inside where "cold" is meant.
        at_least: the goal, as that ratio ("at most twice the peer's time" is 0.5).
        is_open: the goal is an aim, reported and no condition.
        is_equal: how the two outputs must agree; None compares them with ==.
    """
    our_output, peer_output = ours(), peer()
    same = is_equal(our_output, peer_output) if is_equal else our_output == peer_output
    if not same:
        raise AssertionError(f"{work}: the outputs differ, so their times say nothing")
    del our_output, peer_output
    ours_seconds, peer_seconds = interleaved(ours, peer, rounds)
    reached = peer_seconds / ours_seconds
    goal = f"≥ {at_least:g} × {peer_name}"
    return Row(work, goal, reached, reached >= at_least, ours_seconds, peer_seconds, peer_name, is_open)


def growth(
    work: str,
    *,
    small: Callable[[], Any],
    large: Callable[[], Any],
    at_most: float = 12,
    times: int = 10,
    rounds: int = 5,
) -> Row:
    """Compare a run with one on `times` the input: `reached` is large divided by small."""
    small_seconds, large_seconds = interleaved(small, large, rounds)
    reached = large_seconds / small_seconds
    goal = f"≤ {at_most:g} × for {times} × the input"
    return Row(work, goal, reached, reached <= at_most, large_seconds, small_seconds, f"1/{times} of it")


def at_most_seconds(work: str, *, code: str, baseline: str, seconds: float, rounds: int = 5) -> Row:
    """Time a fresh Python that runs `code`, less one that runs `baseline`; `reached` is in seconds."""

    def fresh(source: str) -> Callable[[], Any]:
        return lambda: subprocess.run(
            [sys.executable, "-c", source], check=True, cwd=Path(__file__).parents[2]
        )

    code_seconds, baseline_seconds = interleaved(fresh(code), fresh(baseline), rounds)
    reached = code_seconds - baseline_seconds
    return Row(
        work, f"≤ {seconds:g} s", reached, reached <= seconds, code_seconds, baseline_seconds, baseline
    )


@cache
def python_sources(size: int) -> str:
    """The first `size` characters of the standard library: its ASCII source files, sorted and joined."""
    folder = Path(sysconfig.get_paths()["stdlib"])
    parts: list[str] = []
    length = 0
    for path in sorted(folder.rglob("*.py")):
        content = path.read_bytes()
        if "site-packages" in path.parts or not content.isascii():
            continue
        parts.append(content.decode("ascii"))
        length += len(parts[-1])
        if length >= size:
            break
    return "".join(parts)[:size]


def machine() -> str:
    """The processor, its cores in use, and Python."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), name)
    except OSError:
        pass  # only Linux has that file
    threads = os.environ.get("RAYON_NUM_THREADS", "all")
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, peers on {threads} thread(s)"


def table(rows: list[Row]) -> str:
    """A Markdown table of the rows, under the machine's name."""
    lines = [
        f"Ratios of one run on this machine: {machine()}.",
        "",
        "| work | goal | reached | | ours | peer |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {row.work} | {row.goal} | {row.reached:.2f} | {row.verdict} "
        f"| {row.ours_seconds:.3f} {row.unit} | {row.peer_seconds:.3f} {row.unit} ({row.peer}) |"
        for row in rows
    ]
    return "\n".join(lines)
