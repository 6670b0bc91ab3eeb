"""Open exercises: a learner's function against the library's, smallest counterexample first."""

from __future__ import annotations

import contextlib
import inspect
import io
import itertools
import linecache
import re
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tokenlab.course.feedback import Message, respond
from tokenlab.course.limits import Outcome, limited, limits_time
from tokenlab.course.model import Exercise, Task

SECONDS = 2.0  # for one call
PATIENCE = 20.0  # for all of them


class _Prints(io.StringIO):
    """What a function prints, up to a limit."""

    def write(self, text: str) -> int:
        return super().write(text[: max(0, 2000 - self.tell())]) and len(text)


def shortest_first(exercise: Exercise) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of every call over an exercise's alphabet, by length, up to its number of cases."""
    lengths = itertools.count() if exercise.alphabet else (0,)
    symbols = (s for length in lengths for s in itertools.product(exercise.alphabet, repeat=length))
    return (exercise.arguments(s) for s in itertools.islice(symbols, exercise.cases))


def comparable(value: Any) -> Any:
    """Lists, tuples and arrays count as equal where their items are; all else as Python compares it."""
    if type(value).__module__ == "numpy":
        value = value.tolist()
    if isinstance(value, list | tuple):
        return tuple(map(comparable, value))
    if isinstance(value, Mapping):
        return {comparable(key): comparable(item) for key, item in value.items()}
    return value


def call(function: Callable[..., Any], arguments: tuple[Any, ...], wanted: Any) -> tuple[Outcome, str]:
    """Call a learner's function; return (value, whether it is the wanted one) or what else happened, and
    its prints.
    """

    def answer() -> tuple[Any, bool]:
        value = function(*arguments)
        return value, bool(comparable(value) == comparable(wanted))

    with contextlib.redirect_stdout(_Prints()) as prints:
        return limited(answer, (), SECONDS), prints.getvalue()


def examine(exercise: Exercise, function: Any) -> Message:
    """Say whether a function does what the exercise asks, and if not, show the smallest input that tells."""
    if function is ...:
        return Message(f"Not tried yet. Write {exercise.name}, then run the cell again.", "blank")
    if not callable(function):
        how = f'give its name without parentheses, check_function("{exercise.id}", {exercise.name})'
        return Message(f"Not yet. This is what a function returned, not a function: {how}.", "unreadable")
    home = getattr(inspect.unwrap(function), "__module__", None) or ""
    if function is exercise.reference or (home.startswith("tokenlab.") and function not in exercise.wrong):
        return Message("Not yet. This is the library's own function: write one of your own.", "unreadable")
    first = next(shortest_first(exercise))
    with contextlib.suppress(ValueError, TypeError):
        try:
            inspect.signature(function).bind(*first)
        except TypeError:
            text = f"Not yet. The function is called as {exercise.call}; yours takes other arguments."
            return Message(text, "wrong")
    outcome, _ = call(function, first, None)
    if outcome[0] == "returned" and outcome[1][0] is ...:
        text = "Not tried yet. Replace `return ...` by your own lines, then run the cell again."
        return Message(text, "blank")
    found, short, longer = smallest(exercise, function)
    if found is not None:
        return Message(_explain(exercise, function, found), "wrong")
    extent = f"the {short} shortest inputs" if short > 1 else "the shortest input"
    if longer:
        extent += ", and on longer random ones"
    elif short < exercise.cases:
        extent += "; there was no time for more"
    limit = "" if limits_time() else " (There is no time limit in this environment.)"
    return Message(f"Right. Your function agrees with the library on {extent}.{limit}", "right")


def smallest(exercise: Exercise, function: Callable[..., Any]) -> tuple[tuple[Any, ...] | None, int, int]:
    """Return the arguments of the smallest call on which a function and the reference differ, how many short
    inputs were tried, and how many random ones.

    A slow function is tried on fewer inputs, but on one at least.
    """
    end, tried = time.monotonic() + PATIENCE, 0
    failing: list[tuple[Any, ...]] = []

    def differs(arguments: tuple[Any, ...]) -> bool:
        nonlocal tried
        if tried and time.monotonic() > end:
            return False
        tried += 1
        (state, value), _ = call(function, arguments, exercise.reference(*arguments))
        if state == "returned" and value[1]:
            return False
        failing.append(arguments)
        return True

    for arguments in shortest_first(exercise):
        if differs(arguments):
            return arguments, tried, 0
    short = tried
    _search_longer(exercise, differs)
    found = min(failing, key=lambda arguments: len(repr(arguments))) if failing else None
    return found, short, tried - short


