"""The store: artefacts by recipe, made once, checked when opened.

An *artefact* is a folder of files that a recipe decides. While it is made it is a *draft*; a draft that was
interrupted stays and is finished next time. A finished artefact has a *manifest*: a stamp for each of its files.

    home/store.json             the format of this store
    home/<stage>/<digest>/      a finished artefact, with recipe.json and manifest.json
    home/drafts/<digest>/       an artefact in the making
    home/drafts/<digest>.sums/  the checksums of its parts
    home/drafts/<digest>.fetched/  an artefact on its way from elsewhere
    home/locks/<digest>         held by the process that makes it
"""

import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recombine.store.checksums import checksum, damaged, sums_of
from recombine.store.errors import UserError
from recombine.store.parquet import MOST_BYTES, measured
from recombine.store.paths import remove, within
from recombine.store.recipe import Recipe
from recombine.store.room import need_room, size_text
from recombine.store.text import one_line
from recombine.store.untrusted import read_json
from recombine.store.writing import (
    PART,
    clear_parts,
    discard,
    locked,
    open_draft,
    publish,
    write_atomically,
    write_text,
)

__all__ = ["PART", "RECIPE", "Store", "read_recipe", "read_table", "write_atomically", "write_table"]

FORMAT = 1
RECIPE = "recipe.json"
MANIFEST = "manifest.json"
FETCHED = ".fetched"
TRIES = 2
"""How often an artefact is made before the disk is to blame."""
# Hashing gigabytes at every command is too slow: a larger file is hashed only when its time of change is not the
# stamped one.
HASHED_WHEN_OPENED = 64 * 2**20
STAGE = re.compile(r"(?!(locks|drafts)$)[\w-]+")


def print_warning(sentence: str) -> None:
    """Print one line to stderr."""
    print(one_line(sentence), file=sys.stderr)


@dataclass(frozen=True)
class Store:
    """A folder of artefacts, shared by any number of processes."""

    home: Path
    warn: Callable[[str], None] = print_warning

    def __post_init__(self) -> None:
        _create(self.home)
        _check_format(self.home / "store.json")

    @classmethod
    def default(cls) -> "Store":
        """The store at RECOMBINE_HOME, or else at ~/.cache/recombine."""
        return cls(Path(os.environ.get("RECOMBINE_HOME") or "~/.cache/recombine").expanduser().absolute())

    def path(self, recipe: Recipe) -> Path:
        """Where the artefact is, or will be."""
        if not STAGE.fullmatch(recipe.stage):
            raise ValueError(f"a stage cannot be called {recipe.stage!r}: use letters, digits, '_' and '-'")
        return self.home / recipe.stage / recipe.digest

    def draft(self, recipe: Recipe) -> Path:
        """Where the artefact is while it is made."""
        return self.home / "drafts" / recipe.digest

    def has(self, recipe: Recipe) -> bool:
        """Whether the artefact is finished."""
        return self.path(recipe).is_dir()

    def get(self, recipe: Recipe, make: Callable[[Path], None]) -> Path:
        """The folder of the finished artefact, made now if it is missing or damaged.

        `make` fills a draft, which may hold finished parts of an interrupted try; it skips those, and writes each
        part with `write_atomically`.
        """
        folder = self.path(recipe)
        if not self.has(recipe) or _damage(folder):
            need_writable(self.home)
            (self.home / "locks").mkdir(exist_ok=True)
            with locked(self.home / "locks" / recipe.digest):
                self._repair(recipe, make)
        elif sums_of(self.draft(recipe)).is_dir() and os.access(self.home, os.W_OK | os.X_OK):
            with locked(self.home / "locks" / recipe.digest):  # a kill at the very end has left them
                shutil.rmtree(sums_of(self.draft(recipe)), ignore_errors=True)
        return folder

    def receive(self, recipe: Recipe, fetch: Callable[[Path], None]) -> Path:
        """The folder of an artefact that was made elsewhere; `fetch` fills a draft that no maker will go on with."""
        folder, draft = self.path(recipe), self.home / "drafts" / f"{recipe.digest}{FETCHED}"
        need_writable(self.home)
        (self.home / "locks").mkdir(exist_ok=True)
        with locked(self.home / "locks" / recipe.digest):
            if self.has(recipe):
                discard(draft)  # a kill at the very end has left something of it
            else:
                fetch(open_draft(draft, self.warn, mode=0o777))
                clear_parts(draft)
                if bad := damaged(draft) or [name for name, _ in _damage(draft, completely=True)]:
                    raise UserError(f"{draft / bad[0]} is not as its manifest says; nothing was put into the store")
                if read_recipe(draft).digest != recipe.digest:
                    raise UserError(f"{draft / RECIPE} is another than before; nothing was put into the store")
                publish(draft, folder)
        return folder

    def folders(self) -> Iterator[Path]:
        """All finished artefacts."""
        for stage in sorted(self.home.iterdir()):
            if STAGE.fullmatch(stage.name) and stage.is_dir() and not stage.is_symlink():
                yield from sorted(folder for folder in stage.iterdir() if folder.is_dir() and not folder.is_symlink())

    def verify(self) -> list[tuple[Path, str, str]]:
        """Check every byte of every artefact: (artefact, file, problem) for each damaged file."""
        return [(folder, *damage) for folder in self.folders() for damage in _damage(folder, completely=True)]

    def need(self, size: float) -> None:
        """Refuse to go on when the disk has less room than this."""
        advice = "choose a smaller scale, or set RECOMBINE_HOME to a folder on a bigger disk"
        need_room(self.home, size, advice=advice)

    def _repair(self, recipe: Recipe, make: Callable[[Path], None]) -> None:
        """Make the artefact unless it is sound; call this with its lock held."""
        folder = self.path(recipe)
        # Another process may have made it while this one waited for the lock.
        damage = _damage(folder) if self.has(recipe) else []
        if damage:
            file, problem = damage[0]
            self.warn(f"{folder / file} {problem}; the artefact is damaged and is rebuilt.")
            remove(folder, self.home)
        if not self.has(recipe):
            self._make(recipe, make)

    def _make(self, recipe: Recipe, make: Callable[[Path], None]) -> None:
        for _ in range(TRIES):
            draft = open_draft(self.draft(recipe), self.warn, mode=0o777)
            make(draft)
            clear_parts(draft)
            write_text(draft / RECIPE, _json(json.loads(recipe.canonical())))
            write_text(draft / MANIFEST, _json(_manifest(draft)))
            if not damaged(draft):
                return publish(draft, self.path(recipe))
        raise UserError(f"{draft} does not keep the bytes that are written to it: check the disk.")


