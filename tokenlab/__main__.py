"""`python -m tokenlab COMMAND …`: parses words, calls the library, prints."""

from __future__ import annotations

import importlib
import sys

# command -> (module whose main(argv) runs it, what it does)
COMMANDS = {
    "course": ("tokenlab.course.cli", "the key, the notebooks run again, the learner's copies"),
}


def usage() -> str:
    """List the commands, one a line."""
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {what}" for name, (_, what) in COMMANDS.items()]
    return "\n".join(["python -m tokenlab COMMAND …", "", *lines, "", "COMMAND --help says more."])


def main(argv: list[str]) -> int:
    """Hand the words to a command; return its exit code (2 where there is no such command)."""
    if argv[:1] in (["-h"], ["--help"]):
        print(usage())
        return 0
    if not argv or argv[0] not in COMMANDS:
        found = f"found {argv[0]!r}" if argv else "found none"
        print(f"tokenlab: expected a command ({', '.join(COMMANDS)}), {found}", file=sys.stderr)
        return 2
    return int(importlib.import_module(COMMANDS[argv[0]][0]).main(argv[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
