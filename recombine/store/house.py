"""Keeping house: what a store holds, how large and how old it is, and what of it may go.

Nothing goes unless `dry` is false. Artefacts that went are made again when they are asked for.
"""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recombine.store.checksums import SUMS
from recombine.store.errors import UserError
from recombine.store.paths import remove
from recombine.store.store import MANIFEST, PART, Store, need_writable, read_recipe
from recombine.store.writing import abandoned, locked

LONGEST = 160
"""Letters of a recipe in words."""


@dataclass(frozen=True)
class Kept:
    """An artefact of a store."""

    folder: Path
    stage: str
    recipe: str
    """In words."""
    size: int
    """Bytes."""
    age: float
    """Seconds since it was made."""
    whole: str = ""
    """The recipe as it is written."""

    def says(self, words: str) -> bool:
        """Whether its recipe has these words, or one value that is; seed=3 is the seed 3, and not 30."""
        wanted = re.escape(words.lower().replace("=", " ").strip())
        end = r"(?![\d,])" if wanted[-1:].isdigit() else ""
        return bool(re.search(wanted + end, self.recipe.lower())) or json.dumps(words.lower()) in self.whole.lower()


@dataclass(frozen=True)
class Litter:
    """What nobody needs: a draft that no process goes on with, its checksums, a lock that nobody holds."""

    path: Path
    what: str
    size: int


def kept(store: Store) -> list[Kept]:
    """Everything that is finished, the newest first."""
    now = time.time()
    found = [_kept(folder, now) for folder in store.folders()]
    return sorted(found, key=lambda one: (one.age, one.folder))


def prune(
    store: Store, older: float | None = None, to: int | None = None, recipe: str | None = None, dry: bool = True
) -> list[Kept]:
    """Remove artefacts older than so many seconds, or whose recipe holds these words; what goes, or would go.

    With `to`, the oldest of them go until the store has at most so many bytes.
    """
    if older is None and to is None and recipe is None:
        raise UserError("say what may go: what is older, what the store has beyond a size, or what a recipe says")
    if recipe is not None and not recipe.strip(" ="):
        raise UserError("say which words of a recipe: without any, everything would go")
    everything = kept(store)
    chosen = [one for one in reversed(everything) if _meant(one, older, recipe)]
    if to is not None:
        total, enough = sum(one.size for one in everything), list[Kept]()
        for one in chosen:
            if total <= to:
                break
            enough.append(one)
            total -= one.size
        chosen = enough
    for one in [] if dry else chosen:
        need_writable(store.home)
        with _lock(store, one.folder.name):
            remove(one.folder, store.home)
    return chosen


def sweep(store: Store, dry: bool = True) -> list[Litter]:
    """Remove drafts that no process goes on with, and locks that nobody holds; what goes, or would go."""
    found = list[Litter]()
    drafts, locks = _inside(store.home / "drafts"), _inside(store.home / "locks")
    for path in drafts:
        lock = store.home / "locks" / _digest(path)
        if not lock.exists() or abandoned(lock):
            what = "checksums of a draft" if path.name.endswith(SUMS) else "a draft that was interrupted"
            found.append(Litter(path, what, _size(path)))
    found += [Litter(path, "a lock that nobody holds", _size(path)) for path in locks if abandoned(path)]
    found += [Litter(path, "half a file", _size(path)) for path in store.home.glob(f"{PART}*") if abandoned(path)]
    for one in [] if dry else found:
        need_writable(store.home)
        if one.path.parent.name == "drafts":
            with _lock(store, _digest(one.path)):
                remove(one.path, store.home)
        else:
            abandoned(one.path, clear=True)
    return found


def in_words(parameters: Mapping[str, Any]) -> str:
    """The parameters of a recipe as people read them.

    >>> in_words({"scenes": 3000, "seed": 0, "world": {"type": "ClevrWorld", "high": 10}, "cogent": None})
    'scenes 3,000, seed 0, world ClevrWorld'
    """
    said = []
    for name, value in parameters.items():
        match value:
            case bool() | str() | float():
                said.append(f"{name} {value}")
            case int():
                said.append(f"{name} {value:,}")
            case {"type": str(kind)}:
                said.append(f"{name} {kind}")
            case dict() | list() if value:
                said.append(f"{name} ({len(value):,})")
    return ", ".join(said)


def _kept(folder: Path, now: float) -> Kept:
    stage = folder.parent.name
    try:
        recipe = read_recipe(folder)
        said = f"{stage}: {in_words(recipe.parameters)}" if recipe.parameters else stage
        said += "".join(f"; {name} {digest[:8]}" for name, digest in recipe.inputs.items() if isinstance(digest, str))
        whole = recipe.canonical()
    except UserError:
        said, whole = f"{stage}: its recipe cannot be read", ""
    made = (folder / MANIFEST if (folder / MANIFEST).exists() else folder).stat().st_mtime
    return Kept(folder, stage, said[:LONGEST], _size(folder), max(0.0, now - made), whole)


def _meant(one: Kept, older: float | None, recipe: str | None) -> bool:
    return (older is None or one.age > older) and (recipe is None or one.says(recipe))


def _lock(store: Store, digest: str) -> Any:
    (store.home / "locks").mkdir(exist_ok=True)
    busy = f"another process is making {digest}; wait until it is done"
    return locked(store.home / "locks" / digest, busy, keep=False)


def _digest(draft: Path) -> str:
    """Of what a draft would become."""
    return draft.name.partition(".")[0]


def _inside(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _size(path: Path) -> int:
    return sum(file.lstat().st_size for file in (path, *path.rglob("*")) if not file.is_dir())
