"""Scatter charts: one mark for each thing, by two of its numbers; and small panels of curves side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from recombine.metrics.intervals import Interval
from recombine.render.schematic import element, number, words
from recombine.report.figures import NARROW, WIDTH, Scale, colour_of, figure, ticks, writing

_TOP, _BOTTOM, _LEFT = 40, 400, 64
_APART = 15
"""The least distance of two names, in pixels."""
_PANEL, _GAP, _ACROSS = 118, 58, 3
_HALO = f"paint-order:stroke;stroke:{colour_of('surface')};stroke-width:3px;stroke-linejoin:round"
"""So that names can be read where they lie over lines."""


@dataclass(frozen=True)
class Dot:
    """A named mark; its height may have an interval."""

    name: str
    x: float
    y: float | Interval
    format: str = ".1f"

    @property
    def height(self) -> float:
        return self.y.value if isinstance(self.y, Interval) else self.y

    def text(self) -> str:
        y = self.y.text(self.format) if isinstance(self.y, Interval) else f"{self.y:{self.format}}"
        return f"{self.name}: {self.x:{self.format}}, {y}"


def scatter_chart(
    dots: Sequence[Dot],
    title: str,
    across: str,
    up: str,
    *,
    named: bool = True,
    diagonal: bool = False,
    close: bool = False,
    width: float = WIDTH,
) -> str:
    """Marks over two axes; with `diagonal`, a line where both numbers are the same, and both axes alike.

    Axes begin at zero; with `close`, at the last mark below all dots.
    """
    x, y = _axis([dot.x for dot in dots]), _axis([end for dot in dots for end in _ends(dot)])
    if diagonal:
        x = y = _axis([*(dot.x for dot in dots), *(dot.height for dot in dots)])
    if close:
        least = min(min(dot.x, *_ends(dot)) for dot in dots)
        x, y = ([mark for mark, after in zip(marks, [*marks[1:], inf]) if after > least] for marks in (x, y))
    phone = width < NARROW
    bottom = 330 if phone else _BOTTOM
    right = Scale(x[0], x[-1], 44, width - 18) if phone else Scale(x[0], x[-1], _LEFT, width - 40)
    height = Scale(y[0], y[-1], bottom, _TOP)
    grid = "".join(_level(mark, height, right) for mark in y) + "".join(_upright(mark, right, height) for mark in x)
    labels = writing(up, 12, 22, "muted") + writing(across, right.end, bottom + 38, "muted", "end")
    same = _rule(right(x[0]), height(x[0]), right(x[-1]), height(x[-1]), "muted", "3 3") if diagonal else ""
    marks = "".join(_dot(dot, right, height) for dot in dots)
    names = _names(dots, right, height, width) if named else ""
    said = "; ".join(dot.text() for dot in dots)
    return figure(title, said, bottom + 50, labels, grid, same, marks, names, width=width)


def panels(
    curves: Mapping[str, Mapping[str, Sequence[float]]],
    title: str,
    across: str,
    up: str,
    inks: Mapping[str, str],
    *,
    width: float = WIDTH,
) -> str:
    """A small panel for each name: its curves, from 0 to 1, over 1, 2, 3, ...; `inks` has the colour of each curve."""
    phone = width < NARROW
    left, beside, top = (34, 2, 82) if phone else (_LEFT, _ACROSS, 62)
    wide = (width - left + (20 if phone else -24)) / beside
    drawn, rows = [], -(-len(curves) // beside)
    for place, (name, lines) in enumerate(curves.items()):
        x, y = left + wide * (place % beside), top + (_PANEL + _GAP) * (place // beside)
        drawn.append(_small(name, lines, Scale(1, max(map(len, lines.values())), x, x + wide - 44), y, inks))
    legend, at = [], float(left)
    for name, ink in inks.items():
        legend.append(_rule(at, 18, at + 24, 18, ink, "" if ink == "strong" else "5 3"))
        legend.append(writing(name, at + 31, 22))
        at += 50 + 7.2 * len(name)
    about = f"{up}, against {across}"
    told = writing(about, left, 46, "muted") if phone else writing(about, width - 16, 22, "muted", "end")
    said = ". ".join(
        f"{name}: " + "; ".join(f"{who} " + ", ".join(f"{v:.2f}" for v in line) for who, line in lines.items())
        for name, lines in curves.items()
    )
    return figure(title, said, top + rows * (_PANEL + _GAP), *legend, told, *drawn, width=width)


def _small(name: str, lines: Mapping[str, Sequence[float]], right: Scale, top: float, inks: Mapping[str, str]) -> str:
    up = Scale(0, 1, top + _PANEL, top + 8)
    rules = "".join(_rule(right.start, up(mark), right.end, up(mark), "line") for mark in (0, 0.5, 1))
    marks = "".join(writing(f"{mark:g}", right.start - 8, up(mark) + 4.5, "muted", "end") for mark in (0, 0.5, 1))
    ends = writing("1", right.start, top + _PANEL + 17, "muted", "middle")
    ends += writing(f"{right.high:g}", right.end, top + _PANEL + 17, "muted", "middle")
    drawn = "".join(_polyline(line, inks[who], right, up) for who, line in lines.items())
    return element("g", writing(name, right.start, top - 3, weight=600), rules, marks, ends, drawn)


def _polyline(values: Sequence[float], ink: str, right: Scale, up: Scale) -> str:
    points = " ".join(f"{number(right(i))},{number(up(value))}" for i, value in enumerate(values, 1))
    dash = "none" if ink == "strong" else "5 3"
    return element("polyline", points=points, style=f"fill:none;stroke:{colour_of(ink)};stroke-width:2;stroke-dasharray:{dash}")  # fmt: skip # noqa: E501


def _axis(values: Sequence[float]) -> list[float]:
    """Round marks from zero, or from below it, to just above the largest."""
    most, least = max([*values, 0.0]), min([*values, 0.0])
    marks = ticks(max(most, -least, 1e-9))
    if least >= 0:
        return marks
    step = marks[1] - marks[0]
    low = 0.0
    while low > least:
        low -= step
    kept = [mark for mark in marks if mark - step < most] if most > 0 else [0.0]
    below = [round(-step * i, 10) for i in range(round(-low / step), 0, -1)]
    return [*below, *kept]


def _ends(dot: Dot) -> list[float]:
    return [dot.y.low, dot.y.high] if isinstance(dot.y, Interval) else [dot.y]


def _rule(x1: float, y1: float, x2: float, y2: float, ink: str, dash: str = "") -> str:
    style = f"stroke:{colour_of(ink)};stroke-width:{1 if ink == 'line' else 1.6}"
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, style=style + (f";stroke-dasharray:{dash}" if dash else ""))


def _level(mark: float, up: Scale, right: Scale) -> str:
    rule = _rule(right.start, up(mark), right.end, up(mark), "line")
    return rule + writing(f"{mark:g}", right.start - 8, up(mark) + 4.5, "muted", "end")


def _upright(mark: float, right: Scale, up: Scale) -> str:
    rule = _rule(right(mark), up.start, right(mark), up.end, "line")
    return rule + writing(f"{mark:g}", right(mark), up.start + 18, "muted", "middle")


def _dot(dot: Dot, right: Scale, up: Scale) -> str:
    x, whisker = right(dot.x), ""
    if isinstance(dot.y, Interval):
        whisker = _rule(x, up(dot.y.low), x, up(dot.y.high), "muted")
    style = f"fill:{colour_of('strong')};fill-opacity:.8"
    return element(
        "g", words("title", dot.text()), whisker, element("circle", cx=x, cy=up(dot.height), r=4.5, style=style)
    )


def _names(dots: Sequence[Dot], right: Scale, up: Scale, width: float) -> str:
    """Names beside their marks, on the left where the right has no room, moved down where two would lie over others."""
    taken: list[tuple[float, float, float]] = []
    drawn = []
    for dot in sorted(dots, key=lambda dot: -dot.height):
        long, y = 7.2 * len(dot.name), up(dot.height) + 4.5
        left = right(dot.x) + 9 + long > width
        start = max(2.0, right(dot.x) - 9 - long) if left else right(dot.x) + 9
        while hit := [at for low, high, at in taken if low < start + long and start < high and abs(at - y) < _APART]:
            y = max(hit) + _APART
        taken.append((start, start + long, y))
        drawn.append(writing(dot.name, start + long if left else start, y, anchor="end" if left else "start"))
    return element("g", *drawn, style=_HALO)
