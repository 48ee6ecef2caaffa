"""The benchmarks: one folder each. There is no registry; a folder with a BENCHMARK is a benchmark."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from recombine.language.expr import Expr, Signature
from recombine.semantics.fold import Plan, fold
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.splits import Split
from recombine.world.distribution import World
from recombine.world.scenes import Scenes


@dataclass(frozen=True)
class Benchmark:
    """What every benchmark brings; the laws in tests/test_benchmarks.py hold for all of them."""

    name: str
    title: str
    about: str
    paper: str
    world: World
    signature: Signature
    concepts: Callable[[int, Key], tuple[Expr, ...]]
    """Draw some concepts of the language."""
    meaning: Callable[[Scenes], object]
    """The fast meaning, on a batch of scenes."""
    reference: Callable[[Scenes, int], object]
    """The plain meaning, on one scene of a batch."""
    spellings: Mapping[str, tuple[Callable[[Expr], str], Callable[[str], Expr]]]
    """Ways to write a concept and to read it back."""
    splits: Mapping[str, Split]
    execute: Callable[[Sequence[Expr], Scenes], np.ndarray] | None = None
    """The values of concepts on scenes, [concepts, scenes], where folding the fast meaning does not give them."""
    execute_plainly: Callable[[Expr, Scenes, int], int] | None = None
    """The same for one concept on one scene, through the plain meaning."""

    def values(self, concepts: Sequence[Expr], scenes: Scenes) -> np.ndarray:
        """What the fast meaning says of every concept on every scene."""
        if self.execute:
            return self.execute(concepts, scenes)
        found = dict(Plan(concepts).run(self.meaning(scenes)))
        return np.stack([found[i] for i in range(len(found))])

    def value(self, concept: Expr, scenes: Scenes, scene: int) -> int:
        """What the plain meaning says of a concept on a scene."""
        if self.execute_plainly:
            return self.execute_plainly(concept, scenes, scene)
        return int(fold(concept, self.reference(scenes, scene), {}))


def names() -> list[str]:
    """The folders that hold a benchmark."""
    return sorted(path.parent.name for path in Path(__file__).parent.glob("*/__init__.py"))


def get(name: str) -> Benchmark:
    """The benchmark of this name; `concept-world` is the folder concept_world."""
    folder = name.replace("-", "_")
    if folder not in names():
        raise UserError(
            f"there is no benchmark '{name}'; choose one of {', '.join(n.replace('_', '-') for n in names())}"
        )
    found: Benchmark = import_module(f"recombine.benchmarks.{folder}").BENCHMARK
    return found
