"""The commands on tokenizer files: inspect, convert, encode, decode, train, trace, check, compare.

Thin: it parses words, calls the library and prints. Text is UTF-8 on every platform; errors and warnings are
one line each on the standard error; `-` is the standard input or output.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

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
    if options.text:
        return list(options.text)
    text = _text(sys.stdin.buffer.read())
    return text.splitlines() if options.lines else [text]


def _codec_of(data: bytes) -> Codec:
    return next(codec for codec in CODECS if codec.recognises(data))


def _shown(value: object, longest: int = 100) -> str:
    text = repr(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


# --- The commands


def _inspect(options: argparse.Namespace) -> Iterator[str]:
    data, tokenizer = _load(options.file, options)
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
    yield f"vocabulary   {len(tokenizer.model.vocabulary):,} tokens" + (
        f", {len(merges):,} merges" if merges is not None else ""
    )
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
    _, tokenizer = _load(options.source, options)
    suffix = f".{options.to}" if options.to else Path(options.target).suffix
    codec = next((codec for codec in CODECS if suffix in codec.suffixes), None)
    if codec is None:
        known = ", ".join(suffix for codec in CODECS for suffix in codec.suffixes)
        raise InvalidArgumentError(
            name="OUT", expected=f"a name that ends in {known}, or --to", found=options.target
        )
    data = codec.write(tokenizer, strict=options.strict)
    if options.target == "-":
        sys.stdout.buffer.write(data)
        return
    write_whole(options.target, data)
    yield f"{options.target}: {codec.name}, {len(data):,} bytes, tables of Unicode {mtok.UNICODE_VERSION}"


def _encode(options: argparse.Namespace) -> Iterator[str]:
    _, tokenizer = _load(options.file, options)
    choices: dict[str, Any] = {
        "add_special_tokens": not options.plain,
        "parse_special_tokens": not options.as_text,
    }
    texts = _texts(options)
    report = progress_bar("texts")
    for done, text in enumerate(texts, 1):
        if options.tokens:
            encoding = tokenizer.encode(text, **choices)
            for token_id, token, (start, end) in zip(
                encoding.ids, encoding.tokens, encoding.offsets, strict=True
            ):
                yield f"{token_id}\t{token!r}\t{start}\t{end}"
        else:
            yield " ".join(map(str, tokenizer.encode_ids(text, **choices)))
        if len(texts) > 1:
            report(done, len(texts))


def _decode(options: argparse.Namespace) -> Iterator[str]:
    _, tokenizer = _load(options.file, options)
    words = options.ids or _text(sys.stdin.buffer.read()).split()
    try:
        ids = [int(word.strip(",[]")) for word in words]
    except ValueError:
        odd = (word for word in words if not word.strip(",[]").isdecimal() or len(word) > 20)
        raise InvalidArgumentError(
            name="IDS", expected="token IDs", found=_shown(next(odd, words[0]))
        ) from None
    text = tokenizer.decode(ids, skip_special_tokens=not options.special)
    if options.ids:
        yield text
    else:  # in a pipe nothing is added, so that encode | decode gives the text back
        sys.stdout.write(text)


def _train(options: argparse.Namespace) -> Iterator[str]:
    documents = [_text(_data(path)) for path in options.files]
    split: Callable[[str], Iterable[str]] | None = None
    if not options.whole:
        pattern = options.pattern or pre_tokenizers.GPT2_PATTERN
        split = lambda text: _pieces(pattern, text)  # noqa: E731 - one of two choices
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
    Tokenizer(model, pre_tokenizer=as_bytes, decoder=decoders.ByteLevel()).save(options.out)
    yield f"{options.out}: {len(names):,} tokens, {len(merges):,} of {options.merges:,} merges"


def _pieces(pattern: str, text: str) -> list[str]:
    return [text[start:end] for start, end in find_regex(pattern, text)]


def _trace(options: argparse.Namespace) -> Iterator[str]:
    _, tokenizer = _load(options.file, options)
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
    (_, first), (_, second) = (_load(path, options) for path in (options.first, options.second))
    same = first.fingerprint() == second.fingerprint()
    yield f"fingerprints {'are equal' if same else 'differ'}"
    for text in _texts(options):
        rows = [each.encode(text) for each in (first, second)]
        equal = rows[0].ids == rows[1].ids
        options.differs |= not equal
        yield f"{_shown(text, 60)}: {'same IDs' if equal else 'DIFFERENT IDs'}"
        for path, row in zip((options.first, options.second), rows, strict=True):
            yield f"  {path}: {len(row)} tokens: {' '.join(map(repr, row.tokens))}"


def _check(options: argparse.Namespace) -> Iterator[str]:
    from tokenlab import validation  # the course corpus, and processes: nothing that other commands need

    data, tokenizer = _load(options.file, options)
    remake = partial(Tokenizer.from_bytes, data, folder=_folder(options.file), **_given(options))
    findings = validation.validate(tokenizer, remake, seed=options.seed)
    yield from validation.as_text(findings)
    failed = sum(finding.verdict == "fail" for finding in findings)
    yield f"{failed} of {len(findings)} checks failed" if failed else "nothing failed"
    options.differs = bool(failed)


# --- Words


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what was not understood in one line."""
        self.exit(2, f"{self.prog}: {message} (--help says more)\n")


