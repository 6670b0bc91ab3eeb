"""The `.mtok` file as bytes: read, written, explained, and damaged."""

import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenlab.errors import MtokError
from tokenlab.formats import mtok
from tokenlab.formats.header import Header
from tokenlab.formats.layout import Entry

GOLDEN = {
    path.parent.name: path.read_bytes()
    for path in (Path(__file__).parent.parent / "vectors/mtok").glob("*/*.mtok")
}
SMALL = {name: data for name, data in GOLDEN.items() if len(data) < 5000}

u32 = st.integers(0, 2**32 - 1)
flag = st.integers(0, 1)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


def entry(tag, **parts):
    return st.fixed_dictionaries(parts).map(lambda values: Entry(tag, values))


def table(rows, key):
    return st.lists(rows, unique_by=key, max_size=4).map(lambda found: sorted(found, key=key))


norm_table = st.fixed_dictionaries(
    {"entries": table(st.tuples(st.integers(0, 0x10FFFF), text), lambda row: row[0])}
)
bert = {"clean_text": flag, "handle_chinese_chars": flag, "lowercase": flag}
simple_normalizers = st.one_of(
    entry(0),
    entry(1),
    entry(2, prepend=text),
    entry(3, pattern=text, content=text),
    entry(5, **bert, strip_accents=flag),
    entry(6, table=norm_table),
    entry(7, **bert, strip_accents=st.just(0)),
    entry(7, **bert, strip_accents=st.just(1), table=norm_table),
    entry(8, left=flag, right=flag),
)
normalizers = st.recursive(
    simple_normalizers,
    lambda inner: entry(4, normalizers=st.lists(inner, max_size=3).map(tuple)),
    max_leaves=4,
)
replacement = {"replacement": text, "add_prefix_space": flag}
pre_tokenizers = st.recursive(
    st.one_of(
        entry(0),
        entry(1, use_regex=flag),
        entry(2, individual_digits=flag),
        entry(3, **replacement),
        entry(4, pattern=text, invert=flag, behavior=st.integers(0, 2)),
        entry(5),
    ),
    lambda inner: entry(6, pretokenizers=st.lists(inner, max_size=3).map(tuple)),
    max_leaves=4,
)
vocabulary = table(st.tuples(text, u32), lambda row: row[0])
scored = table(st.tuples(text, u32, st.floats(allow_nan=False, allow_infinity=False)), lambda row: row[0])
merges = table(st.tuples(u32, u32, u32), lambda row: row[:2])
models = st.one_of(
    entry(0, byte_fallback=flag, byte_level=flag, vocabulary=vocabulary, merges=merges),
    entry(
        1, unk_token=text, continuing_subword_prefix=text, max_input_chars_per_word=u32, vocabulary=vocabulary
    ),
    entry(2, unk_id=u32, byte_fallback=flag, vocabulary=scored),
)
decoders = st.recursive(
    st.one_of(
        entry(0),
        entry(1),
        entry(2, **replacement),
        entry(3, prefix=text, cleanup=flag),
        entry(4),
        entry(5, pattern=text, content=text),
        entry(6, content=text, start=u32, stop=u32),
    ),
    lambda inner: entry(7, decoders=st.lists(inner, max_size=3).map(tuple)),
    max_leaves=4,
)
ids = st.lists(u32, max_size=3).map(tuple)
headers = st.builds(Header, st.just(4), ids, ids, ids, st.sampled_from(["", " "]))
steps = st.lists(st.one_of(entry(0), entry(1, id=u32)), max_size=4).map(tuple)


@st.composite
def files(draw):
    tail = {
        "chat_template": draw(text),
        "eos_token": draw(text),
        "flags": draw(flag),
        "bos_token": draw(text),
        "steps": draw(steps),
    }
    kept = draw(st.sampled_from([0, 2, 3, 4, 5]))
    return mtok.MtokFile(
        draw(headers),
        draw(normalizers),
        draw(pre_tokenizers),
        draw(models),
        draw(decoders),
        tuple(draw(st.lists(st.tuples(u32, flag, flag, flag, text), max_size=3))),
        **dict(list(tail.items())[:kept]),
    )


