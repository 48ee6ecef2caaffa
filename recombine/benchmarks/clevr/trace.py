"""What a program does on a scene, step by step, in plain language.

the 2 large things: objects 0 and 1
left of object 1: objects 0 and 3
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.english_words import phrases, words_of
from recombine.benchmarks.clevr.language import CLEVR, Dialect, dialect_of
from recombine.benchmarks.clevr.meaning import Plainly, TraceStep, answer_text, trace
from recombine.benchmarks.clevr.program import in_order, is_answer
from recombine.benchmarks.clevr.relations import listed, plainly_beyond
from recombine.language.expr import Expr
from recombine.world.scenes import Scenes

Related = Mapping[str, np.ndarray]
NO_VALUE = "–"


def trace_text(
    program: Expr, scenes: Scenes, scene: int, related: Related | None = None, dialect: Dialect | None = None
) -> str:
    """What a program does on a scene, in plain language, one line per step."""
    plain = plain_scene(scenes, scene, related, dialect)
    return "\n".join([english for _, english in steps_in_words(program, plain)])


class _Beyond(dict[str, list[list[int]]]):
    """The relations of one scene, each made when it is first asked for: most programs need one or none."""

    def __init__(self, make: Callable[[str], list[list[int]]]) -> None:
        self.make = make

    def __missing__(self, direction: str) -> list[list[int]]:
        found = self[direction] = self.make(direction)
        return found


def plain_scene(scenes: Scenes, scene: int, related: Related | None, dialect: Dialect | None = None) -> Plainly:
    """The same as `Plainly.of`, sooner."""
    count, dialect = int(scenes.count[scene]), dialect or dialect_of(scenes.vocabulary)
    if related is not None:
        return Plainly(scenes.objects(scene), _Beyond(lambda way: listed(related[way][scene], count)), dialect)
    places = scenes.position[scene, :count].tolist()
    return Plainly(scenes.objects(scene), _Beyond(lambda way: plainly_beyond(places, way)), dialect)


def steps_in_words(program: Expr, plain: Plainly) -> Iterator[tuple[TraceStep, str]]:
    """Every step with what it found, in words."""
    ends: list[TraceStep] = []  # the values that no step has taken yet
    for step, found in zip(in_order(program), trace(program, plain)):
        first = len(ends) - len(step.args)
        lead = plain.dialect.leads.get(step.head.family) or LEADS[step.head.family]
        yield found, _english(_Step(step, ends[first:], found, plain.dialect), lead)
        ends[first:] = [found]


class _Step(NamedTuple):
    """A step, what it was given and what it found, and phrases that say so."""

    step: Expr
    given: Sequence[TraceStep]
    found: TraceStep
    dialect: Dialect

    @property
    def described(self) -> str:
        return _described(self.step, len(self.found.objects), self.dialect)

    @property
    def direction(self) -> str:
        return phrases(self.step.head.index[0])[0]

    @property
    def attribute(self) -> str:
        head = self.step.head
        return self.dialect.by_symbol.get(head.family, self.dialect.objects).title(head.index[0])

    @property
    def first(self) -> str:
        return value_in_words(self.given[0], self.dialect)

    @property
    def second(self) -> str:
        return value_in_words(self.given[1], self.dialect)


LEADS: Mapping[str, str] = {
    "scene": "everything",
    "filter": "{0.described}",
    "unique": "the only one",
    "relate": "{0.direction} {0.first}",
    "same": "the same {0.attribute} as {0.first}",
    "union": "in either ({0.first}) or ({0.second})",
    "intersect": "in both ({0.first}) and ({0.second})",
    "count": "how many",
    "exist": "is there any",
    "query": "the {0.attribute} of {0.first}",
    "equal": "{0.first} is the same {0.attribute} as {0.second}",
    "equal_integer": "{0.first} is as many as {0.second}",
    "less_than": "{0.first} is fewer than {0.second}",
    "greater_than": "{0.first} is more than {0.second}",
}
"""What a step of each family looks for; a colon and what it found follow."""


def _english(step: _Step, lead: str) -> str:
    if step.found.value is not None:
        return f"{lead.format(step)}: {value_in_words(step.found, step.dialect)}"
    if step.found.symbol == "unique" and step.given[0].value is not None:
        return f"the only one: undefined, for there {_are(len(step.given[0].objects))}"
    return "not reached"


def value_in_words(found: TraceStep, dialect: Dialect = CLEVR) -> str:
    if found.value is None:
        return NO_VALUE
    if is_answer(found.kind, dialect):
        return answer_text(found.kind, found.value)
    return numbers(found.objects, *dialect.names_of[found.kind])


@lru_cache(maxsize=1 << 14)
def numbers(objects: tuple[int, ...], one: str = "object", many: str = "objects") -> str:
    """Objects, or things of another sort, by their numbers.

    >>> numbers((1, 4, 5)), numbers((3,)), numbers(())
    ('objects 1, 4 and 5', 'object 3', 'none')
    """
    if not objects:
        return "none"
    *most, last = map(str, objects)
    return f"{many} {', '.join(most)} and {last}" if most else f"{one} {last}"


def _are(count: int) -> str:
    return f"are {count}" if count else "is none"


@lru_cache(maxsize=1 << 14)
def _described(step: Expr, count: int, dialect: Dialect) -> str:
    """What a run of filters has said up to here: the noun last."""
    said: list[tuple[bool, str]] = []
    sort = dialect.by_symbol[step.head.family]
    while dialect.by_symbol.get(step.head.family) is sort and len(step.head.index) == 2:
        attribute, value = step.head.index
        said.insert(0, (attribute == sort.noun, value))
        (step,) = step.args
    said.sort(key=lambda one: one[0])
    *adjectives, last = [words_of(sort).said(value)[0] for _, value in said] + [sort.bare[0]] * (not said[-1][0])
    noun = " ".join((*adjectives, last if count == 1 else words_of(sort).plural(last)))
    which = {0: noun, 1: f"the {noun}"}.get(count, f"the {count} {noun}")
    return which if step.head.family == "scene" else f"of these, {which}"
