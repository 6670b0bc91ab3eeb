"""Where templates come from, and what they are given."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tokenlab import ChatTemplate, Tokenizer
from tokenlab.errors import ChatInputError, ChatTemplateError
from tokenlab.pipeline import models

SOURCE = "{{ bos_token }}{% for m in messages %}[{{ m.content }}]{% endfor %}{{ eos_token }}"
NAMED = [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T{{ tools | length }}"}]


def test_importing_the_library_does_not_load_jinja() -> None:
    code = "import sys, tokenlab; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (
            {"chat_template": SOURCE, "bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": False}},
            "<s>[hi]</s>",
        ),
        ({"chat_template": SOURCE, "bos_token": None}, "[hi]"),
        ({"chat_template": NAMED}, "D"),
        ({"chat_template": {"default": SOURCE}}, "[hi]"),
        ({"jinja": {"chat_template": SOURCE, "eos": "</s>"}, "hidden_size": 8}, "[hi]</s>"),
        ({"jinja": {"chat_template": SOURCE}, "bos": "no"}, "[hi]"),
    ],
)
def test_a_configuration_file_gives_its_template(config: Any, text: str, tmp_path: Path) -> None:
    path = tmp_path / "any name"
    path.write_text(json.dumps(config), "utf-8")
    assert ChatTemplate.from_file(path).render("hi") == text


@pytest.mark.parametrize(
    "source", [SOURCE, "[1, {{ messages[0].content }}]", '{"a": {{ messages | length }}}', '"x"']
)
def test_any_other_text_is_a_template(source: str, tmp_path: Path) -> None:
    path = tmp_path / "chat_template.jinja"
    path.write_text(source, "utf-8")
    assert ChatTemplate.from_file(path).render("hi") == ChatTemplate(source).render("hi")
    path.write_bytes(b"\xef\xbb\xbf" + source.encode())  # a byte order mark is no part of it
    assert ChatTemplate.from_file(path).render("hi") == ChatTemplate(source).render("hi")


def test_an_mtok_file_gives_its_template(tmp_path: Path) -> None:
    tokenizer = Tokenizer(
        models.BPE(vocab={"a": 0, "b": 1}), chat_template=SOURCE, bos_token="<s>", eos_token="</s>"
    )
    path = tmp_path / "tokenizer.mtok"
    tokenizer.save(path)
    assert ChatTemplate.from_file(path).render("hi") == "<s>[hi]</s>"
    assert ChatTemplate.from_file(path, eos_token="<e>").render("hi") == "<s>[hi]<e>"
    assert ChatTemplate.from_tokenizer(tokenizer).render("hi") == "<s>[hi]</s>"


@pytest.mark.parametrize(
    "data", [b"{}", b'{"chat_template": ""}', b'{"jinja": {}}', b'{"model": {}}', b"\xff\xfe{"]
)
def test_a_file_without_a_template_is_an_error(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    path.write_bytes(data)
    with pytest.raises(ChatInputError) as caught:
        ChatTemplate.from_file(path)
    assert caught.value.where == str(path)


def test_a_tokenizer_without_a_template_is_an_error() -> None:
    with pytest.raises(ChatInputError):
        ChatTemplate.from_tokenizer(Tokenizer(models.BPE(vocab={"a": 0})))


def test_named_templates_are_chosen_by_whether_tools_are_given() -> None:
    template = ChatTemplate(NAMED)
    assert template.render("hi") == "D"
    assert template.render("hi", tools=[]) == "T0"
    assert template.render("hi", tools=[{"name": "f"}]) == "T1"
    assert ChatTemplate({"default": "D"}).render("hi", tools=[{}]) == "D"


@pytest.mark.parametrize(
    "source",
    [
        {},
        [],
        {"tool_use": "x"},
        [{"name": "default"}],
        {"default": 1},
        5,
        None,
        b"x",
        ["x"],
        [{"template": "x"}],
    ],
)
def test_a_source_that_is_none_is_an_error(source: Any) -> None:
    with pytest.raises(ChatInputError):
        ChatTemplate(source)


def test_a_broken_template_is_an_error_when_it_is_made() -> None:
    with pytest.raises(ChatTemplateError) as caught:
        ChatTemplate({"default": "ok", "tool_use": "\n{% for %}"})
    assert caught.value.line == 2


def test_tokens_that_are_not_given_are_undefined() -> None:
    source = "{{ bos_token is defined }}{{ eos_token is defined }}{{ bos_token }}"
    assert ChatTemplate(source).render("hi") == "FalseFalse"
    assert ChatTemplate(source, bos_token="").render("hi") == "TrueFalse"


def test_the_clock_can_be_given() -> None:
    template = ChatTemplate("{{ strftime_now('%d %b %Y') }}", strftime_now=lambda form: f"<{form}>")
    assert template.render("hi") == "<%d %b %Y>"


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"messages": [1]}, "messages[0]"),
        ({"messages": {"role": "user"}}, "messages"),
        ({"messages": 5}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "user", "content": {"image": object()}}]}, "messages[0].content.image"),
        ({"messages": [{"role": "user", "content": [b"x"]}]}, "messages[0].content[0]"),
        ({"messages": [], "tools": [print]}, "tools[0]"),
        ({"messages": [], "tools": "x"}, "tools"),
        ({"messages": [], "documents": ["text"]}, "documents[0]"),
        ({"messages": [], "extra": {1, 2}}, "extra"),
        ({"messages": [], "continue_final_message": True}, "continue_final_message"),
        ({"messages": [{"role": "user"}], "continue_final_message": True}, "continue_final_message"),
        ({"messages": [{"content": []}], "continue_final_message": True}, "continue_final_message"),
        ({"messages": [{"content": 5}], "continue_final_message": True}, "continue_final_message"),
        ({"messages": [{"text": "a"}], "continue_final_message": "text"}, "continue_final_message"),
        (
            {"messages": "a", "continue_final_message": True, "add_generation_prompt": True},
            "continue_final_message",
        ),
    ],
)
def test_what_no_template_can_be_given_is_an_error_that_says_where(given: Any, where: str) -> None:
    with pytest.raises(ChatInputError) as caught:
        ChatTemplate("{{ messages[-1].content }}").render(**given)
    assert caught.value.where == where


def test_a_conversation_that_holds_itself_is_an_error() -> None:
    message: dict[str, Any] = {"role": "user"}
    message["content"] = message
    with pytest.raises(ChatInputError, match="messages: expected lists and mappings less deep"):
        ChatTemplate("x").render([message])


def test_a_message_that_the_template_drops_cannot_be_continued() -> None:
    with pytest.raises(ChatInputError):
        ChatTemplate("{# content #}{{ messages | length }}").render("hi", continue_final_message=True)


@pytest.mark.parametrize(
    ("source", "content", "text"),
    [
        ("<{{ messages[0].content }}>", "half ", "<half "),
        ("<{{ messages[0].content | trim }}>", "half ", "<half"),
        ("<{{ messages[0].content[0].text }}>", [{"type": "text", "text": "half"}], "<half"),
        (
            "{{ messages[0].content }}|{{ messages[0].content }}>",
            "a",
            "aCONTINUE_FINAL_MESSAGE_TAG |a",
        ),  # as in the field
    ],
)
def test_continuing_ends_the_text_behind_the_last_message(source: str, content: Any, text: str) -> None:
    messages = [{"role": "assistant", "content": content}]
    assert ChatTemplate(source).render(messages, continue_final_message=True) == text


def test_another_field_can_be_continued() -> None:
    source = "<think>{{ messages[0].reasoning_content }}</think>{{ messages[0].content }}"
    messages = [{"role": "assistant", "reasoning": "so", "content": "x"}]
    assert ChatTemplate(source).render(messages, continue_final_message="reasoning") == "<think>so"


def test_spans_of_the_assistant_are_cut_with_the_text() -> None:
    source = "{% for m in messages %}{% generation %}{{ m.content }}</s>{% endgeneration %}{% endfor %}"
    messages = [{"role": "assistant", "content": "🐌"}, {"role": "assistant", "content": "b"}]
    template = ChatTemplate(source)
    assert template.render_with_spans(messages) == ("🐌</s>b</s>", [(0, 5), (5, 10)])
    assert template.render_with_spans(messages, continue_final_message=True) == ("🐌</s>b", [(0, 5), (5, 6)])


@pytest.mark.parametrize(
    "source",
    [
        "{% macro m() %}{% generation %}x{% endgeneration %}{% endmacro %}a{{ m() }}",
        "{% set x %}{% generation %}x{% endgeneration %}{% endset %}a{{ x }}",
        "{% generation %}a{% generation %}x{% endgeneration %}{% endgeneration %}",
    ],
)
def test_a_generation_block_without_a_place_of_its_own_is_an_error_only_when_spans_are_asked_for(
    source: str,
) -> None:
    template = ChatTemplate(source)
    assert template.render("hi").endswith("x")
    with pytest.raises(ChatTemplateError):
        template.render_with_spans("hi")
