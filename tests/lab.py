"""JupyterLab in a real browser, for the tests that sit where a learner sits."""

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def skip(reason):
    """Skip, unless this machine is bound to have a browser: then a skip is a failure."""
    if os.environ.get("TOKENLAB_REQUIRE_BROWSER"):
        pytest.fail(f"a browser is required here: {reason}")
    pytest.skip(reason)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def serving(workbook, home):
    """Serve a working copy by JupyterLab on a free port; gives its address."""
    config = home / "jupyter"
    settings = home / "settings" / "@jupyterlab"
    for name, text in {
        "notebook-extension/tracker.jupyterlab-settings": '{"windowingMode": "none"}',
        "apputils-extension/notification.jupyterlab-settings": '{"fetchNews": "false"}',
    }.items():
        (settings / name).parent.mkdir(parents=True, exist_ok=True)
        (settings / name).write_text(text)
    config.mkdir(parents=True, exist_ok=True)
    (config / "jupyter_server_config.py").write_text("c.ServerApp.allow_root = True\n")
    port, token = free_port(), secrets.token_hex(8)
    surroundings = {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_TOKEN": token,
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "TOKENLAB_WORKBOOK": str(workbook),
    }
    options = ["--no-browser", f"--port={port}", f"--ServerApp.root_dir={workbook}"]
    options.append("--LabApp.expose_app_in_browser=True")
    with open(home / "lab.log", "w+b") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], env=surroundings, stdout=log, stderr=log
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(f"{address}/api?token={token}", server, log)
            yield address, token
        finally:
            server.terminate()
            server.wait(30)


def wait_for(url, server, log, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=5)
            return
        except OSError:
            time.sleep(0.3)
    log.seek(0)
    pytest.fail("JupyterLab did not start:\n" + log.read().decode(errors="replace")[-2000:])


@contextmanager
def browser(width=1280, height=900):
    """A page of headless Chromium."""
    if not CHROMIUM:
        skip("no Chromium on this machine")
    from playwright.sync_api import Error, sync_playwright

    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as play:
        try:
            chromium = play.chromium.launch(executable_path=CHROMIUM, args=quiet)
        except Error as error:
            skip(f"Chromium cannot be launched: {str(error).splitlines()[0]}")
        try:
            yield chromium.new_page(viewport={"width": width, "height": height})
        finally:
            chromium.close()


class Notebook:
    """One notebook open in JupyterLab: what a learner types, and what is then there to read."""

    panel = "window.jupyterapp.shell.currentWidget"

    def __init__(self, page, address, token, name):
        self.page = page
        page.goto(f"{address}/lab/tree/{name}?token={token}&reset")
        page.wait_for_function(
            f"() => window.jupyterapp && {self.panel} && {self.panel}.context", timeout=90_000
        )
        page.evaluate(f"() => {self.panel}.context.ready")
        page.evaluate(f"() => {self.panel}.sessionContext.ready")
        page.wait_for_function(
            f"() => {self.panel}.sessionContext.session?.kernel?.status === 'idle'", timeout=90_000
        )

    def run_all(self):
        assert (
            self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
            is not False
        )
        self.wait_until_idle()

    def wait_until_idle(self):
        # The kernel is asked something last: when it has answered that, all before it is done.
        self.page.evaluate(
            f"() => {self.panel}.sessionContext.session.kernel"
            ".requestExecute({code: 'None', silent: true}).done"
        )

    def cells(self):
        """Each cell as saved: its ID, type, source and outputs."""
        return self.page.evaluate(f"() => {self.panel}.content.model.toJSON().cells")

    def output(self, cell_id):
        """The plain text of what a cell shows."""
        cell = next(cell for cell in self.cells() if cell["id"] == cell_id)
        parts = []
        for output in cell["outputs"]:
            text = output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue", "")
            parts.append(text if isinstance(text, str) else "".join(text))
        return "\n".join(parts)

    def drawn(self, cell_id):
        """The text of a cell's output as the page draws it."""
        return self.page.evaluate(
            f"""id => {self.panel}.content.widgets.find(cell => cell.model.id === id)
                .node.querySelector('.jp-OutputArea-output').innerText""",
            cell_id,
        )

    def type_into(self, cell_id, source):
        """Choose a cell, replace its text by typing, and run it with Shift+Enter."""
        self.page.evaluate(
            f"""async id => {{
                const notebook = {self.panel}.content;
                notebook.activeCellIndex = notebook.widgets.findIndex(cell => cell.model.id === id);
                notebook.mode = 'command';
                notebook.activate();
                await notebook.scrollToCell(notebook.activeCell);
                await notebook.activeCell.ready;
            }}""",
            cell_id,
        )
        self.page.keyboard.press("Enter")
        self.page.keyboard.press("ControlOrMeta+A")
        self.page.keyboard.insert_text(source)
        self.page.keyboard.press("Shift+Enter")
        self.wait_until_idle()


def open_copy(tmp_path: Path) -> Path:
    """A learner's working copy, made as `run.py lab` makes it."""
    workbook = tmp_path / "workbook"
    subprocess.run(
        [sys.executable, "-m", "tokenlab", "course", "workbook", str(workbook)], check=True, timeout=60
    )
    return workbook
