"""What `.mtok` files mean: against the golden answers, against tokenizer.json, and with each loss shown."""

import json
import pickle
import random
import unicodedata
import warnings
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipeline import strategies
from tests.pipeline.real_tokenizers import CONFIGURATIONS, document
from tokenlab import Tokenizer
from tokenlab.bpe.merging import SortedMergeTable, merge_reference
from tokenlab.errors import (
    LostAnswersError,
    LostAnswersWarning,
    LostExtrasWarning,
    MtokError,
    MtokWarning,
    TokenLabError,
    UnknownCharacterWarning,
)
from tokenlab.formats import huggingface, mtok
from tokenlab.formats.header import Header
from tokenlab.formats.layout import Entry
from tokenlab.formats.mtok_meaning import NormTable, overlap
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.text import AlignedText

VECTORS = Path(__file__).parent.parent / "vectors/mtok"
GOLDEN = sorted(path.name for path in VECTORS.iterdir())
NEW_SINCE_14 = range(0x1E030, 0x1E06E)  # letters of Unicode 15 that have a compatibility form


def cases(name):
    return [json.loads(line) for line in (VECTORS / name / "cases.jsonl").read_text("utf-8").splitlines()]


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def losses(tokenizer):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mtok.write(tokenizer)
    return [warning.message for warning in caught]


# --- The golden files


@pytest.mark.parametrize("name", GOLDEN)
@pytest.mark.parametrize("file", ["tokenizer.mtok", "tokenizer.json"])
def test_golden_answers(name, file):
    tokenizer = Tokenizer.from_file(VECTORS / name / file)
    for case in cases(name):
        encoding = tokenizer.encode(case["text"])
        assert list(encoding.ids) == case["ids"] == case["mnn_ids"]
        assert tokenizer.encode_ids(case["text"]) == case["ids"]
        assert list(encoding.type_ids) == case["type_ids"]
        assert list(encoding.special_tokens_mask) == case["special_tokens_mask"]
        assert tokenizer.decode(case["ids"]) == case["decoded"]
        assert tokenizer.decode(case["ids"], skip_special_tokens=False) == case["decoded_with_special"]
        # The oracle leaves the mark of a composed letter out of its span; and a table does not compose.
        if unicodedata.is_normalized("NFC", case["text"]):
            assert list(encoding.tokens) == case["tokens"]
            assert [list(span) for span in encoding.offsets] == case["offsets"]


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_is_read_and_written_back_byte_for_byte(name):
    data = (VECTORS / name / "tokenizer.mtok").read_bytes()
    assert mtok.write(mtok.read(data)) == data
    assert mtok.read(VECTORS / name / "tokenizer.mtok") == mtok.read(data)


@pytest.mark.parametrize("name", GOLDEN)
def test_the_body_written_for_a_tokenizer_json_is_the_golden_one(name):
    written = mtok.read_file(quiet(mtok.write, Tokenizer.from_file(VECTORS / name / "tokenizer.json")))
    golden = mtok.read_file((VECTORS / name / "tokenizer.mtok").read_bytes())
    if "table" in golden.normalizer.values:
        ours, theirs = (dict(file.normalizer.values["table"]["entries"]) for file in (written, golden))
        assert {key: ours[key] for key in theirs} == theirs
        assert set(ours) - set(theirs) <= set(NEW_SINCE_14)
        same = {"table": golden.normalizer.values["table"]}
        written = replace(
            written, normalizer=replace(written.normalizer, values={**written.normalizer.values, **same})
        )
    # The stop ID of one of them came from a generation_config.json that is not there.
    assert replace(written, header=golden.header) == golden
    assert written.header.special == golden.header.special


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_as_tokenizer_json_answers_alike(name):
    ours = mtok.read(VECTORS / name / "tokenizer.mtok")
    theirs = tokenizers.Tokenizer.from_str(quiet(huggingface.write, ours, strict=True).decode())
    for case in cases(name):
        assert theirs.encode(case["text"]).ids == case["ids"]
        assert theirs.decode(case["ids"]) == ours.decode(case["ids"])


# --- Real configurations


