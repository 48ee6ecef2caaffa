"""ConceptWorld in the explorer: classes to tell apart, definitions to write, images to look at."""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa

from recombine.benchmarks.concept_world import drawing
from recombine.benchmarks.concept_world.definition import Definition, Library
from recombine.benchmarks.concept_world.formula import write
from recombine.benchmarks.concept_world.reader import load_library, phrase, read
from recombine.benchmarks.concept_world.recognise import Recogniser
from recombine.benchmarks.concept_world.study import ConceptWorld, parts_of
from recombine.benchmarks.exploring import PAGE, Explorer, Group, Item, Part, Reading, Round, SceneCard, Shot
from recombine.render.grid import grid_codes, paint
from recombine.render.png import png
from recombine.report.picture import mask_path
from recombine.report.table import Table
from recombine.store.errors import UserError
from recombine.store.limit import Exceeded, limited
from recombine.tasks.examples import Examples

DEFINES = re.compile(r"(?m)^\s*(?:concept|grid|colors)\s")
MINE = "mine.concepts"
SECONDS = 5.0
"""That drawing a text, or judging images by it, may take."""
AT_ONCE = 60
"""Images that are judged before the next look at the time."""
DRAWN = 16
SHOWN = 3
"""Training images of each line that a round shows."""
LARGE = 4
"""Pixels of a point."""


