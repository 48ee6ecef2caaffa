"""Files that a fresh test is made of, such as splits and concepts of one's own: its folder carries them.

In a certificate such a file is called by its place in the folder, wherever it once was, so that whoever has the folder
can make everything again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from recombine.store.checksums import checksum
from recombine.store.errors import UserError
from recombine.store.paths import inside, plain_name, within
from recombine.tasks.made_splits import is_file

if TYPE_CHECKING:
    from recombine.benchmarks.fresh import Order
    from recombine.benchmarks.study import Study

CARRIED = "given"
"""The folder of these files."""
LARGEST = 64 * 2**20
"""Bytes that are carried."""
MOST_FILES = 1_000


def carried(order: Order, kind: type[Study]) -> tuple[Order, dict[str, Path]]:
    """What was asked for as the certificate says it, and the files by their places in the folder."""
    places: dict[str, Path] = {}
    return _named(order, kind, lambda said: _place(Path(said), places)), places


def uncarried(order: Order, kind: type[Study], folder: Path, file: Path) -> Order:
    """The same as `carried` was given it, with the files that lie in a folder; others are not looked at."""

    def there(said: str) -> str:
        first, *rest = PurePosixPath(said).parts or ("",)
        if first != CARRIED or not rest:
            raise UserError(f"{file} names the file {said:.80}, which its folder does not carry; make the test again")
        return str(within(folder, CARRIED, *rest))

    return _named(order, kind, there)


def _named(order: Order, kind: type[Study], called: Callable[[str], str]) -> Order:
    """An order whose files are called in another way."""
    options = dict(order.options or {})
    options |= {name: called(options[name]) for name in kind.files_among(options)}
    splits = tuple(called(split) if is_file(split) else split for split in order.splits)
    return replace(order, splits=splits, options=options)


def _place(file: Path, places: dict[str, Path]) -> str:
    """Where a file goes: its name is kept, and a second one of that name has a folder of its own."""
    name = plain_name(file.name)
    for place in chain([f"{CARRIED}/{name}"], (f"{CARRIED}/{number}/{name}" for number in count(2))):
        if places.setdefault(place, file).resolve() == file.resolve():
            return place
    raise AssertionError


def digests(places: Mapping[str, Path]) -> dict[str, str]:
    """Of every file, by its place."""
    return {name: checksum(file) for name, file in _files(places)}


def write(places: Mapping[str, Path], folder: Path) -> None:
    """The files in their places."""
    for name, file in _files(places):
        there = within(folder, *name.split("/"))
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, there)


def _files(places: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    """The single files; too many and too large ones are refused."""
    found = [one for place, file in places.items() for one in _within(place, file)]
    if len(found) > MOST_FILES or sum(file.stat().st_size for _, file in found) > LARGEST:
        raise UserError(
            f"a fresh test carries the files that it is made of, at most {MOST_FILES:,} of together "
            f"{LARGEST // 2**20} MB, and {', '.join(map(str, places.values()))} have more; give smaller ones"
        )
    yield from found


def _within(place: str, file: Path) -> Iterator[tuple[str, Path]]:
    """A file, or what is in a folder and in the folders within it; one that is missing is told where it is read."""
    for one in sorted([file, *file.glob("*"), *file.glob("*/*")]):
        if one.is_file() and not one.name.startswith("."):
            yield (f"{place}/{one.relative_to(file).as_posix()}" if one != file else place), inside(file, one)
