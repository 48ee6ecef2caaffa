"""What a thought means: `Exact` for all objects of all sets at once, `Plainly` for one object, `Words` in English.

In `Exact` the truth of a thought is a mask[n] whose bit i says whether it holds of object i; a set of objects is a row
per x, mask[1, n] where x does not matter and mask[k, n] where it does.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from recombine.world.scenes import Scenes, mask_dtype
from recombine.world.vocabulary import Vocabulary

_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "above": lambda a, b: a > b,
    "from": lambda a, b: a >= b,
    "below": lambda a, b: a < b,
    "upto": lambda a, b: a <= b,
}


def _number(vocabulary: Vocabulary, kind: str, value: str) -> int:
    return int(value) if kind == "number" else vocabulary[kind].code(value)


class Exact:
    """The truth of thoughts about every object of a batch of scenes."""

    def __init__(self, scenes: Scenes) -> None:
        self.vocabulary, self.dtype, self.present = scenes.vocabulary, mask_dtype(scenes.places), scenes.present
        self.codes = {name: np.ascontiguousarray(column.T) for name, column in scenes.codes.items()}  # uint8[k, n]
        self.bits = self.dtype.type(1) << np.arange(scenes.places, dtype=self.dtype)

    def always(self) -> np.ndarray:
        return self.present

    def never(self) -> np.ndarray:
        return self.present ^ self.present

    def const(self, kind: str, value: str) -> np.uint8:
        return np.uint8(_number(self.vocabulary, kind, value))

    def of(self, kind: str) -> np.ndarray:
        return self.codes[kind]

    def everything(self) -> np.ndarray:
        return self.present[None]

    def others(self) -> np.ndarray:
        return self.present & ~self.bits[:, None]

    def having(self, objects: np.ndarray, value: Any, kind: str) -> np.ndarray:
        return objects & self._matches(value, kind)

    def extreme(self, objects: np.ndarray, which: str) -> np.ndarray:
        sizes = range(len(self.vocabulary["size"].values))
        found = np.zeros_like(objects)
        for code in reversed(sizes) if which == "largest" else sizes:
            found = np.where(found == 0, objects & self._matches(np.uint8(code), "size"), found)
        return found

    def equal(self, a: Any, b: Any, kind: str) -> np.ndarray:
        return self._mask(a == b)

    def greater(self, a: Any, b: Any, kind: str) -> np.ndarray:
        return self._mask(a > b)

    def any(self, objects: np.ndarray, value: Any, kind: str) -> np.ndarray:
        return self._mask(self.having(objects, value, kind) != 0)

    def only(self, objects: np.ndarray, value: Any, kind: str) -> np.ndarray:
        return self._mask(self.having(objects, value, kind) == objects)

    def all(self, objects: np.ndarray, value: Any, kind: str) -> np.ndarray:
        return self._mask((self.having(objects, value, kind) == objects) & (objects != 0))

    def count(self, objects: np.ndarray, value: Any, kind: str) -> np.ndarray:
        return np.bitwise_count(self.having(objects, value, kind))

    def none(self, objects: np.ndarray) -> np.ndarray:
        return self._mask(objects == 0)

    def beats(self, objects: np.ndarray, how: str, relation: str) -> np.ndarray:
        sizes = self.codes["size"]
        beaten = np.zeros(sizes.shape, self.dtype)
        for i, theirs in enumerate(sizes):
            beaten |= self._bit(_RELATIONS[relation](sizes, theirs), i)
        return self._mask((beaten & objects != 0) if how == "any" else (~beaten & objects == 0))

    def and_(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a & b

    def or_(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a | b

    def not_(self, a: np.ndarray) -> np.ndarray:
        return a ^ self.present

    def _matches(self, value: Any, kind: str) -> np.ndarray:
        """The objects whose property equals the value, for each x: mask[1 or k, n]."""
        values = np.atleast_1d(value)
        found = np.zeros((values.shape[0], len(self.present)), self.dtype)
        for i, codes in enumerate(self.codes[kind]):
            found |= self._bit(codes == values, i)
        return found & self.present

    def _mask(self, truth: np.ndarray) -> np.ndarray:
        """bool[1 or k, n] -> mask[n]."""
        truth = np.broadcast_to(np.atleast_2d(truth), (len(self.bits), len(self.present)))
        mask = np.zeros(len(self.present), self.dtype)
        for i, row in enumerate(truth):
            mask |= self._bit(row, i)
        return mask & self.present

    def _bit(self, truth: np.ndarray, i: int) -> np.ndarray:
        return truth.astype(self.dtype) << self.dtype.type(i)


class Plainly:
    """The truth of a thought about one object of one set, a list of objects."""

    def __init__(self, vocabulary: Vocabulary, objects: list[dict[str, str]], x: int) -> None:
        self.vocabulary, self.objects, self.x = vocabulary, objects, objects[x]

    def always(self) -> bool:
        return True

    def never(self) -> bool:
        return False

    def const(self, kind: str, value: str) -> int:
        return _number(self.vocabulary, kind, value)

    def of(self, kind: str) -> int:
        return self._ask(self.x, kind)

    def everything(self) -> list[dict[str, str]]:
        return self.objects

    def others(self) -> list[dict[str, str]]:
        return [thing for thing in self.objects if thing is not self.x]

    def having(self, objects: list[dict[str, str]], value: int, kind: str) -> list[dict[str, str]]:
        return [thing for thing in objects if self._ask(thing, kind) == value]

    def extreme(self, objects: list[dict[str, str]], which: str) -> list[dict[str, str]]:
        sizes = [self._ask(thing, "size") for thing in objects]
        wanted = (max if which == "largest" else min)(sizes, default=0)
        return [thing for thing, size in zip(objects, sizes) if size == wanted]

    def equal(self, a: int, b: int, kind: str) -> bool:
        return a == b

    def greater(self, a: int, b: int, kind: str) -> bool:
        return a > b

    def any(self, objects: list[dict[str, str]], value: int, kind: str) -> bool:
        return any(self._ask(thing, kind) == value for thing in objects)

    def only(self, objects: list[dict[str, str]], value: int, kind: str) -> bool:
        return all(self._ask(thing, kind) == value for thing in objects)

    def all(self, objects: list[dict[str, str]], value: int, kind: str) -> bool:
        return bool(objects) and self.only(objects, value, kind)

    def count(self, objects: list[dict[str, str]], value: int, kind: str) -> int:
        return len(self.having(objects, value, kind))

    def none(self, objects: list[dict[str, str]]) -> bool:
        return not objects

    def beats(self, objects: list[dict[str, str]], how: str, relation: str) -> bool:
        mine = self._ask(self.x, "size")
        beaten = [_RELATIONS[relation](mine, self._ask(thing, "size")) for thing in objects]
        return any(beaten) if how == "any" else all(beaten)

    def and_(self, a: bool, b: bool) -> bool:
        return a and b

    def or_(self, a: bool, b: bool) -> bool:
        return a or b

    def not_(self, a: bool) -> bool:
        return not a

    def _ask(self, thing: dict[str, str], kind: str) -> int:
        return self.vocabulary[kind].code(thing[kind])


_COMPARED = {
    "above": "larger than",
    "from": "at least as large as",
    "below": "smaller than",
    "upto": "at most as large as",
}


class Words:
    """A thought in English."""

    def always(self) -> str:
        return "anything goes"

    def never(self) -> str:
        return "nothing does"

    def const(self, kind: str, value: str) -> str:
        return f"size {value}" if kind == "size" else value

    def of(self, kind: str) -> str:
        return f"of its own {kind}"

    def everything(self) -> str:
        return "objects"

    def others(self) -> str:
        return "others"

    def having(self, objects: str, value: str, kind: str) -> str:
        return f"{objects} that are {value}"

    def extreme(self, objects: str, which: str) -> str:
        return f"{which} of the {objects}"

    def equal(self, a: str, b: str, kind: str) -> str:
        return f"exactly one of the {a}" if kind == "number" else f"it is {b}"

    def greater(self, a: str, b: str, kind: str) -> str:
        return f"several of the {a}"

    def any(self, objects: str, value: str, kind: str) -> str:
        return f"some of the {objects} are {value}"

    def only(self, objects: str, value: str, kind: str) -> str:
        return f"no {objects} are other than {value}"

    def all(self, objects: str, value: str, kind: str) -> str:
        return f"there are {objects}, and all are {value}"

    def count(self, objects: str, value: str, kind: str) -> str:
        return f"{objects} are {value}"

    def none(self, objects: str) -> str:
        return f"there are no {objects}"

    def beats(self, objects: str, how: str, relation: str) -> str:
        return f"it is {_COMPARED[relation]} {'some' if how == 'any' else 'all'} {objects}"

    def and_(self, a: str, b: str) -> str:
        return f"({a}, and {b})"

    def or_(self, a: str, b: str) -> str:
        return f"({a}, or {b})"

    def not_(self, a: str) -> str:
        return f"not: {a}"
