"""The images of a concept are those that the independent search accepts; draws are uniform over them."""

from itertools import combinations, product

import numpy as np
import pytest

from recombine.benchmarks.concept_world.classes import Classes
from recombine.benchmarks.concept_world.definition import Grid, Library, Object, Point
from recombine.benchmarks.concept_world.extension import Extension
from recombine.benchmarks.concept_world.learners import strong, weak
from recombine.benchmarks.concept_world.reader import load_library, read
from recombine.benchmarks.concept_world.recognise import Recogniser
from recombine.benchmarks.concept_world.reference import Plainly
from recombine.benchmarks.concept_world.samples import parts, verified
from recombine.benchmarks.concept_world.search import Failure, Proof, Prover
from recombine.benchmarks.concept_world.world import mutated
from recombine.store.errors import UserError
from recombine.store.key import Key

SMALL = """
concept two(X): X == (a, b) and point(a) and point(b)
concept same_row(X): X == (a, b) and a.y_loc == b.y_loc and a.x_loc < b.x_loc
concept apart(X): X == (a, b) and a.x_loc != b.x_loc + 1 and a.color != b.color
concept diagonal(X): X == (a, b) and a.x_loc == a.y_loc and b.x_loc == b.y_loc + 1
concept corner(X): X == (a, b, c) and east_1(a, b) and south_1(a, c) and (red(X) or blue(b))
concept not_red(X): X == (a, b) and adj(a, b) and not red(X)
concept row(X): X == (x) and point(x) or (X == x :: XS and XS == y :: YS and point(x) and east_1(x, y) and row(XS))
concept top(X): X == (a, b, c) and t == argmin(X, y_loc) and red(t) and all x in X: (x.x_loc == t.x_loc or blue(x))
concept either_way(X): X == (a, b) and (east_1(a, b) or adj(a, b))
concept chain(X): X == (a, b, c, d) and adj(a, b) and adj(b, c) and adj(c, d) and red(X)
concept loose(X): X == (a, b, c) and beyond_east(a, b) and beyond_east(b, c)
"""


def library(width: int = 3, height: int = 2) -> Library:
    return read(f"grid {width} by {height}\ncolors blue, red\n{SMALL}", known=load_library())


def images_of(extension: Extension) -> set[bytes]:
    return {image.tobytes() for image in extension.images(extension.everything())}


@pytest.mark.parametrize(
    "name", ["two", "same_row", "apart", "diagonal", "corner", "not_red", "row", "top", "either_way", "loose"]
)
def test_an_extension_is_what_the_independent_search_accepts(name: str) -> None:
    """Every image of up to three points on a grid of three by two, asked one by one."""
    small = library()
    prover, accepted = Prover(small), set()
    for n in (1, 2, 3):
        for cells in combinations(range(6), n):
            for colors in product((1, 2), repeat=n):
                image = np.zeros(6, np.uint8)
                image[list(cells)] = colors
                if isinstance(prover.prove(name, image.reshape(2, 3)), Proof):
                    accepted.add(image.tobytes())
    extension = Extension(small, name)
    assert images_of(extension) == accepted
    assert extension.count(Key(0)) == (len(accepted),) * 3


def chi_square(extension: Extension, images: np.ndarray) -> float:
    """How far the counts are from equal, in standard deviations of the chi-square statistic."""
    place = {image.tobytes(): i for i, image in enumerate(extension.images(extension.everything()))}
    counts = np.bincount([place[image.tobytes()] for image in images], minlength=len(place))
    expected = len(images) / len(place)
    free = len(place) - 1
    return float((((counts - expected) ** 2 / expected).sum() - free) / np.sqrt(2 * free))


@pytest.mark.parametrize("name", ["two", "not_red", "either_way", "loose", "chain", "row", "mixed_seq"])
def test_every_image_is_equally_likely(name: str) -> None:
    extension = Extension(library(6, 4), name)
    drawn = extension.draw(40_000, Key(3))
    assert abs(chi_square(extension, extension.images(drawn))) < 4


def test_proposals_alone_would_not_be_uniform() -> None:
    """A square of four is read in eight ways, a line in two: it is proposed more often, and kept less often."""
    extension = Extension(library(6, 4), "chain")
    proposed = extension._proposed(40_000, Key(3).rng())
    assert chi_square(extension, extension.images(proposed)) > 20


def objects(extension: Extension, n: int) -> list[Object]:
    drawn, grid = extension.draw(n, Key(1)), extension.library.grid

    def build(structure: object, row: int) -> Object:
        if isinstance(structure, tuple):
            return tuple(build(part, row) for part in structure)
        at = row, structure
        return Point(int(drawn.x[at]), int(drawn.y[at]), grid.colors[int(drawn.color[at])])

    return [build(extension.plans[drawn.plan[i]].structure, i) for i in range(n)]


