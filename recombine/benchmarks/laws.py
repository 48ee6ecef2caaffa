"""The laws that every benchmark obeys. The tests run them for every folder, and so does `recombine check`."""

from collections.abc import Callable

import numpy as np

from recombine.benchmarks.language import Language
from recombine.language.query import anything
from recombine.semantics.fold import method
from recombine.store.key import Key
from recombine.world.scenes import Scenes

CONCEPTS = 300
SCENES = 64


class LawBroken(AssertionError):
    """A law does not hold; the text says on what."""


def every_symbol_has_a_meaning(language: Language, key: Key) -> None:
    scenes = language.world.sample(2, key / "scenes")
    for symbol in language.signature.values():
        for meaning in (language.meaning(scenes), language.reference(scenes, 0)):
            if not callable(_method_or_none(meaning, symbol.family)):
                raise LawBroken(f"{type(meaning).__name__} has no meaning for {symbol}")


def _method_or_none(meaning: object, family: str) -> Callable | None:
    try:
        return method(meaning, family)
    except AttributeError:
        return None


def reading_what_is_written_gives_it_back(language: Language, key: Key) -> None:
    for concept in language.concepts(CONCEPTS, key / "concepts"):
        if language.signature.parse(repr(concept)) is not concept:
            raise LawBroken(f"{concept!r} does not come back from its reading form")
        for name, (write, read) in language.spellings.items():
            if read(write(concept)) is not concept:
                raise LawBroken(f"{concept!r} does not come back from {name}")


def the_fast_meaning_equals_the_plain_one(language: Language, key: Key) -> None:
    scenes = language.world.sample(SCENES, key / "scenes")
    concepts = tuple(dict.fromkeys(language.concepts(CONCEPTS, key / "concepts")))
    fast = language.values(concepts, scenes)
    for i, concept in enumerate(concepts):
        for scene in range(SCENES):
            if fast[i, scene] != language.value(concept, scenes, scene):
                raise LawBroken(f"{concept!r} on scene {scene} of {key}")


def the_same_key_gives_the_same_scenes(language: Language, key: Key) -> None:
    first, again, other = (language.world.sample(SCENES, k) for k in (key / "a", key / "a", key / "b"))
    if not _same(first, again):
        raise LawBroken(f"two samples of {key}/a differ")
    if _same(first, other):
        raise LawBroken(f"the samples of {key}/a and {key}/b are the same")


def _same(a: Scenes, b: Scenes) -> bool:
    return (
        np.array_equal(a.count, b.count)
        and np.array_equal(a.position, b.position)
        and all(np.array_equal(a.codes[name], b.codes[name]) for name in a.codes)
        and all(np.array_equal(a.extra[name], b.extra[name]) for name in a.extra)
    )


def worlds_contain_what_they_make(language: Language, key: Key) -> None:
    if not language.world.contains(language.world.sample(SCENES, key / "scenes")).all():
        raise LawBroken(f"a scene of {key} is not of its own world")


def held_out_concepts_are_held_out(language: Language, key: Key) -> None:
    concepts = language.concepts(10 * CONCEPTS, key / "concepts")
    for split in language.splits.values():
        if split.test is anything:
            continue
        for concept in concepts:
            if split.train(concept) and split.test(concept):
                raise LawBroken(f"{concept!r} is on both sides of {split.name}")


LAWS: dict[str, Callable[[Language, Key], None]] = {
    law.__name__.replace("_", " "): law
    for law in (
        every_symbol_has_a_meaning,
        reading_what_is_written_gives_it_back,
        the_fast_meaning_equals_the_plain_one,
        the_same_key_gives_the_same_scenes,
        worlds_contain_what_they_make,
        held_out_concepts_are_held_out,
    )
}
