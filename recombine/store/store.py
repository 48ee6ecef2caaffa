"""The store: artefacts by recipe, made once, checked when opened.

An *artefact* is a folder of files that a recipe decides. While it is made it is a *draft*; a draft that was
interrupted stays and is finished next time. A finished artefact has a *manifest*: a stamp for each of its files.

    home/store.json             the format of this store
    home/<stage>/<digest>/      a finished artefact, with recipe.json and manifest.json
    home/drafts/<digest>/       an artefact in the making
    home/locks/<digest>         held by the process that makes it
"""

import fcntl
import hashlib
import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recombine.store.errors import UserError
from recombine.store.recipe import Recipe

FORMAT = 1
RECIPE = "recipe.json"
MANIFEST = "manifest.json"
PART = ".part-"
# Hashing gigabytes at every command is too slow: a larger file is hashed only when its time of change is not the
# stamped one.
HASHED_WHEN_OPENED = 64 * 2**20
STAGE = re.compile(r"(?!(locks|drafts)$)[\w-]+")


def print_warning(sentence: str) -> None:
    """Print one line to stderr."""
    print(sentence, file=sys.stderr)


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
            with _locked(self.home / "locks" / recipe.digest):
                self._repair(recipe, make)
        return folder

    def verify(self) -> list[tuple[Path, str, str]]:
        """Check every byte of every artefact: (artefact, file, problem) for each damaged file."""
        folders = sorted(folder for folder in self.home.glob("*/*/") if STAGE.fullmatch(folder.parent.name))
        return [(folder, *damage) for folder in folders for damage in _damage(folder, completely=True)]

    def need(self, bytes: int) -> None:
        """Refuse to go on when the disk has less room than this."""
        free = shutil.disk_usage(self.home).free
        if free < bytes:
            raise UserError(
                f"This needs {bytes / 1e9:.1f} GB but {self.home} has {free / 1e9:.1f} GB free: "
                "choose a smaller --scale, or set RECOMBINE_HOME to a folder on a bigger disk."
            )

    def _repair(self, recipe: Recipe, make: Callable[[Path], None]) -> None:
        """Make the artefact unless it is sound; call this with its lock held."""
        folder = self.path(recipe)
        # Another process may have made it while this one waited for the lock.
        damage = _damage(folder) if self.has(recipe) else []
        if damage:
            file, problem = damage[0]
            self.warn(f"{folder / file} {problem}; the artefact is damaged and is rebuilt.")
            shutil.rmtree(folder)
        if not self.has(recipe):
            self._make(recipe, make)

    def _make(self, recipe: Recipe, make: Callable[[Path], None]) -> None:
        draft = self.draft(recipe)
        draft.mkdir(parents=True, exist_ok=True)
        make(draft)
        for leftover in draft.rglob(f"{PART}*"):
            leftover.unlink()
        _write_json(draft / RECIPE, json.loads(recipe.canonical()))
        _write_json(draft / MANIFEST, _manifest(draft))
        self._finish(draft, self.path(recipe))

    def _finish(self, draft: Path, folder: Path) -> None:
        """Move a complete draft to its place, in one step and only after its bytes are on the disk."""
        for path in [*draft.rglob("*"), draft]:
            _sync(path)
        folder.parent.mkdir(exist_ok=True)
        os.rename(draft, folder)
        _sync(folder.parent)


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` write a file that appears at `path` whole or not at all."""
    # The name comes last because writers look at its suffix.
    part = path.with_name(f"{PART}{secrets.token_hex(4)}-{path.name}")
    try:
        write(part)
        _sync(part)
        os.replace(part, path)
    except OSError as error:
        error.filename = error.filename or str(path)  # a write that fails knows no name
        raise
    finally:
        part.unlink(missing_ok=True)
    _sync(path.parent)


def write_table(path: Path, table: pa.Table, recipe: Recipe) -> None:
    """Write a Parquet file that carries its recipe."""
    metadata = {**(table.schema.metadata or {}), b"recombine.recipe": recipe.canonical().encode()}
    table = table.replace_schema_metadata(metadata)
    write_atomically(path, lambda part: pq.write_table(table, part, compression="zstd"))


def read_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A Parquet file, or all those of a folder in the order of their names, as one table."""
    files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not files:
        raise UserError(f"{path} holds no Parquet files.")
    return pa.concat_tables([_read_parquet(file, columns) for file in files])


def read_recipe(folder: Path) -> Recipe:
    """The recipe of a finished artefact; dataclasses among its parameters come back as mappings."""
    file = folder / RECIPE
    try:
        return Recipe(**_read_json(file))
    except TypeError as error:
        raise UserError(f"{file} is not a recipe: delete {folder} to have it made again.") from error


def _create(home: Path) -> None:
    advice = "set RECOMBINE_HOME to a folder you can write to."
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"Cannot create the store {home} ({error.strerror}): {advice}") from error
    if not os.access(home, os.W_OK | os.X_OK):
        raise UserError(f"Cannot write to the store {home}: {advice}")


def _check_format(file: Path) -> None:
    if not file.exists():
        _write_json(file, {"format": FORMAT})
    match _read_json(file):
        case {"format": int(found)} if found > FORMAT:
            raise UserError(
                f"The store {file.parent} was written by a newer version of recombine: "
                "upgrade, or set RECOMBINE_HOME to another folder."
            )
        case {"format": int()}:
            pass
        case _:
            raise UserError(f"{file} does not say which format the store has: set RECOMBINE_HOME to another folder.")


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Hold an exclusive lock, which the system releases whichever way the process ends."""
    file.parent.mkdir(exist_ok=True)
    # The file stays: were it deleted, two processes could hold locks on two files of the same name.
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
    stat = file.stat()
    return _Stamp(stat.st_size, stat.st_mtime_ns, _checksum(file))


def _damage(folder: Path, completely: bool = False) -> list[tuple[str, str]]:
    """(file, problem) for each damaged file of a finished artefact."""
    try:
        stamps = _stamps(folder / MANIFEST)
        problems = {name: _problem(folder / name, stamp, completely) for name, stamp in stamps.items()}
    except PermissionError as error:
        raise UserError(f"You may not read {error.filename}: change its permissions, or set RECOMBINE_HOME.") from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return [(MANIFEST, "is missing or unreadable")]
    return [(name, problem) for name, problem in problems.items() if problem]


def _stamps(manifest: Path) -> dict[str, _Stamp]:
    return {name: _Stamp(**stamp) for name, stamp in json.loads(manifest.read_text())["files"].items()}


def _problem(file: Path, stamp: _Stamp, completely: bool) -> str | None:
    """What is wrong with a file, if anything."""
    try:
        stat = file.stat()
        if stat.st_size != stamp.size:
            return f"has {stat.st_size} bytes instead of {stamp.size}"
        if not completely and stat.st_size > HASHED_WHEN_OPENED and stat.st_mtime_ns == stamp.mtime_ns:
            return None
        found = _checksum(file) if completely else _checksum_once(file, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns)
    except PermissionError:
        raise
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None if found == stamp.checksum else "does not have the bytes it was written with"


def _checksum(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


@cache
def _checksum_once(file: Path, *stat: int) -> str:
    """The checksum, computed once per process for as long as the file's stat stays."""
    return _checksum(file)


def _read_parquet(file: Path, columns: Sequence[str] | None) -> pa.Table:
    try:
        return pq.read_table(file, columns=None if columns is None else list(columns), partitioning=None)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"Cannot read the table {file}: {error}") from error


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise UserError(f"Cannot read {file}: {error}") from error


def _write_json(file: Path, value: object) -> None:
    text = json.dumps(value, indent=2, sort_keys=True) + "\n"
    write_atomically(file, lambda part: part.write_text(text))


def _sync(path: Path) -> None:
    """Have the bytes of a file, or the names in a folder, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
