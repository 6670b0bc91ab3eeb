"""The Unigram model against a list of all segmentations, worked by hand, and at its limits."""

import copy
import math
import pickle
import random
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tokenlab
from tokenlab.errors import (
    DuplicatePieceError,
    EmptyPieceError,
    EmptyVocabularyError,
    InvalidArgumentError,
    LoneSurrogateError,
    NoSegmentationError,
    ScoreError,
)
from tokenlab.unigram.viterbi import Edge, Segmentation, Unigram, fuse_unknown

ALPHABET = "ab北🙂"
# Multiples of 1/4 add up without rounding, so that equal sums are equal in any order.
scores = st.integers(-24, 4).map(lambda quarters: quarters / 4)
vocabularies = st.dictionaries(st.text(ALPHABET, min_size=1, max_size=4), scores, min_size=1, max_size=12)
texts = st.text(ALPHABET + "x", max_size=8)
unknown_prices = st.one_of(st.none(), st.integers(-60, 0).map(lambda quarters: quarters / 4))


@st.composite
def models(draw):
    return Unigram(draw(vocabularies), unknown_log_probability=draw(unknown_prices))


def edges_by_definition(model, text):
    """Each edge as (start, end, score), from the definition of the model alone."""
    known = model.log_probabilities
    price = model.unknown_log_probability
    price = min(known.values()) - 10 if price is None else price
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            if text[start:end] in known:
                yield start, end, known[text[start:end]]
            elif end == start + 1:
                yield start, end, price


def all_paths(model, text):
    """Each path as (sum, its edges), best first; equals as `n_best` says: by the starts, from the end."""
    edges = list(edges_by_definition(model, text))
    paths = [[]]
    done = []
    while paths:
        path = paths.pop()
        at = path[-1][1] if path else 0
        if at == len(text):
            done.append((sum(score for _, _, score in path), path))
        paths += [[*path, edge] for edge in edges if edge[0] == at]
    return sorted(done, key=lambda path: (-path[0], [start for start, _, _ in reversed(path[1])]))


def pieces_of(text, path):
    return tuple(text[start:end] for start, end, _ in path)


@given(models(), texts)
def test_best_and_n_best_equal_the_list_of_all_paths(model, text):
    listed = [Segmentation(pieces_of(text, path), total) for total, path in all_paths(model, text)]
    assert model.n_best(text, len(listed) + 3) == listed
    assert model.n_best(text, 3) == listed[:3]
    assert model.best(text) == listed[0]
    assert model.count_segmentations(text) == len(listed)


@given(models(), texts)
def test_the_fast_path_equals_the_table(model, text):
    cells = model.table(text)
    end, path = len(text), []
    while end:
        edge = cells[end].best
        path.append((edge.start, edge.end, edge.known))
        end = edge.start
    assert model.best_spans(text) == path[::-1]
    assert model.best(text).log_probability == cells[-1].log_probability


@given(models(), texts)
def test_the_table_shows_every_edge_and_keeps_the_first_of_the_highest(model, text):
    cells = model.table(text)
    shown = sorted((edge.start, edge.end, edge.log_probability) for c in cells for edge, _ in c.candidates)
    assert shown == list(edges_by_definition(model, text))
    for cell in cells[1:]:
        highest = max(total for _, total in cell.candidates)
        first = next(edge for edge, total in cell.candidates if total == highest)
        assert (cell.best, cell.log_probability) == (first, highest)


@given(models(), texts)
def test_likelihood_marginals_and_expected_counts_equal_those_of_all_paths(model, text):
    paths = [(math.exp(total), path) for total, path in all_paths(model, text)]
    whole = sum(weight for weight, _ in paths)
    marginals, counts = Counter(), Counter()
    for weight, path in paths:
        for start, end, _ in path:
            marginals[start, end] += weight / whole
            counts[text[start:end]] += weight / whole
    assert model.log_likelihood(text) == pytest.approx(math.log(whole))
    assert model.marginals(text) == pytest.approx(marginals)
    assert model.expected_counts(text) == pytest.approx(counts)


@given(models(), texts)
def test_the_lattice_holds_each_edge_by_start_then_length(model, text):
    edges = model.lattice(text).edges
    assert [(edge.start, edge.end, edge.log_probability) for edge in edges] == list(
        edges_by_definition(model, text)
    )
    assert all(edge.piece == text[edge.start : edge.end] for edge in edges)
    assert all(edge.known == (edge.piece in model.log_probabilities) for edge in edges)


