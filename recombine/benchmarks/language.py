"""What a benchmark can say and what it means: all that the laws hold for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.language.expr import Expr, Signature
from recombine.semantics.fold import Plan, fold
from recombine.store.key import Key
from recombine.tasks.splits import Split
from recombine.world.distribution import World
from recombine.world.scenes import Scenes


@dataclass(frozen=True)
class Language:
    """World, signature, meanings and splits of a benchmark; the laws in `laws.py` hold for all of them."""

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
