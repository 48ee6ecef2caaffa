"""What others have written: read within bounds, or refused in one sentence.

A file from elsewhere may be of any size, nest without end, hold numbers that are none and text that is no text. These
are the only ways in which such files are read: `read_bytes`, `read_text`, `read_json`; and `parse_json` for a text that
is at hand.

>>> parse_json('{"scenes": [1, 2.5]}', "here")
{'scenes': [1, 2.5]}
>>> parse_json('{"scenes": 1e999}', "here")
Traceback (most recent call last):
recombine.store.errors.UserError: here cannot be read: 1e999 is no finite number
"""

import json
import os
import stat
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from recombine.store.errors import UserError

MOST = 64 * 2**20
"""Bytes of a file of which nothing else is said."""
DEEPEST = 100
"""Lists and objects inside one another."""
ROOM = 256 * 2**20
"""Bytes of memory that what a text holds may take."""
DENSEST = 12
"""Bytes of memory by letter in a large text that is expected: ours, and those of CLEVR, have up to 9."""
LONGEST_NUMBER = 1_000
"""Characters of a number."""
CHUNK = 2**20


class _Refused(ValueError):
    """Why a text is refused, as the end of a sentence."""


def read_bytes(file: Path | str, most: int = MOST, advice: str = "") -> bytes:
    """The bytes of a regular file of at most so many."""
    try:
        about = os.stat(file)
        if not stat.S_ISREG(about.st_mode):  # a pipe would be waited for
            raise UserError(f"{file} cannot be read: it is no file{_end(advice)}")
        with open(file, "rb") as content:  # as much room as is asked for is taken at once: no more than the file has
            found = content.read(min(about.st_size, most) + 1)
    except (OSError, ValueError) as error:  # the latter for a name with a zero byte
        raise UserError(f"{file} cannot be read: {getattr(error, 'strerror', '') or error}{_end(advice)}") from None
    if len(found) > most:
        raise UserError(f"{file} cannot be read: it is larger than the {most / 1e6:,.0f} MB allowed{_end(advice)}")
    return found


def read_text(file: Path | str, most: int = MOST, advice: str = "") -> str:
    """The text of a file in UTF-8."""
    return _text(read_bytes(file, most, advice), str(file), advice)


def read_json(file: Path | str, kind: type = dict, most: int = MOST, advice: str = "") -> Any:
    """What a file of JSON holds, which must be of this kind."""
    return parse_json(read_bytes(file, most, advice), str(file), kind, advice)


def parse_json(text: str | bytes, where: str, kind: type = object, advice: str = "", large: bool = False) -> Any:
    """What a text in JSON holds: of this kind, not nested too deeply, with finite numbers and whole characters.

    A text that is expected to be `large` may take as much more memory as it is longer.
    """
    text = text if isinstance(text, str) else _text(text, where, advice)
    try:
        found = _parsed(text, large)
    except json.JSONDecodeError as error:
        raise UserError(f"{where} is not complete JSON: {error}{_end(advice)}") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{where} cannot be read: {error}{_end(advice)}") from None
    if not isinstance(found, kind):
        raise UserError(f"{where} cannot be read: it is no {_KINDS.get(kind, kind.__name__)} of JSON{_end(advice)}")
    return found


_KINDS: dict[type, str] = {dict: "object", list: "list"}


def _end(advice: str) -> str:
    return f"; {advice}" if advice else ""


def _text(content: bytes, where: str, advice: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{where} is not text: byte {error.start} is not UTF-8{_end(advice)}") from None


def _parsed(text: str, large: bool) -> Any:
    encoded = text.encode("utf-8", "surrogatepass")
    outline = outlined(encoded)
    if outline.depth > DEEPEST:
        raise _Refused(f"it nests deeper than {DEEPEST} levels")
    if outline.room > max(ROOM, DENSEST * len(encoded) if large else 0):
        held = f"{outline.lists:,} lists and objects and {outline.values:,} values"
        raise _Refused(f"it has {held}, which would take too much memory")
    found = json.loads(text, parse_int=_whole, parse_float=_real, parse_constant=_real)
    if b"\\ud" in encoded or b"\\uD" in encoded or len(encoded) != len(text.encode("utf-8", "replace")):
        _refuse_halves(found)
    return found


class Outline(NamedTuple):
    """What a text in JSON will be, at least up to where it is no JSON."""

    depth: int
    lists: int
    """And objects."""
    values: int
    names: int

    @property
    def room(self) -> int:
        """Bytes of memory, roughly."""
        return 100 * self.lists + 36 * self.values + 90 * self.names


def outlined(text: bytes) -> Outline:
    """How deeply a text in JSON nests, and what it is made of.

    >>> outlined(b'{"a": [[], "[[[,:"]}')
    Outline(depth=3, lists=3, values=1, names=1)
    """
    text = text.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    quotes, depth, deepest, lists, values, names = 0, 0, 0, 0, 0, 0
    for start in range(0, len(text), CHUNK):
        letters = np.frombuffer(text, np.uint8, min(CHUNK, len(text) - start), start)
        seen = np.cumsum(letters == ord('"'), dtype=np.int32) + np.int32(quotes)
        folded = np.where(seen & 1, 0, letters | 32)  # outside of strings; so [ is { and ] is }
        step = (folded == ord("{")).astype(np.int8) - (folded == ord("}")).astype(np.int8)
        lists += int(np.count_nonzero(step > 0))
        values += int(np.count_nonzero(folded == ord(",")))
        names += int(np.count_nonzero(folded == ord(":")))
        levels = np.cumsum(step, dtype=np.int32) + np.int32(depth)
        quotes, depth, deepest = int(seen[-1]) & 1, int(levels[-1]), max(deepest, int(levels.max()))
    return Outline(deepest, lists, values, names)


def _whole(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise _Refused(f"it has a number of {len(text):,} digits")
    return int(text)


def _real(text: str) -> float:
    if len(text) > LONGEST_NUMBER:
        raise _Refused(f"it has a number of {len(text):,} digits")
    found = float(text)
    if not isfinite(found):
        raise _Refused(f"{text} is no finite number")
    return found


def _refuse_halves(found: Any) -> None:
    """Refuse half characters, which can be neither printed nor written."""
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise _Refused("it holds half a character") from None
