"""JupyterLab in a real browser, for the tests that sit where a learner sits."""

import json
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

from run import SETTINGS
from tokenlab.course.reading import KINDS

TRACKER = "@jupyterlab/notebook-extension:tracker"
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
    for name, values in (SETTINGS | {TRACKER: SETTINGS[TRACKER] | {"windowingMode": "none"}}).items():
        file = home / "settings" / f"{name.replace(':', '/')}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
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
def browser(width=1280, height=900, options=()):
    """A page of headless Chromium."""
    if not CHROMIUM:
        skip("no Chromium on this machine")
    from playwright.sync_api import Error, sync_playwright

    quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as play:
        try:
            chromium = play.chromium.launch(executable_path=CHROMIUM, args=[*quiet, *options])
        except Error as error:
            skip(f"Chromium cannot be launched: {str(error).splitlines()[0]}")
        try:
            yield chromium.new_page(viewport={"width": width, "height": height})
        finally:
            chromium.close()


PANEL = "window.jupyterapp.shell.currentWidget"
TOO_FAINT = """(nodes, least) => {
    const numbers = colour => (colour.match(/[\\d.]+/g) || []).map(Number);
    const light = ([r, g, b]) => [r, g, b].map(part => part / 255)
        .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = node => {
        for (; node; node = node.parentElement) {
            const colour = numbers(getComputedStyle(node).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
    };
    const found = [];
    for (const root of nodes) {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const [text, node] = [walker.currentNode.data, walker.currentNode.parentElement];
            if (!text.trim() || !node.checkVisibility({visibilityProperty: true})) continue;
            const [colour, ground] = [numbers(getComputedStyle(node).color), behind(node)];
            const [dark, bright] = [light(colour), light(ground)].sort((a, b) => a - b);
            const contrast = (bright + 0.05) / (dark + 0.05);
            if (contrast < least) found.push([text, colour, ground, contrast]);
        }
    }
    return found;
}"""


def enter(page, address, token):
    """Load JupyterLab, as one does once; notebooks are then opened in it."""
    page.goto(f"{address}/lab?token={token}&reset")
    page.wait_for_function("() => window.jupyterapp", timeout=90_000)
    page.evaluate("() => window.jupyterapp.restored")


def command(page, name, **arguments):
    """Execute a command of JupyterLab."""
    page.evaluate(
        "async ([name, given]) => { await window.jupyterapp.commands.execute(name, given); }",
        [name, arguments],
    )


