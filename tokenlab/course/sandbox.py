"""Run one returned exercise in a process of its own, which is limited and can be killed.

Everywhere its time is limited, and it may start no program, use no network and change no file outside its own
folder. Its memory is limited on Linux alone, the size of a file it writes on Linux and macOS. All this stops
accidents and pranks; whoever fears an attack runs this in a container besides.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

_HOME = str(Path(__file__).resolve().parents[2])
SECONDS = 60.0
MEMORY = 1 << 30  # bytes of address space
FILE = 1 << 20  # bytes of the largest file
_STARTS = ("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.kill", "subprocess", "socket")
_CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.ch", "os.link", "os.symlink", "os.truncate")


def run_exercise(task_id: str, program: str, function: str, seconds: float = SECONDS) -> tuple[str, str]:
    """Return the state of an exercise and what was said about it: right, wrong, or how its process ended."""
    with tempfile.TemporaryDirectory() as folder:
        job, result = Path(folder) / "job.json", Path(folder) / "result.json"
        job.write_text(json.dumps([task_id, program, function]), "utf-8")
        kept = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT") if key in os.environ}
        kept["PYTHONPATH"] = os.pathsep.join([_HOME, *filter(None, [os.environ.get("PYTHONPATH")])])
        own = {"HOME": folder, "TMPDIR": folder, "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", "tokenlab.course.sandbox", str(job), str(result)]
        silent: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        child = subprocess.Popen(command, cwd=folder, env=kept | own, start_new_session=True, **silent)
        try:
            code = child.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _kill(child)
        try:
            state, said = json.loads(result.read_text("utf-8"))
            return str(state), str(said)
        except (OSError, ValueError):
            ended = f"was stopped after {seconds:g} seconds" if code is None else f"ended with code {code}"
            return "stopped", f"Its process {ended}."


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it has started."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError, PermissionError):
        child.kill()
    child.wait()


def _limit(folder: str) -> None:
    with contextlib.suppress(ImportError):  # Windows has no such limits
        import resource

        for kind, most in (("AS", MEMORY), ("FSIZE", FILE), ("CPU", int(SECONDS))):
            with contextlib.suppress(AttributeError, ValueError, OSError):  # macOS refuses that of memory
                resource.setrlimit(getattr(resource, f"RLIMIT_{kind}"), (most, most))

    def guard(event: str, arguments: tuple[Any, ...]) -> None:
        changes = event.startswith(_CHANGES) or (event == "open" and _writes(*arguments[1:3]))
        if event.startswith(_STARTS) or (changes and _outside(arguments[0], folder)):
            raise PermissionError(f"{event} is not allowed in an exercise")

    sys.addaudithook(guard)


def _outside(path: object, folder: str) -> bool:
    """Tell whether a path leads out of the folder; numbers are files that are open already."""
    if not isinstance(path, str | bytes | os.PathLike):
        return False
    return not os.path.realpath(os.fsdecode(path)).startswith((os.path.realpath(folder), os.devnull))


def _writes(mode: object, flags: object) -> bool:
    changing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    return bool(set(str(mode or "")) & set("wax+")) or bool(isinstance(flags, int) and flags & changing)


def main(job: str, result: str) -> None:
    """Define the function in an empty namespace, examine it, and leave the outcome in a file."""
    from tokenlab.course.exercises import examine
    from tokenlab.course.model import Exercise, find

    task_id, program, name = json.loads(Path(job).read_text("utf-8"))
    task = find(task_id)
    assert isinstance(task, Exercise)
    sys.dont_write_bytecode = True
    _limit(str(Path(job).parent))
    space: dict[str, Any] = {"__name__": "hand_in"}
    try:
        exec(compile(program, "hand-in", "exec"), space)
        message = examine(task, space.get(name, ...))
        outcome = message.state, message.text
    except BaseException as error:  # whatever the cell raises: it is said, not passed on
        outcome = "wrong", f"The cell raised {type(error).__name__}: {str(error)[:200]}"
    Path(result).write_text(json.dumps(outcome), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
