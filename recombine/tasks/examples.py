"""Examples: one table for every task.

A row is a scene that is asked about. An episode is a group of rows of which the given ones show their target; a
question is a row whose concept is visible; an image class is a row with nothing but its scene. A solver is handed
`observed()`: what it may not see is absent, not masked.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recombine.language.expr import Expr
from recombine.tasks.episodes import Episodes
from recombine.world.scenes import Scenes


@dataclass(frozen=True, eq=False)
class Observed:
    """What a solver may see."""

    scenes: Scenes
    answers: tuple[str, ...]
    scene: np.ndarray  # int[rows], into scenes
    group: np.ndarray  # int[rows]
    given: np.ndarray  # bool[rows]: rows whose target is shown
    shown: np.ndarray  # int[given rows]: their targets, into answers
    concepts: tuple[Expr, ...] | None  # one per row, where the concept is visible


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows with everything about them."""

    scenes: Scenes
    concepts: tuple[Expr, ...]
    answers: tuple[str, ...]
    scene: np.ndarray  # int[rows], into scenes
    concept: np.ndarray  # int[rows], into concepts
    target: np.ndarray  # int[rows], into answers
    group: np.ndarray  # int[rows]
    given: np.ndarray  # bool[rows]
    concept_visible: bool = False

    def observed(self) -> Observed:
        visible = tuple(self.concepts[i] for i in self.concept) if self.concept_visible else None
        return Observed(self.scenes, self.answers, self.scene, self.group, self.given, self.target[self.given], visible)

    @property
    def asked(self) -> np.ndarray:
        """The targets that a solver must find, int[asked rows]."""
        return self.target[~self.given]


def from_episodes(episodes: Episodes, scenes: Scenes, concepts: Sequence[Expr]) -> Examples:
    """Episodes as rows: the support is given, the query is asked; the answers are no and yes."""
    n, width = episodes.scene.shape
    return Examples(
        scenes,
        tuple(concepts),
        ("no", "yes"),
        episodes.scene.reshape(-1),
        np.repeat(episodes.concept, width),
        episodes.label.reshape(-1).astype(np.int64),
        np.repeat(np.arange(n), width),
        np.tile(np.arange(width) < width // 2, n),
    )
