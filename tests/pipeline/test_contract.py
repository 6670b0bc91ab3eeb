"""The contract: each of the six questions has an answer that follows the tokenizer."""

from dataclasses import replace

import pytest

from tokenlab import BpeTokenizer, to_pipeline
from tokenlab.pipeline.added_tokens import AddedToken
from tokenlab.pipeline.encoding import Padding


def tokenizer(*contents, first_id=258, **fields):
    plain = to_pipeline(BpeTokenizer.from_merge_pairs([]))
    added = (
        AddedToken(first_id + i, content, normalized=False, special=True)
        for i, content in enumerate(contents)
    )
    return replace(plain, added_tokens=(*plain.added_tokens, *added), **fields)


def test_user_text_can_spell_what_is_parsed():
    assert tokenizer("<x>").contract().user_text.facts == ("<BOS>", "<EOS>", "<x>")
    assert replace(tokenizer(), post_processor=None, added_tokens=()).contract().user_text.facts == ()


def test_what_keeps_text_apart_is_named_only_where_it_does():
    plain = tokenizer()
    whole = replace(
        plain,
        model=replace(plain.model, ignore_merges=True),
        pre_tokenizer=replace(plain.pre_tokenizer, use_regex=False),
    )
    assert whole.encode_ids("<EOS>", add_special_tokens=False, parse_special_tokens=False) == [1]
    apart, anyway = (each.contract().user_text.answer for each in (plain, whole))
    assert apart.endswith("unless encoded with parse_special_tokens=False or encode_parts.")
    assert anyway.endswith("unless encoded with encode_parts.")


def test_matching_tells_raw_from_normalised():
    token = AddedToken(258, "yes", normalized=True)
    assert replace(tokenizer(), added_tokens=(token,), post_processor=None).contract().matching.facts == (
        (),
        ("yes",),
    )


@pytest.mark.parametrize(
    ("template", "named"), [(None, ()), ("{{ bos_token }}", ("<BOS>",)), ("<EOS>", ("<EOS>",))]
)
def test_bos_named_by_the_template_and_inserted_as_well_is_a_warning(template, named):
    contract = tokenizer(chat_template=template, bos_token="<BOS>", eos_token="<EOS>").contract()
    assert contract.bos_eos.facts == (("<BOS>", "<EOS>"), named)
    assert bool(contract.warnings) == ("<BOS>" in named)


def test_padding_that_shares_the_id_of_eos_is_a_warning():
    shared = tokenizer(padding=Padding(pad_id=1, pad_token="<EOS>"), eos_token="<EOS>").contract()
    assert shared.padding.facts == (1, 1) and len(shared.warnings) == 1
    own = tokenizer("<pad>", eos_token="<EOS>").contract()
    assert own.padding.facts == (258, 1) and not own.warnings


def test_runs_of_tool_and_media_tokens():
    assert tokenizer("<tool>", "<image>").contract().ranges.facts == ((258, 259),)
    assert tokenizer("<tool>", "<x>", "<image>").contract().ranges.facts == ((258, 258), (260, 260))


def test_rows_follow_the_highest_id_not_the_count():
    assert tokenizer("<x>", first_id=300).contract().growth.facts == (301, 259)


def test_the_contract_prints_six_questions():
    assert str(tokenizer().contract()).count("?\n") == 6
