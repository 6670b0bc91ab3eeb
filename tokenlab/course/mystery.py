"""Mystery boxes: tokenizers without a name, to be told apart by what they do (chapters 02 to 05).

All boxes share the pieces below. They differ in the algorithm that chooses among them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import product

from tokenlab.bpe.merging import merge_reference
from tokenlab.course.feedback import Message
from tokenlab.unigram.viterbi import Unigram

MERGES = (("b", "c"), ("a", "b"), ("c", "d"), ("bc", "a"))  # by rank
COSTS = {"a": 3, "b": 3, "c": 3, "d": 3, "bc": 4, "ab": 5, "cd": 2, "bca": 8}
PIECES = tuple(COSTS)
LONGEST = 200  # letters of a probe


def _merged(text: str, order: tuple[tuple[str, str], ...]) -> list[str]:
    number = {piece: at for at, piece in enumerate(PIECES)}
    rules = {(number[a], number[b]): (rank, number[a + b]) for rank, (a, b) in enumerate(order)}
    return [PIECES[i] for i in merge_reference([number[letter] for letter in text], rules)]


def by_rank(text: str) -> list[str]:
    """Byte-pair encoding: the merge of the lowest rank first."""
    return _merged(text, MERGES)


def highest_rank(text: str) -> list[str]:
    """Byte-pair encoding with its ranks upside down: the highest first."""
    return _merged(text, MERGES[::-1])


def longest_first(text: str) -> list[str]:
    """From left to right, the longest piece that fits, as WordPiece does."""
    pieces = []
    while text:
        pieces.append(max((p for p in PIECES if text.startswith(p)), key=len))
        text = text[len(pieces[-1]) :]
    return pieces


def longest_last(text: str) -> list[str]:
    """From right to left, the longest piece that fits."""
    pieces: list[str] = []
    while text:
        pieces.insert(0, max((p for p in PIECES if text.endswith(p)), key=len))
        text = text[: -len(pieces[0])]
    return pieces


def cheapest(text: str) -> list[str]:
    """Unigram: the pieces whose costs, which you are not told, have the smallest sum."""
    return Unigram.from_costs(COSTS).segment(text)


def letters(text: str) -> list[str]:
    """One piece for each letter."""
    return list(text)


_ALGORITHMS = (by_rank, highest_rank, longest_first, longest_last, cheapest, letters)
CANDIDATES = {algorithm.__name__.replace("_", " "): algorithm for algorithm in _ALGORITHMS}


@dataclass(slots=True)
class Mystery:
    """A tokenizer without a name. Call it with a text; `guess` when only one candidate is left."""

    number: int
    _name: str = field(repr=False)
    _left: list[str] = field(repr=False, default_factory=lambda: list(CANDIDATES))
    _probes: int = 0

    def __call__(self, text: str) -> list[str]:
        """Return the pieces of a text over the letters a to d, and count it as a probe.

        ValueError where other letters are in it, or too many.
        """
        if not isinstance(text, str) or not set(text) <= set("abcd") or len(text) > LONGEST:
            raise ValueError(f"a probe is a text of the letters a, b, c and d, at most {LONGEST} of them")
        self._probes += 1
        pieces = CANDIDATES[self._name](text)
        self._left = [name for name in self._left if CANDIDATES[name](text) == pieces]
        return pieces

    def guess(self, name: str) -> Message:
        """Say whether this is the algorithm, and whether the probes so far had shown it."""
        if name not in list(CANDIDATES):
            return Message(f"I know these algorithms: {', '.join(CANDIDATES)}.", "unreadable")
        if name not in self._left:
            return Message(f"Not quite. {name} would have cut one of your probes in another way.", "wrong")
        if len(self._left) > 1:
            seen = f"Not yet. {len(self._left)} algorithms fit all that you have seen, so this is a guess."
            return Message(f"{seen} Find a text on which they differ.")
        probes = f"Probes used: {self._probes}; enough: {fewest_probes(name)}."
        return Message(f"Right. Mystery {self.number} is `{name}`, and nothing else fits. {probes}", "right")

    def __repr__(self) -> str:
        names = "\n".join(f"    {name}: {(f.__doc__ or '').strip()}" for name, f in CANDIDATES.items())
        said = f"Mystery {self.number}. Probes so far: {self._probes}. Its pieces: {' '.join(PIECES)}."
        return f"{said} It is one of\n{names}"


@cache
def fewest_probes(name: str) -> int:
    """Return how many probes of up to five letters set a candidate apart from all others: 1 or 2."""
    texts = ("".join(t) for n in range(1, 6) for t in product("abcd", repeat=n))
    others = [f for other, f in CANDIDATES.items() if other != name]
    return 1 if any(all(f(t) != CANDIDATES[name](t) for f in others) for t in texts) else 2


def mystery(number: int) -> Mystery:
    """Return a box to probe: `box = mystery(3)`, `box("abcd")`, and at last `box.guess("by rank")`.

    Args:
        number: any whole number; the same one always gives the same box.

    Raises:
        ValueError: it is no whole number.

    >>> mystery(3)("dd")
    ['d', 'd']
    """
    if not isinstance(number, int):
        raise ValueError("a box has a whole number: mystery(3)")
    names = list(CANDIDATES)
    return Mystery(number, names[(5 * number + 2) % len(names)])
