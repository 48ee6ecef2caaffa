"""Rendering: what scenes look like and sound like, file by file, with a word about size and time before it starts."""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from recombine.render.dataset import Chosen, Cost, RenderScenes, Source, cost
from recombine.render.encodings import LARGEST, Form, Images, Look, Recordings, Samples, Sounds
from recombine.render.folders import Dataset, read_dataset, write_dataset
from recombine.store.cards import About
from recombine.store.durations import time_of
from recombine.store.engine import Engine, Progress, engine, shard_bounds
from recombine.store.errors import UserError
from recombine.store.outputs import Dress, disk_of, draft_of, export, holds, place_for, positive
from recombine.store.paths import remove, within
from recombine.store.recipe import Recipe
from recombine.store.room import size_text
from recombine.store.store import PART, Store, write_atomically, write_table
from recombine.world.columns import to_table
from recombine.world.scenes import Scenes
from recombine.world.shards import shard_name

KINDS = ("images", "sounds")
FORMATS = ("parquet", "webdataset")
VERSION = 1
"""Raised when the same scenes come to give other pixels or samples."""
PER_FILE = 1_000
PHOTOS_PER_FILE = 50
"""A photo takes seconds; so little is lost when the work is stopped."""
TRIED, TRIED_PHOTOS = 16, 1
"""Scenes that are rendered to estimate what all of them take."""
MARK = ".recipe"
"""A file in a folder that is being filled, which says with what."""

Tell = Callable[[str], None]


def quiet(sentence: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Wanted:
    """What to render of a dataset, and how."""

    kinds: tuple[str, ...] = ("images",)
    size: tuple[int, int] | None = None
    """None for the dataset's own size."""
    first: int | None = None
    """Only the first so many scenes, of each part."""
    photo: bool = False
    recordings: str | None = None

    def __post_init__(self) -> None:
        positive(first=self.first)
        if self.photo and "images" not in self.kinds:
            raise UserError("photo is for images; add images to what is rendered, or leave photo out")
        if self.recordings is not None and "sounds" not in self.kinds:
            raise UserError("recordings is for sounds; add sounds to what is rendered, or leave recordings out")


def wanted(
    kinds: str | Sequence[str],
    size: str | None = None,
    first: int | None = None,
    photo: bool = False,
    recordings: str | Path | None = None,
) -> Wanted:
    """What is wanted, as people write it.

    >>> wanted("images,sounds", "480x320", first=10)
    Wanted(kinds=('images', 'sounds'), size=(480, 320), first=10, photo=False, recordings=None)
    """
    names = [name.strip() for name in kinds.split(",")] if isinstance(kinds, str) else [*kinds] or [""]
    if unknown := [name for name in names if name not in KINDS]:
        raise UserError(f"nothing is rendered as '{unknown[0]}'; choose images, sounds, or both: images,sounds")
    folder = None if recordings is None else str(recordings)
    return Wanted(
        tuple(k for k in KINDS if k in names), None if size is None else picture_size(size), first, photo, folder
    )


def picture_size(text: str) -> tuple[int, int]:
    """Width and height as people write them, such as 480x320."""
    found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text.strip())
    if not found:
        raise UserError(f"'{text}' is no size; write width and height such as 480x320")
    width, height = map(int, found.groups())
    if not (1 <= width <= LARGEST and 1 <= height <= LARGEST):
        raise UserError(f"a picture has 1 to {LARGEST} pixels a side, not {width} x {height}")
    return width, height


def refuse_format(format: str, known: Sequence[str] = ("parquet",)) -> None:
    """Refuse a format that files without images do not have."""
    if format == "webdataset":
        raise UserError("the format webdataset is for images and sounds; say which with render")
    if format not in known:
        raise UserError(f"there is no format '{format}'; choose one of {', '.join(known)}")


