"""Heat maps: how much each row looks at each column."""

from dataclasses import dataclass

from recombine.render.schematic import canvas, element, number, words
from recombine.report.figures import FONT, colour_of, room_for, writing

_CELL, _LETTER = 22, 7.2  # a cell, a letter of a label
_UP, _ASIDE = 0.766, 0.643  # how far labels at 50 degrees reach up, and to the right


@dataclass(frozen=True)
class Heat:
    """Shares from 0 to 1, by row and column."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    says: tuple[str, ...] = ()
    """What stands after each row."""

    def strongest(self, row: int) -> str:
        """The columns of a row that have more than their part, in words."""
        order = sorted(range(len(self.columns)), key=lambda column: -self.values[row][column])
        least = max(1.5 / max(len(self.columns), 1), 0.05)
        return ", ".join(
            f"{self.columns[c]} {self.values[row][c]:.2f}" for c in order[:3] if self.values[row][c] > least
        )


def heat_map(heat: Heat) -> str:
    """Squares that are the fuller the larger the share."""
    left, top = room_for(heat.rows), 30 + _UP * _LETTER * max(map(len, heat.columns), default=0)
    ends = [_CELL * (i + 0.5) + _ASIDE * _LETTER * len(one) for i, one in enumerate(heat.columns)]
    wide = left + max(_CELL * len(heat.columns) + room_for(heat.says), *ends, 0) + 30
    high = top + _CELL * len(heat.rows) + 12
    body = [_label(one, left + _CELL * (i + 0.5), top - 8) for i, one in enumerate(heat.columns)]
    for i, row in enumerate(heat.values):
        y = top + _CELL * i
        body.append(writing(heat.rows[i], left - 8, y + 15, anchor="end"))
        body += [
            _square(left + _CELL * j, y, value, f"{heat.rows[i]}, {heat.columns[j]}") for j, value in enumerate(row)
        ]
        if heat.says:
            body.append(writing(heat.says[i], left + _CELL * len(heat.columns) + 10, y + 15, "muted"))
    style = f"display:block;width:{number(wide)}px;max-width:none;height:auto;font-family:{FONT};font-size:13px"
    said = "; ".join(f"{row}: {heat.strongest(i)}" for i, row in enumerate(heat.rows))
    return canvas(heat.title, wide, high, *body, description=said, class_="chart", style=style)


def _label(text: str, x: float, y: float) -> str:
    turned = f"rotate(-50 {number(x)} {number(y)})"
    return words("text", text, x=x, y=y, transform=turned, style=f"fill:{colour_of('ink')}")


def _square(x: float, y: float, value: float, what: str) -> str:
    side = (_CELL - 3) * max(0.0, min(1.0, value)) ** 0.5
    frame = element(
        "rect", x=x + 1, y=y + 1, width=_CELL - 2, height=_CELL - 2, rx=3, style=f"fill:{colour_of('ground')}"
    )
    middle = (_CELL - side) / 2
    style = f"fill:{colour_of('strong')}"
    full = element("rect", x=x + middle, y=y + middle, width=side, height=side, rx=2, style=style)
    return element("g", words("title", f"{what}: {value:.2f}"), frame, full if side > 1 else "")
