"""Faults that users of tokenizers reported, each with its right answer (tests/vectors/field-cases.jsonl).

The runner is an outside check: it calls the library by its public contract alone, in a process of its own.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

VECTORS = Path(__file__).parent / "vectors"
CASES = VECTORS / "field-cases.jsonl"
OPERATIONS = Counter(
    json.loads(line)["setup"]["op"] for line in CASES.read_text(encoding="utf-8").splitlines()
)


@pytest.mark.skipif(
    sys.platform == "win32", reason="the runner bounds each case with SIGALRM, which Windows lacks"
)
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_field_cases(operation):
    command = [sys.executable, str(VECTORS / "run_field_cases.py"), str(CASES), "--only", operation]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"of {OPERATIONS[operation]} pass" in done.stdout
