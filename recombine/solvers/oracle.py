"""Ideal learners: Bayesian posteriors over a space of concepts.

The strong oracle knows every concept of the space; the weak oracle knows only the training concepts. Both label scenes
without error, so they differ in their priors alone, and their difference in a score is the compositionality gap.

A concept explains a support set if it accepts all its positives and rejects all its negatives. Since synonyms explain
the same sets, the work is done per sense; the prior of a sense is the sum over its concepts. How likely it is that a
concept brings up just this set is a matter of its size alone: what does not depend on the set is in the log-weights,
and `from_rivals` adds the rest (docs/decisions/030-ideal-edition.md).
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from recombine.metrics.scores import grouped_precision
from recombine.semantics.bits import holds, lowest
from recombine.semantics.table import Table
from recombine.solvers.groups import by_group
from recombine.store.compiled import compiled
from recombine.store.key import Key
from recombine.tasks.episodes import Episodes, Reach, log_chance, reach
from recombine.tasks.examples import Examples, Observed


@dataclass(frozen=True, eq=False)
class Belief:
    """Log-weights over the concepts of a table; -inf for a concept that the learner does not know."""

    table: Table
    log_weight: np.ndarray  # float[concepts]
    from_rivals: bool = False
    """Whether negatives are drawn from the rivals' scenes and the learner takes that for evidence."""

    def known(self, concepts: np.ndarray) -> "Belief":
        """The same belief restricted to these concepts, bool[concepts]."""
        return replace(self, log_weight=np.where(concepts, self.log_weight, -np.inf))

    def of_senses(self) -> tuple[np.ndarray, np.ndarray]:
        """The log-weight of each sense, and the entropy among its synonyms in nats: float[senses] twice."""
        sense, senses = self.table.sense, self.table.senses
        top = np.full(senses, -np.inf)
        np.maximum.at(top, sense, self.log_weight)
        scale = np.where(np.isfinite(top), top, 0.0)
        share = np.exp(self.log_weight - scale[sense])
        total = np.bincount(sense, share, senses)
        with np.errstate(divide="ignore"):
            log_weight = scale + np.log(total)
        part = np.divide(share, total[sense], out=np.zeros_like(share), where=total[sense] > 0)
        surprise = -part * np.log(part, out=np.zeros_like(part), where=part > 0)
        return log_weight, np.bincount(sense, surprise, senses)

    def reach(self, scene: np.ndarray, label: np.ndarray, start: np.ndarray) -> Reach:
        """The reach of support sets, as `tasks.episodes.reach`; -1 scenes where it is no evidence."""
        if self.from_rivals:
            return reach(self.table, scene, label, start)
        return Reach(np.full(len(start) - 1, -1), *np.zeros((2, len(start) - 1), np.int64))

    def posterior(self, support: np.ndarray, label: np.ndarray) -> np.ndarray:
        """The probability of each concept after a support set; all zero if none explains it: float[concepts]."""
        accepts = self.table.senses_of(support)  # bool[s, senses]
        explains = (accepts == label[:, None]).all(axis=0)[self.table.sense]
        weight = np.where(explains, self.log_weight, -np.inf)
        if self.from_rivals:
            (found,) = zip(*reach(self.table, support, label, np.array([0, len(support)])))
            chance = {count: log_chance(*found, count) for count in set(self.table.count[self.table.sense[explains]])}
            weight[explains] += [chance[count] for count in self.table.count[self.table.sense[explains]]]
        if not np.isfinite(weight).any():
            return np.zeros(len(weight))
        weight = np.exp(weight - weight.max())
        return weight / weight.sum()


@dataclass(frozen=True, eq=False)
class Oracle:
    """A belief as a solver: it looks scenes up in its table, which must be the table of the observed scenes."""

    belief: Belief

    def fit(self, train: Examples, key: Key) -> Self:
        return self

    def predict(self, test: Observed) -> np.ndarray:
        """Where nothing that is known explains what is shown, the answer is no."""
        table, rows = self.belief.table, by_group(test)
        no, yes = test.answers.index("no"), test.answers.index("yes")
        said = np.zeros((len(rows.order), 2))
        _predict(
            rows.shown,
            rows.target == yes,
            rows.shown_start,
            rows.place,
            rows.start,
            table.by_scene,
            self.belief.of_senses()[0],
            table.count,
            self.belief.reach(rows.shown, rows.target == yes, rows.shown_start),
            table.on(rows.scenes),
            said,
        )
        answers = np.empty_like(said)
        answers[rows.order] = said[:, [no, yes]]
        return answers


