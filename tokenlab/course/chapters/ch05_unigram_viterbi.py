"""Chapter 05, Unigram and Viterbi: its questions, and the shortcuts that miss the cheapest path.

A way to cut a text is a tuple of pieces; what it costs is the sum of their costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count, product
from math import log, prod

from tokenlab.course.model import Chapter, Concept, Exercise, Misconception, Question
from tokenlab.unigram.viterbi import Unigram

Pieces = tuple[str, ...]
Costs = Mapping[str, float]

CITY = {"北": 3, "北京": 1, "大学": 1, "大": 2, "学": 2}
NEWEST = {"n": 1, "e": 1, "w": 1, "s": 1, "t": 2, "new": 5, "newe": 4, "est": 3, "wes": 6, "west": 5}
TONE = {"t": 2, "o": 2, "n": 2, "e": 2, "to": 3, "on": 1, "ne": 3, "ton": 7, "one": 4}
HUM = {"h": 1, "m": 1, "mm": 2}
THREAD = {"e": 1, " ": 1, "а": 1, "e ": 1, " e": 1, " а": 1}
PROBABILITIES = {"t": 0.2, "o": 0.3, "n": 0.2, "to": 0.02, "on": 0.04, "no": 0.09}
UNKNOWN_COST = 20


def cuts(text: str, costs: Costs) -> list[Pieces]:
    """List every way to cut a short text into pieces that have a cost."""
    if not text:
        return [()]
    ends = [end for end in range(1, len(text) + 1) if text[:end] in costs]
    return [(text[:end], *rest) for end in ends for rest in cuts(text[end:], costs)]


def total(pieces: Pieces, costs: Costs) -> float:
    return sum(costs[piece] for piece in pieces)


def cheapest(text: str, costs: Costs) -> Pieces:
    """Cut as the library does."""
    return tuple(Unigram.from_costs(costs, UNKNOWN_COST).segment(text))


# The shortcuts.


def greedy(text: str, costs: Costs) -> Pieces:
    pieces: Pieces = ()
    while text:
        end = next(end for end in range(len(text), 0, -1) if text[:end] in costs)
        pieces, text = (*pieces, text[:end]), text[end:]
    return pieces


def backward_greedy(text: str, costs: Costs) -> Pieces:
    pieces: Pieces = ()
    while text:
        start = next(start for start in range(len(text)) if text[start:] in costs)
        pieces, text = (text[start:], *pieces), text[:start]
    return pieces


def fewest(text: str, costs: Costs) -> Pieces:
    return min(cuts(text, costs), key=len)


def smallest_product(text: str, costs: Costs) -> Pieces:
    return min(cuts(text, costs), key=lambda pieces: prod(costs[piece] for piece in pieces))


def dearest(text: str, costs: Costs) -> Pieces:
    return max(cuts(text, costs), key=lambda pieces: total(pieces, costs))


def _with(algorithm: Callable[[str, Costs], Pieces], costs: Costs | None = None) -> Callable[[str], Pieces]:
    return lambda text: algorithm(text, WORDS if costs is None else costs)


# The two price lists share no piece, so one mapping serves both questions.
WORDS = CITY | NEWEST

GREEDY = Misconception("greedy", "take the longest piece that fits, from the left", _with(greedy))
BACKWARD = Misconception(
    "backward-greedy", "take the longest piece that fits, from the right", _with(backward_greedy)
)
FEWEST = Misconception("fewest-pieces", "take the way with the fewest pieces", _with(fewest))
PRODUCT = Misconception(
    "multiplies-costs", "multiply the costs along a way, where they have to be added", _with(smallest_product)
)
MAXIMISE = Misconception("maximises", "take the highest sum, as if a cost were a score", _with(dearest))


# What is said about an answer.


def _spell(pieces: Sequence[str]) -> str:
    return " | ".join(pieces)


def _number(value: float) -> str:
    return f"{value:g}"


def staircase(text: str, costs: Costs, unknown: bool = False) -> str:
    """Write the dynamic programme of a text place by place; edges of unknown characters only if asked for."""
    lines = ["    place 0: 0"]
    for cell in Unigram.from_costs(costs, UNKNOWN_COST).table(text)[1:]:
        ways = ", ".join(
            f"{edge.piece} from {edge.start}: {_number(-through + edge.log_probability)} + "
            f"{_number(-edge.log_probability)} = {_number(-through)}"
            for edge, through in cell.candidates
            if edge.known or unknown
        )
        best = cell.best.piece if cell.best else "nothing"
        lines.append(f"    place {cell.position}: {ways}; {best} stays")
    return "\n".join(lines)


def _why_pieces(costs: Costs) -> Callable[[str], str]:
    def why(text: str) -> str:
        pieces = cheapest(text, costs)
        return (
            f"Place by place, with every piece that ends there:\n\n{staircase(text, costs)}\n\n"
            f"Walked back from the end, what stayed is `{_spell(pieces)}`, cost {_number(total(pieces, costs))}."
        )

    return why


def _what_it_costs(costs: Costs) -> Callable[[str, Pieces], str]:
    def consequence(text: str, pieces: Pieces) -> str:
        unknown = [piece for piece in pieces if piece not in costs]
        if unknown:
            return f"`{unknown[0][:40]}` is no piece of this list, so it has no cost."
        if (joined := "".join(pieces)) != text:
            return f"Your pieces joined give `{joined[:80]}`; the text is `{text}`."
        spent, least = total(pieces, costs), total(cheapest(text, costs), costs)
        if spent > least:
            return f"Your way costs {_number(spent)}. It reaches the end, but a way that costs {_number(spent - least)} less does so too."
        return f"Your way costs {_number(spent)}, and no way costs less. But another way costs the same, and the rule for ties keeps that one."

    return consequence


# The questions.

BEIJING = Question(
    id="05-beijing",
    kind="text pieces",
    prompt="Which pieces does the cheapest way make of {input}?",
    pool=("北京大学", "大学北京", "大学大学"),
    right=_with(cheapest, CITY),
    misconceptions=(MAXIMISE,),
    why=_why_pieces(CITY),
    consequence=_what_it_costs(CITY),
    hints=(
        "Which pieces can begin the text? Which of them can be followed by another piece?",
        "A smaller case: 大学 alone can be one piece or two. Add up what each of the two ways costs.",
        "Write down every way to cover the whole text, add the costs of each, and take the lowest sum.",
    ),
    concepts=("cost", "path"),
    cells=("city-costs", "two-ways"),
    recall=False,
)


def paths(text: str) -> int:
    return Unigram.from_costs(THREAD).count_segmentations(text)


PATHS = Question(
    id="05-paths",
    kind="number",
    prompt="How many paths does the lattice of {input} have?",
    pool=("e e а", "e а e", " e а", "e e e"),
    right=paths,
    misconceptions=(
        Misconception(
            "edges",
            "count the pieces that can stand somewhere, not the ways through them",
            lambda text: len(Unigram.from_costs(THREAD).lattice(text).edges),
        ),
        Misconception(
            "every-cut",
            "let every place be a border or not, although most such pieces are in no list",
            lambda text: 2 ** (len(text) - 1),
        ),
    ),
    why=lambda text: (
        "Going from place to place, the ways to arrive are the sum of the ways to the places where an edge begins: "
        + ", ".join(str(1 if not end else paths(text[:end])) for end in range(len(text) + 1))
        + ". The last number counts them all."
    ),
    consequence=lambda text, answer: (
        "The number of paths is a whole number, at least one: the single characters are all pieces."
        if answer < 1 or answer != int(answer)
        else "To test a number, write the paths down for the first two characters, then for the first three."
    ),
    hints=(
        "Into how many ways can you cut the first two characters? And the first three?",
        "A smaller case: with the pieces x, y and xy, the text xy has two paths, and xyxy has two times two.",
        "The ways to a place: add up the ways to each place from which one piece leads here.",
    ),
    concepts=("lattice", "path"),
    cells=("paths-by-adding", "thread-pieces"),
    recall=False,
    shown_in=("00:ask-bytes",),  # the 8 of UTF-8, there
)


def cost_to_the_end(text: str) -> float:
    return total(cheapest(text, TONE), TONE)


def _last_pieces(text: str) -> list[str]:
    return [text[start:] for start in range(len(text)) if text[start:] in TONE]


def _cheapest_last(text: str) -> float:
    last = min(_last_pieces(text), key=lambda piece: TONE[piece])
    return TONE[last] + cost_to_the_end(text[: -len(last)])


CELL = Question(
    id="05-cell",
    kind="number",
    prompt="What is the cost of the cheapest way to the end of {input}?",
    pool=("tonne", "onne", "nonne"),
    right=cost_to_the_end,
    misconceptions=(
        Misconception(
            "forgets-the-way-here",
            "take the cost of the last piece alone, without the way to its start",
            lambda text: min(TONE[piece] for piece in _last_pieces(text)),
        ),
        Misconception(
            "cheapest-last-piece",
            "choose the cheapest last piece, and only then add the way to its start",
            _cheapest_last,
        ),
    ),
    why=lambda text: f"Place by place:\n\n{staircase(text, TONE)}",
    consequence=lambda text, answer: (
        "No way reaches the end for so little."
        if answer < cost_to_the_end(text)
        else "One can reach the end for less than that."
    ),
    hints=(
        "Which pieces end at the last place? Where does each of them begin?",
        "A smaller case: to reach the end of `ton`, compare ton alone, t and then on, and the way to `to` and then n.",
        "For each piece that ends here: the cost of the cheapest way to its start, plus its own. The lowest of these sums is the answer.",
    ),
    concepts=("dynamic programming",),
    cells=("tone-table", "one-sum-per-piece"),
    recall=False,
)

NEW = Question(
    id="05-newest",
    kind="text pieces",
    prompt="Which pieces does the cheapest way make of {input}?",
    pool=("newest", "newests", "snewest", "newestn"),
    right=_with(cheapest, NEWEST),
    misconceptions=(GREEDY, BACKWARD, FEWEST, PRODUCT, MAXIMISE),
    why=_why_pieces(NEWEST),
    consequence=_what_it_costs(NEWEST),
    hints=(
        "Which pieces end at each place? Make a table with one row for each place, as for `tone`.",
        "A smaller case: to reach the end of `new`, compare the piece new with n and then e and then w.",
        "At the last place compare t, est and west: for each, add the cost of the cheapest way to its start.",
    ),
    concepts=("dynamic programming", "path"),
    cells=("tone-table", "walk-back", "newest-costs"),
    recall=False,
    best=lambda text: [
        pieces
        for pieces in cuts(text, NEWEST)
        if total(pieces, NEWEST) == total(cheapest(text, NEWEST), NEWEST)
    ],
)


def _last_wins(text: str) -> Pieces:
    """Let a later candidate of equal cost replace an earlier one."""
    ways: list[tuple[float, Pieces]] = [(0, ())]
    for end in range(1, len(text) + 1):
        arriving = [
            (ways[start][0] + HUM[text[start:end]], (*ways[start][1], text[start:end]))
            for start in range(end)
            if text[start:end] in HUM
        ]
        ways.append(min(reversed(arriving), key=lambda way: way[0]))
    return ways[-1][1]


TIE = Question(
    id="05-tie",
    kind="text pieces",
    prompt="Which pieces does the library make of {input}?",
    pool=("hmmm", "mmm", "hhmmm"),
    right=_with(cheapest, HUM),
    misconceptions=(
        Misconception(
            "longest-first", "settle a tie from the left: the longest piece first", _with(greedy, HUM)
        ),
        Misconception("last-wins", "let the way whose last piece starts last replace the others", _last_wins),
    ),
    why=_why_pieces(HUM),
    consequence=_what_it_costs(HUM),
    hints=(
        "All ways cost the same here. Which piece stays at the last place?",
        "A smaller case: at the end of `mm`, the piece mm starts at 0, and the piece m starts at 1. Which one starts first?",
        "Begin at the end: the longest piece that ends there starts first. Then do the same at the place where it starts.",
    ),
    concepts=("tie",),
    cells=("tie-table", "tie-rule"),
    recall=False,
)


def price(text: str) -> float:
    return -Unigram.from_costs(CITY, UNKNOWN_COST).best(text).log_probability


UNKNOWN = Question(
    id="05-unknown",
    kind="number",
    prompt="What does the cheapest way through {input} cost?",
    pool=("北京人", "大学生", "人大学"),
    right=price,
    misconceptions=(
        Misconception(
            "dropped",
            "leave the unknown character out, for nothing",
            lambda text: price("".join(c for c in text if c not in "人生")),
        ),
        Misconception(
            "all-unknown",
            "make the whole text one unknown piece, as a table of words does",
            lambda text: UNKNOWN_COST,
        ),
        Misconception(
            "per-byte",
            "pay the price for each byte of the unknown character",
            lambda text: price(text) + 2 * UNKNOWN_COST,
        ),
    ),
    why=lambda text: f"Place by place:\n\n{staircase(text, CITY, unknown=True)}",
    consequence=lambda text, answer: (
        "For so little one cannot cross all the characters."
        if answer < price(text)
        else "One can cross all the characters for less."
    ),
    hints=(
        "Which of these characters is in no piece of the list? What about the others?",
        "A smaller case: the text 大人 costs 2 for 大, and for 人 the price of one unknown character.",
        "Add the cheapest way through the known characters and the price of one unknown character.",
    ),
    concepts=("unknown cost",),
    cells=("unknown-table", "unknown-rule"),
    recall=False,
)


def whole_share(text: str) -> float:
    model = Unigram({piece: log(p) for piece, p in PROBABILITIES.items()})
    return round(model.marginals(text)[0, len(text)], 6)


MARGINAL = Question(
    id="05-marginal",
    kind="number",
    prompt="What is the marginal of the piece that covers all of {input}?",
    pool=("to", "on", "no"),
    right=whole_share,
    misconceptions=(
        Misconception(
            "own-probability",
            "take the probability of the piece itself, without dividing by the total",
            lambda text: PROBABILITIES[text],
        ),
        Misconception("equal-shares", "give every path the same share", lambda text: 1 / paths_of(text)),
        Misconception(
            "best-path-only",
            "count the best path only: all or nothing",
            lambda text: float(whole_share(text) > 0.5),
        ),
    ),
    show=lambda text: f'"{text}" ({", ".join(f"{piece} {PROBABILITIES[piece]}" for piece in (*text, text))})',
    tolerance=0.001,
    why=lambda text: (
        "The path of two letters has the probability "
        f"{_number(PROBABILITIES[text[0]])} × {_number(PROBABILITIES[text[1]])} = "
        f"{_number(prod(PROBABILITIES[c] for c in text))}, the path of one piece {_number(PROBABILITIES[text])}. "
        f"Of their sum, the one piece has the share {_number(round(whole_share(text), 3))}."
    ),
    consequence=lambda text, answer: (
        "A marginal lies between zero and one."
        if not 0 <= answer <= 1
        else "The shares of all paths have to add up to one. Work out the share of the other path in the same way, and add."
    ),
    hints=(
        "How many paths are there? What is the probability of each?",
        "A smaller case: two paths with the probabilities 0.1 and 0.3 have the shares 1/4 and 3/4.",
        "Multiply along each path, add the results up, and divide the probability of the one piece by that sum.",
    ),
    concepts=("marginal",),
    cells=("shares-table", "shares-rule"),
)


def paths_of(text: str) -> int:
    return len(cuts(text, PROBABILITIES))


# The exercises.


def cheapest_cost(text: str, costs: Costs) -> float:
    """Return the cost of the cheapest way to cut `text`.

    >>> cheapest_cost("tone", TONE)
    5
    """
    best: list[float] = [0]
    for end in range(1, len(text) + 1):
        best.append(
            min(best[start] + costs[text[start:end]] for start in range(end) if text[start:end] in costs)
        )
    return best[-1]


def _wrong_greedy(text: str, costs: Costs) -> float:
    """Takes the longest piece from the left."""
    return total(greedy(text, costs), costs)


def _wrong_backward(text: str, costs: Costs) -> float:
    """Takes the longest piece from the right."""
    return total(backward_greedy(text, costs), costs)


def _wrong_fewest(text: str, costs: Costs) -> float:
    """Takes the fewest pieces."""
    return total(fewest(text, costs), costs)


def _wrong_product(text: str, costs: Costs) -> float:
    """Multiplies the costs."""
    return prod(costs[piece] for piece in smallest_product(text, costs))


def _wrong_dearest(text: str, costs: Costs) -> float:
    """Takes the highest sum."""
    return total(dearest(text, costs), costs)


def _wrong_letters(text: str, costs: Costs) -> float:
    """Uses single letters only."""
    return total(tuple(text), costs)


EXERCISE_COSTS = {"a": 2, "b": 2, "c": 3, "ab": 3, "bc": 1, "abc": 6, "ca": 4, "cab": 4}

WRITE = Exercise(
    id="05-cheapest",
    prompt="Write the dynamic programme: a text and its costs give the cost of the cheapest way.",
    call="cheapest_cost(text, costs)",
    reference=cheapest_cost,
    alphabet=tuple("abc"),
    arguments=lambda symbols: ("".join(symbols), EXERCISE_COSTS),
    wrong=(
        _wrong_greedy,
        _wrong_backward,
        _wrong_fewest,
        _wrong_product,
        _wrong_dearest,
        _wrong_letters,
    ),
    hints=(
        "What does it cost to reach place 0? Keep a list that begins with that.",
        "For `ab` the list has three numbers: for place 0, for the place after a, and for the end.",
        "For each end, look at every start before it: where `text[start:end]` has a cost, add it to what the list says for the start. Append the lowest.",
    ),
    concepts=("dynamic programming",),
    cells=("tone-table", "one-sum-per-piece"),
    cases=400,
)

# Every long piece costs less than its letters, so each of them looks like a bargain.
BARGAINS = {"a": 2, "b": 2, "c": 2, "ab": 3, "bc": 1, "ca": 3}


def both_fail(_: object, text: str) -> bool:
    if not text or len(text) > 200 or set(text) - set("abc"):
        return False
    least = cheapest_cost(text, BARGAINS)
    return all(total(way(text, BARGAINS), BARGAINS) > least for way in (greedy, backward_greedy))


def shortest_failure(_: object) -> str:
    texts = ("".join(letters) for length in count(1) for letters in product("abc", repeat=length))
    return next(text for text in texts if both_fail(None, text))


def _bargain_consequence(_: object, text: str) -> str:
    if not text or len(text) > 200 or set(text) - set("abc"):
        return "Only the letters a, b and c have a price here, and the text has to have at least one of them."
    said = " and ".join(
        f"{_number(total(way(text, BARGAINS), BARGAINS))} {name}"
        for name, way in (("from the left", greedy), ("from the right", backward_greedy))
    )
    return f"On `{text[:60]}` the longest pieces cost {said}; the cheapest way costs {_number(cheapest_cost(text, BARGAINS))}."


BREAK = Question(
    id="05-break-greedy",
    kind="text",
    prompt="Find a text on which the longest piece first fails from both sides, with {input}.",
    pool=("a 2, b 2, c 2, ab 3, bc 1, ca 3",),
    show=str,
    right=shortest_failure,
    accepts=both_fail,
    misconceptions=(
        Misconception(
            "one-side",
            "look at one direction only: from the other side this text comes out right",
            lambda _: "abc",
        ),
    ),
    why=lambda _: (
        f"On `{shortest_failure(None)}`, one of the shortest such texts, the cheap piece bc lies across two borders: "
        "from the left ab takes its b, from the right ca takes its c. "
        "The table of places never decides so early."
    ),
    consequence=_bargain_consequence,
    hints=(
        "Which piece is the real bargain here? Which other piece takes its first letter, from the left?",
        "From the left, abc goes wrong. What does the other direction make of it?",
        "The text needs bc in its middle, with a letter on each side that makes a piece with b, or with c.",
    ),
    concepts=("dynamic programming", "path"),
    cells=("walk-back", "every-shortcut"),
    recall=False,
)

CHAPTER = Chapter(
    notebook="05_unigram_viterbi",
    title="Unigram and Viterbi",
    question="Which segmentation is the most probable?",
    objectives=(
        "How do you find the cheapest way to cut a text without listing every way?",
        "Why do the longest piece, the fewest pieces and other shortcuts go wrong?",
        "What is the difference between a cost, a probability and a log-probability?",
        "What happens to a character that is in no piece?",
    ),
    concepts=(
        Concept(
            "cost", "city-costs", "The price of a piece: low for a common one. Costs of a path are added."
        ),
        Concept("path", "two-ways", "One way to cover the whole text with pieces, from place 0 to the end."),
        Concept(
            "lattice",
            "lattice-names",
            "All pieces that can stand anywhere in a text, as edges between places.",
        ),
        Concept(
            "dynamic programming",
            "one-sum-per-piece",
            "Solve each place once, from the places before it, and keep only the cheapest way to it.",
        ),
        Concept("tie", "tie-rule", "Two ways of equal cost; the one whose last piece starts first stays."),
        Concept(
            "unknown cost", "unknown-rule", "The price of crossing one character that is no piece by itself."
        ),
        Concept("marginal", "shares-rule", "The summed share of all paths that use a piece at a place."),
    ),
    questions=(BEIJING, PATHS, CELL, NEW, TIE, UNKNOWN, MARGINAL),
    exercises=(WRITE, BREAK),
    minutes={"recall": 5, "predict in pairs": 20, "discuss": 10},
    discussion=(
        "A program takes the longest piece first, because it is fast. What would you test before you trust it?",
        "Why do two libraries with the same list of pieces need the same rule for ties?",
        "Sampling gives a model several ways to cut one word. When could that help, and when could it hurt?",
    ),
    likeliest="greedy",
    paper=("tone", "tonne", "newest"),
)
