"""What a program does on a scene, step by step, in plain language.

the 2 large things: objects 0 and 1
left of object 1: objects 0 and 3
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from recombine.benchmarks.clevr.english_words import DIRECTIONS
from recombine.benchmarks.clevr.meaning import Plainly, TraceStep, answer_text, trace
from recombine.benchmarks.clevr.program import in_order, is_answer
from recombine.benchmarks.clevr.relations import listed, plainly_beyond
from recombine.language.expr import Expr
from recombine.world.scenes import Scenes

Related = Mapping[str, np.ndarray]
NO_VALUE = "–"


def trace_text(program: Expr, scenes: Scenes, scene: int, related: Related | None = None) -> str:
    """What a program does on a scene, in plain language, one line per step."""
    return "\n".join([english for _, english in steps_in_words(program, plain_scene(scenes, scene, related))])


class _Beyond(dict[str, list[list[int]]]):
    """The relations of one scene, each made when it is first asked for: most programs need one or none."""

    def __init__(self, make: Callable[[str], list[list[int]]]) -> None:
        self.make = make

    def __missing__(self, direction: str) -> list[list[int]]:
        found = self[direction] = self.make(direction)
        return found


def plain_scene(scenes: Scenes, scene: int, related: Related | None) -> Plainly:
    """The same as `Plainly.of`, sooner."""
    count = int(scenes.count[scene])
    if related is not None:
        return Plainly(scenes.objects(scene), _Beyond(lambda way: listed(related[way][scene], count)))
    places = scenes.position[scene, :count].tolist()
    return Plainly(scenes.objects(scene), _Beyond(lambda way: plainly_beyond(places, way)))


def steps_in_words(program: Expr, plain: Plainly) -> Iterator[tuple[TraceStep, str]]:
    """Every step with what it found, in words."""
    ends: list[TraceStep] = []  # the values that no step has taken yet
    for step, found in zip(in_order(program), trace(program, plain)):
        first = len(ends) - len(step.args)
        yield found, _english(step, ends[first:], found)
        ends[first:] = [found]


def _english(step: Expr, inputs: Sequence[TraceStep], found: TraceStep) -> str:
    if found.value is not None:
        return f"{_LEADS[step.head.family](step, inputs, found)}: {value_in_words(found)}"
    if step.head.family == "unique" and inputs[0].value is not None:
        return f"the only one: undefined, for there {_are(len(inputs[0].objects))}"
    return "not reached"


def value_in_words(found: TraceStep) -> str:
    if found.value is None:
        return NO_VALUE
    return answer_text(found.kind, found.value) if is_answer(found.kind) else numbers(found.objects)


@lru_cache(maxsize=1 << 14)
def numbers(objects: tuple[int, ...]) -> str:
    """Objects by their numbers.

    >>> numbers((1, 4, 5)), numbers((3,)), numbers(())
    ('objects 1, 4 and 5', 'object 3', 'none')
    """
    if not objects:
        return "none"
    *most, last = map(str, objects)
    return f"objects {', '.join(most)} and {last}" if most else f"object {last}"


def _are(count: int) -> str:
    return f"are {count}" if count else "is none"


@lru_cache(maxsize=1 << 14)
def _described(step: Expr, count: int) -> str:
    """What a run of filters has said up to here: the shape last, as a noun."""
    said: list[tuple[bool, str]] = []
    while step.head.family == "filter":
        attribute, value = step.head.index
        said.insert(0, (attribute == "shape", value))
        (step,) = step.args
    said.sort(key=lambda one: one[0])
    noun = " ".join(value for _, value in said) + ("" if said[-1][0] else " thing") + "s" * (count != 1)
    which = {0: noun, 1: f"the {noun}"}.get(count, f"the {count} {noun}")
    return which if step.head.family == "scene" else f"of these, {which}"


Lead = Callable[[Expr, Sequence[TraceStep], TraceStep], str]

_LEADS: Mapping[str, Lead] = {
    "scene": lambda step, given, found: "everything",
    "filter": lambda step, given, found: _described(step, len(found.objects)),
    "unique": lambda step, given, found: "the only one",
    "relate": lambda step, given, found: f"{DIRECTIONS[step.head.index[0]][0]} object {given[0].value}",
    "same": lambda step, given, found: f"the same {step.head.index[0]} as object {given[0].value}",
    "union": lambda step, given, found: f"in either ({value_in_words(given[0])}) or ({value_in_words(given[1])})",
    "intersect": lambda step, given, found: f"in both ({value_in_words(given[0])}) and ({value_in_words(given[1])})",
    "count": lambda step, given, found: "how many",
    "exist": lambda step, given, found: "is there any",
    "query": lambda step, given, found: f"the {step.head.index[0]} of object {given[0].value}",
    "equal": lambda step, given, found: f"{given[0].value} is the same {step.head.index[0]} as {given[1].value}",
    "equal_integer": lambda step, given, found: f"{given[0].value} is as many as {given[1].value}",
    "less_than": lambda step, given, found: f"{given[0].value} is fewer than {given[1].value}",
    "greater_than": lambda step, given, found: f"{given[0].value} is more than {given[1].value}",
}
"""What a step of each family looks for; a colon and what it found follow."""