class Notebook:
    """One notebook open in JupyterLab: what a learner types, and what is then there to read."""

    def __init__(self, page, name):
        self.page = page
        command(page, "docmanager:open", path=name, factory="Notebook")
        page.wait_for_function(f"name => {PANEL}?.context?.path === name", arg=name, timeout=60_000)
        page.evaluate(f"() => {PANEL}.context.ready")
        page.evaluate(f"() => {PANEL}.sessionContext.ready")
        page.wait_for_function(
            f"() => {PANEL}.sessionContext.session?.kernel?.status === 'idle'", timeout=180_000
        )

    def close(self):
        """Stop its kernel and forget what was changed."""
        self.page.evaluate(
            f"""async () => {{
                const panel = {PANEL};
                await panel.sessionContext.shutdown();
                panel.dispose();
            }}"""
        )

    def run_all(self):
        """Run every cell, after clearing the saved outputs: what is there afterwards is of this run."""
        command(self.page, "notebook:clear-all-cell-outputs")
        ran = self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")
        assert ran is not False
        self.wait_until_idle()

    def wait_until_idle(self):
        # The kernel is asked something last: when it has answered that, all before it is done.
        self.page.evaluate(
            f"() => {PANEL}.sessionContext.session.kernel.requestExecute({{code: 'None', silent: true}}).done"
        )

    def cells(self):
        """Each cell as saved: its ID, type, source and outputs."""
        return self.page.evaluate(f"() => {PANEL}.content.model.toJSON().cells")

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
            f"""id => {PANEL}.content.widgets.find(cell => cell.model.id === id)
                .node.querySelector('.jp-OutputArea-output').innerText""",
            cell_id,
        )

    def active(self):
        """The ID of the cell that the keyboard is at."""
        return self.page.evaluate(f"() => {PANEL}.content.activeCell.model.id")

    def pictures(self):
        """Whether each picture of the outputs has loaded and is seen."""
        return self.page.evaluate(
            f"""async () => {{
                const all = [...{PANEL}.node.querySelectorAll('.jp-OutputArea-output img')];
                await Promise.all(all.map(image => image.decode().catch(() => null)));
                return all.map(image => image.naturalWidth > 0 && image.getBoundingClientRect().width > 0);
            }}"""
        )

    def tables(self):
        """Whether each table of the outputs is seen with a caption and rows."""
        return self.page.evaluate(
            f"""() => [...{PANEL}.node.querySelectorAll('.jp-OutputArea-output table')].map(table =>
                Boolean(table.caption?.innerText.trim()) && table.rows.length > 0
                && table.getBoundingClientRect().height > 0)"""
        )

    def too_wide(self, *, tables=True):
        """What has to be scrolled sideways: the page, the notebook, an output (of tables, too) or a cell."""
        return self.page.evaluate(
            f"""tables => {{
                const parts = '.jp-Notebook, .jp-WindowedPanel-outer, .jp-OutputArea-output, .cm-scroller,'
                    + ' .jp-RenderedMarkdown';
                const nodes = [document.scrollingElement, ...{PANEL}.node.querySelectorAll(parts)];
                const wide = nodes.filter(node => node.scrollWidth > node.clientWidth + 1);
                const isTable = node => node.matches('.jp-OutputArea-output') && node.querySelector('table');
                return wide.filter(node => tables || !isTable(node)).map(node => {{
                    const home = {PANEL}.content.widgets.find(cell => cell.node.contains(node));
                    return [home?.model.id, node.className, node.scrollWidth, node.clientWidth];
                }});
            }}""",
            tables,
        )

    def too_faint(self, least=4.5):
        """Texts of the outputs whose contrast with what is behind them, as drawn, is below `least` : 1."""
        outputs = f"[...{PANEL}.node.querySelectorAll('.jp-OutputArea-output')]"
        return self.page.evaluate(f"least => ({TOO_FAINT})({outputs}, least)", least)

    def photograph(self, path, first, last):
        """Save a picture of the cells from one to another, as they stand on the page."""
        self.page.evaluate("() => document.activeElement.blur()")
        box = self.page.evaluate(
            f"""([first, last]) => {{
                const node = id => {PANEL}.content.widgets.find(cell => cell.model.id === id).node;
                node(first).scrollIntoView();
                const [from, to] = [node(first).getBoundingClientRect(), node(last).getBoundingClientRect()];
                return {{x: from.left, y: from.top, width: from.width, height: to.bottom - from.top}};
            }}""",
            [first, last],
        )
        self.page.screenshot(path=path, clip=box)

    def type_into(self, cell_id, source):
        """Choose a cell, replace its text by typing, and run it with Shift+Enter."""
        self.page.evaluate(
            f"""async id => {{
                const notebook = {PANEL}.content;
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


def complaints(cells):
    """The errors and warnings among the outputs, and the cells that did not run."""
    for cell in cells:
        if cell["cell_type"] == "code" and cell["execution_count"] is None:
            yield f"{cell['id']}: did not run"
        for output in cell.get("outputs", ()):
            if output["output_type"] == "error" or output.get("name") == "stderr":
                yield f"{cell['id']}: {output.get('evalue') or output['text']}"


def spelled(question, algorithm):
    """An answer as a learner types it."""
    return KINDS[question.kind].spell(question.answer_of(algorithm))


def asked(question, answer):
    """A cell with an answer in it."""
    return f'prediction = {answer}\ncheck("{question.id}", prediction)'
