"""What a definition must obey beyond the grammar: its names are known, its variables are tied, it can end.

A variable is *tied* where the parameters decide which object it is: `Z == (x, y)` ties x and y to Z, and
`a == argmax(A, x_loc)` ties a to A. Nothing else introduces an object.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from recombine.benchmarks.concept_world.syntax import Concept, Source, Term, named, nearest
from recombine.language.expr import Expr
from recombine.store.errors import UserError

MOST_STEPS = 5_000_000
"""Looks at patterns, for one definition, before the reader gives up on their order."""


def check_calls(source: Source, body: Term, arity: Mapping[str, int], colors: Collection[str]) -> None:
    """Concepts exist and get as many objects as they speak about; colours exist."""
    for part, at in zip(named(body.term), body.marks):
        if part.head.family == "call":
            name = part.head.index[0]
            if name not in arity:
                raise source.error(at, f"there is no concept '{name}'{nearest(name, arity)}")
            if len(part.args) != arity[name]:
                raise source.error(at, f"'{name}' is about {_objects(arity[name])}, and here it gets {len(part.args)}")
        elif part.head.family == "color" and part.head.index[0] not in colors:
            name, otherwise = part.head.index[0], f"; there are {', '.join(colors)}"
            raise source.error(at, f"there is no colour '{name}'{nearest(name, colors, otherwise)}")


def _objects(n: int) -> str:
    return "1 object" if n == 1 else f"{n:,} objects"


def check_ties(source: Source, concept: Concept) -> None:
    """Every variable of a definition is a parameter, or tied to one."""
    Ties(source, concept).check(concept.body.term)


class Ties:
    """A walk through a body in the order of the text that knows which variables are tied."""

    def __init__(self, source: Source, concept: Concept) -> None:
        self.source, self.concept = source, concept
        self.tied = {word.text for word in concept.parameters}
        self.marks = iter(concept.body.marks)
        self.steps = 0

    # Checking.

    def check(self, term: Expr) -> None:
        """Refuse a body with a variable that nothing ties."""
        self.everywhere = _occurrences(term)
        self._scope(term)

    def _scope(self, term: Expr) -> None:
        """A part whose own variables are tied inside it."""
        gained = self.gain(term)
        self._visit(term)
        self.tied.difference_update(gained)

    def _visit(self, term: Expr) -> None:
        family = term.head.family
        if family == "and":
            for part in term.args:
                self._visit(part)
        elif family == "or":
            for part in term.args:
                self._scope(part)
        elif family == "not":
            self._inside(term.args[0])
        elif family in ("all", "some"):
            self._quantified(term)
        else:
            self._atom(term)

    def _atom(self, term: Expr) -> None:
        for part in named(term):
            at = next(self.marks)
            if part.head.family == "var" and part.head.index[0] not in self.tied:
                raise self._untied(part.head.index[0], at)

    def _quantified(self, term: Expr) -> None:
        next(self.marks)  # of the name that the quantifier brings
        name = term.head.index[0]
        self._atom(term.args[0])
        new = name not in self.tied
        self.tied.add(name)
        self._inside(term.args[1])
        if new:
            self.tied.remove(name)

    def _inside(self, term: Expr) -> None:
        """A variable that occurs outside too belongs outside and must be tied there."""
        shared = {name for name, n in _occurrences(term).items() if n < self.everywhere[name]} - self.tied
        if shared:
            self._refuse(term, shared)
        self._scope(term)

    def _refuse(self, term: Expr, names: set[str]) -> None:
        for part in named(term):
            at = next(self.marks)
            if part.head.family == "var" and part.head.index[0] in names:
                raise self._untied(part.head.index[0], at)

    def _untied(self, name: str, at: int) -> UserError:
        concept = self.concept
        quantified = any(p.head.family in ("all", "some") and p.head.index == (name,) for p in named(concept.body.term))
        how = (
            "a quantifier reaches only to the next 'and' or 'or', so put parentheses around all that it says"
            if quantified
            else f"say what it is a part of, such as {concept.parameters[0].text} == ({name}, ...)"
        )
        return self.source.error(at, f"nothing ties '{name}' to a parameter of '{concept.name.text}'; {how}")

    # Tying.

    def gain(self, term: Expr) -> list[str]:
        """Tie what the term ties; the names that are new."""
        self._look(1)
        rule = _GAIN.get(term.head.family)
        return rule(self, term) if rule else []

    def _look(self, patterns: int) -> None:
        self.steps += patterns
        if self.steps > MOST_STEPS:
            raise self.source.error(
                self.concept.name.at,
                f"the patterns of '{self.concept.name.text}' refer back and forth too often to follow; "
                "write each after the one that ties its variable",
            )

    def _tie(self, names: Iterator[str] | list[str]) -> list[str]:
        new = [name for name in dict.fromkeys(names) if name not in self.tied]
        self.tied.update(new)
        return new

    def _same(self, term: Expr) -> list[str]:
        left, right = (list(_names(arg)) for arg in term.args)
        if left[0] in self.tied:
            return self._tie(right)
        return self._tie(left) if all(name in self.tied for name in right) else []

    def _extreme(self, term: Expr) -> list[str]:
        picked, among = (list(_names(arg)) for arg in term.args)
        return self._tie(picked) if all(name in self.tied for name in among) else []

    def _both(self, term: Expr) -> list[str]:
        """Patterns in any order: each again when one of its open variables was tied by another."""
        found: list[str] = []
        waiting = [(part, list(_occurrences(part))) for part in term.args if part.head.family in _GAIN]
        first = True
        while waiting:
            self._look(len(waiting))
            before, still = len(found), []
            for part, names in waiting:
                if first or any(name in self.tied for name in names):
                    found += self.gain(part)
                    names = [name for name in names if name not in self.tied]
                if names:
                    still.append((part, names))
            first = False
            waiting = still[::-1] if len(found) > before else []  # the other way: soon done where all is said backwards
        return found

    def _either(self, term: Expr) -> list[str]:
        """What every alternative ties."""
        gains: list[list[str]] = []
        for part in term.args:
            gains.append(self.gain(part))
            self.tied.difference_update(gains[-1])
        in_all = set(gains[0]).intersection(*gains[1:])
        return self._tie([name for name in gains[0] if name in in_all])


_GAIN: dict[str, Callable[[Ties, Expr], list[str]]] = {
    "same": Ties._same,
    "argmin": Ties._extreme,
    "argmax": Ties._extreme,
    "and": Ties._both,
    "or": Ties._either,
}


def _names(term: Expr) -> Iterator[str]:
    """The variables of an object term."""
    return (part.head.index[0] for part in named(term))


def _occurrences(term: Expr) -> Counter[str]:
    """How often each variable occurs, where no quantifier inside the term brings it."""
    found: Counter[str] = Counter()
    stack: list[tuple[Expr, frozenset[str]]] = [(term, frozenset())]
    while stack:
        part, bound = stack.pop()
        family = part.head.family
        if family == "var":
            found.update([name for name in part.head.index if name not in bound])
        elif family in ("all", "some"):
            among, says = part.args
            stack += [(among, bound), (says, bound | {part.head.index[0]})]
        else:
            stack.extend((arg, bound) for arg in part.args)
    return found


def endless(bodies: Mapping[str, Expr], known: Collection[str]) -> Iterator[str]:
    """The definitions that can never end: each of their alternatives needs one that cannot end, such as itself.

    A definition can end where some alternative needs only definitions that can. Conditions become a graph in which
    each node waits for a number of others; what is ready tells those who wait, so all is done in one go.
    """
    waits: list[int] = []  # for how many others each node waits; 0 is ready
    above: list[int] = []  # the node that it belongs to, -1 for a whole body
    callers: dict[str, list[int]] = {name: [] for name in bodies}
    owner: dict[int, str] = {}
    for name, body in bodies.items():
        owner[len(waits)] = name
        todo = [(body, -1)]
        while todo:
            term, parent = todo.pop()
            family, node = term.head.family, len(waits)
            inner = _needed(term)
            waits.append(len(inner) if family == "and" else min(1, len(inner)))
            above.append(parent)
            if family == "call" and term.head.index[0] not in known:
                waits[node] = 1
                callers[term.head.index[0]].append(node)
            todo.extend((part, node) for part in inner)
    ready = [node for node, n in enumerate(waits) if n == 0]
    ended: set[str] = set()
    while ready:
        node = ready.pop()
        if node in owner:
            ended.add(owner[node])
        for waiting in callers[owner[node]] if node in owner else [above[node]]:
            waits[waiting] -= 1
            if waits[waiting] == 0:
                ready.append(waiting)
    return (name for name in bodies if name not in ended)


def _needed(term: Expr) -> list[Expr]:
    """The parts that matter for ending."""
    if term.head.family in ("all", "some"):
        return [term.args[1]]
    return list(term.args) if term.head.family in ("and", "or") else []


def check_ends(concepts: Mapping[str, tuple[Source, Concept]], known: Collection[str]) -> None:
    """Refuse a definition that can never end."""
    bodies = {name: concept.body.term for name, (_, concept) in concepts.items()}
    never = list(endless(bodies, known))
    if never:
        source, concept = concepts[never[0]]
        needs = [p.head.index[0] for p in named(concept.body.term) if p.head.family == "call"]
        again = next(name for name in (never[0], *never) if name in needs)
        why = f"needs '{again}' again" if again == never[0] else f"needs '{again}', which cannot end without it"
        raise source.error(
            concept.name.at,
            f"'{never[0]}' can never end, because every alternative {why}; add one that does not, such as X == ()",
        )
