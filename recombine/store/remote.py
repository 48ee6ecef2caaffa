"""Push and pull: a finished folder, a dataset or an artefact, to and from any place that `fsspec` knows.

    place/recombine-begun.json      what is being pushed; a push that was stopped goes on
    place/...                       the files, each with a checksum
    place/recombine-manifest.json   written last: the place is complete

A place is written once. What is there already, whole, is left alone; what belongs to others is refused.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from recombine.store.checksums import checksum
from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.outputs import free_folder
from recombine.store.paths import remove, within
from recombine.store.recipe import Recipe
from recombine.store.room import FULL, need_room
from recombine.store.store import RECIPE, STAGE, Store, recipe_of
from recombine.store.untrusted import MOST, parse_json
from recombine.store.writing import PART, write_atomically, writing

FORMAT = 1
MANIFEST, BEGUN = "recombine-manifest.json", "recombine-begun.json"
CHUNK = 2**22
LARGEST = 2**60
"""Bytes that no file has."""
ACCESS = "check the address and your permission"
TRIES = 3
"""How often a file is sent before the way is to blame."""


class Sum(NamedTuple):
    """What a file is."""

    size: int
    checksum: str


class Place:
    """A folder somewhere: file, memory, s3, gs, ssh, ... as `fsspec` has them."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        try:
            import fsspec
        except ImportError as error:
            raise UserError("push and pull need fsspec: pip install 'recombine[remote]'") from error
        try:
            self.fs, self.root = fsspec.core.url_to_fs(self.url)
        except ImportError as error:
            self.fs, self.root = _by_arrow(self.url, error)
        except ValueError as error:
            raise UserError(f"{url} is no place that can be reached: {error}") from error

    def at(self, name: str) -> str:
        return f"{self.root}/{name}"

    @contextmanager
    def told(self, what: str) -> Iterator[None]:
        """What goes wrong there, in a sentence."""
        try:
            yield
        except UserError:
            raise
        except Exception as error:  # every kind of place has its own
            said = " ".join(str(error).split())[:200] or type(error).__name__
            advice = "free some room there" if getattr(error, "errno", None) in FULL else ACCESS
            raise UserError(f"{self.url} cannot be {what} ({said}); {advice}") from error

    def read(self, name: str) -> bytes | None:
        """A small file, if it is there."""
        if (self.size(name) or 0) > MOST:
            raise UserError(f"{self.url}/{name} is larger than the {MOST / 1e6:,.0f} MB that it may have")
        with self.told("read"):
            try:
                with self.fs.open(self.at(name), "rb") as source:
                    found = bytes(source.read(MOST + 1))
            except FileNotFoundError:
                return None
        if len(found) > MOST:
            raise UserError(f"{self.url}/{name} is larger than it says it is")
        return found

    def create(self, name: str, content: bytes) -> bool:
        """Write a small file unless it is there; whether it was written."""
        with self.told("written"):
            if self.fs.exists(self.at(name)):
                return False
            self.fs.makedirs(self.root, exist_ok=True)
            try:
                self.fs.pipe_file(self.at(name), content, mode="create")
            except FileExistsError:
                return False
            except (TypeError, NotImplementedError):  # a place that knows no such mode
                self.fs.pipe_file(self.at(name), content)
            return True

    def claim(self, name: str, content: bytes) -> bool:
        """Have a small file say this, unless it says something else: a stopped try has left its beginning at most."""
        if self.create(name, content):
            return True
        found = self.read(name) or b""
        if found != content and content.startswith(found):
            with self.told("written"):
                self.fs.pipe_file(self.at(name), content)
            found = self.read(name) or b""
        return found == content

    def size(self, name: str) -> int | None:
        """Bytes of a file, if it is there."""
        with self.told("read"):
            try:
                self.fs.invalidate_cache()
                return int(self.fs.info(self.at(name))["size"])
            except FileNotFoundError:
                return None

    def checksum(self, name: str) -> str:
        """Of what is there now."""
        digest = hashlib.blake2b(digest_size=16)
        with self.told("read"), self.fs.open(self.at(name), "rb") as source:
            while piece := source.read(CHUNK):
                digest.update(piece)
        return digest.hexdigest()

    def send(self, file: Path, name: str) -> None:
        with self.told("written"):
            parent = self.at(name).rpartition("/")[0]
            self.fs.makedirs(parent, exist_ok=True)
            self.fs.put_file(str(file), self.at(name))

    def fetch(self, name: str, part: Path, size: int) -> None:
        """So many bytes of a file, and one more where there is one: a place may send more than it says."""
        with self.told("read"), self.fs.open(self.at(name), "rb") as source, part.open("wb") as copy:
            left = size + 1
            while left and (piece := source.read(min(CHUNK, left))):
                copy.write(piece)
                left -= len(piece)


