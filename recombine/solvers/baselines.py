"""Baselines: solvers that keep everyone honest.

*Chance* holds every answer equally likely. *Majority*, *nearest* and *statistics* learn from what a group shows, and
where it shows nothing, from the training examples: how frequent each answer is; the answers of the most similar scenes;
a logistic regression on the numbers of objects with each value. *Form* knows how frequent each answer is among training
questions of the same form. None of them looks at more than counts of objects.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Self

import numpy as np

from recombine.language.expr import Expr
from recombine.solvers.features import bindings, values
from recombine.solvers.groups import by_group
from recombine.store.compiled import compiled
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.examples import Examples, Observed
from recombine.world.scenes import Scenes

Model = Callable[[np.ndarray], np.ndarray]
"""From the features of scenes to the probability of each answer, float[scenes, answers]."""
Learner = Callable[[np.ndarray, np.ndarray, int], Model]
"""Learns from the features of scenes, their answers, and how many answers there are."""


@dataclass(frozen=True, eq=False)
class Chance:
    """Every answer is equally likely."""

    def needs_training(self, few_shot: bool) -> bool:
        return False

    def fit(self, train: Examples, key: Key) -> Self:
        return self

    def predict(self, test: Observed) -> np.ndarray:
        return np.full((np.count_nonzero(~test.given), len(test.answers)), 1 / len(test.answers))


@dataclass(frozen=True, eq=False)
class Baseline:
    """A learner on features of scenes: it learns from what a group shows, or else from the training examples."""

    learner: Learner
    features: Callable[[Scenes], np.ndarray]
    trained: Model | None = None

    def needs_training(self, few_shot: bool) -> bool:
        return not few_shot

    def fit(self, train: Examples, key: Key) -> Self:
        seen = self.features(train.scenes)[train.scene]
        return replace(self, trained=self.learner(seen, train.target, len(train.answers)))

    def predict(self, test: Observed) -> np.ndarray:
        rows = by_group(test)
        seen, shown = self.features(test.scenes[rows.scenes]), self.features(test.scenes[rows.shown])
        said = np.empty((len(rows.order), len(test.answers)))
        untold = np.diff(rows.shown_start) == 0
        if untold.any():
            alone = np.repeat(untold, np.diff(rows.start))
            said[alone] = self._trained()(seen)[rows.place[alone]]
        for group in np.flatnonzero(~untold):
            given, asked = (slice(start[group], start[group + 1]) for start in (rows.shown_start, rows.start))
            model = self.learner(shown[given], rows.target[given], len(test.answers))
            said[asked] = model(seen)[rows.place[asked]]
        answers = np.empty_like(said)
        answers[rows.order] = said
        return answers

    def _trained(self) -> Model:
        if self.trained is None:
            raise UserError("a baseline must be trained where a test shows no answers; call fit first")
        return self.trained


def majority() -> Baseline:
    """Every answer is as likely as it was frequent."""
    return Baseline(_frequencies, lambda scenes: np.zeros((len(scenes), 0)))


def _frequencies(seen: np.ndarray, target: np.ndarray, answers: int) -> Model:
    share = np.bincount(target, minlength=answers) / len(target)
    return lambda asked: np.tile(share, (len(asked), 1))


# --- nearest neighbour

PRICE = 0.1
"""What one more thing in the difference takes from the log-probability of an answer."""


def nearest() -> Baseline:
    """An answer is the likelier, the nearer the nearest scene that has it.

    A scene is a bag: of its objects' values, and of the pairs of values that one object has. The distance of two scenes
    is the size of the symmetric difference of their bags.
    """
    return Baseline(_nearest, bindings)


def _nearest(seen: np.ndarray, target: np.ndarray, answers: int) -> Model:
    scenes, number = np.unique(seen, axis=0, return_inverse=True)
    has = np.zeros((len(scenes), answers), bool)
    has[number.reshape(-1), target] = True
    return lambda asked: _softmax(-PRICE * distances(asked, scenes, has))


def distances(asked: np.ndarray, seen: np.ndarray, has: np.ndarray) -> np.ndarray:
    """From each scene to the nearest of those seen that have each answer, float[asked, answers]; inf where none has."""
    found = np.full((len(asked), has.shape[1]), np.inf)
    _distances(asked, seen, has, found)
    return found


@compiled
def _distances(asked: np.ndarray, seen: np.ndarray, has: np.ndarray, found: np.ndarray) -> None:
    for i in range(len(asked)):
        for j in range(len(seen)):
            distance = np.int32(0)
            for f in range(asked.shape[1]):
                distance += abs(np.int32(asked[i, f]) - np.int32(seen[j, f]))
            for answer in range(has.shape[1]):
                if has[j, answer] and distance < found[i, answer]:
                    found[i, answer] = distance


def _softmax(score: np.ndarray) -> np.ndarray:
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


# --- logistic regression

RIDGE = 1.0
STEPS = 30
"""Newton's steps, at most."""


