"""What the laws hold for: the world, language, meanings and splits of ConceptWorld."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from recombine.benchmarks.concept_world.classes import extension_of
from recombine.benchmarks.concept_world.definition import Experiment, Line
from recombine.benchmarks.concept_world.derivation import outline, read_outline, symbols
from recombine.benchmarks.concept_world.reader import load_library
from recombine.benchmarks.concept_world.recognise import Recogniser
from recombine.benchmarks.concept_world.search import Proof, prove
from recombine.benchmarks.concept_world.where import read_where
from recombine.benchmarks.concept_world.world import ConceptWorld
from recombine.benchmarks.language import Language
from recombine.language.expr import Expr, Signature
from recombine.language.query import Where, any_of
from recombine.render.grid import grid_codes
from recombine.store.key import Key
from recombine.tasks.splits import Split
from recombine.world.scenes import Scenes

LIBRARY = load_library()
SMALL = ("red_square", "2x2_vert_stripe", "2x2_checkerboard", "f_pent", "z_pent", "adj", "type_1_pair", "mixed_pair")
"""Concepts whose images the laws are tried on."""
WORLD = ConceptWorld(LIBRARY, (*SMALL, "red_seq", "mixed_seq", "path", "distractor"), 64)


@cache
def _derivations() -> tuple[Expr, ...]:
    """The derivations of the images of all experiments, and of some small concepts."""
    lines = [line for e in LIBRARY.experiments.values() for line in _lines(e)]
    lines += [Line("", 1, name) for name in (*SMALL, "any_pent")]
    plans = (plan for line in dict.fromkeys(lines) for plan in extension_of(LIBRARY, line).plans)
    return tuple(dict.fromkeys(plan.derivation for plan in plans))


def _lines(experiment: Experiment) -> list[Line]:
    return [*experiment.train, *(line for test in experiment.tests.values() for line in test)]


def _draw(n: int, key: Key) -> tuple[Expr, ...]:
    """Derivations of concepts."""
    known = _derivations()
    return tuple(known[i] for i in key.rng().integers(0, len(known), n))


class Meaning:
    """A derivation means the images of its concept."""

    def __init__(self, scenes: Scenes) -> None:
        self.scenes = scenes

    def by(self, *children_and_name: object) -> np.ndarray:
        """Which images satisfy the concept of this name."""
        name = str(children_and_name[-2])
        return Recogniser(LIBRARY).holds(name, _images(self.scenes))


def _images(scenes: Scenes) -> np.ndarray:
    return grid_codes(scenes, LIBRARY.grid.width, LIBRARY.grid.height)


def _values(concepts: Sequence[Expr], scenes: Scenes) -> np.ndarray:
    recogniser, images = Recogniser(LIBRARY), _images(scenes)
    names = [concept.head.index[0] for concept in concepts]
    found = {name: recogniser.holds(name, images) for name in dict.fromkeys(names)}
    return np.stack([found[name] for name in names])


@cache
def _proved(name: str, image: bytes) -> bool:
    codes = np.frombuffer(image, np.uint8).reshape(LIBRARY.grid.height, LIBRARY.grid.width)
    return isinstance(prove(LIBRARY, name, codes), Proof)


def _value(concept: Expr, scenes: Scenes, scene: int) -> int:
    return int(_proved(concept.head.index[0], _images(scenes[scene : scene + 1])[0].tobytes()))


def _accepts(line: Line) -> Where:
    """The derivations that a line of an experiment asks for."""
    where = read_where(line.where, LIBRARY.definitions)
    is_named = Where(f"is {line.concept}", lambda term: term.head.index[0] == line.concept)
    return is_named & where if line.where else is_named


def _split(experiment: Experiment) -> Split:
    """Train on the training lines; what is held out are the tests' lines that are not trained on."""
    train = any_of(map(_accepts, experiment.train))
    held_out = [line for line in _lines(experiment) if line not in experiment.train]
    new = any_of(_accepts(line) for line in dict.fromkeys(held_out))
    return Split(experiment.name, experiment.title, f"tests: {', '.join(experiment.tests)}", train, new & ~train)


LANGUAGE = Language(
    world=WORLD,
    signature=Signature.of(symbols(LIBRARY)),
    concepts=_draw,
    meaning=Meaning,
    reference=lambda scenes, scene: Meaning(scenes[scene : scene + 1]),
    spellings={"outline": (outline, read_outline)},
    splits={name: _split(experiment) for name, experiment in LIBRARY.experiments.items()},
    execute=_values,
    execute_plainly=_value,
)