@pytest.mark.parametrize("name", ["llama2", "llama3", "gemma3", "deepseek_v3", "gptoss", "gpt4o"])
def test_real_configurations_convert_strictly_with_equal_answers(name):
    data = document(name)
    ours = Tokenizer.from_bytes(data.encode())
    written = quiet(mtok.write, ours, strict=True)
    back = mtok.read(written)
    oracle = tokenizers.Tokenizer.from_str(data)
    draw = random.Random(name)
    letters = " \n\t1a'éE\u0301日▁<|>s/.٣Σ😀"
    texts = ["".join(draw.choices(letters, k=draw.randrange(20))) for _ in range(150)]
    texts += ["Hello,  world! It's 2024.\n\n", "  def f(x):\n\treturn x", "日本語 مرحبا हिन्दी"]
    texts += [f"a{token.content} {token.content}b" for token in ours.added_tokens]
    for text in texts:
        ids = oracle.encode(text).ids
        assert list(ours.encode(text).ids) == list(back.encode(text).ids) == back.encode_ids(text) == ids
        assert ours.decode(ids) == back.decode(ids)
        assert ours.encode(text).offsets == back.encode(text).offsets
    assert back.fingerprint() == ours.fingerprint()
    assert mtok.read(mtok.write(back)) == back


def test_a_configuration_that_composes_has_the_one_loss_that_the_format_has():
    with pytest.raises(LostAnswersError, match=r"NFC: .* cannot compose") as caught:
        mtok.write(Tokenizer.from_bytes(document("qwen3").encode()), strict=True)
    (loss,) = caught.value.warnings
    assert loss.component == "NFC"


# --- By meaning, component by component


def with_part(kind, spec):
    return Tokenizer.from_bytes(strategies.document(**{kind: spec}))


@settings(max_examples=200, deadline=None)
@given(strategies.PRE_TOKENIZER, st.lists(strategies.TEXT, max_size=6))
def test_a_pre_tokenizer_cuts_alike_or_is_named_as_lost(spec, texts):
    ours = with_part("pre_tokenizer", spec)
    try:
        back = mtok.read(quiet(mtok.write, ours, strict=True))
    except LostAnswersError as error:
        assert {loss.component for loss in error.warnings} <= {"ByteLevel", "Metaspace", "Split"}
        return
    for text in texts:
        assert back.pre_tokenizer.split(text) == ours.pre_tokenizer.split(text)


@settings(max_examples=200, deadline=None)
@given(strategies.NORMALIZER, st.lists(strategies.TEXT, max_size=6))
def test_a_normalizer_maps_alike_or_is_named_as_lost(spec, texts):
    ours = with_part("normalizer", spec)
    try:
        back = mtok.read(quiet(mtok.write, ours, strict=True))
    except LostAnswersError as error:
        assert {loss.component for loss in error.warnings} <= {"NFC", "NFD", "NFKC", "NFKD", "Replace"}
        return
    for text in texts:
        assert back.normalizer(text) == ours.normalizer(text)


BPE = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "-": 3}, "merges": [["a", "b"]]}
UNKNOWN = {**BPE, "vocab": {**BPE["vocab"], "<unk>": 4}, "unk_token": "<unk>"}


def changed(**parts):
    return Tokenizer.from_bytes(strategies.document(**{"model": BPE, **parts}))


def token(token_id, content, **flags):
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": token_id, "content": content, **{name: flags.get(name, False) for name in names}}


