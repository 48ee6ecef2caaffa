"""The symbolic models as solvers, and the paper's simple baselines: look at the picture, read the question, reason.

Questions are read by our own English, or by the generator of a run, as the paper's are. A solver draws the picture of
every scene it is asked about and looks at that; of the scene itself it knows nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recombine.benchmarks.clevr.exam import programs_of
from recombine.benchmarks.super_clevr.exam import read_in
from recombine.benchmarks.super_clevr.questions import Asking
from recombine.benchmarks.super_clevr.reasoning import REASONERS
from recombine.language.expr import Expr
from recombine.store.key import Key
from recombine.tasks.examples import Examples, Observed
from recombine.world.scenes import Scenes

if TYPE_CHECKING:
    from recombine.benchmarks.super_clevr.study import SuperClevr
    from recombine.solvers.perception import Parser, Perceived

AT_ONCE = 64
"""Pictures that are drawn together."""
BY_TYPE = ("random", "majority-by-type")
NAMES = (*REASONERS, *BY_TYPE)


def seen_in(scenes: Scenes, asking: Asking, parser: "Parser") -> "Perceived":
    """What a parser makes of the pictures of scenes."""
    from recombine.benchmarks.super_clevr import sight
    from recombine.solvers.perception import joined

    stage, parts = asking.world.stage, []
    for low in range(0, len(scenes), AT_ONCE):
        pictures = stage.draw(scenes[low : low + AT_ONCE], *sight.SIZE, ("rgb",))
        assert pictures.rgb is not None
        parts.append(sight.in_order(parser, parser.perceive(pictures.rgb), asking.world))
    return joined(parts)


@dataclass(frozen=True, eq=False)
class Symbolic:
    """NSVQA or one of the readings of P-NSVQA, with the parser of this folder or another."""

    asking: Asking
    name: str
    parser: Any = None
    generator: Path | None = None

    def needs_training(self, few_shot: bool) -> bool:
        return False

    def fit(self, train: Examples, key: Key) -> Self:
        return self

    def predict(self, test: Observed) -> np.ndarray:
        from recombine.benchmarks.super_clevr import sight

        rows = np.flatnonzero(~test.given)
        programs = self._programs(test, rows)
        read = np.array([program is not None for program in programs], bool)
        used, scene = np.unique(test.scene[rows], return_inverse=True)
        seen = seen_in(test.scenes[used], self.asking, self.parser or sight.vehicle_parser())
        found = np.full((len(rows), len(test.answers)), 1 / len(test.answers))
        found[read] = self.answers([program for program in programs if program is not None], scene[read], seen)
        return found

    def _programs(self, test: Observed, rows: np.ndarray) -> Sequence[Expr | None]:
        if self.generator is None or test.concepts is not None or test.text is None:
            return programs_of(test, rows, partial(read_in, self.asking))
        from recombine.benchmarks.super_clevr.networks import programs_written

        return programs_written(self.generator, test.text[rows].tolist(), self.asking.dialect)

    def answers(self, programs: Sequence[Expr], scene: np.ndarray, seen: "Perceived") -> np.ndarray:
        """What is answered to programs about pictures that were seen so."""
        return REASONERS[self.name](programs, scene, seen, self.asking.world, self.asking.dialect)


@dataclass(frozen=True, eq=False)
class ByType:
    """Of the answers that training questions of the same type have, any (random) or the most frequent (majority).

    The type of a question is the last function of its program.
    """

    asking: Asking
    name: str
    counted: dict[str, np.ndarray] = field(default_factory=dict)

    def fit(self, train: Examples, key: Key) -> Self:
        found: dict[str, np.ndarray] = {}
        for concept, target in zip(train.concept, train.target):
            kind = str(train.concepts[concept].head)
            found.setdefault(kind, np.zeros(len(train.answers)))[target] += 1
        return replace(self, counted=found)

    def predict(self, test: Observed) -> np.ndarray:
        rows = np.flatnonzero(~test.given)
        programs = programs_of(test, rows, partial(read_in, self.asking))
        found = np.full((len(rows), len(test.answers)), 1 / len(test.answers))
        for row, program in enumerate(programs):
            counts = self.counted.get(str(program.head))
            if counts is not None:
                best = counts > 0 if self.name == "random" else counts == counts.max()
                found[row] = best / best.sum()
        return found


def named(study: "SuperClevr", name: str) -> Symbolic | ByType:
    """The solver of a name."""
    asking = study.study.asking
    return ByType(asking, name) if name in BY_TYPE else Symbolic(asking, name, generator=study.generator)
