"""Arrays in files, as NumPy writes them."""

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Literal

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
    try:
        found: np.ndarray = np.load(file, allow_pickle=False)
        return found
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"{file} cannot be read ({error}); remove its folder to have it made again") from error


def map_array(file: Path, mode: Literal["r", "r+"] = "r+") -> np.memmap:
    """The array of a file, which stays on the disk."""
    try:
        return np.lib.format.open_memmap(file, mode)
    except (OSError, ValueError, EOFError) as error:
        raise UserError(f"{file} cannot be read ({error}); remove its folder to have it made again") from error


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
