"""Questions in English: said from a program, and read back into it.

>>> question = "There is a big red block; how many tiny things are left of it?"
>>> program = read(question)
>>> program
count(filter[size,small](relate[left](unique(filter[shape,cube](filter[color,red](filter[size,large](scene)))))))
>>> next(iter(forms(program)))
'How many small things are left of the large red cube?'
>>> question in {say(program, np.random.default_rng(seed)) for seed in range(5_000)}
True
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.clevr.english_frames import SLOT, with_and_without
from recombine.benchmarks.clevr.english_reading import Reader
from recombine.benchmarks.clevr.english_words import phrases, words_of
from recombine.benchmarks.clevr.families import Family, clevr_families
from recombine.benchmarks.clevr.language import CLEVR, Speech
from recombine.benchmarks.clevr.shapes import Filling
from recombine.language.expr import Expr


class English(Reader):
    """The English of some families."""

    def say(self, program: Expr, rng: np.random.Generator) -> str:
        """One of the sentences that ask this question; all choices of words are fair."""
        return ask(*self.families.recognise(program), rng)

    def forms(self, program: Expr) -> Iterator[str]:
        """All sentences that ask this question, each value in its plainest word."""
        family, filling = self.families.recognise(program)
        for frame in _forms(family, _needs_no_other(family, filling)):
            for form in frame:
                words = (_wordings(family, filling, slot, plural)[0] for slot, plural in form.slots)
                yield _sentence(form.text % tuple(words))


def ask(family: Family, filling: Filling, rng: np.random.Generator) -> str:
    """One of the sentences that ask for a family's program with these slots; all choices of words are fair."""
    luck = int(rng.integers(_LUCK))
    frames = _forms(family, _needs_no_other(family, filling))
    luck, frame = divmod(luck, len(frames))
    luck, variant = divmod(luck, len(frames[frame]))
    form = frames[frame][variant]
    words = []
    for slot, plural in form.slots:
        choices = _wordings(family, filling, slot, plural)
        luck, choice = divmod(luck, len(choices))
        words.append(choices[choice])
    return _sentence(form.text % tuple(words))


_LUCK = 1 << 62
"""One draw decides all choices of a sentence; they multiply to less than a millionth of this."""


class _Form(NamedTuple):
    text: str  # with %s for each slot
    slots: tuple[tuple[str, bool], ...]  # name of the slot, plural


_OTHER = re.compile(r"\b(an)?other\b ?")


@cache
def _forms(family: Family, without_other: bool) -> tuple[tuple[_Form, ...], ...]:
    """Frame by frame, the forms that arise by keeping or leaving its optional words."""
    texts = family.spoken
    if without_other:
        texts = tuple(_OTHER.sub(lambda match: "a " if match[1] else "", text) for text in texts)
    return tuple(tuple(_form(variant) for variant in with_and_without(text)) for text in texts)


def _form(text: str) -> _Form:
    slots = tuple((slot, plural == "s") for slot, plural in SLOT.findall(text))
    return _Form(SLOT.sub("%s", text), slots)


def _wordings(family: Family, filling: Filling, slot: str, plural: bool) -> tuple[str, ...]:
    value = filling[slot]
    if isinstance(value, str):
        return phrases(value)
    return words_of(family.dialect.by_letter[slot[0]]).names(value, plural)


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:].replace(' ;', ';')}?"


def _needs_no_other(family: Family, filling: Filling) -> bool:
    """Whether what matches and its anchor are said to differ, so that 'other' would say nothing new.

    As in CLEVR's files, a thing counts as different from a cube.
    """
    if family.name != "same_relate" or family.outer == ():
        return False
    noun, (anchor, match) = family.dialect.objects.noun, (dict(filling[slot]) for slot in ("D1", "D2"))  # type: ignore
    return anchor.get(noun) != match.get(noun) or any(anchor[name] != match[name] for name in {*anchor} & {*match})


@cache
def english_of(speech: Speech) -> English:
    """What CLEVR's families say in a dialect, or about a vocabulary."""
    return English(clevr_families(speech))


def say(program: Expr, rng: np.random.Generator, speech: Speech = CLEVR) -> str:
    """One of the sentences that ask this question, by default of CLEVR; all choices of words are fair."""
    return english_of(speech).say(program, rng)


def read(text: str, speech: Speech = CLEVR) -> Expr:
    """The program of a question, by default of CLEVR."""
    return english_of(speech).read(text)


forms, readings = english_of(CLEVR).forms, english_of(CLEVR).readings
