"""Post-processors: the last stage of encoding, which puts special tokens in and joins a pair (chapter 6).

Component names and fields are those of tokenizer.json; follows the published walk through the pipeline.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from tokenlab.checks import contradiction
from tokenlab.pipeline.byte_alphabet import ByteLevelFields
from tokenlab.pipeline.encoding import Encoding, Truncation, merge, truncate_pair
from tokenlab.pipeline.text import WHITE_SPACE


class PostProcessor:
    """The last stage: one or two encodings to one."""

    __slots__ = ()

    def added_tokens(self, is_pair: bool) -> int:
        """Return how many special tokens `process` puts in, so that truncation can leave room for them."""
        return 0

    def process_parts(self, parts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts that, joined end to end, make the result."""
        raise NotImplementedError

    def process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Return one encoding with the special tokens in their places.

        Args:
            encoding, pair: the tokens of the first and, where there is one, of the second text.
            add_special_tokens: whether to put special tokens in; types and offsets are set either way.
        """
        parts = [encoding] if pair is None else [encoding, pair]
        return merge(self.process_parts(parts, add_special_tokens))


def post_process(
    encoding: Encoding,
    pair: Encoding | None,
    *,
    post_processor: PostProcessor | None,
    truncation: Truncation | None,
    add_special_tokens: bool,
) -> Encoding:
    """Truncate, leaving room for the special tokens, and put those in.

    Args:
        encoding, pair: the tokens of one or two texts.
        post_processor: None joins the parts and adds nothing.
        truncation: None keeps everything.
        add_special_tokens: whether the post-processor shall put special tokens in.

    Raises:
        TruncationError: see `truncate_pair`.
    """
    processor = Sequence() if post_processor is None else post_processor
    if truncation is not None:
        reserved = processor.added_tokens(pair is not None) if add_special_tokens else 0
        encoding, pair = truncate_pair(encoding, pair, truncation, reserved=reserved)
    return processor.process(encoding, pair, add_special_tokens)


def _with_type(encoding: Encoding, type_id: int) -> Encoding:
    # As in the field, overflowing pieces keep the type of their part, 0 or 1, whatever the template says.
    return replace(encoding, type_ids=(type_id,) * len(encoding))


_SPACES = "Ġ" + WHITE_SPACE


def trim_offsets(encoding: Encoding, add_prefix_space: bool) -> Encoding:
    """Move offsets inward so that they leave out the white space at both ends of each token.

    Args:
        encoding: tokens of the byte alphabet, in which Ġ is a space.
        add_prefix_space: whether the pre-tokenizer may have put a space before the text; that one is in no
            original, so nothing is trimmed for it.

    >>> trim_offsets(Encoding.from_tokens([1], ["Ġa"], [(3, 5)], [0]), False).offsets
    ((4, 5),)
    """
    offsets = []
    for index, (token, (start, end)) in enumerate(zip(encoding.tokens, encoding.offsets, strict=True)):
        leading = len(token) - len(token.lstrip(_SPACES))
        trailing = len(token) - len(token.rstrip(_SPACES))
        if leading == 1 and add_prefix_space and (index == 0 or start == 0):
            leading = 0
        start = min(start + leading, end)
        if end >= trailing:
            end = max(end - trailing, start)
        offsets.append((start, end))
    pieces = tuple(trim_offsets(piece, add_prefix_space) for piece in encoding.overflowing)
    return replace(encoding, offsets=tuple(offsets), overflowing=pieces)


@dataclass(frozen=True, slots=True)
class ByteLevel(ByteLevelFields, PostProcessor):
    """GPT-2's: adds nothing, trims white space from the offsets where asked to.

    Args:
        add_prefix_space: whether the pre-tokenizer puts a space before the text.
        trim_offsets: whether offsets leave out the white space that a token begins or ends with.
        use_regex: no meaning here; the three components named ByteLevel share their fields.
    """

    def process_parts(self, parts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts, trimmed."""
        return [trim_offsets(part, self.add_prefix_space) for part in parts] if self.trim_offsets else parts


