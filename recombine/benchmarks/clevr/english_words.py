"""CLEVR's words: synonyms of values, ways to name an object, ways to say a direction."""

from functools import cache
from itertools import product

from recombine.benchmarks.clevr.language import ATTRIBUTES, CLEVR_VOCABULARY
from recombine.benchmarks.clevr.shapes import Description
from recombine.store.errors import UserError

SYNONYMS = {
    "": ("thing", "object"),
    "small": ("small", "tiny"),
    "large": ("large", "big"),
    "rubber": ("rubber", "matte"),
    "metal": ("metal", "metallic", "shiny"),
    "cube": ("cube", "block"),
    "sphere": ("sphere", "ball"),
}
"""Words for a value, the plainest first; an empty shape is a thing. A value that is not listed is its own word."""

DIRECTIONS = {
    "left": ("left of", "to the left of", "on the left side of"),
    "right": ("right of", "to the right of", "on the right side of"),
    "front": ("in front of",),
    "behind": ("behind",),
}

READ_ONLY = {"grey": "gray"}
"""Spellings that are read and never said."""

VALUES: dict[str, tuple[str, str]] = {
    word: (attribute.name, value)
    for attribute in CLEVR_VOCABULARY
    for value in attribute.values
    for word in SYNONYMS.get(value, (value,))
}
VALUES |= {word: VALUES[meant] for word, meant in READ_ONLY.items()}
NOUNS = {word: ("shape", "") for word in SYNONYMS[""]} | {
    word: meant for word, meant in VALUES.items() if meant[0] == "shape"
}
ADJECTIVES = {word: meant for word, meant in VALUES.items() if meant[0] != "shape"}


@cache
def names(description: Description, plural: bool = False) -> tuple[str, ...]:
    """All ways to name an object of this description, the plainest first."""
    *adjectives, shape = description
    choices = [SYNONYMS.get(value, (value,)) for value in adjectives if value] + [SYNONYMS.get(shape, (shape,))]
    return tuple(" ".join(words) + "s" * plural for words in product(*choices))


@cache
def meant(name: str) -> Description:
    """The description that a name says: adjectives in any order, then a noun."""
    *adjectives, noun = name.split()
    said = [ADJECTIVES[word] for word in adjectives] + [NOUNS.get(noun) or NOUNS[noun.removesuffix("s")]]
    attributes = [attribute for attribute, _ in said]
    twice = [attribute for attribute in ATTRIBUTES if attributes.count(attribute) > 1]
    if twice:
        raise UserError(f"'{name}' names a {twice[0]} twice.")
    return Description(**dict(said))
