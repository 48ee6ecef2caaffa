"""Splits made automatically: combinations are held out, and every atom of the test is among those of the training.

An *atom* is a word of the language: a symbol, or what a benchmark calls it; symbols that say nothing do not count. A
*compound* is a pair of atoms that occur in one concept, as in CURI's own splits. Between two sides, the divergence of
atoms is 1 - sum(p^0.5 q^0.5), that of compounds 1 - sum(p^0.1 q^0.9), where p and q are their shares on the training
and on the test side (Keysers et al. 2020, section 3): a good split has hardly any of the first, at most 0.02, and much
of the second.

| how        | what is held out                                                                                |
|------------|-------------------------------------------------------------------------------------------------|
| mcd        | what makes compounds diverge much while atoms do not: a search from several starts, no maximum  |
| orthotopic | a box: half of the values of one attribute together with half of the values of another          |
| pairwise   | pairs of atoms, drawn by lot                                                                    |

A split is data: the pairs of atoms that no training concept has both of, or, where the concepts are listed, the two
sides. It is written as JSON and read back.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from recombine.language.expr import Expr, Symbol, subterms
from recombine.language.query import Where
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.outputs import free_file, write_file
from recombine.store.paths import plain_name
from recombine.store.untrusted import read_json
from recombine.tasks.splits import Split

HOWS = ("mcd", "orthotopic", "pairwise")
FORMAT = 1
MOST_ATOMS = 0.02
"""The divergence of atoms that a split of maximum compound divergence may have."""
ATOM_ALPHA, COMPOUND_ALPHA = 0.5, 0.1
ROUNDS = 600
STARTS = 10
"""Lots at which the search for sides begins."""
BOUNDS = (10, 5, 2.5, 1.5, 0.98)
"""Times the bound on atoms that the search keeps, one after the other."""
PRICES = (0.0, 1.0, 3.0, 10.0, 30.0)
"""What a growing divergence of atoms costs against one of compounds; all are tried."""
MOST_PAIRS = 200
"""Pairs of atoms that are weighed against each other."""
FEW_SENSES = 500
"""Up to so many, sides are improved by all single exchanges that are promising too."""
WEIGHED = 10**6
"""Exchanges times compounds that are weighed at once."""
TINY = 1e-9
EXCHANGES, EXCHANGED = 30, 100
"""How often pairs are exchanged, and how many exchanges are tried each time."""
MOST_ITEMS = 2_000
"""Items by which pairs are chosen; the measures are of all."""
HALVES = 20
"""How often halves are drawn, where no box of the first ones leaves every atom to training."""
ADVICE = "make it again with `recombine split`"


Word = Callable[[Symbol], str | None]
"""What a symbol is called as an atom; nothing where it says nothing."""


class Items(NamedTuple):
    """What is to be split: concepts, which of them mean the same, and how often each is asked."""

    concepts: Sequence[Expr]
    sense: np.ndarray  # int[items]
    weight: np.ndarray  # float[items]
    listed: bool
    """Whether these are all concepts there are, so that a side can be a list of them."""
    word: Word = str
    most_atoms: float = MOST_ATOMS
    """The divergence of atoms that mcd may have."""


def atoms_of(concept: Expr, word: Word = str) -> frozenset[str]:
    """The words of a concept."""
    return frozenset(said for term in subterms(concept) if (said := word(term.head)))


def compounds_of(concept: Expr, word: Word = str) -> frozenset[str]:
    """The pairs of different words that occur together."""
    return frozenset(f"{one} + {other}" for one, other in combinations(sorted(atoms_of(concept, word)), 2))


class Counts(NamedTuple):
    """How often items have each of some names, as a sparse table."""

    names: tuple[str, ...]
    item: np.ndarray  # int[entries]
    column: np.ndarray  # int[entries]
    value: np.ndarray  # float[entries]

    @classmethod
    def of(cls, found: Sequence[Collection[str]], block: np.ndarray, weight: np.ndarray) -> Self:
        """Items are added up in blocks, each by its weight."""
        names = tuple(sorted({name for one in found for name in one}))
        place = {name: i for i, name in enumerate(names)}
        rows = [(block[i], place[name], weight[i]) for i, one in enumerate(found) for name in one]
        item, column, value = (np.array(some) for some in zip(*rows))
        return cls(names, item.astype(np.int64), column.astype(np.int64), value.astype(np.float64))

    def total(self, of: np.ndarray) -> np.ndarray:
        """How often each name occurs in the chosen items, float[names]."""
        return np.bincount(self.column, self.value * of[self.item], len(self.names))

    def dense(self, items: np.ndarray) -> np.ndarray:
        """The rows of some items, float[items, names]."""
        found = np.zeros((len(items), len(self.names)))
        place = np.full(int(self.item.max()) + 1, -1)
        place[items] = np.arange(len(items))
        mine = place[self.item] >= 0
        np.add.at(found, (place[self.item[mine]], self.column[mine]), self.value[mine])
        return found

    def scored(self, worth: np.ndarray, items: int) -> np.ndarray:
        """The sum of what its names are worth, for each item."""
        return np.bincount(self.item, self.value * worth[self.column], items)


def divergence(train: np.ndarray, test: np.ndarray, alpha: float) -> float:
    """1 minus the Chernoff coefficient of two distributions, given by counts.

    >>> divergence(np.array([4, 0]), np.array([0, 4]), 0.1)
    1.0
    """
    p, q = train / max(train.sum(), 1e-300), test / max(test.sum(), 1e-300)
    return float(max(0.0, 1 - np.sum(p**alpha * q ** (1 - alpha))))


@dataclass(frozen=True, eq=False)
class MadeSplit:
    """A split as data, and what was measured of it."""

    name: str
    how: str
    benchmark: str
    pairs: tuple[tuple[str, str], ...] = ()
    train: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    """The concepts of each side, where they are listed."""
    measured: Mapping[str, float] = field(default_factory=dict)
    word: Word = str

    def holds_out(self, atoms: Collection[str]) -> bool:
        """Whether both atoms of a pair are there."""
        return any(one in atoms and other in atoms for one, other in self.pairs)

    def split(self) -> Split:
        """Its two sides as predicates."""
        if self.pairs:
            some = "; ".join(f"{one} with {other}" for one, other in self.pairs[:3])
            text = f"has {some}{' ...' if len(self.pairs) > 3 else ''}"
            test = Where(text, lambda concept: self.holds_out(atoms_of(concept, self.word)))
            return Split(self.name, self.name, f"{self.how}: {text}", ~test, test)
        train, test = map(_listed, (self.train, self.test))
        return Split(self.name, self.name, f"{self.how}: {len(self.test):,} listed concepts", train, test)

    def plain(self) -> dict[str, Any]:
        sides = (
            {"pairs": [list(pair) for pair in self.pairs]} if self.pairs else {"train": self.train, "test": self.test}
        )
        return {
            "recombine_split": FORMAT,
            "name": self.name,
            "how": self.how,
            "benchmark": self.benchmark,
            "measured": dict(self.measured),
            **sides,
        }

    def write(self, file: str | Path) -> Path:
        """As JSON."""
        write_file(free_file(file, (".json",)), json.dumps(self.plain(), indent=1) + "\n")
        return Path(file)


def _listed(concepts: Collection[str]) -> Where:
    side = frozenset(concepts)
    return Where(f"is one of {len(side):,} listed concepts", lambda concept: repr(concept) in side)


def read_split(file: str | Path, benchmark: str, word: Word = str) -> MadeSplit:
    """A split that was written, or that somebody wrote by hand."""
    if not Path(file).is_file():
        raise UserError(f"there is no split and no file '{file}'; {ADVICE}")
    said = read_json(file, advice=ADVICE)
    if said.get("recombine_split") != FORMAT:
        raise UserError(f"{file} is no split of this version of recombine; {ADVICE}")
    if said.get("benchmark") != benchmark:
        raise UserError(f"{file} is a split of {said.get('benchmark')!s:.40}, not of {benchmark}; {ADVICE}")
    pairs, sides = said.get("pairs", []), [said.get("train", []), said.get("test", [])]
    fine = (
        all(isinstance(some, list) for some in (pairs, *sides))
        and all(isinstance(pair, list) and len(pair) == 2 and all(isinstance(a, str) for a in pair) for pair in pairs)
        and all(isinstance(concept, str) for side in sides for concept in side)
        and bool(pairs) != bool(sides[0] and sides[1])
    )
    if not fine:
        raise UserError(f"{file} must hold either pairs of atoms, or the concepts of train and test; {ADVICE}")
    if twice := set(sides[0]) & set(sides[1]):
        raise UserError(f"{file}: {min(twice)} is on both sides; leave it on one")
    name = plain_name(said.get("name", Path(file).stem))
    train, test = map(tuple, sides)
    return MadeSplit(name, str(said.get("how", "own")), benchmark, tuple(map(tuple, pairs)), train, test, {}, word)


def is_file(name: str) -> bool:
    """Whether a split is given as a file."""
    return str(name).endswith(".json")


def need_atoms(name: str, train: Collection[Expr], test: Collection[Expr], word: Word = str) -> None:
    """Refuse a split whose test has atoms that training never shows."""
    for side, some in (("training", train), ("test", test)):
        if not some:
            raise UserError(f"split '{name}' has no concepts on its {side} side; hold out other combinations")
    known = {atom for concept in train for atom in atoms_of(concept, word)}
    missing = sorted({atom for concept in test for atom in atoms_of(concept, word)} - known)
    if missing:
        raise UserError(
            f"split '{name}' has {missing[0]} on the test side and nowhere on the training side, so nobody could learn "
            "it; hold out combinations of it, not the atom itself"
        )


# --- making them ----------------------------------------------------------------------------------------------------


def check_wish(how: str, share: float, target: float | None, atoms: float = MOST_ATOMS) -> None:
    """Refuse what cannot be made, before any work is done."""
    if how not in HOWS:
        raise UserError(f"there is no way '{how}' to make a split; choose one of {', '.join(HOWS)}")
    if not 0 < share <= 0.5:
        raise UserError(f"share is the part that is tested, between 0 and 0.5, not {share:g}")
    if target is not None and (how != "mcd" or not 0 <= target < 1):
        raise UserError("divergence is for mcd, at least 0 and below 1; leave it out for the largest")
    if not 0 <= atoms <= 1:
        raise UserError(f"atoms is the divergence of atoms that is allowed, from 0 to 1, not {atoms:g}")


def make_split(
    items: Items, how: str, name: str, benchmark: str, key: Key, share: float = 0.2, target: float | None = None
) -> MadeSplit:
    """A split of some concepts; about this share of them is tested, and mcd stops at a divergence if one is given."""
    check_wish(how, share, target)
    if len(items.concepts) < 10:
        raise UserError(f"{len(items.concepts)} concepts are too few to be split; give at least 10")
    pairs: tuple[tuple[str, str], ...] = ()
    if how == "mcd" and items.listed:
        tested = _most_divergent(items, key, share, target)
    else:
        pairs = {"mcd": _divergent_pairs, "orthotopic": _box, "pairwise": _pairs_by_lot}[how](items, key, share, target)
        made = MadeSplit(name, how, benchmark, pairs)
        tested = np.array([made.holds_out(atoms_of(concept, items.word)) for concept in items.concepts])
    if not tested.any() or tested.all():
        raise UserError(f"no combinations of these concepts can be held out by {how} while all atoms stay; try another")
    sides = [[repr(c) for c, yes in zip(items.concepts, tested) if yes == side] for side in (False, True)]
    train, test = ((), ()) if pairs else (tuple(sides[0]), tuple(sides[1]))
    return MadeSplit(name, how, benchmark, pairs, train, test, measures(items, tested), items.word)


def measures(items: Items, tested: np.ndarray) -> dict[str, float]:
    """What there is to know of two sides, bool[items]: divergences, how much is tested, new compounds, leaks."""
    atoms, compounds = _counted(items, np.arange(len(items.concepts)))
    sides = [(~tested).astype(np.float64), tested.astype(np.float64)]
    (atoms_train, atoms_test), (train, test) = ([one.total(side) for side in sides] for one in (atoms, compounds))
    trained = np.zeros(int(items.sense.max()) + 1, bool)
    trained[items.sense[~tested]] = True
    return {
        "atom divergence": round(divergence(atoms_train, atoms_test, ATOM_ALPHA), 6),
        "compound divergence": round(divergence(train, test, COMPOUND_ALPHA), 6),
        "tested": round(float(items.weight[tested].sum() / items.weight.sum()), 6),
        "concepts tested": int(tested.sum()),
        "new compounds": int(((test > 0) & (train == 0)).sum()),
        "atoms only tested": int(((atoms_test > 0) & (atoms_train == 0)).sum()),
        "leaks": int((trained[items.sense] & tested).sum()),
    }


def _counted(items: Items, block: np.ndarray) -> tuple[Counts, Counts]:
    return tuple(  # type: ignore[return-value]
        Counts.of([what(concept, items.word) for concept in items.concepts], block, items.weight)
        for what in (atoms_of, compounds_of)
    )


def _most_divergent(items: Items, key: Key, share: float, target: float | None) -> np.ndarray:
    """Which concepts are tested: synonyms stay together, and sides are swapped as long as that helps.

    The search begins at several lots and tightens the bound on atoms step by step; few senses are then exchanged one by
    one. The best that keeps the bound is taken: a large divergence, not a proven maximum.
    """
    _, block = np.unique(items.sense, return_inverse=True)
    atoms, compounds = _counted(items, block)
    size, most = np.bincount(block, items.weight), items.most_atoms
    found = []
    for lot in range(STARTS):
        rank = (key / "order" / lot).rng().permutation(len(size))
        tested = np.zeros(len(size), bool)
        tested[rank] = np.cumsum(size[rank]) <= share * size.sum()
        for bound in BOUNDS:
            tested = _refined(tested, size, rank, atoms, compounds, bound * most, share, target)
        found.append(_with_all_atoms(tested, atoms))
    if target is None and len(size) <= FEW_SENSES:
        found = [_exchanged(one, size, atoms, compounds, most, share) if one.any() else one for one in found]
    worth = [_worth(one, atoms, compounds, most, target) for one in found]
    best = max(range(len(found)), key=lambda i: (found[i].any(), worth[i][1] <= most, worth[i][0]))
    return found[best][block]


def _exchanged(
    tested: np.ndarray, size: np.ndarray, atoms: Counts, compounds: Counts, most: float, share: float
) -> np.ndarray:
    """Sides after single blocks went over or were exchanged, as long as that helps and every atom stays trained."""
    whole = [one.total(np.ones(len(size))) for one in (atoms, compounds)]
    best, there, _ = _worth(tested, atoms, compounds, most, None)
    bound = max(most, there)
    for _ in range(EXCHANGED):
        test = tested.astype(np.float64)
        out, come = _promising(tested, atoms, compounds)
        sizes = (size[tested].sum() - np.append(size[out], 0)[:, None] + np.append(size[come], 0)) / size.sum()
        sides = []
        for one in (atoms, compounds):
            gone, added = (np.vstack([one.dense(some), np.zeros(len(one.names))]) for some in (out, come))
            sides.append(np.maximum(0, one.total(test) - gone[:, None] + added[None]))
        of_atoms, of_compounds = (
            _divergences(np.maximum(0, total - side), side, alpha)
            for total, side, alpha in zip(whole, sides, (ATOM_ALPHA, COMPOUND_ALPHA))
        )
        trained = ((sides[0] < TINY) | (whole[0] - sides[0] > TINY)).all(axis=-1)
        fair = trained & (of_atoms <= bound) & (np.abs(sizes - share) <= 0.25 * share) & (sizes > 0)
        worth = np.where(fair, of_compounds - 20 * np.maximum(0, of_atoms - most), -np.inf)
        leaves, joins = divmod(int(np.argmax(worth)), worth.shape[1])
        if worth[leaves, joins] <= best + 1e-7:
            break
        best, tested = float(worth[leaves, joins]), tested.copy()
        tested[out[leaves : leaves + 1]], tested[come[joins : joins + 1]] = False, True
    return tested


def _promising(tested: np.ndarray, atoms: Counts, compounds: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Blocks of either side that should gain most by going over, at each of the prices."""
    few = max(2, int((WEIGHED / len(compounds.names)) ** 0.5) // len(PRICES))
    gain, cost = _gains(tested, atoms, compounds)
    sides = []
    for side, sign in ((True, -1), (False, 1)):
        there = np.flatnonzero(tested == side)
        first = [there[np.argsort(-sign * (gain - price * cost)[there], kind="stable")][:few] for price in PRICES]
        sides.append(np.unique(np.concatenate(first)))
    return sides[0], sides[1]


def _refined(
    tested: np.ndarray,
    size: np.ndarray,
    rank: np.ndarray,
    atoms: Counts,
    compounds: Counts,
    most: float,
    share: float,
    target: float | None,
) -> np.ndarray:
    """Sides after all swaps that help."""
    if not tested.any() or tested.all():
        return tested
    best, step = _worth(tested, atoms, compounds, most, target), max(1, len(size) // 20)
    for _ in range(ROUNDS):
        far = max(0.25 * share, abs(size[tested].sum() / size.sum() - share))
        choices = [
            (_worth(moved, atoms, compounds, most, target), moved)
            for moved in _swaps(tested, step, atoms, compounds, rank)
        ]
        fair = [one for one in choices if abs(size[one[1]].sum() / size.sum() - share) <= far]
        found, moved = max(fair, key=lambda one: one[0], default=(best, tested))
        if found[0] > best[0] + 1e-7:
            tested, best, step = moved, found, max(1, int(step * 1.3))
        elif step > 1:
            step //= 2
        else:
            break
        if target is not None and best[2] >= target and best[1] <= most:
            break
    return tested


def _worth(
    tested: np.ndarray, atoms: Counts, compounds: Counts, most: float, target: float | None
) -> tuple[float, float, float]:
    """How good sides are, and their divergences of atoms and of compounds."""
    test = tested.astype(np.float64)
    of_atoms = divergence(atoms.total(1 - test), atoms.total(test), ATOM_ALPHA)
    of_compounds = divergence(compounds.total(1 - test), compounds.total(test), COMPOUND_ALPHA)
    too_far = 0.0 if target is None else max(0.0, of_compounds - target - 0.02)
    return of_compounds - 20 * max(0.0, of_atoms - most) - 2 * too_far, of_atoms, of_compounds


def _swaps(tested: np.ndarray, step: int, atoms: Counts, compounds: Counts, rank: np.ndarray) -> Iterator[np.ndarray]:
    """So many of each side exchanged: those that should gain most by the slope of the compounds, less so much times
    that of the atoms."""
    gain, cost = _gains(tested, atoms, compounds)
    for price in PRICES:
        moved = tested.copy()
        for side, sign in ((False, 1), (True, -1)):
            there = np.flatnonzero(tested == side)
            moved[there[np.lexsort((rank[there], -sign * (gain - price * cost)[there]))][:step]] = not side
        yield moved


def _gains(tested: np.ndarray, atoms: Counts, compounds: Counts) -> tuple[np.ndarray, np.ndarray]:
    """How the divergences of compounds and of atoms grow as a block goes to the test, float[blocks] each."""
    test = tested.astype(np.float64)
    gain, cost = (
        one.scored(_slope(one.total(1 - test), one.total(test), alpha), len(tested))
        for one, alpha in ((compounds, COMPOUND_ALPHA), (atoms, ATOM_ALPHA))
    )
    return gain, cost


def _slope(train: np.ndarray, test: np.ndarray, alpha: float) -> np.ndarray:
    """How the divergence grows as a name goes from training to test, float[names]."""
    least = 1e-6
    p, q = np.maximum(train / train.sum(), least), np.maximum(test / test.sum(), least)
    coefficient = np.sum(p**alpha * q ** (1 - alpha))
    of_train = alpha * (p ** (alpha - 1) * q ** (1 - alpha) - coefficient) / train.sum()
    of_test = (1 - alpha) * (p**alpha * q**-alpha - coefficient) / test.sum()
    return of_train - of_test


def _with_all_atoms(tested: np.ndarray, atoms: Counts) -> np.ndarray:
    """The same, with blocks brought back whose atoms training would lack."""
    found = tested.copy()
    while True:
        test = found.astype(np.float64)
        missing = np.flatnonzero((atoms.total(test) > 0) & (atoms.total(1 - test) == 0))
        if not len(missing):
            return found
        found[np.unique(atoms.item[(atoms.column == missing[0]) & found[atoms.item]])[0]] = False


# --- pairs of atoms -------------------------------------------------------------------------------------------------


class _Pairs(NamedTuple):
    """Pairs of atoms that may be held out, and which items have them."""

    names: list[tuple[str, str]]
    has: np.ndarray  # bool[items, pairs]
    atoms: np.ndarray  # bool[items, atoms]
    items: Items

    def fine(self, tested: np.ndarray) -> bool:
        """Whether every atom of the test is on the training side."""
        return bool((~self.atoms[tested].any(axis=0) | self.atoms[~tested].any(axis=0)).all())


def _pairs(items: Items, key: Key, share: float, most: int | None = MOST_PAIRS) -> _Pairs:
    """The pairs that are had by some items and by not too many."""
    chosen = np.sort((key / "items").rng().permutation(len(items.concepts))[:MOST_ITEMS])
    few = Items(
        [items.concepts[i] for i in chosen],
        items.sense[chosen],
        items.weight[chosen],
        items.listed,
        items.word,
        items.most_atoms,
    )
    found = [atoms_of(concept, items.word) for concept in few.concepts]
    names = sorted(set().union(*found))
    place = {name: i for i, name in enumerate(names)}
    atoms = np.zeros((len(found), len(names)), bool)
    for i, some in enumerate(found):
        atoms[i, [place[name] for name in some]] = True
    many = Counter(pair for some in found for pair in combinations(sorted(some), 2))
    everywhere = {name for name in names if atoms[:, place[name]].all()}
    usable = [pair for pair, count in many.items() if 2 <= count <= share * len(found) and not everywhere & {*pair}]
    usable = sorted(usable, key=lambda pair: (-many[pair], pair))[:most]
    has = np.stack([atoms[:, place[one]] & atoms[:, place[other]] for one, other in usable] or [atoms[:, 0] & False], 1)
    return _Pairs(usable, has, atoms, few)


def _pairs_by_lot(items: Items, key: Key, share: float, target: float | None = None) -> tuple[tuple[str, str], ...]:
    found = _pairs(items, key, share)
    kept: list[tuple[str, str]] = []
    tested = np.zeros(len(found.has), bool)
    for place in (key / "pairs").rng().permutation(len(found.names)):
        more = tested | found.has[:, place]
        if more.mean() <= share and found.fine(more):
            tested, kept = more, [*kept, found.names[place]]
    return tuple(sorted(kept))


def _divergent_pairs(items: Items, key: Key, share: float, target: float | None = None) -> tuple[tuple[str, str], ...]:
    """The pairs whose items together diverge most: one after the other, then exchanged as long as that helps.

    A few pairs have few atoms, so at first the divergence of atoms costs little.
    """
    found = _pairs(items, key, share)
    table = _Table.of(found)
    kept: list[int] = []
    worth = -np.inf
    for price, rounds in ((1.0, len(found.names)), (3.0, EXCHANGES), (20.0, EXCHANGES), (200.0, EXCHANGES)):
        for turn in range(rounds):
            others = [one for one in range(len(found.names)) if one not in kept]
            choices = [[*kept, one] for one in others]
            if price > 1:
                swaps = [(i, one) for i in range(len(kept)) for one in (None, *others)]
                order = (key / "exchanges" / int(price) / turn).rng().permutation(len(swaps))[:EXCHANGED]
                few = [swaps[place] for place in order]
                choices = [
                    kept,
                    *([k for k in kept if k != kept[i]] + ([] if one is None else [one]) for i, one in few),
                ]
                choices = [some for some in choices if some]
            worths = table.worth(choices, share, price, target) if choices else np.array([-np.inf])
            best = int(np.argmax(worths))
            if worths[best] == -np.inf or (price == 1 and worths[best] < worth - 0.05):
                break
            worth, kept = float(worths[best]), choices[best]
    return tuple(sorted(found.names[i] for i in kept))


class _Table(NamedTuple):
    """Atoms and compounds of items as dense tables, by which many choices are weighed at once."""

    pairs: _Pairs
    atoms: np.ndarray  # float[items, atoms]
    compounds: np.ndarray  # float[items, compounds]

    @classmethod
    def of(cls, pairs: _Pairs) -> Self:
        dense = []
        for one in _counted(pairs.items, np.arange(len(pairs.has))):
            table = np.zeros((len(pairs.has), len(one.names)), np.float32)
            table[one.item, one.column] = one.value
            dense.append(table)
        return cls(pairs, *dense)

    def worth(self, choices: Sequence[Sequence[int]], share: float, price: float, target: float | None) -> np.ndarray:
        """How good it is to hold pairs out, for each choice of them; -inf where that cannot be."""
        tested = np.stack([self.pairs.has[:, some].any(axis=1) for some in choices])  # bool[choices, items]
        weight = self.pairs.items.weight
        fine = (tested @ weight <= share * weight.sum()) & tested.any(axis=1)
        test, whole = tested.astype(np.float32) @ self.atoms, self.atoms.sum(axis=0)
        fine &= ((test == 0) | (whole - test > 1e-4 * whole)).all(axis=1)
        of_atoms = _divergences(np.maximum(whole - test, 0), test, ATOM_ALPHA)
        test, whole = tested.astype(np.float32) @ self.compounds, self.compounds.sum(axis=0)
        left = np.where(whole - test > 1e-5 * whole, whole - test, 0)  # what rounding leaves is nothing
        of_compounds = _divergences(left, test, COMPOUND_ALPHA)
        too_far = 0.0 if target is None else np.maximum(0, of_compounds - target - 0.02)
        return np.where(
            fine, of_compounds - price * np.maximum(0, of_atoms - self.pairs.items.most_atoms) - 2 * too_far, -np.inf
        )


def _divergences(train: np.ndarray, test: np.ndarray, alpha: float) -> np.ndarray:
    """`divergence` of many sides, whose last axis is that of the names."""
    p, q = (side / np.maximum(side.sum(axis=-1, keepdims=True), 1e-30) for side in (train, test))
    return 1 - np.sum(p**alpha * q ** (1 - alpha), axis=-1)


def _box(items: Items, key: Key, share: float, target: float | None = None) -> tuple[tuple[str, str], ...]:
    """Half of the values of two attributes: of all boxes, the one nearest to the share."""
    found = _pairs(items, key, 1.0, None)
    groups: dict[str, list[str]] = {}
    for name in sorted({atom for pair in found.names for atom in pair}):
        groups.setdefault(_attribute(name), []).append(name)
    known = set(found.names)
    best: tuple[float, tuple[tuple[str, str], ...]] = (np.inf, ())
    for draw in range(HALVES):
        for one, other in combinations([group for group in groups.values() if len(group) > 1], 2):
            again = key / "half" if draw == 0 else key / "half" / draw
            halves = [_half(group, again / group[0]) for group in (one, other)]
            box = tuple(sorted(pair for a in halves[0] for b in halves[1] if (pair := tuple(sorted((a, b)))) in known))
            tested = np.asarray(found.has[:, [found.names.index(pair) for pair in box]].any(axis=1))
            far = abs(float(tested.mean()) - share)
            if tested.any() and not tested.all() and found.fine(tested) and far < best[0]:
                best = far, box
        if best[1]:
            break
    return best[1]


def _attribute(atom: str) -> str:
    """What an atom is a value of: `filter[color,red]` of filter[color, `color red` of color."""
    return atom.rpartition(",")[0] or atom.rpartition(" ")[0] or atom.partition("[")[0]


def _half(values: Sequence[str], key: Key) -> list[str]:
    return [values[i] for i in np.sort(key.rng().permutation(len(values))[: len(values) // 2])]