@pytest.mark.parametrize(
    ("parts", "component"),
    [
        ({"model": UNKNOWN}, "BPE"),
        (
            {
                "model": {
                    **BPE,
                    "vocab": {"a": 0, "b": 1, "c": 2, "ab": 3, "bc": 4, "abc": 5},
                    "ignore_merges": True,
                    "merges": [["b", "c"], ["a", "b"]],
                }
            },
            "BPE",
        ),
        ({"model": {**BPE, "end_of_word_suffix": "-", "vocab": {**BPE["vocab"], "a-": 4, "b-": 5}}}, "BPE"),
        ({"model": {"type": "Unigram", "unk_id": None, "vocab": [["a", -1.0], ["b", -2.0]]}}, "Unigram"),
        ({"normalizer": {"type": "NFC"}, "model": {**BPE, "vocab": {**BPE["vocab"], "é": 4, "e": 5}}}, "NFC"),
        ({"normalizer": {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "b"}}, "Replace"),
        (
            {
                "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True},
                "model": {**BPE, "vocab": {**BPE["vocab"], "Ġ": 4}},
            },
            "ByteLevel",
        ),
        (
            {
                "pre_tokenizer": {"type": "Metaspace", "replacement": "-", "prepend_scheme": "first"},
                "added_tokens": [token(4, "<s>")],
            },
            "Metaspace",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Metaspace",
                    "replacement": "-",
                    "prepend_scheme": "never",
                    "split": False,
                },
                "model": {
                    **BPE,
                    "vocab": {**BPE["vocab"], "a-": 4, "a-b": 5},
                    "merges": [["a", "-"], ["a-", "b"]],
                },
            },
            "Metaspace",
        ),
        ({"added_tokens": [token(4, "ba", single_word=True)]}, "AddedToken"),
        (
            {"added_tokens": [token(4, "Ab", normalized=True)], "normalizer": {"type": "Lowercase"}},
            "AddedToken",
        ),
    ],
)
def test_a_loss_of_answers_is_named_with_a_text_that_shows_it(parts, component):
    ours = changed(**parts)
    found = [loss for loss in losses(ours) if isinstance(loss, LostAnswersWarning)]
    assert [loss.component for loss in found] == [component]
    with pytest.raises(LostAnswersError, match=component):
        quiet(mtok.write, ours, strict=True)
    if found[0].example is not None:
        back = mtok.read(quiet(mtok.write, ours))
        assert repr(found[0].example) in str(found[0])
        assert outcome(back, found[0].example) != outcome(ours, found[0].example)


def outcome(tokenizer, text):
    try:
        return tokenizer.encode_ids(text)
    except (TokenLabError, UnknownCharacterWarning) as error:
        return type(error)


@pytest.mark.parametrize(
    "parts",
    [
        {"truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0}},
        {"post_processor": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}},
    ],
)
def test_a_loss_of_extras_never_is_an_error(parts):
    ours = changed(**parts)
    assert [type(loss) for loss in losses(ours)] == [LostExtrasWarning]
    assert quiet(mtok.write, ours, strict=True)


@pytest.mark.parametrize(
    "parts",
    [
        {"post_processor": {"type": "BertProcessing", "sep": ["b", 1], "cls": ["a", 0]}},
        {"decoder": None},
        {"decoder": {"type": "BPEDecoder", "suffix": "b"}},
        {
            "model": {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "[UNK]": 2}, "unk_token": "[UNK]"},
            "pre_tokenizer": {"type": "WhitespaceSplit"},
        },
        {"model": {**BPE, "ignore_merges": True}},
        {"normalizer": {"type": "StripAccents"}},
        {
            "normalizer": {
                "type": "Sequence",
                "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}],
            }
        },
        {
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"String": "."},
                "behavior": "Isolated",
                "invert": False,
            }
        },
        {
            "added_tokens": [
                token(4, "<x>", special=True),
                token(5, "<x>y", special=True),
                token(6, "x><", lstrip=True),
            ]
        },
        {"added_tokens": [token(4, "<x>", normalized=True)]},
        {
            "model": {**BPE, "vocab": {"a": 0, "b": 1, "ab": 3, "-": 4}},
            "added_tokens": [token(2, "<s>", special=True)],
        },
    ],
)
@settings(max_examples=40, deadline=None)
@given(text=st.text("ab- .<x>yéÀ\u0301", max_size=10))
def test_what_another_record_says_is_no_loss(parts, text):
    ours = changed(**parts)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LostAnswersWarning)
        back = mtok.read(mtok.write(ours, strict=True))
    assert outcome(back, text) == outcome(ours, text)
    assert back.fingerprint() == ours.fingerprint()
    if isinstance(ids := outcome(ours, text), list):
        assert back.decode(ids) == ours.decode(ids)


def test_a_program_that_the_older_list_could_be_is_warned_of():
    three = {name: {"id": name, "ids": [i], "tokens": [name]} for i, name in enumerate("ab-")}
    single = [
        {"Sequence": {"id": "A", "type_id": 0}},
        *({"SpecialToken": {"id": n, "type_id": 0}} for n in "ab-"),
    ]
    ours = changed(
        post_processor={
            "type": "TemplateProcessing",
            "single": single,
            "pair": single,
            "special_tokens": three,
        }
    )
    assert MtokWarning in [type(loss) for loss in losses(ours)]


# --- What only a .mtok file says


