"""Ideal observers: Bayesian answers to questions about vehicles that are seen through noise.

Every attribute of every vehicle is seen right, or with a stated probability as one of its other values, all alike;
places are seen exactly. An observer knows this channel. It believes something about the world: the *strong* one that
shapes, colours and materials are independent and uniform, the *weak* one that they come as in training. From what it
sees and believes it draws worlds, runs the question's program in each, and answers in proportion to those in which the
question makes sense; where they are few, it draws worlds for the question (`guided`). So it reasons without error, and
what the weak one loses against the strong one under a shift is what the wrong belief costs. Without noise nobody needs
a belief, and nothing is lost.

For redundancy both hold the strong belief. The strong one weighs all constraints of a question together; the weak one
*commits*: it takes every attribute for what it sees, step by step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np

from recombine.benchmarks.clevr.answers import answers_of, columns_of
from recombine.benchmarks.clevr.exam import programs_of
from recombine.benchmarks.clevr.relations import all_beyond
from recombine.benchmarks.clevr.runner import Runner, token_rows
from recombine.benchmarks.super_clevr.exam import read_in
from recombine.benchmarks.super_clevr.guided import Guide, referents
from recombine.benchmarks.super_clevr.questions import Asking, look_at_parts
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.examples import Examples, Observed
from recombine.world.scenes import ABSENT, Scenes

SEEN = ("size", "color", "material", "shape")
"""What is seen through noise."""
WORLDS = 64
"""Worlds that are drawn for every scene."""
ENOUGH = 1 / 4
"""The share of them in which a question makes sense; where it is less, worlds are drawn for the question itself."""
TOGETHER = 256
"""Questions that are asked again at once."""
HARDLY = 1e-9
"""What a belief leaves for pairs that it holds impossible: one may see what one has never seen."""


def checked(noise: float) -> float:
    """The noise, if it is one."""
    if not 0 <= noise < 1:
        raise UserError(f"noise is the probability to see an attribute wrong, from 0 to less than 1, not {noise:g}")
    return noise


@dataclass(frozen=True, eq=False)
class Belief:
    """How probable an observer holds the values of a vehicle before it looks."""

    size: np.ndarray  # float[sizes]
    material: np.ndarray  # float[materials]
    pair: np.ndarray  # float[shapes, colors]

    @classmethod
    def of(cls, world: VehicleWorld) -> "Belief":
        """The belief of someone who knows the statistics of a world."""
        size, color, material, shape = (np.array(world.chances(name)) for name in SEEN)
        given = np.array(world.color_given_shape) if world.color_given_shape else np.tile(color, (len(shape), 1))
        pair = shape[:, None] * given
        return cls(size, material, (pair + HARDLY) / (pair + HARDLY).sum())


def seen(scenes: Scenes, world: VehicleWorld, noise: float, key: Key) -> Scenes:
    """The scenes as they are seen."""
    codes = dict(scenes.codes)
    for name in SEEN:
        many, rng = len(world.chances(name)), (key / name).rng()
        wrong, by = rng.random(codes[name].shape) < noise, rng.integers(1, max(many, 2), codes[name].shape)
        other = ((codes[name].astype(np.int64) + by) % many).astype(np.uint8)
        codes[name] = np.where(wrong & (codes[name] != ABSENT), other, codes[name])
    return replace(scenes, codes=codes)


def likely(belief: Belief, noise: float, codes: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What an observer believes of objects that it sees so: float[objects, values], for shapes and colours together."""
    size, material = (
        _normalised(_channel(codes[name], len(prior), noise) * prior)
        for name, prior in (("size", belief.size), ("material", belief.material))
    )
    shapes, colors = belief.pair.shape
    joint = _channel(codes["shape"], shapes, noise)[:, :, None] * _channel(codes["color"], colors, noise)[:, None, :]
    return {"size": size, "material": material, "pair": _normalised((joint * belief.pair).reshape(-1, shapes * colors))}


def _channel(code: np.ndarray, many: int, noise: float) -> np.ndarray:
    """How probable it is to see this code, by the true one: float[objects, values]."""
    wrong = noise / max(many - 1, 1)
    return np.where(np.arange(many) == code[:, None], 1 - noise if many > 1 else 1.0, wrong)


def _normalised(rows: np.ndarray) -> np.ndarray:
    return rows / rows.sum(axis=-1, keepdims=True)


