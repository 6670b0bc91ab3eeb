"""Chapter 00b, the toolbox: five small predictions, one on each page.

A staircase here is a row of (from, to, cost), planks that lead from one floor to a higher one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tokenlab.course.model import Chapter, Concept, Misconception, Question

HEX_DIGITS = "0123456789abcdef"

# Hex.


def _digits(text: str) -> tuple[int, int]:
    return HEX_DIGITS.index(text[0]), HEX_DIGITS.index(text[1])


HEX = Question(
    id="00b-hex",
    kind="number",
    prompt="Which decimal number is the hex byte {input}?",
    pool=("c5", "a7", "d9"),
    right=lambda text: int(text, 16),
    misconceptions=(
        Misconception(
            "tens",
            "count the first digit in tens: in hex it counts in sixteens",
            lambda text: _digits(text)[0] * 10 + _digits(text)[1],
        ),
        Misconception(
            "swapped",
            "count the second digit in sixteens, and the first in ones",
            lambda text: int(text[::-1], 16),
        ),
        Misconception(
            "digit-sum",
            "add the two digits: the first one counts in sixteens",
            lambda text: sum(_digits(text)),
        ),
    ),
    why=lambda text: (
        f"`{text[0]}` is {_digits(text)[0]} and counts in sixteens; `{text[1]}` counts in ones: {_digits(text)[0]} · 16 + {_digits(text)[1]} = {int(text, 16)}."
    ),
    consequence=lambda text, number: (
        f"In hex your number is `{int(number):02x}`."
        if number == int(number) and number >= 0
        else "A byte is a whole number."
    ),
    hints=(
        "What is the letter worth? And how much is each unit of the first digit worth?",
        "A smaller case: `1f` is 1 · 16 + 15, which makes 31.",
        "Take the value of the first digit times 16, and add that of the second.",
    ),
    concepts=("hex digit",),
    cells=("hex-digits", "hex-by-hand"),
    recall=False,
)

# Counter.

Pair = tuple[str, str]


def _neighbours(asked: Pair) -> int:
    word, pair = asked
    return sum(word[i : i + 2] == pair for i in range(len(word)))


COUNTER = Question(
    id="00b-counter",
    kind="number",
    prompt="A Counter counts the neighbours in {input}?",
    pool=(("banana", "an"), ("ananas", "an"), ("momom", "mo")),
    right=_neighbours,
    misconceptions=(
        Misconception(
            "either-order",
            "count the pair in either order: a pair and its reverse are two keys",
            lambda asked: _neighbours(asked) + _neighbours((asked[0], asked[1][::-1])),
        ),
        Misconception(
            "first-letter",
            "count the first letter wherever it stands, also where another letter follows or none",
            lambda asked: asked[0].count(asked[1][0]),
        ),
        Misconception(
            "once", "count a key only once: a Counter counts each time that it is met", lambda asked: 1
        ),
    ),
    why=lambda asked: (
        "The neighbours, from left to right:\n\n    "
        + "  ".join(asked[0][i : i + 2] for i in range(len(asked[0]) - 1))
        + f"\n\n`{asked[1]}` stands there {_neighbours(asked)} times."
    ),
    consequence=lambda asked, number: (
        f"The word has {len(asked[0])} letters, and so {len(asked[0]) - 1} pairs of neighbours; you say that `{asked[1]}` is {number:g} of them."
    ),
    hints=(
        "What is one pair of neighbours? Write all of them down.",
        "A smaller case: `noon` has the neighbours no, oo and on; its Counter says 1 for each.",
        "Go through the word letter by letter, and make a mark where the first letter is followed by the second.",
    ),
    concepts=("Counter",),
    cells=("counter-letters", "counter-pairs"),
    show=lambda asked: f'"{asked[0]}". How often does it count the pair ("{asked[1][0]}", "{asked[1][1]}")',
    recall=False,
)

# Costs.


def _halvings(denominators: tuple[int, int]) -> tuple[int, int]:
    left, right = (int(math.log2(denominator)) for denominator in denominators)
    return left, right


def _bits(function: Callable[[int, int], int]) -> Callable[[tuple[int, int]], int]:
    return lambda denominators: function(*_halvings(denominators))


COST = Question(
    id="00b-cost",
    kind="number",
    prompt="One piece has the probability {input}. What do the two cost together, if each halving costs 1?",
    pool=((4, 8), (4, 16), (8, 16)),
    right=_bits(lambda left, right: left + right),
    misconceptions=(
        Misconception(
            "multiplies",
            "multiply the costs: it is the probabilities that are multiplied",
            _bits(lambda left, right: left * right),
        ),
        Misconception("no-halvings", "add the numbers below the line: count halvings instead", sum),
        Misconception("dearer-one", "take the higher cost of the two only", _bits(max)),
        Misconception(
            "gives-probability",
            "give the probability: the cost is how often 1 is halved to arrive there",
            lambda denominators: 1 / math.prod(denominators),
        ),
    ),
    why=lambda denominators: (
        f"1/{denominators[0]} is {_halvings(denominators)[0]} halvings and 1/{denominators[1]} is {_halvings(denominators)[1]}: together {sum(_halvings(denominators))}. "
        f"Multiplied, the probabilities are 1/{math.prod(denominators)}, which is just as many halvings."
    ),
    consequence=lambda denominators, cost: (
        f"A cost of {cost} means the probability 1/{2 ** int(cost)}."
        if 0 <= cost <= 40 and cost == int(cost)
        else "A cost counts halvings: here it is a small whole number."
    ),
    hints=(
        "How many halvings lead from 1 to each of the two probabilities?",
        "A smaller case: 1/2 costs 1, and two pieces of 1/2 cost 2; multiplied they are 1/4.",
        "Count the halvings of the first, count those of the second, and add.",
    ),
    concepts=("cost",),
    cells=("cost-table", "cost-rule"),
    show=lambda denominators: f"1/{denominators[0]}, the next one 1/{denominators[1]}",
    recall=False,
)

# The staircase.

Planks = tuple[tuple[int, int, int], ...]
PLACES = ((0, 1), (0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4))


def _planks(*costs: int) -> Planks:
    return tuple((start, end, cost) for (start, end), cost in zip(PLACES, costs, strict=True))


def cheapest(planks: Planks) -> int:
    """Return the cost of the cheapest way to the top.

    >>> cheapest(((0, 1, 2), (0, 2, 5), (1, 2, 2)))
    4
    """
    best = {0: 0}
    for floor in range(1, 1 + max(end for _, end, _ in planks)):
        best[floor] = min(best[start] + cost for start, end, cost in planks if end == floor)
    return max(best.items())[1]


def _climb(choose: Callable[[tuple[int, int, int]], int]) -> Callable[[Planks], int]:
    """Go up, each time on the plank that looks best from where one stands."""

    def run(planks: Planks) -> int:
        floor = total = 0
        while here := [plank for plank in planks if plank[0] == floor]:
            _, floor, cost = min(here, key=choose)
            total += cost
        return total

    return run


def _staircase(planks: Planks) -> str:
    return ", ".join(f"{start}-{end} costs {cost}" for start, end, cost in planks)


def _stairs_why(planks: Planks) -> str:
    lines, best = [], {0: 0}
    for floor in range(1, 5):
        ways = [(best[start] + cost, start) for start, end, cost in planks if end == floor]
        best[floor] = min(ways)[0]
        sums = " or ".join(f"{best[start]} + {total - best[start]} from {start}" for total, start in ways)
        lines.append(f"    floor {floor}: {sums}; cheapest {best[floor]}")
    return "Floor by floor:\n\n" + "\n".join(lines)


STAIRS = Question(
    id="00b-staircase",
    kind="number",
    prompt="These planks lead up: {input}. What does the cheapest way from 0 to 4 cost?",
    pool=(_planks(1, 5, 5, 6, 5, 4, 1), _planks(1, 8, 8, 9, 8, 7, 1), _planks(1, 7, 7, 9, 8, 7, 3)),
    right=cheapest,
    misconceptions=(
        Misconception(
            "cheapest-next",
            "take the cheapest plank each time: it may lead to an expensive place",
            _climb(lambda plank: plank[2]),
        ),
        Misconception(
            "longest-steps",
            "take the longest plank each time: few steps need not be cheap",
            _climb(lambda plank: -plank[1]),
        ),
        Misconception(
            "every-floor",
            "stop on every floor: a plank that passes one by may cost less",
            _climb(lambda plank: plank[1]),
        ),
    ),
    why=_stairs_why,
    consequence=lambda planks, cost: (
        "For so little nobody gets to the top."
        if cost < cheapest(planks)
        else "There is a way that costs less."
    ),
    hints=(
        "What does the cheapest way to floor 1 cost? And to floor 2?",
        "A smaller case: 0-1 costs 2, 0-2 costs 5, 1-2 costs 2. Floor 2 costs 5 at once, or 2 + 2 by way of floor 1: that is cheaper.",
        "Go up floor by floor. For each, write down the cheapest sum over the planks that end there.",
    ),
    concepts=("cheapest staircase",),
    cells=("staircase-by-hand", "staircase-rule"),
    show=_staircase,
    recall=False,
)

# Byte order.

ORDER = Question(
    id="00b-byte-order",
    kind="number",
    prompt="A file holds the two bytes {input}, a little-endian whole number. Which number is it?",
    pool=(b"\x10\x02", b"\x20\x03", b"\x15\x04"),
    right=lambda data: int.from_bytes(data, "little"),
    misconceptions=(
        Misconception(
            "big-endian",
            "let the first byte count in 256s: that is big-endian",
            lambda data: int.from_bytes(data, "big"),
        ),
        Misconception("byte-sum", "add the bytes: the second one counts in 256s", sum),
        Misconception(
            "read-as-decimal",
            "read the hex digits as a decimal number",
            lambda data: int(data.hex()),
        ),
        Misconception(
            "bytes-as-decimal",
            "read each byte as if it stood there in decimal",
            lambda data: int(data.hex()[:2]) + 256 * int(data.hex()[2:]),
        ),
    ),
    why=lambda data: (
        f"The first byte counts in ones, the second in 256s: {data[0]} + {data[1]} · 256 = {int.from_bytes(data, 'little')}."
    ),
    consequence=lambda data, number: (
        f"Written little-endian, your number is `{int(number).to_bytes(2, 'little').hex(' ')}`."
        if number == int(number) and 0 <= number < 65536
        else "Two bytes hold whole numbers from 0 to 65535."
    ),
    hints=(
        "Which of the two bytes is the little end, the one that counts in ones?",
        "A smaller case: `03 01` is 3 + 1 · 256, which makes 259.",
        "Turn both bytes into decimal, and take the second one times 256.",
    ),
    concepts=("byte order",),
    cells=("pack", "pack-rule"),
    recall=False,
)

CHAPTER = Chapter(
    notebook="00b_toolbox",
    title="Toolbox",
    question="What do I need to know?",
    objectives=(
        "How do I read bytes in hex?",
        "How do I count with Counter, and find the cheapest of many ways?",
        "How does a number lie in a file?",
    ),
    concepts=(
        Concept(
            "hex digit",
            "hex-digits",
            "One of sixteen signs, 0 to 9 and a to f; the first of two counts in sixteens.",
        ),
        Concept("Counter", "counter-intro", "Python's dictionary that counts; what it never met counts 0."),
        Concept(
            "cost",
            "cost-rule",
            "How many halvings lead to a probability; costs are added, probabilities multiplied.",
        ),
        Concept(
            "cheapest staircase",
            "staircase-rule",
            "Dynamic programming: the cheapest way to each floor is kept, and the next floor is built on that.",
        ),
        Concept(
            "byte order",
            "pack-rule",
            "Which byte of a number comes first; little-endian begins with the ones.",
        ),
    ),
    questions=(HEX, COUNTER, COST, STAIRS, ORDER),
    exercises=(),
    minutes={"each page": 5},
    discussion=("Which of these tools did you know under another name?",),
    likeliest="cheapest-next",
    paper=("c5",),
)
