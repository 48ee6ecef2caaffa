"""Episodes to work with in Python.

for episode in curi.episodes("boolean"):
    episode.support[0].image(), episode.support_labels, episode.english
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from recombine.benchmarks.curi.english import english
from recombine.benchmarks.curi.episode import EpisodeView
from recombine.benchmarks.curi.media import IMAGE
from recombine.benchmarks.curi.pages import episode_view
from recombine.benchmarks.curi.pipeline import CuriPipeline, Part
from recombine.benchmarks.curi.spelling import infix
from recombine.language.expr import Expr
from recombine.render.scene import Scene
from recombine.tasks.collection import Collection
from recombine.tasks.episodes import Negatives


@dataclass(frozen=True, eq=False)
class Episode:
    """A hidden concept, labelled scenes that are shown, and scenes that are asked about."""

    study: CuriPipeline
    split: str
    part: Part
    negatives: Negatives
    number: int
    expr: Expr
    scenes: np.ndarray  # int[2 * size], support then query
    labels: np.ndarray  # bool[2 * size]

    @property
    def size(self) -> int:
        """How many scenes are shown, and how many are asked."""
        return len(self.scenes) // 2

    @property
    def concept(self) -> str:
        """The concept in infix notation."""
        return infix(self.expr)

    @property
    def english(self) -> str:
        return english(self.expr)

    @property
    def support(self) -> tuple[Scene, ...]:
        return self._scenes(self.scenes[: self.size])

    @property
    def query(self) -> tuple[Scene, ...]:
        return self._scenes(self.scenes[self.size :])

    @property
    def support_labels(self) -> np.ndarray:
        """Whether the concept holds, bool[size]."""
        return self.labels[: self.size]

    @property
    def query_labels(self) -> np.ndarray:
        return self.labels[self.size :]

    def _scenes(self, numbers: np.ndarray) -> tuple[Scene, ...]:
        first_bin = getattr(self.study.world, "first_bin", self.study.setup.edition.first_bin)
        return tuple(Scene(*self.study.scene(int(n)), int(n), IMAGE, first_bin) for n in numbers)

    def hypotheses(self, learner: str = "strong", most: int = 5) -> list[tuple[str, float]]:
        """The concepts that fit what is shown, the likeliest first, with their probabilities."""
        belief = self.study.beliefs(self.split, self.negatives)[learner]
        chances = belief.posterior(self.scenes[: self.size], self.support_labels)
        order = np.argsort(-chances, kind="stable")[:most]
        return [(infix(self.study.space.concepts[i]), float(chances[i])) for i in order if chances[i] > 0]

    def arrays(self) -> dict[str, Any]:
        """Codes of attributes, uint8[size, objects, attributes] with 255 where there is no object, and labels."""
        of = [[s.batch.codes[a.name][s.place] for a in s.batch.vocabulary] for s in self]
        codes = np.stack([np.stack(columns, axis=-1) for columns in of])
        return {
            "support": codes[: self.size],
            "support_labels": self.support_labels.copy(),
            "query": codes[self.size :],
            "query_labels": self.query_labels.copy(),
        }

    def __iter__(self) -> Any:
        return iter((*self.support, *self.query))

    def view(self) -> EpisodeView:
        """What `recombine show` shows."""
        return episode_view(self.study, self.split, self.number, self.negatives, self.part)

    def __repr__(self) -> str:
        return f"Episode({self.split}/{self.part} {self.number}: {self.english})"

    def _repr_html_(self) -> str:
        return self.view().html()


class EpisodeSet(Collection[Episode]):
    """The episodes of one part of a split."""

    def __init__(self, study: CuriPipeline, split: str, part: Part, negatives: Negatives) -> None:
        self.study, self.split, self.part, self.negatives = study, split, part, negatives

    @cached_property
    def columns(self) -> Any:
        return self.study.episodes(self.split, self.part, self.negatives)

    def __len__(self) -> int:
        return len(self.columns.concept)

    def item(self, number: int) -> Episode:
        concept = self.study.space.concepts[self.columns.concept[number]]
        scenes, labels = self.columns.scene[number], self.columns.label[number]
        return Episode(self.study, self.split, self.part, self.negatives, number, concept, scenes, labels)

    def __repr__(self) -> str:
        return f"EpisodeSet({self.split}/{self.part}, {self.negatives} negatives, {len(self):,} episodes)"
