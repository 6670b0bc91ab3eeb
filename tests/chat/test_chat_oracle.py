"""Rendered text against `transformers`, the engine for which templates are written."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from chat_cases import BOS, EOS, HARMLESS, NEAR_CONTROL, TEMPLATES, conversations, fragments_of, texts
from hypothesis import given, settings
from hypothesis import strategies as st

from tokenlab import ChatTemplate, TokenLabError

CASES = [
    case
    for line in (Path(__file__).parents[1] / "vectors" / "field-cases.jsonl").read_text("utf-8").splitlines()
    if (case := json.loads(line))["setup"]["op"] == "chat_template"
]
TEXT = texts([*HARMLESS, *NEAR_CONTROL, *fragments_of("<|im_end|>")])


@pytest.fixture(scope="module")
def oracle() -> Any:
    from transformers.utils.chat_template_utils import render_jinja_template

    return render_jinja_template


def rendered_by(oracle: Any, source: str, given: dict[str, Any], **tokens: str) -> Any:
    """What the oracle gives: its text and spans, or None for an error of any kind."""
    settings = {"continue_final_message": False, "add_generation_prompt": False, **given, **tokens}
    messages = settings.pop("messages")
    try:
        (text,), spans = oracle(
            [messages], chat_template=source, return_assistant_tokens_mask=True, **settings
        )
    except Exception:
        return None
    return text, spans[0]


@cache
def compiled(source: str, **tokens: str) -> ChatTemplate:
    return ChatTemplate(source, **tokens)


def rendered_here(source: str, given: dict[str, Any], **tokens: str) -> Any:
    try:
        return compiled(source, **tokens).render_with_spans(**given)
    except TokenLabError:
        return None


@pytest.mark.parametrize("style", TEMPLATES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_templates_render_as_in_transformers(oracle: Any, style: str, data: st.DataObject) -> None:
    given = data.draw(conversations(style, TEXT))
    tokens = {"bos_token": BOS.get(style, "<b>"), "eos_token": EOS.get(style, "<e>")}
    expected = rendered_by(oracle, TEMPLATES[style], given, **tokens)
    assert expected is not None
    assert rendered_here(TEMPLATES[style], given, **tokens) == expected


@pytest.mark.parametrize("style", ["chatml", "llama3", "gemma", "qwen", "gpt_oss", "deepseek", "mistral"])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_continuing_the_final_message_is_as_in_transformers(
    oracle: Any, style: str, data: st.DataObject
) -> None:
    given = data.draw(conversations(style, TEXT)) | {
        "add_generation_prompt": False,
        "continue_final_message": True,
    }
    tokens = {"bos_token": "<b>", "eos_token": "<e>"}
    assert rendered_here(TEMPLATES[style], given, **tokens) == rendered_by(
        oracle, TEMPLATES[style], given, **tokens
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_field_case_templates_render_as_in_transformers(oracle: Any, case: Any, data: st.DataObject) -> None:
    source = case["setup"]["chat_template"]
    given = data.draw(conversations("every_feature", TEXT))
    assert rendered_here(source, given) == rendered_by(oracle, source, given)
