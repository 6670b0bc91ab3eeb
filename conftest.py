"""Every test run, and every notebook kernel, starts from the same clean surroundings."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import settings

settings.register_profile("explore", deadline=None)  # a busy machine is no failure
settings.register_profile("tokenlab", derandomize=True, deadline=None)  # the same cases on every machine
settings.load_profile("tokenlab")

HOME = Path(tempfile.mkdtemp(prefix="tokenlab-tests-"))
atexit.register(shutil.rmtree, HOME, ignore_errors=True)
os.environ.update(
    IPYTHONDIR=str(HOME / "ipython"),
    MPLCONFIGDIR=str(HOME / "matplotlib"),
    JUPYTER_CONFIG_DIR=str(HOME / "jupyter"),
    PYTHONHASHSEED=os.environ.get("PYTHONHASHSEED", "0"),
    PYDEVD_DISABLE_FILE_VALIDATION="1",
    RAYON_NUM_THREADS="1",
    TOKENIZERS_PARALLELISM="false",
)
# Programs, not tests: looking for doctests would run them.
collect_ignore = ["run.py", "tests/vectors", "tests/benchmarks", "tests/screenshots.py"]

for name in ("MPLBACKEND", "PYTHONWARNINGS", "TOKENLAB_WORKBOOK"):
    os.environ.pop(name, None)


def pytest_configure(config):
    # The path has to be absolute, so it cannot stand in pyproject.toml.
    if config.pluginmanager.hasplugin("nbval") or hasattr(config.option, "nbval_sanitize_with"):
        config.option.nbval_sanitize_with = str(Path(__file__).parent / "tests" / "nbval_sanitize.cfg")


def pytest_sessionstart(session):
    # A cold font cache prints a warning into the first notebook that draws.
    import matplotlib.font_manager  # noqa: F401
