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
from recombine.benchmarks.clevr.english_words import Words, any_of, phrases, words_of
from recombine.benchmarks.clevr.families import Families, Family
from recombine.benchmarks.clevr.shapes import Description, Filling, fill
from recombine.language.expr import Expr, pointed
from recombine.store.errors import UserError

LONGEST = 2_000
"""Letters of a question that is read."""

_SPELLINGS = {"another": "a", "an": "a", "which": "that", "colour": "color"}
_SKIPPED = ("both", "either", "other")


class _Token(NamedTuple):
    key: str
    at: int
    value: Description | str | None = None


class _Pattern(NamedTuple):
    """What a sequence of tokens means: slots in the order in which they are said; None is a plain 'thing'."""

    family: Family
    unsaid: tuple[str, ...]
    slots: tuple[str | None, ...]

    @property
    def meaning(self) -> tuple[object, ...]:
        """Families that differ only in what they may name have the same patterns."""
        return self.family.shape, self.unsaid, self.slots

    def program(self, values: list[Description | str]) -> Expr | None:
        filling: Filling = dict.fromkeys(self.unsaid, Description())
        for slot, value in zip(self.slots, values):
            if slot is not None:
                filling[slot] = value
            elif value != Description():
                return None
        return fill(self.family.shape, filling, self.family.dialect)


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
        tokens = self._tokens(text)
        patterns = self.patterns.get(tuple(token.key for token in tokens), ())
        values = [token.value for token in tokens if token.value is not None]
        found = (pattern.program(values) for pattern in patterns)
        programs = tuple(dict.fromkeys(program for program in found if program is not None))
        if not programs:
            raise UserError(self._not_plain(text, tokens, patterns[0]) if patterns else self._stopped(text, tokens))
        return programs

    @cached_property
    def patterns(self) -> dict[tuple[str, ...], tuple[_Pattern, ...]]:
        """Everything that can be read."""
        patterns: dict[tuple[str, ...], dict[object, _Pattern]] = {}
        for family in self.families:
            for text in family.readable:
                for form in with_and_without(text):
                    key, pattern = self._pattern(family, form)
                    patterns.setdefault(key, {}).setdefault(pattern.meaning, pattern)
        return {key: tuple(found.values()) for key, found in patterns.items()}

    # Tokens.

    @cached_property
    def _words(self) -> dict[str, Words]:
        return {sort.letter: words_of(sort) for sort in self.families.dialect.sorts}

    @cached_property
    def _direction(self) -> dict[str, str]:
        """What is meant by every way to say a direction."""
        return {phrase: direction for direction in self.families.dialect.directions for phrase in phrases(direction)}

    @cached_property
    def _token(self) -> re.Pattern[str]:
        relation = rf"(?:{any_of(self._direction)})\b"
        names = {letter: words.pattern for letter, words in self._words.items()}
        adjectives = "|".join(any_of(words.adjectives) for words in self._words.values())
        return re.compile(
            rf"(?P<relation>{relation})"
            rf"|(?P<skip>(?:that|which) (?:is|are)(?= (?:both )?{relation})"
            rf"|(?:{'|'.join(_SKIPPED)})\b|made of(?= the same)"
            rf"|the(?= (?:other )?(?:{adjectives}|{'|'.join(names.values())})))"
            rf"|{'|'.join(f'(?P<{letter}>{pattern})' for letter, pattern in names.items())}"
            rf"|(?P<stop>[;,:.])|(?P<word>\w+|\S)"
        )

    def _tokens(self, text: str) -> list[_Token]:
        """Words, names and directions; words that add nothing to the meaning are left out."""
        tokens = []
        for match in self._token.finditer(text.lower()):
            kind, said, at = str(match.lastgroup), match.group(), match.start()
            if kind in self._words:
                tokens.append(_Token(f"<{kind}>", at, self._meant(text, kind, said, at)))
            elif kind == "relation":
                tokens.append(_Token("<R>", at, self._direction[said]))
            elif kind == "stop":
                tokens.append(_Token(";", at))
            elif kind == "word":
                tokens.append(_Token(_SPELLINGS.get(said, said), at))
        return tokens

    def _meant(self, text: str, letter: str, name: str, at: int) -> Description:
        try:
            return self._words[letter].meant(name)
        except UserError as error:
            raise UserError(f"{pointed(text, at)}: {error}") from None

    @cached_property
    def _bare(self) -> dict[str, str]:
        """The word for any thing of a sort."""
        return {letter: words.sort.bare[0] for letter, words in self._words.items()}

    @cached_property
    def _said(self) -> re.Pattern[str]:
        """The names and directions of a form: slots, and plain things."""
        bare = [(words, word) for words in self._words.values() for word in words.sort.bare]
        things = [form for words, word in bare for form in (words.plural(word), word)]
        return re.compile(rf"\b(?:([A-Z]\d)s?|{'|'.join(map(re.escape, things))})\b")

    def _pattern(self, family: Family, form: str) -> tuple[tuple[str, ...], _Pattern]:
        slots = tuple(slot or None for slot in self._said.findall(form))
        example = SLOT.sub(lambda match: self._bare.get(match[1][0], "behind"), form)
        unsaid = tuple(slot for slot in family.slots if slot not in slots)
        return tuple(token.key for token in self._tokens(example)), _Pattern(family, unsaid, slots)

    # Errors.

    @cached_property
    def known(self) -> frozenset[str]:
        """All words that can be read."""
        words = {word for key in self.patterns for word in key if word not in self._shown}
        names = [word for words in self._words.values() for word in (*words.adjectives, *words.forms)]
        return frozenset(words | set(" ".join((*self._direction, *names, *_SPELLINGS)).split()) | {*_SKIPPED})

    @cached_property
    def _shown(self) -> dict[str, str]:
        names = {f"<{letter}>": f"a name such as '{words.example}'" for letter, words in self._words.items()}
        return {**names, "<R>": "a direction such as 'left of'", ";": "';'"}

    def _stopped(self, text: str, tokens: list[_Token]) -> str:
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
        return f"{pointed(text, at)}: expected {self._listed(following)} here."

    def _listed(self, keys: set[str]) -> str:
        shown = sorted(self._shown.get(key) or (key if key == "the end" else f"'{key}'") for key in keys)
        return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"

    def _not_plain(self, text: str, tokens: list[_Token], pattern: _Pattern) -> str:
        said = zip([token for token in tokens if token.value is not None], pattern.slots)
        token = next(token for token, slot in said if slot is None and token.value != Description())
        letter = token.key[1]
        return f"{pointed(text, token.at)}: expected '{self._words[letter].plural(self._bare[letter])}' here."


def _common(key: tuple[str, ...], pattern: tuple[str, ...]) -> int:
    """How many tokens agree from the start."""
    pairs = enumerate(zip(key, pattern))
    return next((place for place, (a, b) in pairs if a != b), min(len(key), len(pattern)))
