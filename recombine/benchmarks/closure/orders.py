"""Weak learners of order k for CLOSURE: they recombine fragments of CLEVR's programs that are k levels deep.

A *fragment* of depth k is a function with what stands below it, k levels in all; descriptions do not count as a level,
and attributes, values and directions are not told apart. The learner of order k knows every program all of whose
fragments of that depth occur in CLEVR. Order 1 puts known functions together in any way their types allow, and knows
everything; the higher the order, the less is left to recombine, until only CLEVR's own shapes are. A question that a
learner does not know it takes for the closest programs that it knows, as `learners.py` does.

>>> from recombine.benchmarks.clevr.language import signature
>>> asked = signature().parse("exist(relate[left](unique(same[size](unique(filter[shape,cube](scene))))))")
>>> first_new(asked)
3
>>> closest_of_order(asked, 2) == (asked,), len(closest_of_order(asked, 3))
(True, 4)
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import product

import numpy as np

from recombine.benchmarks.clevr.answers import ANSWERS, Spelled, held_answers, spelled, strong_answers, term_of
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES
from recombine.benchmarks.clevr.language import ATTRIBUTES, DIRECTIONS, INTERSECT, UNION, relate, same
from recombine.benchmarks.closure.learners import GUESSES, _without_a_link
from recombine.language.expr import Expr, Symbol
from recombine.metrics.gap import Gap, gap
from recombine.metrics.intervals import Interval, bootstrap_of
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import Scenes

Tree = tuple[str, tuple["Tree", ...]]
"""A program without its descriptions: the family of a function, and what stands below it."""
CUT: Tree = ("…", ())
"""Stands for what is below a fragment."""

EXCHANGED: Mapping[str, tuple[Symbol, ...]] = {
    "relate": tuple(same(attribute) for attribute in ATTRIBUTES),
    "same": tuple(relate(direction) for direction in DIRECTIONS),
    "union": (INTERSECT,),
    "intersect": (UNION,),
}
"""What may stand in the place of a function: the others of its type."""


def tree_of(program: Expr) -> Tree:
    """A program, or the shape of a family, without its descriptions."""
    while program.head.family == "filter" or program.head.family[:1] == "D":
        (program,) = program.args
    return program.head.family, tuple(tree_of(arg) for arg in program.args)


def fragments(tree: Tree, depth: int) -> frozenset[Tree]:
    """The fragments of this depth, one for every function."""
    return frozenset(_cut(part, depth) for part in _parts(tree))


def _parts(tree: Tree) -> Iterator[Tree]:
    yield tree
    for part in tree[1]:
        yield from _parts(part)


def _cut(tree: Tree, depth: int) -> Tree:
    family, below = tree
    return (family, tuple(_cut(part, depth - 1) if depth > 1 else CUT for part in below))


def _depth(tree: Tree) -> int:
    return 1 + max(map(_depth, tree[1]), default=0)


@cache
def known_fragments(depth: int) -> frozenset[Tree]:
    """The fragments of this depth in CLEVR's families."""
    if depth < 1:
        raise UserError(f"fragments are at least 1 level deep, not {depth}")
    return frozenset(part for family in CLEVR_FAMILIES for part in fragments(tree_of(family.shape), depth))


@cache
def deepest() -> int:
    """The depth of CLEVR's deepest programs: beyond it, nothing changes any more."""
    return max(_depth(tree_of(family.shape)) for family in CLEVR_FAMILIES)


def knows(tree: Tree, order: int) -> bool:
    """Whether the learner of this order knows a program."""
    return fragments(tree, order) <= known_fragments(order)


def first_new(program: Expr) -> int | None:
    """The smallest order at which a program is new; None where it never is."""
    tree = tree_of(program)
    return next((order for order in range(1, deepest() + 2) if not knows(tree, order)), None)


def closest_of_order(program: Expr, order: int) -> tuple[Expr, ...]:
    """The programs that the learner of this order takes a program for; itself where it is known.

    As few functions as possible are exchanged for others of their type; where that does not help, one link may go.
    Empty where that does not help either.
    """
    return tuple(term_of(one) for one in _closest(program, order))


