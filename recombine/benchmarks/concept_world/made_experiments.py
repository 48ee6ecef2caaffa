"""Experiments of splits that were made automatically: combinations of definitions are held out, each is still trained.

What a split divides are the derivations of the images that an experiment asks for, in all its parts. Their *atoms* are
the definitions that are used, such as `red_seq`; how deep those nest that use themselves, such as `depth(east_seq) 3`;
and the classes, such as `class red`. The images that have both atoms of a pair become the test of a new experiment, all
others its training; classes stay as they are. Experiments do not mix: an atom begins with the name of its own.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from recombine.benchmarks.concept_world.classes import Classes, extension_of
from recombine.benchmarks.concept_world.definition import Experiment, Library, Line
from recombine.benchmarks.concept_world.pipeline import ConceptWorldPipeline
from recombine.benchmarks.concept_world.where import depth, used
from recombine.language.expr import Expr, Symbol
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.made_splits import Items, MadeSplit, atoms_of, make_split, measures, need_atoms

TEST = "held_out"
"""The one test of an experiment that was made."""
REPEATED = 400
"""How often the derivations of an experiment stand among what is divided, together."""
LOOKED_AT = 40
"""Images of each tested line that are looked for among those of training."""
Pair = tuple[str, str]


def atom(symbol: Symbol) -> str | None:
    """What a symbol of a `described` derivation is called."""
    return symbol.index[0] if symbol.family == "atom" else None


def described(atoms: Iterable[str]) -> Expr:
    """A derivation as the atoms that it has."""
    words = tuple(Expr(Symbol("atom", (name,), (), "atom")) for name in sorted(atoms))
    return Expr(Symbol("has", (), ("atom",) * len(words), "derivation"), words)


@dataclass(frozen=True)
class Divided:
    """The derivations of an experiment, and which of its lines ask for them."""

    library: Library
    experiment: Experiment

    @cached_property
    def lines(self) -> list[Line]:
        """The lines of all parts; one that occurs in several stands once, with its largest count."""
        found: dict[tuple[str, str, str], Line] = {}
        for line in (*self.experiment.train, *(line for test in self.experiment.tests.values() for line in test)):
            name = (line.label, line.concept, line.where)
            found[name] = max(found.get(name, line), line, key=lambda one: one.count)
        return [*found.values()]

    @cached_property
    def derived(self) -> list[list[Expr]]:
        """The derivations of every line."""
        return [[plan.derivation for plan in extension_of(self.library, line).plans] for line in self.lines]

    @cached_property
    def atoms(self) -> list[list[frozenset[str]]]:
        """The atoms of every derivation of every line."""
        every = [one for some in self.derived for one in some]
        labels = [line.label for line, some in zip(self.lines, self.derived) for _ in some]
        chosen = {**_nesting(every), **_plain(every, labels)}
        found = [frozenset(f"{self.experiment.name}: {word}" for word, has in chosen.items() if i in has)
                 for i in range(len(every))]  # fmt: skip
        rest = iter(found)
        return [[next(rest) for _ in some] for some in self.derived]

    def items(self) -> Items:
        """Derivations, each about as often as its images are asked for; those of a line share its count alike."""
        ways = [(atoms, line.count / len(some)) for line, some in zip(self.lines, self.atoms) for atoms in some]
        count = np.array([count for _, count in ways])
        many = np.maximum(2, np.round(REPEATED * count / count.sum())).astype(int)
        concepts = [described(atoms) for atoms, _ in ways]
        of = np.repeat(np.arange(len(ways)), many)
        return Items([concepts[i] for i in of], of, (count / many)[of], False, atom)

    def made(self, name: str, pairs: Sequence[Pair]) -> Experiment:
        """The experiment that tests the images with both atoms of a pair and trains on the others."""
        train, test = ([*self._side(pairs, held)] for held in (False, True))
        for some, side in ((train, "training"), (test, "test")):
            if not some:
                raise UserError(f"split '{name}' leaves no {side} images in {self.experiment.name}; hold out others")
        sides: dict[bool, list[Expr]] = {False: [], True: []}
        for some_atoms in self.atoms:
            for atoms in some_atoms:
                sides[holds_out(pairs, atoms)].append(described(atoms))
        need_atoms(name, sides[False], sides[True], atom)
        title = f"{self.experiment.title}, by the split '{name}'"
        known = {line.label for line in train}
        first = tuple(label for label in self.experiment.first if label in known)
        return replace(
            self.experiment,
            name=made_name(name, self.experiment.name),
            title=title,
            train=tuple(train),
            tests={TEST: tuple(test)},
            first=first,
            first_epochs=self.experiment.first_epochs if first else 0,
        )

    def _side(self, pairs: Sequence[Pair], held: bool) -> Iterator[Line]:
        for line, some in zip(self.lines, self.atoms):
            there = [holds_out(pairs, atoms) for atoms in some]
            share = sum(yes == held for yes in there) / len(there)
            if share == 1:
                yield line
            elif share > 0:
                felt = [pair for pair in pairs if any(pair[0] in atoms and pair[1] in atoms for atoms in some)]
                words = " or ".join(f"({' and '.join(filter(None, map(_condition, pair)))})" for pair in felt)
                said = f"({words})" if held else f"not ({words})"
                where = f"{line.where} and {said}" if line.where else said
                yield replace(line, count=max(1, round(share * line.count)), where=where)


def _nesting(derived: Sequence[Expr]) -> dict[str, frozenset[int]]:
    """Which derivations nest a definition so deep, for those that use themselves.

    A row of three squares nests `east_seq` three deep, and `squares` as well: of definitions that nest alike the one
    that does so in most derivations counts.
    """
    deep: dict[str, dict[int, int]] = {}
    for name in dict.fromkeys(name for one in derived for name in used(one)):
        found = {i: many for i, one in enumerate(derived) if (many := depth(name)(one))}
        if max(found.values()) > 1:
            deep[name] = found
    kept: dict[str, dict[int, int]] = {}
    for name, found in sorted(deep.items(), key=lambda one: -len(one[1])):
        if not any(found.items() <= other.items() for other in kept.values()):
            kept[name] = found
    return {
        f"depth({name}) {many}": frozenset(i for i, k in found.items() if k == many)
        for name, found in kept.items()
        for many in sorted(set(found.values()))
    }


def _plain(derived: Sequence[Expr], labels: Sequence[str]) -> dict[str, frozenset[int]]:
    """Which derivations use a definition, and which are of a class; of those that always go together the outermost
    definition counts, of those that go with all derivations or with a single one none."""
    found: dict[frozenset[int], str] = {}
    uses = [{*used(one)} for one in derived]
    for name in dict.fromkeys(name for one in derived for name in used(one)):
        found.setdefault(frozenset(i for i, names in enumerate(uses) if name in names), name)
    for label in dict.fromkeys(labels):
        found.setdefault(frozenset(i for i, one in enumerate(labels) if one == label), f"class {label}")
    return {name: has for has, name in found.items() if 1 < len(has) < len(derived)}


def made_name(split: str, experiment: str) -> str:
    return f"{split}-{experiment}"


def holds_out(pairs: Iterable[Pair], atoms: frozenset[str]) -> bool:
    return any(one in atoms and other in atoms for one, other in pairs)


def _condition(name: str) -> str:
    """An atom in the words of `where`; nothing for a class, which a line has as a whole.

    >>> _condition("sequences: depth(east_seq) 3"), _condition("sequences: red_seq"), _condition("patterns: class red")
    ('depth(east_seq) == 3', 'uses(red_seq)', '')
    """
    said = name.partition(": ")[2]
    measure, _, number = said.rpartition(" ")
    if measure == "class":
        return ""
    return f"{measure} == {number}" if measure else f"uses({said})"


def deal(
    divided: Sequence[Divided],
    how: str,
    name: str,
    key: Key,
    share: float,
    target: float | None,
    most_atoms: float,
) -> MadeSplit:
    """A split of experiments: each holds out pairs of its own; one where nothing can be held out keeps its images."""
    pairs: list[Pair] = []
    parts, tested, refused = [], [], None
    for one in divided:
        items = one.items()._replace(most_atoms=most_atoms)
        try:
            found = make_split(items, how, name, "concept-world", key / one.experiment.name, share, target)
        except UserError as error:
            refused = error
            continue
        pairs += found.pairs
        parts.append(items)
        tested.append(np.array([found.holds_out(atoms_of(concept, atom)) for concept in items.concepts]))
    if not pairs:
        assert refused is not None
        raise refused
    first = np.cumsum([0, *(int(items.sense.max()) + 1 for items in parts)])
    sense = np.concatenate([items.sense + start for items, start in zip(parts, first)])
    concepts = [concept for items in parts for concept in items.concepts]
    whole = Items(concepts, sense, np.concatenate([items.weight for items in parts]), False, atom, most_atoms)
    held = np.concatenate(tested)
    measured = {name: value for name, value in measures(whole, held).items() if name != "concepts tested"}
    split = MadeSplit(name, how, "concept-world", tuple(pairs), word=atom)
    leaking = sum(leaks(one.library, made, key) for one, made in experiments(divided, split))
    told = {**measured, "derivations tested": len(np.unique(sense[held])), "leaks": leaking}
    return replace(split, measured=told)


def experiments(divided: Sequence[Divided], split: MadeSplit) -> list[tuple[Divided, Experiment]]:
    """The experiments that a split makes; every pair must be about one of those there are."""
    known = {one.experiment.name: one for one in divided}
    held: Mapping[str, list[Pair]] = {name: [] for name in known}
    for pair in split.pairs:
        named = {name.partition(": ")[0] for name in pair}
        if len(named) != 1 or not named <= set(known):
            raise UserError(
                f"split '{split.name}' holds out {pair[0]} with {pair[1]}; both must begin with one experiment of "
                f"{', '.join(known)}, as in '{next(iter(known))}: a_definition'"
            )
        held[named.pop()].append(pair)
    for name, pairs in held.items():
        there = {word for some in known[name].atoms for atoms in some for word in atoms} if pairs else set()
        if unknown := [word for pair in pairs for word in pair if word not in there]:
            raise UserError(f"split '{split.name}' holds out {unknown[0]}, which no image of {name} has")
    return [(known[name], known[name].made(split.name, pairs)) for name, pairs in held.items() if pairs]


def leaks(library: Library, made: Experiment, key: Key) -> int:
    """How many of some images of the test are images of a training line too."""
    classes, found = Classes(library, made), 0
    for line in made.tests[TEST]:
        extension = extension_of(library, line)
        drawn = extension.draw(LOOKED_AT, key / "leaks" / made.name / line.concept / line.where)
        if drawn.size:
            found += int(classes.trained(extension.images(drawn)).any(axis=1).sum())
    return found


def to_divide(library: Library, names: Iterable[str]) -> list[Divided]:
    """What a split of these experiments divides."""
    return [Divided(library, library.experiments[name]) for name in names]


def known_by(study: ConceptWorldPipeline, parts: Sequence[Divided], split: MadeSplit, file: str) -> list[str]:
    """The names of the experiments of a split that was read from a file, which are known by them from now on."""
    read = [made for _, made in experiments(parts, split)]
    for made in read:
        if made.name in study.library.experiments or study.made.setdefault(made.name, made) != made:
            raise UserError(f"{file}: there is an experiment '{made.name}' already; give the split another name")
    return [made.name for made in read]