class Answers(NamedTuple):
    """What a learner makes of a batch of episodes."""

    precision: np.ndarray  # float[e]: average precision on the large set of scenes
    query: np.ndarray  # float[e, q]: probability that each query scene is positive
    entropy: np.ndarray  # float[e]: of the posterior over concepts, in nats
    explanations: np.ndarray  # int32[e]: how many known concepts explain the support set


class Probe:
    """The large set of scenes on which average precision is computed."""

    def __init__(self, table: Table, scenes: np.ndarray) -> None:
        self.size = len(scenes)
        self.bits = table.on(scenes)  # uint64[senses, words]
        self.positives = np.bitwise_count(self.bits).sum(axis=1, dtype=np.int64)  # int64[senses]


def answer(belief: Belief, episodes: Episodes, probe: Probe, candidates_from: int | None = None) -> Answers:
    """Answer every episode.

    Where `candidates_from` is given, labels are not believed from that place of the support on, as in the released code
    with easy negatives: a concept is dropped if it accepts any scene there, relabelled or not. The concept of the
    episode is kept in any case, its synonyms are not. No learner could do that, since no learner is told the concept.
    """
    table = belief.table
    log_weight, within = belief.of_senses()
    known = np.bincount(table.sense, np.isfinite(belief.log_weight), table.senses).astype(np.int32)
    n, size = len(episodes.concept), episodes.size
    answers = Answers(np.zeros(n), np.zeros((n, size)), np.zeros(n), np.zeros(n, np.int32))
    label, kept = episodes.label[:, :size], np.full(n, -np.inf)
    if candidates_from is not None:
        label, kept = label & (np.arange(size) < candidates_from), belief.log_weight[episodes.concept]
    used, place = np.unique(episodes.scene, return_inverse=True)  # few of all scenes, which may not fit in memory
    with np.errstate(over="ignore"):  # hashing wraps around on purpose, of which a loop that is not compiled would warn
        _answer(
            table.sense[episodes.concept],
            kept,
            place.reshape(episodes.scene.shape).astype(episodes.scene.dtype),
            np.ascontiguousarray(label),
            table.rows(used),
            table.count,
            belief.reach(episodes.support.reshape(-1), label.reshape(-1), np.arange(n + 1) * size),
            log_weight,
            within,
            known,
            probe.bits,
            probe.positives,
            probe.size,
            *answers,
        )
    return answers


@compiled
def _answer(
    senses: np.ndarray,
    kept: np.ndarray,
    scene: np.ndarray,
    label: np.ndarray,
    by_scene: np.ndarray,
    count: np.ndarray,
    reach: Reach,
    log_weight: np.ndarray,
    within: np.ndarray,
    known: np.ndarray,
    probe: np.ndarray,
    positives: np.ndarray,
    total: int,
    precision: np.ndarray,
    query: np.ndarray,
    entropy: np.ndarray,
    explanations: np.ndarray,
) -> None:
    size = label.shape[1]
    posterior = np.zeros(len(log_weight))
    work = _workspace(total)
    for e in range(len(senses)):
        found = _explanations(by_scene, scene[e, :size], label[e], log_weight)
        found, weight = _weighed(found, log_weight, count, reach.scenes[e], reach.shown[e], reach.negatives[e])
        alone = kept[e] > -np.inf and not (found == senses[e]).any()
        if alone:
            found, weight = np.append(found, senses[e]), np.append(weight, kept[e])
        _normalise(found, weight, posterior)
        for k in found:
            p = posterior[k]
            one = alone and k == senses[e]
            explanations[e] += 1 if one else known[k]
            entropy[e] += (0.0 if one else p * within[k]) - (p * np.log(p) if p > 0 else 0.0)
            for q in range(size):
                if holds(by_scene[scene[e, size + q]], k):
                    query[e, q] += p
        precision[e] = _precision(found, posterior, probe, probe[senses[e]], positives[senses[e]], total, work)


