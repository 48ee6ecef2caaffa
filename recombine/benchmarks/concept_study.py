"""The shortest way to a benchmark: whether a concept of a language holds in a scene, with concepts held out.

Everything follows from the `Language`: scenes come from its world, concepts are drawn from it, its fast meaning gives
the answers, its splits the exams. The strong learner runs every concept. The weak one runs those that training asks
about, and takes a new one for each of these with equal probability.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from recombine.benchmarks.language import Language
from recombine.benchmarks.study import Part, Splits, Study, part_named
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.exam import Exam, Marks
from recombine.tasks.examples import Examples, Observed
from recombine.tasks.made_splits import Items, is_file, need_atoms
from recombine.tasks.splits import Split

ANSWERS = ("no", "yes")
DRAWN = 1_000
"""How many concepts are drawn; rows ask about the different ones among them."""


@dataclass(frozen=True)
class Runs:
    """Runs the concepts it knows; of any other it believes what these say on average."""

    language: Language
    known: Sequence[Expr]

    def predict(self, test: Observed) -> np.ndarray:
        assert test.concepts is not None
        column = {concept: i for i, concept in enumerate(self.known)}
        holds = self.language.values(self.known, test.scenes).astype(np.float64)  # [known, scenes]
        average = holds.mean(axis=0)
        rows = zip(test.concepts, test.scene.tolist())
        yes = np.array([holds[column[one], scene] if one in column else average[scene] for one, scene in rows])
        return np.stack([1 - yes, yes], axis=1)


class ConceptStudy(Study):
    """A study of whether concepts hold; a subclass says its name and, if it wants, how many rows a scale has."""

    sizes: ClassVar[Mapping[str, int]] = {"demo": 200, "laptop": 2_000, "paper": 20_000}

    @property
    def language(self) -> Language:
        return self.benchmark.language

    def concepts(self, where: Callable[[Expr], bool] = lambda concept: True) -> list[Expr]:
        """The concepts that may be asked about, of one side of a split."""
        drawn = self.language.concepts(DRAWN, Key(self.seed) / self.name / "concepts")
        return [concept for concept in dict.fromkeys(drawn) if where(concept)]

    def examples(self, part: str, where: Callable[[Expr], bool]) -> Examples:
        """Rows about new scenes, each with a concept of one side of a split."""
        key, concepts = Key(self.seed) / self.name / part, tuple(self.concepts(where))
        if not concepts:
            raise UserError(f"{self.name} has no concept to ask about in {part}; look at its split")
        scenes = self.language.world.sample(self.sizes[self.scale_name], key / "scenes")
        rows = np.arange(len(scenes))
        concept = (key / "asked").rng().integers(0, len(concepts), len(rows))
        target = self.language.values(concepts, scenes)[concept, rows].astype(np.int64)
        shown = np.zeros(len(rows), bool)
        return Examples(scenes, concepts, ANSWERS, rows, concept, target, rows, shown, concept_visible=True)

    def exams(self, splits: Splits = (), part: Part = "test") -> Sequence[Exam]:
        return [self._exam(self.split_named(name), part_named(part)) for name in splits or self.language.splits]

    def split_named(self, name: str) -> Split:
        """A split by its name, or by the file that it was written to."""
        if is_file(name):
            return self.made_split_of(name)
        known = {**self.language.splits, **self.made}
        if name not in known:
            raise UserError(f"{self.name} has no split '{name}'; choose one of {', '.join(known)}")
        return known[name]

    @cached_property
    def made(self) -> dict[str, Split]:
        """Splits that were read from files, by their names."""
        return {}

    def made_split_of(self, file: str) -> Split:
        """The split of a file, which is known by its name from now on."""
        found = self.split_of(file).split()
        if found.name in self.language.splits:
            raise UserError(f"{file}: there is a split '{found.name}' already; give it another name")
        need_atoms(found.name, self.concepts(found.train), self.concepts(found.test), self.atom)
        self.made[found.name] = found
        return found

    def split_items(self) -> Items:
        """The concepts that may be asked about."""
        concepts = self.concepts()
        return Items(concepts, np.arange(len(concepts)), np.ones(len(concepts)), True)

    def _exam(self, split: Split, part: str) -> Exam:
        side = split.train if part == "train" else split.test

        def pieces() -> Iterator[Examples]:
            yield self.examples(part, side)

        train, key = partial(self.examples, "train", split.train), Key(self.seed) / "bootstrap" / split.name
        return Exam(split.name, ANSWERS, train, pieces, _mark, key, title=split.title)

    def learners(self, exam: Exam) -> Mapping[str, Runs]:
        trained = tuple(dict.fromkeys(exam.train().concepts))
        known = {"strong": self.concepts(), "weak": trained}
        return {name: Runs(self.language, concepts) for name, concepts in known.items()}


def _mark(piece: Examples, said: np.ndarray) -> Marks:
    given = said[np.arange(len(said)), piece.asked]
    return {"probability": given, "accuracy": (given > 0.5) + 0.5 * (given == 0.5)}
