"""A learner that perceives scenes and then weighs the whole language of CURI.

It is given:

* the grammar, so every concept that can be said, 173,272 of them, and what each means;
* the grammar's weights, or, where it learns its prior, the names of the concepts of its training episodes;
* that positives are drawn from the scenes on which a concept holds; nothing about how negatives are drawn;
* the scenes of the world without labels, to count on;
* for images, a parser that learnt from other pictures with labelled objects; for sounds, every note of every
  instrument, alone.

It is not given which concepts the benchmark has, which are held out or how often each comes up, and no label but those
that an episode shows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recombine.benchmarks.curi.edition import Edition
from recombine.benchmarks.curi.language import HOLDS, Lot
from recombine.benchmarks.curi.meaning import Exact
from recombine.benchmarks.curi.pipeline import CuriPipeline
from recombine.benchmarks.curi.space import candidates
from recombine.benchmarks.curi.world import GRID
from recombine.language.expr import Expr, Symbol
from recombine.language.grammar import Rule
from recombine.render.instruments import INSTRUMENTS
from recombine.render.sound import PROFILES, TIMBRES, Voicing, sounds, synthesised_orchestra
from recombine.semantics.fold import Plan
from recombine.solvers.induction import Eye, Induction, Likelihood
from recombine.store.key import Key
from recombine.world.scenes import ABSENT, Scenes

if TYPE_CHECKING:
    from recombine.benchmarks.curi.study import Curi

READINGS = 8
"""Readings of a scene that is seen or heard."""
DOUBT = {"schema": 1e-4, "image": 1e-5, "sound": 1e-5}
"""How likely a label contradicts what was perceived, beside what the readings say."""
MOST = 6
"""Objects of a scene that are perceived at most."""
FAINT = 0.1
"""How likely something must be an object to come up in a reading."""
AT_ONCE = 64
WIDTH, HEIGHT = 240, 160
SMOOTHING = 1.0
"""What is added to the number of times that a rule was met."""


def learner(study: CuriPipeline, modality: str = "schema", learnt: bool = False, readings: int = READINGS) -> Induction:
    """The learner for a study; its prior is the grammar's, or learnt in training."""
    setup = study.setup
    concepts, log_prior = language(setup.lot, setup.edition)
    learns = partial(learnt_prior, setup.lot, setup.edition, concepts.terms) if learnt else None
    meaning = partial(Exact, lot=setup.lot)
    eyes: dict[str, Eye] = {
        "schema": lambda scenes: [scenes],
        "image": partial(seen, first_bin=setup.edition.first_bin, readings=readings, key=study.key / "eye"),
        "sound": partial(heard, first_bin=setup.edition.first_bin, readings=readings, key=study.key / "ear"),
    }
    return Induction(concepts, log_prior, meaning, eyes[modality], Likelihood(DOUBT[modality]), learns)


def named(study: "Curi", name: str) -> Induction:
    """The learner of a name such as enumeration-image-learnt."""
    return learner(study.study, modality_of(name), name.endswith("-learnt"))


def modality_of(name: str) -> str:
    """What the learner of this name perceives.

    >>> modality_of("enumeration-image-learnt"), modality_of("enumeration-learnt")
    ('image', 'schema')
    """
    return next((word for word in name.split("-")[1:] if word != "learnt"), "schema")


@cache
def language(lot: Lot, edition: Edition) -> tuple[Plan, np.ndarray]:
    """Every concept, and its log-probability under the grammar."""
    found = candidates(lot, edition, None, Key(0))
    return Plan([concept for concept, _ in found]), np.array([log_prob for _, log_prob in found])


# --- a prior from training concepts -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kind:
    """Rules that share a weight: those for the constants of a kind, or for its functions, are not told apart."""

    left: str
    head: str


