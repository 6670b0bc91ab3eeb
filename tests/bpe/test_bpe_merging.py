"""The merge engine: three readable encoders and a fast one."""

from __future__ import annotations

import pickle
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_tables import arbitrary_rules, contents, ordered_pairs, rules_of, words

from tokenlab.bpe import merging
from tokenlab.bpe.merging import (
    MergeTable,
    Rules,
    merge_lowest_rank,
    merge_rank_by_rank,
    merge_reference,
    replace_pair,
)
from tokenlab.errors import RepeatedRankError


def ignore(rank: int, replacements: int, ids: list[int]) -> None:
    """An observer; with one, the way for long words is taken whatever the length."""


@given(words, arbitrary_rules())
def test_short_way_equals_the_reference_on_any_table(word: list[int], rules: Rules) -> None:
    assert MergeTable(rules).merge(word) == merge_reference(word, rules)


@given(words, arbitrary_rules())
def test_long_way_equals_the_reference_on_any_table(word: list[int], rules: Rules) -> None:
    assert MergeTable(rules).merge(word, ignore) == merge_reference(word, rules)


@given(st.lists(st.integers(0, 3), min_size=merging.SHORT_WORD_LENGTH + 1, max_size=400), arbitrary_rules())
def test_words_above_the_threshold_equal_the_reference(word: list[int], rules: Rules) -> None:
    assert MergeTable(rules).merge(word) == merge_reference(word, rules)


@given(st.lists(words, max_size=12), arbitrary_rules())
def test_many_words_at_once_equal_one_by_one(many: list[list[int]], rules: Rules) -> None:
    with mock.patch.object(merging, "BATCH_PAYS_FROM", 0):
        assert MergeTable(rules).merge_many(many) == [merge_reference(word, rules) for word in many]


def test_many_words_with_a_long_one_among_them_and_without_numpy() -> None:
    rules = rules_of([(97, 98), (256, 256), (98, 97)], 256)
    many = [b"ab" * (place % 9) for place in range(300)] + [b"ba" * 400]
    expected = [MergeTable(rules).merge(word) for word in many]
    table = MergeTable(rules)
    assert table.merge_many(many) == table.merge_many(many) == expected
    with mock.patch.object(merging, "find_spec", lambda name: None):
        assert MergeTable(rules).merge_many(many) == expected


@pytest.mark.parametrize(
    "rules",
    [{(-1, 2**32): (0, 5)}, {(0, 1): (0, 2**32)}, {(2**32 - 1, 2**32 - 1): (0, 2**32 - 1)}, {}],
    ids=str,
)
def test_many_words_of_ids_beyond_32_bits(rules: Rules) -> None:
    many = [[-1, 2**32], [0, 1], [2**32 - 1] * 5, [2**32, 1]] * 100
    assert MergeTable(rules).merge_many(many) == [merge_reference(word, rules) for word in many]
    assert MergeTable(rules).merge_many(many[2::4] * 3) == [
        merge_reference(word, rules) for word in many[2::4] * 3
    ]


@given(contents, ordered_pairs())
def test_three_encoders_agree_where_operands_precede_their_rule(
    content: bytes, pairs: list[tuple[int, int]]
) -> None:
    rules = rules_of(pairs, 256)
    expected = merge_reference(content, rules)
    assert merge_rank_by_rank(content, rules) == merge_lowest_rank(content, rules) == expected


def test_three_encoders_differ_where_a_rule_precedes_its_operand() -> None:
    a, b, ab, aba = range(4)
    rules = {(ab, a): (0, aba), (a, b): (1, ab)}
    assert merge_reference([a, b, a, b], rules) == [aba, b]
    assert merge_lowest_rank([a, b, a, b], rules) == [ab, ab]
    assert merge_rank_by_rank([a, b, a, b], rules) == [ab, ab]


@pytest.mark.parametrize("encode", [merge_reference, merge_lowest_rank, merge_rank_by_rank])
def test_runs_of_one_symbol_merge_from_the_left(encode: merging.Callable[..., list[int]]) -> None:
    rules = {(97, 97): (0, 256)}
    for length in range(9):
        expected = [256] * (length // 2) + [97] * (length % 2)
        assert encode(b"a" * length, rules) == MergeTable(rules).merge(b"a" * length) == expected


def test_replacements_are_counted_without_overlaps() -> None:
    assert replace_pair([1, 1, 1, 1, 1], (1, 1), 2) == ([2, 2, 1], 2)
    assert replace_pair([], (1, 1), 2) == ([], 0)


def test_a_rule_that_makes_its_own_operand_swallows_a_run() -> None:
    a, b = 0, 1
    rules = {(a, b): (0, a)}
    word = [a, b, b] * 500
    assert MergeTable(rules).merge(word) == [a] * 500 == merge_reference(word, rules)


def test_symbols_without_a_rule_pass_through() -> None:
    assert MergeTable({}).merge([-1, 2**40, -1]) == [-1, 2**40, -1]
    assert MergeTable({(0, 1): (0, 2)}).merge([]) == []
    assert MergeTable({(0, 1): (0, 2)}).merge([], ignore) == []


def test_two_pairs_of_one_rank_are_refused() -> None:
    with pytest.raises(RepeatedRankError) as caught:
        MergeTable({(0, 1): (7, 2), (1, 0): (7, 3)})
    assert (caught.value.rank, caught.value.first_pair, caught.value.pair) == (7, (0, 1), (1, 0))


def test_input_is_not_changed_and_a_table_can_be_pickled() -> None:
    table, word = MergeTable({(0, 1): (0, 2)}), [0, 1]
    assert pickle.loads(pickle.dumps(table)).merge(word) == [2]
    assert word == [0, 1]


class CountingRanks(dict[tuple[int, int], int]):
    """Counts look-ups: one for each pair that arises, so their number is what the engine works."""

    looked_up = 0

    def get(self, *arguments: object) -> object:  # type: ignore[override]
        self.looked_up += 1
        return super().get(*arguments)  # type: ignore[call-overload]


@pytest.mark.parametrize("word", [[0], [0, 1], [0, 1, 1], [0, 0, 1]], ids=str)
@pytest.mark.parametrize(
    "rules", [{(0, 0): (0, 2), (2, 2): (1, 3)}, {(0, 1): (0, 0), (0, 0): (1, 0)}], ids=str
)
def test_work_on_long_words_grows_with_the_length(word: list[int], rules: Rules) -> None:
    def look_ups(length: int) -> int:
        table = MergeTable(rules)
        table._ranks = counted = CountingRanks(table._ranks)
        table.merge((word * length)[:length])
        return counted.looked_up

    assert look_ups(20_000) <= 10.5 * look_ups(2_000)
