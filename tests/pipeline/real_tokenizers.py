"""Tokenizers with the components of current models' public files, and vocabularies trained here on real text.

`tokenizers` and `sentencepiece` train; what comes out is tokenizer.json, as a document.
"""

import argparse
import difflib
import html
import io
import json
from functools import cache
from pathlib import Path

import sentencepiece
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = Path(__file__).parents[2]
CONFIGURATIONS = json.loads((ROOT / "tests/vectors/real-configurations.json").read_text(encoding="utf-8"))
SENTENCEPIECE_STYLES = ("t5", "xlm-r")
NAMES = (*CONFIGURATIONS, "gpt2", "roberta", *SENTENCEPIECE_STYLES)


@cache
def documents():
    """The course corpus and some of the standard library's sources."""
    files = [path for path in sorted((ROOT / "data/multilingual").rglob("*")) if path.is_file()]
    files += [Path(module.__file__) for module in (argparse, difflib, html)]
    return [path.read_text(encoding="utf-8") for path in files]


@cache
def lines():
    """The same, line by line, which keeps words short where nothing pre-tokenises."""
    return [line for document in documents() for line in document.splitlines() if line]


def _added(token_id, content, *, special=True, normalized=False, lstrip=False):
    flags = {"single_word": False, "lstrip": lstrip, "rstrip": False, "normalized": normalized}
    return {"id": token_id, "content": content, **flags, "special": special}


def _byte_level_style(name):
    """GPT-2's and RoBERTa's files, which the given configurations do not hold."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    roberta = name == "roberta"
    specials = ["<s>", "<pad>", "</s>", "<unk>"] if roberta else ["<|endoftext|>"]
    post = {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            *(_added(i, content) for i, content in enumerate(specials)),
            *([_added(10**6, "<mask>", lstrip=True)] if roberta else []),
        ],
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": {**post, "add_prefix_space": False}
        if roberta
        else {**level, "trim_offsets": False},
        "decoder": level,
        "model": {
            "type": "BPE",
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
        },
    }


@cache
def document(name):
    """Return the tokenizer.json of one configuration, as a JSON text."""
    if name in SENTENCEPIECE_STYLES:
        return _sentencepiece_style(name)
    given = CONFIGURATIONS.get(name)
    file = json.loads(json.dumps(given["tokenizer"])) if given else _byte_level_style(name)
    size = given["vocabulary_size"] if given else 10**6
    model = file["model"]
    inside = [token["content"] for token in file["added_tokens"] if token["id"] < size]
    if given and model["type"] == "WordPiece":
        inside = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    if model.get("byte_fallback"):
        inside = list(dict.fromkeys([*inside, *_template_tokens(file), "<unk>"]))
        inside += [f"<0x{byte:02X}>" for byte in range(256)]
    bare = {**file, "added_tokens": [], "post_processor": None, "truncation": None, "padding": None}
    empty = {"vocab": {}, "merges": []} if model["type"] == "BPE" else {"vocab": {"[UNK]": 0}}
    trained = Tokenizer.from_str(
        json.dumps({**bare, "model": {**model, **empty, "unk_token": model["unk_token"]}})
    )
    trained.train_from_iterator(lines(), _trainer(model, inside))
    learnt = json.loads(trained.to_str())["model"]
    model["vocab"] = learnt["vocab"]
    if "merges" in learnt:
        as_text = given and given["merges_spelled_as"] == "one string"
        model["merges"] = [" ".join(merge) if as_text else merge for merge in learnt["merges"]]
    _renumber(file)
    return json.dumps(file)


def _trainer(model, inside):
    if model["type"] == "WordPiece":
        return trainers.WordPieceTrainer(vocab_size=2500, special_tokens=inside, show_progress=False)
    byte_level = not model.get("byte_fallback")
    return trainers.BpeTrainer(
        vocab_size=2500,
        special_tokens=inside,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet() if byte_level else [],
        limit_alphabet=256 if byte_level else 150,  # the rest goes to the bytes
        show_progress=False,
    )


def _template_tokens(file):
    return list((file["post_processor"] or {}).get("special_tokens") or {})


def _renumber(file):
    """Give added tokens, templates and padding the IDs of the vocabulary that was trained."""
    ids = dict(file["model"]["vocab"])
    for content in _template_tokens(file):
        if all(token["content"] != content for token in file["added_tokens"]):
            file["added_tokens"].append(_added(0, content))
    for token in file["added_tokens"]:
        token["id"] = ids.setdefault(token["content"], len(ids))
    for content in _template_tokens(file):
        file["post_processor"]["special_tokens"][content]["ids"] = [ids[content]]


def _sentencepiece_style(name):
    """T5's and XLM-R's files: Unigram, and SentencePiece's own character map as normalizer."""
    pieces, character_map = _sentencepiece_model()
    specials = ["<pad>", "</s>", "<unk>"] if name == "t5" else ["<s>", "<pad>", "</s>", "<unk>"]
    vocab = [(piece, 0.0) for piece in specials] + pieces
    tokenizer = Tokenizer(models.Unigram(vocab, specials.index("<unk>"), byte_fallback=False))
    precompiled = normalizers.Precompiled(character_map)
    metaspace = {"replacement": "▁", "prepend_scheme": "always"}
    if name == "t5":
        tokenizer.normalizer = precompiled
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(**metaspace)]
        )
        templates = "$A </s>", "$A </s> $B </s>"
    else:
        spaces = normalizers.Replace(pattern=_two_spaces(), content=" ")
        tokenizer.normalizer = normalizers.Sequence([precompiled, spaces])
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(**metaspace)
        templates = "<s> $A </s>", "<s> $A </s> </s> $B </s>"
    tokenizer.post_processor = processors.TemplateProcessing(
        *templates, [(token, specials.index(token)) for token in specials if token in templates[0]]
    )
    tokenizer.decoder = decoders.Metaspace(**metaspace)
    file = json.loads(tokenizer.to_str())
    mask = "<extra_id_0>" if name == "t5" else "<mask>"
    contents = [(content, False) for content in specials] + [(mask, name != "t5")]
    file["added_tokens"] = [
        _added(i if i < len(specials) else len(vocab), content, lstrip=lstrip)
        for i, (content, lstrip) in enumerate(contents)
    ]
    return json.dumps(file)


def _two_spaces():
    from tokenizers import Regex

    return Regex(" {2,}")


@cache
def _sentencepiece_model():
    """Return the pieces with their scores, without control tokens, and the compiled character map."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines()),
        model_writer=written,
        vocab_size=2500,
        character_coverage=0.995,
        normalization_rule_name="nmt_nfkc",
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    pieces = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(3, len(processor))]
    normalizer_spec = next(value for number, value in _fields(written.getvalue()) if number == 3)
    return pieces, next(value for number, value in _fields(normalizer_spec) if number == 2)


def _fields(message):
    """Yield (number, bytes) of the length-delimited fields of a protocol buffer."""
    place = 0

    def varint():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while place < len(message):
        key = varint()
        if key & 7 == 2:
            length = varint()
            yield key >> 3, message[place : place + length]
            place += length
        elif key & 7 == 0:
            varint()
        else:
            place += 4 if key & 7 == 5 else 8
