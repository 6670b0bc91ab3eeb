"""The three lists of packages (pyproject.toml, requirements.txt, environment.yml) say the same."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements.txt").read_text(encoding="utf-8")
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
CONDA_PYTHON = (3, 12)


def names(requirements):
    return {re.match(r"[A-Za-z0-9_.-]+", requirement)[0].lower() for requirement in requirements}


def locked_versions(python):
    """Package -> version in the lock, for one version of Python on Linux."""
    from packaging.markers import Marker

    environment = {"python_full_version": "{}.{}.0".format(*python), "sys_platform": "linux"}
    found = {}
    for name, version, marker in re.findall(r"^([\w.-]+)==([\w.]+)(?: ; (.+?))? \\$", LOCK, re.MULTILINE):
        if not marker or Marker(marker).evaluate(environment):
            found[name.lower()] = version
    return found


def test_the_lock_holds_every_direct_dependency():
    direct = names(PROJECT["dependencies"])
    for extra in PROJECT["optional-dependencies"].values():
        direct |= names(extra)
    assert direct <= locked_versions(CONDA_PYTHON).keys()


def test_the_lock_is_hashed_and_names_no_host():
    entries = LOCK.replace("\\\n", " ").splitlines()
    assert entries
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "://" not in LOCK


def test_conda_gives_the_locked_versions_and_an_editable_install():
    *packages, editable = CONDA["dependencies"]
    assert editable == {"pip": ["-e ."]}
    pins = dict(package.split("=") for package in packages if "=" in package)
    assert pins.pop("python") == "{}.{}".format(*CONDA_PYTHON)
    locked = locked_versions(CONDA_PYTHON)
    assert pins == {name: locked[name] for name in pins}


def test_conda_lists_what_a_learner_imports():
    wanted = names(PROJECT["dependencies"] + PROJECT["optional-dependencies"]["course"]) | {"pytest", "nbval"}
    assert wanted <= {str(package).split("=")[0] for package in CONDA["dependencies"]}


def test_no_checkout_changes_a_line_ending():
    assert "* -text" in (ROOT / ".gitattributes").read_text().splitlines()


def test_the_build_backend_is_locked():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    assert names(build) <= locked_versions(CONDA_PYTHON).keys()


def test_importing_the_library_needs_the_standard_library_alone():
    program = (
        "import sys; import tokenlab; "
        "print(sorted({'matplotlib', 'numpy', 'regex', 'jinja2', 'IPython'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_run_py_says_what_it_can_do():
    script = str(ROOT / "run.py")
    help_ = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True)
    assert help_.returncode == 0
    assert "run.py lab" in help_.stdout
    wrong = subprocess.run([sys.executable, script, "labb"], capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "expected lab, test, wheels or site, found labb" in wrong.stderr


def test_run_py_takes_its_own_options_from_those_of_jupyterlab():
    program = "import run; print(run.take_fresh(['-x', '--fresh', '03', '--fresh=04', '--port=1']))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "(['--fresh', '03', '--fresh', '04'], ['-x', '--port=1'])"


@pytest.mark.parametrize("words", ["--fresh 03 04b", "--fresh=03 04b", "--fresh 03 --fresh=04b"])
def test_several_chapters_can_be_renewed_at_once(words):
    program = f"import run; print(run.take_fresh({['a.ipynb', *words.split(), '--port', '1']}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "(['--fresh', '03', '--fresh', '04b'], ['a.ipynb', '--port', '1'])"


@pytest.mark.parametrize("words", [["--fresh"], ["--fresh", "--port=1"], ["--fresh="], ["--fresh", ""]])
def test_no_chapter_to_renew_is_an_error(words):
    command = [sys.executable, str(ROOT / "run.py"), "lab", *words]
    wrong = subprocess.run(command, capture_output=True, text=True)
    assert wrong.returncode == 1
    assert wrong.stderr == "run.py: --fresh needs a chapter, such as: --fresh 03\n"


def test_without_a_home_that_can_be_written_to_jupyterlab_gets_another(tmp_path):
    no_folder = tmp_path / "home"
    no_folder.write_text("")
    program = f"import run; run.VENV = run.Path({str(tmp_path / '.venv')!r}); print(run.home())"
    answers = {}
    for home in (tmp_path, no_folder, tmp_path / "gone"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "HOME": str(home), "USERPROFILE": str(home)},
            capture_output=True,
            text=True,
            check=True,
        )
        answers[home] = done.stdout.splitlines()
    instead = tmp_path / ".venv" / "home"
    assert answers.pop(tmp_path) == ["{}"]
    assert instead.is_dir()
    for said, environment in answers.values():
        assert said.startswith("run.py: your home folder cannot be written to")
        assert environment == str({"HOME": str(instead)})
