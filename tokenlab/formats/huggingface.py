"""tokenizer.json, the file of Hugging Face tokenizers: read, checked and written by one table (chapter 7).

The table says, for each kind of component and each type tag, which class it is and of which form each field
is. Reading, writing and every error's path (`pre_tokenizer.pretokenizers[1].type`) come from it; a component
that is no row is refused by name. Facts are those of the format's own serialiser, version 1.0.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from operator import attrgetter, itemgetter
from pathlib import Path
from types import NoneType
from typing import Any, NoReturn

from tokenlab.errors import (
    LostAnswersWarning,
    LostExtrasWarning,
    TokenizerJsonError,
    TokenLabError,
)
from tokenlab.formats import meaning
from tokenlab.pipeline import decoders, models, normalizers, post_processors, pre_tokenizers
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.encoding import Padding, Truncation
from tokenlab.pipeline.patterns import Pattern
from tokenlab.pipeline.post_processors import SpecialToken, TemplatePiece
from tokenlab.pipeline.tokenizer import Tokenizer

VERSION = "1.0"
DEEPEST_NESTING = 32
_REQUIRED = object()


def _refuse(path: str, expected: str, value: object) -> NoReturn:
    shown = value if isinstance(value, _Words) else json.dumps(value, ensure_ascii=False, default=repr)
    found = shown if len(shown) <= 80 else shown[:77] + "..."
    raise TokenizerJsonError(path=path or "the document", expected=expected, found=found)


class _Words(str):
    """What was found, said in words instead of quoted."""


# Forms: how one kind of value is read (checked, with its path) and written.


@dataclass(frozen=True, slots=True)
class Form:
    """One kind of JSON value.

    Args:
        read: (value, path) to what the component holds; refuses what does not fit.
        write: the way back.
        default: what stands for a missing or null field, as the format's own reader has it.
    """

    read: Callable[[Any, str], Any]
    write: Callable[[Any], Any] = lambda value: value
    default: Any = _REQUIRED

    def or_else(self, default: Any) -> Form:
        """Return the same form for a field that may be missing."""
        return Form(self.read, self.write, default)


def _plain(kind: type, expected: str, fits: Callable[[Any], bool] = lambda value: True) -> Form:
    def read(value: Any, path: str) -> Any:
        if type(value) is not kind or not fits(value):
            _refuse(path, expected, value)
        return value

    return Form(read)


def _one_of(*names: str) -> Form:
    return _plain(str, "one of " + ", ".join(names), names.__contains__)


def _or_null(form: Form) -> Form:
    return Form(form.read, lambda value: None if value is None else form.write(value), None)


def _check(value: Any, kind: type, path: str, expected: str) -> Any:
    if not isinstance(value, kind):
        _refuse(path, expected, value)
    return value


def _list(form: Form) -> Form:
    def read(value: Any, path: str) -> tuple[Any, ...]:
        items = _check(value, list, path, "a list")
        return tuple(form.read(item, f"{path}[{index}]") for index, item in enumerate(items))

    return Form(read, lambda items: [form.write(item) for item in items])


def _mapping(form: Form, expected: str = "an object") -> Form:
    def read(value: Any, path: str) -> dict[str, Any]:
        items = _check(value, dict, path, expected).items()
        return {name: form.read(item, _under(path, name)) for name, item in items}

    return Form(read, lambda items: {name: form.write(items[name]) for name in sorted(items)})


def _object(build: Callable[..., Any], forms: Mapping[str, Form], names: Mapping[str, str] = {}) -> Form:
    """Return the form of an object with the fields of what `build` makes, here and there by other `names`."""

    def read(value: Any, path: str) -> Any:
        for key in _check(value, dict, path, "an object"):
            if key not in forms:
                _refuse(_under(path, key), f"no field beside {', '.join(forms)}", value[key])
        values = {names.get(name, name): _read_field(value, name, forms[name], path) for name in forms}
        try:
            return build(**values)
        except TokenizerJsonError:
            raise
        except TokenLabError as error:
            _refuse(path, "fields that fit each other", _Words(str(error)))

    def write(part: Any) -> dict[str, Any]:
        return {name: form.write(getattr(part, names.get(name, name))) for name, form in forms.items()}

    return Form(read, write)


def _read_field(value: Mapping[str, Any], name: str, form: Form, path: str) -> Any:
    if form.default is not _REQUIRED and value.get(name) is None:
        return form.default
    if name not in value:
        _refuse(_under(path, name), "this field", _Words("nothing"))
    return form.read(value[name], _under(path, name))


def _under(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


FLAG = _plain(bool, "true or false")
TEXT = _plain(str, "a string")
COUNT = _plain(int, f"a whole number from 0 to {2**32 - 1}", lambda value: 0 <= value < 2**32)


def _read_dropout(value: Any, path: str) -> float:
    if value != 0:
        _refuse(path, "null or 0 (random merges are not implemented)", value)
    return float(value)


def _read_variant(forms: Mapping[str, Form], value: Any, path: str) -> tuple[str, Any]:
    """Read an object with one key, which says the kind of what it holds."""
    if not isinstance(value, dict) or len(value) != 1 or not value.keys() <= forms.keys():
        _refuse(path, "an object " + " or ".join(f'{{"{kind}": ...}}' for kind in forms), value)
    ((kind, held),) = value.items()
    return kind, forms[kind].read(held, _under(path, kind))


def _read_pattern(value: Any, path: str) -> Pattern:
    kind, text = _read_variant({"String": TEXT, "Regex": TEXT}, value, path)
    return Pattern(text, kind == "Regex")


def _read_base64(value: Any, path: str) -> bytes:
    try:
        return base64.b64decode(TEXT.read(value, path), validate=True)
    except binascii.Error as error:
        _refuse(path, "base64", _Words(str(error)))


def _read_pair(value: Any, path: str) -> tuple[str, int]:
    if not isinstance(value, list) or len(value) != 2:
        _refuse(path, "a token and its ID", value)
    return TEXT.read(value[0], f"{path}[0]"), COUNT.read(value[1], f"{path}[1]")


_PIECES = {
    "Sequence": _object(partial(TemplatePiece, "Sequence"), {"id": _one_of("A", "B"), "type_id": COUNT}),
    "SpecialToken": _object(partial(TemplatePiece, "SpecialToken"), {"id": TEXT, "type_id": COUNT}),
}


_SPECIAL_TOKEN = _object(SpecialToken, {"id": TEXT, "ids": _list(COUNT), "tokens": _list(TEXT)})


def _read_vocabulary(value: Any, path: str) -> dict[str, int]:
    vocabulary: dict[str, int] = _check(value, dict, path, "an object of tokens and their IDs")
    if not set(map(type, vocabulary.values())) <= {int}:
        _mapping(COUNT).read(vocabulary, path)
    return vocabulary


def _read_merges(value: Any, path: str) -> tuple[tuple[str, str], ...]:
    """Read merges: all as pairs, or all as the older "left right", among which a comment may stand."""
    rows: list[Any] = _check(value, list, path, "a list of merges")
    if value and isinstance(value[0], str):
        texts = [merge for merge in value if not (isinstance(merge, str) and merge.startswith("#version"))]
        value, rows = texts, [merge.split(" ") if isinstance(merge, str) else None for merge in texts]
    if not (
        set(map(type, rows)) <= {list}
        and set(map(len, rows)) <= {2}
        and set(map(type, chain.from_iterable(rows))) <= {str}
    ):
        place = next(
            i for i, row in enumerate(rows) if type(row) is not list or [*map(type, row)] != [str, str]
        )
        _refuse(f"{path}[{place}]", "two tokens, spelled like those of the first merge", value[place])
    return tuple(map(tuple, rows))


def _read_scores(value: Any, path: str) -> tuple[tuple[str, float], ...]:
    for place, row in enumerate(_check(value, list, path, "a list of pieces and their scores")):
        if type(row) is not list or len(row) != 2 or type(row[0]) is not str:
            _refuse(f"{path}[{place}]", "a piece and its score", row)
        if type(row[1]) not in (float, int) or not math.isfinite(row[1]):
            _refuse(f"{path}[{place}][1]", "a finite number", _Words(repr(row[1])))
    return tuple((piece, float(score)) for piece, score in value)


def _read_strategy(value: Any, path: str) -> str | int:
    if isinstance(value, dict) and value.keys() == {"Fixed"}:
        length: int = COUNT.read(value["Fixed"], _under(path, "Fixed"))
        return length
    if value != "BatchLongest":
        _refuse(path, '"BatchLongest" or {"Fixed": length}', value)
    return "BatchLongest"


# The table: kind -> type tag -> component -> fields.


@dataclass(frozen=True, slots=True)
class Row:
    """One type of component; its class says the fields, FORMS their forms.

    Args:
        component: its class.
        untagged: whether old files write it without a type, so that its required fields tell it.
    """

    component: type
    untagged: bool = False

    @property
    def names(self) -> dict[str, str]:
        """The class's name of each field by its name in the file, in the file's order."""
        return {
            each.metadata.get("json", each.name): each.name for each in fields(self.component) if each.init
        }

    @property
    def forms(self) -> dict[str, Form]:
        """The form of each field by its name in the file."""
        special = SPECIAL.get(self.component, {})
        return {name: special.get(name) or FORMS[name] for name in self.names}

    @property
    def required(self) -> set[str]:
        """The names of the fields that must be there."""
        return {name for name, form in self.forms.items() if form.default is _REQUIRED}

    @property
    def form(self) -> Form:
        """The form of the whole."""
        return _object(self.component, self.forms, self.names)


def _upgrade_metaspace(fields: dict[str, Any], path: str) -> None:
    """Replace the older add_prefix_space, a flag, by prepend_scheme; drop str_rep, which says nothing."""
    fields.pop("str_rep", None)
    if "add_prefix_space" in fields:
        prefix = FLAG.read(fields.pop("add_prefix_space"), _under(path, "add_prefix_space"))
        scheme = fields.setdefault("prepend_scheme", "always" if prefix else "never")
        if not prefix and scheme != "never":
            _refuse(_under(path, "prepend_scheme"), '"never", as add_prefix_space is false', scheme)


def read_component(kind: str, value: Any, path: str) -> Any:
    """Read one component.

    Args:
        kind: a key of TABLE.
        value: its JSON object.
        path: where that stands, for errors.

    Raises:
        TokenizerJsonError: for an unknown type or field, or a value that does not fit.
    """
    if not isinstance(value, dict):
        _refuse(path, "an object with a type", value)
    if path.count("[") > DEEPEST_NESTING:
        _refuse(path, f"Sequences at most {DEEPEST_NESTING} deep", _Words("one more"))
    values = dict(value)
    tag = values.pop("type", None)
    rows = TABLE[kind]
    if tag is None:
        tag = next(
            (name for name, row in rows.items() if row.untagged and row.required <= values.keys()), None
        )
    if not isinstance(tag, str) or tag not in rows:
        _refuse(_under(path, "type"), "one of " + ", ".join(rows), _Words("nothing") if tag is None else tag)
    row = rows[tag]
    if tag == "Metaspace":
        _upgrade_metaspace(values, path)
    return row.form.read(values, path)


def write_component(kind: str, component: Any) -> dict[str, Any]:
    """Return the JSON object of one component; `kind` is a key of TABLE.

    >>> write_component("decoder", decoders.WordPiece())
    {'type': 'WordPiece', 'prefix': '##', 'cleanup': True}
    """
    if hasattr(component, "spelled_out"):  # a component of another format that others can say
        component = component.spelled_out() or component
    for tag, row in TABLE[kind].items():
        if type(component) is row.component:
            return {"type": tag, **row.form.write(component)}
    raise TokenizerJsonError(path=kind, expected="one of " + ", ".join(TABLE[kind]), found=repr(component))


def _component(kind: str) -> Form:
    return Form(partial(read_component, kind), partial(write_component, kind))


def _forms(form: Form, names: str) -> dict[str, Form]:
    return dict.fromkeys(names.split(), form)


FORMS = {
    **_forms(
        FLAG, "strip_left strip_right clean_text handle_chinese_chars lowercase individual_digits invert"
    ),
    **_forms(FLAG, "add_prefix_space trim_offsets cleanup single_word lstrip rstrip normalized special"),
    **_forms(FLAG.or_else(True), "use_regex split"),
    **_forms(FLAG.or_else(False), "fuse_unk byte_fallback ignore_merges"),
    **_forms(_or_null(FLAG), "strip_accents"),
    **_forms(TEXT, "prepend content unk_token prefix suffix pad_token continuing_subword_prefix"),
    **_forms(_or_null(TEXT), "end_of_word_suffix"),
    **_forms(COUNT, "id max_input_chars_per_word start stop max_length stride pad_id pad_type_id"),
    **_forms(_or_null(COUNT), "unk_id pad_to_multiple_of"),
    **_forms(
        _one_of("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"), "behavior"
    ),
    **_forms(_one_of("Left", "Right"), "direction"),
    **_forms(_plain(str, "a string of one character", lambda value: len(value) == 1), "replacement"),
    **_forms(_one_of("first", "never", "always").or_else("always"), "prepend_scheme"),
    **_forms(Form(_read_pair, list), "sep cls"),
    **_forms(Form(_read_pattern, lambda it: {"Regex" if it.regex else "String": it.text}), "pattern"),
    **_forms(Form(_read_base64, lambda it: base64.b64encode(it).decode()), "precompiled_charsmap"),
    **_forms(Form(_read_vocabulary, lambda it: dict(sorted(it.items(), key=itemgetter(1)))), "vocab"),
    **_forms(Form(_read_merges, lambda it: list(map(list, it))), "merges"),
    **_forms(Form(_read_dropout, default=None), "dropout"),
    **_forms(
        _list(
            Form(lambda *it: _read_variant(_PIECES, *it)[1], lambda it: {it.kind: _PIECES[it.kind].write(it)})
        ),
        "single pair",
    ),
    **_forms(_mapping(_SPECIAL_TOKEN), "special_tokens"),
    **_forms(_list(_component("normalizer")), "normalizers"),
    **_forms(_list(_component("pre_tokenizer")), "pretokenizers"),
    **_forms(_list(_component("post_processor")), "processors"),
    **_forms(_list(_component("decoder")), "decoders"),
}
SPECIAL: dict[type, dict[str, Form]] = {
    pre_tokenizers.Punctuation: {"behavior": FORMS["behavior"].or_else("Isolated")},
    models.BPE: _forms(_or_null(TEXT), "unk_token continuing_subword_prefix"),
    models.Unigram: {"vocab": Form(_read_scores, lambda it: list(map(list, it)))},
    decoders.Strip: {"content": FORMS["replacement"]},
    Truncation: {
        "strategy": _one_of("LongestFirst", "OnlyFirst", "OnlySecond"),
        "direction": FORMS["direction"].or_else("Right"),
    },
    Padding: {"strategy": Form(_read_strategy, lambda it: it if isinstance(it, str) else {"Fixed": it})},
}
"""The forms of fields that are not what FORMS says of their names."""


def _rows(module: Any, names: str, untagged: str = "") -> dict[str, Row]:
    return {name: Row(getattr(module, name), name in untagged.split()) for name in names.split()}


TABLE: dict[str, dict[str, Row]] = {
    "normalizer": _rows(
        normalizers,
        "NFC NFD NFKC NFKD Lowercase StripAccents Strip Prepend Replace BertNormalizer Precompiled Sequence",
        "Strip Prepend Replace BertNormalizer Precompiled Sequence",
    ),
    "pre_tokenizer": _rows(
        pre_tokenizers,
        "Punctuation Metaspace ByteLevel Whitespace WhitespaceSplit Digits Split BertPreTokenizer Sequence",
    ),
    "model": _rows(models, "BPE WordPiece WordLevel Unigram", "BPE WordPiece WordLevel Unigram"),
    "post_processor": _rows(
        post_processors,
        "ByteLevel Sequence RobertaProcessing BertProcessing TemplateProcessing",
        "RobertaProcessing BertProcessing TemplateProcessing",
    ),
    "decoder": _rows(
        decoders,
        "Metaspace Strip ByteLevel ByteFallback Fuse Sequence WordPiece BPEDecoder Replace",
        "Strip WordPiece BPEDecoder Replace",
    ),
}
_DOCUMENT = {
    "version": _one_of(VERSION).or_else(VERSION),
    "truncation": _or_null(Row(Truncation).form),
    "padding": _or_null(Row(Padding).form),
    "added_tokens": _list(Row(AddedToken).form).or_else(()),
    **{
        kind: _or_null(_component(kind))
        for kind in ("normalizer", "pre_tokenizer", "post_processor", "decoder")
    },
    "model": _component("model"),
}


# The document.


def _no_repeated_key(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        times = Counter(key for key, _ in pairs)
        twice = next(key for key in times if times[key] > 1)
        _refuse(twice, "a key once in an object", _Words("it twice"))
    return found


_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        _refuse(f"byte {error.start}", "UTF-8", _Words(error.reason))


def parse_json(data: bytes) -> Any:
    """Read a JSON document, more strictly than the standard library does by itself.

    Args:
        data: UTF-8 without a byte order mark.

    Raises:
        TokenizerJsonError: for other bytes and for what is no JSON (NaN among it), for a repeated key, half a
            surrogate pair, or nesting without end.

    >>> parse_json(b'{"a": [1, null]}')
    {'a': [1, None]}
    """
    try:
        text = _decode(data)
        if text.startswith("\ufeff"):
            _refuse("byte 0", "UTF-8 without a byte order mark", _Words("a byte order mark"))
        document = json.loads(
            text,
            object_pairs_hook=_no_repeated_key,
            parse_constant=lambda name: _refuse("the document", "a finite number", _Words(name)),
        )
        if _SURROGATE_ESCAPE.search(text):
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        _refuse("the document", "characters", _Words(f"half a surrogate pair, {error.object[error.start]!r}"))
    except json.JSONDecodeError as error:
        _refuse(f"line {error.lineno} column {error.colno}", "JSON", _Words(error.msg))
    except RecursionError:
        _refuse("the document", "JSON of some hundred levels at most", _Words("deeper nesting"))
    except TokenLabError:
        raise
    except ValueError as error:  # an integer with thousands of digits
        _refuse("the document", "numbers of a usual size", _Words(str(error)))
    return document


def read_document(data: bytes) -> dict[str, Any]:
    """Read tokenizer.json into components.

    Args:
        data: the file.

    Returns:
        The file's top-level fields but `version`, each as what the pipeline calls by that name.

    Raises:
        TokenizerJsonError: with the path of what does not fit.

    >>> read_document(b'{"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}')["model"]
    WordLevel(unk_token='a')
    """
    fields: dict[str, Any] = _object(dict, _DOCUMENT).read(parse_json(data), "")
    del fields["version"]
    return fields


def write_document(parts: Mapping[str, Any]) -> bytes:
    """Write components as tokenizer.json, laid out as the format's own package does.

    Args:
        parts: what `read_document` gives.
    """
    fields = {name: form.write(parts[name]) for name, form in _DOCUMENT.items() if name != "version"}
    return json.dumps({"version": VERSION, **fields}, ensure_ascii=False, indent=2).encode()


# The codec: this module is one entry of the pipeline's table of formats.

name = "tokenizer.json"
suffixes: tuple[str, ...] = (".json",)


def recognises(data: bytes) -> bool:
    """Whether the bytes begin like a JSON object (after a byte order mark, too: reading refuses that)."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def read(data: bytes, *, folder: Path | None = None) -> Tokenizer:
    """Read a tokenizer.json, and what lies beside it.

    Args:
        data: the file.
        folder: where it lies: tokenizer_config.json there says BOS, EOS and the chat template (which
            chat_template.jinja overrides), generation_config.json the IDs that end generation.

    Raises:
        TokenizerJsonError: with the path of what does not fit.
    """
    with meaning.collector_paused(len(data)):
        tokenizer = Tokenizer(**read_document(data))
    return tokenizer if folder is None else replace(tokenizer, **_read_beside(folder, tokenizer.vocabulary))