# --- works --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Work:
    """One folder to fill: the scenes of one part in one form."""

    name: str
    form: Form
    source: Source | Chosen
    scenes: int
    per_file: int
    recipe: Recipe

    def into(self, folder: Path) -> RenderScenes:
        return RenderScenes(str(folder), self.source, self.form, self.scenes, self.per_file, self.recipe)

    def missing(self, folder: Path) -> int:
        """The scenes that are still to be rendered into this folder."""
        return self.into(folder).missing() if self._is_mine(folder) else self.scenes

    def fill(self, engine: Engine, folder: Path) -> None:
        """Render into a folder; goes on where a stopped try of the same work was, and clears away any other."""
        if not self._is_mine(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for path in list(folder.iterdir()):
                remove(path, folder)
            write_atomically(folder / MARK, lambda part: part.write_text(self.recipe.canonical(), encoding="utf-8"))
        job = self.into(folder)
        engine.map(job, range(job.files), self.name.replace("/", ": "))

    def tidy(self, folder: Path) -> None:
        """Leave nothing but the files, once all works are done."""
        for leftover in [folder / MARK, *folder.glob(f"{PART}*")]:
            leftover.unlink()

    def _is_mine(self, folder: Path) -> bool:
        mark = folder / MARK
        return mark.exists() and mark.read_text(encoding="utf-8") == self.recipe.canonical()


class Given(NamedTuple):
    """Where the scenes of a part are, and the digest that stands for them."""

    folder: Path
    digest: str


Used = Mapping[str, np.ndarray]
"""By part, the numbers of the scenes that are to be rendered and no others, rising."""


def works(
    dataset: Dataset,
    scenes: Callable[[], Mapping[str, Given]],
    chosen: Wanted | str | None,
    format: str,
    used: Used | None = None,
) -> list[Work]:
    """What there is to do, form by form and part by part; the scenes are made if something is to be rendered."""
    if not chosen:
        return []
    chosen = wanted(chosen) if isinstance(chosen, str) else chosen
    forms, found = _forms(dataset, chosen, format), []
    for folder, form in forms.items():
        for part, given in scenes().items():
            source: Source | Chosen = dataset.source(part, given.folder)
            if used is not None:
                if not len(used.get(part, ())):
                    continue
                source = Chosen(dataset.source(part, given.folder), used[part])
            count = min(chosen.first or source.scenes, source.scenes)
            per_file = PHOTOS_PER_FILE if chosen.photo else PER_FILE
            parameters: dict[str, Any] = {"form": _anywhere(form), "scenes": count, "per_file": per_file}
            if isinstance(source, Chosen):
                parameters["used"] = source.digest
            recipe = Recipe(folder, VERSION, parameters, {"scenes": given.digest})
            found.append(Work(f"{folder}/{part}".rstrip("/"), form, source, count, per_file, recipe))
    _check_sound(found)
    return found


def _forms(dataset: Dataset, chosen: Wanted, format: str) -> dict[str, Form]:
    if format not in FORMATS:
        raise UserError(f"there is no format '{format}' for images and sounds; choose one of {', '.join(FORMATS)}")
    width, height = chosen.size or (dataset.width, dataset.height)
    images = dataset.images(width, height, chosen.photo) if "images" in chosen.kinds else None
    sounds = _sounds(dataset, chosen.recordings) if "sounds" in chosen.kinds else None
    if format == "webdataset":
        return {"webdataset": Samples(images, sounds)}
    return {form.name: form for form in (images, sounds) if form}


def _sounds(dataset: Dataset, recordings: str | None) -> Sounds:
    if dataset.first_bin is None:
        raise UserError(f"the scenes of {dataset.benchmark} have no sound, those of curi have; render images only")
    if recordings is None:
        return Sounds(dataset.first_bin)
    return Sounds(dataset.first_bin, Recordings(recordings, _digest(Path(recordings), "*.[wW][aA][vV]")))


def _anywhere(form: Form) -> Form:
    """The form without the folders of what it is made with."""
    if isinstance(form, Samples):
        return replace(
            form, images=form.images and form.images.anywhere(), sounds=form.sounds and form.sounds.anywhere()
        )
    return form.anywhere()


def _check_sound(found: list[Work]) -> None:
    """Speak about scenes without sound and damaged recordings before anything is made."""
    for work in found[:1] + found[-1:]:
        form = work.form.sounds if isinstance(work.form, Samples) else work.form
        if isinstance(form, Sounds):
            form.check(work.source.read(0, 1))


def _digest(folder: Path, names: str) -> str:
    """The digest of the contents of files."""
    digest = hashlib.blake2b(digest_size=16)
    for file in sorted(file for file in folder.glob(names) if file.is_file()) if folder.is_dir() else []:
        digest.update(f"{file.name}\0{file.stat().st_size}\0".encode())
        with file.open("rb") as content:
            while piece := content.read(2**20):
                digest.update(piece)
    return digest.hexdigest()


# --- size and time ------------------------------------------------------------------------------------------------


class Left(NamedTuple):
    """How many scenes of a work are still to be rendered."""

    work: Work
    scenes: int


def announce(todo: list[Work], store: Store | None, out: Path | None, engine: Engine, tell: Tell) -> None:
    """Say how much room and time the rendering takes; refuse it where there is not enough room."""
    undone = [work for work in todo if not (store and store.has(work.recipe))]
    counted = [Left(work, work.missing(_place(work, store, out))) for work in undone]
    left = [each for each in counted if each.scenes]
    if not left:
        return
    workers = getattr(engine, "workers", 1)
    size, seconds = estimate(left, workers)
    where = disk_of(_place(left[0].work, store, out))
    free = shutil.disk_usage(where).free
    what = f"{_in_words(left)} take about {size_text(size)}"
    if size > free:
        smaller = "choose a smaller scale or size, only the first scenes, or a folder on a bigger disk"
        raise UserError(f"{what}, but {where} has {size_text(free)} free; {smaller}")
    hands = "1 worker" if workers == 1 else f"{workers} workers"
    tell(f"{what}, about {time_of(max(seconds, 1))} on {hands}; {size_text(free)} are free")


def estimate(left: list[Left], workers: int) -> Cost:
    """What all of it takes, by trying a few scenes in every form."""
    costs = {form: _cost(work) for form, work in {type(each.work.form): each.work for each in left}.items()}
    size = seconds = 0.0
    for work, scenes in left:
        one = costs[type(work.form)]
        size += one.bytes * scenes
        seconds += one.seconds * scenes / min(workers, -(-scenes // work.per_file))
    return Cost(size, seconds)


def _place(work: Work, store: Store | None, out: Path | None) -> Path:
    """Where a work is done."""
    if out is not None:
        return draft_of(out) / work.name
    assert store is not None
    return store.draft(work.recipe)


def _cost(work: Work) -> Cost:
    images = work.form.images if isinstance(work.form, Samples) else work.form
    photo = isinstance(images, Images) and images.look.photo
    return cost(work.form, work.source, work.recipe, TRIED_PHOTOS if photo else TRIED)


def _in_words(left: list[Left]) -> str:
    """'131,072 images and 131,072 sounds', or how many more where some are there."""
    phrases = []
    for kinds in dict.fromkeys(each.work.form.kinds for each in left):
        same = [each for each in left if each.work.form.kinds == kinds]
        scenes, all_scenes = sum(each.scenes for each in same), sum(each.work.scenes for each in same)
        known = [each.work.source.source.scenes for each in same if isinstance(each.work.source, Chosen)]
        these = f", of the {sum(known):,} scenes those that are used," if known else ""
        phrases.append(f"{scenes:,} {'more ' if scenes < all_scenes else ''}{kinds}{these}")
    return " and ".join(phrases)


# --- doing it -----------------------------------------------------------------------------------------------------


def deliver(
    dataset: Dataset | None,
    world: object,
    found: Mapping[str, Path],
    todo: list[Work],
    store: Store | None,
    engine: Engine,
    out: Path | None,
    made: Mapping[str, Any],
    write: Callable[[Path], None] | None = None,
    also: Callable[[Path], None] | None = None,
    about: About | None = None,
    dress: Dress | None = None,
) -> Path:
    """Write a dataset into a folder: artefacts are copied, what the store does not have is rendered in place.

    `made` tells what decided it. `write` writes files in place of the artefacts, `also` beside them. Without a folder,
    everything is kept in the store.
    """
    if out is None:
        assert store is not None
        return _keep(todo, store, engine)
    ready = {work.name: store.path(work.recipe) for work in todo if store and store.has(work.recipe)}
    rest = [work for work in todo if work.name not in ready]

    def add(draft: Path) -> None:
        places = [(work, within(draft, *work.name.split("/"))) for work in rest]
        for work, place in places:
            work.fill(engine, place)
        for work, place in places:
            work.tidy(place)
        for writer in filter(None, (write, also)):
            writer(draft)
        write_dataset(draft, dataset, world, {work.name: work.recipe for work in todo}, made)

    return export({**({} if write else found), **ready}, out, [work.name for work in rest], add, about, dress)


def _keep(todo: list[Work], store: Store, engine: Engine) -> Path:
    for work in todo:
        store.get(work.recipe, partial(_make, work, engine))
    return store.home


def _make(work: Work, engine: Engine, draft: Path) -> None:
    work.fill(engine, draft)
    work.tidy(draft)


@contextmanager
def as_dataset(scenes: Scenes, benchmark: str, width: int, height: int, name: str) -> Iterator[Path]:
    """Scenes as the folder of a dataset, for as long as it is needed."""
    parts = (("", len(scenes)),)
    described = Dataset(benchmark, scenes.vocabulary, scenes.places, parts, PER_FILE, width, height, None)
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "scenes").mkdir()
        recipe = Recipe("scenes", VERSION, {"file": name}, {})
        for number, (low, high) in enumerate(shard_bounds(len(scenes), PER_FILE)):
            write_table(folder / "scenes" / shard_name("scenes", number), to_table(scenes[low:high], low), recipe)
        write_dataset(folder, described, {"file": name}, {}, {})
        yield folder


def render_scenes(
    folder: Path,
    named: Path,
    out: str | Path | None,
    chosen: Wanted | str,
    format: str,
    workers: int | Engine,
    progress: Progress,
    tell: Tell,
    read: Callable[[Path], tuple[Dataset, Any]] = read_dataset,
    about: Callable[[str, Mapping[str, Any]], About | None] | None = None,
) -> Path:
    """Render the dataset in a folder, by default into one beside `named`."""
    described, world = read(folder)
    chosen = wanted(chosen) if isinstance(chosen, str) else chosen
    target = place_for(out if out is not None else _beside(named, described, chosen))
    parts = {part: folder / "scenes" / part for part, _ in described.parts}
    given = {part: Given(path, _digest(path, "*.parquet")) for part, path in parts.items()}
    todo = works(described, lambda: given, chosen, format)
    made = {"rendered": {work.name: work.recipe.digest for work in todo}}
    kinds = ",".join(chosen.kinds)
    card = about(described.benchmark, {"kind": kinds, "size": _look(described, chosen)}) if about else None
    if holds(target, made, card):
        tell(f"{target} holds exactly this already")
        return target
    found = {f"scenes/{part}".rstrip("/"): path for part, path in parts.items()}
    with engine(workers, progress) as hands:
        announce(todo, None, target, hands, tell)
        return deliver(described, world, found, todo, None, hands, target, made, about=card)


def _look(dataset: Dataset, chosen: Wanted) -> str:
    return str(Look(*(chosen.size or (dataset.width, dataset.height)), chosen.photo))


def _beside(folder: Path, dataset: Dataset, chosen: Wanted) -> Path:
    """A name for what is rendered of a dataset."""
    look = _look(dataset, chosen)
    kinds = [look if kind == "images" else kind for kind in chosen.kinds]
    folder = folder.absolute()
    return folder.with_name("-".join([folder.name, *kinds]))