@compiled
def _predict(
    scene: np.ndarray,
    label: np.ndarray,
    start: np.ndarray,
    place: np.ndarray,
    asked: np.ndarray,
    by_scene: np.ndarray,
    log_weight: np.ndarray,
    count: np.ndarray,
    reach: Reach,
    bits: np.ndarray,
    said: np.ndarray,
) -> None:
    """The probabilities of no and yes, rows in the order of their groups; `bits` is the table of the asked scenes."""
    posterior = np.zeros(len(log_weight))
    score = np.empty(bits.shape[1] * 64)
    for g in range(len(start) - 1):
        here = slice(start[g], start[g + 1])
        found = _explanations(by_scene, scene[here], label[here], log_weight)
        found, weight = _weighed(found, log_weight, count, reach.scenes[g], reach.shown[g], reach.negatives[g])
        _normalise(found, weight, posterior)
        score[:] = 0.0
        total = 0.0
        for k in found:
            total += posterior[k]
            for w in range(bits.shape[1]):
                word = bits[k, w]
                while word:
                    score[w * 64 + lowest(word)] += posterior[k]
                    word &= word - np.uint64(1)
        for i in range(asked[g], asked[g + 1]):
            yes = score[place[i]]
            said[i, 0] = total - yes if len(found) else 1.0  # of the rounded total, so that it is never negative
            said[i, 1] = yes


@compiled
def _explanations(by_scene: np.ndarray, support: np.ndarray, label: np.ndarray, log_weight: np.ndarray) -> np.ndarray:
    """The senses of positive weight that accept the positives and reject the negatives."""
    fits = np.full(by_scene.shape[1], ~np.uint64(0))
    for i in range(len(support)):
        if label[i]:
            fits &= by_scene[support[i]]
        else:
            fits &= ~by_scene[support[i]]
    found = np.empty(len(log_weight), np.int64)
    n = 0
    for w in np.flatnonzero(fits):
        word = fits[w]
        while word:
            sense = w * 64 + lowest(word)
            word &= word - np.uint64(1)
            if sense < len(log_weight) and log_weight[sense] > -np.inf:
                found[n] = sense
                n += 1
    return found[:n]


@compiled
def _weighed(
    found: np.ndarray, log_weight: np.ndarray, count: np.ndarray, reached: int, shown: int, negatives: int
) -> tuple[np.ndarray, np.ndarray]:
    """The senses that are possible, and their log-weights with what the drawing of the negatives adds."""
    weight = log_weight[found]
    if reached < 0:
        return found, weight
    for i in range(len(found)):
        weight[i] += log_chance(reached, shown, negatives, count[found[i]])
    possible = weight > -np.inf
    return found[possible], weight[possible]


@compiled
def _normalise(found: np.ndarray, weight: np.ndarray, posterior: np.ndarray) -> None:
    if not len(found):
        return
    top = weight.max()
    total = 0.0
    for i in range(len(found)):
        posterior[found[i]] = np.exp(weight[i] - top)
        total += posterior[found[i]]
    for k in found:
        posterior[k] /= total


@compiled
def _workspace(total: int) -> tuple[np.ndarray, ...]:
    """Scores, the scenes that have one, and an open hash table from scores to groups."""
    slots = 1
    while slots < 2 * total:
        slots *= 2
    return (
        np.zeros(total),
        np.empty(total, np.int64),
        np.full(slots, -1, np.int64),
        np.empty(total),
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
        np.empty(total, np.int64),
    )


@compiled
def _precision(
    found: np.ndarray,
    posterior: np.ndarray,
    probe: np.ndarray,
    truth: np.ndarray,
    positive: int,
    total: int,
    work: tuple[np.ndarray, ...],
) -> float:
    """Average precision of the posterior predictive on the probe."""
    score, touched, slot_of, group_score, hit, asked, used = work
    if not positive:
        return 0.0
    n = 0
    for k in found:
        p = posterior[k]
        if p <= 0.0:
            continue
        for w in range(probe.shape[1]):
            word = probe[k, w]
            while word:
                t = w * 64 + lowest(word)
                word &= word - np.uint64(1)
                if score[t] == 0.0:
                    touched[n] = t
                    n += 1
                score[t] += p
    groups = 0
    mask = np.uint64(len(slot_of) - 1)
    for i in range(n):
        t = touched[i]
        value = score[t]
        score[t] = 0.0
        slot = np.int64((_fraction(value) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(40) & mask)
        while slot_of[slot] >= 0 and group_score[slot_of[slot]] != value:
            slot = np.int64(np.uint64(slot + 1) & mask)
        g = slot_of[slot]
        if g < 0:
            g = groups
            slot_of[slot] = g
            used[g] = slot
            group_score[g] = value
            hit[g] = 0
            asked[g] = 0
            groups += 1
        asked[g] += 1
        hit[g] += holds(truth, t)
    for g in range(groups):
        slot_of[used[g]] = -1
    return grouped_precision(group_score[:groups], positive, hit[:groups], asked[:groups], total)


@compiled
def _fraction(value: float) -> np.uint64:
    """A score in [0, 1] as an integer, for hashing."""
    return np.uint64(np.int64(value * 9007199254740992.0))