def _read_beside(folder: Path, vocabulary: Mapping[str, int]) -> dict[str, Any]:
    config = _read_config(folder, "tokenizer_config.json", _CONFIG)
    end = _read_config(folder, "generation_config.json", {"eos_token_id": _IDS})["eos_token_id"]
    config["chat_template"] = read_if_there(folder, "chat_template.jinja", _decode, config["chat_template"])
    eos_id = vocabulary.get(config["eos_token"])
    return {**config, "stop_ids": tuple(dict.fromkeys([*([] if eos_id is None else [eos_id]), *end]))}


def read_if_there(folder: Path, file: str, parse: Callable[[bytes], Any], absent: Any) -> Any:
    """Return what a file beside the tokenizer holds, or `absent`; an error names the file."""
    path = folder / file
    if not path.is_file():
        return absent
    try:
        return parse(path.read_bytes())
    except TokenizerJsonError as error:
        raise TokenizerJsonError(**{**error.facts, "path": f"{file}, {error.path}"}) from None


def _read_config(folder: Path, file: str, forms: Mapping[str, Form]) -> dict[str, Any]:
    document = read_if_there(folder, file, parse_json, {})
    if not isinstance(document, dict):
        _refuse(file, "an object", document)
    return {key: _read_field(document, key, form, file) for key, form in forms.items()}