@pytest.mark.parametrize("name", ["distractor", "path", "composite_x_pent", "mixed_pair", "2x2_square_of_squares"])
def test_what_is_drawn_satisfies_its_concept(name: str) -> None:
    extension = Extension(load_library(), name, otherwise=3)
    plain = Plainly(extension.library)
    assert all(plain.holds(name, thing) for thing in objects(extension, 20))
    assert verified(extension, extension.draw(200, Key(2))).all()


def test_a_broken_object_is_not_verified() -> None:
    extension = Extension(load_library(), "f_pent")
    drawn = extension.draw(10, Key(0))
    assert not verified(extension, drawn._replace(x=drawn.x + (np.arange(5) == 2))).any()


@pytest.mark.parametrize("name", ["red_seq", "mixed_seq", "path", "distractor", "type_1_pair", "2x2_checkerboard"])
def test_changed_images_are_recognised_as_the_independent_search_does(name: str) -> None:
    known = load_library()
    extension = Extension(known, name, otherwise=2)
    images = mutated(extension.images(extension.draw(40, Key(5))), 5, Key(6))
    found = Recogniser(known).holds(name, images)
    prover = Prover(known)
    assert found.tolist() == [isinstance(prover.prove(name, image), Proof) for image in images]


def test_recognition_gives_the_object_or_the_reason() -> None:
    known = load_library()
    extension = Extension(known, "f_pent_west_z_pent")
    (image,) = extension.images(extension.draw(1, Key(0)))
    found = Recogniser(known).recognise("f_pent_west_z_pent", image)
    assert isinstance(found, Proof)
    assert Plainly(known).holds("f_pent_west_z_pent", found.object)
    refused = Recogniser(known).recognise("z_pent", image)
    assert isinstance(refused, Failure)
    assert refused.reason


def test_a_contradiction_is_explained_by_conditions_that_are_all_needed() -> None:
    text = "concept odd(X): X == (a, b) and red(X) and east_1(a, b) and same_color(a, b) and west_1(a, b)"
    with pytest.raises(UserError, match=r"inconsistent.*'east_1\(a, b\)' and 'west_1\(a, b\)' exclude") as caught:
        Extension(read(text, known=load_library()), "odd").draw(1, Key(0))
    assert "red(X)" not in str(caught.value)


def test_parts_that_cannot_fit_are_said_not_to() -> None:
    text = "grid 3 by 3\nconcept pair(X): X == (a, b) and 2x2_square(a) and 2x2_square(b)"
    with pytest.raises(UserError, match="does not fit on a grid of 3 by 3"):
        Extension(read(text, known=load_library()), "pair").draw(1, Key(0))


EXPERIMENT = """
grid 5 by 4
experiment rows:
    train:
        red 6 of red_seq where depth(east_seq) == 1
        blue 6 of blue_seq where depth(east_seq) == 1
    test longer:
        red 100 of red_seq where depth(east_seq) == 2
        blue 3 of blue_seq where depth(east_seq) == 2
    test same:
        red 4 of red_seq where depth(east_seq) == 1
        blue 4 of blue_seq where depth(east_seq) == 1
"""


def rows() -> Classes:
    known = read(EXPERIMENT, known=load_library())
    return Classes(known, known.experiments["rows"])


def test_samples_are_disjoint_of_one_class_and_never_more_than_exist() -> None:
    classes = rows()
    made = parts(classes, Key(0))
    images = [image.tobytes() for samples in made.values() for sample in samples for image in sample.images]
    assert len(images) == len(set(images))
    assert [len(sample.images) for sample in made["longer"]] == [6, 3]
    for samples in made.values():
        for sample in samples:
            label = list(classes.concepts).index(sample.line.label)
            assert (classes.of(sample.images) == (np.arange(2) == label)).all()


def test_the_same_key_gives_the_same_samples_and_another_key_others() -> None:
    first, again, other = (parts(rows(), Key(seed))["train"][0].images.tobytes() for seed in (0, 0, 1))
    assert first == again != other


def test_the_gap_is_zero_where_nothing_is_held_out() -> None:
    classes = rows()
    for sample in parts(classes, Key(0))["same"]:
        assert (strong(classes, sample.images) == weak(classes, sample.images)).all()
        assert strong(classes, sample.images)[:, list(classes.concepts).index(sample.line.label)].all()


def test_grids_and_colors_may_be_others() -> None:
    tall = Library(load_library().definitions, grid=Grid(5, 9, ("red", "blue")))
    extension = Extension(tall, "red_square")
    assert extension.count(Key(0)).images == 4 * 8
    assert extension.images(extension.draw(1, Key(0))).shape == (1, 9, 5)
