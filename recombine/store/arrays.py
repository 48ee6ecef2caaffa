"""Arrays in files, as NumPy writes them."""

import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import Any, Literal

import numpy as np

from recombine.store.checksums import Region, draft_around, note, region
from recombine.store.errors import UserError
from recombine.store.room import allocate
from recombine.store.writing import write_atomically


def write_array(file: Path, array: np.ndarray, also: Sequence[Region] = ()) -> None:
    """An array that appears whole or not at all; `also` as in `write_atomically`."""
    write_atomically(file, lambda part: np.save(part, array), also)


def read_array(file: Path) -> np.ndarray:
    """The array of a file."""
    with _told(file):
        _refuse_promises(file)
        found: np.ndarray = np.load(file, allow_pickle=False)
        return found


def map_array(file: Path, mode: Literal["r", "r+"] = "r+") -> np.memmap:
    """The array of a file, which stays on the disk."""
    with _told(file):
        _refuse_promises(file)
        return np.lib.format.open_memmap(file, mode)


@contextmanager
def _told(file: Path) -> Iterator[None]:
    """Say that a file is to blame where it is no array; a head that is cut off is no Python either."""
    try:
        yield
    except (
        OSError,
        ValueError,
        TypeError,
        EOFError,
        ArithmeticError,
        RecursionError,
        SyntaxError,
        TokenError,
    ) as error:
        raise UserError(f"{file} cannot be read ({error!s:.200}); remove its folder to have it made again") from error


def _refuse_promises(file: Path) -> None:
    """Refuse a file whose head promises more than it has, before room is made for it."""
    with file.open("rb") as content:
        version = np.lib.format.read_magic(content)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
        if read is None:
            raise ValueError("it has another version")
        shape, _, dtype = read(content)
        if min(shape, default=0) < 0 or prod(shape) * dtype.itemsize > file.stat().st_size:
            raise ValueError("it ends too early")


def blank_array(file: Path, dtype: type, shape: tuple[int, ...]) -> None:
    """An array of zeros that others will fill, with room on the disk for all of it."""
    about = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": shape}

    def write(part: Path) -> None:
        with part.open("wb") as content:
            np.lib.format.write_array_header_1_0(content, about)
            start = content.tell()
        allocate(part, start + np.dtype(dtype).itemsize * prod(shape))

    write_atomically(file, write, noted=False)
    draft = draft_around(file)
    if draft is not None:
        note(draft, region(draft, file, 0, map_array(file).offset))


def place_of(array: np.memmap, block: int, size: int) -> tuple[int, int]:
    """Where the rows of a block of this size begin and end in the file of an array."""
    length = array.strides[0] * size
    start = array.offset + block * length
    return start, start + length


LARGE = 2**30
"""Bytes from which a mapped array may not stay in memory as a whole."""


def give_back(array: np.ndarray) -> None:
    """Give back the memory of what was read of a large array that is mapped from the disk; the bytes stay there.

    A page that is touched brings its neighbours along, so a few thousand rows here and there would soon be all of it.
    """
    owner: Any = array
    while owner is not None and not hasattr(owner, "_mmap"):
        owner = getattr(owner, "base", None)
    if array.nbytes >= LARGE and owner is not None and hasattr(mmap, "MADV_DONTNEED") and not array.flags.writeable:
        owner._mmap.madvise(mmap.MADV_DONTNEED)
