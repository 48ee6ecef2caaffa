"""CURI's exams: for each split, the test episodes with their query, and the large set of scenes to rank.

The support is given. Asked are the query, for class-balanced accuracy over batches of eight episodes, then the large
set, for the average precision of the ranking by the odds of "yes".
"""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from recombine.benchmarks.curi.pipeline import CuriPipeline, Part
from recombine.metrics.scores import BATCH, batch_accuracy
from recombine.semantics.bits import unpack_bits
from recombine.solvers.oracle import Oracle
from recombine.store.errors import UserError
from recombine.tasks.episodes import Episodes, Negatives
from recombine.tasks.exam import Exam, Marks
from recombine.tasks.examples import Examples, from_episodes
from recombine.tasks.verifier import Verifier

ANSWERS = ("no", "yes")
VERIFIER = Verifier({"positive": "yes", "negative": "no"}, balanced=True)
PIECE = 8 * BATCH
"""Episodes that are put to a solver at once."""


def exams(
    study: CuriPipeline,
    splits: Sequence[str] = (),
    negatives: Negatives = "hard",
    episodes: int | None = None,
    queries_only: bool = False,
) -> list[Exam]:
    """An exam for each split, of its first so many test episodes; by default of all splits and all episodes."""
    chosen = [study.split(name).name for name in splits] or study.usable_splits()
    return [exam(study, split, negatives, episodes, queries_only) for split in chosen]


def exam(
    study: CuriPipeline,
    split: str,
    negatives: Negatives = "hard",
    episodes: int | None = None,
    queries_only: bool = False,
) -> Exam:
    """The exam of one split; its name is split/negatives. With `queries_only` the large set is not asked."""
    there = study.setup.episodes("test")
    if episodes is not None and not 1 <= episodes <= there:
        raise UserError(f"split '{split}' has {there:,} test episodes at this scale, not {episodes:,}")
    return Exam(
        f"{split}/{negatives}",
        ANSWERS,
        partial(training, study, split, negatives),
        partial(pieces, study, split, negatives, episodes or there, queries_only),
        partial(mark, study.shape(negatives).size),
        study.key / "bootstrap" / split / negatives,
        few_shot=True,
        split=split,
        title=study.split(split).title,
        asked=episodes or there,
    )


def learners(study: CuriPipeline, exam: Exam) -> dict[str, Oracle]:
    """The strong and the weak oracle of an exam."""
    split, negatives = exam.name.split("/")
    beliefs = study.beliefs(split, "easy" if negatives == "easy" else "hard")
    return {name: Oracle(belief) for name, belief in beliefs.items()}


def training(study: CuriPipeline, split: str, negatives: Negatives) -> Examples:
    """The training episodes of a split."""
    return from_episodes(study.episodes(split, "train", negatives), study.scenes, study.space.concepts)


def pieces(
    study: CuriPipeline, split: str, negatives: Negatives, episodes: int, queries_only: bool = False
) -> Iterator[Examples]:
    """The first so many test episodes, a piece at a time."""
    return of_part(study, split, negatives, "test", episodes, queries_only)


def of_part(
    study: CuriPipeline,
    split: str,
    negatives: Negatives,
    part: Part,
    episodes: int | None = None,
    queries_only: bool = True,
) -> Iterator[Examples]:
    """The first so many episodes of a part, a piece at a time."""
    columns = study.episodes(split, part, negatives)
    end = len(columns.concept) if episodes is None else episodes
    for low in range(0, end, PIECE):
        some = Episodes(*(column[low : min(low + PIECE, end)] for column in columns))
        yield piece(study, some, low, queries_only)


def piece(study: CuriPipeline, episodes: Episodes, first: int = 0, queries_only: bool = False) -> Examples:
    """Episodes as rows: support, query and large set of each, one after the other; groups are counted from `first`."""
    n = len(episodes.concept)
    probe, holds = np.empty(0, np.int32), np.empty((n, 0), bool)
    if not queries_only:
        probe = study.probe_scenes.astype(np.int32)
        holds = unpack_bits(study.probe.bits[study.table.sense[episodes.concept]], len(probe))  # bool[n, probe]
    scene = np.concatenate([episodes.scene, np.tile(probe, (n, 1))], axis=1, dtype=np.int32)
    target = np.concatenate([episodes.label, holds], axis=1, dtype=np.int32)
    width = scene.shape[1]
    return Examples(
        study.scenes,
        study.space.concepts,
        ANSWERS,
        scene.reshape(-1),
        np.repeat(episodes.concept.astype(np.int32), width),
        target.reshape(-1),
        np.repeat(np.arange(first, first + n, dtype=np.int32), width),
        np.tile(np.arange(width) < episodes.size, n),
    )


def mark(size: int, asked: Examples, said: np.ndarray) -> Marks:
    """Average precision of each episode, and accuracy of each batch of them, where `size` scenes are the query."""
    n = 1 + np.count_nonzero(np.diff(asked.group))
    truth = asked.asked.reshape(n, -1) == ANSWERS.index("yes")
    no, yes = said[:, 0].reshape(n, -1), said[:, 1].reshape(n, -1)
    accuracy = {"accuracy": batch_accuracy(truth[:, :size], (yes > no)[:, :size])}
    if truth.shape[1] == size:
        return accuracy
    score = odds(yes[:, size:], no[:, size:])
    return {"mAP": np.array([ranked_precision(*row) for row in zip(truth[:, size:], score)]), **accuracy}


def odds(yes: np.ndarray, no: np.ndarray) -> np.ndarray:
    """Whole numbers that stand in the order of log(yes) - log(no), equal only where both probabilities are, int64[...].

    A sure "yes" rounds to 1 while its "no" still tells how sure, so each side of a half is ordered by the smaller
    probability. The bits of floats that are not negative, read as integers, have the order of the floats.
    """
    half = np.float64(0.5).view(np.int64)
    return np.where(yes < no, yes.view(np.int64), 2 * half - no.view(np.int64))


def ranked_precision(truth: np.ndarray, score: np.ndarray) -> float:
    """Average precision with ties grouped, `metrics.scores.average_precision` without a sort of places.

    The mean over the positives of the share of positives among all that score as high or higher; 0 without positives.
    """
    everything, positives = np.sort(score), np.sort(score[truth])
    if not len(positives):
        return 0.0
    hits = len(positives) - np.searchsorted(positives, positives)
    return float(np.mean(hits / (len(everything) - np.searchsorted(everything, positives))))
