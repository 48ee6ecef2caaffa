"""Words: ways to name a thing, and what a name means; ways to say a direction."""

import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from itertools import product

from recombine.benchmarks.clevr.language import Sort
from recombine.benchmarks.clevr.shapes import Description
from recombine.store.errors import UserError

DIRECTIONS = {
    "left": ("left of", "to the left of", "on the left side of"),
    "right": ("right of", "to the right of", "on the right side of"),
    "front": ("in front of",),
    "behind": ("behind",),
}


@cache
def phrases(direction: str) -> tuple[str, ...]:
    """All ways to say a direction, the plainest first."""
    return tuple(" and ".join(said) for said in product(*(DIRECTIONS[way] for way in direction.split("+"))))


class Words:
    """The names of one sort of things: adjectives, then a noun."""

    def __init__(self, sort: Sort) -> None:
        self.sort = sort
        self.names = cache(self._names)
        self.meant = cache(self._meant)

    def said(self, value: str) -> tuple[str, ...]:
        """All words for a value or a category, the plainest first; for the empty noun, those for any thing."""
        return self.sort.words.get(value, (value.replace("_", " "),)) if value else self.sort.bare

    def plural(self, word: str) -> str:
        return self.sort.plurals.get(word, f"{word}s")

    def _names(self, description: Description, plural: bool = False) -> tuple[str, ...]:
        """All ways to name a thing of this description, the plainest first."""
        said = dict(description)
        *adjectives, noun = (*(said.get(name, "") for name in self.adjectival), said.get(self.sort.noun, ""))
        choices = [self.said(value) for value in adjectives if value] + [self.said(noun)]
        texts = (words if not plural else (*words[:-1], self.plural(words[-1])) for words in product(*choices))
        return tuple(" ".join(words) for words in texts)

    @property
    def adjectival(self) -> tuple[str, ...]:
        return tuple(name for name in self.sort.attributes if name != self.sort.noun)

    @cached_property
    def adjectives(self) -> dict[str, tuple[str, str]]:
        """Attribute and value of every word that may stand before a noun."""
        return self._known(self.adjectival)

    @cached_property
    def nouns(self) -> dict[str, tuple[str, str]]:
        """The same of every noun."""
        return {word: (self.sort.noun, "") for word in self.sort.bare} | self._known((self.sort.noun,))

    @cached_property
    def forms(self) -> dict[str, tuple[str, str]]:
        """The same of every noun and of its plural."""
        return {**{self.plural(word): meant for word, meant in self.nouns.items()}, **self.nouns}

    @cached_property
    def pattern(self) -> str:
        """A regular expression of all names."""
        return rf"(?:(?:{any_of(self.adjectives)}) )*(?:{any_of(self.forms)})\b"

    @cached_property
    def example(self) -> str:
        named = {*self.adjectival[:2], self.sort.noun} - {""}
        return self.names(Description(**{name: self.sort.vocabulary[name].values[0] for name in named}))[0]

    def _meant(self, name: str) -> Description:
        """The description that a name says: adjectives in any order, then a noun."""
        said = next(self._split(name))
        attributes = [attribute for attribute, _ in said]
        twice = [attribute for attribute in self.sort.attributes if attributes.count(attribute) > 1]
        if twice:
            raise UserError(f"'{name}' names a {self.sort.title(twice[0])} twice.")
        return Description(**dict(said))

    def _split(self, name: str) -> Iterator[list[tuple[str, str]]]:
        """What the words of a name mean, one by one, in every way; words may have several parts."""
        if name in self.forms:
            yield [self.forms[name]]
        for word, meant in self.adjectives.items():
            if name.startswith(f"{word} "):
                yield from ([meant, *rest] for rest in self._split(name[len(word) + 1 :]))

    def _known(self, attributes: tuple[str, ...]) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        facets = [facet for facet in self.sort.facets if facet.attribute in attributes]
        for meant in [(facet.attribute, value) for facet in facets for value in facet.words]:
            for word in self.said(meant[1]):
                if found.setdefault(word, meant) != meant:
                    raise UserError(
                        f"the word '{word}' is said of {' and '.join(found[word])} and of {' and '.join(meant)}; "
                        "give one of them another word"
                    )
        return found | {word: found[value] for word, value in self.sort.heard.items() if value in found}


def any_of(words: Iterable[str]) -> str:
    """A regular expression of words, longer ones first; of nothing where there are none."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True))) or "(?!)"


@cache
def words_of(sort: Sort) -> Words:
    return Words(sort)
