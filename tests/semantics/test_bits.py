"""Packed bits against plain arrays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numba import njit

from recombine.semantics.bits import holds, lowest, pack_bits, popcount, select, transpose_bits, unpack_bits

LAW = settings(deadline=None, max_examples=60)
rows = st.integers(1, 200).flatmap(lambda n: arrays(bool, n))
tables = st.tuples(st.integers(1, 150), st.integers(1, 150)).flatmap(lambda shape: arrays(bool, shape))
words = st.integers(0, 2**64 - 1)


@njit
def _popcount(word: np.uint64) -> int:
    return popcount(word)


@njit
def _lowest(word: np.uint64) -> int:
    return lowest(word)


@LAW
@given(st.lists(st.integers(0, 130), min_size=1, max_size=3).flatmap(lambda shape: arrays(bool, shape)))
def test_unpacking_undoes_packing(truth: np.ndarray) -> None:
    packed = pack_bits(truth)
    assert packed.dtype == np.uint64
    assert packed.shape == (*truth.shape[:-1], -(-truth.shape[-1] // 64))
    np.testing.assert_array_equal(unpack_bits(packed, truth.shape[-1]), truth)


@LAW
@given(arrays(np.uint64, st.tuples(st.integers(1, 3), st.integers(1, 4))))
def test_packing_undoes_unpacking(packed: np.ndarray) -> None:
    np.testing.assert_array_equal(pack_bits(unpack_bits(packed, 64 * packed.shape[1])), packed)


@LAW
@given(rows)
def test_bit_b_of_word_w_is_place_64_w_plus_b(truth: np.ndarray) -> None:
    expected = [sum(int(t) << b for b, t in enumerate(truth[w : w + 64])) for w in range(0, len(truth), 64)]
    assert pack_bits(truth).tolist() == expected


@LAW
@given(tables)
def test_transposing_bits_is_transposing_the_array(truth: np.ndarray) -> None:
    packed = pack_bits(truth)
    out = np.full((64 * packed.shape[1], -(-len(truth) // 64)), 0xDEAD, np.uint64)
    transpose_bits(packed, out)
    np.testing.assert_array_equal(out[: truth.shape[1]], pack_bits(np.ascontiguousarray(truth.T)))
    assert not out[truth.shape[1] :].any()


@LAW
@given(rows)
def test_a_place_holds_what_the_array_holds(truth: np.ndarray) -> None:
    packed = pack_bits(truth)
    assert [holds(packed, place) for place in range(len(truth))] == truth.tolist()


@LAW
@given(rows)
def test_select_finds_the_set_places_in_order(truth: np.ndarray) -> None:
    packed, places = pack_bits(truth), np.flatnonzero(truth)
    assert [select(packed, rank) for rank in range(len(places))] == places.tolist()
    assert select(packed, len(places)) == -1


@LAW
@given(words)
def test_the_number_of_bits_and_the_lowest_are_those_of_the_integer(word: int) -> None:
    assert _popcount(np.uint64(word)) == word.bit_count()
    if word:
        assert _lowest(np.uint64(word)) == (word & -word).bit_length() - 1


def test_the_65th_truth_value_is_the_lowest_bit_of_the_second_word() -> None:
    truth = np.zeros(65, bool)
    truth[[0, 3, 64]] = True
    assert pack_bits(truth).tolist() == [0b1001, 1]


@pytest.mark.parametrize(("rank", "place"), [(0, 2), (1, 63), (2, 64), (3, 130), (4, -1)])
def test_select_counts_set_bits_across_words(rank: int, place: int) -> None:
    truth = np.zeros(131, bool)
    truth[[2, 63, 64, 130]] = True
    assert select(pack_bits(truth), rank) == place