def learnt_prior(
    lot: Lot, edition: Edition, concepts: Sequence[Expr], met: Sequence[Expr], often: np.ndarray
) -> np.ndarray:
    """The log-prior of every concept by how often its rules were used in the concepts met.

    A rule that was never used has the weight of one use, so that longer concepts than any that was met stay possible.
    """
    grammar = lot.grammar(edition.nesting)
    rules = {(rule.left, rule.head): rule for rule in grammar.rules}
    rules |= {("START", HOLDS): Rule("START", 1.0, HOLDS, ("BOOL",))}
    names = {kind.name for kind in lot.kinds}
    used: dict[_Kind, float] = {}
    size: dict[_Kind, int] = {}
    for rule in rules.values():
        kind = _kind(rule, names)
        used[kind], size[kind] = SMOOTHING, size.get(kind, 0) + 1
    for concept, times in zip(met, often):
        _count(concept, "START", rules, names, used, float(times))
    total: dict[str, float] = {}
    for kind, weight in used.items():
        total[kind.left] = total.get(kind.left, 0.0) + weight
    log = {kind: float(np.log(weight / total[kind.left] / size[kind])) for kind, weight in used.items()}
    memo: dict[tuple[Expr, str], float] = {}

    def value(term: Expr, left: str) -> float:
        if (term, left) not in memo:
            rule = rules[left, term.head]
            parts = sum(value(arg, child) for arg, child in zip(term.args, rule.children))
            memo[term, left] = log[_kind(rule, names)] + parts
        return memo[term, left]

    return np.array([value(concept, "START") for concept in concepts])


def _kind(rule: Rule, names: set[str]) -> _Kind:
    """Constants and functions are not told apart, and values of all kinds are chosen alike."""
    left = "value" if rule.left in names else rule.left
    head: Symbol = rule.head
    told = head.family in ("const", "function", "of")
    return _Kind(left, head.family if told else str(head))


def _count(
    term: Expr,
    left: str,
    rules: dict[tuple[str, Symbol], Rule],
    names: set[str],
    used: dict[_Kind, float],
    times: float,
) -> None:
    rule = rules[left, term.head]
    used[_kind(rule, names)] += times
    for arg, child in zip(term.args, rule.children):
        _count(arg, child, rules, names, used, times)


# --- eyes and ears ------------------------------------------------------------------------------------------------


class Perceived(NamedTuple):
    """What is seen or heard in n scenes, with room for k objects each."""

    sure: np.ndarray  # float[n, k]: how likely it is an object
    beliefs: Mapping[str, np.ndarray]  # attribute -> float[n, k, values], in the order of the vocabulary
    centre: np.ndarray | None = None  # float[n, k, 2], in widths of the picture from its middle
    spread: np.ndarray | None = None  # float[n, k, 2]
    box: np.ndarray | None = None  # float[n, k, 4]: left, top, right, bottom


def looked_at(scenes: Scenes) -> Perceived:
    """What the parser sees in the pictures of scenes; columns and rows are told by the centres."""
    from recombine.benchmarks.clevr.sight import parser
    from recombine.render.raytrace import raytrace

    parts = []
    for low in range(0, len(scenes), AT_ONCE):
        pixels = raytrace(scenes[low : low + AT_ONCE], WIDTH, HEIGHT, ("rgb",)).rgb
        assert pixels is not None
        parts.append(parser().perceive(pixels))
    sure, centre, spread, box = (
        np.concatenate([getattr(part, name)[:, :MOST] for part in parts])
        for name in ("sure", "centre", "centre_spread", "box")
    )
    beliefs = {
        name: np.concatenate([part.beliefs[name][:, :MOST] for part in parts])
        for name in ("color", "shape", "material", "size")
    }
    known = {name: dict(parser().names)[name] for name in beliefs}
    same = {"small": "0.35", "large": "0.7"}
    orders = {
        name: [[same.get(word, word) for word in known[name]].index(word) for word in scenes.vocabulary[name].values]
        for name in beliefs
    }
    return Perceived(sure, {name: one[..., orders[name]] for name, one in beliefs.items()}, centre, spread, box)


