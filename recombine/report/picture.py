"""Pictures of scenes for pages: what the ray tracer sees, with the outline of every object.

A picture is SVG around a PNG, so it stands where a schematic does. On a page that shows one scene many times, each
time with other objects lit, the pixels are there once and all others point at them.
"""

import base64
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from recombine.render.materials import COLORS, MATERIALS, TEXTURES
from recombine.render.png import png
from recombine.render.schematic import canvas, element, tag
from recombine.render.solids import SHAPES
from recombine.world.scenes import Scenes

VEIL = 0.74
"""How much of what is not lit is hidden."""
KNOWN: dict[str, Collection[str]] = {"shape": SHAPES, "color": COLORS, "material": MATERIALS, "texture": TEXTURES}


@dataclass(frozen=True)
class Picture:
    """A scene as it is seen: the pixels as a data address, and of every object the path and the middle of its mask.

    Masks of further things, such as parts of objects, come after those of the objects.
    """

    title: str
    width: int
    height: int
    pixels: str
    masks: tuple[str, ...]
    middles: tuple[tuple[float, float], ...]

    def svg(self, prefix: str = "", numbered: bool = False) -> str:
        """The picture; with a prefix, others on the page can point at its pixels."""
        names = {"id": f"{prefix}-pixels"} if prefix else {}
        shown = element("image", href=self.pixels, width=self.width, height=self.height, **names)
        return canvas(self.title, self.width, self.height, shown, self._tags() if numbered else "")

    def lit(self, of: str, prefix: str, objects: Collection[int]) -> str:
        """The same with only some objects lit; `of` is the prefix of the picture that has the pixels."""
        shown = element("use", href=f"#{of}-pixels")
        veil = element("rect", width=self.width, height=self.height, fill="var(--ground,#fff)", opacity=f"{VEIL}")
        path = "".join(self.masks[i] for i in sorted(objects))
        if not path:
            return canvas(self.title, self.width, self.height, shown, veil)
        ring = {"fill": "none", "stroke_linejoin": "round"}
        halo = element("path", d=path, stroke="var(--scene-lit,#f08c00)", stroke_width=self.width / 64, **ring)
        clip = element("clipPath", element("path", d=path), id=f"{prefix}-lit")
        above = element("g", shown, clip_path=f"url(#{prefix}-lit)")
        return canvas(self.title, self.width, self.height, clip, shown, veil, halo, above)

    def _tags(self) -> str:
        """The numbers of the objects that are seen."""
        seen = ((i, at) for i, at in enumerate(self.middles) if self.masks[i])
        return "".join(tag(i, x, y, self.width / 100) for i, (x, y) in seen)


def can_be_drawn(scenes: Scenes) -> bool:
    """Whether the ray tracer knows all words of these scenes, and where their objects are."""
    attributes = scenes.vocabulary.by_name
    words = (set(attributes[name].values) <= set(known) for name, known in KNOWN.items() if name in attributes)
    return {"shape", "color", "material"} <= set(attributes) and "pixel" in scenes.extra and all(words)


def pictures(scenes: Scenes, titles: Sequence[str], width: int, height: int) -> list[Picture]:
    """A picture of every scene."""
    from recombine.render.fine import traced  # its loops take a while to load, and most commands draw nothing
    from recombine.render.raytrace import raytrace

    seen = raytrace(scenes, width, height, ("objects",))
    assert seen.objects is not None
    rows = zip(titles, traced(scenes, width, height), seen.objects, scenes.count.tolist())
    return [picture(title, rgb, [objects == i for i in range(count)]) for title, rgb, objects, count in rows]


def picture(title: str, rgb: np.ndarray, objects: Sequence[np.ndarray], parts: Sequence[np.ndarray] = ()) -> Picture:
    """A picture with the masks of its objects, bool[height, width], and of things that have no number in it."""
    pixels = "data:image/png;base64," + base64.b64encode(png(rgb)).decode()
    paths, middles = tuple(map(mask_path, (*objects, *parts))), tuple(map(_middle, objects))
    return Picture(title, rgb.shape[1], rgb.shape[0], pixels, paths, middles)


