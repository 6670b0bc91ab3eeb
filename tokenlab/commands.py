"""The commands on tokenizer files: inspect, convert, encode, decode, train, trace, check, compare.

Thin: it parses words, calls the library and prints. Text is UTF-8 on every platform; errors and warnings are
one line each on the standard error; `-` is the standard input or output.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from tokenlab.bpe.training import BpeTrainer
from tokenlab.errors import InvalidArgumentError, InvalidUtf8Error, TokenLabError
from tokenlab.files import write_whole
from tokenlab.formats import CODECS, Tokenizer, legacy_pipeline, mtok
from tokenlab.pipeline import decoders, models, pre_tokenizers
from tokenlab.pipeline.byte_alphabet import to_byte_alphabet
from tokenlab.pipeline.patterns import find_regex
from tokenlab.pipeline.tokenizer import Codec
from tokenlab.progress import progress_bar

COMPONENTS = ("normalizer", "pre_tokenizer", "model", "post_processor", "decoder")


# --- Reading and writing


def _data(path: str) -> bytes:
    return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InvalidUtf8Error(position=error.start, reason=error.reason) from error


def _load(path: str, options: argparse.Namespace) -> tuple[bytes, Tokenizer]:
    data = _data(path)
    given = _given(options)
    if given and not legacy_pipeline.recognises(data):
        found = f"{path}, which is none"
        raise InvalidArgumentError(name=f"--{next(iter(given))}", expected="a legacy .txt file", found=found)
    return data, Tokenizer.from_bytes(data, folder=_folder(path), **given)


def _given(options: argparse.Namespace) -> dict[str, str]:
    given = {name: getattr(options, name, None) for name in ("rule", "pattern", "algorithm")}
    return {name: value for name, value in given.items() if value is not None}


def _folder(path: str) -> Path | None:
    return None if path == "-" else Path(path).parent


def _texts(options: argparse.Namespace) -> list[str]:
    if options.text and options.lines:
        raise InvalidArgumentError(name="--lines", expected="the standard input", found="--text")
    if options.text:
        return list(options.text)
    text = _text(sys.stdin.buffer.read())
    if not options.lines:
        return [text]
    lines = re.split("\r?\n", text)  # at nothing else: other line ends are part of a text
    return lines if lines[-1] else lines[:-1]


def _codec_of(data: bytes) -> Codec:
    return next(codec for codec in CODECS if codec.recognises(data))


def _shown(value: object, longest: int = 100) -> str:
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


# --- The commands


def _inspect(options: argparse.Namespace) -> Iterator[str]:
    data, tokenizer = _load(options.FILE, options)
    codec = _codec_of(data)
    if options.bytes:
        if codec is not mtok:
            raise InvalidArgumentError(name="--bytes", expected="a .mtok file", found=codec.name)
        for each in mtok.explain(data):
            raw = each.raw[:8].hex(" ") + (" …" if each.length > 8 else "")
            yield (
                f"{each.offset:>8} {each.length:>6}  {raw:<25}  {each.section} / {each.name} = "
                f"{_shown(each.value, 60)}  ({each.meaning})"
            )
        return
    yield f"format       {codec.name}, {len(data):,} bytes"
    yield f"fingerprint  {tokenizer.fingerprint()}"
    if codec is mtok:
        for name, start, end in mtok.sections(data):
            yield f"section      {name}: {end - start:,} bytes from {start:,}"
    for kind in COMPONENTS:
        yield f"{kind:<14} {_shown(getattr(tokenizer, kind), 300)}"
    merges = getattr(tokenizer.model, "merges", None)
    counted = "" if merges is None else f", {len(merges):,} merges"
    yield f"vocabulary   {len(tokenizer.model.vocabulary):,} tokens{counted}"
    yield f"added tokens {len(tokenizer.added_tokens):,}"
    for token in tokenizer.added_tokens if options.all else tokenizer.added_tokens[:12]:
        flags = [each.name for each in fields(token) if getattr(token, each.name) is True]
        yield f"  {token.id:>7} {token.content!r} {' '.join(flags)}"
    for name in ("bos_token", "eos_token", "stop_ids", "prefix_ids", "control_ids", "truncation", "padding"):
        if getattr(tokenizer, name):
            yield f"{name:<14} {_shown(getattr(tokenizer, name))}"
    yield f"clean-up of spaces after decoding: {'yes' if tokenizer.clean_up_tokenization_spaces else 'no'}"
    yield f"chat template: {len(tokenizer.chat_template or ''):,} characters"
    yield str(tokenizer.contract())


def _convert(options: argparse.Namespace) -> Iterator[str]:
    _, tokenizer = _load(options.IN, options)
    if written := _write(tokenizer, options.OUT, options.to, strict=options.strict):
        yield f"{written}, tables of Unicode {mtok.UNICODE_VERSION}"


def _write(tokenizer: Tokenizer, path: str, to: str | None = None, *, strict: bool = False) -> str:
    """Write to a file, or to the standard output; return what was written, "" in a pipe."""
    suffix = f".{to}" if to else Path(path).suffix.lower()
    codec = next((codec for codec in CODECS if suffix in codec.suffixes), None)
    if codec is None:
        known = ", ".join(suffix for codec in CODECS for suffix in codec.suffixes)
        raise InvalidArgumentError(name="OUT", expected=f"a name that ends in {known}, or --to", found=path)
    data = codec.write(tokenizer, strict=strict)
    if path == "-":
        sys.stdout.buffer.write(data)
        return ""
    write_whole(path, data)
    return f"{path}: {codec.name}, {len(data):,} bytes"


def _encode(options: argparse.Namespace) -> Iterator[str]:
    _, tokenizer = _load(options.FILE, options)
    choices: dict[str, Any] = {
        "add_special_tokens": not options.plain,
        "parse_special_tokens": not options.as_text,
    }
    texts = _texts(options)
    report = progress_bar("texts")
    for done, text in enumerate(texts, 1):
        if options.tokens:
            encoding = tokenizer.encode(text, **choices)
            for token_id, token, span in zip(encoding.ids, encoding.tokens, encoding.offsets, strict=True):
                yield f"{token_id}\t{token!r}\t{span[0]}\t{span[1]}"
        else:
            yield " ".join(map(str, tokenizer.encode_ids(text, **choices)))
        if len(texts) > 1:
            report(done, len(texts))


def _decode(options: argparse.Namespace) -> Iterator[str]:
    _, tokenizer = _load(options.FILE, options)
    given = " ".join(options.IDS) if options.IDS else _text(sys.stdin.buffer.read())
    words = given.translate(str.maketrans("[,]", "   ")).split()  # as a list prints, too
    try:
        ids = [int(word) for word in words]
    except ValueError:
        odd = next((word for word in words if not word.isdecimal() or len(word) > 20), words[0])
        raise InvalidArgumentError(name="IDS", expected="token IDs", found=_shown(odd)) from None
    text = tokenizer.decode(ids, skip_special_tokens=not options.special)
    if options.IDS:
        yield text
    else:  # in a pipe nothing is added, so that encode | decode gives the text back
        sys.stdout.write(text)


def _train(options: argparse.Namespace) -> Iterator[str]:
    documents = [_text(_data(path)) for path in options.TEXT]
    split: Callable[[str], Iterable[str]] | None = None
    if not options.whole:
        split = partial(_pieces, pre_tokenizers.GPT2_PATTERN)
    trainer = BpeTrainer(options.merges, tie_break="ids", pre_tokenizer=split, progress=progress_bar())
    training = trainer.train(documents)
    names = {byte: to_byte_alphabet(bytes([byte])) for byte in range(256)}
    merges = []
    for rule in training.merges:
        left, right = (names[part] for part in rule.pair)
        names[rule.token_id] = left + right
        merges.append((left, right))
    as_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not options.whole)
    model = models.BPE(vocab={name: token_id for token_id, name in names.items()}, merges=tuple(merges))
    tokenizer = Tokenizer(model, pre_tokenizer=as_bytes, decoder=decoders.ByteLevel())
    if _write(tokenizer, options.out, "json" if options.out == "-" else None):
        yield f"{options.out}: {len(names):,} tokens, {len(merges):,} of {options.merges:,} merges"


def _pieces(pattern: str, text: str) -> list[str]:
    return [text[start:end] for start, end in find_regex(pattern, text)]


def _trace(options: argparse.Namespace) -> Iterator[str]:
    _, tokenizer = _load(options.FILE, options)
    for text in _texts(options):
        explanation = tokenizer.explain(text)
        yield str(explanation)
        if isinstance(tokenizer.model, models.BPE):
            last = [stage for stage in explanation.stages if stage.name == "pre-tokenizer"][-1]
            for piece, _, token_id in last.pieces:
                if token_id is None:
                    yield from _merges_of(tokenizer.model, piece)


def _merges_of(model: models.BPE, piece: str) -> Iterator[str]:
    yield f"merges of {piece!r}:"
    steps: list[str] = []

    def observe(rank: int, replacements: int, ids: list[int]) -> None:
        steps.append(f"  rank {rank}: {' '.join(repr(model.tokens_by_id[token_id]) for token_id in ids)}")

    model.observe_merges(piece, observe)
    yield from steps or ["  none"]


def _compare(options: argparse.Namespace) -> Iterator[str]:
    (_, first), (_, second) = (_load(path, options) for path in (options.A, options.B))
    same = first.fingerprint() == second.fingerprint()
    yield f"fingerprints {'are equal' if same else 'differ'}"
    for text in _texts(options):
        rows = [each.encode(text) for each in (first, second)]
        equal = rows[0].ids == rows[1].ids
        options.differs |= not equal
        yield f"{_shown(text, 60)}: {'same IDs' if equal else 'DIFFERENT IDs'}"
        for path, row in zip((options.A, options.B), rows, strict=True):
            yield f"  {path}: {len(row)} tokens: {' '.join(map(repr, row.tokens))}"


def _check(options: argparse.Namespace) -> Iterator[str]:
    from tokenlab import validation  # the course corpus, and processes: nothing that other commands need

    data, tokenizer = _load(options.FILE, options)
    remake = partial(Tokenizer.from_bytes, data, folder=_folder(options.FILE), **_given(options))
    findings = validation.validate(tokenizer, remake, seed=options.seed)
    yield from validation.as_text(findings)
    failed = sum(finding.verdict == "fail" for finding in findings)
    yield f"{failed} of {len(findings)} checks failed" if failed else "nothing failed"
    options.differs = bool(failed)


# --- Words

SWITCHES = {
    "--bytes": "account for every byte (.mtok)",
    "--all": "list all added tokens, not the first twelve",
    "--strict": "fail where some text's answers would differ",
    "--tokens": "one token a line: ID, token, start, end",
    "--plain": "insert no special tokens",
    "--as-text": "special tokens in the text are ordinary text",
    "--lines": "each line of the standard input is a text",
    "--special": "keep special tokens",
    "--whole": "let merges cross the edges of words",
}
WORDS: dict[str, dict[str, Any]] = {
    **{name: {"action": "store_true", "help": what} for name, what in SWITCHES.items()},
    "IDS": {"nargs": "*", "help": "default: the standard input"},
    "TEXT": {"nargs": "+", "help": "each one is a document"},
    "OUT": {"help": "the format is that of its suffix: .json, .mtok, .txt"},
    "--text": {"action": "append", "help": "may be repeated; default: the standard input"},
    "--to": {"choices": ("json", "mtok", "txt"), "help": "the format, whatever the name"},
    "--merges": {"type": int, "default": 1000, "help": "how many; default: 1000"},
    "--out": {"required": True, "metavar": "FILE", "help": "where to; .json, .mtok, or - for .json"},
    "--seed": {"type": int, "default": 0, "help": "of the random texts; default: 0"},
    "--rule": {"choices": ("field", "reader"), "help": "whose rules; default: field"},
    "--algorithm": {"choices": ("bpe", "unigram"), "help": "of type 0; default: by the scores"},
    "--pattern": {"help": "split pattern of types 1 and 3"},
}
LEGACY = "--rule --algorithm --pattern"


class Command(NamedTuple):
    """One command: what runs it, its words and options, and how it may be called."""

    run: Callable[[argparse.Namespace], Iterator[str]]
    words: str
    examples: tuple[str, ...]


COMMANDS = {
    "inspect": Command(
        _inspect,
        f"FILE --bytes --all {LEGACY}",
        ("tokenizer.mtok", "tokenizer.mtok --bytes"),
    ),
    "convert": Command(
        _convert,
        f"IN OUT --strict --to {LEGACY}",
        ("tokenizer.json tokenizer.mtok --strict", "tokenizer.mtok - --to json"),
    ),
    "encode": Command(
        _encode,
        f"FILE --tokens --plain --as-text --text --lines {LEGACY}",
        ('tokenizer.json --text "hello world"', "t.mtok < book.txt"),
    ),
    "decode": Command(
        _decode,
        f"FILE IDS --special {LEGACY}",
        ("tokenizer.json 31373 995", "t.mtok < ids.txt"),
    ),
    "train": Command(
        _train,
        "TEXT --merges --out --whole",
        ("book.txt --merges 1000 --out tokenizer.json",),
    ),
    "trace": Command(
        _trace,
        f"FILE --text --lines {LEGACY}",
        ("tokenizer.json --text hello",),
    ),
    "check": Command(
        _check,
        f"FILE --seed {LEGACY}",
        ("tokenizer.json", "tokenizer.mtok --seed 7"),
    ),
    "compare": Command(
        _compare,
        "A B --text --lines",
        ('a.json b.mtok --text "hello world"',),
    ),
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what was not understood in one line."""
        self.exit(2, f"{self.prog}: {message} (--help says more)\n")


def _parser() -> argparse.ArgumentParser:
    from tokenlab.__main__ import COMMANDS as known

    top = _Parser(prog="python -m tokenlab")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for name, (run, words, examples) in COMMANDS.items():
        what, shown = known[name][1], [f"  python -m tokenlab {name} {each}" for each in examples]
        command = commands.add_parser(
            name,
            help=what,
            description=what,
            epilog="\n".join(["examples:", *shown]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(run=run, command=name, differs=False)
        legacy = command.add_argument_group("legacy .txt files")
        for word in words.split():
            (legacy if word in LEGACY else command).add_argument(word, **WORDS.get(word, {}))
    return top


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"tokenlab: warning: {_one_line(message)}", file=sys.stderr)


def main(argv: list[str]) -> int:
    """Run one command; return its exit code: 0 done, 1 failed (compare, check: differs), 2 not understood."""
    options = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = _show_warning
            for line in options.run(options):
                print(line)
            sys.stdout.flush()
    except BrokenPipeError:
        raise  # no fault of this command
    except (TokenLabError, OSError) as error:
        print(f"tokenlab {options.command}: {_one_line(error)}", file=sys.stderr)
        return 1
    return int(options.differs)
