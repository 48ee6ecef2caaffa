"""Learning curves: a score against the steps that it took, with the ideal learners as lines."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recombine.render.schematic import element, words
from recombine.report.figures import NARROW, WIDTH, Scale, colour_of, figure, room_for, ticks, writing

_INKS = ("strong", "weak", "positive", "negative", "ink", "muted")
_DASHES = ("", "6 3", "2 2", "8 2 2 2", "1 3", "4 4")
_TOP, _BOTTOM, _LEFT = 44, 268, 56


@dataclass(frozen=True)
class Curve:
    """A named score after so many steps each, or at other numbers."""

    name: str
    points: Sequence[tuple[float, float]]

    def text(self, linear: str = "") -> str:
        told = "{value:.1f} at {step:g}" if linear else "{value:.3f} after {step:,}"
        return f"{self.name}: " + ", ".join(told.format(step=step, value=value) for step, value in self.points)


def curve_chart(
    curves: Sequence[Curve],
    levels: Mapping[str, float],
    title: str,
    metric: str,
    linear: str = "",
    *,
    width: float = WIDTH,
) -> str:
    """Curves over the logarithm of the steps: equal widths are equal factors; or over what `linear` names, as it is.

    `levels` are lines across. The names of curves stand beside them, or below where there is little room.
    """
    beside = width >= NARROW
    points = [point for curve in curves for point in curve.points]
    first, last = min(step for step, _ in points), max(step for step, _ in points)
    end = width - 34 - room_for(curve.name for curve in curves) if beside else width - 28
    place = float if linear else math.log2
    across = Scale(place(first), max(place(last), place(first) + (1e-9 if linear else 1)), _LEFT, end)
    values = [value for _, value in points] + list(levels.values())
    marks = ticks(max(values))
    low = [-marks[1] * i for i in range(1, math.ceil(-min(values) / marks[1]) + 1)]
    up = Scale(min([0.0, *low]), marks[-1], _BOTTOM, _TOP)
    grid = "".join(_level(f"{mark:g}", mark, up, across, "line") for mark in [*low, *marks])
    if linear:
        steps, said = sorted({step for step, _ in points}), "{:g}"
    else:
        steps, said = [first * 2**k for k in range(int(math.log2(last / first) + 1e-9) + 1)], "{:,}"
    steps = _apart(steps, [across(place(step)) for step in steps], 8.5 * max(len(said.format(s)) for s in steps))
    below = "".join(writing(said.format(s), across(place(s)), _BOTTOM + 18, "muted", "middle") for s in steps)
    early = [value for step, value in points if step <= 2 * first]  # where the names of levels stand
    lines = "".join(_lines(levels, up, across, early))
    keys = [(end + 12, _TOP + 18.0 * i) if beside else (12.0, _BOTTOM + 58 + 18.0 * i) for i in range(len(curves))]
    drawn = "".join(
        _curve(c, keys[i], i, up, [(across(place(s)), v) for s, v in c.points], linear) for i, c in enumerate(curves)
    )
    names = writing(metric, 12, 24, "muted") + writing(linear or "steps", end, _BOTTOM + 36, "muted", "end")
    told = [curve.text(linear) for curve in curves] + [f"{name} {value:.3f}" for name, value in levels.items()]
    height = _BOTTOM + (48 if beside else 60 + 18 * len(curves))
    return figure(title, ". ".join(told), height, names, grid, below, lines, drawn, width=width)


def _apart(steps: Sequence[float], places: Sequence[float], least: float) -> list[float]:
    """Those of the steps whose marks lie so far apart, from the last one back."""
    found, free = list[float](), math.inf
    for step, place in zip(reversed(steps), reversed(places)):
        if place <= free:
            found, free = [step, *found], place - least
    return found


def _level(text: str, value: float, up: Scale, across: Scale, ink: str) -> str:
    rule = element("line", x1=across.start, x2=across.end, y1=up(value), y2=up(value), style=f"stroke:{colour_of(ink)}")
    return rule + writing(text, across.start - 8, up(value) + 4, "muted", "end")


def _lines(levels: Mapping[str, float], up: Scale, across: Scale, curves: Sequence[float]) -> Iterator[str]:
    """Levels with their names above them, or below where curves are in the way; beside a name that is there already."""
    style, placed = f"stroke:{colour_of('muted')};stroke-dasharray:3 3", list[tuple[float, float, float]]()
    for name, value in levels.items():
        in_the_way = any(0 < up(value) - up(other) < 18 for other in curves)
        x, y = across.start + 6, up(value) + (14 if in_the_way else -5)
        for left, right, height in sorted(placed):
            if abs(height - y) < 14 and left < x + room_for([name]) and x < right:
                x = right + 6
        placed.append((x, x + room_for([name]), y))
        yield element("line", x1=across.start, x2=across.end, y1=up(value), y2=up(value), style=style)
        yield writing(name, x, y, "muted")


def _curve(
    curve: Curve,
    key: tuple[float, float],
    number: int,
    up: Scale,
    points: Sequence[tuple[float, float]],
    linear: str,
) -> str:
    """A curve through points, each a place across and a value, with its name in the legend."""
    ink, dash = _INKS[number % len(_INKS)], _DASHES[number % len(_DASHES)]
    style = f"fill:none;stroke:{colour_of(ink)};stroke-width:2;stroke-dasharray:{dash or 'none'}"
    if len(points) > 1:
        path = element("polyline", points=" ".join(f"{x:.1f},{up(value):.1f}" for x, value in points), style=style)
    else:  # a line through one point is not seen
        path = "".join(
            element("circle", cx=x, cy=up(value), r=4, style=f"fill:{colour_of(ink)}") for x, value in points
        )
    x, y = key
    sample = element("line", x1=x, x2=x + 24, y1=y, y2=y, style=style)
    return element("g", words("title", curve.text(linear)), path, sample, writing(curve.name, x + 30, y + 4))
