"""How programs are written: lists and tokens come back, and errors say where."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, signature
from recombine.benchmarks.clevr.program import (
    END,
    LONGEST,
    NULL,
    SPECIAL,
    START,
    TOKENS,
    UNK,
    ProgramTokens,
    read_program,
    write_program,
)
from recombine.language.expr import Expr
from recombine.store.errors import UserError
from recombine.world.vocabulary import Attribute, Vocabulary

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SIGNATURE = signature()
SCENE = {"function": "scene", "inputs": [], "value_inputs": []}


def node(function: str, *inputs: int, values: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"function": function, "inputs": [*inputs], "value_inputs": [*values]}


def drawn(kind: str, depth: int, rng: np.random.Generator) -> Expr:
    symbols = [s for s in SIGNATURE.values() if s.out == kind and (depth > 0 or len(s.args) < 2)]
    if depth <= 0 and kind == "objects":
        symbols = [SIGNATURE["scene"]]
    symbol = symbols[rng.integers(len(symbols))]
    return Expr(symbol, tuple(drawn(arg, depth - 1, rng) for arg in symbol.args))


def program(seed: int) -> Expr:
    rng = np.random.default_rng(seed)
    return drawn(str(rng.choice(["bool", "number", "color", "shape"])), int(rng.integers(1, 5)), rng)


programs = st.integers(0, 2**32).map(program)


@settings(deadline=None, max_examples=100)
@given(programs, st.sampled_from(["function", "type"]))
def test_a_written_list_comes_back(term: Expr, key: str) -> None:
    nodes = write_program(term, key)
    assert len(nodes) == term.size
    assert read_program(json.loads(json.dumps(nodes))) is term


@settings(deadline=None, max_examples=100)
@given(programs, st.integers(0, 40))
def test_written_tokens_come_back(term: Expr, length: int) -> None:
    assert TOKENS.read(TOKENS.write(term)) is term
    numbers = TOKENS.encode(term, length)
    assert len(numbers) >= length and numbers[0] == START and numbers[term.size + 1] == END
    assert TOKENS.decode(numbers) is TOKENS.decode(numbers[1:]) is term


def real(name: str) -> list[dict[str, Any]]:
    if not (DATA / name).exists():
        pytest.skip(f"the real programs are not in {DATA}")
    found = json.loads((DATA / name).read_text())
    return found if isinstance(found, list) else found["questions"]


@pytest.mark.parametrize(
    ("name", "other_order"),
    [("clevr/questions_with_programs_47.json", 1), ("closure/closure_val_images0-7.json", 0)],
)
def test_real_programs_are_written_as_they_were(name: str, other_order: int) -> None:
    different = []
    for question in real(name):
        nodes = [{k: v for k, v in node.items() if k != "_output"} for node in question["program"]]
        term = read_program(question["program"])
        assert TOKENS.decode(TOKENS.encode(term)) is term
        if write_program(term) != nodes:
            different.append(question["question_family_index"])
    # One family of CLEVR, "is the color of … the same as …", asks both objects before it asks for either colour.
    assert different == [10] * other_order


def test_the_tokens_are_forty_functions_and_four_others() -> None:
    assert len(TOKENS) == 44 and TOKENS.words[:4] == SPECIAL and (NULL, START, END, UNK) == (0, 1, 2, 3)
    assert TOKENS.words[4:7] == ("count", "equal_color", "equal_integer")
    assert TOKENS.numbers["filter_color[red]"] == 17 and TOKENS.words[-1] == "unique"


def test_another_vocabulary_has_other_functions() -> None:
    pattern = Vocabulary((*CLEVR_VOCABULARY, Attribute("pattern", ("plain", "dotted"))))
    nodes = [SCENE, node("filter_pattern", 0, values=("dotted",)), node("count", 1)]
    assert repr(read_program(nodes, pattern)) == "count(filter[pattern,dotted](scene))"
    assert len(ProgramTokens(pattern)) == 49
    with pytest.raises(UserError, match="no function 'filter_pattern'"):
        read_program(nodes)


def test_older_files_and_shared_nodes_are_read() -> None:
    nodes = [
        {"type": "scene", "inputs": [], "_output": [0, 1]},
        {"type": "filter_color", "inputs": [0], "side_inputs": ["red"]},
        {"type": "count", "inputs": [1]},
        {"type": "equal_integer", "inputs": [2, 2], "extra": None},
    ]
    red = "count(filter[color,red](scene))"
    assert repr(read_program(nodes)) == f"equal_integer({red}, {red})"


COUNT = node("count", 0)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (None, "a program is a list"),
        ({"function": "scene"}, "a program is a list"),
        ([], "empty"),
        (["scene"], "node 0: a node is an object"),
        ([SCENE, {"inputs": [0]}], "node 1: the node has no function or type"),
        ([SCENE, {"function": "count"}], "node 1: the node has no inputs"),
        ([SCENE, node("conut", 0)], "node 1: there is no function 'conut'"),
        ([SCENE, node("filter_color", 0, values=("pink",)), COUNT], "node 1: filter_color takes one value of gray"),
        ([SCENE, node("filter_color", 0), COUNT], "node 1: filter_color takes one value of gray"),
        ([SCENE, node("relate", 0, values=("above",)), COUNT], "node 1: relate takes one value of left"),
        ([SCENE, node("count", 0, values=("red",))], "node 1: count takes no value"),
        ([SCENE, {**COUNT, "value_inputs": "red"}], "node 1: value_inputs is a list"),
        ([SCENE, {**COUNT, "value_inputs": [["red"]]}], "node 1: count takes no value"),
        ([SCENE, {**COUNT, "inputs": 0}], "node 1: inputs is a list"),
        ([SCENE, node("count", 1)], "node 1: the input 1 is not the number of an earlier node"),
        ([node("count", 1), SCENE], "node 0: the input 1"),
        ([SCENE, node("count", -1)], "node 1: the input -1"),
        ([SCENE, {**COUNT, "inputs": [False]}], "node 1: the input False"),
        ([SCENE, {**COUNT, "inputs": ["0"]}], "node 1: the input '0'"),
        ([SCENE, node("count")], "node 1: count takes 1 inputs, not 0"),
        ([SCENE, node("union", 0)], "node 1: union takes 2 inputs, not 1"),
        ([SCENE, node("query_size", 0)], "node 1: query_size takes object, not objects"),
        ([SCENE], "node 0: scene gives objects, which is no answer"),
        ([SCENE, *(node("union", i, i) for i in range(20)), node("count", 20)], f"at most {LONGEST} steps"),
    ],
)
def test_an_error_says_which_node_is_wrong(nodes: object, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_program(nodes)


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ([], "token 0: the program ends too early"),
        (["count"], "token 1: the program ends too early"),
        (["count", "scene", "scene"], "token 1: the program ends here, but 1 tokens follow"),
        (["count", "<UNK>"], "token 1: there is no function"),
        (["query_size", "scene"], "token 0: query_size takes object"),
        (["scene"], "no answer"),
    ],
)
def test_an_error_says_which_token_is_wrong(tokens: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        TOKENS.read(tokens)


def test_a_number_without_a_token_is_an_error() -> None:
    with pytest.raises(UserError, match="no token 44"):
        TOKENS.decode([START, 44, END])


leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["scene", "count", "red"])
)
anything = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)
functions = st.sampled_from(["scene", "count", "unique", "union", "filter_color", "relate", "query_color", "no"])
near_nodes = st.fixed_dictionaries(
    {"function": functions | anything, "inputs": st.lists(st.integers(-1, 6), max_size=2) | anything},
    optional={"value_inputs": st.lists(st.sampled_from(["red", "left"]), max_size=1) | anything},
)


@settings(deadline=None, max_examples=300)
@given(st.lists(near_nodes | anything, max_size=8) | anything)
def test_whatever_is_read_is_a_program_or_a_clear_error(nodes: object) -> None:
    try:
        term = read_program(nodes)
    except UserError as error:
        assert "\n" not in str(error)
    else:
        assert read_program(write_program(term)) is term


@settings(deadline=None, max_examples=200)
@given(st.lists(st.integers(-1, 45), max_size=12))
def test_any_numbers_are_a_program_or_a_clear_error(numbers: list[int]) -> None:
    try:
        term = TOKENS.decode(numbers)
    except UserError:
        return
    assert TOKENS.decode(TOKENS.encode(term)) is term
