"""Why a concept has no objects: the smallest set of conflicting conditions that dropping one after the other finds."""

from dataclasses import replace

from recombine.benchmarks.concept_world.definition import Definition, Library
from recombine.benchmarks.concept_world.formula import both, write
from recombine.benchmarks.concept_world.planner import Limits, Search
from recombine.language.expr import Expr
from recombine.store.errors import UserError

STEPS = 2_000
"""Options that are tried to see whether some of the conditions can hold."""
SHOWN = 3
"""Alternatives of a disjunction that are explained."""


def explain(library: Library, name: str, limits: Limits, within: tuple[str, ...] = ()) -> str:
    """A sentence that names the conditions of a concept that exclude one another."""
    definition = library.definitions[name]
    alternatives = definition.body.args if definition.body.head.family == "or" else (definition.body,)
    within = (*within, name)
    found = [_of_one(library, definition, alternative, limits, within) for alternative in alternatives[:SHOWN]]
    more = f"; and {len(alternatives) - SHOWN} more alternatives" if len(alternatives) > SHOWN else ""
    return "; or ".join(dict.fromkeys(found)) + more


def _of_one(
    library: Library, definition: Definition, alternative: Expr, limits: Limits, within: tuple[str, ...]
) -> str:
    parts = list(alternative.args) if alternative.head.family == "and" else [alternative]
    # Patterns last: without them nothing may say what a variable is.
    for part in sorted(parts, key=lambda part: part.head.family == "same"):
        rest = [other for other in parts if other is not part]
        if rest and not _possible(library, definition, rest, limits):
            parts = rest
    if len(parts) == 1 and parts[0].head.family == "call":
        inner = parts[0].head.index[0]
        if inner not in within and not _possible(library, library.definitions[inner], None, limits):
            return explain(library, inner, limits, within)
    place = f" ({definition.place})" if definition.place.line else ""
    conditions = " and ".join(f"'{write(part)}'" for part in parts)
    if len(parts) == 1:
        return f"in {definition.name}{place} the condition {conditions} cannot hold on this grid"
    return f"in {definition.name}{place} the conditions {conditions} exclude one another"


def _possible(library: Library, definition: Definition, parts: list[Expr] | None, limits: Limits) -> bool:
    """Whether an object satisfies the definition, or only these conditions of it."""
    name = f"{definition.name} in part"
    body = definition.body if parts is None else both(*parts)
    part = replace(definition, name=name, body=body)
    narrowed = replace(library, definitions={**library.definitions, name: part})
    search = Search(narrowed, name, replace(limits, steps=STEPS))
    try:
        return next(search.plans(), None) is not None or search.cut
    except UserError:
        return True  # it cannot be told, or without the dropped condition nothing says what a variable is
