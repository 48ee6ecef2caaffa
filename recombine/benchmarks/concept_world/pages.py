"""ConceptWorld for people: experiments to look at, their gaps beside the published models, and the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from recombine.benchmarks.concept_world.concept_image import ImageView, chances_in_words, graph_tree, picture, shots
from recombine.benchmarks.concept_world.definition import Experiment, Line
from recombine.benchmarks.concept_world.extension import Count
from recombine.render.grid import sheet
from recombine.render.png import png
from recombine.render.schematic import words
from recombine.report.document import Card, Chapter, Picture
from recombine.report.page import Section, details, page
from recombine.report.table import Column, Table
from recombine.report.view import View

INTRO = (
    "Images are drawn from concepts: named definitions in a small logical language, built from one another. An "
    "experiment trains on some classes of images and tests on the same classes, composed further: longer rows and "
    "paths, larger squares, substituted parts. The strong learner knows the definitions and how they compose; the weak "
    "learner knows only the images that training can show. What the second loses is the compositionality gap of a test."
)
LEARNERS = (
    "The strong learner names the class whose concepts an image satisfies, at any depth and with any substitution.",
    "The weak learner knows the whole extensions of the training lines, every image that they allow and not only those "
    "that were made, but nothing of how these are made. An image that is one of them it names. In another it looks for "
    "the largest known image that covers a part of it, and divides its belief equally among the classes that cover "
    "equally many points; where none covers anything, among all classes.",
    "The learner by membership: what is not whole in a training line, it guesses.",
    "The learner by definitions has a posterior over the definitions that fit the training images and nest nothing: an "
    "image is one of the things that training shows, or contains one, or does not, alone or two of these together.",
    "None of these three recombines. The gap is strong minus weak, as for the other benchmarks; beside it stands the "
    "gap to the best of the three, which is what can be said of a learner without recombination.",
    "A score is the mean probability that a learner gives to the right class.",
)


# --- one experiment


@dataclass(frozen=True)
class PartView:
    """The training images or a test of an experiment: one image of every line."""

    name: str
    images: tuple[ImageView, ...]

    @property
    def title(self) -> str:
        return "Training" if self.name == "train" else f"Test {self.name}"


@dataclass(frozen=True)
class ExperimentView(View):
    """The images of an experiment with the same number in every line."""

    experiment: str
    title: str
    number: int
    classes: tuple[str, ...]
    parts: tuple[PartView, ...]

    @property
    def heading(self) -> str:
        return f"ConceptWorld, {self.experiment}, images {self.number}"

    def terminal(self) -> RenderableType:
        return experiment_terminal(self)

    def html(self) -> str:
        return experiment_page(self)


def experiment_terminal(view: ExperimentView) -> RenderableType:
    """The images side by side, and what each part of the first test is made of."""
    head = Text(f"{view.heading}\n", style="dim").append(view.title, style="bold not dim")
    head.append(f"\nclasses: {', '.join(view.classes)}", style="not bold not dim")
    made = [graph_tree(image.graph) for image in view.parts[-1].images]
    shown: list[RenderableType] = [head, *map(_part_terminal, view.parts), *made]
    return Group(*(Padding(part, (0, 0, 1, 0)) for part in shown))


def _part_terminal(part: PartView) -> RenderableType:
    return Group(Text(part.title, style="bold"), Columns(map(_image_terminal, part.images), padding=(0, 3)))


def _image_terminal(view: ImageView) -> RenderableType:
    said = [Text(view.label, style="bold"), Text(view.says, style="cyan")]
    for learner, chances in (("strong", view.strong), ("weak", view.weak)):
        if chances is not None:
            right = chances.get(view.label, 0.0) >= max(chances.values())
            said.append(Text(f"{learner}: {chances_in_words(chances)}", style="" if right else "red"))
    return Padding(Group(*said, view.terminal()), (1, 0, 0, 0), expand=False)


def experiment_page(view: ExperimentView) -> str:
    """The experiment as a document of its own."""
    sections = [Section(part.title, f'<article class="episode">{_part_card(part)}</article>') for part in view.parts]
    return page(view.heading, sections, f"{view.title}. Classes: {', '.join(view.classes)}.")


def _part_card(part: PartView) -> str:
    graphs = (details(f"{image.label}: {image.says}", _graph(image), i == 0) for i, image in enumerate(part.images))
    return f"{shots(part.images)}<h4>What they are made of</h4>{''.join(graphs)}"


def _graph(view: ImageView) -> str:
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Scene graph">{view.svg()}</div>'


PUBLISHED = (
    "Models, as published: F1 x 100, the mean over classes, of networks trained on such images (the paper's Tables 4, "
    "6, 8 and 10; ResNet pretrained). Ours is expected accuracy, so compare the pattern, not the digits."
)


# --- the report


@dataclass(frozen=True, eq=False)
class LineSheet:
    """Some images of a line, and how many there are if they were counted."""

    line: Line
    pixels: np.ndarray  # uint8[n, height, width, 3]
    count: Count | None

    @property
    def says(self) -> str:
        return f"{self.line.concept} where {self.line.where}" if self.line.where else self.line.concept


@dataclass(frozen=True, eq=False)
class ExperimentSheets:
    """What a report shows of one experiment."""

    experiment: Experiment
    parts: dict[str, tuple[LineSheet, ...]]
    view: ExperimentView

    @property
    def curriculum(self) -> str:
        first, epochs = ", ".join(self.experiment.first), self.experiment.first_epochs
        return f" A curriculum trains {epochs} epochs on {first} first." if first else ""

    @property
    def intro(self) -> str:
        return f"Classes: {', '.join(self.experiment.classes)}.{self.curriculum}"

    def table(self) -> Table:
        """The lines, the images that are asked for, and how many there are."""
        rows = tuple(
            (part, one.line.label, one.line.concept, one.line.where or None, one.line.count, _text(one.count))
            for part, sheets in self.parts.items()
            for one in sheets
        )
        texts, numbers = ("part", "class", "concept", "where"), ("asked for", "exist")
        columns = (*map(Column, texts), *(Column(name, "right") for name in numbers))
        return Table(f"{self.experiment.title}: lines", columns, rows)


def _text(count: Count | None) -> str | None:
    return None if count is None else str(count)


def experiment_chapter(one: ExperimentSheets) -> Chapter:
    """What the report says of one experiment."""
    name, title = one.experiment.name, one.experiment.title
    items = (
        Card(_experiment_card(one)),
        Picture(name, f"Images of {title}.", png(experiment_sheet(one.parts))),
        Picture(f"{name}-graph", "What an image is made of.", _largest(one.view.parts[-1].images).svg()),
        one.table(),
    )
    return Chapter(title, items, one.intro)


def _experiment_card(one: ExperimentSheets) -> str:
    parts = "".join(_sheets(part, sheets) for part, sheets in one.parts.items())
    last = one.view.parts[-1]
    learners = f"<h4>What the learners say: {escape(last.title.lower())}</h4>{shots(last.images)}"
    graph = f"<h4>What an image is made of</h4>{_graph(_largest(last.images))}"
    return f'<article class="episode">{parts}{learners}{graph}</article>'


def _largest(images: Sequence[ImageView]) -> ImageView:
    """The image whose scene graph has most to show, of several the last: it is the most mixed class."""
    return max(reversed(images), key=lambda image: len(image.graph.edges))


_ROW = "display:grid;grid-template-columns:repeat({},minmax(0,1fr));gap:.35rem;margin:.25rem 0 .7rem"


def _sheets(part: str, sheets: Sequence[LineSheet]) -> str:
    title = "Training" if part == "train" else f"Test {part}"
    return words("h4", title) + "".join(map(_line_row, sheets))


def _line_row(one: LineSheet) -> str:
    about = f"{one.line.count:,} of {str(one.count).partition(' (')[0]}"
    tag = words("b", one.line.label, style="font-size:.85rem")
    said = f'<code style="font-size:.75rem;color:var(--muted)">{escape(one.says)}</code>'
    head = f'<div style="display:flex;flex-wrap:wrap;gap:.1rem .7rem;align-items:baseline">{tag}{said}'
    head += f'<span style="font-size:.75rem;color:var(--muted);margin-left:auto">{escape(about)}</span></div>'
    frames = (f'<div class="frame" style="--edge:var(--line)">{picture(p, one.says)}</div>' for p in one.pixels)
    return f'{head}<div style="{_ROW.format(len(one.pixels))}">{"".join(frames)}</div>'


def experiment_sheet(parts: dict[str, tuple[LineSheet, ...]]) -> np.ndarray:
    """Some images of every line on one page, uint8[H, W, 3]."""
    sheets = [(part, one) for part, several in parts.items() for one in several]
    captions = [f"{part}: {one.line.label}: {one.says}" for part, one in sheets for _ in one.pixels]
    pixels = np.concatenate([one.pixels for _, one in sheets])
    return sheet(pixels, max(len(one.pixels) for _, one in sheets), captions, scale=4)