def _read_token_text(value: Any, path: str) -> str:
    """Read a token of tokenizer_config.json: its text, or an object with it."""
    content: str = TEXT.read(value.get("content") if isinstance(value, dict) else value, path)
    return content


def _read_chat_template(value: Any, path: str) -> str | None:
    """Read a template, or the one named "default" among several."""
    if not isinstance(value, list):
        value = [{"name": "default", "template": value}]
    templates = _list(_object(dict, {"name": TEXT, "template": TEXT})).read(value, path)
    return next((each["template"] for each in templates if each["name"] == "default"), None)


def _read_ids(value: Any, path: str) -> tuple[int, ...]:
    ids: tuple[int, ...] = _list(COUNT).read(value if isinstance(value, list) else [value], path)
    return ids


_CONFIG = {
    "bos_token": Form(_read_token_text, default=None),
    "eos_token": Form(_read_token_text, default=None),
    "chat_template": Form(_read_chat_template, default=None),
    "clean_up_tokenization_spaces": FLAG.or_else(False),
}
_IDS = Form(_read_ids, default=())


def write(tokenizer: Tokenizer, *, strict: bool = False) -> bytes:
    """Write a tokenizer as tokenizer.json.

    Args:
        tokenizer: any tokenizer of the pipeline.
        strict: whether to refuse where encoding or decoding would differ.

    Raises:
        LostAnswersError: under `strict`, for an order of control tokens that cannot be said, and the like.
        TokenizerJsonError: for a component that no component of the format says.

    Warns:
        LostAnswersWarning: for the same without `strict`.
        LostExtrasWarning: for what belongs into the files beside.
    """
    tokenizer = _by_meaning(tokenizer)
    parts = {part: getattr(tokenizer, part) for part in _DOCUMENT if part != "version"}
    losses = []
    for each in fields(tokenizer):
        if each.init and each.compare and each.name not in parts and getattr(tokenizer, each.name):
            is_answer = each.name in ("prefix_ids", "control_ids")
            kind = LostAnswersWarning if is_answer else LostExtrasWarning
            losses.append(kind(component=each.name, loss="tokenizer.json has no place for it"))
    meaning.report_losses(losses, strict=strict)
    return write_document({**parts, "added_tokens": sorted(tokenizer.added_tokens, key=attrgetter("id"))})


def _by_meaning(tokenizer: Tokenizer) -> Tokenizer:
    """Say by components what the format has no field for: IDs in front, and the clean-up after decoding."""
    post_processor = tokenizer.post_processor
    if tokenizer.prefix_ids and isinstance(post_processor, (NoneType, post_processors.TemplateProcessing)):
        steps = meaning.with_prefix(meaning.program_of(post_processor), tokenizer.prefix_ids)
        in_front = meaning.post_processor_of(steps, tokenizer.model, tokenizer.added_tokens)
        tokenizer = replace(tokenizer, prefix_ids=(), post_processor=in_front)
    return meaning.with_clean_up_spelled(tokenizer)


def plain_form(tokenizer: Tokenizer) -> None:
    """Return None: this format spells one tokenizer in several ways."""
