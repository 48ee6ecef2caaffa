"""What CURI's concepts mean: `Exact` for a batch of scenes at once, `Plainly` for one scene, as documentation.

In `Exact` a property of x is a row per place, codes[k, n]; a constant is a number; the truth of a body is a mask[n]
whose bit i says whether it holds when x is object i.
"""

from typing import Any, NamedTuple

import numpy as np

from recombine.benchmarks.curi.language import CURI_LOT, Lot
from recombine.world.scenes import Scenes, mask_dtype
from recombine.world.vocabulary import Vocabulary


def number_of(vocabulary: Vocabulary, lot: Lot, kind: str, value: str) -> int:
    """What a constant compares with: a count is a number, another value its code."""
    if kind == "number":
        return int(value)
    return vocabulary[lot.attribute_of(kind)].code(value)


class Each(NamedTuple):
    """A property of every object of a set."""

    others: bool  # S_-x rather than S
    codes: np.ndarray  # codes[k, n]


class Exact:
    """The truth of concepts on a batch of scenes."""

    def __init__(self, scenes: Scenes, lot: Lot = CURI_LOT) -> None:
        self.vocabulary, self.lot = scenes.vocabulary, lot
        self.codes = {name: np.ascontiguousarray(column.T) for name, column in scenes.codes.items()}
        self.dtype = mask_dtype(scenes.places)
        self.present = scenes.present
        self.bits = self.dtype.type(1) << np.arange(scenes.places, dtype=self.dtype)

    def const(self, kind: str, value: str) -> np.uint8:
        return np.uint8(number_of(self.vocabulary, self.lot, kind, value))

    def function(self, attribute: str) -> np.ndarray:
        return self.codes[attribute]

    def x(self) -> None:
        return None

    def everything(self) -> bool:
        return False

    def others(self) -> bool:
        return True

    def of(self, _: None, codes: np.ndarray, kind: str) -> np.ndarray:
        return codes

    def each(self, others: bool, codes: np.ndarray, kind: str) -> Each:
        return Each(others, codes)

    def equal(self, a: Any, b: Any, kind: str) -> np.ndarray:
        return self._mask(a == b)

    def greater(self, a: Any, b: Any, kind: str) -> np.ndarray:
        return self._mask(a > b)

    def all(self, each: Each, value: Any, kind: str) -> np.ndarray:
        whole = self._members(each.others)
        return self._mask((self._matches(each, value) == whole) & (whole != 0))

    def any(self, each: Each, value: Any, kind: str) -> np.ndarray:
        return self._mask(self._matches(each, value) != 0)

    def count(self, each: Each, value: Any, kind: str) -> np.ndarray:
        return np.bitwise_count(self._matches(each, value))

    def and_(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a & b

    def or_(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a | b

    def not_(self, a: np.ndarray) -> np.ndarray:
        return a ^ self.present

    def exists(self, body: np.ndarray) -> np.ndarray:
        return body != 0

    def for_all(self, body: np.ndarray) -> np.ndarray:
        return body == self.present

    def holds(self, body: np.ndarray) -> np.ndarray:
        return body != 0

    def _members(self, others: bool) -> np.ndarray:
        """The set that is spoken of, for each x: mask[1, n] where x does not matter, else mask[k, n]."""
        return self.present & ~self.bits[:, None] if others else self.present[None]

    def _matches(self, each: Each, value: Any) -> np.ndarray:
        """The members whose property equals the value, for each x: mask[1 or k, n]."""
        values = np.atleast_1d(value)
        found = np.zeros((values.shape[0], len(self.present)), self.dtype)
        for i, codes in enumerate(each.codes):
            found |= self._bit(codes == values, i)
        return found & self._members(each.others)

    def _mask(self, truth: np.ndarray) -> np.ndarray:
        """bool[1 or k, n] -> mask[n]; what does not depend on x is true of every object or of none."""
        truth = np.atleast_2d(truth)
        if truth.shape[0] == 1:
            return self.present * truth[0].view(np.uint8)
        mask = self._bit(truth[0], 0)
        for i, row in enumerate(truth[1:], 1):
            mask |= self._bit(row, i)
        return mask & self.present

    def _bit(self, truth: np.ndarray, i: int) -> np.ndarray:
        """Bit i where it is true, zero elsewhere."""
        return truth.view(np.uint8).astype(self.dtype, copy=False) << self.dtype.type(i)


class Plainly:
    """The truth of a concept on one scene, a list of objects. Everything that depends on x is a function of x."""

    def __init__(self, vocabulary: Vocabulary, objects: list[dict[str, str]], lot: Lot = CURI_LOT) -> None:
        self.vocabulary, self.lot = vocabulary, lot
        self.objects = objects

    def const(self, kind: str, value: str) -> Any:
        return lambda x: number_of(self.vocabulary, self.lot, kind, value)

    def function(self, attribute: str) -> Any:
        return lambda thing: self.vocabulary[attribute].code(thing[attribute])

    def x(self) -> Any:
        return lambda x: x

    def everything(self) -> Any:
        return lambda x: self.objects

    def others(self) -> Any:
        return lambda x: [thing for thing in self.objects if thing is not x]

    def of(self, thing: Any, ask: Any, kind: str) -> Any:
        return lambda x: ask(thing(x))

    def each(self, things: Any, ask: Any, kind: str) -> Any:
        return lambda x: [ask(thing) for thing in things(x)]

    def equal(self, a: Any, b: Any, kind: str) -> Any:
        return lambda x: a(x) == b(x)

    def greater(self, a: Any, b: Any, kind: str) -> Any:
        return lambda x: a(x) > b(x)

    def all(self, values: Any, value: Any, kind: str) -> Any:
        return lambda x: bool(values(x)) and all(found == value(x) for found in values(x))

    def any(self, values: Any, value: Any, kind: str) -> Any:
        return lambda x: any(found == value(x) for found in values(x))

    def count(self, values: Any, value: Any, kind: str) -> Any:
        return lambda x: sum(found == value(x) for found in values(x))

    def and_(self, a: Any, b: Any) -> Any:
        return lambda x: a(x) and b(x)

    def or_(self, a: Any, b: Any) -> Any:
        return lambda x: a(x) or b(x)

    def not_(self, a: Any) -> Any:
        return lambda x: not a(x)

    def exists(self, body: Any) -> bool:
        return any(body(x) for x in self.objects)

    def for_all(self, body: Any) -> bool:
        return all(body(x) for x in self.objects)

    def holds(self, body: Any) -> bool:
        return bool(body(self.objects[0]))