@given(models(), texts, st.integers(0, 2**32), st.sampled_from([0.01, 0.5, 1.0, 3.0, math.inf]))
def test_a_sample_is_a_path_and_the_generator_decides_it(model, text, seed, temperature):
    sample = model.sample(text, random.Random(seed), temperature)
    assert sample in model.n_best(text, 10**6)
    assert sample == model.sample(text, random.Random(seed), temperature)


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5, math.inf])
def test_samples_are_as_frequent_as_their_probability(temperature):
    model = Unigram({"a": -1.0, "b": -1.5, "ab": -2.0, "ba": -1.25, "aba": -3.0})
    paths = model.n_best("abab", 100)
    weights = [math.exp(path.log_probability / temperature) for path in paths]
    rng = random.Random(5)
    drawn = Counter(model.sample("abab", rng, temperature).pieces for _ in range(20_000))
    for path, weight in zip(paths, weights, strict=True):
        share = weight / sum(weights)
        assert drawn[path.pieces] / 20_000 == pytest.approx(share, abs=5 * math.sqrt(share / 20_000))


def test_a_low_temperature_keeps_to_the_best_path():
    model = Unigram({"a": -1.0, "b": -1.5, "ab": -2.4, "ba": -2.6})
    rng = random.Random(1)
    assert {model.sample("abab", rng, 1e-6).pieces for _ in range(50)} == {("ab", "ab")}


def test_costs_and_log_probabilities_are_two_faces_of_one_model():
    costs = {"北": 3.0, "北京": 1.0, "大学": 1.0, "大": 2.0, "学": 2.0}
    model = Unigram.from_costs(costs)
    assert model.segment("北京大学") == ["北京", "大学"]
    assert model.best("北京大学").log_probability == -2.0
    same = Unigram({p: -c for p, c in costs.items()}, unknown_log_probability=-20.0, fuse_unknown=False)
    assert model == same


def test_newest_tells_the_cheapest_path_from_every_shortcut():
    """Greedy: newe s t; backwards: n e west; fewest: new est; products: six letters; dearest: n e wes t."""
    singles = {"n": 1, "e": 1, "w": 1, "s": 1, "t": 2}
    model = Unigram.from_costs(singles | {"new": 5, "newe": 4, "est": 3, "wes": 6, "west": 5})
    assert model.segment("newest") == ["n", "e", "w", "est"]


def test_source_003_takes_each_unknown_character_by_itself():
    model = Unigram.from_costs({"a": 1.0, "ab": 1.5})
    assert model.segment("xyabz") == ["x", "y", "ab", "z"]
    assert model.best("xyabz").log_probability == -61.5
    assert Unigram.from_costs({}, unknown_cost=2.0).best("xy") == Segmentation(("x", "y"), -4.0)


def test_unknown_neighbours_fuse_and_become_bytes_only_together():
    scores = {"a": -1.0, "<0xC3>": -5.0, "<0xA9>": -5.0}
    assert Unigram(scores).segment("axya") == ["a", "xy", "a"]
    assert Unigram(scores, byte_fallback=True).segment("aéa") == ["a", "<0xC3>", "<0xA9>", "a"]
    assert Unigram(scores, byte_fallback=True).segment("aéña") == ["a", "éñ", "a"]
    assert Unigram(scores, byte_fallback=True, fuse_unknown=False).segment("éñ") == ["<0xC3>", "<0xA9>", "ñ"]


def test_an_unknown_edge_is_only_where_no_one_character_piece_is():
    model = Unigram({"a": -30.0, "bc": -1.0}, unknown_log_probability=-2.0)
    assert [(edge.piece, edge.known) for edge in model.lattice("abc").edges] == [
        ("a", True),
        ("b", False),
        ("bc", True),
        ("c", False),
    ]


def test_the_price_of_the_unknown_is_ten_below_the_lowest_usable_score():
    assert Unigram({"a": -3.0, "b": 2.0, "c": -math.inf}).best("x").log_probability == -13.0


def test_probability_zero_takes_a_piece_out():
    with_zero = Unigram({"a": -1.0, "b": -1.0, "ab": -math.inf, "c": -math.inf})
    without = Unigram({"a": -1.0, "b": -1.0})
    for text in ("ab", "c", "abc"):
        assert with_zero.best(text) == without.best(text)
        assert with_zero.lattice(text) == without.lattice(text)
        assert with_zero.table(text) == without.table(text)


@pytest.mark.parametrize("score", [math.nan, math.inf, 1e300, -1e300, 10**400, "x", None])
def test_what_is_no_log_probability_is_refused(score):
    with pytest.raises(ScoreError, match="expected a log-probability"):
        Unigram({"a": score})
    if score is not None:
        with pytest.raises(ScoreError):
            Unigram({"a": -1.0}, unknown_log_probability=score)


