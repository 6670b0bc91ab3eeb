"""The course as web pages: the lock fits the course's, no warnings, every chapter, what its pictures say."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / ".site"
ENTRY = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


def locked(path):
    """Package -> its versions (one for each range of Python) in a lock."""
    found = {}
    for name, version in ENTRY.findall(path.read_text("utf-8")):
        found.setdefault(name, set()).add(version)
    return found


def test_its_lock_is_hashed_and_changes_no_package_of_the_course():
    text = (SITE / "requirements.txt").read_text("utf-8")
    assert all("--hash=sha256:" in entry for entry in text.replace("\\\n", " ").splitlines())
    assert "://" not in text
    site, course = locked(SITE / "requirements.txt"), locked(ROOT / "requirements.txt")
    assert {"sphinx", "myst-nb", "furo"} <= site.keys()
    assert {name: site[name] for name in site.keys() & course.keys() if not site[name] <= course[name]} == {}


def test_it_builds_without_a_warning_and_keeps_what_pictures_say(tmp_path):
    missing = [name for name in ("sphinx", "myst_nb", "furo") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: `run.py site` installs them")
    site = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, SITE / "build.py", site], capture_output=True, text=True, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert list(tmp_path.iterdir()) == [site]
    for notebook in (ROOT / "notebooks").glob("*.ipynb"):
        page = (site / f"{notebook.stem}.html").read_text("utf-8")
        sent = notebook.read_text("utf-8")
        assert page.count("<figure><img alt=") == sent.count("<figure><img alt="), notebook.stem
        assert page.count("<caption") == sent.count("<caption"), notebook.stem
        assert f'href="{notebook.stem}.html"' in (site / "index.html").read_text("utf-8")
