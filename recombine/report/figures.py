"""Figures: charts as SVG text.

Colours are CSS variables, so that one drawing serves light and dark: inside a page the page sets them, and
`stand_alone` gives a drawing its own. Marks differ in form as well as in colour.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recombine.metrics.intervals import Interval
from recombine.render.schematic import canvas, element, number, words

COLOURS: dict[str, tuple[str, str]] = {
    "ink": ("#1d232b", "#e8eaee"),
    "muted": ("#5d6673", "#a0a9b6"),
    "line": ("#dde1e7", "#343b46"),
    "surface": ("#ffffff", "#171b21"),
    "ground": ("#f7f8fa", "#101318"),
    "strong": ("#1f6fb5", "#6cb2f0"),
    "weak": ("#b84f08", "#f2994a"),
    "gap": ("#dfe7f1", "#28384a"),
    "positive": ("#0a7a57", "#35c496"),
    "negative": ("#c43b34", "#f0776d"),
    "scene-floor": ("#e8eaed", "#c9cdd3"),
    "scene-grid": ("#ffffff", "#dde0e5"),
    "scene-label": ("#8a9099", "#6b727c"),
}
"""The name of each CSS variable, and its value in light and in dark."""

WIDTH, NARROW, PHONE = 720, 480, 330
"""How wide charts are drawn: alone, where two stand side by side, and on a phone, where names stand over their rows."""
FONT = "system-ui,-apple-system,'Segoe UI',Roboto,sans-serif"
_ROW = 34


@dataclass(frozen=True)
class GapRow:
    """What the oracles score on one split, in percent, and what the paper prints."""

    split: str
    strong: Interval
    weak: Interval
    published_strong: float | None = None
    published_weak: float | None = None

    @property
    def gap(self) -> float:
        return self.strong.value - self.weak.value

    def published(self) -> list[tuple[str, float]]:
        """The values that the paper prints, by oracle."""
        values = (("strong", self.published_strong), ("weak", self.published_weak))
        return [(oracle, value) for oracle, value in values if value is not None]

    def text(self) -> str:
        measured = f"{self.split}: strong {self.strong.text()}, weak {self.weak.text()}, gap {self.gap:.1f}"
        return measured + "".join(f", published {oracle} {value:.1f}" for oracle, value in self.published())


@dataclass(frozen=True)
class Bar:
    """A named quantity."""

    label: str
    value: Interval


@dataclass(frozen=True)
class Scale:
    """From a range of values to a range of pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def css_variables(dark: bool = False) -> str:
    """The declarations of all colours.

    >>> css_variables(dark=True)[:14]
    '--ink:#e8eaee;'
    """
    return "".join(f"--{name}:{pair[dark]};" for name, pair in COLOURS.items())


def stand_alone(svg: str) -> str:
    """The drawing with its own colours, for a README: light or dark as the reader prefers."""
    dark = f"@media (prefers-color-scheme:dark){{svg{{{css_variables(dark=True)}}}}}"
    style = f"<style>svg{{{css_variables()}background:var(--surface);border-radius:8px}}{dark}</style>"
    start = svg.index(">") + 1
    return svg[:start] + style + svg[start:]


def gap_chart(
    rows: Sequence[GapRow],
    title: str = "Compositionality gap",
    metric: str = "mAP, percent",
    width: float = WIDTH,
) -> str:
    """One row per split: what the strong and the weak oracle score, and the gap between them.

    Letters keep their size: a chart that is drawn narrow can be read on a phone, and beside another.
    """
    narrow, phone = width < WIDTH, width < NARROW
    published = any(row.published() for row in rows)
    label_width = 2.0 if phone else room_for(row.split for row in rows) - 8 * narrow
    row_height = 36 if phone else 25 if narrow else _ROW
    scale = Scale(0, 100, 12, width - 14) if phone else Scale(0, 100, label_width + 10, width - (62 if narrow else 78))
    top = 56 + 20 * published if phone else 54 if narrow else 66
    bottom = top + row_height * len(rows)
    grid = grid_lines(scale, range(0, 101, 50 if narrow else 20), top, bottom)
    grid += "" if narrow else axis_title(metric, scale, bottom + 36)
    head = writing("gap", width - (2 if phone else 16), top - 9, "muted", anchor="end", weight=600)
    places = ((row, top + row_height * (i + 0.5)) for i, row in enumerate(rows))
    body = "".join(_gap_row(row, scale, y, label_width, width) for row, y in places)
    legend = _legend(4 if narrow else label_width + 10, published, phone)
    description = "; ".join(row.text() for row in rows)
    return figure(title, description, bottom + (26 if narrow else 46), legend, grid, head, body, width=width)


