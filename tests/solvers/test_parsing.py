"""Learning to write programs: batches of alike questions, a rate that falls, and rewards alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

import torch

from recombine.benchmarks.clevr.program import TOKENS
from recombine.solvers.networks.program_generator import GeneratorPlan, ProgramGenerator
from recombine.solvers.parsing import Rewarded, RewardObjective, by_length, ended, exact, groups, surprise, words, write
from recombine.solvers.programs import END, NULL
from recombine.solvers.questions import joined
from recombine.solvers.training.batches import Batches, Stage
from recombine.solvers.training.seeding import seeded
from recombine.solvers.training.settings import Training
from recombine.store.errors import UserError
from recombine.store.key import Key
from tests.solvers.networks.asked import asked

QUESTIONS, WORDS, _ = asked()
PLAN = GeneratorPlan(len(WORDS), len(TOKENS), 16, 12, 1, 12)


def generator() -> ProgramGenerator:
    with seeded(Key(5)):
        return ProgramGenerator(PLAN)


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 5))
def test_alike_rows_come_together_and_every_row_once(rows: int, batch: int, kinds: int) -> None:
    alike = (Key(rows) / "kinds").rng().integers(0, kinds, rows)
    course = Batches((Stage(100 + np.arange(rows), alike=alike),), batch, Key(1))
    steps = [course.rows(step) for step in range(course.steps(1))]
    assert sorted(np.concatenate(steps).tolist()) == [100 + row for row in range(rows)]
    mixed = sum(len({*alike[some - 100].tolist()}) > 1 for some in steps)
    assert mixed <= kinds  # where one kind ends and the next begins, and the rest
    assert [len(some) for some in steps[:-1]] == [batch] * (len(steps) - 1)
    again = Batches((Stage(100 + np.arange(rows), alike=alike),), batch, Key(1))
    assert all((one == other).all() for one, other in zip(steps, map(again.rows, range(len(steps)))))


def test_a_rate_rises_and_falls() -> None:
    training = Training(rate=1.0, warm_up=4, fall=(10, 20))
    shares = [training.share_of_rate(step) for step in range(21)]
    assert shares[:4] == [0.25, 0.5, 0.75, 1.0] and shares[4:11] == [1.0] * 7 and shares[20] == 0
    assert shares[10:] == sorted(shares[10:], reverse=True) and shares[15] == 0.5
    assert {"warm_up", "fall"} <= training.fixed().keys()
    assert not {"warm_up", "fall"} & Training().fixed().keys()  # older runs do not have them
    assert Training(fall=[1, 2]) == Training(fall=(1, 2))  # type: ignore[arg-type]
    with pytest.raises(UserError, match="from 5 to 5"):
        Training(fall=(5, 5))


def test_programs_end_once() -> None:
    found = ended(QUESTIONS.token, QUESTIONS.size)
    assert (np.count_nonzero(found == END, axis=1) == 1).all()
    assert (found[np.arange(len(found)), QUESTIONS.size] == END).all()
    assert ((found != NULL).sum(axis=1) == QUESTIONS.size + 1).all()


def test_exact_is_token_for_token() -> None:
    wide = np.pad(QUESTIONS.token, ((0, 0), (0, 3)))
    assert exact(wide, QUESTIONS).all() and exact(QUESTIONS.token[:, : QUESTIONS.size.max()], QUESTIONS).all()
    wide[0, QUESTIONS.size[0]] = TOKENS.numbers["scene"]
    wide[1, 0] = TOKENS.numbers["scene"]
    assert exact(wide, QUESTIONS).tolist() == [False, False] + [True] * (len(QUESTIONS) - 2)


def test_groups_are_all_rows() -> None:
    rows = list(groups(by_length(QUESTIONS), 5))
    assert sorted(np.concatenate(rows).tolist()) == [*range(len(QUESTIONS))]
    assert all((np.diff(QUESTIONS.length[some]) >= 0).all() for some in rows)


def test_what_is_written_does_not_depend_on_who_is_asked_together() -> None:
    network = generator().eval()
    together = write(network, QUESTIONS, 12)
    for row in range(0, len(QUESTIONS), 5):
        assert (write(network, QUESTIONS.rows(np.array([row])), 12)[0] == together[row]).all()
    token = torch.from_numpy(ended(QUESTIONS.token, QUESTIONS.size))
    said = network.log_likelihood(*words(QUESTIONS, np.arange(len(QUESTIONS)), torch.device("cpu")), token)
    expected = float(-said.detach().sum()) / float((QUESTIONS.size + 1).sum())
    assert surprise(network, QUESTIONS) == pytest.approx(expected, rel=1e-4)


def test_rewards_alone_teach_what_is_rewarded() -> None:
    network, wanted = Rewarded(generator()), TOKENS.numbers["scene"]

    def reward(token: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return (token[:, 0] == wanted).astype(np.float32)

    lesson = RewardObjective(network, QUESTIONS, (Stage(np.arange(len(QUESTIONS))),), reward, lambda _: {})
    optimiser = torch.optim.Adam(network.parameters(), 0.02)
    with seeded(Key(6)):
        for _ in range(40):
            optimiser.zero_grad()
            lesson.loss(np.tile(np.arange(len(QUESTIONS)), 2)).backward()
            optimiser.step()
    assert (write(network.generator.eval(), QUESTIONS, 4)[:, 0] == wanted).mean() > 0.9
    assert network.get_buffer("mean") > 0.5 and "mean" in network.state_dict()


def test_questions_of_different_widths_are_joined() -> None:
    few = QUESTIONS.rows(np.argsort(QUESTIONS.size)[:3])
    narrow = replace(few, token=few.token[:, : few.size.max()], left=few.left[:, : few.size.max()])
    both = joined([narrow, QUESTIONS])
    assert len(both) == 3 + len(QUESTIONS)
    assert (both.token[3:] == QUESTIONS.token).all() and (both.left[:3, few.size.max() :] == -1).all()
