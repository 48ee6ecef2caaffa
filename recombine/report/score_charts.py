"""Charts of networks: scores beside the published ones, and what was taken for what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recombine.metrics.intervals import Interval
from recombine.render.schematic import element, number, words
from recombine.report.figures import (
    NARROW,
    WIDTH,
    Scale,
    axis_title,
    colour_of,
    figure,
    grid_lines,
    room_for,
    whisker,
    writing,
)

_ROW = 26
_HEAD = 30
_PANEL = 96


@dataclass(frozen=True)
class Score:
    """What one network scores, with the bounds of several seeds, and what the paper prints for it."""

    name: str
    ours: Interval
    paper: float | None = None
    format: str = ".3f"

    def text(self) -> str:
        """One seed has no interval."""
        value = f"{self.ours.value:{self.format}}"
        ours = self.ours.text(self.format) if self.ours.high > self.ours.low else value
        return f"{self.name} {ours}" + ("" if self.paper is None else f", paper {self.paper:{self.format}}")


@dataclass(frozen=True)
class Level:
    """What an ideal learner scores, for all networks of a part to be compared with."""

    name: str
    value: float


def score_chart(
    parts: Sequence[tuple[str, Sequence[Score]]],
    title: str,
    metric: str = "F1",
    highest: float = 1.0,
    levels: Mapping[str, Sequence[Level]] | None = None,
    *,
    width: float = WIDTH,
) -> str:
    """Two bars for each network, ours with its interval over the paper's, under a heading for each part.

    The levels of a part, by its heading, are lines through its bars.
    """
    phone = width < NARROW
    label_width = -4.0 if phone else room_for(score.name for _, scores in parts for score in scores)
    scale, top = Scale(0, highest, label_width + 10, width - (14 if phone else 110)), 40
    row_height = 42 if phone else _ROW
    body, y = [], float(top)
    for heading, scores in parts:
        body.append(writing(heading, label_width + 10, y + 20, weight=600))
        body += [
            _score(one, scale, y + _HEAD + row_height * (i + 0.5), label_width, width) for i, one in enumerate(scores)
        ]
        free, high = label_width + room_for([heading]), row_height * len(scores)
        body += [_level(one, scale, y + _HEAD, high, free) for one in (levels or {}).get(heading, ())]
        y += _HEAD + row_height * len(scores)
    grid = grid_lines(scale, [highest * part / 5 for part in range(6)], top, y) + axis_title(metric, scale, y + 36)
    description = ". ".join(f"{heading}: {'; '.join(one.text() for one in scores)}" for heading, scores in parts)
    for heading, lines in (levels or {}).items():
        description += "".join(f". {heading}, {line.name} {line.value:.1f}" for line in lines)
    printed = any(one.paper is not None for _, scores in parts for one in scores)
    return figure(title, description, y + 46, _legend(label_width + 10, printed), grid, *body, width=width)


def _level(one: Level, scale: Scale, y: float, height: float, free: float) -> str:
    """A line with its name beside its upper end, right of the heading, which leaves room from `free` on."""
    x, ink = scale(one.value), "negative" if "weak" in one.name else "positive"
    style = f"stroke:{colour_of(ink)};stroke-width:2;stroke-dasharray:4 2"
    rule = element("line", x1=x, x2=x, y1=y, y2=y + height, style=style)
    left = one.value > scale.high / 2
    name = writing(one.name, x if left else max(x, free), y - 2, ink, "end" if left else "start")
    return element("g", words("title", f"{one.name} {one.value:.1f}"), rule, name)


def _score(one: Score, scale: Scale, y: float, label_width: float, width: float) -> str:
    phone = width < NARROW
    over = y - 4 if phone else y + 4.5
    label = writing(one.name, scale.start if phone else label_width, over, anchor="start" if phone else "end")
    y += 11 if phone else 0
    bars = _bar(one.ours.value, scale, y - 9, 10, "strong")
    bars += whisker(one.ours, scale, y - 4, "ink") if one.ours.high > one.ours.low else ""
    said = f"{one.ours.value:{one.format}}"
    if one.paper is not None:
        bars += _bar(one.paper, scale, y + 2, 6, "weak")
        said += f" ({one.paper:{one.format}})"
    value = writing(said, width - (2 if phone else 8), over, anchor="end")
    return element("g", words("title", one.text()), label, bars, value)


def _bar(value: float, scale: Scale, y: float, thick: float, ink: str) -> str:
    length = max(0.0, scale(value) - scale.start)
    return element("rect", x=scale.start, y=y, width=length, height=thick, rx=1.5, style=f"fill:{colour_of(ink)}")


def _legend(x: float, printed: bool) -> str:
    """The paper's bars are named where there are any."""
    ours = element("rect", x=x, y=13, width=24, height=10, rx=1.5, style=f"fill:{colour_of('strong')}")
    if not printed:
        return ours + writing("ours, 95 % interval", x + 31, 23)
    paper = element("rect", x=x + 200, y=15, width=24, height=6, rx=1.5, style=f"fill:{colour_of('weak')}")
    return ours + writing("ours, 95 % interval", x + 31, 23) + paper + writing("paper", x + 231, 23)


