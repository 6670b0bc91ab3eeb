#!/usr/bin/env python3
"""Set up the course and start it, with nothing but Python 3.11 or newer and pip.

    python3 run.py lab  [--fresh 03 …] [options of jupyter lab]
    python3 run.py test [options of pytest]
    python3 run.py wheels FOLDER
    python3 run.py site

Each command makes the environment `.venv` when it is missing or out of date: the locked packages of
requirements.txt, then this project itself. `lab` opens a working copy of the notebooks in `workbook/`, which
is never overwritten; `--fresh 03` renews chapter 03 and keeps the old copy under a dated name. `wheels`
fetches the locked packages for machines like this one; with PIP_NO_INDEX=1 and PIP_FIND_LINKS=ADDRESS set, as
it says at its end, the first two need no network. `site` writes the course as web pages into `site/` and,
where npm is there, as notebooks that run in the browser into `site/lite/`; what that needs on top
(.site/*.txt, locked too) is added to `.venv` only then.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "tokenlab-stamp"
WORKBOOK = HERE / "workbook"
SETTINGS = {  # of JupyterLab: no news are fetched, and code is read without scrolling sideways
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false"},
    "@jupyterlab/notebook-extension:tracker": {"codeCellConfig": {"lineWrap": True}},
}


def fingerprint():
    """What the environment depends on: the lock, the project's own metadata, this Python, and this place."""
    parts = [(HERE / name).read_bytes() for name in ("requirements.txt", "pyproject.toml")]
    parts += [sys.version.encode(), str(HERE).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def run(*words):
    """Run a command of the set-up; where it fails, say which and stop."""
    words = [str(word) for word in words]
    code = subprocess.call(words, cwd=HERE)
    if code:
        sys.exit(f"run.py: this step of the set-up failed (exit code {code}): {' '.join(words)}")


def set_up():
    """Make `.venv` hold exactly what the lock says; nothing happens where it already does."""
    wanted = fingerprint()
    if STAMP.is_file() and STAMP.read_text() == wanted and PYTHON.exists():
        return
    print("Setting up .venv (a minute or two, once) ...", flush=True)
    STAMP.unlink(missing_ok=True)
    make = [sys.executable, "-m", "venv", "--clear"]
    pip = [str(PYTHON), "-m", "pip"]
    # Debian splits ensurepip off into python3-venv: without it, the pip outside installs into .venv.
    if subprocess.call([*make, str(VENV)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        run(*make, "--without-pip", VENV)
        pip = [sys.executable, "-m", "pip", "--python", str(PYTHON)]
    install = [*pip, "install", "--quiet", "--disable-pip-version-check"]
    run(*install, "--require-hashes", "-r", HERE / "requirements.txt")
    run(*install, "--no-deps", "--no-build-isolation", "-e", HERE)
    overrides = VENV / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    overrides.parent.mkdir(parents=True, exist_ok=True)
    overrides.write_text(json.dumps(SETTINGS))
    STAMP.write_text(wanted)


def become(*words, **environment):
    """Hand over to a program of the environment, so that Ctrl-C and exit codes are its own."""
    words = [str(PYTHON), *map(str, words)]
    os.chdir(HERE)
    os.environ.update(environment)
    if os.name == "nt":
        sys.exit(subprocess.call(words))
    sys.stdout.flush()
    os.execv(words[0], words)


def take_fresh(options):
    """Part `--fresh 03 04`, each time that it is there, from the options of JupyterLab."""
    fresh, rest, chapters = [], [], None
    for word in options:
        name, given, chapter = word.partition("=")
        if name == "--fresh":
            chapters = [chapter] if given else []
            fresh.append(chapters)
        elif word.startswith("-") or chapters is None:
            chapters = None
            rest.append(word)
        else:
            chapters.append(word)
    if not all(chapters and all(chapters) for chapters in fresh):
        sys.exit("run.py: --fresh needs a chapter, such as: --fresh 03")
    return [word for chapters in fresh for chapter in chapters for word in ("--fresh", chapter)], rest


def home():
    """Where JupyterLab keeps its settings: at home, or in `.venv` where nothing can be written at home."""
    try:
        with tempfile.TemporaryFile(dir=Path.home()):
            return {}
    except (OSError, RuntimeError):
        instead = VENV / "home"
        instead.mkdir(parents=True, exist_ok=True)
        print(f"run.py: your home folder cannot be written to; JupyterLab's settings are kept in {instead}")
        return {"HOME": str(instead)}


def lab(options):
    """Renew or make the working copy, then open JupyterLab on it."""
    fresh, rest = take_fresh(options)
    set_up()
    prepare = [str(PYTHON), "-m", "tokenlab", "course", "workbook", str(WORKBOOK), *fresh]
    if code := subprocess.call(prepare, cwd=HERE):  # it has said why
        sys.exit(code)
    start = (
        []
        if any(word.startswith("--ServerApp.default_url") for word in rest)
        else ["--LabApp.default_url=/lab/tree/00_start_here.ipynb"]
    )
    surroundings = {"TOKENLAB_WORKBOOK": str(WORKBOOK), **home()}
    become("-m", "jupyterlab", f"--ServerApp.root_dir={WORKBOOK}", *start, *rest, **surroundings)


def test(options):
    """Run every test: the library, the documentation and the notebooks."""
    set_up()
    become("-m", "pytest", *options)


def wheels(options):
    """Fetch the locked packages as wheels into a folder, for rooms without a network."""
    if len(options) != 1 or options[0].startswith("-"):
        sys.exit("run.py: wheels needs a folder, such as: wheels ../wheels")
    folder = Path(options[0]).resolve()
    fetch = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--only-binary", ":all:"]
    run(*fetch, "--require-hashes", "-r", HERE / "requirements.txt", "--dest", folder)
    settings = f"PIP_NO_INDEX=1 and PIP_FIND_LINKS={folder.as_uri()}"  # pip would split a path at its spaces
    print(f"In a room without a network, set {settings}, then: run.py lab")


def site(options):
    """Write the course as web pages."""
    if options:
        sys.exit("run.py: site takes no options, found " + " ".join(options))
    set_up()
    inside = [str(PYTHON), "-m", "pip"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    missing = subprocess.call([*inside, "--version"], **quiet)
    pip = [sys.executable, "-m", "pip", "--python", str(PYTHON)] if missing else inside
    locked = ("--quiet", "--disable-pip-version-check", "--require-hashes", "-r")
    run(*pip, "install", *locked, HERE / ".site" / "requirements.txt")
    browser = ("--no-deps", "--only-binary", ":all:", "--platform", "any", "--python-version", "3.14")
    run(*pip, "download", *locked, HERE / ".site" / "browser.txt", *browser, "--dest", VENV / "browser")
    found = VENV / "share" / "jupyter" / "labextensions" / "@jupyterlite"
    if found.exists():  # for the site alone: JupyterLab would complain that it cannot load it
        shutil.rmtree(VENV / "browser" / found.name, ignore_errors=True)
        shutil.move(found, VENV / "browser")
    become(HERE / ".site" / "build.py", HERE / "site")


def main():
    commands = {"lab": lab, "test": test, "wheels": wheels, "site": site}
    words = sys.argv[1:]
    if words[:1] and words[0] in ("-h", "--help", "help"):
        print(__doc__)
        return
    if not words or words[0] not in commands:
        sys.exit(
            __doc__
            + "\nrun.py: expected lab, test, wheels or site"
            + (", found " + words[0] if words else "")
        )
    try:
        commands[words[0]](words[1:])
    except KeyboardInterrupt:
        print("\nrun.py: stopped. The same command takes it up again.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is read by whatever Python is there
        sys.exit("run.py: Python 3.11 or newer is needed; this one is " + sys.version.split()[0])
    main()
