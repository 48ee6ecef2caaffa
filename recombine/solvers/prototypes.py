"""Prototype networks as solvers: they learn from episodes to tell a concept from a few examples.

The solver is handed scenes, the labels of the support, and nothing else. Every scene becomes a vector; what it says of
a scene depends on its distances to the mean of the positives and to the mean of the negatives.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from recombine.metrics.scores import batch_accuracy
from recombine.solvers.groups import by_group
from recombine.solvers.modalities import Modality, Sight
from recombine.solvers.networks.objects import ObjectSets
from recombine.solvers.networks.prototype import PrototypeNetwork, log_odds, prototypes
from recombine.solvers.training.batches import Stage
from recombine.solvers.training.loop import Watch, settled, train, unwatched
from recombine.solvers.training.run import Run
from recombine.solvers.training.settings import Training, ValidationState
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.episodes import Episodes
from recombine.tasks.examples import Examples, Observed

AT_ONCE = 1_024
"""Scenes that are encoded at once when nothing is learnt from them."""


@dataclass(frozen=True, eq=False)
class EpisodeObjective:
    """The objective: label the query scenes; with a decoder, also write the concept, which counts `alpha` as much."""

    network: PrototypeNetwork
    sight: Sight
    episodes: Episodes
    validation: Callable[[PrototypeNetwork, Sight], Mapping[str, float]]
    alpha: float = 0.0
    text: np.ndarray | None = None  # int64[concepts, t]: the words of every concept

    @property
    def stages(self) -> tuple[Stage, ...]:
        return (Stage(np.arange(len(self.episodes.concept))),)

    def loss(self, rows: np.ndarray) -> Tensor:
        some = Episodes(*(column[rows] for column in self.episodes))
        found, odds = read(self.network, self.sight, some)
        asked = torch.from_numpy(some.label[:, some.size :]).to(odds)
        loss = binary_cross_entropy_with_logits(odds.float(), asked.float())
        if self.network.decoder is None or self.text is None:
            return loss
        words = torch.from_numpy(self.text[some.concept]).to(odds.device)
        return loss + self.alpha * self.network.decoder.loss(found.flatten(1), words)

    def validate(self) -> Mapping[str, float]:
        return self.validation(self.network, self.sight)


def read(network: PrototypeNetwork, sight: Sight, episodes: Episodes) -> tuple[Tensor, Tensor]:
    """The prototypes of episodes, float[e, 2, d], and the log-odds of their query scenes, float[e, q]."""
    n, width = episodes.scene.shape
    vectors = network(_there(sight(episodes.scene.reshape(-1)), network)).view(n, width, -1)
    support, query = vectors[:, : episodes.size], vectors[:, episodes.size :]
    label = torch.from_numpy(np.ascontiguousarray(episodes.label[:, : episodes.size])).to(vectors.device)
    found = prototypes(support, label)
    return found, log_odds(found, query)


@torch.no_grad()
def on_episodes(network: PrototypeNetwork, sight: Sight, episodes: Episodes, at_once: int = 16) -> dict[str, float]:
    """The loss and the class-balanced accuracy on the queries of episodes."""
    odds = np.concatenate(
        [
            read(network, sight, Episodes(*(column[start : start + at_once] for column in episodes)))[1].float().cpu()
            for start in range(0, len(episodes.concept), at_once)
        ]
    )
    asked = episodes.label[:, episodes.size :]
    with np.errstate(invalid="ignore"):  # the loop says so where it is no number
        loss = np.logaddexp(0, np.where(asked, -odds, odds)).mean()
    return {"loss": float(loss), "accuracy": float(batch_accuracy(asked, odds > 0).mean())}


def embed(network: PrototypeNetwork, sight: Sight, rows: np.ndarray) -> Tensor:
    """The vectors of some scenes, float32[n, d], without learning from them."""
    parts = []
    with torch.no_grad():
        for start in range(0, len(rows), AT_ONCE):
            parts.append(network(_there(sight(rows[start : start + AT_ONCE]), network)).float())
    return torch.cat(parts)


def _there(seen: ObjectSets | Tensor, network: PrototypeNetwork) -> ObjectSets | Tensor:
    """What is seen, where the network is."""
    device = next(network.parameters()).device
    if isinstance(seen, Tensor):
        return seen.to(device)
    return ObjectSets(tuple(group.to(device) for group in seen.groups), seen.back.to(device))


class _Remembered(NamedTuple):
    """The vectors of the scenes of the last test, which the next one mostly asks about again."""

    rows: np.ndarray  # int64[n], in order
    vectors: Tensor  # float32[n, d]


@dataclass(eq=False)
class PrototypeSolver:
    """A network as a solver."""

    network: PrototypeNetwork
    modality: Modality
    training: Training
    run: Run | None = None
    watch: Watch = unwatched
    _sight: tuple[object, Sight] | None = field(default=None, repr=False)
    _last: _Remembered | None = field(default=None, repr=False)

    def fit(self, train: Examples, key: Key) -> Self:
        """Learn from episodes; a tenth of them is held back for validation."""
        episodes, scenes = as_episodes(train), self.modality.open(train.scenes)
        held = (key / "validation").rng().permutation(len(episodes.concept)) < max(1, len(episodes.concept) // 10)
        kept, back = (Episodes(*(column[chosen] for column in episodes)) for chosen in (~held, held))
        if self.training.judge not in ("loss", "accuracy"):  # a large set to rank is not among the examples
            self.training = replace(self.training, judge="loss", higher=False)
        self.learn(EpisodeObjective(self.network, scenes, kept, lambda n, s: on_episodes(n, s, back)), key)
        return self

    def learn(self, objective: EpisodeObjective, key: Key) -> ValidationState:
        """Train, and say how it stands at the end."""
        if self.run is None:
            raise ValueError("a solver without a run cannot be trained")
        self._sight = self._last = None
        return train(objective, self.training, self.run, key, self.watch)

    def predict(self, test: Observed) -> np.ndarray:
        with settled(self.training), torch.no_grad():
            self.network.to(self.training.device).eval()
            odds = self._odds(test)
        # The smaller probability keeps its digits where the larger one rounds to 1.
        less = np.exp(-np.abs(odds)) / (1 + np.exp(-np.abs(odds)))
        yes = np.where(odds > 0, 1 - less, less)
        no = np.where(odds > 0, less, 1 - less)
        both = {"yes": yes, "no": no}
        return np.stack([both[answer] for answer in test.answers], axis=1)

    def _odds(self, test: Observed) -> np.ndarray:
        """The log-odds of "yes" for every asked row, float64[asked]."""
        if test.given.all():
            return np.zeros(0)
        rows = by_group(test)
        scenes = np.union1d(rows.scenes, rows.shown)
        vectors = self._vectors(test, scenes)
        exact, positive = vectors.double(), torch.from_numpy(rows.target == test.answers.index("yes"))
        shown, place = np.searchsorted(scenes, rows.shown), np.searchsorted(scenes, rows.scenes)[rows.place]
        odds = np.empty(len(rows.order))
        for group in range(len(rows.start) - 1):
            given, asked = (slice(start[group], start[group + 1]) for start in (rows.shown_start, rows.start))
            found = prototypes(vectors[shown[given]][None], positive[given][None].to(vectors.device)).double()
            odds[rows.order[asked]] = log_odds(found, exact[None])[0].cpu().numpy()[place[asked]]
        return odds

    def _vectors(self, test: Observed, rows: np.ndarray) -> Tensor:
        """The vectors of these scenes; those of the last test are not computed again."""
        if self._sight is None or self._sight[0] is not test.scenes:
            self._sight, self._last = (test.scenes, self.modality.open(test.scenes)), None
        last = self._last or _Remembered(np.zeros(0, np.int64), torch.zeros(0))
        known = np.isin(rows, last.rows, assume_unique=True)
        new = embed(self.network, self._sight[1], rows[~known]) if not known.all() else None
        like = new if new is not None else last.vectors
        vectors = like.new_empty(len(rows), like.shape[1])
        if new is not None:
            vectors[torch.from_numpy(~known)] = new
        if known.any():
            vectors[torch.from_numpy(known)] = last.vectors[torch.from_numpy(np.searchsorted(last.rows, rows[known]))]
        self._last = _Remembered(rows, vectors)
        return vectors


def as_episodes(examples: Examples) -> Episodes:
    """Rows of groups of one size, the given first, as episodes."""
    groups, number, size = np.unique(examples.group, return_inverse=True, return_counts=True)
    if len(set(size.tolist())) != 1 or (2 * np.bincount(number, examples.given) != size).any():
        raise UserError("prototype networks learn from episodes of one size, half of each shown, half asked")
    order = np.lexsort((np.arange(len(examples.scene)), ~examples.given, examples.group))
    yes = examples.answers.index("yes")
    concept, scene, target = (
        column[order].reshape(len(groups), -1) for column in (examples.concept, examples.scene, examples.target)
    )
    return Episodes(concept[:, 0], scene, target == yes)