@dataclass(frozen=True, eq=False)
class Confusion:
    """How often each class (row) was said to be which (column), int[classes, classes]."""

    name: str
    counts: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """In percent of the row."""
        return 100 * self.counts / np.maximum(1, self.counts.sum(axis=1, keepdims=True))


def confusion_chart(classes: Sequence[str], panels: Sequence[Confusion], title: str, *, width: float = WIDTH) -> str:
    """A panel for each network: rows are what an image is, columns what it was said to be, in percent of the row."""
    label_width = room_for(classes)
    cell = min(30.0, _PANEL / len(classes))
    head = 32 + 0.9 * _SLOPE * label_width
    step = 16 + max(len(classes) * cell, *(_LETTER * len(_short(one.name)) for one in panels))
    left = label_width + 12
    beside = max(1, int((width - left + 16) // step))
    drawn, top = [], 18.0
    for first in range(0, len(panels), beside):
        names = (
            writing(name, label_width, top + head + cell * (i + 0.5) + 4, anchor="end")
            for i, name in enumerate(classes)
        )
        drawn += [*names]
        row = panels[first : first + beside]
        drawn += [_panel(one, classes, left + step * i, top + head, cell, top + 22) for i, one in enumerate(row)]
        top += head + len(classes) * cell + 16
    said = "is (row), was said to be (column), percent of the row"
    about = writing("is (row), said to be (column), % of the row" if width < NARROW else said, 12, 18, "muted")
    description = ". ".join(_in_words(one, classes) for one in panels)
    return figure(title, description, top, about, *drawn, width=width)


def _short(name: str) -> str:
    return name.replace(" from scratch", "*")


def _in_words(one: Confusion, classes: Sequence[str]) -> str:
    rows = (
        f"{name} taken for " + ", ".join(f"{other} {share:.0f}" for other, share in zip(classes, row))
        for name, row in zip(classes, one.shares)
    )
    return f"{one.name}: {'; '.join(rows)}"


_LETTER = 7.7  # of a title
_SLOPE = 0.82  # the sine of the angle at which the names of columns stand
_TURN = 55


def _panel(one: Confusion, classes: Sequence[str], x: float, y: float, cell: float, title_at: float) -> str:
    """Cells are shaded by their share; the number says the same."""
    head = writing(_short(one.name), x, title_at, weight=600)
    names = (_slanted(name, x + cell * (i + 0.5) + 3, y - 6) for i, name in enumerate(classes))
    cells = []
    for i, row in enumerate(one.shares):
        for j, share in enumerate(row):
            said = f"{classes[i]} taken for {classes[j]}: {one.counts[i, j]:,}"
            cells.append(_cell(share, x + cell * j, y + cell * i, cell, said, i == j))
    return element("g", head, *names, *cells)


def _slanted(name: str, x: float, y: float) -> str:
    style = f"fill:{colour_of('muted')};font-size:10px"
    return words("text", name, transform=f"translate({number(x)},{number(y)}) rotate(-{_TURN})", style=style)


def _cell(share: float, x: float, y: float, cell: float, said: str, right: bool) -> str:
    ink = "strong" if right else "weak"
    shade = f"fill:{colour_of(ink)};fill-opacity:{share / 100 * 0.75:.2f};stroke:{colour_of('line')}"
    box = element("rect", x=x, y=y, width=cell, height=cell, style=shade)
    style = f"fill:{colour_of('ink')};font-size:{10 if cell > 22 else 8.5}px"
    text = words("text", f"{share:.0f}", x=x + cell / 2, y=y + cell / 2 + 3.5, text_anchor="middle", style=style)
    return element("g", words("title", said), box, text)
