"""Draw, count and recognise images of a concept.

import recombine as rc

rc.draw("f_pent west of z_pent", n=16).write("sheet.png")
rc.count("red_seq", where="depth(east_seq) == 3").images        # 837
rc.recognise("image.png", "f_pent").reason                      # what fails; empty if it is one
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np

from recombine.benchmarks.concept_world.classes import extension_of
from recombine.benchmarks.concept_world.concept_image import ImageView, graph_of
from recombine.benchmarks.concept_world.definition import Library, Line, Object, Point
from recombine.benchmarks.concept_world.extension import Count, Drawn, Extension
from recombine.benchmarks.concept_world.plan import Structure
from recombine.benchmarks.concept_world.planner import DEPTH
from recombine.benchmarks.concept_world.reader import LARGEST_SIDE, load_library, phrase, read_file
from recombine.benchmarks.concept_world.recognise import Recogniser
from recombine.benchmarks.concept_world.samples import distinct, verified
from recombine.benchmarks.concept_world.search import Failure, Proof, Prover
from recombine.benchmarks.concept_world.where import limits, read_where
from recombine.render.grid import from_pixels, paint, sheet
from recombine.render.png import LARGEST, png, read_png
from recombine.report.figures import stand_alone
from recombine.report.table import Column, Table
from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.limit import limited
from recombine.store.outputs import free_file, free_folder, write_bytes, write_file
from recombine.store.writing import writing

Concepts = str | Path | Library | None
"""A .concepts file, or a library of definitions, beside those that come with the package."""
LIMIT, MEMORY = 60.0, 2**30
"""Seconds, and bytes of memory, that a search may take where nothing else is said."""
QUICKLY = 300_000
"""Proposals that a drawing goes through to count its images; where there are more it estimates."""
DEEPEST = 64
"""Definitions inside themselves that may be asked for."""
COLUMNS, SCALES = 8, (6, 5, 4, 3, 2, 1)
"""Images in a row of a sheet, and how large a pixel may be."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A concept, and which of its images."""

    library: Library
    name: str
    extension: Extension
    depth: int
    """How often definitions that no condition speaks of may stand inside themselves."""

    @property
    def notes(self) -> list[str]:
        """What is left out, if anything."""
        notes = []
        if self.extension.too_many:
            notes.append(
                f"'{self.name}' has too many alternatives to list: images are drawn choice by choice, not uniformly, "
                "and are not counted; narrow it with depth or where"
            )
        if self._cut():
            notes.append(
                f"images in which a definition stands inside itself more than {self.depth} times are left out; "
                "a larger depth allows more"
            )
        return notes

    def _cut(self) -> bool:
        """Whether larger objects exist that the condition does not exclude."""
        here = self.extension
        if not here.cut or not here.depth:
            return here.cut
        deeper = replace(here, otherwise=self.depth + 1)
        return deeper.too_many or len(deeper.plans) > len(here.plans)


class Which(TypedDict, total=False):
    """Which concept and which of its images; the keywords of `ask`, `draw` and `count`."""

    concept: str | None
    concepts: Concepts
    where: str
    depth: int | None
    grid: str | tuple[int, int] | None


def ask(
    target: str | Path,
    *,
    concept: str | None = None,
    concepts: Concepts = None,
    where: str = "",
    depth: int | None = None,
    grid: str | tuple[int, int] | None = None,
) -> Asked:
    """What a target means: a phrase, the name of a concept, or a .concepts file with the concept of this name."""
    library, name = _named(target, concept, library_of(concepts))
    library = _on_grid(library, _sides(grid)) if grid else library
    if depth is not None and not 1 <= depth <= DEEPEST:
        raise UserError(f"depth is a number from 1 to {DEEPEST}, not {depth}")
    if depth is None and where.strip():
        extension = extension_of(library, Line("", 1, name, where))
        return Asked(library, name, extension, extension.otherwise)
    says, bounds = read_where(where, library.definitions), limits(where)
    extension = Extension(library, name, says, bounds, depth or DEPTH)
    return Asked(library, name, extension, extension.otherwise)


def library_of(concepts: Concepts) -> Library:
    """The definitions that come with the package, and those of a file."""
    if isinstance(concepts, Library):
        return concepts
    return load_library() if concepts is None else read_file(concepts, load_library())


def _named(target: str | Path, concept: str | None, library: Library) -> tuple[Library, str]:
    if not is_file(target):
        if concept is not None:
            raise UserError(f"concept names a concept of a .concepts file, and '{target}' is none")
        return phrase(str(target), library)
    before = set(library.definitions)
    library = read_file(target, library)
    own = [name for name in library.definitions if name not in before]
    if concept is None and not own:
        raise UserError(f"{target} defines no concept; add one, or name another")
    return phrase(own[-1] if concept is None else concept, library)


