"""Folding: a plan gives every term the value that `fold` gives it, computes each part once, and forgets in time."""

import weakref
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.language.expr import Expr, Symbol, subterms
from recombine.semantics.fold import Plan, fold, method

LAW = settings(deadline=None, max_examples=80)
LEAVES = [Expr(Symbol("number", (digit,), (), "int")) for digit in "123"]
PLUS, NOT = Symbol("plus", (), ("int", "int"), "int"), Symbol("not", (), ("int",), "int")
TIMES = Symbol("times", ("7",), ("int",), "int")

terms = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: (
        st.tuples(inner, inner).map(lambda args: Expr(PLUS, args))
        | st.tuples(st.sampled_from([NOT, TIMES]), inner).map(lambda made: Expr(made[0], (made[1],)))
    ),
    max_leaves=10,
)
term_lists = st.lists(terms, min_size=1, max_size=12, unique=True)


class Numbers:
    """Terms as integers."""

    def number(self, digit: str) -> int:
        return int(digit)

    def plus(self, a: int, b: int) -> int:
        return 2 * a + b  # unlike a sum, it tells its arguments apart

    def not_(self, a: int) -> int:
        return -a

    def times(self, a: int, factor: str) -> int:
        return a * int(factor) % 1009


class Value:
    """A term's text, in an object that can be watched."""

    def __init__(self, text: str, alive: weakref.WeakSet) -> None:
        self.text = text
        alive.add(self)


class Texts:
    """Terms as their texts; knows what was made, and what of it is still alive."""

    def __init__(self) -> None:
        self.made: list[str] = []
        self.alive: weakref.WeakSet[Value] = weakref.WeakSet()

    def _make(self, text: str) -> Value:
        self.made.append(text)
        return Value(text, self.alive)

    def number(self, digit: str) -> Value:
        return self._make(f"number[{digit}]")

    def plus(self, a: Value, b: Value) -> Value:
        return self._make(f"plus({a.text}, {b.text})")

    def not_(self, a: Value) -> Value:
        return self._make(f"not({a.text})")

    def times(self, a: Value, factor: str) -> Value:
        return self._make(f"times[{factor}]({a.text})")


@LAW
@given(term_lists)
def test_a_plan_gives_the_values_of_fold(several: list[Expr]) -> None:
    planned = dict(Plan(several).run(Numbers()))
    memo: dict[Expr, int] = {}
    assert planned == {i: fold(term, Numbers(), memo) for i, term in enumerate(several)}


@LAW
@given(term_lists)
def test_a_plan_computes_each_part_once_and_yields_each_term_once(several: list[Expr]) -> None:
    meaning = Texts()
    yielded = Counter(i for i, _ in Plan(several).run(meaning))
    assert Counter(meaning.made) == Counter({repr(part) for term in several for part in subterms(term)})
    assert yielded == Counter(range(len(several)))


@LAW
@given(term_lists)
def test_a_value_is_forgotten_after_its_last_use(several: list[Expr]) -> None:
    meaning, parts = Texts(), {part for term in several for part in subterms(term)}
    running = Plan(several).run(meaning)
    for i, _ in running:
        to_come = [part for part in parts if repr(part) not in meaning.made]
        needed = {repr(arg) for part in to_come for arg in part.args} & set(meaning.made)
        assert {value.text for value in meaning.alive} == needed | {repr(several[i])}
    del _, running
    assert not meaning.alive


@LAW
@given(terms)
def test_fold_remembers_every_part(term: Expr) -> None:
    memo: dict[Expr, int] = {}
    fold(term, Numbers(), memo)
    assert memo.keys() == set(subterms(term))
    assert fold(term, None, memo) == memo[term]  # nothing is left to ask the meaning


def test_a_plan_runs_twice() -> None:
    plan = Plan([Expr(NOT, (LEAVES[2],)), LEAVES[2]])
    assert dict(plan.run(Numbers())) == dict(plan.run(Numbers())) == {0: -3, 1: 3}


def test_a_family_that_is_a_keyword_has_a_method_with_a_bar() -> None:
    assert method(Numbers(), "not")(4) == -4
    assert method(Numbers(), "times")(2, "7") == 14


def test_a_family_without_a_method_is_named() -> None:
    with pytest.raises(AttributeError, match="minus"):
        fold(Expr(Symbol("minus", (), (), "int")), Numbers(), {})