def test_costs_that_are_no_costs_are_refused():
    for cost in (math.nan, -math.inf, "x"):
        with pytest.raises(ScoreError):
            Unigram.from_costs({"a": cost})
        with pytest.raises(ScoreError):
            Unigram.from_costs({"a": 1.0}, unknown_cost=cost)


def test_impossible_vocabularies_are_refused_with_the_place():
    with pytest.raises(EmptyPieceError) as empty:
        Unigram({"a": -1.0, "": -1.0})
    assert empty.value.position == 1
    with pytest.raises(DuplicatePieceError) as duplicate:
        Unigram([("b", -1.0), ("a", -1.0), ("a", -2.0)])
    assert (duplicate.value.position, duplicate.value.first_position) == (2, 1)
    with pytest.raises(LoneSurrogateError):
        Unigram({"a\ud800": -1.0})
    with pytest.raises(InvalidArgumentError):
        Unigram({b"a": -1.0})
    for no_pairs in (5, [("a",)], [("a", -1.0), 1]):
        with pytest.raises(InvalidArgumentError, match="piece"):
            Unigram(no_pairs)
    for nothing in ({}, {"a": -math.inf}):
        with pytest.raises(EmptyVocabularyError):
            Unigram(nothing)


def every_method(model, text):
    return (
        lambda: model.segment(text),
        lambda: model.best(text),
        lambda: model.n_best(text, 2),
        lambda: model.sample(text, random.Random(0)),
        lambda: model.log_likelihood(text),
        lambda: model.marginals(text),
        lambda: model.expected_counts(text),
    )


def test_a_text_that_no_pieces_make_is_refused_where_they_end():
    model = Unigram({"a": -1.0, "bcd": -1.0}, unknown_log_probability=-math.inf)
    for method in every_method(model, "aabca"):
        with pytest.raises(NoSegmentationError) as error:
            method()
        assert (error.value.position, error.value.character) == (2, "b")
    assert model.count_segmentations("aabca") == 0
    assert model.table("aabca")[-1].best is None
    # A way that ends nowhere takes no probability from the others.
    model = Unigram({"a": -1.0, "ab": -1.0, "bc": -1.0}, unknown_log_probability=-math.inf)
    assert model.marginals("abc") == {(0, 1): 1.0, (0, 2): 0.0, (1, 3): 1.0}
    assert model.sample("abc", random.Random(0)).pieces == ("a", "bc")


def test_a_lone_surrogate_is_refused_with_its_place():
    for method in every_method(Unigram({"a": -1.0}), "aa\udc00"):
        with pytest.raises(LoneSurrogateError) as error:
            method()
        assert error.value.position == 2


def test_the_empty_text_has_one_empty_segmentation():
    model = Unigram({"a": -1.0})
    nothing = Segmentation((), 0.0)
    assert model.best("") == model.sample("", random.Random(0)) == nothing
    assert model.n_best("", 5) == [nothing]
    assert (model.segment(""), model.count_segmentations(""), model.log_likelihood("")) == ([], 1, 0.0)
    assert (model.marginals(""), model.expected_counts(""), model.lattice("").edges) == ({}, {}, ())


def test_arguments_without_sense_are_refused():
    model = Unigram({"a": -1.0})
    for n in (0, -1, 1.5):
        with pytest.raises(InvalidArgumentError, match="n: expected an int from 1 on"):
            model.n_best("a", n)
    for temperature in (0.0, -1.0, math.nan, "x"):
        with pytest.raises(InvalidArgumentError, match="temperature"):
            model.sample("a", random.Random(0), temperature)


def test_models_compare_print_copy_and_pickle():
    model = Unigram({"a": -1.0, "b" * 5000: -2.0}, byte_fallback=True)
    assert pickle.loads(pickle.dumps(model)) == copy.deepcopy(model) == model
    assert model != Unigram({"a": -1.0})
    assert repr(Unigram({"a": -1.0})).startswith("Unigram(log_probabilities={'a': -1.0}")
    assert tokenlab.Unigram is Unigram


def test_equal_models_have_one_hash():
    first, second = Unigram({"a": -1.0, "b": -2.0}), Unigram({"b": -2.0, "a": -1.0})
    assert first == second
    assert len({first, second, Unigram({"a": -1.0, "b": -2.0}, unknown_log_probability=-9.0)}) == 2


def test_a_change_of_the_given_mapping_changes_nothing():
    scores = {"a": -1.0}
    model = Unigram(scores)
    scores["aa"] = 0.0
    assert model.segment("aa") == ["a", "a"]