def file_of(**parts):
    vocabulary = [("<m", 3), ("<m>", 4), ("a", 0), ("ab", 2), ("b", 1)]
    values = {"byte_fallback": 0, "byte_level": 0, "vocabulary": vocabulary, "merges": [(0, 1, 7)]}
    base = {
        "header": Header(4),
        "normalizer": Entry(0, {}),
        "pre_tokenizer": Entry(0, {}),
        "model": Entry(0, {**values, **parts.pop("model", {})}),
        "decoder": Entry(4, {}),
    }
    return mtok.MtokFile(**{**base, **parts})


def tokenizer_of(**parts):
    return mtok.read(mtok.write_file(file_of(**parts)))


@pytest.mark.parametrize(("listed", "ids"), [((3, 4), [0, 3]), ((4, 3), [0, 4])])
def test_of_two_control_tokens_the_one_listed_first_is_cut_out(listed, ids):
    tokenizer = tokenizer_of(header=Header(4, listed))
    assert tokenizer.encode_ids("a<m")[:1] == [0]
    text = "a<m>" if listed[0] == 4 else "a<m"
    assert tokenizer.encode_ids(text) == ids
    assert tokenizer.decode([0, 3, 4]) == "a"
    if listed[0] == 3:
        assert list(tokenizer.encode("<m", parse_special_tokens=True).ids) == [3]
        with pytest.warns(UnknownCharacterWarning, match="'>'"):  # the shorter one has taken its text
            assert tokenizer.encode_ids("<m>") == [3]


def test_control_tokens_are_cut_out_before_added_ones():
    row = (5, 0, 0, 0, "a<m")
    assert tokenizer_of(header=Header(4, (3,)), added_tokens=(row,)).encode_ids("a<m") == [0, 3]
    assert tokenizer_of(added_tokens=(row,)).encode_ids("a<m") == [5]


def test_prefix_and_program_both_apply_and_both_are_special():
    steps = (Entry(1, {"id": 1}), Entry(0, {}), Entry(1, {"id": 9}))
    tail = {"chat_template": "", "eos_token": "", "flags": 0, "bos_token": "", "steps": steps}
    tokenizer = tokenizer_of(header=Header(4, prefix=(0,)), **tail)
    assert tokenizer.encode_ids("ab") == [1, 0, 2, 9]
    assert list(tokenizer.encode("ab", add_special_tokens=False).ids) == [2]
    assert list(tokenizer.encode("ab").special_tokens_mask) == [1, 1, 0, 1]
    again = mtok.read(quiet(mtok.write, replace(tokenizer, origin=None)))
    assert again.encode_ids("ab") == [1, 0, 2, 9]
    assert again.prefix_ids == ()
    with pytest.warns(MtokWarning, match="twice"):
        tokenizer_of(header=Header(4, prefix=(1,)), **tail)


def test_a_table_does_not_compose_where_the_document_s_nfkc_does():
    table = Entry(6, {"table": {"entries": [(0xFB01, "fi")]}})
    assert tokenizer_of(normalizer=table).normalizer("ﬁe\u0301") == "fie\u0301"
    assert tokenizer_of(normalizer=Entry(1, {})).normalizer("ﬁe\u0301") == "fi\u00e9"


def test_the_byte_level_flag_maps_bytes_after_the_pre_tokenizer():
    tokenizer = tokenizer_of(model={"byte_level": 1, "vocabulary": [("©", 1), ("Ã", 0)], "merges": []})
    assert tokenizer.encode("é").offsets == ((0, 1), (0, 1))
    assert tokenizer.encode_ids("é") == [0, 1]


def test_norm_tables_are_values():
    table = NormTable(((65, "a"), (66, "")))
    assert table == pickle.loads(pickle.dumps(table)) != NormTable(((65, "b"),))
    assert hash(table) == hash(NormTable(((65, "a"), (66, ""))))
    assert table.normalize(AlignedText.of("xAB")).span(1, 2) == (1, 2)
    assert table.spelled_out()("xABA") == table("xABA") == "xaa"
    assert NormTable(((65, "B"), (66, "c"))).spelled_out() is None


@given(
    st.lists(st.text("ab<", min_size=1, max_size=3), max_size=3),
    st.lists(st.text("ab<", min_size=1, max_size=3), max_size=3),
)
def test_overlap_is_what_trying_all_places_finds(first, second):
    def meet(one, other):
        places = range(-len(other) + 1, len(one))
        return any(
            all(one[i] == other[i - at] for i in range(max(0, at), min(len(one), at + len(other))))
            for at in places
        )

    assert overlap(first, second) == any(meet(one, other) for one in first for other in second)


