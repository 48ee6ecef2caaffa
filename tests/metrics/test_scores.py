"""Scores: average precision as scikit-learn computes it, and accuracy as a plain loop does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from recombine.metrics.scores import BATCH, average_precision, batch_accuracy, grouped_precision

LAW = settings(deadline=None, max_examples=150)


@st.composite
def scored(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Truth with at least one positive, and scores with many ties."""
    n = draw(st.integers(1, 40))
    truth = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    truth[draw(st.integers(0, n - 1))] = True
    levels = draw(st.lists(st.floats(0, 1), min_size=1, max_size=5))
    return truth, np.array(draw(st.lists(st.sampled_from(levels), min_size=n, max_size=n)))


@st.composite
def answered(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Truth and answers of some episodes; a batch may lack one of the classes."""
    shape = draw(st.integers(1, 20)), draw(st.integers(1, 5))
    cells = st.lists(st.booleans(), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    return np.array(draw(cells)).reshape(shape), np.array(draw(cells)).reshape(shape)


@LAW
@given(scored())
def test_average_precision_is_that_of_scikit_learn(case: tuple[np.ndarray, np.ndarray]) -> None:
    truth, score = case
    assert average_precision(truth, score) == pytest.approx(average_precision_score(truth, score), abs=1e-12)


@LAW
@given(scored(), st.integers(0, 10))
def test_average_precision_of_groups_is_that_of_scikit_learn(case: tuple[np.ndarray, np.ndarray], rest: int) -> None:
    truth, score = (np.append(values, np.zeros(rest, values.dtype)) for values in case)
    levels = np.unique(score[score > 0])

    levels = np.roll(levels, 1)  # in no particular order
    asked = np.array([np.count_nonzero(score == level) for level in levels], np.int64)
    hit = np.array([np.count_nonzero(truth[score == level]) for level in levels], np.int64)
    found = grouped_precision(levels, int(truth.sum()), hit, asked, len(truth))
    assert found == pytest.approx(average_precision_score(truth, score), abs=1e-12)


@LAW
@given(scored(), st.randoms(use_true_random=False))
def test_the_order_of_the_scenes_does_not_matter(case: tuple[np.ndarray, np.ndarray], random: object) -> None:
    truth, score = case
    order = list(range(len(truth)))
    random.shuffle(order)
    assert average_precision(truth[order], score[order]) == pytest.approx(average_precision(truth, score), abs=1e-12)


def plain_accuracy(truth: np.ndarray, said: np.ndarray, batch: int) -> list[float]:
    found = []
    for start in range(0, len(truth), batch):
        pairs = list(zip(truth[start : start + batch].ravel().tolist(), said[start : start + batch].ravel().tolist()))
        recalls = []
        for wanted in (True, False):
            asked = [answer for target, answer in pairs if target == wanted]
            if asked:
                recalls.append(sum(answer == wanted for answer in asked) / len(asked))
        found.append(sum(recalls) / len(recalls))
    return found


@LAW
@given(answered(), st.sampled_from([1, 3, BATCH]))
def test_accuracy_pools_the_recalls_of_a_batch(case: tuple[np.ndarray, np.ndarray], batch: int) -> None:
    assert batch_accuracy(*case, batch).tolist() == pytest.approx(plain_accuracy(*case, batch), abs=1e-12)


@LAW
@given(answered())
def test_right_answers_score_one_and_wrong_answers_zero(case: tuple[np.ndarray, np.ndarray]) -> None:
    truth, _ = case
    assert (batch_accuracy(truth, truth) == 1).all()
    assert (batch_accuracy(truth, ~truth) == 0).all()


@pytest.mark.parametrize("positives", [1, 3, 10])
def test_a_constant_score_has_the_base_rate_as_its_precision(positives: int) -> None:
    truth = np.arange(10) < positives
    assert average_precision(truth, np.zeros(10)) == pytest.approx(positives / 10)
    nothing = np.zeros(0, np.int64)
    assert grouped_precision(np.zeros(0), positives, nothing, nothing, 10) == pytest.approx(positives / 10)


def test_two_scenes_with_one_score_are_one_step() -> None:
    # The first step finds 1 of 2 positives with precision 1; the tie is one step, precision 2/3.
    truth, score = np.array([True, True, False]), np.array([0.9, 0.5, 0.5])
    assert average_precision(truth, score) == pytest.approx(1 / 2 * 1 + 1 / 2 * 2 / 3)


def test_saying_no_to_everything_is_half_right_in_every_batch() -> None:
    truth = np.zeros((16, 25), bool)
    truth[:, :5] = True
    assert batch_accuracy(truth, np.zeros_like(truth)).tolist() == [0.5, 0.5]
