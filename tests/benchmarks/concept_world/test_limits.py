"""Counting and drawing end: with a result, or with a sentence."""

import resource
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.concept_world.constraints import Constraints
from recombine.benchmarks.concept_world.drawing import count, draw, recognise
from recombine.benchmarks.concept_world.extension import Extension
from recombine.benchmarks.concept_world.match import points_drawn, points_of
from recombine.benchmarks.concept_world.plan import _apart
from recombine.benchmarks.concept_world.reader import load_library, read
from recombine.render.png import png
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.limit import Exceeded

PAIRS = "grid 512 by 512\nconcept p1(Z): Z == (a, b) and a.x_loc <= b.x_loc\n" + "".join(
    f"concept p{i}(Z): Z == (A, B) and p{i - 1}(A) and p{i - 1}(B)\n" for i in range(2, 9)
)
BOTH = [(p, q) for p in "abcde" for q in "abcde" if p != q] * 10
HARD = {
    "four pairs": (PAIRS, "p4"),
    "256 points": (PAIRS, "p8"),
    "alternatives": (
        "concept it(Z): Z == (a, b, c, d, e) and "
        + " and ".join(
            f"({p}.x_loc + {i % 29} <= {q}.x_loc or {p}.y_loc <= {q}.y_loc)" for i, (p, q) in enumerate(BOTH)
        ),
        "it",
    ),
    "thousands of alternatives": (
        "grid 64 by 64\nconcept it(Z): Z == (a, b) and "
        + " and ".join(f"(a.x_loc + {i % 29} <= b.x_loc or b.y_loc <= a.y_loc + {i % 7})" for i in range(2_000)),
        "it",
    ),
    "a long row": (
        f"grid 512 by 512\nconcept it(Z): Z == ({', '.join(f'v{i}' for i in range(200))}) and "
        + " and ".join(f"v{i}.x_loc < v{i + 1}.x_loc" for i in range(199)),
        "it",
    ),
}


@pytest.mark.parametrize("what", [count, draw])
@pytest.mark.parametrize("case", HARD)
def test_what_would_never_end_is_stopped(tmp_path: Path, case: str, what) -> None:  # type: ignore[no-untyped-def]
    text, name = HARD[case]
    (tmp_path / "it.concepts").write_text(text)
    draw("f_pent")  # loops are compiled by now
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(Exceeded, match=r"was stopped after 0\.5 s; allow more with limit"):
        what(tmp_path / "it.concepts", concept=name, limit=0.5)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1e6


@pytest.mark.parametrize("word, many", [("and", 5_000), ("or", 2_000)])
def test_thousands_of_conditions_are_counted_and_drawn(tmp_path: Path, word: str, many: int) -> None:
    text = f" {word} ".join(f"a.x_loc + {i % 29} {'!=' if word == 'and' else '<='} b.x_loc" for i in range(many))
    (tmp_path / "it.concepts").write_text(f"grid 64 by 64\nconcept it(Z): Z == (a, b) and ({text})\n")
    told: list[str] = []
    assert count(tmp_path / "it.concepts", progress=lambda label, *_: told.append(label)).images > 1e8
    assert len(draw(tmp_path / "it.concepts").images) == 1 and told, "nothing tells how far it is"


def test_numbers_beyond_numbers_are_told(tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(60)]
    loose = " and ".join(f"{a}.x_loc != {b}.x_loc" for a, b in pairwise(names))
    (tmp_path / "it.concepts").write_text(f"grid 512 by 512\nconcept it(Z): Z == ({', '.join(names)}) and {loose}")
    for what in (count, draw):
        with pytest.raises(UserError, match="too many images to be counted"):
            what(tmp_path / "it.concepts")


def test_large_images_are_counted_in_little_memory() -> None:
    extension = Extension(read("grid 512 by 512\nconcept it(Z): Z == (a, b) and a.x_loc < b.x_loc", known=None), "it")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = extension.count(Key(0))
    assert found.low <= (512 * 512) * (512 * 511) // 2 * len(extension.library.grid.colors) ** 2 <= found.high
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000
    with pytest.raises(UserError, match="more than the 781 that are made at once"):
        draw("f_pent", 1_000, grid="512x512")


def test_a_large_image_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "it.png").write_bytes(png(np.zeros((600, 600, 3), np.uint8)))
    with pytest.raises(UserError, match="at most 512 a side"):
        recognise(tmp_path / "it.png", "f_pent")


def test_progress_is_told(tmp_path: Path) -> None:
    told = list[str]()
    count("f_pent", progress=lambda label, done, total: told.append(label))
    assert any("counting 'f_pent'" in label for label in told)


# --- the quick ways and the plain ones


def test_points_need_no_images() -> None:
    extension = Extension(load_library(), "z_pent")
    drawn = extension.draw(200, Key(3))
    plain, quick = points_of(extension.images(drawn)), points_drawn(*drawn[:3], (32, 32))
    assert all(np.array_equal(a, b) for a, b in zip(plain[:4], quick[:4])) and plain.shape == quick.shape
    assert np.array_equal(extension.ways(extension.images(drawn)), extension.ways(drawn))
    images = [image.tobytes() for image in extension.images(drawn)]
    assert len(set(images)) == len(set(drawn.names()))
    assert [images.index(image) for image in images] == [drawn.names().index(name) for name in drawn.names()]


def plainly_apart(bound: np.ndarray) -> list[tuple[int, int, int]]:
    """The distances that do not follow from others, one by one."""
    found = []
    for a in range(1, len(bound)):
        for b in range(1, len(bound)):
            through = np.delete(bound[a] + bound[:, b], [a, b])
            if a != b and (not len(through) or through.min() > bound[a, b]):
                found.append((a - 1, b - 1, int(bound[a, b])))
    return found


@pytest.mark.parametrize("points", range(1, 7))
def test_distances_that_follow_from_others_are_left_out(points: int) -> None:
    rng = (Key(0) / points).rng()
    for _ in range(20):
        constraints = Constraints(9, 7, 3)
        for _ in range(points):
            constraints.new_point()
        for u, v, c in rng.integers(0, 1 + 2 * points, (3, 3)):
            if u != v and constraints.truth(("le", int(u), int(v), int(c))) is None:
                constraints.add(("le", int(u), int(v), int(c)))
        bound = constraints.known.astype(np.int64)
        assert [tuple(row) for row in _apart(bound).tolist()] == plainly_apart(bound)