def bars(rows: Sequence[Bar], unit: str = "", title: str = "", *, width: float = WIDTH) -> str:
    """Horizontal bars with their intervals, on an axis from zero; values are as fine as the axis."""
    phone = width < NARROW
    label_width, row_height = 2.0 if phone else room_for(row.label for row in rows), 42 if phone else 30
    marks = ticks(max((row.value.high for row in rows), default=1.0))
    format = f".{max(2, 1 - math.floor(math.log10(marks[-1])))}f"
    scale, top = Scale(0, marks[-1], 10 if phone else label_width + 10, width - (16 if phone else 78)), 14
    bottom = top + row_height * len(rows)
    grid = grid_lines(scale, marks, top, bottom) + axis_title(unit, scale, bottom + 36)
    body = "".join(
        _bar(row, scale, top + row_height * (i + 0.5), label_width, format, width) for i, row in enumerate(rows)
    )
    description = "; ".join(f"{row.label} {row.value.text(format)}" for row in rows)
    return figure(title or unit, description, bottom + (46 if unit else 28), grid, body, width=width)


def histogram(
    counts: Mapping[int | str, int],
    title: str = "",
    x_label: str = "",
    y_label: str = "count",
    log: bool = False,
    width: float = WIDTH,
) -> str:
    """A column per key, in the order given; with `log`, heights are logarithms and a count of 1 is still seen."""
    most = max([5, *counts.values()])
    marks = _powers(most) if log else ticks(most)
    height = _logarithm if log else float
    scale = Scale(height(0), height(marks[-1]), 240, 40)
    left = 68 if width >= NARROW else 52
    grid = "".join(_level(mark, scale(height(mark)), left, width) for mark in marks)
    step = (width - left - 16) / max(1, len(counts))
    apart = 1 if len(counts) * 22.5 <= width - left else math.ceil(26 / step)
    body = "".join(
        _column(key, count, left + step * i, step, scale(height(count)), i % apart == 0)
        for i, (key, count) in enumerate(counts.items())
    )
    labels = writing(y_label + (" (log scale)" if log else ""), 12, 18, "muted")
    labels += writing(x_label, left + (width - left - 16) / 2, 278, "muted", anchor="middle")
    said = "; ".join(f"{k}: {v:,}" for k, v in counts.items())
    return figure(title or x_label, said, 290, labels, grid, body, width=width)


def ticks(top: float) -> list[float]:
    """Round numbers from zero to just above the top.

    >>> ticks(0.37)
    [0.0, 0.1, 0.2, 0.3, 0.4]
    """
    top = top if top > 0 else 1.0
    unit = 10 ** math.floor(math.log10(top))
    step = next(unit * part for part in (0.2, 0.25, 0.5, 1, 2) if top <= 5 * unit * part)
    return [round(step * i, 10) for i in range(math.ceil(round(top / step, 6)) + 1)]


def _powers(top: float) -> list[float]:
    return [10.0**i for i in range(math.ceil(math.log10(top)) + 1)]


def _logarithm(count: float) -> float:
    """The height of a count; zero lies a little below one."""
    return math.log10(count) if count else -0.3


def room_for(labels: Iterable[str]) -> float:
    """Room for the longest label."""
    return 24 + 7 * max(map(len, labels), default=0)


# --- parts of charts ----------------------------------------------------------------------------------------------


def figure(title: str, description: str, height: float, *children: str, width: float = WIDTH) -> str:
    style = f"font-family:{FONT};font-size:13px"
    return canvas(title, width, height, *children, description=description, class_="chart", style=style)


def colour_of(name: str) -> str:
    return f"var(--{name},{COLOURS[name][0]})"


def writing(text: str, x: float, y: float, ink: str = "ink", anchor: str = "start", weight: int = 400) -> str:
    style = f"fill:{colour_of(ink)};font-weight:{weight};font-variant-numeric:tabular-nums"
    return words("text", text, x=x, y=y, text_anchor=anchor, style=style)


def _line(path: str, ink: str, width: float = 1) -> str:
    return element("path", d=path, style=f"stroke:{colour_of(ink)};stroke-width:{width:g};fill:none")


def grid_lines(scale: Scale, marks: Sequence[float], top: float, bottom: float) -> str:
    lines = "".join(f"M{number(scale(mark))},{number(top)}V{number(bottom)}" for mark in marks)
    labels = (writing(f"{mark:g}", scale(mark), bottom + 18, "muted", anchor="middle") for mark in marks)
    return _line(lines, "line") + "".join(labels)


def axis_title(text: str, scale: Scale, y: float) -> str:
    return writing(text, (scale.start + scale.end) / 2, y, "muted", anchor="middle") if text else ""


