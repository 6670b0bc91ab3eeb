"""Writing files as a whole or not at all (chapter 7)."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that its name never stands for half of it: beside it first, then renamed.

    Args:
        path: the file; what stood there before stays if anything goes wrong.
        data: all of it.

    Raises:
        OSError: where the folder cannot be written to.
    """
    target = Path(path)
    beside = target.with_name(f"{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
