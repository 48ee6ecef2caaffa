"""Learning curves: a score against the steps that it took, with the ideal learners as lines."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recombine.render.schematic import element, words
from recombine.report.figures import WIDTH, Scale, colour_of, figure, room_for, ticks, writing

_INKS = ("strong", "weak", "positive", "negative", "ink", "muted")
_DASHES = ("", "6 3", "2 2", "8 2 2 2", "1 3", "4 4")
_TOP, _BOTTOM, _LEFT = 44, 268, 56


@dataclass(frozen=True)
class Curve:
    """A named score after so many steps each."""

    name: str
    points: Sequence[tuple[int, float]]

    def text(self) -> str:
        return f"{self.name}: " + ", ".join(f"{value:.3f} after {step:,}" for step, value in self.points)


def curve_chart(curves: Sequence[Curve], levels: Mapping[str, float], title: str, metric: str) -> str:
    """Curves over the logarithm of the steps: equal widths are equal factors. `levels` are lines across."""
    points = [point for curve in curves for point in curve.points]
    first, last = min(step for step, _ in points), max(step for step, _ in points)
    end = WIDTH - 34 - room_for(curve.name for curve in curves)
    across = Scale(math.log2(first), max(math.log2(last), math.log2(first) + 1), _LEFT, end)
    marks = ticks(max([value for _, value in points] + list(levels.values())))
    up = Scale(0, marks[-1], _BOTTOM, _TOP)
    grid = "".join(_level(f"{mark:g}", mark, up, across, "line") for mark in marks)
    steps = [first * 2**k for k in range(int(math.log2(last / first) + 1e-9) + 1)]
    below = "".join(writing(f"{s:,}", across(math.log2(s)), _BOTTOM + 18, "muted", "middle") for s in steps)
    early = [value for step, value in points if step <= 2 * first]  # where the names of levels stand
    lines = "".join(_line(name, value, up, across, early) for name, value in levels.items())
    drawn = "".join(_curve(curve, i, up, across) for i, curve in enumerate(curves))
    names = writing(metric, 12, 24, "muted") + writing("steps", end, _BOTTOM + 36, "muted", "end")
    said = [curve.text() for curve in curves] + [f"{name} {value:.3f}" for name, value in levels.items()]
    return figure(title, ". ".join(said), _BOTTOM + 48, names, grid, below, lines, drawn)


def _level(text: str, value: float, up: Scale, across: Scale, ink: str) -> str:
    rule = element("line", x1=across.start, x2=across.end, y1=up(value), y2=up(value), style=f"stroke:{colour_of(ink)}")
    return rule + writing(text, across.start - 8, up(value) + 4, "muted", "end")


def _line(name: str, value: float, up: Scale, across: Scale, curves: Sequence[float]) -> str:
    """A level with its name above it, or below where curves are in the way."""
    in_the_way = any(0 < up(value) - up(other) < 18 for other in curves)
    style = f"stroke:{colour_of('muted')};stroke-dasharray:3 3"
    rule = element("line", x1=across.start, x2=across.end, y1=up(value), y2=up(value), style=style)
    return rule + writing(name, across.start + 6, up(value) + (14 if in_the_way else -5), "muted")


def _curve(curve: Curve, number: int, up: Scale, across: Scale) -> str:
    ink, dash = _INKS[number % len(_INKS)], _DASHES[number % len(_DASHES)]
    at = [(across(math.log2(step)), up(value)) for step, value in curve.points]
    style = f"fill:none;stroke:{colour_of(ink)};stroke-width:2;stroke-dasharray:{dash or 'none'}"
    path = element("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in at), style=style)
    key = _TOP + 18 * number
    sample = element("line", x1=across.end + 12, x2=across.end + 36, y1=key, y2=key, style=style)
    return element("g", words("title", curve.text()), path, sample, writing(curve.name, across.end + 42, key + 4))
