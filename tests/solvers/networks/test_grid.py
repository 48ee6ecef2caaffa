"""Grids: a picture or a sound becomes a set of places, each of which knows where it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch
from torch import Tensor

from recombine.solvers.networks.grid import OBJECT, GridEncoder, cells, offsets, one_hot
from recombine.solvers.training.seeding import seeded
from recombine.store.key import Key

KEY = Key(6) / "grid"


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def encoder(shape: tuple[int, ...], places: bool) -> GridEncoder:
    with seeded(KEY):
        return GridEncoder(shape, places).eval()


def seen(encoder: GridEncoder, pictures: Tensor) -> Tensor:
    """The objects of pictures, float[n, objects, d]."""
    with torch.no_grad():
        (group,) = encoder(pictures).groups
    return group


@pytest.mark.parametrize(
    ("shape", "sides", "objects"), [((3, 160, 240), (10, 8), 80), ((201, 601), (38,), 38), ((3, 32, 48), (2, 2), 4)]
)
@pytest.mark.parametrize("places", [False, True])
def test_the_places_of_pictures_and_sounds(
    shape: tuple[int, ...], sides: tuple[int, ...], objects: int, places: bool
) -> None:
    network = encoder(shape, places)
    assert (network.sides, network.objects, network.size) == (sides, objects, OBJECT + places * sum(sides))
    assert seen(network, torch.zeros(1, *shape)).shape == (1, objects, network.size)


@settings(deadline=None, max_examples=10)
@given(st.lists(st.integers(1, 70), min_size=1, max_size=2))
def test_an_encoder_knows_how_many_places_it_sees(sides: list[int]) -> None:
    network = encoder((2, *sides), True)
    assert seen(network, torch.zeros(1, 2, *sides)).shape[1:] == (network.objects, network.size)


def test_places_are_one_hot_along_each_side() -> None:
    assert cells((2, 3)) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert one_hot((2, 3)).tolist() == [
        [1, 0, 1, 0, 0],
        [1, 0, 0, 1, 0],
        [1, 0, 0, 0, 1],
        [0, 1, 1, 0, 0],
        [0, 1, 0, 1, 0],
        [0, 1, 0, 0, 1],
    ]
    assert one_hot((3,)).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_offsets_lead_from_the_second_place_to_the_first() -> None:
    found = offsets((2, 3))
    assert found.shape == (6, 6, 2)
    assert found[0].tolist() == [[0, 0], [0, -1], [0, -2], [-1, 0], [-1, -1], [-1, -2]]
    assert found[5, 0].tolist() == [1, 2] and torch.equal(found, -found.transpose(0, 1))
    assert offsets((3,))[:, 1, 0].tolist() == [-1, 0, 1]


def test_a_place_is_told_beside_what_is_seen_there() -> None:
    shape = (3, 32, 96)
    pictures = torch.rand(2, *shape, generator=torch.Generator().manual_seed(0))
    blind, told = (seen(encoder(shape, places), pictures) for places in (False, True))
    assert torch.equal(told[..., :OBJECT], blind)
    assert torch.equal(told[..., OBJECT:], one_hot((2, 3)).expand(2, -1, -1))


def test_what_moves_by_a_cell_is_seen_in_the_next_cell() -> None:
    """A column is 32 pixels wide and a row 16 high; the middle of a large picture sees nothing of its borders."""
    network = encoder((3, 32, 704), False)
    picture = torch.zeros(1, 3, 32, 704)
    picture[..., 300:330] = torch.rand(3, 32, 30, generator=torch.Generator().manual_seed(0))
    still, moved = (seen(network, one).view(2, 22, OBJECT) for one in (picture, picture.roll(32, dims=3)))
    assert torch.allclose(still[:, 6:14], moved[:, 7:15], atol=1e-5)
    assert not torch.allclose(still[:, 6:14], moved[:, 6:14], atol=1e-3)
