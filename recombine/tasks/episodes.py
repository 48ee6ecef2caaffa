"""Episodes: a support set that shows a concept by examples, and a query set that asks about it.

Positives are scenes of the concept. Hard negatives are scenes that a *rival* accepts and the concept rejects; rivals
are all other concepts of the space that also accept the positives shown. Easy negatives are random scenes, relabelled
where the concept happens to hold.

The draw of hard negatives is uniform over the union of the rivals' scenes without the concept's own, and never builds
that union unless it must: a random scene is in it if the scene's row of the table meets the rivals' row. Where that
finds too little, the union is built after all. `rival_scenes` says the same in one line of NumPy, for the tests.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from recombine.semantics.bits import holds, lowest, popcount, select
from recombine.semantics.table import AT_ONCE as ROWS_AT_ONCE
from recombine.semantics.table import BLOCK, Table
from recombine.store.compiled import compiled
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.loops import copy

Negatives = Literal["hard", "easy"]


@dataclass(frozen=True)
class Shape:
    """How large an episode is, and where its negatives come from."""

    positives: int = 5
    negatives: int = 20
    kind: Negatives = "hard"
    query_from_rivals: bool = True
    """Hard mode: whether the query set's negatives come from rivals too, or are random non-positives."""
    easy_block: int = 0
    """Easy mode: draw with replacement from one block of this many scenes; 0: from all scenes, each once."""

    @property
    def size(self) -> int:
        return self.positives + self.negatives


class Episodes(NamedTuple):
    """A batch of episodes. The first `size` scenes of a row are the support, the rest the query."""

    concept: np.ndarray  # int32[e]
    scene: np.ndarray  # int32[e, 2 * size]
    label: np.ndarray  # bool[e, 2 * size]

    @property
    def size(self) -> int:
        return self.scene.shape[1] // 2

    @property
    def support(self) -> np.ndarray:
        return self.scene[:, : self.size]

    @property
    def query(self) -> np.ndarray:
        return self.scene[:, self.size :]


AT_ONCE = 32
"""Episodes that are drawn before a large table gives back its memory."""


def askable(table: Table, shape: Shape) -> np.ndarray:
    """Which concepts have enough scenes on both sides for an episode, bool[concepts]."""
    accepted = table.count[table.sense]
    return np.logical_and(accepted >= 2 * shape.positives, table.scenes - accepted >= 2 * shape.negatives)


def draw_episodes(table: Table, weight: np.ndarray, n: int, shape: Shape, key: Key) -> Episodes:
    """Draw n episodes; concepts come up in proportion to `weight`, float[concepts]."""
    weight = np.where(askable(table, shape), weight, 0.0)
    if not weight.sum() > 0:
        raise UserError("no concept on this side is true on enough scenes for an episode; use a larger scale")
    rng = key.rng()
    concept = rng.choice(len(weight), size=n, p=weight / weight.sum()).astype(np.int32)
    scene = np.zeros((n, 2 * shape.size), np.int32)
    label = np.zeros((n, 2 * shape.size), np.bool_)
    for low in range(0, n, AT_ONCE):
        some = slice(low, low + AT_ONCE)
        _draw(
            rng,
            table.sense[concept[some]],
            table.by_sense,
            table.by_scene,
            table.before,
            table.scenes,
            shape.positives,
            shape.negatives,
            shape.kind == "hard",
            shape.query_from_rivals,
            shape.easy_block,
            scene[some],
            label[some],
        )
        table.rest()
    return Episodes(concept, scene, label)


def rivals_of(table: Table, sense: int, positives: np.ndarray) -> np.ndarray:
    """The other senses that accept all these scenes, bool[senses]."""
    found: np.ndarray = np.asarray(table.senses_of(positives).all(axis=0))
    found[sense] = False
    return found


def rival_scenes(table: Table, sense: int, positives: np.ndarray) -> np.ndarray:
    """The scenes that hard negatives are drawn from, bool[scenes]."""
    rivals = np.flatnonzero(rivals_of(table, sense, positives))
    union = np.zeros(table.scenes, bool)
    for rival in rivals:
        union |= table.extension(rival)
    return union & ~table.extension(sense)


class Reach(NamedTuple):
    """What the positives of support sets say about where hard negatives come from, int64[e] each.

    The rivals' scenes and the concept's own are together all scenes of the senses that accept the positives, whichever
    of these the concept is. So hard negatives of a concept of C scenes are drawn from `scenes` - C of them; if that is
    too few, all of them are shown, and `shown` says how many.
    """

    scenes: np.ndarray  # that some sense accepts which accepts all positives
    shown: np.ndarray  # negatives among these scenes
    negatives: np.ndarray  # negatives in all