def is_file(target: str | Path) -> bool:
    return isinstance(target, Path) or target.endswith(".concepts")


def _sides(grid: str | tuple[int, int]) -> tuple[int, int]:
    if not isinstance(grid, str):
        return grid
    found = re.fullmatch(r"([0-9]{1,6})[x×]([0-9]{1,6})", grid.strip())
    if not found:
        raise UserError(f"the grid '{grid}' must read WIDTHxHEIGHT, for example 32x32")
    return int(found[1]), int(found[2])


def _on_grid(library: Library, sides: tuple[int, int]) -> Library:
    for side in sides:
        if not 1 <= side <= LARGEST_SIDE:
            raise UserError(f"a side of the grid has 1 to {LARGEST_SIDE} points, not {side}")
    return replace(library, grid=replace(library.grid, width=sides[0], height=sides[1]))


# --- drawing ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Drawing:
    """Different images of a concept, each verified."""

    library: Library
    concept: str
    images: np.ndarray  # uint8[n, height, width]: 0 is black, i + 1 the library's colour i
    objects: tuple[Object, ...]
    count: Count | None
    """How many images there are; None where they cannot be counted."""
    notes: tuple[str, ...]

    @property
    def pixels(self) -> np.ndarray:
        """uint8[n, height, width, 3]."""
        return paint(self.images, self.library.grid.colors)

    def view(self, i: int = 0) -> ImageView:
        """One image with its scene graph."""
        graph = graph_of(self.library, self.concept, self.objects[i])
        return ImageView(self.concept, self.library.grid.width, self.library.grid.height, graph)

    def write(self, out: str | Path) -> Path:
        """One image or a sheet of several (.png), or a new folder of single images (no ending)."""
        if not Path(out).suffix:
            return self._write_folder(Path(out))
        file = free_file(out, (".png",))
        write_file(file, png(self.pixels[0] if len(self.images) == 1 else self.sheet()))
        return file

    def _write_folder(self, out: Path) -> Path:
        digits = len(str(len(self.images) - 1))
        with writing(out) as draft:
            for i, picture in enumerate(self.pixels):
                write_bytes(draft / f"{i:0{digits}}.png", png(picture))
        return out

    def sheet(self) -> np.ndarray:
        """All images on one page, uint8[H, W, 3]."""
        n, height, width = self.images.shape
        columns = max(COLUMNS, round(n**0.5))
        rows = -(-n // columns)
        for scale in SCALES:
            if (columns * (width * scale + 10) + 16) * (rows * (height * scale + 10) + 16) <= LARGEST:
                return sheet(self.pixels, columns, scale=scale)
        raise UserError(f"{n:,} images are too many for one sheet; write them into a folder, a name without an ending")

    def json(self) -> dict[str, object]:
        grid = self.library.grid
        return {
            "concept": self.concept,
            "grid": [grid.width, grid.height],
            "objects": self.objects,
            "count": self.count and count_json(self.count),
            "notes": list(self.notes),
        }


def write_graph(view: ImageView, out: str | Path) -> Path:
    """The scene graph of an image (.svg)."""
    file = free_file(out, (".svg",))
    write_file(file, stand_alone(view.svg()))
    return file


def need_place(out: Path | None, ending: str, folder: bool = False) -> None:
    """Refuse a file, or a folder, that cannot be written, before any work is done."""
    if out is not None and folder and not out.suffix:
        free_folder(out)
    elif out is not None:
        free_file(out, (ending,))


def draw(
    target: str | Path,
    n: int = 1,
    *,
    seed: int = 0,
    limit: float = LIMIT,
    progress: Progress = silent,
    **which: Unpack[Which],
) -> Drawing:
    """n different images of a concept, or all there are, within `limit` seconds."""
    if n < 1:
        raise UserError(f"n must be at least 1, not {n}")
    asked = ask(target, **which)
    key, extension = Key(seed) / "draw" / asked.name, asked.extension
    with limited(limit, MEMORY, f"drawing '{asked.name}'", progress):
        drawn = distinct(extension, n, key)
        number = None if extension.too_many else extension.count(key / "count", QUICKLY)
        images = extension.images(drawn)
        notes = [*asked.notes, *_too_few(n, drawn.size, number)]
        return Drawing(asked.library, asked.name, images, _objects(extension, drawn, images), number, tuple(notes))


def _too_few(n: int, found: int, number: Count | None) -> list[str]:
    if found == n:
        return []
    if number is not None and number.exact:
        return [f"only {found:,} images exist; making all of them"]
    return [f"only {found:,} different images were found"]


def _objects(extension: Extension, drawn: Drawn, images: np.ndarray) -> tuple[Object, ...]:
    """The objects that were drawn, each verified: by the batch meaning, or one by one where there are no plans."""
    library = extension.library
    if extension.too_many:
        prover = Prover(library)
        return tuple(_proved(prover.prove(extension.name, image)) for image in images)
    assert verified(extension, drawn).all(), f"an object of {extension.name} does not satisfy it"
    structures = [extension.plans[i].structure for i in drawn.plan]
    return tuple(_object(structure, drawn, i, library.grid.colors) for i, structure in enumerate(structures))


def _proved(found: Proof | Failure) -> Object:
    assert isinstance(found, Proof), f"an image that was drawn is not recognised: {found}"
    return found.object


def _object(structure: Structure, drawn: Drawn, i: int, colors: tuple[str, ...]) -> Object:
    if isinstance(structure, tuple):
        return tuple(_object(part, drawn, i, colors) for part in structure)
    x, y, color = (int(column[i, structure]) for column in (drawn.x, drawn.y, drawn.color))
    return Point(x, y, colors[color])


# --- counting and recognising -------------------------------------------------------------------------------------


def count(
    target: str | Path,
    *,
    seed: int = 0,
    limit: float = LIMIT,
    progress: Progress = silent,
    **which: Unpack[Which],
) -> Count:
    """How many images a concept has, if that can be found within `limit` seconds."""
    return counted(ask(target, **which), seed, limit, progress)


def count_json(number: Count) -> dict[str, object]:
    return {**number._asdict(), "exact": number.exact}


def counted(asked: Asked, seed: int = 0, limit: float = LIMIT, progress: Progress = silent) -> Count:
    """How many images were asked for."""
    with limited(limit, MEMORY, f"counting '{asked.name}'", progress):
        asked.extension.need_plans()
        return asked.extension.count(Key(seed) / "count" / asked.name)


@dataclass(frozen=True, eq=False)
class Recognition:
    """Whether an image satisfies a concept: the object that proves it, or what fails."""

    library: Library
    concept: str
    found: Proof | Failure
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return isinstance(self.found, Proof)

    @property
    def reason(self) -> str:
        """What fails; empty where nothing does."""
        return self.found.reason if isinstance(self.found, Failure) else ""

    def view(self) -> ImageView:
        """The image with the scene graph of the object that proves it."""
        assert isinstance(self.found, Proof), self.reason
        graph = graph_of(self.library, self.concept, self.found.object)
        return ImageView(self.concept, self.library.grid.width, self.library.grid.height, graph)

    def json(self) -> dict[str, object]:
        proof = self.found if isinstance(self.found, Proof) else None
        return {
            "concept": self.concept,
            "holds": bool(self),
            "object": proof and proof.object,
            "derivation": proof and repr(proof.derivation),
            "reason": self.reason or None,
            "notes": list(self.notes),
        }


def recognise(
    image: str | Path | np.ndarray, concept: str, *, concepts: Concepts = None, limit: float = LIMIT
) -> Recognition:
    """Whether an image satisfies a concept, if that can be found within `limit` seconds.

    `image` is a PNG file, pixels uint8[height, width, 3], or codes uint8[height, width]; its size is the grid.
    """
    asked = ask(concept, concepts=concepts)
    pixels = image if isinstance(image, np.ndarray) else read_png(image, LARGEST_SIDE)
    library, notes = _on_grid(asked.library, (pixels.shape[1], pixels.shape[0])), []
    if library.grid != asked.library.grid:
        notes.append(f"the image is {library.grid.width} by {library.grid.height}: this was taken as the grid")
    codes = from_pixels(pixels, library.grid.colors) if pixels.ndim == 3 else pixels
    with limited(limit, MEMORY, f"recognising '{asked.name}'"):
        found = Recogniser(library).recognise(asked.name, codes)
    return Recognition(library, asked.name, found, tuple(notes))


def concept_table(concepts: Concepts = None) -> Table:
    """The concepts that can be drawn."""
    found = library_of(concepts).definitions.values()
    rows = tuple((d.name, len(d.parameters), d.about, f"{d.place.file}:{d.place.line}") for d in found)
    columns = (Column("concept"), Column("objects", "right"), Column("what"), Column("where"))
    note = "Phrases join them: 'f_pent west of z_pent'. Your own: --concepts FILE.concepts."
    return Table("Concepts", columns, rows, note)


def checked(concepts: str | Path) -> list[str]:
    """Read a .concepts file and draw one image of each of its concepts; what was found, in words."""
    library, shipped = library_of(concepts), load_library()
    own = [name for name in library.definitions if name not in shipped.definitions]
    experiments = len(library.experiments) - len(shipped.experiments)
    for name in own:
        draw(name, concepts=library)
    return [
        f"{concepts}: {len(own):,} concepts and {experiments:,} experiments can be read",
        f"{concepts}: every concept has an image",
    ]
