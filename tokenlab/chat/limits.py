"""What a chat template may use up: length, steps, memory, time.

Chapter 08. Templates come from strangers, and one line of Jinja can ask for a gigabyte; the `.mtok` document
shows them travelling inside model files. Every text, list and step of a rendering is counted against one
`Budget`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import ItemsView, KeysView, ValuesView
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain
from types import MethodType
from typing import Any

from tokenlab.errors import TemplateLimitError

ITEM_SIZE = 8  # what one place in a list costs
CONTAINERS = (dict, list, tuple, KeysView, ValuesView, ItemsView)
OBJECT_OVERHEAD = 50  # what a text costs beside its characters: many small texts are not small


@dataclass(frozen=True, slots=True)
class TemplateLimits:
    """How far one rendering may go; raise a limit with `TemplateLimits(max_length=…)`.

    Args:
        max_length: code points in one text, rendered or intermediate; also the weight of one list or mapping
            (8 for each item, and its texts).
        max_steps: loop iterations, calls, filters and operators.
        max_produced: code points and list items made in all, which bounds memory.
        max_bits: size of one integer.
        max_seconds: wall-clock time.
        max_source: code points of one template, which bounds the time of compiling it.

    >>> TemplateLimits(max_steps=10).max_steps
    10
    """

    max_length: int = 8_000_000
    max_steps: int = 1_000_000
    max_produced: int = 100_000_000
    max_bits: int = 10_000
    max_seconds: float = 10.0
    max_source: int = 250_000


class Budget:
    """The counters of one rendering.

    >>> budget = Budget(TemplateLimits(max_length=10))
    >>> budget.spend(4)
    4
    >>> budget.spend(40)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    tokenlab.errors.TemplateLimitError: ... more than max_length=10
    """

    __slots__ = ("_weights", "limits", "produced", "started", "steps")

    def __init__(self, limits: TemplateLimits) -> None:
        self.limits = limits
        self.steps = 0
        self.produced = 0
        self.started = time.monotonic()
        # By identity; holding the value keeps its identity its own.
        self._weights: dict[int, tuple[Any, int]] = {}

    def within(self, limit: str, amount: float) -> None:
        """Refuse more than one of the limits allows."""
        if amount > (allowed := getattr(self.limits, limit)):
            raise TemplateLimitError(limit=limit, allowed=allowed)

    def step(self) -> None:
        """Count one step, and look at the clock."""
        self.steps += 1
        self.within("max_steps", self.steps)
        self.within("max_seconds", time.monotonic() - self.started)

    def afford(self, length: int) -> None:
        """Refuse a text or list of `length` before it is made."""
        self.within("max_length", length)

    def spend(self, length: int) -> int:
        """Count a text or list of `length`, and return that length."""
        self.afford(length)
        self.produced += length + OBJECT_OVERHEAD
        self.within("max_produced", self.produced)
        self.within("max_seconds", time.monotonic() - self.started)
        return length

    def weigh(self, value: Any) -> int:
        """Return the size of a value written out as a tree, counting what it holds twice twice.

        A list that holds one list twice, which holds another twice, and so on, takes no memory but doubles
        with each level as soon as it is printed, compared or sorted; so every list that a template makes is
        weighed. A template changes no list, so each is weighed once.
        """
        if isinstance(value, MethodType):  # printed, it shows the text whose method it is
            value = value.__self__
        if isinstance(value, str):
            return ITEM_SIZE + len(value)
        if not isinstance(value, CONTAINERS):
            return ITEM_SIZE
        if (known := self._weights.get(id(value))) and known[0] is value:
            return known[1]
        held = chain(value, value.values()) if isinstance(value, dict) else value
        weight = ITEM_SIZE + sum(map(self.weigh, held))
        self.afford(weight)
        self.spend(ITEM_SIZE * len(value))
        self._weights[id(value)] = value, weight
        return weight


current_budget: ContextVar[Budget] = ContextVar("current_budget")
NO_LIMITS = TemplateLimits(*[sys.maxsize] * 6)


def budget() -> Budget:
    """Return the budget of the rendering under way; outside of one there is nothing to bound."""
    return current_budget.get(None) or Budget(NO_LIMITS)
