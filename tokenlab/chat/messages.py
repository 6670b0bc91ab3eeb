"""What a template is given: a copy of the caller's messages, tools and documents, marked as data.

Chapter 08. Only plain JSON types reach a template, so that no object of the caller's program does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokenlab.chat.marked import DATA, TEMPLATE, MarkedText, mark
from tokenlab.errors import ChatInputError

#: Roles that the field defines. A caller picks one of them; anything else in a message is data.
ROLES = frozenset({"assistant", "developer", "function", "ipython", "model", "system", "tool", "user"})
#: Where a message may carry its reasoning; templates read the first or the second.
REASONING_FIELDS = ("reasoning_content", "thinking", "reasoning")
CONTINUE_TAG = "CONTINUE_FINAL_MESSAGE_TAG "  # the blank tells whether the template trims


def as_data(value: Any, where: str) -> Any:
    """A copy of what the caller gave, of plain JSON types, with each string marked as data."""
    try:
        return _copy(value, where)
    except RecursionError:  # a list that holds itself, perhaps
        expected, found = "lists and mappings less deep in one another", f"a {type(value).__name__}"
        raise ChatInputError(where=where, expected=expected, found=found) from None


def _copy(value: Any, where: str) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return mark(value, DATA)
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, Mapping):
        return {_copy(key, where): _copy(item, f"{where}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_copy(item, f"{where}[{i}]") for i, item in enumerate(value)]
        return tuple(items) if isinstance(value, tuple) else items
    expected = "text, a number, a list or a mapping"
    raise ChatInputError(where=where, expected=expected, found=type(value).__name__)


def as_mappings(items: Any, where: str) -> list[dict[str, Any]]:
    """A copy of a list of mappings, as messages, tools and documents are."""
    if not isinstance(items, Sequence) or isinstance(items, (str, bytes)):
        raise ChatInputError(where=where, expected="a list of mappings", found=type(items).__name__)
    for i, item in enumerate(items):
        if not isinstance(item, Mapping):
            found = type(item).__name__ + " (a function: give its JSON schema)" * callable(item)
            raise ChatInputError(where=f"{where}[{i}]", expected="a mapping", found=found)
    return list(as_data(list(items), where))


def as_messages(messages: Any) -> list[dict[str, Any]]:
    """A copy of the messages, with reasoning under each name that templates read it by."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    chat = as_mappings(messages, "messages")
    for i, message in enumerate(chat):
        if message.get("role") in ROLES:
            message["role"] = mark(message["role"], TEMPLATE)
        reasoning = next((message[key] for key in REASONING_FIELDS if message.get(key) is not None), None)
        if reasoning is not None:
            chat[i] = {"thinking": reasoning, **message, "reasoning_content": reasoning}
    return chat


def tag_final_message(chat: list[dict[str, Any]], field: bool | str, source: str) -> str | None:
    """Put a tag after the text to continue, and return that text; None where nothing is continued."""
    if not field:
        return None
    name = field if isinstance(field, str) else "content"
    where = "continue_final_message"
    if not chat or chat[-1].get(name) is None:
        raise ChatInputError(where=where, expected=f"a last message with {name!r}", found="none")
    final = chat[-1][name]
    names = [n for n in REASONING_FIELDS if chat[-1].get(n) == final] if name in REASONING_FIELDS else [name]
    if not any(n in source for n in names):
        raise ChatInputError(where=where, expected=f"a template that reads {name!r}", found="none of it")
    tag = mark(CONTINUE_TAG, DATA)
    if isinstance(final, str):
        for n in names:
            chat[-1][n] = final + tag
        return final
    for part in reversed(final if isinstance(final, (list, tuple)) else []):
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            final = part["text"]
            part["text"] = final + tag
            return str(final)
    raise ChatInputError(where=where, expected="text in the last message", found="none")


def cut_at_tag(text: MarkedText, final: str) -> MarkedText:
    """Cut a rendered text behind the message to continue; where the template trimmed that, trim it here."""
    place = text.rfind(CONTINUE_TAG.strip())
    if place < 0 or final.strip() not in text:
        where, expected = "continue_final_message", "the last message in the rendered text"
        raise ChatInputError(where=where, expected=expected, found="none of it")
    cut = text[:place]
    return cut if text.startswith(CONTINUE_TAG, place) else cut.rstrip()
