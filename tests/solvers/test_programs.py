"""Programs as arrays: layouts say where inputs stand, and only programs are well formed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.benchmarks.clevr.program import TOKENS
from recombine.benchmarks.clevr.runner import ANSWER_KINDS, clevr_functions
from recombine.language.expr import Expr
from recombine.solvers.programs import END, NULL, SPECIAL, START, UNK, lay_out, sizes, well_formed
from recombine.store.errors import UserError

FUNCTIONS = clevr_functions()
rows = st.lists(st.integers(SPECIAL, len(TOKENS) - 1), min_size=1, max_size=12)


def row(tokens: list[int], width: int = 14) -> np.ndarray:
    return np.array([tokens + [NULL] * (width - len(tokens))], np.uint8)


@st.composite
def programs(draw: st.DrawFn, kind: str | None = None, depth: int = 6) -> list[int]:
    """Tokens of a program that is well formed."""
    wanted = draw(st.sampled_from(ANSWER_KINDS)) if kind is None else kind
    choices = [token for token, symbol in TOKENS.symbols.items() if symbol.out == wanted]
    if depth == 0 and wanted == "objects":
        choices = ["scene"]
    token = draw(st.sampled_from(choices))
    inputs = [draw(programs(arg, max(depth - 1, 0))) for arg in TOKENS.symbols[token].args]
    return [TOKENS.numbers[token], *(number for part in inputs for number in part)]


def places(term: Expr, start: int = 0) -> list[tuple[int, int, int]]:
    """(first input, second input, height) of every token in prefix order."""
    found: list[tuple[int, int, int]] = []
    at, inputs, heights = start + 1, [], []
    for arg in term.args:
        part = places(arg, at)
        inputs.append(at)
        heights.append(part[0][2])
        found += part
        at += len(part)
    left, right = [*inputs, -1, -1][:2]
    return [(left, right, max(heights, default=-1) + 1), *found]


@given(programs())
def test_a_layout_says_where_the_inputs_stand(tokens: list[int]) -> None:
    found = lay_out(row(tokens, len(tokens) + 2), FUNCTIONS)
    expected = places(TOKENS.decode(tokens))
    assert found.whole.all() and well_formed(found, FUNCTIONS, ANSWER_KINDS).all()
    assert sizes(found).tolist() == [len(tokens)]
    columns = (found.left, found.right, found.height)
    assert [tuple(int(column[0, at]) for column in columns) for at in range(len(tokens))] == expected


@given(st.one_of(rows, programs()))
def test_what_reads_as_a_program_is_well_formed_and_nothing_else_is(tokens: list[int]) -> None:
    try:
        TOKENS.decode(tokens)
        reads = True
    except UserError:
        reads = False
    layout = lay_out(row(tokens, len(tokens) + 1), FUNCTIONS)
    assert well_formed(layout, FUNCTIONS, ANSWER_KINDS).tolist() == [reads]


def test_what_follows_the_end_does_not_count() -> None:
    exist, scene = (TOKENS.numbers[word] for word in ("exist", "scene"))
    found = lay_out(row([exist, scene, END, scene, UNK]), FUNCTIONS)
    assert found.whole.all() and found.token[0, 2:].max() == NULL


@pytest.mark.parametrize("special", [UNK, START])
def test_what_is_no_word_spoils_a_program(special: int) -> None:
    exist, scene = (TOKENS.numbers[word] for word in ("exist", "scene"))
    assert not lay_out(row([exist, scene, special]), FUNCTIONS).whole.any()
    assert not lay_out(row([special, exist, scene]), FUNCTIONS).whole.any()


def test_an_empty_row_is_no_program() -> None:
    assert not lay_out(row([]), FUNCTIONS).whole.any()