def test_overlap_of_long_and_of_many_texts_takes_no_time():
    started = process_time()
    assert not overlap(["a" * 20_000], ["b" * 20_000])
    assert not overlap(["a" * 5_000 + "c"], ["b" + "a" * 5_000 + "b"])
    assert overlap(["a" * 20_000], ["a" * 20_000])
    assert not overlap([f"<a{i}>" for i in range(10_000)], [f"<b{i}>" for i in range(10_000)])
    assert process_time() - started < 3


# --- Contradictions


@pytest.mark.parametrize(
    ("parts", "section"),
    [
        ({"model": {"vocabulary": [("a", 0), ("b", 2)], "merges": []}}, "Model / BPE / vocabulary [1] / id"),
        ({"model": {"vocabulary": [("a", 0), ("b", 0)], "merges": []}}, "Model / BPE / vocabulary [1] / id"),
        ({"model": {"merges": [(0, 1, 0), (0, 77, 1)]}}, "Model / BPE / merges [1] / right_id"),
        ({"model": {"merges": [(1, 0, 0)]}}, "Model / BPE / merges [0]"),
        (
            {
                "model": {
                    "merges": [(0, 1, 0), (3, 0, 0)],
                    "vocabulary": [("a", 0), ("ab", 2), ("b", 1), ("c", 3), ("ca", 4)],
                }
            },
            "Model / BPE / merges [1] / rank",
        ),
        ({"header": Header(4, special=(0, 99))}, "Header / special ID"),
        ({"header": Header(4, stop=(99,))}, "Header / stop ID"),
        ({"added_tokens": ((7, 0, 0, 0, "x"), (7, 0, 0, 0, "y"))}, "Added tokens / tokens [1] / id"),
        ({"added_tokens": ((0, 0, 0, 0, "x"),)}, "Added tokens"),
        ({"pre_tokenizer": Entry(4, {"pattern": "(", "invert": 0, "behavior": 0})}, "PreTokenizer"),
        ({"pre_tokenizer": Entry(3, {"replacement": "", "add_prefix_space": 0})}, "PreTokenizer"),
        ({"decoder": Entry(6, {"content": "ab", "start": 0, "stop": 0})}, "Decoder"),
        ({"model": None}, "Model / Unigram / unk_id"),
    ],
)
def test_a_contradiction_is_named_with_its_offset(parts, section):
    if parts.get("model", {}) is None:
        unigram = {"unk_id": 5, "byte_fallback": 0, "vocabulary": [("a", 0, -1.0)]}
        data = mtok.write_file(replace(file_of(), model=Entry(2, unigram)))
    else:
        data = mtok.write_file(file_of(**parts))
    with pytest.raises(MtokError) as caught:
        Tokenizer.from_bytes(data)
    assert caught.value.section == section
    found = [each for each in mtok.explain(data) if f"{each.section} / {each.name}".startswith(section)]
    assert caught.value.offset in [each.offset for each in found]


@pytest.mark.parametrize(
    "vocabulary", [{"a": 0, "b": 2}, {"a": 1}, {"a" * 65_536: 0}], ids=["a hole", "no ID 0", "too long"]
)
def test_what_the_format_cannot_hold_is_refused_by_the_writer(vocabulary):
    with pytest.raises(MtokError):
        mtok.write(changed(model={"type": "BPE", "vocab": vocabulary, "merges": []}))


def test_repeated_merges_are_written_once_and_the_last_counts():
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "ba": 3}, "merges": ["a b", "b a", "a b"]}
    ours = changed(model=model)
    file = mtok.read_file(mtok.write(ours))
    assert [row[:2] for row in sorted(file.model.values["merges"], key=lambda row: row[2])] == [
        (1, 0),
        (0, 1),
    ]
    assert mtok.read(mtok.write(ours)).encode_ids("aba") == ours.encode_ids("aba") == [0, 3]


def test_writing_replaces_a_file_as_a_whole_or_not_at_all(tmp_path):
    path = tmp_path / "t.mtok"
    path.write_bytes(b"before")
    with pytest.raises(LostAnswersError):
        changed(model=UNKNOWN).save(path, strict=True)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"before"]
    data = mtok.write(changed(), path)
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [data]


# --- Properties