def laid_end_to_end(data):
    place = 0
    for field in mtok.explain(data):
        assert field.offset == place
        assert field.raw == data[place : place + field.length]
        assert field.section and field.name and field.meaning
        place += field.length
    return place


@pytest.mark.parametrize("name", GOLDEN)
def test_a_golden_file_is_written_back_byte_for_byte(name):
    assert mtok.write_file(mtok.read_file(GOLDEN[name])) == GOLDEN[name]


@pytest.mark.parametrize("name", GOLDEN)
def test_every_byte_of_a_golden_file_belongs_to_one_field(name):
    assert laid_end_to_end(GOLDEN[name]) == len(GOLDEN[name])


@pytest.mark.parametrize("name", GOLDEN)
def test_explaining_reads_the_same(name):
    assert mtok.read_file(GOLDEN[name], trace=[]) == mtok.read_file(GOLDEN[name])


@given(files())
def test_what_is_written_is_read_and_explained(file):
    data = mtok.write_file(file)
    assert mtok.read_file(data) == file
    assert laid_end_to_end(data) == len(data)


def read_or_say_where(data):
    """Read; give True where that worked, and hold that whatever was read is what the bytes say."""
    try:
        file = mtok.read_file(data)
    except MtokError as error:
        assert error.section
        assert error.expected
        assert error.found
        assert 0 <= error.offset <= len(data)
        return False
    assert mtok.write_file(file) == data
    return True


@pytest.mark.parametrize("name", SMALL)
def test_a_changed_byte_gives_another_file_or_the_one_error(name):
    data = SMALL[name]
    refused = 0
    for place, byte in enumerate(data):
        for other in {byte ^ 1, 0xFF} - {byte}:
            refused += not read_or_say_where(data[:place] + bytes([other]) + data[place + 1 :])
    assert refused > len(data) / 2


@pytest.mark.parametrize("name", SMALL)
def test_a_prefix_is_a_shorter_file_or_the_one_error(name):
    data = SMALL[name]
    whole = [size for size in range(len(data)) if read_or_say_where(data[:size])]
    # A file may end after the added tokens or after any group of the tail, and nowhere else.
    assert len(whole) == 4


def test_a_hundred_thousand_damaged_files():
    rng = random.Random(7)
    file = mtok.MtokFile(
        Header(4, (0,), (1,), (0,)),
        Entry(
            4, {"normalizers": (Entry(2, {"prepend": "▁"}), Entry(6, {"table": {"entries": [(233, "e")]}}))}
        ),
        Entry(4, {"pattern": r"\s+", "invert": 0, "behavior": 1}),
        Entry(
            0,
            {
                "byte_fallback": 1,
                "byte_level": 0,
                "vocabulary": [("a", 0), ("ab", 2), ("b", 1)],
                "merges": [(0, 1, 0)],
            },
        ),
        Entry(7, {"decoders": (Entry(4, {}), Entry(6, {"content": " ", "start": 1, "stop": 0}))}),
        ((0, 1, 0, 0, "<s>"),),
        "{{ x }}",
        "</s>",
        0,
        "<s>",
        (Entry(1, {"id": 0}), Entry(0, {})),
    )
    data = mtok.write_file(file)
    read = 0
    for _ in range(100_000):
        damaged = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(damaged))
            kind = rng.randrange(4)
            if kind == 0:
                damaged[place] = rng.choice((0, 1, 2, 4, 7, 0x7F, 0x80, 0xFF, rng.randrange(256)))
            elif kind == 1:
                del damaged[place : place + rng.randint(1, 4)]
            elif kind == 2:
                damaged[place:place] = rng.choice((b"\0", b"\xff" * 4, b"\1\0\0\0", data[place : place + 5]))
            else:
                damaged[place : place + 4] = rng.choice((b"\xff\xff\xff\xff", b"\0\0\0\x80", b"\2\0\0\0"))
            if not damaged:
                break
        read += read_or_say_where(bytes(damaged))
    assert 0 < read < 100_000


