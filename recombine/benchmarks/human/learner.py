"""A learner of people's concepts: the ideal learner, with a memory that fades and labels that it half believes.

Before set n a thought h weighs

    exp(-w . parts(h))  prod over earlier sets j  (prod over their objects  P(label | h)) ^ ((n - j) ^ -forgetting)

where a label is what h says with probability `trust`, and otherwise yes with probability `lean`, no matter what h says.
The learner says yes with the probability that the thoughts give together; a share `lapse` of its answers has nothing to
do with them and is yes with probability `lean` too. With trust near 1, no forgetting and no lapse it is the ideal
learner.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.human.judgements import Judgements
from recombine.benchmarks.human.language import PARTS, Thoughts


@dataclass(frozen=True)
class Mind:
    """What decides a learner."""

    costs: tuple[float, ...] = (2.0,) * len(PARTS)
    """What each part of a thought takes from its log-weight."""
    trust: float = 0.7
    lean: float = 0.3
    forgetting: float = 0.5
    lapse: float = 0.1

    def numbers(self) -> np.ndarray:
        """As free numbers, float[PARTS + 4]: shares by their log-odds, forgetting by its log."""
        shares = [np.log(share) - np.log1p(-share) for share in (self.trust, self.lean, self.lapse)]
        return np.array([*self.costs, *shares, np.log(self.forgetting)])


def mind_of(numbers: np.ndarray) -> Mind:
    """The mind of free numbers."""
    *costs, trust, lean, lapse, forgetting = numbers.tolist()
    return Mind(tuple(costs), _share(trust), _share(lean), float(np.exp(forgetting)), _share(lapse))


def _share(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


class Course(NamedTuple):
    """What one concept shows of some thoughts."""

    which: np.ndarray  # int[h], into all thoughts
    parts: np.ndarray  # float[h, PARTS]
    accepts: np.ndarray  # float[h, rows]
    number: np.ndarray  # int[rows]: the set of each row
    right: np.ndarray  # float[h, sets]: objects labelled yes that it accepts
    wrong: np.ndarray  # float[h, sets]: objects labelled no that it accepts

    def some(self, chosen: np.ndarray) -> "Course":
        """With these thoughts only, bool[h]."""
        return Course(*(column if i == 3 else column[chosen] for i, column in enumerate(self)))


def courses(judgements: Judgements, thoughts: Thoughts) -> Iterator[Course]:
    """What each concept shows of all thoughts, one concept after the other."""
    everything, parts = np.arange(len(thoughts)), thoughts.parts.astype(np.float32)
    for concept in range(len(judgements.concepts)):
        rows = judgements.rows(concept)
        bit = judgements.place[rows].astype(thoughts.truth.dtype)
        accepts = (thoughts.truth[:, judgements.scene[rows]] >> bit & 1).astype(np.float32)
        number, truth = judgements.number[rows], judgements.truth[rows]
        of_set = (number[:, None] == np.arange(number.max() + 1)).astype(np.float32)
        yield Course(
            everything, parts, accepts, number, (accepts * truth) @ of_set, (accepts * ~truth) @ of_set
        )  # fmt: skip


class Evidence(NamedTuple):
    """What labels say for a thought that accepts an object, in nats: if the label is yes, and if it is no."""

    yes: float
    no: float


def evidence(mind: Mind) -> Evidence:
    """The log-odds of a label under a thought that accepts the object and one that rejects it."""
    t, g = mind.trust, mind.lean
    return Evidence(
        float(np.log(t + (1 - t) * g) - np.log((1 - t) * g)),
        float(np.log((1 - t) * (1 - g)) - np.log(t + (1 - t) * (1 - g))),
    )


def beliefs(course: Course, mind: Mind) -> np.ndarray:
    """The probability of each thought before each set, float[h, sets]."""
    fading = _fading(course, mind.forgetting)
    yes, no = evidence(mind)
    score = (yes * course.right + no * course.wrong) @ fading - (course.parts @ np.array(mind.costs, np.float32))[
        :, None
    ]
    score = np.exp(score - score.max(axis=0))
    return score / score.sum(axis=0)


def _fading(course: Course, forgetting: float) -> np.ndarray:
    """How much set j counts before set n, float[j, n]."""
    lag = _lag(course)
    return np.where(lag > 0, np.maximum(lag, 1.0) ** -forgetting, 0.0).astype(np.float32)


def _lag(course: Course) -> np.ndarray:
    sets = np.arange(course.right.shape[1])
    return sets[None, :] - sets[:, None]


def answers(course: Course, mind: Mind) -> np.ndarray:
    """The probability of saying yes of each object, float[rows]."""
    thought = (beliefs(course, mind)[:, course.number] * course.accepts).sum(axis=0, dtype=np.float64)
    return (1 - mind.lapse) * thought + mind.lapse * mind.lean


def slopes(course: Course, mind: Mind) -> tuple[np.ndarray, np.ndarray]:
    """The answers, and how they change with each free number of the mind: float[rows], float[rows, PARTS + 4]."""
    belief, fading = beliefs(course, mind), _fading(course, mind.forgetting)
    joint = belief[:, course.number] * course.accepts  # float[h, rows]
    thought = joint.sum(axis=0, dtype=np.float64)
    yes, no = evidence(mind)
    right, wrong = course.right @ fading, course.wrong @ fading
    log_lag = np.log(np.maximum(_lag(course), 1)).astype(np.float32)
    faded = (yes * course.right + no * course.wrong) @ (-mind.forgetting * log_lag * fading)

    def along(change: np.ndarray) -> np.ndarray:
        """How the thoughts' answer changes where their log-weights change so, float[h, sets]."""
        return (joint * change[:, course.number]).sum(axis=0) - thought * (belief * change).sum(axis=0)[course.number]

    t, g, e = mind.trust, mind.lean, mind.lapse
    by_yes, by_no = along(right), along(wrong)
    mean = thought[:, None] * (belief.T @ course.parts)[course.number]
    by_trust = t * by_yes / (t + (1 - t) * g) - t * by_no / (t + (1 - t) * (1 - g))
    by_lean = -(1 - g) * t * by_yes / (t + (1 - t) * g) - g * t * by_no / (t + (1 - t) * (1 - g))
    found = np.column_stack([mean - joint.T @ course.parts, by_trust, by_lean, np.zeros(len(thought)), along(faded)])
    found *= 1 - e
    found[:, -3] += e * g * (1 - g)
    found[:, -2] = e * (1 - e) * (g - thought)
    return (1 - e) * thought + e * g, found