def _by_arrow(url: str, missing: ImportError) -> tuple[Any, str]:
    """S3 and the like by Arrow's own client, where fsspec's is not installed."""
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow import fs as arrow

    if not url.startswith(("s3://", "gs://", "gcs://")):
        raise UserError(f"{url} needs a package that is not installed: {missing}") from missing
    try:
        found, root = arrow.FileSystem.from_uri(url.replace("gcs://", "gs://"))
    except (OSError, ValueError) as error:
        raise UserError(f"{url} is no place that can be reached: {error}") from error
    return ArrowFSWrapper(found), root


# --- push -----------------------------------------------------------------------------------------------------------


def push(folder: str | Path, place: str, progress: Progress = silent) -> str:
    """Send a finished folder to a place; goes on where it was stopped. What the place is called."""
    folder, there = Path(folder), Place(place)
    files = sums_of_folder(folder)
    said = _json({"format": FORMAT, "files": {name: one._asdict() for name, one in files.items()}})
    if (found := there.read(MANIFEST)) == said:
        return there.url
    if found is not None and not said.startswith(found):
        raise UserError(f"{place} holds something else already; nothing there is replaced: choose another place")
    if there.read(BEGUN) is None:
        _refuse_others(there, files)
    if not there.claim(BEGUN, said):
        raise UserError(f"{place} was begun with something else; choose another place, or remove what is there")
    for number, (name, one) in enumerate(files.items()):
        progress("files sent", number, len(files))
        _send(there, folder / name, name, one)
    progress("files sent", len(files), len(files))
    if not there.claim(MANIFEST, said):
        raise UserError(f"{place} was finished by somebody else meanwhile; choose another place")
    return there.url


def _refuse_others(there: Place, files: Mapping[str, Sum]) -> None:
    """Refuse a place where files of the same names are that no push has begun: they would be replaced."""
    for name, one in files.items():
        if there.size(name) is not None and not _is_there(there, name, one):
            raise UserError(f"{there.url} has another {name} already; nothing there is replaced: choose another place")


def _is_there(there: Place, name: str, one: Sum) -> bool:
    return there.size(name) == one.size and there.checksum(name) == one.checksum


def _send(there: Place, file: Path, name: str, one: Sum) -> None:
    if _is_there(there, name, one):
        return
    for _ in range(TRIES):
        there.send(file, name)
        if _is_there(there, name, one):
            return
    if Sum(file.stat().st_size, checksum(file)) != one:
        raise UserError(f"{file} was changed while it was sent; push it again")
    raise UserError(f"{there.url}/{name} does not keep the bytes that are written to it; choose another place")


def sums_of_folder(folder: Path) -> dict[str, Sum]:
    """The files of a folder that is complete."""
    if not (folder / RECIPE).is_file():
        raise UserError(f"{folder} has no {RECIPE}, so it is nothing that was made; give a folder or an artefact")
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith(PART))
    if links := [file for file in folder.rglob("*") if file.is_symlink()]:
        raise UserError(f"{links[0]} is a link, which may lead to what is not to be sent; put the file itself there")
    return {
        file.relative_to(folder).as_posix(): Sum(file.stat().st_size, checksum(file))
        for file in files
        if file.name not in (MANIFEST, BEGUN)
    }