def _search_longer(exercise: Exercise, differs: Callable[[tuple[Any, ...]], bool]) -> None:
    try:
        from hypothesis import HealthCheck, Phase, configuration, errors, find, settings, strategies
    except ImportError:  # a browser build: the short inputs have to do
        return
    home = configuration.storage_directory(intent_to_write=False).home_directory
    with tempfile.TemporaryDirectory() as folder:
        configuration.set_hypothesis_home_dir(folder)
        longer = strategies.lists(strategies.sampled_from(exercise.alphabet), max_size=40).map(tuple)
        quiet = settings(
            max_examples=100,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],  # the others trace the learner's function
            suppress_health_check=list(HealthCheck),
        )
        try:
            find(longer.map(exercise.arguments), differs, settings=quiet)
        except errors.HypothesisException:  # nothing found, or a function that remembers:
            pass  # `differs` has kept what failed
        finally:
            configuration.set_hypothesis_home_dir(home)


def _explain(exercise: Exercise, function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    wanted = exercise.reference(*arguments)
    (state, value), prints = call(function, arguments, wanted)
    value, agrees = value if state == "returned" else (value, False)
    (again, second), _ = call(function, arguments, value) if state == "returned" else ((state, None), "")
    can_be_shown, shown = limited(exercise.show, (value,), SECONDS)
    if can_be_shown != "returned":
        shown = f"(of type {type(value).__name__}, and it cannot be shown)"
    asked = f"    {exercise.name}({', '.join(map(exercise.show, arguments))})"
    seen = re.sub(" at 0x[0-9A-Fa-f]+", "", str(shown))[:300]  # an address is another one tomorrow
    got = f"\n    got     {seen}" if state == "returned" else ""
    lines = ["Not yet. The shortest input on which it differs:"]
    lines.append(f"{asked}{got}\n    wanted  {exercise.show(wanted)[:300]}")
    if state == "late":
        lines.append(f"It did not return within {SECONDS:g} seconds: does its loop end?")
    elif state == "raised":
        lines.append(_where(function, value))
    elif value is None:
        lines.append("It returned None: is there a return?")
    elif hasattr(type(value), "__next__"):
        text = "It returned something that is still to be run (does it use yield?): return the finished"
        lines.append(f"{text} {_type(wanted)}.")
    elif not agrees and not isinstance(comparable(value), type(comparable(wanted))):
        text = f"For this input the answer is of type {_type(wanted)}; yours is of type {_type(value)}."
        lines.append(text)
    elif again == "returned" and second is not None and not second[1]:
        text = "Called again with the same input, it answers differently: does it remember earlier calls?"
        lines.append(text)
    elif agrees:
        lines.append("Called alone, it answers rightly: does it remember earlier calls?")
    if prints:
        lines.append("It printed:\n\n" + "\n".join("    " + line for line in prints.splitlines()[:10]))
    return "\n\n".join([*lines, f'Look again, or ask for a hint: `hint("{exercise.id}")`.'])


def _type(value: object) -> str:
    return f"`{type(value).__name__}`"


def _where(function: Callable[..., Any], error: BaseException) -> str:
    """Say what was raised, at the learner's own line."""
    said, words = limited(str, (error,), SECONDS)
    text = f"It raised {type(error).__name__}" + (f": {words[:200]}" if said == "returned" else "")
    code = getattr(inspect.unwrap(function), "__code__", None)
    frames = traceback.extract_tb(error.__traceback__)
    mine = [frame for frame in frames if code is not None and frame.filename == code.co_filename]
    if mine and mine[-1].lineno:
        source = linecache.getline(mine[-1].filename, mine[-1].lineno).strip()
        text += f"\n\n    line {mine[-1].lineno} of your cell: {source}"
    if isinstance(error, TypeError | AttributeError) and any(t in text for t in ("'tuple'", "'bytes'")):
        text += "\n\nThe input cannot be changed in place: make a list of it first, with list(...)."
    return text


def check_function(exercise_id: str, function: object = ...) -> None:
    """Compare a function with the library's, over all short inputs and some long ones."""

    def feedback(task: Task) -> Message:
        if isinstance(task, Exercise):
            return examine(task, function)
        return Message(f'"{task.id}" is a prediction: `check("{task.id}", prediction)`.')

    respond(exercise_id, feedback)