@dataclass(frozen=True, slots=True)
class BertProcessing(PostProcessor):
    """BERT's: [CLS] A [SEP], or [CLS] A [SEP] B [SEP] with the second part of type 1.

    Args:
        sep, cls: (token, ID).
    """

    sep: tuple[str, int] = ("[SEP]", 102)
    cls: tuple[str, int] = ("[CLS]", 101)

    def added_tokens(self, is_pair: bool) -> int:
        """Return 2, or 3 for a pair."""
        return 3 if is_pair else 2

    def process_parts(self, parts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts with [CLS] and [SEP] round them."""
        if not add_special_tokens:
            return parts
        first, *others = parts
        whole = merge([_special(self.cls), first, _special(self.sep)])
        return [whole, *(merge([other, _special(self.sep, 1)]) for other in others)]


@dataclass(frozen=True, slots=True)
class RobertaProcessing(PostProcessor):
    """RoBERTa's: <s> A </s>, or <s> A </s> </s> B </s>, every token of type 0.

    Args:
        sep, cls: (token, ID).
        trim_offsets: whether offsets leave out the white space that a token begins or ends with.
        add_prefix_space: whether the pre-tokenizer puts a space before the text.
    """

    sep: tuple[str, int] = ("</s>", 2)
    cls: tuple[str, int] = ("<s>", 0)
    trim_offsets: bool = True
    add_prefix_space: bool = True

    def added_tokens(self, is_pair: bool) -> int:
        """Return 2, or 4 for a pair."""
        return 4 if is_pair else 2

    def process_parts(self, parts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts with <s> and </s> round them."""
        if self.trim_offsets:
            parts = [trim_offsets(part, self.add_prefix_space) for part in parts]
        parts = [_with_type(part, 0) for part in parts]
        if not add_special_tokens:
            return parts
        result: list[Encoding] = []
        for part in parts:
            pieces = tuple(_with_type(piece, 0) for piece in part.overflowing)
            begin, end = _special(self.sep if result else self.cls), _special(self.sep)
            result.append(merge([begin, replace(part, overflowing=pieces), end]))
        return result


def _special(token: tuple[str, int], type_id: int = 0) -> Encoding:
    return Encoding.inserted((token[1],), (token[0],), type_id)


@dataclass(frozen=True, slots=True)
class TemplatePiece:
    """One place of a template: a sequence (A or B), or a special token by its name.

    Args:
        kind: "Sequence" or "SpecialToken".
        id: "A" or "B", or the name under which the template lists the special token.
        type_id: the type of the tokens that come here.
    """

    kind: Literal["Sequence", "SpecialToken"]
    id: str
    type_id: int = 0


@dataclass(frozen=True, slots=True)
class SpecialToken:
    """What a template puts in under one name: n tokens, most often one.

    Args:
        id: the name.
        ids: their n token IDs.
        tokens: their n strings.
    """

    id: str
    ids: tuple[int, ...]
    tokens: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.tokens):
            expected = f"as many IDs as tokens, {len(self.tokens)}"
            raise contradiction(self, self.id, expected, str(len(self.ids)))


_SHORT_PIECE = re.compile(r"(?P<name>[^:]*)(?::(?P<type>[0-9]+))?")
_SHORT_SEQUENCE = re.compile(r"\$(?P<sequence>[ABab]?)(?P<type>[0-9]*)")


def parse_template(text: str) -> tuple[TemplatePiece, ...]:
    """Read the short form of a template.

    Args:
        text: places apart by single spaces: `$A`, `$B`, a special token's name, each with `:type` where the
            type is not 0; `$1` stands for `$A:1`, `$` for `$A`.

    Raises:
        ComponentError: for a place that is none of these.

    >>> [(piece.id, piece.type_id) for piece in parse_template("[CLS] $A $B:1 [SEP]:1")]
    [('[CLS]', 0), ('A', 0), ('B', 1), ('[SEP]', 1)]
    """
    pieces = []
    for place in text.split(" "):
        short = _SHORT_PIECE.fullmatch(place)
        sequence = _SHORT_SEQUENCE.fullmatch(short["name"]) if short else None
        wrong_sequence = sequence is None or (sequence["sequence"] and sequence["type"])
        if not short or (place.startswith("$") and wrong_sequence):
            expected = "$A, $B or the name of a special token, with :type or without"
            raise contradiction("TemplateProcessing", "template", expected, repr(place))
        if sequence:
            type_id = int(short["type"] or sequence["type"] or 0)
            pieces.append(TemplatePiece("Sequence", sequence["sequence"].upper() or "A", type_id))
        else:
            pieces.append(TemplatePiece("SpecialToken", short["name"], int(short["type"] or 0)))
    return tuple(pieces)