def reach(table: Table, scene: np.ndarray, label: np.ndarray, start: np.ndarray) -> Reach:
    """The reach of support sets: the scenes and labels of set i stand from start[i] to start[i + 1].

    It is enough to join the widest senses.
    """
    found = Reach(*(np.zeros(len(start) - 1, np.int64) for _ in range(3)))
    _reach(table.by_sense, table.by_scene, table.widest, scene, label, start, *found)
    return found


@compiled
def log_chance(reached: int, shown: int, negatives: int, count: int) -> float:
    """The log-chance that a concept of `count` scenes, which explains the set, has brought its negatives.

    Up to a constant of each set. Where not all negatives are within reach, the pool has run out: all of it is shown, so
    that its size is known, and with it that of the concept.
    """
    pool = reached - count
    if shown < negatives:
        return 0.0 if pool == shown else -np.inf
    chance = 0.0
    for drawn in range(negatives):
        chance -= np.log(pool - drawn)
    return chance


TRIES = 64
"""Tries that find nothing before the union of the rivals is built."""


@compiled
def _draw(
    rng: np.random.Generator,
    senses: np.ndarray,
    by_sense: np.ndarray,
    by_scene: np.ndarray,
    before: np.ndarray,
    scenes: int,
    positives: int,
    negatives: int,
    hard: bool,
    query_from_rivals: bool,
    easy_block: int,
    scene: np.ndarray,
    label: np.ndarray,
) -> None:
    """Fill scene[e, 2 size] and label[e, 2 size] for these senses[e]."""
    rivals = np.zeros(by_scene.shape[1], np.uint64)
    union = np.zeros((by_sense.shape[0], by_sense.shape[2]), np.uint64)
    size = positives + negatives
    for e in range(len(senses)):
        sense = senses[e]
        row = scene[e]
        shown = np.empty(2 * positives, np.int64)
        for i in range(2 * positives):
            shown[i] = _new_positive(rng, sense, by_sense, before, shown[:i])
        for half in range(2):
            start = half * size
            for i in range(positives):
                row[start + i] = shown[half * positives + i]
                label[e, start + i] = True
            chosen = row[start : start + size]
            if not hard:
                _easy(rng, sense, by_scene, scenes, easy_block, chosen, positives, label[e, start : start + size])
                continue
            found = positives
            if half == 0 or query_from_rivals:
                _find_rivals(by_scene, sense, chosen[:positives], rivals)
                found = _from_rivals(rng, sense, rivals, by_sense, by_scene, before, scenes, union, chosen, found)
            while found < size:
                proposal = rng.integers(0, scenes)
                if not holds(by_scene[proposal], sense) and not _among(proposal, chosen[:found]):
                    chosen[found] = proposal
                    found += 1


@compiled
def _among(scene: int, chosen: np.ndarray) -> bool:
    for other in chosen:  # noqa: SIM110
        if other == scene:
            return True
    return False


@compiled
def _new_positive(
    rng: np.random.Generator, sense: int, by_sense: np.ndarray, before: np.ndarray, chosen: np.ndarray
) -> int:
    """A scene of the sense that is not among the chosen, uniformly."""
    while True:
        rank = rng.integers(0, before[sense, -1])
        block = np.searchsorted(before[sense], rank, side="right") - 1
        scene = block * BLOCK + select(by_sense[block, sense], rank - before[sense, block])
        if not _among(scene, chosen):
            return scene