def write_table(path: Path, table: pa.Table, recipe: Recipe) -> None:
    """Write a Parquet file that carries its recipe."""
    metadata = {**(table.schema.metadata or {}), b"recombine.recipe": recipe.canonical().encode()}
    table = table.replace_schema_metadata(metadata)
    write_atomically(path, lambda part: pq.write_table(table, part, compression="zstd", write_page_index=True))


def read_table(path: Path, columns: Sequence[str] | None = None, most: int | None = None) -> pa.Table:
    """A Parquet file, or all those of a folder in the order of their names, as one table.

    What comes from elsewhere may have `most` values in a column of a file, and is looked at before it is unpacked.
    """
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path} holds no Parquet files.")
    return pa.concat_tables([_read_parquet(file, columns, most) for file in files])


def read_recipe(folder: Path) -> Recipe:
    """The recipe of a finished artefact; dataclasses among its parameters come back as mappings."""
    file = folder / RECIPE
    return recipe_of(read_json(file), file, f"delete {folder} to have it made again")


def recipe_of(plain: Any, file: Path, advice: str) -> Recipe:
    """The recipe that a file tells of."""
    match plain:
        case {"stage": str(stage), "version": int(version), "parameters": dict(parameters), "inputs": dict(inputs)}:
            return Recipe(stage, version, parameters, inputs)
    raise UserError(f"{file} is not a recipe: {advice}.")


def need_writable(home: Path) -> None:
    """Refuse to make something in a store that can only be read."""
    if not os.access(home, os.W_OK | os.X_OK):
        raise UserError(f"Cannot write to the store {home}: set RECOMBINE_HOME to a folder you can write to.")


def _create(home: Path) -> None:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(
            f"Cannot create the store {home} ({error.strerror}): set RECOMBINE_HOME to a folder you can write to."
        ) from error


