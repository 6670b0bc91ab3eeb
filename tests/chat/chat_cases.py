"""Conversations and templates that the chat tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import strategies as st

FOLDER = Path(__file__).parent / "templates"
TEMPLATES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.jinja"))}

# The special tokens of each style: what its template writes, and what its messages must not be able to write.
SPECIAL_TOKENS = {
    "chatml": ["<|im_start|>", "<|im_end|>", "<|endoftext|>"],
    "llama2": ["<s>", "</s>", "<unk>"],
    "llama3": ["<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"],
    "mistral": [
        *("<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
        *("[TOOL_RESULTS]", "[/TOOL_RESULTS]", "[TOOL_CALLS]"),
    ],
    "gemma": ["<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>"],
    "phi": [
        *("<|endoftext|>", "<|system|>", "<|user|>", "<|assistant|>", "<|end|>"),
        *("<|tool|>", "<|/tool|>"),
    ],
    "deepseek": [
        *("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>"),
        *("<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>", "<think>", "</think>"),
    ],
    "qwen": ["<|im_start|>", "<|im_end|>", "<|endoftext|>"],
    "command_r": [
        *("<BOS_TOKEN>", "<EOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|END_OF_TURN_TOKEN|>"),
        *("<|SYSTEM_TOKEN|>", "<|USER_TOKEN|>", "<|CHATBOT_TOKEN|>"),
    ],
    "gpt_oss": [
        "<|start|>",
        "<|end|>",
        "<|message|>",
        "<|channel|>",
        "<|call|>",
        "<|return|>",
        "<|endoftext|>",
    ],
}
BOS = {
    "llama2": "<s>",
    "llama3": "<|begin_of_text|>",
    "mistral": "<s>",
    "gemma": "<bos>",
    "phi": "<s>",
    "deepseek": "<｜begin▁of▁sentence｜>",
    "command_r": "<BOS_TOKEN>",
}
EOS = {"llama2": "</s>", "mistral": "</s>", "phi": "<|endoftext|>"}

HARMLESS = [
    "a",
    "B",
    " ",
    "\n",
    "\t",
    "é",
    "İ",
    "ß",
    "水",
    "🐌",
    "'",
    '"',
    "\\",
    "{{ x }}",
    "{%",
    "%s",
    "{}",
    "0",
    "x y",
]
NEAR_CONTROL = [
    "<",
    ">",
    "|",
    "<|",
    "|>",
    "</",
    "[",
    "]",
    "<think>",
    "</think>",
    "<tool_response>",
    "</tool_response>",
]


def fragments_of(token: str) -> list[str]:
    """The token, what it becomes when cut in two, and what it becomes when it loses an end."""
    cuts = {1, 2, len(token) // 2, len(token) - 2, len(token) - 1}
    return [token, *(part for cut in sorted(cuts) for part in (token[:cut], token[cut:]) if part)]


def texts(fragments: list[str], max_size: int = 6) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(fragments), max_size=max_size).map("".join)


def parts(text: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    """The content of a message: text, or a list of parts."""
    part = st.one_of(text.map(lambda t: {"type": "text", "text": t}), st.just({"type": "image"}))
    return st.one_of(text, st.lists(part, max_size=3))


def json_values(text: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    leaves = st.one_of(st.none(), st.booleans(), st.integers(-9, 99), st.just(1.5), text)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(text, inner, max_size=2)),
        max_leaves=4,
    )


def tool(text: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {"name": text, "description": text, "property": text, "type": text, "about": text}
    ).map(
        lambda v: {
            "type": "function",
            "function": {
                "name": v["name"],
                "description": v["description"],
                "parameters": {
                    "type": "object",
                    "properties": {v["property"]: {"type": v["type"], "description": v["about"]}},
                    "required": [v["property"]],
                },
            },
        }
    )


@st.composite
def conversations(draw: st.DrawFn, style: str, text: st.SearchStrategy[str]) -> dict[str, Any]:
    """Keyword arguments of `render` that the style's template accepts."""
    content = parts(text) if style == "gemma" else text
    messages: list[dict[str, Any]] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(text)})
        if style == "phi" and draw(st.booleans()):
            messages[0]["tools"] = draw(text)
    tools_used = style in ("qwen", "gpt_oss", "llama3", "mistral") and draw(st.booleans())
    for _ in range(draw(st.integers(0 if messages else 1, 2))):
        messages.append({"role": "user", "content": draw(content)})
        if tools_used and style != "mistral" and draw(st.booleans()):
            arguments = draw(st.dictionaries(text, json_values(text), max_size=2))
            call = {"type": "function", "function": {"name": draw(text), "arguments": arguments}}
            messages.append({"role": "assistant", "content": draw(text), "tool_calls": [call]})
            messages.append({"role": "tool", "content": draw(text), "name": draw(text)})
        messages.append({"role": "assistant", "content": draw(content)})
        if style in ("qwen", "gpt_oss") and draw(st.booleans()):
            messages[-1]["reasoning_content"] = draw(text)
    if draw(st.booleans()) and len(messages) > 1:
        messages.pop()
    given: dict[str, Any] = {"messages": messages, "add_generation_prompt": draw(st.booleans())}
    if tools_used or style == "every_feature":
        given["tools"] = draw(st.lists(tool(text), max_size=2))
    if style in ("command_r", "every_feature"):
        document = st.fixed_dictionaries({"title": text, "text": text})
        given["documents"] = draw(st.none() | st.lists(document, max_size=2))
    return given
