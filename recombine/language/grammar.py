"""Grammars: weighted rules that make typed terms, up to a number of levels.

There are two ways to the same distribution. `draw` makes one term as the CURI paper does: expand from the start; a
node below the last level fails, and so does a node that `dull` rejects; a failed child is drawn again, up to `tries`
times in all, then its parent fails. `enumerate` lists every term with the exact probability that `draw` returns it,
so that two million draws are one multinomial.

A term's own log-probability is another thing: the plain sum of the logs of its rules' weights, with no correction for
failures. It serves as a prior.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from recombine.language.expr import Expr, Symbol
from recombine.store.errors import UserError

LARGEST = 3_000_000
"""Languages with more terms than this are drawn from, not enumerated."""


@dataclass(frozen=True)
class Rule:
    """`left -> head(children)` with a weight relative to the other rules of `left`."""

    left: str
    weight: float
    head: Symbol
    children: tuple[str, ...] = ()


class Derived(NamedTuple):
    """A term, the log of its rules' weights, and the probability that one try makes it."""

    term: Expr
    log_prob: float
    chance: float


@dataclass(frozen=True, eq=False)
class Language:
    """Every term of a grammar, with its log-probability and the exact probability of drawing it."""

    terms: tuple[Expr, ...]
    log_prob: np.ndarray  # float[terms]
    chance: np.ndarray  # float[terms], sums to 1

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """How often each term comes up in n draws, int[terms]."""
        return rng.multinomial(n, self.chance)


def never(head: Symbol, args: tuple[Expr, ...]) -> bool:
    """No node is dull."""
    return False


@dataclass(frozen=True)
class Grammar:
    """Weighted rules, the number of levels they may fill, and what is too dull to keep."""

    start: str
    rules: tuple[Rule, ...]
    levels: int
    tries: int = 12
    dull: Callable[[Symbol, tuple[Expr, ...]], bool] = never

    @cached_property
    def choices(self) -> dict[str, tuple[tuple[Rule, float], ...]]:
        """For every nonterminal its rules with their probabilities."""
        totals: dict[str, float] = {}
        for rule in self.rules:
            totals[rule.left] = totals.get(rule.left, 0.0) + rule.weight
        return {
            left: tuple((rule, rule.weight / total) for rule in self.rules if rule.left == left)
            for left, total in totals.items()
        }

    def enumerate(self) -> Language:
        """Every term, with its exact probability of being drawn."""
        derived = list(self._derive(self.start, 0, {}))
        chance = np.array([d.chance for d in derived])
        return Language(tuple(d.term for d in derived), np.array([d.log_prob for d in derived]), chance / chance.sum())

    def _derive(self, left: str, level: int, memo: dict[tuple[str, int], list[Derived]]) -> list[Derived]:
        if level >= self.levels:
            return []
        if (left, level) not in memo:
            memo[left, level] = [
                found for rule, share in self.choices[left] for found in self._expand(rule, share, level, memo)
            ]
        return memo[left, level]

    def _expand(
        self, rule: Rule, share: float, level: int, memo: dict[tuple[str, int], list[Derived]]
    ) -> Iterator[Derived]:
        options = [self._derive(child, level + 1, memo) for child in rule.children]
        if math.prod(map(len, options)) > LARGEST:
            raise UserError(
                f"with {self.levels} levels the grammar has more than the {LARGEST:,} terms that can be listed; "
                "allow fewer levels, or draw terms one by one"
            )
        again = math.prod(self._again(sum(d.chance for d in option)) for option in options)
        for chosen in product(*options):
            args = tuple(d.term for d in chosen)
            if not self.dull(rule.head, args):
                yield Derived(
                    Expr(rule.head, args),
                    math.log(share) + sum(d.log_prob for d in chosen),
                    share * again * math.prod(d.chance for d in chosen),
                )

    def _again(self, success: float) -> float:
        """What up to `tries` tries make of the chance of one: 1 + f + f^2 + ... for a failure rate f."""
        fails = max(0.0, 1.0 - success)
        return float(self.tries) if fails == 1.0 else (1.0 - fails**self.tries) / (1.0 - fails)

    def draw(self, rng: np.random.Generator) -> Expr:
        """One term, drawn as described above; a start that fails is drawn again."""
        for _ in range(10_000):
            term = self._draw(self.start, 0, rng)
            if term is not None:
                return term
        raise UserError(f"no term was found in 10,000 draws; are {self.levels} levels enough for this grammar?")

    def _draw(self, left: str, level: int, rng: np.random.Generator) -> Expr | None:
        if level >= self.levels:
            return None
        rule = self._choose(left, rng)
        args: list[Expr] = []
        for child in rule.children:
            made = (self._draw(child, level + 1, rng) for _ in range(self.tries))
            arg = next((term for term in made if term is not None), None)
            if arg is None:
                return None
            args.append(arg)
        return None if self.dull(rule.head, tuple(args)) else Expr(rule.head, tuple(args))

    def _choose(self, left: str, rng: np.random.Generator) -> Rule:
        point = rng.random()
        for rule, share in self.choices[left]:
            point -= share
            if point < 0:
                return rule
        return self.choices[left][-1][0]

    def log_probability(self, term: Expr, left: str = "") -> float:
        """The sum of the logs of the rules' weights; -inf where no rule makes the term."""
        for rule, share in self.choices[left or self.start]:
            if rule.head is term.head or rule.head == term.head:
                parts = (self.log_probability(arg, child) for arg, child in zip(term.args, rule.children))
                return math.log(share) + sum(parts)
        return -math.inf