@st.composite
def valid_files(draw):
    """Files whose parts fit each other."""
    tokens = sorted(draw(st.sets(st.text("abc▁é", min_size=1, max_size=3), min_size=1, max_size=8)))
    ids = draw(st.permutations(range(len(tokens))))
    vocabulary = list(zip(tokens, ids, strict=True))
    known = dict(vocabulary)
    joins = [(known[a], known[b]) for a in tokens for b in tokens if a + b in known]
    chosen = sorted(draw(st.sets(st.sampled_from(joins))) if joins else [])
    ranks = draw(st.permutations(range(3, 3 + len(chosen))))
    flag = st.integers(0, 1)
    merges = [(*pair, rank) for pair, rank in zip(chosen, ranks, strict=True)]
    model = draw(
        st.sampled_from(
            [
                Entry(
                    0,
                    {
                        "byte_fallback": draw(flag),
                        "byte_level": draw(flag),
                        "vocabulary": vocabulary,
                        "merges": merges,
                    },
                ),
                Entry(
                    1,
                    {
                        "unk_token": tokens[0],
                        "continuing_subword_prefix": "b",
                        "max_input_chars_per_word": 3,
                        "vocabulary": vocabulary,
                    },
                ),
                Entry(
                    2,
                    {
                        "unk_id": 0,
                        "byte_fallback": draw(flag),
                        "vocabulary": [(t, i, -1.0 - i) for t, i in vocabulary],
                    },
                ),
            ]
        )
    )
    normalizers = [
        Entry(0, {}),
        Entry(1, {}),
        Entry(2, {"prepend": "▁"}),
        Entry(3, {"pattern": " ", "content": "▁"}),
        Entry(4, {"normalizers": (Entry(0, {}), Entry(8, {"left": 1, "right": 0}))}),
        Entry(6, {"table": {"entries": [(65, "a"), (66, "")]}}),
        Entry(
            7,
            {
                "clean_text": 1,
                "handle_chinese_chars": 0,
                "strip_accents": 1,
                "lowercase": 0,
                "table": {"entries": [(233, "e\u0301")]},
            },
        ),
        Entry(5, {"clean_text": 0, "handle_chinese_chars": 1, "strip_accents": 0, "lowercase": 1}),
    ]
    pre_tokenizers = [
        Entry(0, {}),
        Entry(1, {"use_regex": 1}),
        Entry(2, {"individual_digits": 1}),
        Entry(5, {}),
        Entry(3, {"replacement": "▁", "add_prefix_space": draw(flag)}),
        Entry(
            6,
            {
                "pretokenizers": (
                    Entry(4, {"pattern": r"\s", "invert": draw(flag), "behavior": draw(st.integers(0, 2))}),
                )
            },
        ),
    ]
    decoders = [
        Entry(0, {}),
        Entry(2, {"replacement": "▁", "add_prefix_space": 1}),
        Entry(3, {"prefix": "b", "cleanup": 1}),
        Entry(
            7, {"decoders": (Entry(1, {}), Entry(4, {}), Entry(6, {"content": "a", "start": 1, "stop": 1}))}
        ),
    ]
    some_ids = st.lists(st.integers(0, len(tokens) - 1), max_size=2, unique=True).map(tuple)
    step = st.one_of(st.just(Entry(0, {})), st.integers(0, 9).map(lambda i: Entry(1, {"id": i})))
    tail = {
        "chat_template": draw(st.sampled_from(["", "{{ x }}"])),
        "eos_token": "a",
        "flags": draw(flag),
        "bos_token": "",
        "steps": tuple(draw(st.lists(step, max_size=3))),
    }
    kept = draw(st.sampled_from([0, 2, 3, 4, 5]))
    return mtok.MtokFile(
        Header(4, draw(some_ids), draw(some_ids), draw(some_ids), draw(st.sampled_from(["", " "]))),
        draw(st.sampled_from(normalizers)),
        draw(st.sampled_from(pre_tokenizers)),
        model,
        draw(st.sampled_from(decoders)),
        tuple(
            (100 + i, draw(flag), draw(flag), draw(flag), text)
            for i, text in enumerate(["<x>", "<x>y"][: draw(st.integers(0, 2))])
        ),
        **dict(list(tail.items())[:kept]),
    )