def imagined(scenes: Scenes, belief: Belief, noise: float, many: int, key: Key) -> Scenes:
    """Worlds that an observer holds possible: `many` for each scene it sees, side by side."""
    there = scenes.codes["shape"] != ABSENT
    held = likely(belief, noise, {name: scenes.codes[name][there] for name in SEEN})
    codes = {name: np.repeat(column, many, axis=0) for name, column in scenes.codes.items()}
    spots = np.repeat(there, many, axis=0)
    owner = np.repeat(np.cumsum(there.ravel()).reshape(there.shape) - 1, many, axis=0)[spots]
    drawn = {name: _drawn(chances, owner, (key / name).rng()) for name, chances in held.items()}
    colors = belief.pair.shape[1]
    for name, column in {**drawn, "shape": drawn["pair"] // colors, "color": drawn["pair"] % colors}.items():
        if name != "pair":
            codes[name] = codes[name].copy()
            codes[name][spots] = column
    extra = {name: np.repeat(column, many, axis=0) for name, column in scenes.extra.items()}
    position, count = np.repeat(scenes.position, many, axis=0), np.repeat(scenes.count, many)
    return Scenes(scenes.vocabulary, count, codes, position, extra)


def _drawn(chances: np.ndarray, row: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A value of each row's own distribution, int[rows]."""
    ends = np.cumsum(chances, axis=1)
    # All rows one after the other, row i from i to i + 1: one search finds the value in every row.
    line = ends / ends[:, -1:] + np.arange(len(ends))[:, None]
    found = np.searchsorted(line.ravel(), rng.random(len(row)) + row, side="right") - row * ends.shape[1]
    return np.clip(found, 0, ends.shape[1] - 1)


@dataclass(frozen=True, eq=False)
class Observer:
    """Answers questions about scenes that it sees through noise; without a belief it takes everything as seen."""

    asking: Asking
    noise: float
    key: Key
    belief: Belief | None = None
    worlds: int = WORLDS

    def fit(self, train: Examples, key: Key) -> Self:
        return self

    def predict(self, test: Observed) -> np.ndarray:
        asked = np.flatnonzero(~test.given)
        programs = programs_of(test, asked, partial(read_in, self.asking))
        used, scene = np.unique(test.scene[asked], return_inverse=True)
        return self.answers(programs, test.scenes[used], scene)

    def answers(self, programs: Sequence[Expr], scenes: Scenes, scene: np.ndarray) -> np.ndarray:
        """How probable the observer holds every answer, float[questions, answers]."""
        shown = seen(scenes, self.asking.world, self.noise, self.key / "seen")
        rows = token_rows(programs, self.asking.dialect)
        if self.belief is None or self.noise == 0:
            votes = self._votes(rows, shown, scene, np.ones((len(rows), 1)))
        else:
            worlds = imagined(shown, self.belief, self.noise, self.worlds, self.key / "imagined")
            votes = self._votes(rows, worlds, scene, np.ones((len(rows), self.worlds)))
            few = np.flatnonzero(votes.sum(axis=1) < self.worlds * ENOUGH)
            for start in range(0, len(few), TOGETHER):
                some = few[start : start + TOGETHER]
                again = self._ask_again([programs[row] for row in some], rows[some], shown[scene[some]], start)
                votes[some] = np.where(again.any(axis=1, keepdims=True), again, votes[some])
        self._guess(votes, programs)
        return _normalised(votes)

    def _votes(self, rows: np.ndarray, worlds: Scenes, scene: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """How much the worlds of each question's scene that give an answer count, float[questions, answers]."""
        dialect, many = self.asking.dialect, weight.shape[1]
        runner, votes = Runner(look_at_parts(worlds, dialect), dialect), np.zeros((len(rows), len(answers_of(dialect))))
        said = runner.on_each(rows, scene[:, None] * many + np.arange(many))
        for turn in range(many):
            known = np.flatnonzero(said[:, turn] < votes.shape[1])
            votes[known, said[known, turn]] += weight[known, turn]
        return votes

    def _ask_again(self, programs: Sequence[Expr], rows: np.ndarray, shown: Scenes, start: int) -> np.ndarray:
        """The votes of worlds that are drawn for each question, whose scene is the one of its own number."""
        assert self.belief is not None
        key, many = self.key / "guided" / start, self.worlds
        worlds = imagined(shown, self.belief, self.noise, many, key / "imagined")
        weight, beyond, rng = np.ones((len(rows), many)), all_beyond(shown), (key / "things").rng()
        for row, program in enumerate(programs):
            asked, count = referents(program), int(shown.count[row])
            held = likely(self.belief, self.noise, {name: shown.codes[name][row, :count] for name in SEEN})
            ways = {way: masks[row, :count, None] >> np.arange(count) & 1 == 1 for way, masks in beyond.items()}
            guide = Guide(self.asking.dialect, held, ways, self.belief.pair.shape[1])
            drawn = None if asked is None else guide.draw(asked, many, rng)
            if drawn is not None:
                weight[row] = drawn.weight
                for name, values in drawn.values.items():
                    np.put_along_axis(worlds.codes[name][row * many : (row + 1) * many], drawn.things, values, axis=1)
        return self._votes(rows, worlds, np.arange(len(rows)), weight)

    def _guess(self, votes: np.ndarray, programs: Sequence[Expr]) -> None:
        """Any answer of the right type where no world has one."""
        first, words = columns_of(self.asking.dialect), self.asking.dialect.answers
        for row in np.flatnonzero(~votes.any(axis=1)).tolist():
            kind = programs[row].head.out
            votes[row, first[kind] : first[kind] + len(words[kind])] = 1
