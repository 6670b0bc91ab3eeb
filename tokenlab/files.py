"""Writing files as a whole or not at all (chapter 7), and the generated parts of a text file."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that its name never stands for half of it: beside it first, then renamed.

    Args:
        path: the file; what stood there before stays if anything goes wrong. Behind a link, the file that it
            leads to is written; a device or a pipe is written to, and not replaced.
        data: all of it.

    Raises:
        OSError: where the folder cannot be written to.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    beside = target.with_name(f"{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
        if target.exists():
            shutil.copymode(target, beside)  # what was private stays private
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_between_markers(path: str | os.PathLike[str], name: str, text: str) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- /name -->` in a text file.

    Args:
        path: the file, in UTF-8.
        name: the word in the two comments; each stands in the file once.
        text: what the file shows there from now on.

    Raises:
        ValueError: where the two comments are not there, in this order.
        OSError: where the file cannot be read or written.
    """
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = Path(path).read_text("utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{os.fspath(path)}: expected {begin} and, below it, {end}")
    write_whole(path, f"{before}{begin}\n\n{text}\n\n{end}{after}".encode())
