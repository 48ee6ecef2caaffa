"""Extensions: the images that satisfy a concept; counted, drawn uniformly, listed, recognised.

A draw proposes an object uniformly over all plans and placements, and keeps it with probability one over the number of
ways in which its image can be read: so every image is equally likely, however many objects look like it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.concept_world.definition import Library
from recombine.benchmarks.concept_world.match import Pattern, pattern, points_drawn, ways
from recombine.benchmarks.concept_world.partial_object import TooMany
from recombine.benchmarks.concept_world.plan import Plan
from recombine.benchmarks.concept_world.planner import DEPTH, STEPS, Limits, Search
from recombine.benchmarks.concept_world.sample_placements import Placed, Placer
from recombine.benchmarks.concept_world.unsat_core import explain
from recombine.language.query import Where, anything
from recombine.render.grid import codes
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.limit import check, tell

MOST_PLANS = 1_000
"""Plans that are listed where nothing else is said; a concept with more is drawn choice by choice."""
MOST_LISTED = 2_000_000
"""Proposals that are gone through one by one to count exactly."""
MOST_COUNTED = 1e300
CHUNK, MOST_POINTS = 50_000, 2**23
"""Proposals that are made at once, and points of all of them."""
PATIENCE = 2_000_000
"""Proposals that may fail before a draw gives up."""
SAMPLE = 40_000
"""Proposals that an estimate of a count rests on, if they are quickly read."""
PILOT = 400
"""Proposals that tell how quickly."""
READINGS = 100_000
"""Ways to read them that an estimate goes through, about."""


class Drawn(NamedTuple):
    """Objects of several plans; a colour of 255 says that there is no such point."""

    x: np.ndarray  # int16[n, most points]
    y: np.ndarray
    color: np.ndarray  # uint8[n, most points]
    plan: np.ndarray  # int32[n]

    @property
    def size(self) -> int:
        return len(self.plan)

    def take(self, index: np.ndarray | slice) -> "Drawn":
        return Drawn(*(column[index] for column in self))

    def names(self) -> list[bytes]:
        """A name for each image, the same for objects that look the same."""
        there = self.color != 255
        look = np.where(there, (self.y.astype(np.int64) << 24) + (self.x.astype(np.int64) << 8) + self.color, 1 << 60)
        rows = np.sort(look, axis=1)
        return [blake2b(row[:size].tobytes(), digest_size=16).digest() for row, size in zip(rows, there.sum(axis=1))]


class Count(NamedTuple):
    """How many images there are; bounds of 95 % where they were not all gone through."""

    images: float
    low: float
    high: float

    @property
    def exact(self) -> bool:
        return self.low == self.high

    def __str__(self) -> str:
        if self.exact:
            return f"{round(self.images):,}"
        middle, low, high = map(_rounded, self)
        return f"about {middle}" + (f" (95 % between {low} and {high})" if low != high else "")


def _rounded(number: float) -> str:
    """A number of four digits, or of three and a power of ten."""
    return f"{float(f'{number:.4g}'):,.0f}" if number < 1e9 else f"{number:.3g}"


@dataclass(frozen=True, eq=False)
class Extension:
    """The images of a concept whose derivations a predicate accepts."""

    library: Library
    name: str
    where: Where = anything
    depth: Mapping[str, int] = field(default_factory=dict)
    """Upper bounds on how often a definition stands inside itself."""
    otherwise: int = DEPTH
    points: int | None = None
    """Only images of so many points."""
    most: int | None = None
    """Plans that are listed; MOST_PLANS if nothing is said."""
    steps: int = STEPS
    """Options that are tried to find them."""

    # Plans.

    @cached_property
    def _found(self) -> tuple[tuple[Plan, ...], bool, bool]:
        """The plans, whether there are too many to list, and whether the depth limit cut some off."""
        search, found = self._search(), dict[tuple, Plan]()
        try:
            for plan in search.plans():
                if self.where(plan.derivation):
                    found.setdefault(plan.shape, plan)
                if len(found) > (self.most or MOST_PLANS):
                    return (), True, search.cut
        except TooMany:
            if not found:
                raise
            return (), True, search.cut
        return tuple(found.values()), False, search.cut

    @property
    def limits(self) -> Limits:
        return Limits(self.depth, self.otherwise, self.points, self.steps)

    def _search(self, rng: np.random.Generator | None = None) -> Search:
        return Search(self.library, self.name, self.limits, rng)

    @property
    def plans(self) -> tuple[Plan, ...]:
        return self._found[0]

    @property
    def too_many(self) -> bool:
        """Whether there are too many plans to list: then draws are uniform over choices, not over images."""
        return self._found[1]

    @property
    def cut(self) -> bool:
        """Whether longer derivations exist than the depth limit lets through."""
        return self._found[2]

    @cached_property
    def placers(self) -> tuple[Placer, ...]:
        return tuple(Placer(plan) for plan in self.plans)

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        return tuple(pattern(plan) for plan in self.plans)

    @cached_property
    def proposals(self) -> float:
        """How many different proposals there are; at least as many as images."""
        total = sum(placer.different for placer in self.placers)
        if not total < MOST_COUNTED:
            raise UserError(f"'{self.name}' has too many images to be counted; narrow it, or take a smaller grid")
        return total

    def need_plans(self) -> None:
        """Say why where the concept has no objects."""
        if self.too_many or self.plans:
            return
        if next(self._search().plans(), None) is not None:
            raise UserError(f"no derivation of '{self.name}' is one where {self.where}; loosen the condition")
        if self.cut:
            raise UserError(
                f"'{self.name}' has no object within the depth that was asked for; allow more with a larger depth"
            )
        if self.points is not None:
            raise UserError(f"'{self.name}' has no object of {self.points} points")
        raise UserError(f"'{self.name}' is inconsistent: {explain(self.library, self.name, self.limits)}")

    # Images.

    def images(self, drawn: Drawn) -> np.ndarray:
        """The colour codes of what was drawn, uint8[n, height, width]; 0 is black."""
        return codes(drawn.x, drawn.y, drawn.color, self.library.grid.width, self.library.grid.height)

    def ways(self, images: np.ndarray | Drawn, enough: np.ndarray | int = 1 << 40) -> np.ndarray:
        """In how many ways each image satisfies the concept, twins in one order, int64[n]; stops at `enough`."""
        grid = self.library.grid
        seen = points_drawn(*images[:3], (grid.height, grid.width)) if isinstance(images, Drawn) else images
        try:
            return ways(self.patterns, seen, enough)
        except OverflowError:
            raise UserError(f"'{self.name}': an image can be read in too many ways to count them") from None

    def draw(self, n: int, key: Key) -> Drawn:
        """n images, each uniform over the whole extension, repeats included."""
        self.need_plans()
        if self.too_many:
            return self._draw_by_choices(n, key)
        rng = key.rng()
        found, tried, kept = [_nothing()], 0, 0
        while kept < n:
            size = int(min(self._chunk, 1.2 * (n - kept) * (tried + 1) / (kept + 1) + 16))
            check()
            tell("images", kept, n)
            batch = self._accepted(size, rng).take(slice(n - kept))
            found.append(batch)
            tried, kept = tried + size, kept + batch.size
            if kept < n and self._hopeless(tried, kept):
                return join([*found, self._draw_listed(n - kept, key / "listed")])
        return join(found)

    @cached_property
    def _chunk(self) -> int:
        """Proposals that are made at once: fewer of large objects."""
        return min(CHUNK, max(16, MOST_POINTS // max([1, *(plan.points for plan in self.plans)])))

    def _hopeless(self, tried: int, kept: int) -> bool:
        """Whether so few proposals fit that a list is quicker, or that nothing may be found at all."""
        if self.listable:
            return tried > self.proposals and kept < tried / 100
        return tried > PATIENCE and kept < tried * 1e-5

    def _accepted(self, n: int, rng: np.random.Generator) -> Drawn:
        """What is left of n proposals when each image is equally likely."""
        drawn = self._proposed(n, rng)
        # An image that can be read in m ways was proposed m times as often: it stays with probability 1/m.
        too_many = np.ceil(1 / (1 - rng.random(drawn.size))).astype(np.int64)
        return drawn.take(self.ways(drawn, too_many) < too_many)

    def _proposed(self, n: int, rng: np.random.Generator) -> Drawn:
        """The objects among n proposals, in the order in which they were proposed."""
        shares = np.array([placer.different for placer in self.placers]) / self.proposals
        which = rng.choice(len(shares), n, p=shares)
        parts, slots = [_nothing()], [np.zeros(0, np.int64)]
        for i in np.unique(which):
            mine = np.flatnonzero(which == i)
            placed, good = self.placers[i].propose(len(mine), rng)
            parts.append(_drawn(placed, good, i))
            slots.append(mine[good])
        return join(parts).take(np.argsort(np.concatenate(slots), kind="stable"))

    def _draw_listed(self, n: int, key: Key) -> Drawn:
        """Draw from the list of all images, where almost no proposal fits."""
        if not self.listable:
            raise UserError(
                f"'{self.name}': {PATIENCE:,} proposals were tried and almost none fits on a grid of "
                f"{self.library.grid.width} by {self.library.grid.height}; take a larger grid or fewer loose parts"
            )
        listed = self.everything()
        if not listed.size:
            raise self.misfit()
        return listed.take(key.rng().integers(0, listed.size, n))

    def misfit(self) -> UserError:
        """What to say where there are plans but no images."""
        return UserError(
            f"'{self.name}' does not fit on a grid of {self.library.grid.width} by {self.library.grid.height} "
            "without parts that overlap; take a larger grid"
        )

    def _draw_by_choices(self, n: int, key: Key) -> Drawn:
        """One random derivation and placement for each image."""
        found = [_nothing()]
        for i in range(n):
            check()
            rng = (key / i).rng()
            found.append(self._one_by_choices(rng))
        return join(found)

    def _one_by_choices(self, rng: np.random.Generator) -> Drawn:
        for plan in self._search(rng).plans():
            placer = Placer(plan)
            if self.where(plan.derivation):
                placed, good = placer.attempt(1_000, rng)
                if good.any():
                    return _drawn(placed, good, -1).take(slice(1))
        raise UserError(f"'{self.name}': no object was found; make the concept narrower")

    def listed(self) -> Iterator[tuple[Drawn, np.ndarray]]:
        """All objects of all plans in chunks, with the number of ways to read each image."""
        for i, placer in enumerate(self.placers):
            tell("plans gone through", i, len(self.placers))
            for placed in placer.everything():
                drawn = _drawn(placed, np.ones(len(placed.x), bool), i)
                yield drawn, self.ways(drawn)

    @cached_property
    def listable(self) -> bool:
        """Whether all objects can be gone through one by one."""
        if self.too_many or any(placer.colorings is None for placer in self.placers):
            return False
        return sum(placer.proposals for placer in self.placers) <= MOST_LISTED

    def everything(self) -> Drawn:
        """Every image once."""
        found, seen = [_nothing()], set[bytes]()
        for drawn, read in self.listed():
            first = read == 1
            several = np.flatnonzero(~first)
            for i, text in zip(several, drawn.take(several).names()):
                first[i] = text not in seen
                seen.add(text)
            found.append(drawn.take(first))
        return join(found)

    def count(self, key: Key, most: int = MOST_LISTED) -> Count:
        """How many images there are: exactly, or estimated from proposals where there are more of these than `most`."""
        if self.too_many:
            raise UserError(f"'{self.name}' has too many alternatives to be counted; narrow it or limit its depth")
        if self.listable and self.proposals <= most:
            images = sum(float((1 / read).sum()) for _, read in self.listed())
            return Count(round(images), round(images), round(images))
        rng = key.rng()
        few = min(PILOT, self._chunk)
        pilot = self.ways(self._proposed(few, rng))
        tried = int(np.clip(READINGS * few / max(1, pilot.sum()), few, SAMPLE))
        weight = np.zeros(tried)
        for start in range(0, tried, self._chunk):
            check()
            tell("images read", start, tried)
            drawn = self._proposed(min(self._chunk, tried - start), rng)
            weight[start : start + drawn.size] = 1 / self.ways(drawn)
        # Where all proposals weigh the same, up to 3 of those tried could still differ: an estimate is never exact.
        middle, spread = weight.mean(), max(1.96 * weight.std() / np.sqrt(tried), 3 / tried)
        bounds = (middle, max(0.0, middle - spread), min(1.0, middle + spread))
        return Count(*(float(self.proposals * part) for part in bounds))


def join(parts: list[Drawn]) -> Drawn:
    """The draws one after the other."""
    most = max(part.color.shape[1] for part in parts)
    fills = (0, 0, 255)
    columns = [
        np.concatenate(
            [np.pad(part[i], ((0, 0), (0, most - part[i].shape[1])), constant_values=fill) for part in parts]
        )
        for i, fill in enumerate(fills)
    ]
    return Drawn(columns[0], columns[1], columns[2], np.concatenate([part.plan for part in parts]))


def _nothing() -> Drawn:
    return Drawn(
        np.zeros((0, 0), np.int16), np.zeros((0, 0), np.int16), np.zeros((0, 0), np.uint8), np.zeros(0, np.int32)
    )


def _drawn(placed: Placed, good: np.ndarray, plan: int) -> Drawn:
    x, y, color = (column[good] for column in placed)
    return Drawn(x.astype(np.int16), y.astype(np.int16), color.astype(np.uint8), np.full(len(x), plan, np.int32))
