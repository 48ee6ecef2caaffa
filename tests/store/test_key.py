import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.store.errors import UserError
from recombine.store.key import Key
from tests.commands import Run, refused

PATHS = st.lists(st.integers(0, 99) | st.text(max_size=3), max_size=4).map(tuple)


def numbers(key: Key) -> list[int]:
    return key.rng().integers(0, 2**62, 4).tolist()


@settings(deadline=None)
@given(st.integers(0, 2**63 - 1), PATHS)
def test_the_same_key_gives_the_same_numbers(entropy, path):
    assert numbers(Key(entropy, path)) == numbers(Key(entropy, path))


@settings(deadline=None)
@given(PATHS, PATHS)
def test_another_path_gives_other_numbers(one, other):
    assert (numbers(Key(7, one)) == numbers(Key(7, other))) == (one == other)


def test_another_seed_gives_other_numbers():
    assert numbers(Key(7) / "scenes") != numbers(Key(8) / "scenes")


def test_the_number_1_and_the_text_1_are_different_names():
    assert numbers(Key(7) / 1) != numbers(Key(7) / "1")


def test_a_draw_leaves_the_key_as_it_was():
    key = Key(7) / "scenes"
    first = numbers(key)
    key.rng().random(1000)
    assert numbers(key) == first


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_what_is_no_seed_is_refused(seed: int, invoke: Run) -> None:
    with pytest.raises(UserError, match="a seed is a number from 0 to"):
        Key(seed)
    for words in (("make", "clevr"), ("gap", "curi"), ("rows", "closure"), ("show", "concept-world/sequences")):
        refused(invoke(*words, "--seed", seed), "a seed is a number from 0 to")


def test_numbers_do_not_drift():
    assert (Key(7) / "scenes" / 3).rng().random(2).tolist() == [0.7384116721840075, 0.4389348358609424]
