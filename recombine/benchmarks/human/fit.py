"""Fitting a mind to judgements: the log-likelihood of all answers, by Fisher's scoring.

The judgements of an object are draws with the learner's probability of yes. Each step solves the weighted least squares
that the slopes of the answers ask for, and is damped until the likelihood grows (Levenberg and Marquardt). Costs are
drawn to their mean a little, since not all of them are told apart by the thoughts there are.
"""

from collections.abc import Sequence

import numpy as np

from recombine.benchmarks.human.judgements import Judgements
from recombine.benchmarks.human.language import PARTS, Thoughts
from recombine.benchmarks.human.learner import Course, Mind, answers, beliefs, courses, mind_of, slopes

RIDGE = 1.0
LEAST = 1e-4
"""A thought that never has so much of the belief is left out while fitting."""
ENOUGH = 0.5
"""Nats of log-likelihood that a step must bring for another to follow."""
MOST_STEPS = 60


def log_likelihood(judgements: Judgements, said: np.ndarray) -> np.ndarray:
    """Of the judgements of each object, without the number of orders they may come in, float[rows]."""
    return judgements.yes * np.log(said) + judgements.no * np.log1p(-said)


def correlation(judgements: Judgements, said: np.ndarray) -> float:
    """Pearson's r between the learner's probability and the share of people who say yes, over objects."""
    asked = judgements.asked > 0
    return float(np.corrcoef(said[asked], judgements.share[asked])[0, 1])


def fit(judgements: Judgements, parts: Sequence[Course], concepts: Sequence[int], start: Mind | None = None) -> Mind:
    """The mind that answers these concepts best; `parts` has a course for each concept of the judgements."""
    rows = np.concatenate([judgements.rows(concept) for concept in concepts])
    few = [parts[concept] for concept in concepts]
    yes, asked = judgements.yes[rows], judgements.asked[rows]
    numbers, damping = (start or Mind()).numbers(), 1.0
    centre, ridge = np.zeros(len(numbers)), np.zeros(len(numbers))
    centre[: len(PARTS)], ridge[: len(PARTS)] = Mind().costs, RIDGE

    def look(numbers: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        found = [slopes(course, mind_of(numbers)) for course in few]
        said = np.concatenate([one for one, _ in found])
        gain = yes * np.log(said) + (asked - yes) * np.log1p(-said)
        return gain.sum() - (ridge * (numbers - centre) ** 2).sum() / 2, said, np.concatenate([one for _, one in found])

    value, said, slope = look(numbers)
    for _ in range(MOST_STEPS):
        spread = said * (1 - said)
        pull = slope.T @ ((yes - asked * said) / spread) - ridge * (numbers - centre)
        curve = (slope * (asked / spread)[:, None]).T @ slope + np.diag(ridge)
        gained = 0.0
        while damping < 1e8:
            step = np.linalg.solve(curve + damping * np.diag(np.diag(curve) + 1e-9), pull)
            there = look(numbers + np.clip(step, -3, 3))
            gained = there[0] - value
            if gained > 0:
                numbers, (value, said, slope), damping = numbers + np.clip(step, -3, 3), there, max(damping / 5, 1e-6)
                break
            damping *= 4
        if gained < ENOUGH:
            break
    return mind_of(numbers)


def near(course: Course, minds: Sequence[Mind], least: float = LEAST) -> Course:
    """The course with the thoughts that one of these minds believes at least so much, before any set."""
    return course.some(np.any([beliefs(course, mind).max(axis=1) >= least for mind in minds], axis=0))


def fitted(judgements: Judgements, known: Thoughts, concepts: Sequence[int], rounds: int = 2) -> Mind:
    """The mind that answers these concepts best; thoughts that never matter are found anew in every round."""
    wanted, minds = set(concepts), [Mind()]
    for _ in range(rounds):
        every = enumerate(courses(judgements, known))
        few = [near(course, minds) if i in wanted else course.some(np.zeros(len(known), bool)) for i, course in every]
        minds.append(fit(judgements, few, sorted(wanted), minds[-1]))
    return minds[-1]


def answers_of(judgements: Judgements, known: Thoughts, mind: Mind) -> np.ndarray:
    """What a mind answers to all judgements, with all thoughts, float[rows]."""
    return np.concatenate([answers(course, mind) for course in courses(judgements, known)])