def whisker(value: Interval, scale: Scale, y: float, ink: str) -> str:
    """The confidence interval, with a small foot at each end."""
    low, high = number(scale(value.low)), number(scale(value.high))
    feet = f"M{low},{number(y - 3)}v6M{high},{number(y - 3)}v6"
    return _line(f"M{low},{number(y)}H{high}{feet}", ink, 1.4)


def _disc(x: float, y: float, ink: str, radius: float = 4.5) -> str:
    return element("circle", cx=x, cy=y, r=radius, style=f"fill:{colour_of(ink)}")


def _diamond(x: float, y: float, ink: str, reach: float = 6) -> str:
    return element("path", d=_diamond_path(x, y, reach), style=f"fill:{colour_of(ink)}")


def _diamond_path(x: float, y: float, reach: float) -> str:
    r = number(reach)
    return f"M{number(x - reach)},{number(y)}l{r},-{r} {r},{r} -{r},{r}z"


def _hollow(oracle: str, x: float, y: float) -> str:
    """The published value: the outline of the mark of the same oracle, a little larger."""
    if oracle == "weak":
        return _line(_diamond_path(x, y, 10.5), "weak", 1.4)
    return element("circle", cx=x, cy=y, r=8.5, style=f"stroke:{colour_of('strong')};stroke-width:1.4;fill:none")


def _gap_row(row: GapRow, scale: Scale, y: float, label_width: float, width: float) -> str:
    weak, strong = scale(row.weak.value), scale(row.strong.value)
    left, length = min(weak, strong), abs(strong - weak)
    phone = width < NARROW
    over = y - 7 if phone else y + 4.5
    label = writing(row.split, label_width, over, anchor="start" if phone else "end")
    value = writing(f"{row.gap:.1f}", width - (2 if phone else 16), over, anchor="end", weight=600)
    y += 8 if phone else 0
    shade = element("rect", x=left, y=y - 7, width=length, height=14, style=f"fill:{colour_of('gap')}")
    marks = whisker(row.weak, scale, y, "weak") + _diamond(weak, y, "weak")
    marks += whisker(row.strong, scale, y, "strong") + _disc(strong, y, "strong")
    hollow = "".join(_hollow(oracle, scale(v), y) for oracle, v in row.published())
    return element("g", words("title", row.text()), label, shade, hollow, marks, value)


def _legend(x: float, published: bool, phone: bool = False) -> str:
    """What the marks are; on a phone the published ones in a line of their own."""
    y = 20
    strong = _disc(x + 6, y, "strong") + writing("strong oracle", x + 17, y + 4.5)
    weak = _diamond(x + 124, y, "weak") + writing("weak oracle", x + 136, y + 4.5)
    shade = element("rect", x=x + 230, y=y - 7, width=24, height=14, style=f"fill:{colour_of('gap')}")
    gap = shade + writing("gap", x + 261, y + 4.5)
    x, y = (x - 310, y + 24) if phone else (x, y)
    hollow = _hollow("strong", x + 316, y) + _hollow("weak", x + 340, y) + writing("published", x + 357, y + 4.5)
    return strong + weak + gap + (hollow if published else "")


def _bar(row: Bar, scale: Scale, y: float, label_width: float, format: str, width: float) -> str:
    length, phone = max(0.0, scale(row.value.value) - scale.start), width < NARROW
    over = y - 6 if phone else y + 4.5
    label = writing(row.label, label_width, over, anchor="start" if phone else "end")
    value = writing(f"{row.value.value:{format}}", width - (2 if phone else 16), over, anchor="end", weight=600)
    y += 9 if phone else 0
    shape = element("rect", x=scale.start, y=y - 8, width=length, height=16, rx=2, style=f"fill:{colour_of('strong')}")
    title = words("title", f"{row.label}: {row.value.text(format)}")
    return element("g", title, label, shape, whisker(row.value, scale, y, "ink"), value)


def _level(mark: float, y: float, left: float, width: float) -> str:
    """A horizontal line of the grid with its count."""
    rule = _line(f"M{number(left)},{number(y)}H{number(width - 16)}", "line")
    return rule + writing(f"{mark:,.0f}", left - 8, y + 4.5, "muted", anchor="end")


def _column(key: int | str, count: int, x: float, step: float, top: float, named: bool) -> str:
    wide = max(1.0, min(0.78 * step, 56.0))
    middle = x + step / 2
    shape = element(
        "rect", x=middle - wide / 2, y=top, width=wide, height=240 - top, style=f"fill:{colour_of('strong')}"
    )
    value = writing(f"{count:,}", middle, top - 6, anchor="middle") if step > 45 else ""
    name = writing(str(key), middle, 258, "muted", anchor="middle") if named else ""
    return element("g", words("title", f"{key}: {count:,}"), shape, value, name)
