"""Build the course as JupyterLite: it runs in a browser, and any server of plain files serves it.

All that most chapters need comes from the folder itself: Pyodide (from npm), this project, and the packages
below, as they are installed here. Where there is a network, `import matplotlib` and the like fetch compiled
packages from Pyodide's own host.
"""

import base64
import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from importlib.metadata import distribution
from pathlib import Path

from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL, PYODIDE_LOCK, PYODIDE_VERSION

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
KERNEL = "@jupyterlite/pyodide-kernel-extension"
FETCHED = Path(sys.prefix, "browser")  # by `run.py site`
KERNEL_WHEELS = FETCHED / KERNEL / "static" / "pypi"
INSTALLED = (  # whatever Python runs the build, these are made into wheels
    "asttokens",
    "comm",
    "executing",
    "ipython",
    "ipython_pygments_lexers",
    "jedi",
    "jinja2",
    "markupsafe",
    "matplotlib_inline",
    "parso",
    "prompt_toolkit",
    "pure_eval",
    "pygments",
    "stack_data",
    "traitlets",
    "wcwidth",
)
BUILT_FOR_THE_BROWSER = {  # where each lies
    "ipykernel": KERNEL_WHEELS,
    "piplite": KERNEL_WHEELS,
    "pyodide_kernel": KERNEL_WHEELS,
    "micropip": FETCHED,
}
PYODIDE_SHA512 = (
    "BKDTJyIqFxC4BExLqeRS3f5xvXZIjOt8C3zGLN/Cc7tFxSwvKVhVkchQQ2AGLOtR4YrVOIFxbV8poyDOOmWwxQ=="  # of 314.0.6
)
RUNTIME = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", PYODIDE_LOCK)


def quietly(*words, cwd: Path) -> str:
    """Run a command; what it says is shown only where it fails."""
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}{done.stderr}\nthis step of the build failed: {' '.join(map(str, words))}")
    return done.stdout


def fetch_pyodide(npm: str, place: Path, target: Path) -> None:
    """Unpack Python for the browser, as locked, into target."""
    quietly(npm, "pack", f"pyodide@{PYODIDE_VERSION}", "--silent", cwd=place)
    (archive,) = place.glob("pyodide-*.tgz")
    found = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    if found != PYODIDE_SHA512:
        sys.exit(f"{archive.name}: expected the SHA-512 {PYODIDE_SHA512}, found {found}")
    target.mkdir(parents=True)
    with tarfile.open(archive) as packed:
        for name in RUNTIME:
            (target / name).write_bytes(packed.extractfile(f"package/{name}").read())


def pack(package: str, place: Path) -> Path:
    """Make a wheel of an installed package; what is compiled in it is there for speed alone, and left out."""
    found = distribution(package)
    wheel = place / f"{package}-{found.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in found.files or ():
            if (
                file.parts[0] != ".."
                and "__pycache__" not in file.parts
                and file.suffix not in (".so", ".pyd")
            ):
                packed.write(file.locate(), file)
    return wheel


def wheel_of_the_project(place: Path) -> Path:
    """Build tokenlab's wheel and lay the corpora beside the package, as in a clone."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place)
    shutil.copytree(ROOT / "tokenlab", place / "tokenlab", ignore=shutil.ignore_patterns("__pycache__"))
    build = "from setuptools.build_meta import build_wheel; build_wheel('.')"
    quietly(sys.executable, "-c", build, cwd=place)
    (wheel,) = place.glob("tokenlab-*.whl")
    with zipfile.ZipFile(wheel, "a", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(path for path in (ROOT / "data").rglob("*") if path.is_file()):
            packed.write(path, path.relative_to(ROOT))
    return wheel


def entry(wheel: Path) -> dict:
    """A wheel as Pyodide's lock describes it."""
    name, version = wheel.name.split("-")[:2]
    with zipfile.ZipFile(wheel) as packed:
        tops = {path.partition("/")[0].removesuffix(".py") for path in packed.namelist()}
    return {
        "name": name.replace("_", "-"),
        "version": version,
        "file_name": wheel.name,
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "install_dir": "site",
        "package_type": "package",
        "imports": sorted(top for top in tops if top.isidentifier()),
        "depends": [],
        "unvendored_tests": False,
    }


def lock(pyodide: Path, wheels: list[Path]) -> list[str]:
    """Make Pyodide's lock give our wheels from here, and all else from its own host; return our names."""
    file = pyodide / PYODIDE_LOCK
    known = json.loads(file.read_text("utf-8"))
    for package in known["packages"].values():
        package["file_name"] = f"{PYODIDE_CDN_URL}/{package['file_name']}"
    for wheel in wheels:
        shutil.copy(wheel, pyodide)
        own = entry(wheel)
        known["packages"][own["name"]] = own
    file.write_text(json.dumps(known), "utf-8")
    return [entry(wheel)["name"] for wheel in wheels]


def settings(packages: list[str]) -> dict:
    """What JupyterLite is told: which packages are loaded before the first cell."""
    kernel = {"loadPyodideOptions": {"packages": packages}, "disablePyPIFallback": True}
    return {
        "jupyter-lite-schema-version": 0,
        "jupyter-config-data": {
            "appName": "tokenlab",
            "exposeAppInBrowser": True,
            "litePluginSettings": {f"{KERNEL}:kernel": kernel},
        },
    }


def build(npm: str, target: Path) -> None:
    """Write the course, its packages and Python itself as a folder that any web server can serve."""
    with tempfile.TemporaryDirectory() as folder:
        project, source = Path(folder, "project"), Path(folder, "lite")
        project.mkdir()
        pyodide = source / "static" / "pyodide"
        fetch_pyodide(npm, project, pyodide)
        wheels = [pack(package, project) for package in INSTALLED]
        wheels += [max(place.glob(f"{name}-*.whl")) for name, place in BUILT_FOR_THE_BROWSER.items()]
        names = lock(pyodide, [*wheels, wheel_of_the_project(project)])
        (source / "jupyter-lite.json").write_text(json.dumps(settings(names)), "utf-8")
        extensions = {"LiteBuildConfig": {"federated_extensions": [str(FETCHED / KERNEL)]}}
        (source / "jupyter_lite_config.json").write_text(json.dumps(extensions), "utf-8")
        words = ["--lite-dir", source, "--output-dir", target, "--contents", ROOT / "notebooks"]
        words += ["--apps", "lab", "--no-sourcemaps"]
        quietly(sys.executable, "-m", "jupyterlite_core", "build", *words, cwd=source)
