"""What programs mean: the fast, the plain and the soft meaning agree, and examples explain them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.benchmarks.clevr.language import CLEVR_VOCABULARY, signature
from recombine.benchmarks.clevr.meaning import (
    UNDEFINED,
    Beliefs,
    Exact,
    Plainly,
    Soft,
    Undefined,
    answer_text,
    execute,
    soft_execute,
    trace,
)
from recombine.benchmarks.clevr.relations import all_beyond
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.language.expr import Expr
from recombine.semantics.fold import Plan, fold, method
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.distribution import Uniform
from recombine.world.scenes import Scenes

SIGNATURE = signature()
ANSWERS = ("bool", "number", *(a.name for a in CLEVR_VOCABULARY))
MAKERS = {kind: [s for s in SIGNATURE.values() if s.out == kind] for kind in {s.out for s in SIGNATURE.values()}}
SHALLOW = {kind: [s for s in symbols if len(s.args) < 2] for kind, symbols in MAKERS.items()}


def drawn(kind: str, depth: int, rng: np.random.Generator) -> Expr:
    """A random term of a type; near the ground there are few branches."""
    if depth <= 0 and kind == "objects":
        return Expr(SIGNATURE["scene"])
    symbols = (SHALLOW if depth <= 0 else MAKERS)[kind] or MAKERS[kind]
    symbol = symbols[rng.integers(len(symbols))]
    return Expr(symbol, tuple(drawn(arg, depth - 1, rng) for arg in symbol.args))


def program(seed: int) -> Expr:
    rng = np.random.default_rng(seed)
    return drawn(str(rng.choice(ANSWERS)), int(rng.integers(1, 7)), rng)


def scattered(seed: int, high: int = 10) -> Scenes:
    """Scenes of few or many objects anywhere: `unique` often succeeds and often fails."""
    scenes = Uniform(CLEVR_VOCABULARY, 0, high).sample(12, Key(seed))
    scenes.position[:] = np.random.default_rng(seed).uniform(-2, 2, scenes.position.shape)
    return scenes


def plainly(term: Expr, scenes: Scenes, i: int) -> str | None:
    try:
        return answer_text(term.head.out, fold(term, Plainly.of(scenes, i), {}))
    except Undefined:
        return None


def in_words(term: Expr, answer: int) -> str | None:
    return None if answer == UNDEFINED else answer_text(term.head.out, answer)


programs = st.lists(st.integers(0, 2**32).map(program), min_size=1, max_size=12)


@settings(deadline=None, max_examples=60)
@given(programs, st.integers(0, 10**6), st.sampled_from([2, 8, 10, 20]))
def test_the_fast_meaning_equals_the_plain_one(terms: list[Expr], seed: int, high: int) -> None:
    scenes = scattered(seed, high)
    answers = execute(terms, scenes, chunk=5)
    for term, row in zip(terms, answers):
        assert [in_words(term, answer) for answer in row] == [plainly(term, scenes, i) for i in range(12)], term


def test_random_programs_are_defined_now_and_then() -> None:
    answers = execute([program(seed) for seed in range(300)], scattered(1, 4))
    assert 0.1 < (answers == UNDEFINED).mean() < 0.95


@settings(deadline=None, max_examples=60)
@given(programs, st.integers(0, 10**6))
def test_certain_beliefs_give_exact_answers(terms: list[Expr], seed: int) -> None:
    scenes = scattered(seed, 6)
    for term, exact, soft in zip(terms, execute(terms, scenes), soft_execute(terms, Beliefs.certain(scenes))):
        defined = exact != UNDEFINED
        np.testing.assert_array_equal(soft[defined], exact[defined], err_msg=repr(term))


def test_every_symbol_has_every_meaning() -> None:
    scenes = scattered(1)
    for meaning in (Exact(scenes), Plainly.of(scenes, 0), Soft(Beliefs.certain(scenes))):
        assert all(callable(method(meaning, symbol.family)) for symbol in SIGNATURE.values())


def test_exact_values_are_small() -> None:
    scenes = ClevrWorld().sample(20, Key(1))
    terms = [SIGNATURE.parse(t) for t in ("unique(scene)", "scene", "count(scene)", "query[color](unique(scene))")]
    kinds = {repr(terms[i]): known.value.dtype for i, known in Plan(terms).run(Exact(scenes))}
    assert [str(kinds[repr(term)]) for term in terms] == ["uint8", "uint16", "uint8", "uint8"]


def test_repeated_programs_are_answered_each_time() -> None:
    scenes, term = scattered(2), program(3)
    answers = execute([term, program(4), term], scenes)
    np.testing.assert_array_equal(answers[0], answers[2])


def test_a_set_of_objects_is_no_answer() -> None:
    with pytest.raises(UserError, match="no answer"):
        execute([SIGNATURE.parse("scene")], scattered(1))


# ---- One scene, in words: three objects in a row from left to right, along the direction "right". ----

ROW = Plainly(
    [
        {"size": "small", "color": "red", "material": "metal", "shape": "cube"},
        {"size": "large", "color": "red", "material": "rubber", "shape": "sphere"},
        {"size": "small", "color": "blue", "material": "metal", "shape": "cube"},
    ],
    {"left": [[], [0], [0, 1]], "right": [[1, 2], [2], []], "front": [[], [], []], "behind": [[], [], []]},
)
BLUE = "unique(filter[color,blue](scene))"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("count(scene)", "3"),
        ("exist(filter[color,green](scene))", "no"),
        (f"query[shape]({BLUE})", "cube"),
        (f"count(relate[left]({BLUE}))", "2"),
        (f"count(same[shape]({BLUE}))", "1"),
        (f"exist(same[color]({BLUE}))", "no"),
        (f"count(union(same[shape]({BLUE}), relate[left]({BLUE})))", "2"),
        (f"count(intersect(same[shape]({BLUE}), relate[left]({BLUE})))", "1"),
        ("less_than(count(filter[color,blue](scene)), count(filter[color,red](scene)))", "yes"),
        ("greater_than(count(filter[color,blue](scene)), count(filter[color,red](scene)))", "no"),
        ("equal_integer(count(scene), count(scene))", "yes"),
        (f"equal[size](query[size]({BLUE}), query[size](unique(filter[shape,sphere](scene))))", "no"),
    ],
)
def test_programs_in_words(text: str, answer: str) -> None:
    term = SIGNATURE.parse(text)
    assert answer_text(term.head.out, fold(term, ROW, {})) == answer


@pytest.mark.parametrize("color", ["red", "green"])
def test_unique_wants_exactly_one(color: str) -> None:
    with pytest.raises(Undefined, match="2 objects" if color == "red" else "0 objects"):
        fold(SIGNATURE.parse(f"query[size](unique(filter[color,{color}](scene)))"), ROW, {})


def test_a_trace_shows_every_step_in_order() -> None:
    steps = trace(SIGNATURE.parse(f"count(same[shape]({BLUE}))"), ROW)
    assert [(step.symbol, step.objects) for step in steps] == [
        ("scene", (0, 1, 2)),
        ("filter[color,blue]", (2,)),
        ("unique", (2,)),
        ("same[shape]", (0,)),
        ("count", ()),
    ]
    assert steps[-1].value == 1


def test_a_trace_ends_where_unique_fails() -> None:
    steps = trace(SIGNATURE.parse("query[size](unique(filter[color,red](scene)))"), ROW)
    assert [step.value for step in steps] == [{0, 1, 2}, {0, 1}, None, None]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32), st.integers(0, 100))
def test_the_last_step_of_a_trace_is_the_answer(seed: int, scene: int) -> None:
    term, scenes = program(seed), scattered(scene, 3)
    last = trace(term, Plainly.of(scenes, 0))[-1]
    assert plainly(term, scenes, 0) == (None if last.value is None else answer_text(term.head.out, last.value))


def test_relations_may_be_given() -> None:
    scenes, term = scattered(5), SIGNATURE.parse("exist(relate[left](unique(scene)))")
    everyone = {way: np.broadcast_to(scenes.present[:, None], masks.shape) for way, masks in all_beyond(scenes).items()}
    answers = execute([term], scenes, everyone, chunk=5)[0]
    np.testing.assert_array_equal(answers == 1, scenes.count == 1)


# ---- Soft ----


def believing(**values: list[list[float]]) -> Soft:
    """Beliefs of one scene with two objects, 20 pixels apart from left to right."""
    given_values = {name: np.array([rows]) for name, rows in values.items()}
    pixel = np.array([[[100.0, 50.0], [120.0, 50.0]]])
    return Soft(Beliefs.seen(CLEVR_VOCABULARY, np.ones((1, 2)), given_values, pixel))


def test_filters_multiply_and_union_and_intersection_are_independent() -> None:
    soft = believing(size=[[0.9, 0.1], [0.5, 0.5]], material=[[0.5, 0.5], [1.0, 0.0]])
    small, rubber = (soft.filter(soft.scene(), *words) for words in (("size", "small"), ("material", "rubber")))
    np.testing.assert_allclose(soft.filter(small, "material", "rubber"), [[0.45, 0.5]])
    np.testing.assert_allclose(soft.intersect(small, rubber), [[0.45, 0.5]])
    np.testing.assert_allclose(soft.union(small, rubber), [[0.95, 1.0]])
    assert soft.count(small) == 1 and soft.exist(small) and not soft.exist(soft.intersect(small, rubber))


def test_unique_shares_attention_and_survives_nothing() -> None:
    soft = believing(size=[[0.9, 0.1], [0.3, 0.7]])
    np.testing.assert_allclose(soft.unique(soft.filter(soft.scene(), "size", "small")), [[0.75, 0.25]])
    np.testing.assert_array_equal(soft.unique(np.zeros((1, 2))), [[0, 0]])


def test_relations_are_a_sigmoid_of_pixels() -> None:
    soft = believing()
    first = np.array([[1.0, 0.0]])
    sigmoid = [1 / (1 + np.exp(-0.02 * pixels)) for pixels in (40.0, 0.0, 20.0)]
    for way, expected in zip(("right", "left", "front"), sigmoid):
        np.testing.assert_allclose(soft.relate(first, way), [[0, expected]])


def test_same_is_the_cosine_of_two_beliefs() -> None:
    soft = believing(size=[[0.6, 0.8], [0.8, 0.6]])
    np.testing.assert_allclose(soft.same(np.array([[1.0, 0.0]]), "size"), [[0, 0.96]])
    assert soft.query(np.array([[0.2, 0.8]]), "size") == 0


def test_answers_in_words() -> None:
    assert answer_text("material", "metal") == "metal" and answer_text("shape", np.uint8(2)) == "cylinder"
    assert answer_text("bool", np.False_) == "no" and answer_text("number", np.uint8(10)) == "10"
