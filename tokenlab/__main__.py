"""`python -m tokenlab COMMAND …`: hands the words to a command, and sees to the standard streams."""

from __future__ import annotations

import importlib
import os
import sys

# command -> (module whose main(argv) runs it, what it does)
COMMANDS = {
    "course": ("tokenlab.course.cli", "for teachers and authors: key, sheets, hand-outs, grading"),
    "inspect": ("tokenlab.commands", "say what is in a tokenizer file"),
    "convert": ("tokenlab.commands", "write a tokenizer in another format"),
    "encode": ("tokenlab.commands", "text to token IDs"),
    "decode": ("tokenlab.commands", "token IDs to text"),
    "train": ("tokenlab.commands", "train byte-level BPE on text files"),
    "trace": ("tokenlab.commands", "show every stage of encoding a text"),
    "check": ("tokenlab.commands", "try the validation list on a tokenizer; exit code 1 where a check fails"),
    "compare": (
        "tokenlab.commands",
        "encode the same texts with two tokenizers; exit code 1 where IDs differ",
    ),
}


def usage() -> str:
    """List the commands, one a line."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(["python -m tokenlab COMMAND …", "", *lines, "", "COMMAND --help says more."])


def main(argv: list[str]) -> int:
    """Run a command; return its exit code (1 where the reader has gone, 130 where somebody stopped it)."""
    _set_up_streams()
    try:
        code = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has had enough; nothing may be written to that pipe again, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    return code


def _set_up_streams() -> None:
    """Let text be UTF-8 on every platform, and a closed stream be like an empty one."""
    for name in ("stdin", "stdout", "stderr"):  # None where whoever started this has closed it
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: SIM115 - as long as the process
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def _run(argv: list[str]) -> int:
    """Hand the words to a command; return its exit code (2 where there is no such command)."""
    if argv[:1] in (["-h"], ["--help"]):
        print(usage())
        return 0
    if not argv:
        print(usage(), file=sys.stderr)
        return 2
    if argv[0] not in COMMANDS:
        print(f"tokenlab: expected a command ({', '.join(COMMANDS)}), found {argv[0]!r}", file=sys.stderr)
        return 2
    module = importlib.import_module(COMMANDS[argv[0]][0])
    return int(module.main(argv[1:] if argv[0] == "course" else argv))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
