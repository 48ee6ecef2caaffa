"""CLOSURE's seven tests: places in which CLEVR never puts a matching relation.

A set of objects is *simple* where a description finds it ("big cubes"), *spatial* where a relation such as "left of"
does, *matching* where a relation such as "same size as" does. In CLEVR a matching relation starts from a simple
object and is counted, asked about or looked for at once: it has no part in another relation, a comparison, a union or
an intersection. Each test says which of these it breaks.

>>> CLOSURE_SPLITS["or_mat"].test
has a union of a matching set and a simple set
>>> CLOSURE_SPLITS["or_mat"].train
is a program of one of CLEVR's 90 families
"""

from recombine.benchmarks.clevr.families import CLEVR_FAMILIES
from recombine.benchmarks.clevr.shapes import parts_of
from recombine.language.expr import Expr, subterms
from recombine.language.query import Where
from recombine.tasks.splits import Split

CLEVR_SHAPES: frozenset[Expr] = frozenset(family.shape for family in CLEVR_FAMILIES)
"""The shapes of the programs that CLEVR's distribution produces."""


def _possible(program: Expr) -> bool:
    family = CLEVR_FAMILIES.family_of(program)
    if family is None or not family.apart:
        return family is not None
    parts = parts_of(program)
    one, other = (parts[slot] for slot in family.apart)
    return one is not other


possible_in_clevr = Where("is a program of one of CLEVR's 90 families", _possible)
"""Has a family's shape, names outside a union only what the family names there, and sets nothing beside itself."""

_KINDS = {"scene": "simple", "relate": "spatial", "same": "matching"}


def kind(objects: Expr) -> str:
    """How a set of objects is found, whatever describes it further: simple, spatial, matching, or another way."""
    while objects.head.family == "filter":
        (objects,) = objects.args
    return _KINDS.get(objects.head.family, objects.head.family)


def _embeds(outer: str, inner: str) -> Where:
    """A relation of one kind, from an object that is found by a relation of another kind."""

    def test(program: Expr) -> bool:
        links = (term for term in subterms(program) if term.head.family in ("relate", "same"))
        return any(kind(link) == outer and kind(link.args[0].args[0]) == inner for link in links)

    return Where(f"has a {outer} relation from an object that is itself found by a {inner} relation", test)


def _compares(one: str, other: str) -> Where:
    """An attribute of an object found one way, compared with that of an object found another way."""

    def test(program: Expr) -> bool:
        comparisons = (term for term in subterms(program) if term.head.family == "equal")
        return any({kind(asked.args[0].args[0]) for asked in term.args} == {one, other} for term in comparisons)

    return Where(f"compares an object of a {one} set with an object of a {other} set", test)


def _joins(family: str, name: str, one: str, other: str) -> Where:
    """A union or intersection of sets found in two ways."""

    def test(program: Expr) -> bool:
        joined = (term for term in subterms(program) if term.head.family == family)
        return any({kind(side) for side in term.args} == {one, other} for term in joined)

    return Where(f"has {name} of a {one} set and a {other} set", test)


_SPLITS = (
    Split(
        "embed_spa_mat",
        "Matching a spatial referent",
        "CLEVR matches only objects that a description finds, never one that a spatial relation finds",
        possible_in_clevr,
        _embeds("matching", "spatial"),
    ),
    Split(
        "embed_mat_spa",
        "Standing beside a match",
        "CLEVR starts a spatial relation from simple or spatial referents, never from a matching one",
        possible_in_clevr,
        _embeds("spatial", "matching"),
    ),
    Split(
        "compare_mat",
        "Comparing a match",
        "CLEVR compares simple and spatial referents, never a matching one",
        possible_in_clevr,
        _compares("matching", "simple"),
    ),
    Split(
        "compare_mat_spa",
        "Comparing a match with a spatial referent",
        "CLEVR compares simple and spatial referents, never a matching one",
        possible_in_clevr,
        _compares("matching", "spatial"),
    ),
    Split(
        "and_mat_spa",
        "Matching and standing",
        "CLEVR's 'and' joins two spatial relations, never a matching one",
        possible_in_clevr,
        _joins("intersect", "an intersection", "matching", "spatial"),
    ),
    Split(
        "or_mat",
        "Matching or described",
        "CLEVR's 'or' joins simple and spatial sets, never a matching one",
        possible_in_clevr,
        _joins("union", "a union", "matching", "simple"),
    ),
    Split(
        "or_mat_spa",
        "Matching or standing",
        "CLEVR's 'or' joins simple and spatial sets, never a matching one",
        possible_in_clevr,
        _joins("union", "a union", "matching", "spatial"),
    ),
)

CLOSURE_SPLITS: dict[str, Split] = {split.name: split for split in _SPLITS}
"""Train on what CLEVR can ask, test on what one CLOSURE test asks."""
