"""Chat templates: a conversation goes in, the text that the model was trained on comes out.

Chapter 08, after the `.mtok` document (where templates are stored and what they use). The same conversation
gives the same text as in `transformers`.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenlab.chat.encoding import MarkedEncoder
from tokenlab.chat.limits import Budget, TemplateLimits, budget, current_budget
from tokenlab.chat.marked import TEMPLATE, MarkedText, joined, mark
from tokenlab.chat.messages import as_data, as_mappings, as_messages, cut_at_tag, tag_final_message
from tokenlab.chat.sandbox import ASSISTANT_PARTS, Sandbox, line_of
from tokenlab.errors import (
    ChatInputError,
    ChatTemplateError,
    DoubledBosWarning,
    TemplateLimitError,
    TokenLabError,
)

if TYPE_CHECKING:
    from tokenlab.pipeline.tokenizer import Tokenizer


Messages = str | Sequence[Mapping[str, Any]]


def now(form: str) -> str:
    """Return the local time in a `strftime` form."""
    return datetime.now().strftime(form)


class ChatTemplate:
    """A Jinja2 chat template, or several named ones, run in a sandbox and within limits.

    Args:
        source: one template, or named ones: {"default": …, "tool_use": …} or [{"name": …, "template": …}, …].
            "tool_use" is used where tools are given, "default" otherwise.
        bos_token, eos_token: control tokens that the template may write by name; None: undefined there.
        limits: how much one rendering may use up.
        strftime_now: the clock that templates ask for the date.

    Raises:
        ChatTemplateError: a template is not well formed.

    >>> template = ChatTemplate("{% for m in messages %}<|{{ m.role }}|>{{ m.content | trim }}{% endfor %}")
    >>> template.render([{"role": "user", "content": " hi "}])
    '<|user|>hi'
    >>> template.render("hi")
    '<|user|>hi'
    """

    def __init__(
        self,
        source: str | Mapping[str, str] | Sequence[Mapping[str, str]],
        *,
        bos_token: str | None = None,
        eos_token: str | None = None,
        limits: TemplateLimits | None = None,
        strftime_now: Callable[[str], str] = now,
    ) -> None:
        self.sources = _named_sources(source)
        self.bos_token = bos_token
        self.eos_token = eos_token
        self.limits = limits or TemplateLimits()
        sandbox = Sandbox(strftime_now)
        self._templates = {}
        for name, text in self.sources.items():
            with self._bounded():
                budget().afford(len(text))
                budget().within("max_source", len(text))
                self._templates[name] = sandbox.from_string(text)

    @classmethod
    def from_file(cls, path: str | Path, **options: Any) -> ChatTemplate:
        """Read the template that a file carries; what kind of file it is, its content says.

        Args:
            path: a tokenizer_config.json, an llm_config.json (`jinja.chat_template`), a tokenizer file that
                holds its template (`.mtok`), or a Jinja template.
            options: keyword arguments of `ChatTemplate`; they go before what the file says.

        Raises:
            ChatInputError: the file holds no template.
        """
        return cls(**{**_found_in(Path(path).read_bytes(), str(path)), **options})

    @classmethod
    def from_tokenizer(cls, tokenizer: Tokenizer, **options: Any) -> ChatTemplate:
        """Return the template that a tokenizer carries, with that tokenizer's BOS and EOS.

        Raises:
            ChatInputError: it carries none.
        """
        return cls(**{**_carried_by(tokenizer), **options})

    def render(
        self,
        messages: Messages,
        tools: Sequence[Mapping[str, Any]] | None = None,
        documents: Sequence[Mapping[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        **variables: Any,
    ) -> str:
        """Return the text of a conversation.

        Args:
            messages: mappings with "role" and "content" (a text, or a list of parts); a plain text stands for
                one message of the user.
            tools: JSON schemas of functions.
            documents: mappings with "title" and "text".
            add_generation_prompt: end where the assistant's next message begins.
            continue_final_message: end inside the last message; a text names the field to continue.
            variables: what else the template reads.

        Raises:
            ChatTemplateError: the template stopped, with its line.
            TemplateLimitError: it asked for too much.
            ChatInputError: it cannot be given these messages.
        """
        given = (tools, documents, add_generation_prompt, continue_final_message)
        return str.__str__(self._run(messages, *given, **variables)[0])

    def render_with_spans(
        self, messages: Messages, *given: Any, **options: Any
    ) -> tuple[str, list[tuple[int, int]]]:
        """Return the text of a conversation, and where the assistant's parts are in it.

        Arguments and errors are those of `render`. The spans are (start, end) in code points, one for each
        `{% generation %}` block in the order of the text. A template without such blocks has none: training
        on them would train on nothing.

        >>> source = "A:{% generation %}{{ messages[0].content }}{% endgeneration %}"
        >>> ChatTemplate(source).render_with_spans("hi")
        ('A:hi', [(2, 4)])
        """
        marked, spans = self._run(messages, *given, **options)
        if None in spans:
            reason = "a generation block inside a macro or a captured block has no place in the text"
            raise ChatTemplateError(line=None, reason=reason)
        return str.__str__(marked), [span for span in spans if span]

    def encode(
        self,
        tokenizer: Tokenizer,
        messages: Messages,
        *given: Any,
        add_special_tokens: bool = False,
        **options: Any,
    ) -> list[int]:
        """Return the IDs of a conversation, in which only the template can have written control tokens.

        Arguments and errors are those of `render`, and

        Args:
            tokenizer: its special added tokens are the control tokens; truncation and padding are left out.
            add_special_tokens: whether the post-processor inserts its own as well. Templates write
                BOS themselves, so this may double it (`DoubledBosWarning`).

        Raises:
            UntraceableTextError: the template computes a control token in untraceable ways.
            ControlTokenInTextError: the tokenizer's model makes a control token from ordinary characters.
        """
        marked, _ = self._run(messages, *given, **options)
        ids = MarkedEncoder(tokenizer).encode(marked, add_special_tokens)
        bos = tokenizer.vocabulary.get(self.bos_token or tokenizer.bos_token or "")
        if bos is not None and ids[:2] == [bos, bos]:
            warnings.warn(DoubledBosWarning(bos), stacklevel=2)
        return ids

    def _run(
        self,
        messages: Messages,
        tools: Any = None,
        documents: Any = None,
        add_generation_prompt: bool = False,
        continue_final_message: bool | str = False,
        **variables: Any,
    ) -> tuple[MarkedText, list[tuple[int, int] | None]]:
        """Return the marked text, and the span of each generation block (None: it has no place)."""
        if continue_final_message and add_generation_prompt:
            where, expected = "continue_final_message", "no add_generation_prompt beside it"
            raise ChatInputError(where=where, expected=expected, found="both")
        name = "tool_use" if tools is not None and "tool_use" in self._templates else "default"
        with self._bounded():
            chat = as_messages(messages)
            parts: list[MarkedText] = []
            given: dict[str, Any] = {
                "messages": chat,
                "tools": None if tools is None else as_mappings(tools, "tools"),
                "documents": None if documents is None else as_mappings(documents, "documents"),
                "add_generation_prompt": add_generation_prompt,
                **{key: as_data(value, key) for key, value in variables.items()},
                ASSISTANT_PARTS: parts,
            }
            tokens = {"bos_token": self.bos_token, "eos_token": self.eos_token}
            given = {name: mark(text, TEMPLATE) for name, text in tokens.items() if text is not None} | given
            final = tag_final_message(chat, continue_final_message, self.sources[name])
            chunks: list[str] = []
            length = 0
            for chunk in self._templates[name].generate(given):
                chunks.append(chunk)
                length += len(chunk)
                budget().afford(length)
            text = joined(chunks)
            if final is not None:
                text = cut_at_tag(text, final)
            starts = dict(zip(map(id, chunks), accumulate(map(len, chunks), initial=0), strict=False))
            places = [(starts.get(id(part)), len(part)) for part in parts]
            cut = len(text)
            spans = [None if at is None else (min(at, cut), min(at + size, cut)) for at, size in places]
            return text, spans

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        """Count what is done against a new budget; turn what a template raises into errors with its line."""
        token = current_budget.set(Budget(self.limits))
        try:
            yield
        except TemplateLimitError as error:
            raise TemplateLimitError(**{**error.facts, "line": line_of(error)}) from None
        except TokenLabError:
            raise
        except RecursionError as error:
            facts: dict[str, Any] = {"limit": "recursion depth", "allowed": sys.getrecursionlimit()}
            raise TemplateLimitError(**facts, line=line_of(error)) from None
        except Exception as error:  # a template can make Python raise anything
            raise ChatTemplateError(line=line_of(error), reason=f"{type(error).__name__}: {error}") from error
        finally:
            current_budget.reset(token)


def _named_sources(source: Any) -> dict[str, str]:
    if isinstance(source, str):
        return {"default": source}
    if isinstance(source, Sequence) and all(isinstance(item, Mapping) for item in source):
        source = {item.get("name"): item.get("template") for item in source}
    named: dict[Any, Any] = dict(source) if isinstance(source, Mapping) else {None: source}
    if not all(isinstance(text, str) for item in named.items() for text in item):
        expected = "a template, or templates by name"
        raise ChatInputError(where="source", expected=expected, found=repr(source)[:60])
    if "default" not in named:
        names = ", ".join(named) or "none"
        raise ChatInputError(where="source", expected="a template named 'default'", found=names)
    return named


def _found_in(data: bytes, where: str) -> dict[str, Any]:
    """The arguments of `ChatTemplate` that a file's bytes hold."""
    if data.startswith(b"430 "):
        from tokenlab.formats import Tokenizer

        return _carried_by(Tokenizer.from_bytes(data))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        reason = f"byte {error.start}: {error.reason}"
        raise ChatInputError(where=where, expected="UTF-8 text", found=reason) from None
    try:
        config = json.loads(text)
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        return {"source": text}
    config = config["jinja"] if isinstance(config.get("jinja"), dict) else config
    if not config.get("chat_template"):
        raise ChatInputError(where=where, expected="a chat template", found="none")
    found = {"source": config["chat_template"]}
    for name in ("bos", "eos"):
        token = config.get(f"{name}_token", config.get(name))
        found[f"{name}_token"] = token.get("content") if isinstance(token, dict) else token
    return found


def _carried_by(tokenizer: Tokenizer) -> dict[str, Any]:
    if not tokenizer.chat_template:
        raise ChatInputError(where="tokenizer", expected="a chat template", found="none")
    tokens = {"bos_token": tokenizer.bos_token, "eos_token": tokenizer.eos_token}
    return {"source": tokenizer.chat_template, **tokens}