@compiled
def _easy(
    rng: np.random.Generator,
    sense: int,
    by_scene: np.ndarray,
    scenes: int,
    block: int,
    chosen: np.ndarray,
    found: int,
    label: np.ndarray,
) -> None:
    """Random scenes with their true labels; from one block they may repeat."""
    width = min(block, scenes) if block else scenes
    start = rng.integers(0, (scenes + width - 1) // width) * width
    width = min(width, scenes - start)
    while found < len(chosen):
        proposal = start + rng.integers(0, width)
        if block or not _among(proposal, chosen[:found]):
            chosen[found] = proposal
            label[found] = holds(by_scene[proposal], sense)
            found += 1


@compiled
def _find_rivals(by_scene: np.ndarray, sense: int, positives: np.ndarray, rivals: np.ndarray) -> None:
    """The senses that accept all positives, as bits; the sense itself is left out."""
    copy(by_scene[positives[0]], rivals)
    for scene in positives[1:]:
        rivals &= by_scene[scene]
    rivals[sense >> 6] &= ~(np.uint64(1) << np.uint64(sense & 63))


@compiled
def _from_rivals(
    rng: np.random.Generator,
    sense: int,
    rivals: np.ndarray,
    by_sense: np.ndarray,
    by_scene: np.ndarray,
    before: np.ndarray,
    scenes: int,
    union: np.ndarray,
    chosen: np.ndarray,
    found: int,
) -> int:
    """Add scenes that a rival accepts and the sense rejects until `chosen` is full or there are no more."""
    used = np.flatnonzero(rivals)
    idle = 0
    while found < len(chosen) and idle < TRIES and len(used):
        proposal = rng.integers(0, scenes)
        idle += 1
        row = by_scene[proposal]
        if holds(row, sense):
            continue
        for w in used:
            if row[w] & rivals[w]:
                if not _among(proposal, chosen[:found]):
                    chosen[found] = proposal
                    found += 1
                    idle = 0
                break
    if found == len(chosen) or not len(used):
        return found
    left = _build_union(sense, rivals, used, by_sense, union, chosen[:found])
    while found < len(chosen) and left:
        scene = _select_block(union, rng.integers(0, left))
        _clear(union, scene)
        chosen[found] = scene
        found += 1
        left -= 1
    return found


@compiled
def _build_union(
    sense: int, rivals: np.ndarray, used: np.ndarray, by_sense: np.ndarray, union: np.ndarray, chosen: np.ndarray
) -> int:
    """The rivals' scenes without the sense's own and without the chosen ones; returns how many."""
    union[:] = 0
    for w in used:
        word = rivals[w]
        while word:
            rival = w * 64 + lowest(word)
            word &= word - np.uint64(1)
            for block in range(by_sense.shape[0]):
                theirs = by_sense[block, rival]
                for i in range(theirs.shape[0]):
                    union[block, i] |= theirs[i]
    total = 0
    for block in range(by_sense.shape[0]):
        own = by_sense[block, sense]
        for i in range(own.shape[0]):
            union[block, i] &= ~own[i]
    for scene in chosen:
        _clear(union, scene)
    for block in range(union.shape[0]):
        for i in range(union.shape[1]):
            total += popcount(union[block, i])
    return total


@compiled
def _reach(
    by_sense: np.ndarray,
    by_scene: np.ndarray,
    widest: np.ndarray,
    scene: np.ndarray,
    label: np.ndarray,
    start: np.ndarray,
    reached: np.ndarray,
    shown: np.ndarray,
    negatives: np.ndarray,
) -> None:
    union = np.zeros(by_sense.shape[2], np.uint64)
    accept = np.zeros(by_scene.shape[1], np.uint64)
    for e in range(len(start) - 1):
        here = range(start[e], start[e + 1])
        copy(widest, accept)
        for i in here:
            if label[i]:
                accept &= by_scene[scene[i]]
        used = np.flatnonzero(accept)
        for i in here:
            if not label[i]:
                negatives[e] += 1
                row = by_scene[scene[i]]
                for w in used:
                    if row[w] & accept[w]:
                        shown[e] += 1
                        break
        for block in range(by_sense.shape[0]):
            union[:] = 0
            for w in used:
                word = accept[w]
                while word:
                    sense = w * 64 + lowest(word)
                    word &= word - np.uint64(1)
                    union |= by_sense[block, sense]
            for i in range(len(union)):
                reached[e] += popcount(union[i])


@compiled
def _clear(union: np.ndarray, scene: int) -> None:
    block, place = scene // BLOCK, scene % BLOCK
    union[block, place >> 6] &= ~(np.uint64(1) << np.uint64(place & 63))


@compiled
def _select_block(union: np.ndarray, rank: int) -> int:
    """The scene that has `rank` scenes of the union before it."""
    for block in range(union.shape[0]):
        here = 0
        for i in range(union.shape[1]):
            here += popcount(union[block, i])
        if rank < here:
            return block * BLOCK + select(union[block], rank)
        rank -= here
    return -1


def scenes_at(table: Table, senses: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """For each sense, the scene that has `rank` of the sense's scenes before it, int64[n]."""
    found = np.empty(len(senses), np.int64)
    for low in range(0, len(senses), ROWS_AT_ONCE):
        some = slice(low, low + ROWS_AT_ONCE)
        found[some] = _scenes_at(table.by_sense, table.before, senses[some], ranks[some])
        table.rest()
    return found


@compiled
def _scenes_at(by_sense: np.ndarray, before: np.ndarray, senses: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    scenes = np.empty(len(senses), np.int64)
    for i in range(len(senses)):
        block = np.searchsorted(before[senses[i]], ranks[i], side="right") - 1
        scenes[i] = block * BLOCK + select(by_sense[block, senses[i]], ranks[i] - before[senses[i], block])
    return scenes
