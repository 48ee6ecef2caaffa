"""Rows of a study, streamed to Python or written to a folder with the pictures that they use and no others."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.render.folders import write_dataset
from recombine.render.media import PER_FILE, Drawing, MakePack, Pack, Some
from recombine.render.rendering import MARK, Tell, picture_size, quiet
from recombine.render.sheets import Strips, contact_sheet
from recombine.store.cards import About
from recombine.store.durations import time_of
from recombine.store.errors import UserError
from recombine.store.outputs import export, holds, positive, write_text
from recombine.store.paths import remove, within
from recombine.store.recipe import Recipe
from recombine.store.room import need_room, size_text
from recombine.store.store import Store, write_table
from recombine.tasks.difficulty import Difficulty
from recombine.tasks.row_files import WriteRows, by_number, refuse_format
from recombine.tasks.rows import FORMS, TOGETHER, Answer, Row, RowSet, rows
from recombine.world.scenes import Scenes, digest_of, join

if TYPE_CHECKING:
    from recombine.benchmarks.study import Study

VERSION = 1
"""Raised when the same settings come to give other rows."""
MEDIA_VERSION = 2
FILE_BYTES = 2**27
"""About the most that a file of rows takes."""
ROWS_NOTES = (
    "A row is whole in itself: `text` is a prompt with a mark where each picture or sound belongs.",
    "Shown and asked scenes are mixed, so that the place of a scene tells nothing of its answer.",
    "`concept` is what is hidden: for whoever scores, not for whoever answers.",
)
PLAN = "rows-by-number"
BASE64 = 4 / 3
"""What a file takes in text, by its bytes."""
NONE = "there are no such rows; ask for other splits, or for less difficulty"
TRIED = 16
"""Scenes that are drawn to estimate what all of them take."""


@dataclass(frozen=True, eq=False)
class Asked:
    """Which rows are wanted of a study, and in which form."""

    study: "Study"
    sets: Sequence[RowSet]
    form: str = "all"
    first: int | None = None
    """Only those of the first so many episodes or questions of each set."""
    render: str | None = None
    size: str | None = None
    difficulty: Difficulty = Difficulty()
    also: Mapping[str, Any] = field(default_factory=dict)
    """What else decided the sets."""

    def __post_init__(self) -> None:
        positive(first=self.first)
        if self.form not in FORMS:
            raise UserError(f"there is no form '{self.form}'; choose one of {', '.join(FORMS)}")
        if self.render not in (None, "images", "sounds", "words"):
            raise UserError(f"rows have no {self.render}; choose images, sounds or words, or leave render out")
        if self.size is not None and self.render != "images":
            raise UserError("size is for images; render images, or leave size out")
        if self.difficulty.noise and self.render not in ("images", "sounds"):
            raise UserError("noise is for images and sounds; render one of them, or leave noise out")
        if self.form == "sheet" and self.render != "images":
            raise UserError("a sheet is made of images; render images, or choose the form all or query")

    @property
    def drawing(self) -> Drawing | None:
        if self.render in (None, "words"):
            return None
        clear = self.study.drawing(str(self.render), None if self.size is None else picture_size(self.size))
        seen = self.difficulty.drawing(clear)
        return Strips(seen) if self.form == "sheet" else seen

    def recipe(self, one: RowSet) -> Recipe:
        """What decides the rows of a set."""
        said = {"benchmark": self.study.name, "settings": self.study.named, "set": one.name, "part": one.part}
        asked = {"difficulty": self.difficulty.said} if self.difficulty.said else {}
        return Recipe("rows", VERSION, {**said, **asked, **self.also}, {})

    def rows(self, one: RowSet, answer: Answer | None = None) -> Iterator[tuple[Row, Scenes]]:
        """The rows of a set and their scenes; with what a learner says of them, if one is asked."""
        made = {"benchmark": self.study.name, "seed": self.study.seed, "digest": self.recipe(one).digest}
        keep = self.difficulty.keep(self.study.novelty)
        return rows(one, made, self.form, self.first, self.render == "words", keep, answer)

    def used(self) -> "Used":
        """The scenes that the rows use, each once."""
        found = Used({}, [], 0, 0)
        for one in self.sets:
            found.add(one.scenes, self.rows(one))
        return found

    def pack(self, used: "Used", drawing: Drawing, store: Store) -> Path:
        """The pictures or sounds of the scenes, made now where the store does not have them."""

        def make(draft: Path) -> None:
            self.study.engine.map(MakePack(str(draft), drawing), used.files, drawing.kind)

        return store.get(used.recipe(drawing), make)


@dataclass
class Used:
    """Scenes that rows use: where each is in the pack, and the scenes of each file of it."""

    place: dict[tuple[str, int], int]
    files: list[Some]
    rows: int
    media: int
    """How often rows show a scene."""

    def add(self, domain: str, found: Iterator[tuple[Row, Scenes]]) -> None:
        """The scenes of a set; those of a domain have numbers of their own."""
        waiting, count = list[Scenes](), 0
        for row, scenes in found:
            self.rows, self.media = self.rows + 1, self.media + len(row.scenes)
            new = []
            for i, number in enumerate(row.scenes):
                if (domain, number) not in self.place:
                    self.place[domain, number] = len(self.place)
                    new.append(i)
            if new:
                waiting.append(scenes[np.array(new)])
                count += len(new)
            if count >= PER_FILE:
                waiting, count = self._flush(waiting, PER_FILE), count % PER_FILE
        self._flush(waiting, 1)

    def _flush(self, waiting: list[Scenes], least: int) -> list[Scenes]:
        if not waiting:
            return []
        whole = join(waiting)
        while len(whole) >= least:
            self.files.append(Some(len(self.files), whole[:PER_FILE]))
            whole = whole[PER_FILE:]
        return [whole] if len(whole) else []

    def recipe(self, drawing: Drawing) -> Recipe:
        """Of their pictures or sounds, which depend on nothing but the scenes."""
        return Recipe(
            "media", MEDIA_VERSION, {"drawing": drawing}, {"scenes": digest_of(one.scenes for one in self.files)}
        )

    def places(self, domain: str, row: Row) -> list[int]:
        return [self.place[domain, number] for number in row.scenes]


def stream(asked: Asked, answers: Callable[[RowSet], Answer] | None = None, out: Path | None = None) -> Iterator[Row]:
    """The rows one after the other, with their media if some are to be rendered.

    `answers` gives the learner of a set, if one is to be asked; `out` is where all of them will be written, if so.
    """
    drawing = asked.drawing
    if drawing is None:
        yield from (row for one in asked.sets for row, _ in asked.rows(one, answers and answers(one)))
        return
    used = asked.used()
    if not used.rows:
        return
    each = _size(asked, used, drawing)
    if out is not None:
        _need_room(out, used, each * BASE64)
    pack = Pack(asked.pack(used, drawing, asked.study.store))
    for one in asked.sets:
        for row, _ in asked.rows(one, answers and answers(one)):
            files = tuple(bytes(pack[place]) for place in used.places(one.scenes, row))
            if row.sheet:
                files = (contact_sheet(files, len(row.shown)),)
            yield replace(row, media=files)


def write(
    asked: Asked,
    out: Path,
    format: str,
    chosen: Mapping[str, Any],
    tell: Tell = quiet,
    card: About | None = None,
    also: Callable[[Path], None] | None = None,
) -> Path:
    """Rows in a new folder: for each set and part, files that hold everything that they ask about.

    `card` is what the cards say where that is not the usual; `also` puts further files beside the rows.
    """
    refuse_format(format)
    study, drawing = asked.study, asked.drawing
    said = {"rows": [f"{one.name}/{one.part}" for one in asked.sets], "form": asked.form, "first": asked.first}
    made = {
        "benchmark": study.name,
        **study.settings,
        **chosen,
        **said,
        "format": format,
        "render": asked.render,
        "size": asked.size,
        **asked.also,
        **(
            {"difficulty": [f"{name}={value}" for name, value in hard.items()]}
            if (hard := asked.difficulty.said)
            else {}
        ),
    }
    about = card or replace(study.card(made, "rows"), notes=ROWS_NOTES)
    if holds(out, made, about):
        tell(f"{out} holds exactly this already")
        return out
    used = asked.used() if drawing else Used({}, [], 0, 0)
    pack = None
    if drawing is not None:
        if not used.rows:
            raise UserError(NONE)
        _announce(asked, used, drawing, out, format, tell)
        pack = asked.pack(used, drawing, study.store)
    per_file = _rows_per_file(used, pack)

    def add(draft: Path) -> None:
        mark = Recipe("rows", VERSION, {**made, "per_file": per_file}, {}).canonical()
        folders = [within(draft, *one.name.split("/"), one.part) for one in asked.sets]
        for one, folder in zip(asked.sets, folders):
            _take_up(folder, mark)
            plan = within(draft, PLAN)
            plan.mkdir()
            files = _plan(asked, one, plan, used if drawing else None, per_file)
            place, sheet = None if pack is None else str(pack), asked.form == "sheet"
            job = WriteRows(str(plan), str(folder), place, drawing, format, sheet, asked.recipe(one))
            study.engine.map(job, range(files), f"rows: {one.name} {one.part}")
            remove(plan, draft)
        for folder in folders:
            (folder / MARK).unlink()
        write_dataset(draft, None, None, {}, made)
        if also:
            also(draft)

    return export({}, out, [one.name for one in asked.sets], add, about)


def _take_up(folder: Path, mark: str) -> None:
    """Go on with what a stopped try of the same rows has left, and clear away any other."""
    file = folder / MARK
    if not (file.exists() and file.read_text(encoding="utf-8") == mark):
        folder.mkdir(parents=True, exist_ok=True)
        for path in list(folder.iterdir()):
            remove(path, folder)
        write_text(file, mark)


def _plan(asked: Asked, one: RowSet, plan: Path, used: Used | None, per_file: int) -> int:
    """Write the rows of a set by number; how many files they fill."""
    found, number = asked.rows(one), 0
    while some := [row for row, _ in islice(found, per_file)]:
        places = [used.places(one.scenes, row) if used else [] for row in some]
        write_table(plan / f"rows-{number:05}.parquet", by_number(some, places, asked.render), asked.recipe(one))
        number += 1
    if not number:
        raise UserError(f"{one.name} has no rows in its part {one.part}; choose another part")
    return number


def _rows_per_file(used: Used, pack: Path | None) -> int:
    if pack is None:
        return TOGETHER
    row = Pack(pack).mean_size * used.media / max(1, used.rows)
    return int(max(1, min(TOGETHER, FILE_BYTES // max(1, row))))


def _announce(asked: Asked, used: Used, drawing: Drawing, out: Path, format: str, tell: Tell) -> None:
    """Say how much room and time it takes; refuse it where there is not enough room."""
    scenes, each = len(used.place), _size(asked, used, drawing)
    if asked.study.store.has(used.recipe(drawing)):
        drawn = "which are drawn already"
    else:
        few, start = used.files[0].scenes[:TRIED], time.monotonic()
        drawing.files(few)
        seconds, workers = (time.monotonic() - start) / len(few), getattr(asked.study.engine, "workers", 1)
        took = time_of(max(1, seconds * scenes / min(workers, len(used.files))))
        hands = "1 worker" if workers == 1 else f"{workers} workers"
        drawn = f"about {size_text(each * scenes)} and {took} on {hands} to draw"
    each *= BASE64 if format == "jsonl" else 1
    size = size_text(used.media * each)
    tell(f"{used.rows:,} rows use {scenes:,} {drawing.kind}, {drawn}; the rows take about {size}")
    _need_room(out, used, each)


def _size(asked: Asked, used: Used, drawing: Drawing) -> float:
    """The bytes of a picture or a sound; refused where the store has no room for all that are not drawn yet."""
    store, recipe = asked.study.store, used.recipe(drawing)
    if store.has(recipe):
        return Pack(store.path(recipe)).mean_size
    few = used.files[0].scenes[:TRIED]
    each = sum(map(len, drawing.files(few))) / len(few)
    store.need(each * len(used.place))
    return each


def _need_room(out: Path, used: Used, each: float) -> None:
    advice = "ask for fewer rows, a smaller size, or choose another folder"
    need_room(out, used.media * each, f"Writing {used.rows:,} rows", advice)