def _closest(program: Expr, order: int) -> list[Spelled]:
    _, found = _nearest(spelled(program), order)
    if found:
        return found
    shorter = [_nearest(spelled(other), order) for other in dict.fromkeys(_without_a_link(program))]
    reached = min((distance for distance, some in shorter if some), default=0)
    return list(dict.fromkeys(one for distance, some in shorter if distance == reached for one in some))


def _nearest(asked: Spelled, order: int) -> tuple[int, list[Spelled]]:
    """The known programs with the fewest functions exchanged, and how many these are."""
    distance, places = _exchanges(tuple((symbol.family, len(symbol.args)) for symbol in asked.symbols), order)
    found = []
    for some in places:
        options = (EXCHANGED[symbol.family] if i in some else (symbol,) for i, symbol in enumerate(asked.symbols))
        found += [Spelled(symbols, asked.filters) for symbols in product(*options)]
    return distance, found


@lru_cache(maxsize=1 << 14)
def _exchanges(functions: tuple[tuple[str, int], ...], order: int) -> tuple[int, tuple[frozenset[int], ...]]:
    """The fewest places of a program, inside out, whose exchange makes it known, in all ways; none where none does."""
    open_ = [i for i, (family, _) in enumerate(functions) if family in EXCHANGED]
    found: dict[int, list[frozenset[int]]] = {}
    for chosen in product((False, True), repeat=len(open_)):
        places = frozenset(i for i, here in zip(open_, chosen) if here)
        if knows(_tree(functions, places), order):
            found.setdefault(len(places), []).append(places)
    fewest = min(found, default=0)
    return fewest, tuple(found.get(fewest, ()))


def _tree(functions: Sequence[tuple[str, int]], exchanged: frozenset[int]) -> Tree:
    ends: list[Tree] = []
    for i, (family, arity) in enumerate(functions):
        first = len(ends) - arity
        ends[first:] = [(EXCHANGED[family][0].family if i in exchanged else family, tuple(ends[first:]))]
    return ends[0]


def order_answers(
    programs: Sequence[Expr],
    scenes: Scenes,
    scene: np.ndarray,
    order: int,
    related: Mapping[str, np.ndarray] | None = None,
    guesses: Mapping[str, tuple[str, ...]] = GUESSES,
) -> np.ndarray:
    """What the learner of this order answers, float[questions, ANSWERS]: its closest programs share the probability."""
    held = [_closest(program, order) for program in programs]
    return held_answers(held, programs, scenes, scene, related, guesses)


def order_scores(
    programs: Sequence[Expr],
    answers: Sequence[str],
    scenes: Scenes,
    scene: np.ndarray,
    orders: Sequence[int],
    related: Mapping[str, np.ndarray] | None = None,
) -> dict[str | int, np.ndarray]:
    """The probability of the right answers: of the strong learner, of a guess, and of the learner of each order."""
    right = np.array([ANSWERS.index(word) for word in answers])[:, None]
    said: dict[str | int, np.ndarray] = {"strong": strong_answers(programs, scenes, scene, related, GUESSES)}
    said |= {order: order_answers(programs, scenes, scene, order, related) for order in orders}
    found = {who: np.take_along_axis(table, right, axis=1)[:, 0] for who, table in said.items()}
    found["guess"] = np.array(
        [(word in GUESSES[p.head.out]) / len(GUESSES[p.head.out]) for p, word in zip(programs, answers)]
    )
    return found


def order_gaps(test: str, scores: Mapping[str | int, np.ndarray], key: Key) -> dict[int, tuple[Gap, Interval]]:
    """By order: the gap, and the gap as a share of what there is to lose, strong minus a guess, in percent."""
    strong, guess = scores["strong"], scores["guess"]
    found = {}
    for order, weak in scores.items():
        if isinstance(order, int):
            lost = gap(test, "accuracy", strong, weak, len(strong), key / "gap")
            found[order] = lost, normalised(strong, weak, guess, key / "normalised")
    return found


def normalised(strong: np.ndarray, weak: np.ndarray, guess: np.ndarray, key: Key) -> Interval:
    """What the weak learner loses of what the strong one has above a guess, in percent, with its interval over
    units."""

    def share(rows: np.ndarray) -> np.ndarray:
        return np.array([100 * (strong[rows] - weak[rows]).mean() / (strong[rows] - guess[rows]).mean()])

    (found,) = bootstrap_of(share, np.arange(len(strong)), key)
    return found
