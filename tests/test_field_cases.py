"""Faults that users of tokenizers reported, each with its right answer, and others of the same kinds.

The runner is an outside check: it calls the library by its public contract alone, in a process of its own.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

VECTORS = Path(__file__).parent / "vectors"
FILES = {
    name: [json.loads(line)["setup"]["op"] for line in (VECTORS / name).read_text("utf-8").splitlines()]
    for name in ("field-cases.jsonl", "more-field-cases.jsonl")
}


@pytest.mark.skipif(
    sys.platform == "win32", reason="the runner bounds each case with SIGALRM, which Windows lacks"
)
@pytest.mark.parametrize(
    ("name", "operation"), [(name, each) for name in FILES for each in sorted(set(FILES[name]))]
)
def test_field_cases(name, operation):
    runner = [sys.executable, str(VECTORS / "run_field_cases.py"), str(VECTORS / name), "--only", operation]
    done = subprocess.run(runner, capture_output=True, text=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"of {Counter(FILES[name])[operation]} pass" in done.stdout