class ConceptWorldExplorer(Explorer):
    """What people can do with ConceptWorld. Images are counted through all parts of all experiments."""

    study: ConceptWorld
    seen = ("pictures",)
    pixelated = True
    whom: ClassVar[Mapping[str, str]] = {
        **Explorer.whom,
        "membership": "names what was in training, whole, and guesses the rest",
        "definitions": "weighs the definitions that fit the training images, and puts none together",
    }
    languages: ClassVar[Mapping[str, str]] = {
        "a phrase": "f_pent west of z_pent",
        "a concept": "red_seq",
        "a definition": 'concept corner(X) "three points of one colour around a corner":\n'
        "    X == (a, b, c) and point(a) and point(b) and point(c)\n"
        "    and east_1(a, b) and south_1(b, c) and uniform(X)",
    }

    @property
    def splits(self) -> Sequence[tuple[str, str, str]]:
        found = map(self.study.study.experiment, self.study.experiments)
        return [(one.name, one.title, f"classes: {', '.join(one.classes)}") for one in found]

    def tables(self) -> Sequence[Table]:
        return [self.study.list(), drawing.concept_table()]

    @property
    def pixels(self) -> tuple[int, int]:  # type: ignore[override]
        grid = self.study.study.library.grid
        return grid.width * LARGE, grid.height * LARGE

    # --- images by one number

    @cached_property
    def _parts(self) -> list[tuple[str, str, int]]:
        """Experiment, part, and how many images it asks for; so one experiment is made without the others."""
        return [
            (name, part, sum(line.count for line in lines))
            for name in self.study.experiments
            for part, lines in parts_of(self.study.study.experiment(name)).items()
        ]

    @property
    def scenes(self) -> int:
        return sum(count for _, _, count in self._parts)

    def _first(self, experiment: str, part: str) -> int:
        first = 0
        for name, one, count in self._parts:
            if (name, one) == (experiment, part):
                return first
            first += count
        raise UserError(f"there is no part '{part}'")

    def _row(self, number: int) -> pa.Table:
        number = self.numbered(number)
        for name, part, count in self._parts:
            if number < count:
                table = self.study.study.samples(name, part)
                return table.slice(min(number, len(table) - 1), 1)  # there may be fewer than it asks for
            number -= count
        raise AssertionError("numbers are checked")

    def _pixels(self, number: int) -> np.ndarray:
        study = self.study.study
        small: np.ndarray = paint(study.images(self._row(number)), study.library.grid.colors)[0]
        return small.repeat(LARGE, axis=0).repeat(LARGE, axis=1)

    def picture(self, number: int) -> bytes:
        return png(self._pixels(number), 1)

    def scene(self, number: int) -> SceneCard:
        row = self._row(number).drop_columns(["codes"]).to_pylist()[0]
        colors = self.study.study.library.grid.colors
        shown = self._pixels(number).any(axis=2)
        row["object"] = json.loads(row["object"])
        words = (f"{row['label']}: {row['concept']}", *({colors[color] for color in row["color"]}))
        return SceneCard(number, words, self.pixels, (Part(row["label"], mask_path(np.asarray(shown))),), row)

    # --- playing

    def about(self, split: str) -> str:
        return "The first images are examples of every class. Which class is each of the others, composed further?"

    def round(self, split: str, number: int) -> Round:
        found = super().round(split, number)
        experiment = self.study.study.experiment(split)
        first = self._first(split, "train")
        labels = np.array(self.study.study.samples(split, "train")["label"].to_pylist())
        shown = []
        for label in experiment.classes:
            rows = np.flatnonzero(labels == label)
            for row in rows[(number * SHOWN + np.arange(SHOWN)) % max(1, len(rows))] if len(rows) else ():
                shown.append(Item(Shot(first + int(row), label), "", (), label))
        return Round(found.title, found.about, tuple(shown), found.asked, found.rounds, found.seen)

    def shot(self, examples: Examples, row: int) -> Shot:
        grid = self.study.study.library.grid
        codes = grid_codes(examples.scenes[examples.scene[row : row + 1]], grid.width, grid.height)
        return Shot(None, "an image", address(paint(codes, grid.colors)[0]))

    # --- writing

    def read(self, text: str, first: int = 0) -> Reading:
        library, name = meant(text)
        drawn = drawing.draw(name, DRAWN, seed=first // DRAWN, limit=SECONDS, concepts=library)
        shots = tuple(Shot(None, f"{drawn.concept} {i}", address(pixels)) for i, pixels in enumerate(drawn.pixels))
        count, grid = drawn.count, drawn.library.grid
        there = len(shots) if count is None else int(count.images)
        many = "too many to count" if count is None else f"{'exactly ' * count.exact}{str(count).partition(' (')[0]}"
        notes = [f"Images on a grid of {grid.width} by {grid.height}: {many}.", *drawn.notes]
        own = text.strip() if DEFINES.search(text) else written(library)
        files = ((MINE, f"{own}\n"),) if own else ()
        drawn_from = f"{MINE} --concept {name}" if own else name
        commands = (f"recombine draw {drawn_from} --n 16 --out sheet.png",)
        groups = (Group("drawn", there, shots),)
        return Reading(forms(library, name), groups, there, tuple(notes), files=files, commands=commands)

    def filtered(self, text: str, first: int = 0) -> Reading:
        """The experiments' images that satisfy a concept; as many of them as can be judged in some seconds."""
        library, name = meant(text)
        number, holds = self._judged(library, name)
        sides = (("holds", number[holds]), ("does not hold", number[~holds]))
        groups = tuple(
            Group(label, len(some), tuple(Shot(int(n)) for n in some[first : first + PAGE])) for label, some in sides
        )
        there = sum(len(codes) for _, codes in self._images)
        notes = (
            () if len(number) == there else (f"{len(number):,} of {there:,} images could be judged in {SECONDS:g} s.",)
        )
        return Reading(forms(library, name), groups, len(number), notes)

    @cached_property
    def _images(self) -> list[tuple[int, np.ndarray]]:
        """The images of every part, as colour codes, with the number of the first."""
        study, found, first = self.study.study, [], 0
        for name, part, count in self._parts:
            found.append((first, study.images(study.samples(name, part))))
            first += count
        return found

    @cached_property
    def _last(self) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
        """What was judged last, for its further pages."""
        return {}

    def _judged(self, library: Library, name: str) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the images that were judged, and whether the concept holds there."""
        if library.grid != self.study.study.library.grid:
            raise UserError(
                "the images are on the grid and in the colours of the benchmark; leave 'grid' and 'colors' out"
            )
        if len(library.definitions[name].parameters) != 1:
            raise UserError(f"'{name}' is about several objects, and an image shows one; write: A {name} of B")
        key = name, written(library)
        if key not in self._last:
            self._last.clear()
            self._last[key] = self._judge(Recogniser(library), name)
        return self._last[key]

    def _judge(self, recogniser: Recogniser, name: str) -> tuple[np.ndarray, np.ndarray]:
        numbers, holds = [], []
        images = [
            (first + at, codes[at : at + AT_ONCE])
            for first, codes in self._images
            for at in range(0, len(codes), AT_ONCE)
        ]
        with limited(SECONDS, drawing.MEMORY, f"judging '{name}'"), suppress(Exceeded):
            for first, codes in images:
                holds.append(recogniser.holds(name, codes))
                numbers.append(first + np.arange(len(codes)))
        if not holds:
            raise UserError(f"no image could be judged in {SECONDS:g} s; make '{name}' smaller")
        return np.concatenate(numbers), np.concatenate(holds)


def meant(text: str) -> tuple[Library, str]:
    """What a phrase or a text of definitions says: the library with it, and its name. It never names a file."""
    if not text.strip():
        raise UserError("write a phrase such as: f_pent west of z_pent")
    if not DEFINES.search(text):
        return phrase(" ".join(text.split()), load_library())
    library = read(text, known=load_library())
    own = [name for name in library.definitions if name not in load_library().definitions]
    if not own:
        raise UserError("the text defines no concept; begin with: concept NAME(X) and what is true of X")
    return library, own[-1]


def forms(library: Library, name: str) -> tuple[tuple[str, str], ...]:
    """A concept's name, what it is in words, and what its definition says."""
    definition = library.definitions[name]
    said = (("concept", name), ("in words", definition.about), ("definition", defined(definition)))
    return tuple((label, text) for label, text in said if text)


def defined(definition: Definition) -> str:
    """A definition as it is written in a file."""
    about = f' "{definition.about}"' if definition.about else ""
    return f"concept {definition.name}({', '.join(definition.parameters)}){about}:\n    {write(definition.body)}"


def written(library: Library) -> str:
    """The definitions that do not come with the package."""
    shipped = load_library().definitions
    return "\n\n".join(defined(one) for name, one in library.definitions.items() if name not in shipped)


def address(pixels: np.ndarray) -> str:
    """Pixels as a data address."""
    return "data:image/png;base64," + b64encode(png(pixels)).decode()
