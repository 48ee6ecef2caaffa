"""The learner of shortest definitions: statements against the plain meaning of their texts, and what it finds."""

from itertools import permutations

import numpy as np
import pytest

from recombine.benchmarks.concept_world import definition_learner
from recombine.benchmarks.concept_world.definition import Object, Point
from recombine.benchmarks.concept_world.definition_learner import (
    DefinitionLearner,
    Literal,
    _said,
    called,
    given,
    shapes_of,
    written,
)
from recombine.benchmarks.concept_world.published import F1
from recombine.benchmarks.concept_world.reader import read
from recombine.benchmarks.concept_world.reference import Plainly
from recombine.benchmarks.concept_world.statements import (
    RELATIONS,
    Chain,
    Kind,
    Pair,
    Seen,
    Shaped,
    about_parts,
    about_points,
    covers,
)
from recombine.benchmarks.concept_world.study import ConceptWorld
from recombine.metrics.confusion import confusion, f1
from recombine.store.errors import UserError
from recombine.store.key import Key

COLORS = ("blue", "red", "green", "yellow", "white")
SQUARE, BAR = ((0, 0), (1, 0), (0, 1), (1, 1)), ((0, 0), (0, 1))
KINDS = (
    Kind("tile", (SQUARE,), lambda images: Shaped(SQUARE).holds(Seen(images))),
    Kind("bar", (BAR,), lambda images: Shaped(BAR).holds(Seen(images))),
)


def drawn(things: int, key: Key) -> np.ndarray:
    """Squares and bars on a small grid, often in rows, of two colours."""
    rng, image = key.rng(), np.zeros((7, 9), np.uint8)
    for number in range(things):
        shape = SQUARE if rng.random() < 0.7 else BAR
        for _ in range(50):
            x, y = int(rng.integers(0, 4)) * 2 + int(rng.random() < 0.2), int(rng.integers(0, 3)) * 2
            cells = [(y + dy, x + dx) for dx, dy in shape]
            if all(r < 7 and c < 9 and not image[r, c] for r, c in cells):
                for r, c in cells:
                    image[r, c] = 1 + int(rng.random() < 0.5) if number == 2 else 1 + (number + y // 2) % 2
                break
    return image


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    return np.stack([drawn(1 + i % 3, Key(i)) for i in range(18)])


def objects(image: np.ndarray, parts: bool) -> list[Object]:
    """The image as one object: its points row by row; or its parts, in every order."""
    points = {(int(x), int(y)): int(image[y, x]) - 1 for y, x in zip(*np.nonzero(image))}
    if not parts:
        return [tuple(Point(x, y, COLORS[color]) for (x, y), color in points.items())]
    ways = [
        tuple(tuple(Point(x, y, COLORS[c]) for x, y, c in part) for part in way)
        for way in covers(points, (SQUARE, BAR))
    ]
    return [order for way in ways for order in permutations(way)]


@pytest.mark.parametrize("parts", [False, True])
def test_statements_hold_where_their_texts_do(images: np.ndarray, parts: bool) -> None:
    every = about_parts(["tile", "bar"]) if parts else about_points(COLORS, [SQUARE, BAR])
    some = [one for i, one in enumerate(every) if not parts or i % 41 == 0]
    kinds = "\n".join(f"concept {name}(X): {Shaped(shape).text}" for name, shape in (("tile", SQUARE), ("bar", BAR)))
    seen, true = Seen(images, KINDS), 0
    for number, statement in enumerate(some):
        lines = [kinds]
        call = _said(Literal(statement), "said", lines)
        plain = Plainly(read("\n".join([*lines, f"concept whole(X): {call}"]), known=given()))
        wanted = [any(plain.holds("whole", one) for one in objects(image, parts)) for image in images]
        assert statement.holds(seen).tolist() == wanted, f"{number}: {statement.text}"
        true += sum(wanted)
    assert true


def test_chains_and_pairs_are_met_in_the_images(images: np.ndarray) -> None:
    seen = Seen(images, KINDS)
    assert Pair("tile", "bar").holds(seen).any() and Chain("tile", ("",), True).holds(seen).any()
    assert any(Pair("tile", "tile", relation).holds(seen).any() for relation in RELATIONS)


def test_an_image_is_taken_apart_in_every_way() -> None:
    row = {(x, y): 0 for x in range(2) for y in range(2)}
    ways = {tuple(len(part) for part in way) for way in covers(row, (SQUARE, BAR))}
    assert ways == {(4,), (2, 2)}
    assert [*covers({(0, 0): 1}, (SQUARE,))] == []


def test_shapes_are_those_of_small_images(images: np.ndarray) -> None:
    assert SQUARE in shapes_of(images)
    assert all(len(shape) <= 6 and shape[0] == (0, 0) for shape in shapes_of(images))


@pytest.mark.parametrize("experiment", ["sequences", "boxworld", "patterns", "substitution"])
def test_it_is_above_every_network_of_the_paper(experiment: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definition_learner, "SHOWN", 60)
    study = ConceptWorld("demo")
    learner = study.solvers_named("definition-learner")["definition-learner"]
    exams = study.exams([experiment])
    assert isinstance(learner, DefinitionLearner)
    learnt = learner.fit(exams[0].train(), Key(0))
    assert set(map(called, learnt.classes)) <= set(read(written(learnt), known=given()).definitions)
    for exam in exams:
        (piece,) = exam.pieces()
        said = learnt.predict(piece.observed()).argmax(axis=1)
        score = f1(confusion(piece.asked, said, len(exam.answers))).mean()
        assert score > max(np.mean(row) for row in F1[experiment, exam.name.split("/")[1]].values())
    if experiment == "boxworld":  # recursion is found where it is needed
        (solution,) = learnt.learnt[learnt.classes.index("solution")].shortest
        assert solution == (Literal(Chain("2x2_square", ("east_1", "same_color"), True)),)


def test_a_class_without_images_is_refused(images: np.ndarray) -> None:
    learner = DefinitionLearner((9, 7), COLORS)
    with pytest.raises(UserError, match="none of nothing"):
        learner.taught(images, np.zeros(len(images), int), ("something", "nothing"), Key(0))
