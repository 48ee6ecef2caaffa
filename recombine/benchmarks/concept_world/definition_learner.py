"""A learner that looks for the shortest definition of every class, and then asks which of them an image satisfies.

It is given the language, with points, colours and relations of objects (`statements` says what can be said with them),
and training images with their classes. It is not given the concepts that made the images, nor shapes: those of small
images it has met are all it knows. It learns in two steps:

1. A definition is one statement or two together, each as it is or denied, that no training image of another class
   satisfies. Of these it takes those that hold of the most images of the class; for the images that are left it looks
   again: a disjunction. A class that cannot be defined so in `DISJUNCTS` times is left for the second step.
2. Classes that were defined by shapes are *kinds* of things, which may now stand as parts in definitions: pairs, and
   chains, which are recursive. The other classes are looked at again.

A definition counts for half as much with every atom that it is longer, and not at all where it is `SLACK` atoms longer
than the shortest. A class is as likely as those of its definitions that hold weigh.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from recombine.benchmarks.concept_world.definition import Library
from recombine.benchmarks.concept_world.reader import read
from recombine.benchmarks.concept_world.statements import (
    Chain,
    Kind,
    Offsets,
    Seen,
    Shaped,
    Statement,
    about_parts,
    about_points,
)
from recombine.render.grid import grid_codes, points_of
from recombine.semantics.bits import pack_bits
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.examples import Examples, Observed
from recombine.world.scenes import ABSENT

if TYPE_CHECKING:
    from recombine.benchmarks.concept_world.study import ConceptWorld

SMALL = 6
"""Points of the largest shape that is learnt as it is."""
DISJUNCTS = 3
"""Definitions of which at least one holds, at most."""
SLACK = 4
"""Atoms by which a definition may be longer than the shortest."""
SHOWN = 200
"""Images of each class that are searched with; what is found is then tried on all."""
MOST = 2_000
"""Definitions of one disjunct that are kept, the shortest first."""


class Literal(NamedTuple):
    """A statement, or its denial."""

    statement: Statement
    so: bool = True

    @property
    def atoms(self) -> int:
        return self.statement.atoms + (not self.so)


Definition = tuple[Literal, ...]
"""Literals that hold together."""


def atoms(definition: Definition) -> int:
    return sum(literal.atoms for literal in definition)


@cache
def given() -> Library:
    """What the learner knows of the library: points, colours and relations."""
    shipped = files("recombine.benchmarks") / "concept_world" / "library"
    return read("\n".join((shipped / f"{name}.concepts").read_text("utf-8") for name in ("points", "relations")))


@dataclass(frozen=True)
class Learnt:
    """What was learnt of a class: for every disjunct the definitions that fit, the shortest first."""

    disjuncts: tuple[tuple[Definition, ...], ...] = ()
    whole: bool = False
    """Whether they hold of all training images of the class."""

    def belief(self, seen: Seen, memo: dict[Statement, np.ndarray]) -> np.ndarray:
        """The weight of the definitions that hold, of the disjunct where it is largest, float[n]."""
        found = np.zeros(len(seen))
        for definitions in self.disjuncts:
            weight = 0.5 ** np.array([atoms(one) - atoms(definitions[0]) for one in definitions], float)
            holds = np.stack([_holds(one, seen, memo) for one in definitions])
            found = np.maximum(found, weight @ holds / weight.sum())
        return found

    @property
    def shortest(self) -> tuple[Definition, ...]:
        return tuple(definitions[0] for definitions in self.disjuncts)

    @property
    def shapes(self) -> tuple[Offsets, ...]:
        """The shape that each shortest definition asks for; nothing where one asks for none."""
        found = [
            next((one.statement.offsets for one in definition if one.so and isinstance(one.statement, Shaped)), None)
            for definition in self.shortest
        ]
        return tuple(shape for shape in found if shape) if None not in found else ()


def _holds(definition: Definition, seen: Seen, memo: dict[Statement, np.ndarray]) -> np.ndarray:
    found = np.ones(len(seen), bool)
    for literal in definition:
        if literal.statement not in memo:
            memo[literal.statement] = literal.statement.holds(seen)
        found &= memo[literal.statement] == literal.so
    return found


@dataclass(frozen=True, eq=False)
class DefinitionLearner:
    """The learner as a solver."""

    grid: tuple[int, int]
    colors: tuple[str, ...]
    classes: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    learnt: tuple[Learnt, ...] = ()

    def needs_training(self, few_shot: bool) -> bool:
        return not self.learnt

    def fit(self, train: Examples, key: Key) -> Self:
        return self.taught(grid_codes(train.scenes[train.scene], *self.grid), train.target, train.answers, key)

    def taught(self, images: np.ndarray, target: np.ndarray, classes: tuple[str, ...], key: Key) -> Self:
        """The learner after it has seen images, uint8[n, h, w], of the classes with these numbers."""
        rows = [np.flatnonzero(target == i) for i in range(len(classes))]
        if any(len(row) == 0 for row in rows):
            missing = ", ".join(name for name, row in zip(classes, rows) if not len(row))
            raise UserError(f"the definition learner needs training images of every class; there are none of {missing}")
        few = [np.sort((key / name).rng().permutation(row)[:SHOWN]) for name, row in zip(classes, rows)]
        points = about_points(self.colors, shapes_of(images))
        first = [defined(points, images, target, few, i, ()) for i in range(len(classes))]
        things = [one.whole and bool(one.shapes) for one in first]
        kinds = tuple(Kind(called(name), one.shapes, _of(one)) for name, one, is_ in zip(classes, first, things) if is_)
        every = [*points, *about_parts([kind.name for kind in kinds])]
        learnt = tuple(
            one if is_ else defined(every, images, target, few, i, kinds)
            for i, (one, is_) in enumerate(zip(first, things))
        )
        return replace(self, classes=classes, kinds=kinds, learnt=learnt)

    def predict(self, test: Observed) -> np.ndarray:
        return self.said(grid_codes(test.scenes[test.scene[~test.given]], *self.grid))

    def said(self, images: np.ndarray) -> np.ndarray:
        """The probability of each class, float[n, classes]."""
        seen, memo = Seen(images, self.kinds), dict[Statement, np.ndarray]()
        belief = np.stack([one.belief(seen, memo) for one in self.learnt], axis=1)
        belief[belief.sum(axis=1) == 0] = 1.0
        return belief / belief.sum(axis=1, keepdims=True)


def called(name: str) -> str:
    """The name of a class in definitions: another where the library has a concept of this name."""
    return f"{name}_class" if name in given().definitions else name


def written(learner: DefinitionLearner) -> str:
    """The shortest definitions of all classes, in the language; `given` is what they speak of."""
    lines = list[str]()
    for name, learnt in zip(map(called, learner.classes), learner.learnt):
        alternatives = [
            " and ".join(_said(literal, f"{name}_{i}{j}", lines) for literal, j in zip(definition, "abc"))
            for i, definition in enumerate(learnt.shortest, 1)
        ]
        if alternatives:
            lines.append(f"concept {name}(X): {' or '.join(alternatives)}")
    return "\n".join(lines) + "\n"


def _said(literal: Literal, name: str, lines: list[str]) -> str:
    """A call of a statement, whose own definition is added to the lines."""
    statement = literal.statement
    if isinstance(statement, Chain):
        whole = replace(statement, more=False)
        lines.append(f"concept {name}_chain(X): {whole.text}".replace("chain(REST)", f"{name}_chain(REST)"))
        said = f"{name}_chain" if not statement.more else name
        if statement.more:
            lines.append(f"concept {name}(X): {statement.text}".replace("chain(REST)", f"{name}_chain(REST)"))
    else:
        said = name
        lines.append(f"concept {name}(X): {statement.text}")
    return f"{said}(X)" if literal.so else f"not {said}(X)"


def named(study: "ConceptWorld", name: str) -> DefinitionLearner:
    """The learner for a study."""
    grid = study.study.library.grid
    return DefinitionLearner((grid.width, grid.height), grid.colors)


def _of(learnt: Learnt) -> Callable[[np.ndarray], np.ndarray]:
    """Whether images are of a class by its shortest definitions."""

    def holds(images: np.ndarray) -> np.ndarray:
        seen, memo = Seen(images), dict[Statement, np.ndarray]()
        return np.logical_or.reduce([_holds(one, seen, memo) for one in learnt.shortest])

    return holds


def shapes_of(images: np.ndarray) -> tuple[Offsets, ...]:
    """The shapes of small images, from their first point, row by row, in the order in which they were met."""
    x, y, color = points_of(images)
    count = (color != ABSENT).sum(axis=1)
    found: dict[Offsets, None] = {}
    for i in np.flatnonzero(count <= SMALL):
        size = count[i]
        across, down = (x[i, :size] - x[i, 0]).tolist(), (y[i, :size] - y[i, 0]).tolist()
        found[tuple(zip(across, down))] = None
    return tuple(found)


def defined(
    statements: Sequence[Statement],
    images: np.ndarray,
    target: np.ndarray,
    few: Sequence[np.ndarray],
    label: int,
    kinds: tuple[Kind, ...],
) -> Learnt:
    """The definitions of a class that fit all training images."""
    mine, other = Seen(images[few[label]], kinds), Seen(images[_others(few, label)], kinds)
    held, apart = ({one: one.holds(seen) for one in statements} for seen in (mine, other))
    literals = [Literal(one, so) for one in statements for so in (True, False)]
    yes = np.stack([held[one.statement] == one.so for one in literals])
    no = np.stack([apart[one.statement] == one.so for one in literals])
    left, disjuncts = np.ones(len(mine), bool), list[tuple[Definition, ...]]()
    own, foreign = (Seen(images[target == label], kinds), Seen(images[target != label], kinds))
    memos = dict[Statement, np.ndarray](), dict[Statement, np.ndarray]()
    whole = np.zeros(len(own), bool)
    while left.any() and len(disjuncts) < DISJUNCTS:
        chosen = _widest(literals, yes[:, left], no)
        chosen = tuple(one for one in chosen if not _holds(one, foreign, memos[1]).any())
        if not chosen:
            break
        covered = _holds(chosen[0], own, memos[0])
        alike = [one for one in chosen if (_holds(one, own, memos[0]) == covered).all()]
        disjuncts.append(tuple(alike))
        left = left & ~_holds(chosen[0], mine, dict(held))
        whole |= covered
    return Learnt(tuple(disjuncts), bool(whole.all()))


def _others(few: Sequence[np.ndarray], label: int) -> np.ndarray:
    return np.concatenate([rows for i, rows in enumerate(few) if i != label] or [np.zeros(0, int)])


def _widest(literals: Sequence[Literal], yes: np.ndarray, no: np.ndarray) -> tuple[Definition, ...]:
    """Of the definitions that hold of no other image, those that hold of most of ours, the shortest first.

    `yes[literals, ours]` and `no[literals, others]` say where literals hold.
    """
    ours, others = pack_bits(yes), pack_bits(no)
    found: dict[tuple[int, ...], int] = {
        (i,): int(np.bitwise_count(ours[i]).sum()) for i in range(len(literals)) if not others[i].any()
    }
    most = max(found.values(), default=0)
    length = np.array([one.atoms for one in literals])
    useful = [int(i) for i in np.argsort(length, kind="stable") if np.bitwise_count(ours[i]).sum() >= max(1, most)]
    for place, i in enumerate(useful):
        rest = np.array(useful[place + 1 :], int)
        apart = ~(others[rest] & others[i]).any(axis=1) if len(rest) else np.zeros(0, bool)
        for j in rest[apart]:
            count = int(np.bitwise_count(ours[i] & ours[j]).sum())
            if count >= max(1, most):
                most = max(most, count)
                found[i, int(j)] = count
    best = [one for one, count in found.items() if count == most]
    best.sort(key=lambda one: (int(length[list(one)].sum()), one))
    minimal = [
        one for one in best if len(one) == 1 or not any((part,) in found and found[part,] == most for part in one)
    ]
    if not minimal:
        return ()
    shortest = int(length[list(minimal[0])].sum())
    kept = [one for one in minimal if int(length[list(one)].sum()) <= shortest + SLACK][:MOST]
    return tuple(tuple(literals[i] for i in one) for one in kept)
