"""A dialect as a concept learner takes it: what every token does, and the concepts, attributes and directions."""

from functools import lru_cache

from recombine.benchmarks.clevr.language import DIRECTIONS, Dialect
from recombine.benchmarks.clevr.program import ProgramTokens
from recombine.language.expr import Symbol
from recombine.solvers.networks.nscl import ConceptLanguage
from recombine.solvers.programs import SPECIAL
from recombine.store.errors import UserError


@lru_cache(maxsize=16)
def concept_language(dialect: Dialect) -> ConceptLanguage:
    """The concepts are all words of filters, and all values; categories are concepts of their own."""
    if len(dialect.sorts) > 1:
        raise UserError("a concept learner speaks of objects, not of their parts; ask questions about objects")
    objects, symbols = dialect.objects, [*ProgramTokens(dialect).symbols.values()]
    said = [symbol.index for symbol in symbols if symbol.family == "filter"]
    values = [(kind, value) for kind in objects.asked for value in dialect.answers[kind]]
    concepts = list(dict.fromkeys([*said, *values]))

    def about(symbol: Symbol) -> tuple[int, ...]:
        if symbol.family == "filter":
            return (concepts.index(symbol.index),)
        if symbol.family == "relate":
            return tuple(DIRECTIONS.index(way) for way in symbol.index[0].split("+"))
        return tuple(objects.attributes.index(name) for name in symbol.index)

    value, start = list[int](), 0
    first: dict[str, int] = {}
    for kind, words in dialect.answers.items():
        first[kind], start = start, start + len(words)
        value += [-1 if kind in ("bool", "number") else concepts.index((kind, word)) for word in words]
    return ConceptLanguage(
        act=("",) * SPECIAL + tuple(symbol.family for symbol in symbols),
        about=((),) * SPECIAL + tuple(map(about, symbols)),
        concepts=tuple("/".join(concept) for concept in concepts),
        attributes=objects.attributes,
        directions=DIRECTIONS,
        value=tuple(value),
        truth=(first["bool"], first["bool"] + 1),
        numbers=tuple(range(first["number"], first["number"] + len(dialect.answers["number"]))),
    )
