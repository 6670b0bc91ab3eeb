"""The commands, run as a learner runs them: in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tokenlab import Tokenizer

VECTORS = Path(__file__).parent / "vectors"
BYTES = VECTORS / "mtok/byte-level-bpe/tokenizer.mtok"
UNIGRAM = VECTORS / "mtok/unigram/tokenizer.json"
COMMANDS = ("inspect", "convert", "encode", "decode", "train", "trace", "check", "compare")
# No locale, and a hostile encoding for the standard streams.
SURROUNDINGS = {"PYTHONIOENCODING": "latin-1", "PYTHONHASHSEED": "0", "SYSTEMROOT": r"C:\Windows"}


def run(*words, given=b"", code=0):
    command = [sys.executable, "-m", "tokenlab", *map(str, words)]
    done = subprocess.run(command, input=given, capture_output=True, env=SURROUNDINGS, timeout=120)
    assert done.returncode == code, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    return done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    out, _ = run(command, "--help")
    examples = out.split("examples:")[1]
    assert f"python -m tokenlab {command} " in examples
    assert "'" not in examples  # the command line of Windows does not know it as a quotation mark


def test_without_a_command_the_commands_are_listed():
    out, errors = run(code=2)
    assert out == ""
    assert errors == run("--help")[0]
    assert all(f"\n  {command} " in errors for command in COMMANDS)


@pytest.mark.parametrize("words", [("nothing",), ("encode",), ("convert", "a"), ("encode", "a", "--what")])
def test_what_is_not_understood_is_one_line_and_exit_code_2(words):
    out, errors = run(*words, code=2)
    assert out == ""
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("encode", "no such file", "--text", "a"), "no such file"),
        (("inspect", UNIGRAM, "--bytes"), "expected a .mtok file"),
        (("inspect", __file__), "expected a tokenizer file"),
        (("decode", BYTES, "99999"), "no token has ID 99999"),
        (("decode", BYTES, "x"), "expected token IDs"),
        (("convert", UNIGRAM, "-", "--to", "mtok", "--strict"), "cannot compose"),
        (("convert", UNIGRAM, "out.xyz"), "ends in"),
        (("encode", BYTES, "--lines", "--text", "a"), "--lines: expected the standard input, found --text"),
        (("encode", BYTES, "--rule", "reader", "--text", "a"), "legacy"),
    ],
)
def test_what_fails_is_one_line_and_exit_code_1(words, found):
    out, errors = run(*words, code=1)
    assert out == ""
    assert errors.count("\n") == 1
    assert errors.startswith(f"tokenlab {words[0]}: ")
    assert found in errors


def test_inspect_says_what_is_in_a_file():
    out, _ = run("inspect", BYTES)
    for expected in ("2,477 bytes", "section      Model", "270 tokens, 14 merges", "'<tool>' lstrip rstrip"):
        assert expected in out
    assert Tokenizer.from_file(BYTES).fingerprint() in out


def test_inspect_accounts_for_every_byte():
    out, _ = run("inspect", BYTES, "--bytes")
    rows = [line.split(maxsplit=2)[:2] for line in out.splitlines()]
    place = 0
    for offset, length in rows:
        assert int(offset) == place
        place += int(length)
    assert place == BYTES.stat().st_size


@pytest.mark.parametrize("text", ["hello wörld 日本 😀\r\n", "", "a\n\nb ", "<|end|>"])
def test_encode_and_decode_are_a_round_trip_through_pipes(text):
    ids, _ = run("encode", BYTES, given=text.encode())
    assert list(map(int, ids.split())) == Tokenizer.from_file(BYTES).encode_ids(text)
    back = subprocess.run(
        [sys.executable, "-m", "tokenlab", "decode", str(BYTES), "--special"],
        input=ids.encode(),
        capture_output=True,
        env=SURROUNDINGS,
        check=True,
    )
    assert back.stdout == text.encode()


def test_encode_takes_several_texts():
    assert run("encode", BYTES, "--text", "hello", "--text", " world")[0] == "259\n264\n"
    assert run("encode", BYTES, "--lines", given=b"hello\n world\n")[0] == "259\n264\n"
    assert run("encode", BYTES, "--lines", given=b"hello\r\n world")[0] == "259\n264\n"
    assert run("encode", BYTES, "--tokens", "--text", "é")[0] == "195\t'Ã'\t0\t1\n169\t'©'\t0\t1\n"
    assert "270" not in run("encode", BYTES, "--as-text", "--text", "<|end|>")[0].split()


@pytest.mark.parametrize("odd", ["\f", "\v", "\r", "\x1c", "\x85", "\u2028"])
def test_lines_end_at_line_feeds_alone(odd):
    out, _ = run("encode", BYTES, "--lines", given=f"a{odd}b\n\nc".encode())
    tokenizer = Tokenizer.from_file(BYTES)
    texts = [f"a{odd}b", "", "c"]
    assert out.splitlines() == [" ".join(map(str, tokenizer.encode_ids(text))) for text in texts]


def test_text_that_is_no_utf8_is_refused_with_its_place():
    _, errors = run("encode", BYTES, given=b"ab\xff", code=1)
    assert "byte 2" in errors


def test_convert_writes_the_format_of_the_name_and_warns_on_one_line_each(tmp_path):
    target = tmp_path / "x.mtok"
    out, errors = run("convert", UNIGRAM, target)
    assert "tables of Unicode" in out
    assert [line.split(":")[1] for line in errors.splitlines()] == [" warning", " warning"]
    assert Tokenizer.from_file(target).encode_ids("hello") == Tokenizer.from_file(UNIGRAM).encode_ids("hello")
    assert [each.name for each in tmp_path.iterdir()] == ["x.mtok"]


def test_convert_between_standard_streams():
    command = [sys.executable, "-m", "tokenlab", "convert", "-", "-", "--to"]
    as_json = subprocess.run(
        [*command, "json"], input=BYTES.read_bytes(), capture_output=True, check=True
    ).stdout
    assert as_json.startswith(b"{")
    again = subprocess.run([*command, "mtok"], input=as_json, capture_output=True, check=True).stdout
    assert Tokenizer.from_bytes(again).fingerprint() == Tokenizer.from_file(BYTES).fingerprint()


def test_train_makes_a_tokenizer_that_encodes(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("low lower lowest é\n" * 20, "utf-8")
    out, errors = run("train", text, "--merges", "5", "--out", tmp_path / "t.json")
    assert "261 tokens, 5 of 5 merges" in out
    assert errors == ""  # no progress bar in a pipe
    tokenizer = Tokenizer.from_file(tmp_path / "t.json")
    assert tokenizer.decode(tokenizer.encode_ids("slow é")) == "slow é"
    assert len(tokenizer.encode_ids("low lower")) < len("low lower")


def test_train_writes_into_a_pipe(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("low lower lowest\n" * 20, "utf-8")
    out, errors = run("train", text, "--merges", "5", "--out", "-")
    assert errors == ""
    assert len(Tokenizer.from_bytes(out.encode()).model.merges) == 5
    assert [each.name for each in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.parametrize("ids", [("259", "264"), ("[259, 264]",), ("[259,", "264]"), ("259,264",)])
def test_ids_may_be_given_as_a_list_prints(ids):
    assert run("decode", BYTES, *ids)[0] == "hello world\n"
    assert run("decode", BYTES, given=" ".join(ids).encode())[0] == "hello world"


def test_a_suffix_in_capitals_is_known(tmp_path):
    run("convert", BYTES, tmp_path / "x.JSON")
    assert (tmp_path / "x.JSON").read_bytes().startswith(b"{")
    Tokenizer.from_file(BYTES).save(tmp_path / "x.Mtok")
    assert (tmp_path / "x.Mtok").read_bytes() == BYTES.read_bytes()


def test_trace_shows_stages_and_merges():
    out, _ = run("trace", BYTES, "--text", "hello")
    assert "pre-tokenizer:" in out
    assert out.splitlines()[-4:] == [
        "  rank 0: 'he' 'l' 'l' 'o'",
        "  rank 1: 'he' 'll' 'o'",
        "  rank 2: 'hell' 'o'",
        "  rank 3: 'hello'",
    ]


def test_compare_ends_with_1_where_ids_differ():
    other = VECTORS / "mtok/byte-level-bpe/tokenizer.json"
    out, _ = run("compare", BYTES, other, "--text", "hello")
    assert "fingerprints are equal" in out
    out, _ = run("compare", BYTES, UNIGRAM, "--text", "hello", code=1)
    assert "DIFFERENT IDs" in out


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break otherwise there")
@pytest.mark.parametrize(
    "words",
    [("inspect", str(BYTES.parent.parent / "wordpiece/tokenizer.mtok"), "--bytes"), ("course", "key")],
)
def test_a_broken_pipe_ends_quietly(words):
    command = [sys.executable, "-m", "tokenlab", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="devices and closed streams are others there")
@pytest.mark.parametrize(
    ("closed", "words", "code"),
    [
        ("<&-", f"encode {BYTES}", 0),
        (">&-", f"encode {BYTES} --text a", 0),
        ("2>&-", "encode nothing --text a", 1),
        (">&-", "course key 03", 0),
    ],
)
def test_a_closed_stream_is_like_an_empty_one(closed, words, code):
    command = ["sh", "-c", f"{sys.executable} -m tokenlab {words} {closed}"]
    done = subprocess.run(command, capture_output=True, env=SURROUNDINGS, timeout=120)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr


def test_the_course_writes_utf8_whatever_the_encoding_of_the_streams():
    assert "а" in run("course", "key", "03")[0]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are others there")
@pytest.mark.parametrize("words", [("encode", str(BYTES)), ("course", "key")])
def test_a_command_that_is_stopped_says_nothing(words):
    program = """if True:
        import importlib, sys
        from tokenlab.__main__ import main

        def stop(name):
            raise KeyboardInterrupt

        importlib.import_module = stop
        sys.exit(main(sys.argv[1:]))
    """
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="needs links and pipes")
def test_links_and_pipes_are_written_through_and_not_replaced(tmp_path):
    target, link, pipe = (tmp_path / name for name in ("target.json", "link.json", "pipe.json"))
    target.write_text("old")
    link.symlink_to(target.name)
    run("convert", BYTES, link)
    assert link.is_symlink()
    assert Tokenizer.from_file(target).encode_ids("a") == [97]
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        run("convert", BYTES, pipe)
        assert reader.stdout.read() == target.read_bytes()
    assert pipe.is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "pipe.json", "target.json"]