def test_fusing_joins_only_neighbours():
    spans = [(0, 1, False), (1, 3, True), (3, 4, False), (4, 5, False)]
    assert list(fuse_unknown(spans)) == [(0, 1, False), (1, 3, True), (3, 5, False)]


def test_edges_say_where_and_what():
    assert Unigram({"ab": -1.5}).lattice("ab").edges[1] == Edge(0, 2, "ab", -1.5, True)


def test_the_likelihood_of_a_long_text_is_exact_to_rounding():
    """With p(a) = 1/2 and p(aa) = 1/4 the paths of n letters sum to F(n + 1) / 2^n, F Fibonacci's."""
    model = Unigram({"a": math.log(0.5), "aa": math.log(0.25)})
    before, fibonacci = 0, 1
    for _ in range(100_000):
        before, fibonacci = fibonacci, before + fibonacci
    expected = math.log(fibonacci) - 100_000 * math.log(2)
    assert model.log_likelihood("a" * 100_000) == pytest.approx(expected, rel=1e-12)
    assert model.count_segmentations("a" * 100_000) == fibonacci


def test_marginals_of_a_long_text_still_add_up():
    model = Unigram({"a": -4.0, "aa": -9.0, "aaa": -11.0})
    marginals = model.marginals("a" * 20_000)
    assert sum((end - start) * share for (start, end), share in marginals.items()) == pytest.approx(20_000)
    for at in (1, 10_000, 19_999):
        crossing = sum(marginals.get((s, e), 0) for s in range(at - 3, at) for e in range(at, at + 3))
        assert crossing == pytest.approx(1.0)


@settings(max_examples=30)
@given(st.lists(st.floats(-1e6, 0), min_size=3, max_size=3), st.integers(200, 400))
def test_no_sum_leaves_the_range_of_floats(prices, length):
    model = Unigram(dict(zip(("a", "aa", "aaa"), prices, strict=True)))
    text = "a" * length
    assert model.log_likelihood(text) >= model.best(text).log_probability * (1 + 1e-12) - 1e-9
    assert all(0 <= share <= 1 + 1e-9 for share in model.marginals(text).values())
    for temperature in (1e-6, 1.0, math.inf):
        assert "".join(model.sample(text, random.Random(0), temperature).pieces) == text


WORK = {
    "segment": lambda model, text: model.segment(text),
    "n_best": lambda model, text: model.n_best(text, 10),
    "marginals": lambda model, text: model.marginals(text),
    "sample": lambda model, text: model.sample(text, random.Random(0)),
}


@pytest.mark.parametrize("work", WORK)
def test_time_grows_with_the_text_only(work):
    """Ten times the text may take ten times as long; a list of the paths would have 3 ** 20,000 of them."""
    model = Unigram({"a" * n: -1.0 - n / 8 for n in range(1, 5)})

    def seconds(text):
        begin = time.process_time()
        WORK[work](model, text)
        return time.process_time() - begin

    small, large = "a" * 3_000, "a" * 30_000
    assert min(seconds(large) for _ in range(2)) < 50 * min(seconds(small) for _ in range(3))


def test_a_long_piece_costs_only_where_it_matches():
    """A table of all substrings up to the longest piece would look at 10^10 of them."""
    model = Unigram({"a": -1.0, "b" * 100_000: -1.0, "c" * 1_000: -1.0})
    assert len(model.segment("a" * 100_000)) == 100_000
    assert model.segment("c" * 1_000) == ["c" * 1_000]


def test_a_megabyte_without_spaces():
    model = Unigram({"ab": -1.0, "a": -2.0, "b": -2.0, "ba": -1.5})
    assert model.segment("ab" * 500_000) == ["ab"] * 500_000


tenths = st.integers(-40, 0).map(
    lambda number: number / 10
)  # sums of which round, so that ties may go either way


@given(
    st.dictionaries(st.text("ab", min_size=1, max_size=3), tenths, min_size=2, max_size=8),
    st.dictionaries(st.text("ab", max_size=2), tenths, min_size=1, max_size=4),
    st.lists(st.text("▁abx", max_size=9), min_size=1, max_size=6),
    st.integers(15, 40),
)
def test_words_seen_before_change_nothing_not_even_how_rounding_breaks_ties(inner, opening, words, times):
    model = Unigram(inner | {f"▁{piece}": score for piece, score in opening.items()})
    text = ("▁".join(words) + "▁ab") * times
    cells = model.table(text)
    assert model.best(text).log_probability == cells[-1].log_probability
    assert all(cells[end].best[:2] == (start, end) for start, end, _ in model.best_spans(text))
