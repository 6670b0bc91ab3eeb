"""Run a learner's function in this thread, for a limited time.

A watchdog thread raises a private exception in the learner's thread, and stops under a lock. (Signals
work only on the main thread of Unix; a child process cannot import what a notebook defines.)
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from threading import Event, Lock, Thread, get_ident
from typing import Any, Literal

Outcome = tuple[Literal["returned", "raised", "late"], Any]


class OutOfTime(BaseException):
    """Raised from outside in a thread that has used up its time."""


def limits_time() -> bool:
    """Tell whether a time limit can be kept here (browser builds of Python have no threads)."""
    try:
        thread = Thread(target=str, daemon=True)
        thread.start()
    except RuntimeError:
        return False
    thread.join()
    return True


def limited(function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float = 2.0) -> Outcome:
    """Call a function; return what it returned or raised, or that it was stopped after so many seconds.

    >>> limited(len, ("abc",))
    ('returned', 3)
    """
    from ctypes import c_ulong, py_object, pythonapi

    raise_in = pythonapi.PyThreadState_SetAsyncExc
    me, lock, done = c_ulong(get_ident()), Lock(), Event()
    late: list[int] = []
    outcome: Outcome | None = None

    def watch() -> None:
        # Repeated, because the learner's code may catch the first one.
        while not done.wait(0.2 if late else seconds):
            with lock:
                if not done.is_set():
                    late.append(raise_in(me, py_object(OutOfTime)))

    def guarded() -> Outcome:
        try:
            return "returned", function(*arguments)
        except (OutOfTime, KeyboardInterrupt):
            raise
        except BaseException as error:  # SystemExit, or one of the learner's own
            return "raised", error

    settled = False
    try:
        # OutOfTime can arrive at any line below, so every pass resumes where the last one was interrupted.
        while True:
            try:
                if outcome is None:
                    outcome = "late", None
                    with contextlib.suppress(RuntimeError):  # where there are no threads
                        Thread(target=watch, daemon=True).start()
                    outcome = guarded()
                with lock:
                    done.set()
                if late and not settled:
                    # The last one is taken, not withdrawn: a withdrawn one leaves its signal set in CPython
                    # 3.11, and the next function that is traced there never starts.
                    settled = True
                    raise_in(me, py_object(OutOfTime))
                    while True:
                        pass
                return ("late", None) if late else outcome
            except OutOfTime:
                pass
    finally:
        done.set()
