"""Writing files: what stood there keeps its mode."""

import os

import pytest

from tokenlab.files import write_whole


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX's")
def test_a_file_written_again_keeps_its_mode(tmp_path):
    path = tmp_path / "t.mtok"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_whole(path, b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)