def test_a_count_that_the_file_cannot_hold_reserves_nothing():
    data = b"430 4\n0 0 0\n\n" + b"\x06" + b"\xff" * 4 + bytes(80)
    tracemalloc.start()
    with pytest.raises(MtokError) as caught:
        mtok.read_file(data)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 100_000
    assert caught.value.section.startswith("Normalizer / NFKC with a table / entries")
    assert caught.value.offset == 18


def test_nesting_is_bounded():
    deep = b"\x04\x01\x00\x00\x00" * 5000
    with pytest.raises(MtokError, match="nested"):
        mtok.read_file(b"430 4\n0 0 0\n\n" + deep)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (b"430 4\n", b"431 4\n", "magic"),
        (b"430 4\n", b"430 3\n", "type"),
        (b"430 4\n", b"430 4\r\n", "separator"),
        (b"1 1 0\n", b"1 2 0\n", "separator"),
        (b"1 1 0\n", b"01 1 0\n", "special count"),
        (b"270 270", b"270 4294967296", "stop ID"),
    ],
)
def test_a_damaged_header_is_named(old, new, what):
    assert old in SMALL["byte-level-bpe"]
    with pytest.raises(MtokError) as caught:
        mtok.read_file(SMALL["byte-level-bpe"].replace(old, new, 1))
    assert what in caught.value.section


def test_trailing_bytes_are_refused():
    with pytest.raises(MtokError, match="end"):
        mtok.read_file(SMALL["byte-level-bpe"] + b"\0")


def test_a_program_is_read_as_one_where_it_parses_as_one():
    without = SMALL["byte-level-bpe"][:-2]
    program = mtok.read_file(without + b"\2\0" + b"\0" + b"\1\7\0\0\0")
    assert [step.tag for step in program.steps] == [0, 1]
    older = mtok.read_file(without + b"\1\0" + b"\7\0\0\0")
    assert older.appended == (7,)
    assert older.steps is None


def file_with(**changes):
    parts = {
        "header": Header(4),
        "normalizer": Entry(0, {}),
        "pre_tokenizer": Entry(0, {}),
        "model": Entry(2, {"unk_id": 0, "byte_fallback": 0, "vocabulary": []}),
        "decoder": Entry(4, {}),
    }
    return mtok.MtokFile(**{**parts, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"header": Header(4, special=(2**32,))},
        {"header": Header(4, stop=(-1,))},
        {"normalizer": Entry(2, {"prepend": "a" * 65_536})},
        {"normalizer": Entry(2, {"prepend": "\ud800"})},
        {"model": Entry(2, {"unk_id": -1, "byte_fallback": 0, "vocabulary": []})},
        {"model": Entry(2, {"unk_id": 0, "byte_fallback": 2, "vocabulary": []})},
        {"model": Entry(2, {"unk_id": 0, "byte_fallback": 0, "vocabulary": [("a", 0, float("nan"))]})},
        {"added_tokens": ((2**32, 0, 0, 0, "<x>"),)},
        {
            "chat_template": "",
            "eos_token": "",
            "flags": 0,
            "bos_token": "",
            "steps": (Entry(0, {}),) * 65_536,
        },
    ],
)
def test_what_the_format_cannot_hold_is_refused(changes):
    with pytest.raises(MtokError):
        mtok.write_file(file_with(**changes))


def test_a_string_of_the_greatest_length_is_held():
    data = mtok.write_file(file_with(normalizer=Entry(2, {"prepend": "a" * 65_535})))
    assert mtok.read_file(data).normalizer.values["prepend"] == "a" * 65_535


@settings(max_examples=300)
@given(st.binary(max_size=60))
def test_any_bytes_behind_a_header(body):
    read_or_say_where(b"430 4\n0 0 0\n\n" + body)
