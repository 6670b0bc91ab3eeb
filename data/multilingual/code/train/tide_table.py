"""Read a tide table and print when the causeway is safe to walk."""

from __future__ import annotations

import csv
import sys
from datetime import datetime, timedelta
from typing import NamedTuple

SAFE_HEIGHT = 1.35  # metres above chart datum
MARGIN = timedelta(minutes=20)


class Reading(NamedTuple):
    time: datetime
    height: float


def read_table(lines) -> list[Reading]:
    readings = []
    for row in csv.reader(lines):
        if not row or row[0].startswith("#"):
            continue  # a comment, or nothing at all
        time, height = row
        readings.append(Reading(datetime.fromisoformat(time), float(height)))
    return sorted(readings)


def safe_windows(readings: list[Reading]):
    """Yield (start, end) for each stretch of low water that is long enough."""
    start = None
    for reading in readings:
        if reading.height < SAFE_HEIGHT:
            start = start or reading.time
        elif start is not None:
            if reading.time - start > 2 * MARGIN:
                yield start + MARGIN, reading.time - MARGIN
            start = None


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as table:
        for start, end in safe_windows(read_table(table)):
            print(f"{start:%a %d %b  %H:%M} to {end:%H:%M}")
