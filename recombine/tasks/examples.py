"""Examples: one table for every task.

A row is a scene that is asked about. An episode is a group of rows of which the given ones show their target; a
question is a row with a text, whose concept, its program, is visible only where the task shows it; an image class is a
row with nothing but its scene. A solver is handed `observed()`: what it may not see is absent, not masked.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recombine.language.expr import Expr
from recombine.store.key import Key
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
    text: np.ndarray | None = None  # str[rows], as objects, where rows are questions


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
    text: np.ndarray | None = None  # str[rows], as objects, where rows are questions

    def observed(self) -> Observed:
        visible = tuple(self.concepts[i] for i in self.concept) if self.concept_visible else None
        shown = self.target[self.given]
        return Observed(self.scenes, self.answers, self.scene, self.group, self.given, shown, visible, self.text)

    def take(self, rows: np.ndarray) -> "Examples":
        """Some of the rows, with all scenes and concepts."""
        columns = {name: getattr(self, name)[rows] for name in ("scene", "concept", "target", "group", "given")}
        return replace(self, **columns, text=None if self.text is None else self.text[rows])

    def mixed(self, key: Key) -> tuple["Examples", np.ndarray]:
        """The same rows in an order that tells nothing, and where each of them stood, int[rows].

        Groups stay together and are named anew. Benchmarks write their rows down class by class, positives first.
        """
        number, groups = numbered(self.group)
        rng = key.rng()
        rank = rng.permutation(groups)[number]
        order = np.argsort(rank + rng.random(len(rank)))
        columns = {name: getattr(self, name)[order] for name in ("scene", "concept", "target", "given")}
        text = None if self.text is None else self.text[order]
        return replace(self, **columns, text=text, group=rank[order]), order

    def rows(self, kept: np.ndarray) -> "Examples":
        """Some of the rows, bool[rows] or int[kept]."""
        columns = {name: getattr(self, name)[kept] for name in ("scene", "concept", "target", "group", "given")}
        return replace(self, **columns, text=None if self.text is None else self.text[kept])

    @property
    def asked(self) -> np.ndarray:
        """The targets that a solver must find, int[asked rows]."""
        return self.target[~self.given]


def numbered(group: np.ndarray) -> tuple[np.ndarray, int]:
    """The groups counted from 0 in the order of their names, int[rows], and how many there are."""
    order = np.argsort(group, kind="stable")  # quick where they stand in order already
    number = np.empty(len(group), np.int64)
    number[order] = np.cumsum(np.diff(group[order], prepend=group[order][:1]) != 0)
    return number, int(number.max(initial=-1)) + 1


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
