"""Exams of splits that were made automatically: questions that hold pairs of words back, and who answers them.

The strong learner runs any program. The weak learner knows the programs without a held-out pair, and takes a new
question for the closest of them: those with the fewest symbols exchanged for others of their family and type. Where
none is close, it guesses among the answers of the type.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations, islice, product

import numpy as np

from recombine.benchmarks.clevr.answers import columns_of
from recombine.benchmarks.clevr.arrays import by_pairs
from recombine.benchmarks.clevr.exam import Ideal
from recombine.benchmarks.clevr.language import Dialect
from recombine.language.expr import Expr, Symbol, subterms
from recombine.tasks.exam import Exam
from recombine.tasks.examples import Examples
from recombine.tasks.made_splits import Items, MadeSplit, atoms_of, need_atoms
from recombine.world.scenes import Scenes

MOST_EXCHANGED = 2
MOST_HELD = 64
"""Programs that a question may be taken for."""
Answers = Callable[..., np.ndarray]


def items_of(train: Examples) -> Items:
    """The programs of training questions, each as often as it is asked."""
    programs, many = np.unique(train.concept, return_counts=True)
    concepts = [train.concepts[i] for i in programs]
    return Items(concepts, np.arange(len(concepts)), many.astype(np.float64), False)


def split_exam(exam: Exam, made: MadeSplit) -> Exam:
    """The same exam, with its training without the held-out pairs and its test of them alone."""
    by_pairs(made)

    @cache
    def train() -> Examples:
        return _side(exam.train(), made, False)

    def pieces() -> Iterator[Examples]:
        some = [one for one in (_side(piece, made, True) for piece in exam.pieces()) if len(one.scene)]
        asked = {one.concepts[i] for one in some for i in np.unique(one.concept)}
        need_atoms(made.name, train().concepts, asked)
        yield from some

    about = made.split()
    return replace(
        exam,
        name=made.name,
        train=train,
        pieces=pieces,
        key=exam.key / "made" / made.name,
        split=made.name,
        title=about.title,
        asked=None,
    )


def _side(examples: Examples, made: MadeSplit, tested: bool) -> Examples:
    """The questions of one side."""
    used = np.unique(examples.concept)
    held = np.zeros(len(examples.concepts), bool)
    held[used] = [made.holds_out(atoms_of(examples.concepts[i])) for i in used]
    kept = examples.rows(held[examples.concept] == tested)
    if tested:
        return kept
    programs, place = np.unique(kept.concept, return_inverse=True)
    return replace(kept, concepts=tuple(kept.concepts[i] for i in programs), concept=place.astype(np.int32))


@dataclass(frozen=True, eq=False)
class Known:
    """The programs that a learner knows who has never seen the held-out pairs."""

    made: MadeSplit
    dialect: Dialect

    def closest(self, program: Expr) -> tuple[Expr, ...]:
        """The known programs with the fewest symbols exchanged; the program itself where it is known."""
        if not self.made.holds_out(atoms_of(program)):
            return (program,)
        heads = [term.head for term in subterms(program)]
        words = {word for pair in self.made.pairs for word in pair}
        places = [i for i, head in enumerate(heads) if str(head) in words and self._others(head)]
        for many in range(1, MOST_EXCHANGED + 1):
            found = dict.fromkeys(
                other
                for chosen in combinations(places, many)
                for symbols in product(*(self._others(heads[i]) for i in chosen))
                if not self.made.holds_out(atoms_of(other := _exchanged(program, dict(zip(chosen, symbols)))))
            )
            if found:
                return tuple(islice(found, MOST_HELD))
        return ()

    def _others(self, symbol: Symbol) -> list[Symbol]:
        """What may stand in the place of a symbol: values of the same attribute, other relations."""
        return [
            other
            for other in self.dialect.signature.values()
            if other != symbol
            and (other.family, other.args, other.out) == (symbol.family, symbol.args, symbol.out)
            and other.index[:-1] == symbol.index[:-1]
        ]


def _exchanged(program: Expr, symbols: Mapping[int, Symbol]) -> Expr:
    """A program with other symbols at some places, counted as `subterms` gives them."""
    at = -1

    def build(term: Expr) -> Expr:
        nonlocal at
        at += 1
        head = symbols.get(at, term.head)
        return Expr(head, tuple(map(build, term.args)))

    return build(program)


def weak_answers(
    answers: Answers, known: Known, programs: Sequence[Expr], scenes: Scenes, scene: np.ndarray
) -> np.ndarray:
    """What the weak learner answers: its closest programs share the probability alike, float[questions, answers]."""
    closest = cache(known.closest)
    held = [closest(program) for program in programs]
    question = np.repeat(np.arange(len(programs)), [len(some) for some in held])
    first, sizes = columns_of(known.dialect), {kind: len(words) for kind, words in known.dialect.answers.items()}
    found = np.zeros((len(programs), sum(sizes.values())))
    if len(question):
        np.add.at(found, question, answers([one for some in held for one in some], scenes, scene[question]))
    for row in [row for row, some in enumerate(held) if not some]:
        kind = programs[row].head.out
        found[row, first[kind] : first[kind] + sizes[kind]] = 1
    return found / found.sum(axis=1, keepdims=True)


def split_learners(strong: Ideal, made: MadeSplit, dialect: Dialect) -> dict[str, Ideal]:
    """The strong and the weak learner of a split that was made."""
    return {
        "strong": strong,
        "weak": replace(strong, answers=partial(weak_answers, strong.answers, Known(made, dialect))),
    }