def seen(scenes: Scenes, first_bin: int, readings: int, key: Key) -> list[Scenes]:
    """Readings of the pictures of scenes."""
    sure, beliefs, centre, spread, _ = looked_at(scenes)
    assert centre is not None and spread is not None
    made = []
    for reading in range(readings):
        rng = (key / reading).rng()
        codes = {name: drawn(belief, rng) for name, belief in beliefs.items()}
        off = rng.laplace(size=centre.shape) * spread
        pixel = (centre + off) * WIDTH + np.array([WIDTH / 2, HEIGHT / 2])
        for axis, (name, side) in enumerate((("locationX", WIDTH), ("locationY", HEIGHT))):
            number = np.floor(np.round(pixel[..., axis]) * GRID / side).clip(0, GRID - 1)
            codes[name] = (number + first_bin).astype(np.uint8)
        there = (rng.random(sure.shape) < sure) & (sure > FAINT)
        made.append(reading_of(scenes, codes, there))
    return made


def listened_to(scenes: Scenes, first_bin: int) -> Perceived:
    """What the listener hears in the sounds of scenes."""
    voicing = Voicing(first_bin)
    parts = [_listener().hear(sounds(scenes[low : low + AT_ONCE], voicing)) for low in range(0, len(scenes), AT_ONCE)]
    vocabulary = scenes.vocabulary
    played: dict[str, tuple[str, Callable[[str], int]]] = {
        "color": ("instrument", lambda value: INSTRUMENTS.index(dict(voicing.instruments)[value])),
        "shape": ("profile", lambda value: [*PROFILES].index(dict(voicing.profiles)[value])),
        "material": ("timbre", lambda value: TIMBRES.index(dict(voicing.timbres)[value])),
        "size": ("volume", lambda value: _listener().volumes.index(dict(voicing.volumes)[value])),
        "locationX": ("onset", lambda value: int(value) - first_bin),
        "locationY": ("row", lambda value: int(value) - first_bin),
    }
    beliefs = {}
    for name, (kind, place) in played.items():
        belief = np.concatenate([part.beliefs[kind] for part in parts])
        column = np.zeros((*belief.shape[:2], len(vocabulary[name].values)), np.float32)
        for code, value in enumerate(vocabulary[name].values):
            if 0 <= place(value) < belief.shape[2]:
                column[..., code] = belief[..., place(value)]
        beliefs[name] = column
    count = np.concatenate([part.count for part in parts])
    return Perceived((np.arange(_listener().most) < count[:, None]).astype(float), beliefs)


def heard(scenes: Scenes, first_bin: int, readings: int, key: Key) -> list[Scenes]:
    """Readings of the sounds of scenes."""
    sure, beliefs, *_ = listened_to(scenes, first_bin)
    made = []
    for reading in range(readings):
        rng = (key / reading).rng()
        made.append(reading_of(scenes, {name: drawn(belief, rng) for name, belief in beliefs.items()}, sure > 0))
    return made


@cache
def _listener():  # type: ignore[no-untyped-def]
    from recombine.solvers.listening import Listener

    return Listener(synthesised_orchestra())


def drawn(belief: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A value for every object, as its belief says: float[n, k, values] -> uint8[n, k]."""
    below = np.cumsum(belief, axis=-1)
    point = rng.random(belief.shape[:-1])[..., None] * below[..., -1:]
    return (point >= below).sum(axis=-1).clip(0, belief.shape[-1] - 1).astype(np.uint8)


def reading_of(scenes: Scenes, codes: dict[str, np.ndarray], there: np.ndarray) -> Scenes:
    """Scenes of the objects that are there, of which there is at least one; they have no places."""
    there = there.copy()
    there[~there.any(axis=1), 0] = True
    order = np.argsort(~there, axis=1, kind="stable")
    count = there.sum(axis=1).astype(np.uint8)
    taken = np.arange(there.shape[1]) < count[:, None]
    packed = {
        attribute.name: np.where(taken, np.take_along_axis(codes[attribute.name], order, axis=1), ABSENT)
        for attribute in scenes.vocabulary
    }
    return Scenes(scenes.vocabulary, count, packed, np.zeros((*there.shape, 3), np.float32))
