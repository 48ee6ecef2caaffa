"""Listening: which notes a sound is made of, by trying them.

A listener knows every note that an orchestra plays, alone, and when notes may begin. It explains a sound as the sum of
a few of them: it adds the note that explains most of what is left, then chooses every note again beside the others,
until nothing changes. How well each other note would do in the place of one, beside noise of a known strength, is how
likely it is: beliefs about instrument, row, profile, timbre, onset and volume follow.

All that is asked of a sound is its product with every note at every onset; all that is asked of the notes is their
products with each other. So a scene costs one product of matrices and a few sums.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from recombine.render.instruments import NOTE
from recombine.render.sound import FULL, ONSETS, SCENE, Orchestra
from recombine.store.errors import UserError

KINDS = ("instrument", "row", "profile", "timbre")
"""The axes of an orchestra."""
ROUNDS = 8
"""How often all notes are chosen again, at most."""
AT_ONCE = 64
SURE = 5.0
"""Nats by which a further note must be likelier than none."""
TOO_MUCH, TRIED = 1.5, 32
"""How much more than noise may be left before other first notes are tried, and how many of them."""
QUIET = 1e-9
"""The mean square below which a sound is silence."""


@dataclass(frozen=True, eq=False)
class Heard:
    """The notes of n sounds, the earliest found first, with room for k each."""

    count: np.ndarray  # uint8[n]
    beliefs: Mapping[str, np.ndarray]  # of every kind, onset and volume, float32[n, k, values]
    unexplained: np.ndarray  # float32[n]: the share of the energy that the notes do not explain

    def __len__(self) -> int:
        return len(self.count)


@dataclass(frozen=True, eq=False)
class Listener:
    """Who knows the notes of an orchestra."""

    orchestra: Orchestra
    volumes: tuple[float, ...] = (0.3, 1.0)
    most: int = 5
    """Notes of a sound."""
    noise: float = 1e-3
    """The root mean square of what is no note; our notes have 0.036 before profile and volume."""

    @cached_property
    def notes(self) -> np.ndarray:
        """float32[notes, NOTE] at full volume."""
        return (self.orchestra.notes.reshape(-1, NOTE) / np.float32(FULL)).astype(np.float32)

    @cached_property
    def products(self) -> np.ndarray:
        """Of every note at every onset with every other, float32[onsets * notes, onsets * notes]."""
        many = len(self.notes)
        found = np.zeros((len(ONSETS), many, len(ONSETS), many), np.float32)
        for a, first in enumerate(ONSETS):
            for b, second in enumerate(ONSETS[a:], a):
                shift = int(second - first)
                if shift < NOTE:
                    found[a, :, b] = self.notes[:, shift:] @ self.notes[:, : NOTE - shift].T
                    found[b, :, a] = found[a, :, b].T
        return found.reshape(len(ONSETS) * many, -1)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values onset and every kind have."""
        return (len(ONSETS), *self.orchestra.notes.shape[:-1])

    def hear(self, sounds: np.ndarray) -> Heard:
        """The notes of sounds, float32[n, SCENE]."""
        if sounds.ndim != 2 or sounds.shape[1] != SCENE:
            raise UserError(
                f"a scene is {SCENE:,} samples at 44,100 Hz, not {sounds.shape[-1]:,}; bring it to this rate"
            )
        parts = [self._hear(sounds[start : start + AT_ONCE]) for start in range(0, len(sounds), AT_ONCE)]
        names = parts[0].beliefs
        return Heard(
            np.concatenate([part.count for part in parts]),
            {name: np.concatenate([part.beliefs[name] for part in parts]) for name in names},
            np.concatenate([part.unexplained for part in parts]),
        )

    def _hear(self, sounds: np.ndarray) -> Heard:
        match = np.concatenate([sounds[:, onset : onset + NOTE] @ self.notes.T for onset in ONSETS], axis=1)
        energy = np.einsum("ns,ns->n", sounds, sounds, dtype=np.float64)
        n = len(sounds)
        count, unexplained = np.zeros(n, np.uint8), np.zeros(n, np.float32)
        names = ("onset", *KINDS, "volume")
        sizes = (*self.shape, len(self.volumes))
        beliefs = {name: np.zeros((n, self.most, size), np.float32) for name, size in zip(names, sizes)}
        for i in range(n):
            chosen = self._explained(match[i], energy[i])
            count[i] = len(chosen)
            for place in range(len(chosen)):
                for name, belief in zip(names, self._beliefs(match[i], chosen, place)):
                    beliefs[name][i, place] = belief
            left = energy[i] - self._saved(match[i], chosen)
            unexplained[i] = left / energy[i] if energy[i] > 0 else 0.0
        return Heard(count, beliefs, unexplained)

    def _explained(self, match: np.ndarray, energy: float) -> list[tuple[int, int]]:
        """The notes at their onsets, each with the number of its volume, that explain a sound best.

        Where more is left than noise, the first note may have been the wrong one: others are tried in its place.
        """
        noise = SCENE * (self.noise**2 + QUIET)
        best = self._grown(match, energy, [])
        if energy - self._saved(match, best) <= TOO_MUCH * noise:
            return best
        gains = self._gains(match, [])
        for place in np.argsort(-gains, axis=None)[:TRIED]:
            volume, note = np.unravel_index(place, gains.shape)
            other = self._grown(match, energy, [(int(note), int(volume))])
            if self._saved(match, other) > self._saved(match, best):
                best = other
        return best

    def _grown(self, match: np.ndarray, energy: float, chosen: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Further notes, one after the other, as long as each explains more than chance would."""
        while len(chosen) < self.most and energy - self._saved(match, chosen) > QUIET * SCENE:
            longer = self._settled(match, [*chosen, self._best(match, chosen)])
            if self._saved(match, longer) - self._saved(match, chosen) <= self._by_chance:
                break
            chosen = longer
        return chosen

    @cached_property
    def _by_chance(self) -> float:
        """What the best of all notes at all volumes explains of mere noise, and some more."""
        return 2 * self.noise**2 * (np.log(len(self.volumes) * len(self._own)) + SURE)

    def _settled(self, match: np.ndarray, chosen: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Every note chosen again beside the others until nothing changes."""
        for _ in range(ROUNDS):
            before = list(chosen)
            for place in range(len(chosen)):
                others = chosen[:place] + chosen[place + 1 :]
                chosen = [*chosen[:place], self._best(match, others), *chosen[place + 1 :]]
            if chosen == before:
                break
        return chosen

    def _gains(self, match: np.ndarray, others: list[tuple[int, int]]) -> np.ndarray:
        """What each note would explain beside others, at each volume, float[volumes, onsets * notes]."""
        left = match.astype(np.float64)
        for note, volume in others:
            left = left - self.volumes[volume] * self.products[note]
        loud = np.array(self.volumes)[:, None]
        return 2 * loud * left - loud**2 * self._own

    @cached_property
    def _own(self) -> np.ndarray:
        return np.diagonal(self.products).astype(np.float64)

    def _best(self, match: np.ndarray, others: list[tuple[int, int]]) -> tuple[int, int]:
        gains = self._gains(match, others)
        volume, note = np.unravel_index(gains.argmax(), gains.shape)
        return int(note), int(volume)

    def _saved(self, match: np.ndarray, chosen: list[tuple[int, int]]) -> float:
        """How much of the energy notes explain."""
        loud = np.array([self.volumes[volume] for _, volume in chosen])
        notes = [note for note, _ in chosen]
        return float(2 * loud @ match[notes] - loud @ self.products[np.ix_(notes, notes)] @ loud) if chosen else 0.0

    def _beliefs(self, match: np.ndarray, chosen: list[tuple[int, int]], place: int) -> list[np.ndarray]:
        """About one note beside the others: of its onset, its kinds and its volume."""
        gains = self._gains(match, chosen[:place] + chosen[place + 1 :])
        weight = np.exp((gains - gains.max()) / (2 * self.noise**2))
        whole = (weight / weight.sum()).reshape(len(self.volumes), *self.shape)
        axes = range(1, whole.ndim)
        found = [whole.sum(axis=tuple(other for other in range(whole.ndim) if other != axis)) for axis in axes]
        return [*found, whole.reshape(len(self.volumes), -1).sum(axis=1)]