def _check_format(file: Path) -> None:
    if not file.exists():
        need_writable(file.parent)
        write_text(file, _json({"format": FORMAT}))
    match read_json(file, object):
        case {"format": int(found)} if found > FORMAT:
            raise UserError(
                f"The store {file.parent} was written by a newer version of recombine: "
                "upgrade, or set RECOMBINE_HOME to another folder."
            )
        case {"format": int()}:
            pass
        case _:
            raise UserError(f"{file} does not say which format the store has: set RECOMBINE_HOME to another folder.")


@dataclass(frozen=True)
class _Stamp:
    """What a file was when its artefact was finished."""

    size: int
    mtime_ns: int
    checksum: str


def _manifest(draft: Path) -> dict[str, Any]:
    files = sorted(file for file in draft.rglob("*") if file.is_file() and file != draft / MANIFEST)
    return {"format": FORMAT, "files": {str(file.relative_to(draft)): asdict(_stamp(file)) for file in files}}


def _stamp(file: Path) -> _Stamp:
    about = file.stat()
    return _Stamp(about.st_size, about.st_mtime_ns, _checksum(file))


def _damage(folder: Path, completely: bool = False) -> list[tuple[str, str]]:
    """(file, problem) for each damaged file of a finished artefact."""
    try:
        stamps = _stamps(folder)
        problems = {name: _problem(file, stamp, completely) for name, (file, stamp) in stamps.items()}
    except PermissionError as error:
        raise UserError(f"You may not read {error.filename}: change its permissions, or set RECOMBINE_HOME.") from error
    except (UserError, OSError, ValueError, TypeError, KeyError, AttributeError):
        return [(MANIFEST, "is missing or unreadable")]
    return [(name, problem) for name, problem in problems.items() if problem]


def _stamps(folder: Path) -> dict[str, tuple[Path, _Stamp]]:
    """The files of an artefact, all of them inside its folder, and what they were."""
    manifest = folder / MANIFEST
    if manifest.exists() and not os.access(manifest, os.R_OK):
        raise PermissionError(None, "", str(manifest))
    stamps = read_json(manifest)["files"]
    return {name: (within(folder, *name.split("/")), _Stamp(**stamp)) for name, stamp in stamps.items()}


def _problem(file: Path, stamp: _Stamp, completely: bool) -> str | None:
    """What is wrong with a file, if anything."""
    try:
        about = file.stat()
        if not stat.S_ISREG(about.st_mode):
            return "is no file"
        if about.st_size != stamp.size:
            return f"has {about.st_size} bytes instead of {stamp.size}"
        if not completely and about.st_size > HASHED_WHEN_OPENED and about.st_mtime_ns == stamp.mtime_ns:
            return None
        found = (
            _checksum(file) if completely else _checksum_once(file, about.st_ino, about.st_mtime_ns, about.st_ctime_ns)
        )
    except PermissionError:
        raise
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None if found == stamp.checksum else "does not have the bytes it was written with"


def _checksum(file: Path) -> str:
    return checksum(file)


@cache
def _checksum_once(file: Path, *stat: int) -> str:
    """The checksum, computed once per process for as long as the file's stat stays."""
    return _checksum(file)


def _read_parquet(file: Path, columns: Sequence[str] | None, most: int | None) -> pa.Table:
    try:
        if most is not None:
            _refuse_bombs(file, most)
        with pq.ParquetFile(file) as opened:  # pq.read_table would import pandas where it is installed
            if most is not None and opened.metadata.num_rows > most:
                raise UserError(f"Cannot read the table {file}: it has {opened.metadata.num_rows:,} rows.")
            if missing := [name for name in columns or () if name not in opened.schema_arrow.names]:
                raise UserError(f"Cannot read the table {file}: it has no column '{missing[0]}'.")
            return opened.read(columns=None if columns is None else list(columns))
    except (OSError, ValueError, pa.ArrowException) as error:
        raise UserError(f"Cannot read the table {file}: {error}") from error


def _refuse_bombs(file: Path, most: int) -> None:
    """Refuse a table that is larger than it should be."""
    groups = measured(file)
    values, size = max((group.values for group in groups), default=0), sum(group.bytes for group in groups)
    if values > most or size > MOST_BYTES:
        raise UserError(
            f"Cannot read the table {file}: it has columns of {values:,} values and takes {size_text(size)}, "
            f"more than {most:,} values and {size_text(MOST_BYTES)}."
        )


def _json(value: object) -> str:
    return json.dumps(value, indent=2, sort_keys=True) + "\n"
