"""Loops in the place of NumPy's calls do what these do."""

import numpy as np
import pytest

from recombine.store.key import Key
from recombine.store.loops import copy, permutation


@pytest.mark.parametrize("n", [0, 1, 2, 3, 64, 90, 1_000])
def test_a_permutation_is_that_of_numpy_and_leaves_the_same_draws_behind(n: int) -> None:
    ours, theirs = Key(n).rng(), Key(n).rng()
    for _ in range(3):
        assert permutation(ours, n).tolist() == theirs.permutation(n).tolist()
    assert ours.random() == theirs.random() and ours.integers(0, 1000) == theirs.integers(0, 1000)


def test_a_copy_is_a_copy() -> None:
    into = np.zeros(3, np.uint8)
    copy(np.array([3, 1, 2], np.uint8), into)
    assert into.tolist() == [3, 1, 2]
