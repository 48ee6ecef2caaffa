"""Many programs, each on its own scene: the same answers as the exact meaning gives."""

import numpy as np
import pytest
from hypothesis import given, settings

from recombine.benchmarks.clevr.answers import ANSWERS
from recombine.benchmarks.clevr.laws import draw_programs
from recombine.benchmarks.clevr.meaning import UNDEFINED, answer_text, execute
from recombine.benchmarks.clevr.program import TOKENS
from recombine.benchmarks.clevr.runner import ILL_FORMED, NO_ANSWER, Runner
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes
from tests.solvers.test_programs import programs, rows

SCENES = ClevrWorld().sample(40, Key(5))
RUN = Runner.of(SCENES)


def plainly(term: Expr, scenes: Scenes) -> list[int]:
    """What the exact meaning says on every scene."""
    found = execute([term], scenes)[0]
    return [NO_ANSWER if one == UNDEFINED else ANSWERS.index(answer_text(term.head.out, one)) for one in found]


def test_questions_get_the_answers_of_the_exact_meaning() -> None:
    terms = draw_programs(60, Key(6))
    width = max(term.size for term in terms) + 2
    token = np.repeat([TOKENS.encode(term, width)[1:] for term in terms], len(SCENES), axis=0)
    found = RUN(token, np.tile(np.arange(len(SCENES)), len(terms)))
    assert found.reshape(len(terms), -1).tolist() == [plainly(term, SCENES) for term in terms]
    assert 0 < np.mean(found == NO_ANSWER) < 1


@settings(max_examples=60)
@given(programs())
def test_any_program_gets_the_answers_of_the_exact_meaning(tokens: list[int]) -> None:
    found = RUN(np.tile(np.array(tokens, np.uint8), (len(SCENES), 1)), np.arange(len(SCENES)))
    assert found.tolist() == plainly(TOKENS.decode(tokens), SCENES)


@given(rows)
def test_what_is_no_program_is_ill_formed(tokens: list[int]) -> None:
    try:
        TOKENS.decode(tokens)
    except UserError:
        assert RUN(np.array([tokens], np.uint8), np.array([0])).tolist() == [ILL_FORMED]


def test_other_worlds_are_refused() -> None:
    with pytest.raises(UserError, match="at most 10 objects"):
        Runner.of(ClevrWorld(low=12, high=12, min_pixels=0).sample(1, Key(0)))