def statistics() -> Baseline:
    """A logistic regression for each answer against the others, on the numbers of objects with each value."""
    return Baseline(_regressions, values)


def _regressions(seen: np.ndarray, target: np.ndarray, answers: int) -> Model:
    weights = np.stack([logistic(_with_one(seen), target == answer) for answer in range(answers)])

    def model(asked: np.ndarray) -> np.ndarray:
        chance = -np.logaddexp(0, -_with_one(asked) @ weights.T)  # log-probability of each answer on its own
        return _softmax(chance)

    return model


def _with_one(seen: np.ndarray) -> np.ndarray:
    return np.concatenate([np.ones((len(seen), 1)), seen], axis=1)


def logistic(seen: np.ndarray, truth: np.ndarray, ridge: float = RIDGE) -> np.ndarray:
    """The weights that make the truth likeliest, with a price on their squares, by Newton's method; float[features]."""
    sign = np.where(truth, 1.0, -1.0)
    weight = np.zeros(seen.shape[1])

    def loss(weight: np.ndarray) -> float:
        return float(np.logaddexp(0, -sign * (seen @ weight)).sum() + ridge / 2 * weight @ weight)

    best = loss(weight)
    for _ in range(STEPS):
        chance = np.exp(-np.logaddexp(0, -seen @ weight))
        slope = seen.T @ (chance - truth) + ridge * weight
        curve = (seen.T * (chance * (1 - chance))) @ seen + ridge * np.eye(len(weight))
        step = np.linalg.solve(curve, slope)
        while (now := loss(weight - step)) > best:
            step /= 2
        if best - now < 1e-10 * best:
            break
        weight, best = weight - step, now
    return weight


# --- questions


@dataclass(frozen=True, eq=False)
class FormMajority:
    """Answers are as likely as among the training questions of the same form; of a looser form; of all.

    Where programs are not seen, questions that begin alike have the same form.
    """

    frequency: dict[Hashable, np.ndarray] = field(default_factory=dict)

    def fit(self, train: Examples, key: Key) -> Self:
        found: dict[Hashable, np.ndarray] = {}
        for names, target in zip(_all_names(train.observed()), train.target):
            for name in names:
                found.setdefault(name, np.zeros(len(train.answers)))[target] += 1
        return replace(self, frequency={name: count / count.sum() for name, count in found.items()})

    def predict(self, test: Observed) -> np.ndarray:
        asked, names = np.flatnonzero(~test.given), _all_names(test)
        known = (next(name for name in names[row] if name in self.frequency) for row in asked)
        return np.array([self.frequency[name] for name in known]).reshape(len(asked), len(test.answers))


def _all_names(seen: Observed) -> list[tuple[str, ...]]:
    """What each row is like, from close to loose."""
    if seen.concepts is not None:
        return [*map(cache(_names), seen.concepts)]
    return [*map(_beginnings, seen.text)] if seen.text is not None else [("",)] * len(seen.scene)


def _names(concept: Expr) -> tuple[str, ...]:
    """What a concept is like, from close to loose."""
    return form(concept), concept.head.family + concept.head.out, ""


def _beginnings(text: str) -> tuple[str, ...]:
    """The first three words of what is asked, the first two, the first one, and none.

    >>> _beginnings("There is a small cube; what color is it?")
    ('what color is', 'what color', 'what', '')
    """
    words = text.lower().split(";")[-1].split()
    return tuple(" ".join(words[:n]) for n in (3, 2, 1, 0))


def form(concept: Expr) -> str:
    """A concept without the words of its symbols, such as exist(relate(unique(filter(scene))))."""
    return concept.head.family + (f"({','.join(map(form, concept.args))})" if concept.args else "")


BASELINES: dict[str, Callable[[], Chance | Baseline | FormMajority]] = {
    "chance": Chance,
    "majority": majority,
    "form": FormMajority,
    "nearest": nearest,
    "statistics": statistics,
}
"""Every baseline by name."""
