"""Hypothesis strategies for the BPE tests: small alphabets, so that pairs repeat and rules fire."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st

from tokenlab.bpe.merging import Rules

COURSE_PAIRS = [(32, 208), (208, 176), (209, 130), (208, 181), (208, 190), (208, 184), (209, 128), (101, 32)]


def rules_of(pairs: list[tuple[int, int]], first_id: int) -> Rules:
    """Rank pairs in their order, and number what they make."""
    return {pair: (rank, first_id + rank) for rank, pair in enumerate(pairs)}


@st.composite
def arbitrary_rules(draw: st.DrawFn) -> Rules:
    """Any table: operands defined late or never, merged IDs that repeat or equal an operand."""
    pairs = draw(st.lists(st.sampled_from(list(product(range(5), repeat=2))), unique=True, max_size=8))
    ranks = draw(st.permutations(range(0, 10 * len(pairs), 10)))
    merged = draw(st.lists(st.integers(0, 7), min_size=len(pairs), max_size=len(pairs)))
    return dict(zip(pairs, zip(ranks, merged, strict=True), strict=True))


@st.composite
def ordered_pairs(draw: st.DrawFn, alphabet: bytes = b"ab\xd0\xb0") -> list[tuple[int, int]]:
    """Pairs of training IDs, each defined before its use: what a training gives."""
    known, pairs = list(alphabet), []
    for rank in range(draw(st.integers(0, 7))):
        pair = draw(st.tuples(st.sampled_from(known), st.sampled_from(known)))
        if pair in pairs:
            break
        pairs.append(pair)
        known.append(256 + rank)
    return pairs


words = st.lists(st.integers(0, 4), max_size=16)
contents = st.one_of(st.text(alphabet="abа \0\r", max_size=24).map(str.encode), st.binary(max_size=24))
documents = st.lists(st.text(alphabet="ab", max_size=14).map(str.encode) | st.binary(max_size=8), max_size=6)
