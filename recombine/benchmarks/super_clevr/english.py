"""Super-CLEVR's questions in English: said from programs, and read back.

>>> english = english_of(VehicleWorld())
>>> program = english.read("What is the color of the articulated bus that has a metallic wheel?")
>>> program
query[color](part2object(unique_part(partfilter[partname,wheel](partfilter[material,metal](objects2parts(filter[shape,articulated](scene)))))))
>>> english.read("How many large buss are there?") is english.read("How many big buses are there?")
True
>>> article("There is a articulated bus; is there a utility bike behind it?")
'There is an articulated bus; is there a utility bike behind it?'
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from recombine.benchmarks.clevr.english import English, ask
from recombine.benchmarks.clevr.english_words import any_of, words_of
from recombine.benchmarks.clevr.families import Families, Family
from recombine.benchmarks.clevr.shapes import Filling
from recombine.benchmarks.super_clevr.families import object_families, part_families
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.language.expr import Expr
from recombine.store.errors import UserError

_VOWEL = re.compile(r"\b([Aa]) (?=(?!utility|unicycle|one)[aeio]|u(?!ti|ni)|suv\b)")
_BUSES = re.compile(r"\bbuss\b", re.IGNORECASE)


def article(text: str) -> str:
    """The text with "an" where it belongs."""
    return _VOWEL.sub(r"\1n ", text)


def say_slots(family: Family, slots: Filling, edition: str, rng: np.random.Generator) -> str:
    """One of the sentences that ask for a family's program with these slots, in the words of an edition."""
    text = ask(family, slots, rng)
    return text if edition == "release" else article(text)


@dataclass(frozen=True, eq=False)
class VehicleEnglish:
    """The English of questions about the vehicles of a world and about their parts."""

    world: VehicleWorld
    edition: str = "paper"

    @cached_property
    def objects(self) -> English:
        return English(object_families(self.world, self.edition))

    @cached_property
    def parts(self) -> English:
        return English(part_families(self.world, self.edition))

    def families_of(self, program: Expr) -> Families:
        """The families among which a program has one."""
        is_part = "part" in repr(program)
        return self.parts.families if is_part else self.objects.families

    def say(self, program: Expr, rng: np.random.Generator) -> str:
        """One of the sentences that ask this question."""
        return say_slots(*self.families_of(program).recognise(program), self.edition, rng)

    def read(self, text: str) -> Expr:
        """The program that a question asks for, in the words of either edition."""
        if self.edition != "release":
            text = _BUSES.sub("buses", text)
        readers = (self.parts, self.objects) if self._of_parts.search(text) else (self.objects, self.parts)
        try:
            return readers[0].read(text)
        except UserError as unread:
            try:
                return readers[1].read(text)
            except UserError as also:  # the reader who guesses what was meant says it
                guesses = "did you mean" in str(also) and "did you mean" not in str(unread)
                raise (also if guesses else unread) from None

    @cached_property
    def _of_parts(self) -> re.Pattern[str]:
        """A word for a part."""
        return re.compile(rf"\b(?:{any_of(words_of(self.parts.families.dialect.sorts[-1]).forms)})\b", re.IGNORECASE)


@lru_cache(maxsize=16)
def english_of(world: VehicleWorld, edition: str = "paper") -> VehicleEnglish:
    return VehicleEnglish(world, edition)
