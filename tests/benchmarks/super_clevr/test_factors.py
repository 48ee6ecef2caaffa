"""The factors of distribution and composition have the published numbers."""

import numpy as np
import pytest

from recombine.benchmarks.super_clevr.factors import (
    COLORS,
    DISTRIBUTIONS,
    composition,
    distribution,
    held_out,
    rotated,
    tailed,
)
from recombine.benchmarks.super_clevr.vehicles import MEASURED, VEHICLES
from recombine.store.errors import UserError

LONG = (0.501961, 0.250980, 0.125490, 0.062745, 0.031373, 0.015686, 0.007843, 0.003922)
SLIGHT = (0.2630, 0.2023, 0.1556, 0.1197, 0.0921, 0.0708, 0.0545, 0.0419)


@pytest.mark.parametrize("name", [*DISTRIBUTIONS, 1.7, "3"])
@pytest.mark.parametrize("edition", ["paper", "release"])
def test_weights_are_probabilities_of_every_value(name: str | float, edition: str) -> None:
    found = distribution(name, edition=edition)
    assert set(found["color"]) == set(COLORS) and set(found["shape"]) == set(MEASURED)
    for row in found.values():
        assert sum(row.values()) == pytest.approx(1) and min(row.values()) >= 0


def test_the_colours_have_the_published_weights() -> None:
    assert [*distribution("long")["color"].values()] == pytest.approx(LONG, abs=1e-6)
    assert [*distribution("slt")["color"].values()] == pytest.approx(SLIGHT, abs=5e-5)
    assert [*distribution("oppo")["color"].values()] == pytest.approx(LONG[::-1], abs=1e-6)
    assert [*distribution("head")["color"].values()] == [0.25] * 4 + [0] * 4
    assert [*distribution("tail")["color"].values()] == [0] * 4 + [0.25] * 4
    assert set(distribution("bal")["color"].values()) == {1 / 8}


def test_the_materials_have_the_published_weights() -> None:
    expected = {"long": (2 / 3, 1 / 3), "slt": (0.5652, 0.4348), "head": (1, 0), "tail": (0, 1), "oppo": (1 / 3, 2 / 3)}
    for name, row in expected.items():
        assert [*distribution(name)["material"].values()] == pytest.approx(row, abs=5e-5)


def test_head_and_tail_share_the_vehicle_in_the_middle() -> None:
    head, tail = ({s for s, chance in distribution(n)["shape"].items() if chance} for n in ("head", "tail"))
    assert len(head) == len(tail) == 11 and head & tail == {"double"}


def test_balanced_vehicles_are_alike_and_opposite_ones_swap_ranks() -> None:
    assert set(distribution("bal")["shape"].values()) == {1 / 21}
    long, oppo = distribution("long")["shape"], distribution("oppo")["shape"]
    assert sorted(long.values()) == pytest.approx(sorted(oppo.values()))
    assert max(oppo, key=oppo.__getitem__) == "tandem" and max(long, key=long.__getitem__) == "jet"


def test_the_release_has_another_order_of_categories_in_one_variant() -> None:
    assert distribution("slt", edition="release")["shape"]["suv"] > distribution("slt")["shape"]["suv"]
    assert distribution("long", edition="release") == distribution("long")


def test_rows_of_colours_are_rotated_by_place_or_by_category() -> None:
    by_place, by_category = composition("co-1"), composition("co-2")
    top = {shape: max(row, key=row.__getitem__) for shape, row in by_place.items()}
    assert [top[shape] for shape in ("jet", "fighter", "biplane", "airliner")] == ["gray", "yellow", "cyan", "purple"]
    assert top["truck"] == "brown"
    for place, shapes in enumerate((["jet", "suv", "articulated", "chopper", "road"], ["fighter", "wagon", "regular"])):
        for shape in shapes:
            assert [*by_place[shape].values()] == pytest.approx(rotated(LONG, place), abs=1e-6)
    for number, category in enumerate(("aeroplane", "car", "bus", "motorbike", "bicycle")):
        for shape in VEHICLES[category]:
            assert [*by_category[shape].values()] == pytest.approx(rotated(LONG, number), abs=1e-6)
    assert composition("co-0") == {}


def test_held_out_pairs_never_occur_and_the_others_are_alike() -> None:
    pairs = {"sedan": ["gray"], "bus": ["red", "blue"]}
    rows, test = held_out(pairs), held_out(pairs, swapped=True)
    assert rows["sedan"] == {color: 0 if color == "gray" else 1 / 7 for color in COLORS}
    assert rows["school"] == {color: 0 if color in ("red", "blue") else 1 / 6 for color in COLORS}
    assert test["school"] == {color: 0.5 if color in ("red", "blue") else 0 for color in COLORS}
    assert test["sedan"]["gray"] == 1 and rows["suv"]["red"] == test["suv"]["red"] == 1 / 8
    assert np.allclose([sum(row.values()) for row in (*rows.values(), *test.values())], 1)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: distribution("longer"), "there is no distribution 'longer'"),
        (lambda: distribution(0.5), "exponent of a distribution lies between 1 and"),
        (lambda: distribution("nan"), "exponent of a distribution lies between 1 and"),
        (lambda: composition("co-3"), "there is no composition 'co-3'"),
        (lambda: held_out({"sedans": ["red"]}), "there is no vehicle 'sedans'"),
        (lambda: held_out({"sedan": ["mauve"]}), "there is no color 'mauve'"),
        (lambda: held_out({"sedan": [*COLORS]}), "'sedan' has no color left"),
        (lambda: tailed(3, float("inf")), "exponent"),
    ],
)
def test_what_is_not_a_factor_is_refused(call, said) -> None:
    with pytest.raises(UserError, match=said):
        call()
