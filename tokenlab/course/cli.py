"""`python -m tokenlab course`: the commands for teachers and authors."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tokenlab.course import contents, grading, handins, key, notebooks, teaching, workbook
from tokenlab.course.model import Chapter, chapters

Command = Callable[[argparse.Namespace], Iterator[object]]  # yields what is to be printed
Word = tuple[str, dict[str, Any]]  # what `add_argument` takes
COMMANDS: list[tuple[Command, tuple[Word, ...]]] = []


def _command(*words: Word) -> Callable[[Command], Command]:
    """Make a function a command of its name, explained by its docstring."""

    def register(function: Command) -> Command:
        COMMANDS.append((function, words))
        return function

    return register


def _word(name: str, help: str | None = None, **settings: Any) -> Word:
    return name, {"help": help, **settings}


def _file(name: str, help: str) -> Word:
    return _word(name, help, type=Path, metavar="FILE")


_PAGE = _file("--html", "write one HTML page")
_FOLDER = _word("folder", "the notebooks that were handed in", type=Path)


@_command(_word("chapter", "a chapter's number, such as 03; all of them otherwise", nargs="?"), _PAGE)
def _key(options: argparse.Namespace) -> Iterator[object]:
    """every question with its answer, misconceptions and hints"""
    return _show(list(key.sections(_chosen(options.chapter))), options.html)


@_command(_word("chapter", "a chapter's number, such as 03"), _PAGE)
def _teach(options: argparse.Namespace) -> Iterator[object]:
    """a chapter's sheet for the teacher"""
    return _show([part for c in _chosen(options.chapter) for part in teaching.sheet(c)], options.html)


def _chosen(name: str | None) -> list[Chapter]:
    chosen = [c for c in chapters() if name in (None, c.number, c.notebook)]
    if not chosen:
        raise LookupError(f"no chapter {name!r} (there: {', '.join(c.number for c in chapters())})")
    return chosen


def _show(parts: list[key.Section], page: Path | None) -> Iterator[object]:
    if page:
        page.write_text(key.to_page(parts), "utf-8", newline="\n")
    else:
        yield key.to_text(parts).removesuffix("\n")


@_command(
    _word("path", "the folder to write them to", type=Path, metavar="OUT"),
    _word("--variant", "ask of other inputs; neighbouring N differ", type=int, default=0, metavar="N"),
)
def _blank(options: argparse.Namespace) -> Iterator[object]:
    """copies of the notebooks to hand out"""
    return (path.name for path in teaching.hand_out(options.path, options.variant))


@_command(_FOLDER)
def _tally(options: argparse.Namespace) -> Iterator[object]:
    """first answers by misconception, for a vote in class"""
    yield grading.tally(handins.read_folder(options.folder))


@_command(
    _FOLDER,
    _file("--csv", "write the table"),
    _file("--html", "write the table and the first answers"),
    _word("--run", "run the exercises, each in a limited process", action="store_true", dest="execute"),
)
def _grade(options: argparse.Namespace) -> Iterator[object]:
    """a table of learners by questions; without --run, runs nobody's code"""
    hand_ins = handins.read_folder(options.folder)
    if options.execute:
        grading.run_exercises(hand_ins)
    yield f"{grading.result(hand_ins)}\n\n{grading.summary(hand_ins)}"
    if options.csv:  # with a mark at its head, by which Excel knows UTF-8
        options.csv.write_text(grading.to_csv(hand_ins), "utf-8-sig", newline="\n")
    if options.html:
        options.html.write_text(grading.to_page(hand_ins), "utf-8", newline="\n")


@_command(
    _word("names", "a chapter's number or a notebook; all otherwise", nargs="*", metavar="NAME"),
    _word("--check", "write nothing; exit code 1 where something would change", action="store_true"),
)
def _run(options: argparse.Namespace) -> Iterator[object]:
    """run the committed notebooks again and normalise them"""
    changed = 0
    for path, difference in notebooks.rerun(workbook.select(options.names), write=not options.check):
        yield f"{path.name}: {difference or 'unchanged'}"
        changed += bool(difference)
    if options.check and changed:
        raise RuntimeError(f"{changed} would change")


@_command(_file("--write", "put it between the chapters markers of a file"))
def _chapters(options: argparse.Namespace) -> Iterator[object]:
    """the table of contents"""
    if options.write:
        contents.write(options.write)
    else:
        yield contents.to_markdown()


@_command(
    _word("path", "the folder of the copies", type=Path, metavar="FOLDER"),
    _word("--fresh", "renew it; keep the old copy", action="append", default=[], metavar="CHAPTER"),
)
def _workbook(options: argparse.Namespace) -> Iterator[object]:
    """make or renew a learner's copies of the notebooks"""
    return workbook.prepare(options.path, options.fresh)


def parser() -> argparse.ArgumentParser:
    """Build the words of `python -m tokenlab course`."""
    from tokenlab.__main__ import COMMANDS as known

    top = argparse.ArgumentParser(prog="python -m tokenlab course", description=known["course"][1])
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for function, words in COMMANDS:
        command = commands.add_parser(
            function.__name__.strip("_"), help=function.__doc__, description=function.__doc__
        )
        command.set_defaults(run=function)
        for name, settings in words:
            command.add_argument(name, **settings)
    return top


def main(argv: list[str]) -> int:
    """Run one command; return its exit code: 0 done, 1 not as it should be, 2 not understood."""
    options = parser().parse_args(argv)
    try:
        for line in options.run(options):
            print(line, flush=True)
    except BrokenPipeError:
        raise  # no fault of this command
    except (LookupError, OSError, RuntimeError, ImportError, ValueError) as error:
        reason = error.args[0] if isinstance(error, LookupError) and error.args else error
        lines = str(reason).strip().splitlines() or [type(error).__name__]
        print(f"course: {lines[-1]}", file=sys.stderr)
        return 2 if isinstance(error, LookupError) else 1
    return 0