def _parser() -> argparse.ArgumentParser:
    top = _Parser(prog="python -m tokenlab", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="COMMAND")

    def add(
        name: str, run: Callable[[Any], Iterator[str]], what: str, *examples: str
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name,
            help=what,
            description=what,
            epilog="examples:\n" + "\n".join(f"  python -m tokenlab {name} {each}" for each in examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.set_defaults(run=run, command=name, differs=False)
        return command

    def add_legacy(command: argparse.ArgumentParser) -> None:
        group = command.add_argument_group("legacy .txt files")
        group.add_argument("--rule", choices=("field", "reader"), help="whose rules; default: field")
        group.add_argument(
            "--algorithm", choices=("bpe", "unigram"), help="of type 0; default: by the scores"
        )
        group.add_argument("--pattern", help="split pattern of types 1 and 3")

    def add_texts(command: argparse.ArgumentParser) -> None:
        command.add_argument("--text", action="append", help="may be repeated; default: the standard input")
        command.add_argument("--lines", action="store_true", help="each line of the standard input is a text")

    command = add(
        "inspect", _inspect, "say what is in a tokenizer file", "tokenizer.mtok", "tokenizer.mtok --bytes"
    )
    command.add_argument("file", metavar="FILE")
    command.add_argument("--bytes", action="store_true", help="account for every byte (.mtok)")
    command.add_argument("--all", action="store_true", help="list all added tokens, not the first twelve")
    add_legacy(command)
    command = add(
        "convert",
        _convert,
        "write a tokenizer in another format",
        "tokenizer.json tokenizer.mtok --strict",
        "tokenizer.mtok - --to json",
    )
    command.add_argument("source", metavar="IN")
    command.add_argument("target", metavar="OUT", help="the format is that of its suffix: .json, .mtok, .txt")
    command.add_argument("--strict", action="store_true", help="fail where some text's answers would differ")
    command.add_argument("--to", choices=("json", "mtok", "txt"), help="the format, whatever the name")
    add_legacy(command)
    command = add(
        "encode", _encode, "text to token IDs", "tokenizer.json --text 'hello world'", "t.mtok < book.txt"
    )
    command.add_argument("file", metavar="FILE")
    command.add_argument("--tokens", action="store_true", help="one token a line: ID, token, start, end")
    command.add_argument("--plain", action="store_true", help="insert no special tokens")
    command.add_argument(
        "--as-text", action="store_true", help="special tokens in the text are ordinary text"
    )
    add_texts(command)
    add_legacy(command)
    command = add("decode", _decode, "token IDs to text", "tokenizer.json 31373 995", "t.mtok < ids.txt")
    command.add_argument("file", metavar="FILE")
    command.add_argument("ids", metavar="IDS", nargs="*", help="default: the standard input")
    command.add_argument("--special", action="store_true", help="keep special tokens")
    add_legacy(command)
    command = add(
        "train", _train, "train byte-level BPE on text files", "book.txt --merges 1000 --out tokenizer.json"
    )
    command.add_argument("files", metavar="TEXT", nargs="+", help="each one is a document")
    command.add_argument("--merges", type=int, default=1000, help="how many; default: 1000")
    command.add_argument("--out", required=True, metavar="FILE", help="where to; .json or .mtok")
    command.add_argument("--whole", action="store_true", help="let merges cross the edges of words")
    command.set_defaults(pattern=None)
    command = add("trace", _trace, "show every stage of encoding a text", "tokenizer.json --text 'hello'")
    command.add_argument("file", metavar="FILE")
    add_texts(command)
    add_legacy(command)
    command = add(
        "check",
        _check,
        "try the validation list on a tokenizer; exit code 1 where a check fails",
        "tokenizer.json",
        "tokenizer.mtok --seed 7",
    )
    command.add_argument("file", metavar="FILE")
    command.add_argument("--seed", type=int, default=0, help="of the random texts; default: 0")
    add_legacy(command)
    command = add(
        "compare",
        _compare,
        "encode the same texts with two tokenizers; exit code 1 where IDs differ",
        "a.json b.mtok --text 'hello world'",
    )
    command.add_argument("first", metavar="A")
    command.add_argument("second", metavar="B")
    add_texts(command)
    return top


def _one_line(message: object) -> str:
    return " ".join(str(message).split())


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"tokenlab: warning: {_one_line(message)}", file=sys.stderr)


def main(argv: list[str]) -> int:
    """Run one command; return its exit code: 0 done, 1 failed (compare, check: differs), 2 not understood."""
    for name in ("stdin", "stdout", "stderr"):  # None where whoever started this has closed it
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: SIM115 - as long as the process
    for stream, how in ((sys.stdout, "backslashreplace"), (sys.stderr, "backslashreplace")):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors=how, newline="\n")
    options = _parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = _show_warning
            for line in options.run(options):
                print(line)
            sys.stdout.flush()
    except BrokenPipeError:
        # Whoever reads has had enough; nothing may be written to that pipe again, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (TokenLabError, OSError) as error:
        print(f"tokenlab {options.command}: {_one_line(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return int(options.differs)
