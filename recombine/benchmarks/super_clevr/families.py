"""Super-CLEVR's families: CLEVR's ninety about vehicles, and nine about their parts.

>>> families = part_families(VehicleWorld())
>>> families[3]
<part 3: query[color](part2object(unique_part(P1(objects2parts(D1(scene))))))>
>>> [len(part_families(VehicleWorld())), len(object_families(VehicleWorld()))]
[9, 90]
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

from recombine.benchmarks.clevr.english_frames import Frames
from recombine.benchmarks.clevr.families import Families, Family, clevr_families
from recombine.benchmarks.clevr.language import query
from recombine.benchmarks.clevr.shapes import EVERYTHING, one, shape_of
from recombine.benchmarks.super_clevr.language import (
    ONLY_PART,
    OWNER_OF,
    PART_SAID,
    PARTS_OF,
    PARTS_OF_ALL,
    SAID,
    dialect_of,
)
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.language.expr import Expr, Symbol


@dataclass(frozen=True, eq=False, repr=False)
class PartFamily(Family):
    """A family of questions about parts; some of its descriptions stay empty, and none names the size of a part."""

    silent: tuple[str, ...] = ()
    """Slots of which nothing is said."""

    @cached_property
    def unnamed(self) -> frozenset[tuple[str, str]]:
        silent = {(slot, attribute) for slot in self.silent for attribute in (*SAID, *PART_SAID)}
        sizes = {(slot, "size") for slot in self.slots if slot[0] == "P"}
        return Family.unnamed.func(self) | silent | sizes  # type: ignore[attr-defined]


def object_families(world: VehicleWorld, edition: str = "paper") -> Families:
    """CLEVR's families about the vehicles of a world."""
    return clevr_families(dialect_of(world, edition, parts=False))


@lru_cache(maxsize=16)
def part_families(world: VehicleWorld, edition: str = "paper") -> Families:
    """The nine about parts."""
    dialect = dialect_of(world, edition)
    of_one = Expr(PARTS_OF, (one(EVERYTHING),))
    of_any = Expr(ONLY_PART, (Expr(PARTS_OF_ALL, (EVERYTHING,)),))
    owner = Expr(OWNER_OF, (of_any,))
    beside = Expr(PARTS_OF, (owner,))
    found: list[Family] = []
    for asked in ("color", "partname", "material"):
        frame = f"what is the {_title(asked)} of the P1 of the D1"
        found.append(_family(len(found), _asked(asked, of_one), frame, dialect))
    for asked in ("color", "shape", "material"):
        frame = f"what is the {_title(asked)} of the D1 that has a P1"
        found.append(_family(len(found), Expr(query(asked), (owner,)), frame, dialect))
    for asked in ("color", "partname", "material"):
        frame = f"what is the {_title(asked)} of the P2 that belongs to the same object as the P1"
        found.append(_family(len(found), _asked(asked, beside), frame, dialect, ("P1", "P2"), ("D1",)))
    return Families(found)


def _title(attribute: str) -> str:
    return "name" if attribute in ("partname", "shape") else attribute


def _asked(attribute: str, parts: Expr) -> Expr:
    return Expr(Symbol("partquery", (attribute,), ("part",), attribute), (Expr(ONLY_PART, (parts,)),))


def _family(index, program, frame, dialect, apart=(), silent=()) -> Family:  # type: ignore[no-untyped-def]
    shape = shape_of(program, dialect)
    return PartFamily(index, "part", "part", shape, None, apart, Frames((frame,)), dialect=dialect, silent=silent)
