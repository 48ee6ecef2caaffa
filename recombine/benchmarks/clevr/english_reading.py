"""English questions read into programs.

A sentence becomes tokens (words, names such as 'small red cube', directions); what adds nothing to the meaning, such as
'other' or 'that is' before a direction, is left out. The kinds of the tokens are then looked up among the patterns of
all question families, which come from the same frames that say them.
"""

import re
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

from recombine.benchmarks.clevr.english_frames import SLOT, with_and_without
from recombine.benchmarks.clevr.english_words import ADJECTIVES, DIRECTIONS, NOUNS, meant
from recombine.benchmarks.clevr.families import Families, Family
from recombine.benchmarks.clevr.shapes import Description, Filling, fill
from recombine.language.expr import Expr, pointed
from recombine.store.errors import UserError

LONGEST = 2_000
"""Letters of a question that is read."""


class Reader:
    """Reads the questions of some families."""

    def __init__(self, families: Families) -> None:
        self.families = families

    def read(self, text: str) -> Expr:
        """The program that a question asks for; an error says where reading stopped."""
        found = self.readings(text)
        if len(found) > 1:
            raise UserError(f"'{text}' can be read in {len(found)} ways: {'; '.join(map(repr, found))}.")
        return found[0]

    def readings(self, text: str) -> tuple[Expr, ...]:
        """All programs that a question may ask for; at least one."""
        if len(text) > LONGEST:
            raise UserError(
                f"{pointed(text, 0)}: a question of {len(text):,} letters is longer than the {LONGEST:,} allowed"
            )
        text = " ".join(text.split()).rstrip("?.! ")
        tokens = _tokens(text)
        patterns = self.patterns.get(tuple(token.key for token in tokens), ())
        values = [token.value for token in tokens if token.value is not None]
        found = (pattern.program(values) for pattern in patterns)
        programs = tuple(dict.fromkeys(program for program in found if program is not None))
        if not programs:
            raise UserError(_not_plain(text, tokens, patterns[0]) if patterns else self._stopped(text, tokens))
        return programs

    @cached_property
    def patterns(self) -> "dict[tuple[str, ...], tuple[_Pattern, ...]]":
        """Everything that can be read."""
        patterns: dict[tuple[str, ...], dict[_Pattern, None]] = {}
        for family in self.families:
            for text in family.readable:
                for form in with_and_without(text):
                    key, pattern = _pattern(family, form)
                    patterns.setdefault(key, {})[pattern] = None
        return {key: tuple(found) for key, found in patterns.items()}

    @cached_property
    def known(self) -> frozenset[str]:
        """All words that can be read."""
        words = {word for key in self.patterns for word in key if word not in _SHOWN}
        phrases = " ".join((*_DIRECTION, *ADJECTIVES, *NOUNS, *(f"{noun}s" for noun in NOUNS), *_SPELLINGS))
        return frozenset(words | set(phrases.split()) | {"both", "either", "other"})

    def _stopped(self, text: str, tokens: "list[_Token]") -> str:
        """Where and why reading stopped: at the first unknown word, else where no pattern goes on."""
        for token in tokens:
            if token.value is None and token.key != ";" and token.key not in self.known:
                close = get_close_matches(token.key, sorted(self.known), n=1)
                hint = f"; did you mean '{close[0]}'?" if close else "."
                return f"{pointed(text, token.at)}: the word '{token.key}' is not known{hint}"
        key = tuple(token.key for token in tokens)
        length = max(_common(key, pattern) for pattern in self.patterns)
        following = {(*pattern, "the end")[length] for pattern in self.patterns if pattern[:length] == key[:length]}
        at = tokens[length].at if length < len(tokens) else len(text)
        return f"{pointed(text, at)}: expected {_listed(following)} here."


class _Token(NamedTuple):
    key: str
    at: int
    value: Description | str | None = None


class _Pattern(NamedTuple):
    """What a sequence of tokens means: slots in the order in which they are said; None is a plain 'thing'."""

    shape: Expr
    unsaid: tuple[str, ...]
    slots: tuple[str | None, ...]

    def program(self, values: list[Description | str]) -> Expr | None:
        filling: Filling = dict.fromkeys(self.unsaid, Description())
        for slot, value in zip(self.slots, values):
            if slot is not None:
                filling[slot] = value
            elif value != Description():
                return None
        return fill(self.shape, filling)


def _any(words: dict[str, tuple[str, str]]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_DIRECTION = {phrase: direction for direction, phrases in DIRECTIONS.items() for phrase in phrases}
_NAME = rf"(?:(?:{_any(ADJECTIVES)}) )*(?:{_any(NOUNS)})s?\b"
_RELATION = rf"(?:{'|'.join(_DIRECTION)})\b"
_TOKEN = re.compile(
    rf"(?P<relation>{_RELATION})"
    rf"|(?P<skip>(?:that|which) (?:is|are)(?= (?:both )?{_RELATION})"
    rf"|(?:both|either|other)\b|made of(?= the same)|the(?= (?:other )?(?:{_any(ADJECTIVES)}|{_NAME})))"
    rf"|(?P<name>{_NAME})|(?P<stop>[;,:.])|(?P<word>\w+|\S)"
)
_SPELLINGS = {"another": "a", "an": "a", "which": "that", "colour": "color"}


def _tokens(text: str) -> list[_Token]:
    """Words, names and directions; words that add nothing to the meaning are left out."""
    tokens = []
    for match in _TOKEN.finditer(text.lower()):
        kind, said, at = match.lastgroup, match.group(), match.start()
        if kind == "name":
            tokens.append(_Token("<name>", at, _meant(text, said, at)))
        elif kind == "relation":
            tokens.append(_Token("<direction>", at, _DIRECTION[said]))
        elif kind == "stop":
            tokens.append(_Token(";", at))
        elif kind == "word":
            tokens.append(_Token(_SPELLINGS.get(said, said), at))
    return tokens


def _meant(text: str, name: str, at: int) -> Description:
    try:
        return meant(name)
    except UserError as error:
        raise UserError(f"{pointed(text, at)}: {error}") from None


_SAID = re.compile(r"\b(?:([DR]\d)s?|things?)\b")
_EXAMPLES = {"D": "thing", "R": "behind"}


def _pattern(family: Family, form: str) -> tuple[tuple[str, ...], _Pattern]:
    slots = tuple(slot or None for slot in _SAID.findall(form))
    example = SLOT.sub(lambda match: _EXAMPLES[match[1][0]], form)
    unsaid = tuple(slot for slot in family.slots if slot not in slots)
    return tuple(token.key for token in _tokens(example)), _Pattern(family.shape, unsaid, slots)


_SHOWN = {"<name>": "a name such as 'small red cube'", "<direction>": "a direction such as 'left of'", ";": "';'"}


def _not_plain(text: str, tokens: list[_Token], pattern: _Pattern) -> str:
    said = zip([token for token in tokens if token.value is not None], pattern.slots)
    at = next(token.at for token, slot in said if slot is None and token.value != Description())
    return f"{pointed(text, at)}: expected 'things' here."


def _common(key: tuple[str, ...], pattern: tuple[str, ...]) -> int:
    """How many tokens agree from the start."""
    pairs = enumerate(zip(key, pattern))
    return next((place for place, (a, b) in pairs if a != b), min(len(key), len(pattern)))


def _listed(keys: set[str]) -> str:
    shown = sorted(_SHOWN.get(key) or (key if key == "the end" else f"'{key}'") for key in keys)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