@dataclass(frozen=True, slots=True)
class TemplateProcessing(PostProcessor):
    """Special tokens by template, one for a single text and one for a pair.

    Args:
        single, pair: what comes in which order; also as a text, see `parse_template`.
        special_tokens: what each name stands for; an ID alone stands for the one token of that name.

    Raises:
        ComponentError: when a name is not listed, or the template of a single text wants a second one.

    >>> bert = TemplateProcessing("[CLS] $A [SEP]", special_tokens={"[CLS]": 101, "[SEP]": 102})
    >>> bert.process(Encoding.from_tokens([7], ["a"], [(0, 1)], [0])).ids, bert.added_tokens(False)
    ((101, 7, 102), 2)
    """

    single: tuple[TemplatePiece, ...] | str = "$A"
    pair: tuple[TemplatePiece, ...] | str = "$A $B:1"
    special_tokens: Mapping[str, SpecialToken | int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        tokens = {
            name: SpecialToken(name, (token,), (name,)) if isinstance(token, int) else token
            for name, token in dict(self.special_tokens).items()
        }
        object.__setattr__(self, "special_tokens", tokens)
        for name in ("single", "pair"):
            template = getattr(self, name)
            pieces = parse_template(template) if isinstance(template, str) else tuple(template)
            object.__setattr__(self, name, pieces)
            for piece in pieces:
                if piece.kind == "SpecialToken" and piece.id not in tokens:
                    expected = f"special tokens out of {sorted(tokens)}"
                    raise contradiction(self, name, expected, repr(piece.id))
                if name == "single" and (piece.kind, piece.id) == ("Sequence", "B"):
                    raise contradiction(self, name, "sequence A only", "sequence B")

    def _filled(self, is_pair: bool) -> list[tuple[TemplatePiece, SpecialToken | None]]:
        pieces = cast("tuple[TemplatePiece, ...]", self.pair if is_pair else self.single)
        tokens = cast("Mapping[str, SpecialToken]", self.special_tokens)
        return [(piece, tokens[piece.id] if piece.kind == "SpecialToken" else None) for piece in pieces]

    def added_tokens(self, is_pair: bool) -> int:
        """Return how many tokens the special ones of the template make."""
        return sum(len(token.ids) for _, token in self._filled(is_pair) if token is not None)

    def process_parts(self, parts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the template's places, filled."""
        if len(parts) > 2:
            found = f"{len(parts)} parts of an earlier post-processor"
            raise contradiction(self, "process", "one or two texts", found)
        result = []
        for piece, token in self._filled(len(parts) > 1):
            if token is None:
                result.append(_with_type(parts["AB".index(piece.id)], piece.type_id))
            elif add_special_tokens:
                result.append(Encoding.inserted(token.ids, token.tokens, piece.type_id))
        return result


@dataclass(frozen=True, slots=True)
class Sequence(PostProcessor):
    """Several post-processors, one after the other, each on the parts that the one before left.

    What one of them put in stays marked as special (in Hugging Face not where another puts tokens round it).
    """

    processors: tuple[PostProcessor, ...] = ()

    def added_tokens(self, is_pair: bool) -> int:
        """Return the sum over all of them."""
        return sum(processor.added_tokens(is_pair) for processor in self.processors)

    def process_parts(self, parts: list[Encoding], add_special_tokens: bool) -> list[Encoding]:
        """Return the parts after the last of them."""
        for processor in self.processors:
            parts = processor.process_parts(parts, add_special_tokens)
        return parts