def artefact_or_folder(what: str, store: Store) -> Path:
    """A folder, or an artefact of the store by stage and digest."""
    if Path(what).is_dir():
        return Path(what)
    stage, slash, digest = what.partition("/")
    if slash and "/" not in digest and (found := within(store.home, stage, digest)).is_dir():
        return found
    raise UserError(
        f"there is no folder and no artefact '{what}'; an artefact is STAGE/DIGEST, as recombine store lists"
    )


# --- pull -----------------------------------------------------------------------------------------------------------


def pull(place: str, out: str | Path | None = None, store: Store | None = None, progress: Progress = silent) -> Path:
    """Fetch what was pushed: a dataset into a new folder, an artefact into the store. Every byte is checked."""
    free_folder(out)
    there = Place(place)
    files = _manifest(there)
    size = sum(one.size for one in files.values())
    fetch = partial(_fetch_all, there, files, progress)
    if out is None:
        store = store or Store.default()
        recipe = _recipe_of(there)
        if not store.has(recipe):
            store.need(size)
        return store.receive(recipe, fetch)
    need_room(Path(out), size, f"a copy of {place}", "choose another place")
    with writing(out, again=True) as draft:
        fetch(draft)
    return Path(out)


def _fetch_all(there: Place, files: Mapping[str, Sum], progress: Progress, draft: Path) -> None:
    """Everything that a place has, and nothing that an earlier try had from another."""
    for stale in [file for file in draft.rglob("*") if not file.is_dir()]:
        if stale.relative_to(draft).as_posix() not in files:
            remove(stale, draft)
    for number, (name, one) in enumerate(files.items()):
        progress("files fetched", number, len(files))
        file = within(draft, *name.split("/"))
        file.parent.mkdir(parents=True, exist_ok=True)
        if not (file.exists() and Sum(file.stat().st_size, checksum(file)) == one):
            write_atomically(file, partial(_fetch, there, name, one))
    progress("files fetched", len(files), len(files))


def _fetch(there: Place, name: str, one: Sum, part: Path) -> None:
    for _ in range(TRIES):
        if there.size(name) == one.size:  # what is larger is not fetched at all
            there.fetch(name, part, one.size)
        if part.exists() and Sum(part.stat().st_size, checksum(part)) == one:
            return
    raise UserError(f"{there.url}/{name} does not have the bytes that were pushed; push it again to another place")


def _manifest(there: Place) -> Mapping[str, Sum]:
    content = there.read(MANIFEST)
    if content is None:
        begun = "; its push was not finished" if there.read(BEGUN) is not None else ""
        raise UserError(f"{there.url} has no {MANIFEST}{begun}: give a place that recombine push has written")
    try:
        said = parse_json(content, f"{there.url}/{MANIFEST}", dict)
        if said["format"] > FORMAT:
            raise UserError(f"{there.url} was pushed by a newer version of recombine: upgrade")
        return {name: Sum(_size(one["size"]), str(one["checksum"])) for name, one in said["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(f"{there.url}/{MANIFEST} is damaged ({error}); push it again to another place") from error


def _size(said: object) -> int:
    """Bytes of a file, as a manifest says them."""
    if isinstance(said, bool) or not isinstance(said, int) or not 0 <= said < LARGEST:
        raise ValueError("a size is no number of bytes")
    return said


def _recipe_of(there: Place) -> Recipe:
    """What an artefact was made from, which says where it belongs in the store."""
    try:
        plain = parse_json(there.read(RECIPE) or b"null", f"{there.url}/{RECIPE}")
    except UserError:
        plain = None
    recipe: Recipe = recipe_of(plain, Path(RECIPE), f"{there.url} was not pushed whole")
    if not STAGE.fullmatch(recipe.stage):
        raise UserError(f"{there.url}/{RECIPE} is of no stage of a store; it is no artefact")
    if recipe.stage == "dataset":
        raise UserError(f"{there.url} is a dataset; say with out where it goes")
    return recipe


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True) + "\n").encode()