def png_image(pixels: np.ndarray, alt: str) -> str:
    """Pixels as an element of a page, as wide as there is room."""
    data = base64.b64encode(png(pixels)).decode()
    return f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}" class="scene">'


def mask_path(mask: np.ndarray) -> str:
    """The pixels of a mask as an SVG path: a rectangle for each run of a row that the row above does not have.

    >>> mask_path(np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0]], bool))
    'M1 0h2v2h-2zM0 2h1v1h-1z'
    """
    padded = np.pad(mask.astype(np.int8), ((0, 0), (1, 1)))
    row, start = np.nonzero(np.diff(padded, axis=1) == 1)
    end = np.nonzero(np.diff(padded, axis=1) == -1)[1]
    runs: dict[tuple[int, int], list[list[int]]] = {}  # where a run starts and ends: its stretches of rows
    for y, a, b in zip(row.tolist(), start.tolist(), end.tolist()):
        stretches = runs.setdefault((a, b), [])
        if stretches and stretches[-1][1] == y:
            stretches[-1][1] = y + 1
        else:
            stretches.append([y, y + 1])
    boxes = sorted((y, a, b - a, end - y) for (a, b), stretches in runs.items() for y, end in stretches)
    return "".join(f"M{x} {y}h{w}v{h}h-{w}z" for y, x, w, h in boxes)


def outline_path(mask: np.ndarray) -> str:
    """The outline of a mask as an SVG path: closed ways along the edges of its pixels, clockwise, holes the other way.

    >>> outline_path(np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0]], bool))
    'M1 0H3V2H1zM0 2H1V3H0z'
    """
    inside, ways = np.pad(mask.astype(bool), 1), dict[tuple[int, int], list[tuple[int, int]]]()
    core = inside[1:-1, 1:-1]
    sides = (  # the neighbour beyond the side of a pixel, and where that side starts and ends
        (inside[:-2, 1:-1], (0, 0), (1, 0)),
        (inside[1:-1, 2:], (1, 0), (1, 1)),
        (inside[2:, 1:-1], (1, 1), (0, 1)),
        (inside[1:-1, :-2], (0, 1), (0, 0)),
    )
    for beyond, (x0, y0), (x1, y1) in sides:
        for y, x in zip(*(places.tolist() for places in np.nonzero(core & ~beyond))):
            ways.setdefault((x + x0, y + y0), []).append((x + x1, y + y1))
    found = []
    for start in sorted(ways, key=lambda place: place[::-1]):
        while ways.get(start):
            found.append(_loop(ways, start))
    return "".join(found)


def _loop(ways: dict[tuple[int, int], list[tuple[int, int]]], start: tuple[int, int]) -> str:
    """One closed way, taken out of all; it says where it turns."""
    turns, at, step = list[str](), start, (0, 0)
    while not turns or at != start:
        right = at[0] - step[1], at[1] + step[0]  # where two pixels touch at a corner, each keeps its own way
        after = right if right in ways[at] else ways[at][0]
        ways[at].remove(after)
        said, taken = f"H{after[0]}" if after[1] == at[1] else f"V{after[1]}", (after[0] - at[0], after[1] - at[1])
        turns = [*turns[:-1], said] if taken == step else [*turns, said]
        at, step = after, taken
    return f"M{start[0]} {start[1]}{''.join(turns[:-1])}z"


def _middle(mask: np.ndarray) -> tuple[float, float]:
    """The pixel of a mask that is nearest to its centre of mass."""
    y, x = np.nonzero(mask)
    if not len(y):
        return 0.0, 0.0
    nearest = int(np.argmin((y - y.mean()) ** 2 + (x - x.mean()) ** 2))
    return float(x[nearest]) + 0.5, float(y[nearest]) + 0.5