@settings(max_examples=100, deadline=None)
@given(valid_files(), st.text("abc▁é <x>yB\u0301", max_size=8))
def test_what_is_read_is_written_byte_for_byte_and_what_is_written_anew_answers_alike(file, text):
    data = mtok.write_file(file)
    tokenizer = quiet(mtok.read, data)
    assert quiet(mtok.write, tokenizer) == data
    assert pickle.loads(pickle.dumps(tokenizer)) == tokenizer
    try:
        anew = quiet(mtok.write, replace(tokenizer, origin=None), strict=True)
    except LostAnswersError as error:
        assert [loss.component for loss in error.warnings] == ["NFKC"]
        return
    back = quiet(mtok.read, anew)
    assert quiet(mtok.write, back) == anew
    assert outcome(back, text) == outcome(tokenizer, text)
    assert back.fingerprint() == tokenizer.fingerprint()
    assert quiet(mtok.read, quiet(mtok.write, back)) == back


@pytest.mark.parametrize("name", ["byte-level-bpe", "byte-fallback-bpe"])
def test_damaged_files_load_or_raise_the_one_error(name):
    data = (VECTORS / name / "tokenizer.mtok").read_bytes()
    draw = random.Random(11)
    loaded = 0
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(draw.randint(1, 3)):
            damaged[draw.randrange(len(damaged))] = draw.choice((0, 1, 2, 7, 0x7F, 0xFF, draw.randrange(256)))
        try:
            tokenizer = quiet(Tokenizer.from_bytes, bytes(damaged))
        except TokenLabError as error:
            assert str(error)
        else:
            loaded += 1
            assert quiet(mtok.write, tokenizer) == damaged
    assert 0 < loaded < 150


def test_the_specification_lists_every_record_once():
    rows = mtok.specification()
    assert {row[0] for row in rows} >= {"Normalizer", "PreTokenizer", "Model", "Decoder", "Added tokens"}
    named = [(row[0], row[1], row[3]) for row in rows]
    assert len(named) == len(set(named))
    assert ("Model", "2", "Unigram", "unk_id", "u32", "the ID of the unknown token") in rows


def test_added_tokens_read_from_a_file_are_searched_in_the_raw_text():
    tokenizer = tokenizer_of(added_tokens=((5, 1, 1, 0, "<x>"),))
    assert tokenizer.added_tokens == (AddedToken(5, "<x>", lstrip=True, normalized=False, special=True),)
    assert {"llama2", "qwen3"} <= CONFIGURATIONS.keys()


@settings(max_examples=100)
@given(
    st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(0, 5), max_size=8),
    st.lists(st.integers(0, 4), max_size=40),
    st.randoms(use_true_random=False),
)
def test_a_table_searched_by_halves_merges_as_the_reference_does(joins, symbols, draw):
    ranks = draw.sample(range(20), len(joins))
    rules = {pair: (rank, joins[pair]) for pair, rank in zip(joins, ranks, strict=True)}
    rows = sorted((*pair, rank) for pair, (rank, _) in rules.items())
    table = SortedMergeTable(rows, joins.__getitem__)
    expected = merge_reference(symbols, rules)
    assert table.merge(symbols) == expected
    assert table.merge_many([symbols]) == [expected]
    assert table.merge(symbols) == expected
    assert table.pairs == sorted(rules, key=rules.__getitem__)


@pytest.mark.parametrize(
    "parts",
    [
        {"normalizer": {"type": "Strip", "strip_left": True, "strip_right": False}},
        {"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": ""}},
        {"before": {"type": "WhitespaceSplit"}},
    ],
)
def test_a_prefix_of_the_first_part_alone_is_lost_where_that_can_be_seen(parts):
    first = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
    before = parts.pop("before", None)
    sequence = {"type": "Sequence", "pretokenizers": [before, first] if before else [first]}
    vocabulary = {token: token_id for token_id, token in enumerate("▁ab")}
    model = {"type": "BPE", "vocab": vocabulary, "merges": []}
    data = strategies.document(model=model, pre_tokenizer=sequence, **parts)
    with pytest.raises(LostAnswersError, match="prepend_scheme first") as caught:
        mtok.write(Tokenizer.from_bytes(data), strict=True)
    assert "for example" in str(caught.value)
    plain = strategies.document(model=model, pre_tokenizer={"type": "Sequence", "pretokenizers": [first]})
    same = Tokenizer.from_bytes(mtok.write(Tokenizer.from_bytes(plain), strict=True))
    assert same.encode_ids(" a b") == Tokenizer.from_bytes(plain).encode_ids(" a b")
