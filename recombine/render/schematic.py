"""Scenes as small drawings: SVG text, made from plain dictionaries, one per object.

An object has CLEVR's color, shape, material and size, and a place: `pixel` (px, py, depth) in the image, `position`
(x, y, z) in the world, or both. `perspective` draws what the camera sees, `top_down` the floor or the board of location
bins, and `cards` the objects of any other world as labelled chips. `draw` takes the first of these that fits.

With `lit`, the numbers of some objects, these stand out and the others fade.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2s
from html import escape
from itertools import product
from typing import Any

import numpy as np

from recombine.store.errors import UserError

Point = tuple[float, float, float]
Drawable = Mapping[str, Any]
"""One object: attribute -> value, and where it is."""

RGB = {
    "gray": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}
SIZES = {"0.7": "large", "0.70": "large", "large": "large", "0.35": "small", "small": "small"}
RADIUS = {"large": 0.7, "small": 0.35}
SHAPES = ("cube", "sphere", "cylinder")
MATERIALS = ("rubber", "metal")
PLACES = ("position", "rotation", "pixel")
"""The keys of an object that say where it is, not what it is."""

CAMERA: Point = (7.48113, -6.50764, 5.34367)
FOCAL = 35 / 32
"""The focal length, in image widths."""
REACH = 5.35
"""How far the floor plan extends from the middle of the world."""
BINS = 8
WHITE, BLACK = (255, 255, 255), (0, 0, 0)


# --- SVG text -----------------------------------------------------------------------------------------------------


def element(name: str, *children: str, **attributes: str | float) -> str:
    """One SVG or HTML element; the children are markup, the attributes are escaped.

    >>> element("circle", cx=1.0, cy=2.25, class_="dot")
    '<circle cx="1" cy="2.2" class="dot"/>'
    """
    given = "".join(f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"' for key, value in attributes.items())
    return f"<{name}{given}>{''.join(children)}</{name}>" if children else f"<{name}{given}/>"


def words(name: str, text: str, **attributes: str | float) -> str:
    """An element that holds plain text."""
    return element(name, escape(text), **attributes)


def number(value: float) -> str:
    """At most one decimal, which is enough for a drawing."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else number(value)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{number(x)},{number(y)}" for x, y in points)


def canvas(
    title: str, width: float, height: float, *children: str, description: str = "", class_: str = "scene", **more: Any
) -> str:
    """A drawing of its own with a title, and perhaps a description, that are read aloud."""
    return element(
        "svg",
        words("title", title),
        *([words("desc", description)] if description else []),
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        width=width,
        height=height,
        role="img",
        aria_label=title,
        class_=class_,
        **more,
    )


# --- objects ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Thing:
    """A CLEVR object."""

    color: str
    shape: str
    material: str
    size: str
    position: Point | None
    pixel: Point | None
    rotation: float

    @property
    def radius(self) -> float:
        return RADIUS[self.size]

    @property
    def name(self) -> str:
        return f"{self.size} {self.color} {self.material} {self.shape}"


def drawable(objects: Sequence[Drawable]) -> bool:
    """Whether these are CLEVR's objects, at places that are known."""
    return all(_is_solid(one) and (_point(one, "pixel") or _point(one, "position")) is not None for one in objects)


def phrase(one: Drawable) -> str:
    """An object in words.

    >>> phrase({"color": "red", "shape": "cube", "material": "metal", "size": "0.7", "pixel": (100, 80, 11.0)})
    'large red metal cube'
    """
    return _thing(one).name if _is_solid(one) else " ".join(str(v) for k, v in one.items() if k not in PLACES)


def phrases(objects: Sequence[Drawable], width: float = 240, height: float = 160) -> tuple[str, ...]:
    """The objects in words, each with its location where it has one or the image says it."""
    return tuple(phrase(one) + _where(one, width, height) for one in objects)


def _where(one: Drawable, width: float, height: float) -> str:
    if "locationX" in one and "locationY" in one:
        return f" at ({one['locationX']},{one['locationY']})"
    pixel = _point(one, "pixel")
    if pixel is None:
        return ""
    x, y, _ = pixel
    return f" at ({int(x / width * BINS)},{int(y / height * BINS)})"


def _is_solid(one: Drawable) -> bool:
    known = {"color": RGB, "shape": SHAPES, "material": MATERIALS, "size": SIZES}
    return all(str(one.get(name)) in values for name, values in known.items())


def _thing(one: Drawable) -> Thing:
    if not _is_solid(one):
        raise UserError(f"only solids of known looks have a schematic, not {dict(one)}; use cards() instead")
    return Thing(
        color=str(one["color"]),
        shape=str(one["shape"]),
        material=str(one["material"]),
        size=SIZES[str(one["size"])],
        position=_point(one, "position"),
        pixel=_point(one, "pixel"),
        rotation=float(one.get("rotation", 0.0)),
    )


def _point(one: Drawable, name: str) -> Point | None:
    """The place under this name; any sequence of three numbers will do."""
    if one.get(name) is None:
        return None
    x, y, z = one[name]
    return float(x), float(y), float(z)


def _count(objects: Sequence[Drawable], lit: Collection[int] | None = None) -> str:
    shown = [one for i, one in enumerate(objects) if _is_lit(i, lit)]
    text = f"{len(objects)} object{'' if len(objects) == 1 else 's'}"
    text = text if lit is None else f"{len(shown)} of {text}"
    return text if lit is not None and not shown else f"{text}: " + ", ".join(phrase(one) for one in shown)


def _prefix(prefix: str, *content: object) -> str:
    return prefix or "s" + blake2s(repr(content).encode(), digest_size=5).hexdigest()


# --- colours and light --------------------------------------------------------------------------------------------


def _mix(rgb: tuple[int, int, int], other: tuple[int, int, int], share: float) -> str:
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in zip(rgb, other))


def _lit(color: str, light: float) -> str:
    """The colour under this much light: 0 is black, 1 the colour itself, 2 white."""
    return _mix(RGB[color], BLACK, 1 - light) if light < 1 else _mix(RGB[color], WHITE, light - 1)


_RADIAL = {
    "shade": 'cx=".5" cy=".5" r=".5"',
    "ball-rubber": 'cx=".6" cy=".3" r=".78"',
    "ball-metal": 'cx=".5" cy=".5" r=".52" fx=".62" fy=".28"',
}
_LINEAR = {
    "side-rubber": 'x2="1" y2="0"',
    "side-metal": 'x2="1" y2="0"',
    "face-metal": 'x1="1" y1="0" x2="0" y2="1"',
}
_STOPS: dict[str, list[tuple[float, str, float]]] = {
    "shade": [(0, "#000", 0.5), (0.55, "#000", 0.3), (1, "#000", 0)],
    "ball-rubber": [(0, "#fff", 0.34), (0.4, "#fff", 0.05), (0.55, "#000", 0.04), (1, "#000", 0.5)],
    "ball-metal": [
        (0, "#fff", 1),
        (0.12, "#fff", 0.85),
        (0.3, "#fff", 0.18),
        (0.62, "#000", 0.3),
        (0.84, "#000", 0.12),
        (0.94, "#fff", 0.12),
        (1, "#000", 0.3),
    ],
    "side-rubber": [(0, "#000", 0.42), (0.3, "#000", 0.2), (0.72, "#fff", 0.1), (1, "#000", 0.14)],
    "side-metal": [
        (0, "#000", 0.35),
        (0.14, "#fff", 0.22),
        (0.32, "#000", 0.38),
        (0.55, "#000", 0.05),
        (0.7, "#fff", 0.85),
        (0.8, "#fff", 0.2),
        (1, "#000", 0.4),
    ],
    "face-metal": [
        (0, "#fff", 0.8),
        (0.28, "#fff", 0.36),
        (0.56, "#fff", 0.02),
        (0.8, "#000", 0.16),
        (1, "#fff", 0.12),
    ],
}


def _gradient(kind: str, prefix: str) -> str:
    """A veil of light and shade, laid over an object of any colour."""
    name, geometry = ("radialGradient", _RADIAL[kind]) if kind in _RADIAL else ("linearGradient", _LINEAR[kind])
    stops = "".join(f'<stop offset="{at:g}" stop-color="{ink}" stop-opacity="{o:g}"/>' for at, ink, o in _STOPS[kind])
    return f'<{name} id="{prefix}-{kind}" {geometry}>{stops}</{name}>'


def _veils(drawing: str, prefix: str) -> str:
    """The definitions of the gradients that a drawing refers to."""
    return element("defs", *(_gradient(kind, prefix) for kind in _STOPS if f"url(#{prefix}-{kind})" in drawing), "")


def _veil(kind: str, prefix: str) -> str:
    return f"url(#{prefix}-{kind})"


# --- some objects before others -----------------------------------------------------------------------------------

FAINT = "0.22"
"""How much is left of an object that is not lit."""

_INKS = re.compile(r' (fill|stroke)="[^"]*"')


def _is_lit(i: int, lit: Collection[int] | None) -> bool:
    return lit is None or i in lit


def _faded(drawing: str, i: int, lit: Collection[int] | None) -> str:
    """The drawing of object i as strong as it should be."""
    return drawing if _is_lit(i, lit) else element("g", drawing, opacity=FAINT)


def _haloed(solid: str, unit: float) -> str:
    """A solid on its own silhouette, drawn wider in two bright inks: one of them differs from any colour."""
    silhouette = _INKS.sub("", solid)
    rings = (("var(--scene-lit,#f08c00)", 2.3), ("#fff", 1.0))
    halo = (
        element("g", silhouette, fill=ink, stroke=ink, stroke_width=reach * unit, stroke_linejoin="round")
        for ink, reach in rings
    )
    return "".join(halo) + solid


def tag(i: int, x: float, y: float, unit: float) -> str:
    """The number of an object."""
    look: dict[str, Any] = {"fill": "#fff", "stroke": "#1d232b", "stroke_width": 0.3 * unit}
    if i > 9:
        disc = element("ellipse", cx=x, cy=y, rx=3.1 * unit, ry=2.3 * unit, **look)
    else:
        disc = element("circle", cx=x, cy=y, r=2.3 * unit, **look)
    style = f"font:600 {number(3.2 * unit)}px system-ui,sans-serif;fill:#1d232b"
    return disc + words("text", str(i), x=x, y=y + 1.15 * unit, text_anchor="middle", style=style)


# --- the camera's view --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Camera:
    """A pinhole camera that looks at the middle of the world."""

    place: Point
    width: float
    height: float

    @cached_property
    def axes(self) -> np.ndarray:
        """Its right, up and forward, as rows in world coordinates."""
        forward = -np.array(self.place) / np.linalg.norm(self.place)
        right = np.cross(forward, (0, 0, 1))
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(right, forward), forward])

    @cached_property
    def light(self) -> np.ndarray:
        """Where the light comes from: above, a little right, a little from here."""
        toward = np.array([self.place[0], self.place[1], 0.0]) / np.hypot(*self.place[:2])
        light = 0.8 * np.array([0, 0, 1]) + 0.5 * self.axes[0] + 0.25 * toward
        return light / np.linalg.norm(light)

    def centre(self, thing: Thing) -> np.ndarray:
        """The middle of a thing in the camera's coordinates; the image knows better than the world."""
        if thing.pixel is not None:
            x, y, depth = thing.pixel
            return depth * np.array([(x - self.width / 2) / self.focal, (self.height / 2 - y) / self.focal, 1])
        if thing.position is None:
            raise UserError(f"the {thing.name} has neither a pixel nor a position")
        return self.axes @ (np.array(thing.position) - self.place)

    @property
    def focal(self) -> float:
        return FOCAL * self.width

    def image(self, centre: np.ndarray, offset: Sequence[float] | np.ndarray) -> tuple[float, float]:
        """The pixel of the point that lies at an offset, in world coordinates, from a centre."""
        x, y, depth = centre + self.axes @ np.asarray(offset, float)
        return self.width / 2 + self.focal * x / depth, self.height / 2 - self.focal * y / depth

    def ring(self, centre: np.ndarray, radius: float, height: float) -> tuple[float, float, float, float]:
        """A level circle as an ellipse: its middle and its half axes."""
        across, along = self.axes[0] * radius, np.cross((0, 0, 1), self.axes[0]) * radius
        up = np.array([0, 0, height])
        left, right = (self.image(centre, up + side * across) for side in (-1, 1))
        far, near = (self.image(centre, up + side * along) for side in (-1, 1))
        return (left[0] + right[0]) / 2, (far[1] + near[1]) / 2, (right[0] - left[0]) / 2, abs(near[1] - far[1]) / 2


def perspective(
    objects: Sequence[Drawable],
    width: float = 240,
    height: float = 160,
    *,
    camera: Point = CAMERA,
    bins: bool = False,
    lit: Collection[int] | None = None,
    numbered: bool = False,
    prefix: str = "",
) -> str:
    """The scene as the camera sees it; `bins` lays the grid of locations over it, `numbered` tags the objects.

    Ids inside begin with `prefix`, or else with a digest of the scene.
    """
    choice = () if lit is None else (sorted(lit),)
    view, name = Camera(camera, width, height), _prefix(prefix, objects, width, height, camera, bins, *choice)
    things = sorted(enumerate(map(_thing, objects)), key=lambda one: -view.centre(one[1])[2])
    drawing = "".join(_faded(_ground_shade(t, view, name), i, lit) for i, t in things)
    drawing += "".join(_faded(_solid(t, view, name, lit is not None and i in lit), i, lit) for i, t in things)
    tags = _tags(things, view) if numbered else ""
    grid = _grid(width, height) if bins else ""
    title, floor = _count(objects, lit), _floor(width, height)
    return canvas(title, width, height, _veils(drawing, name), floor, grid, drawing, tags)


def _floor(width: float, height: float) -> str:
    return element("rect", width=width, height=height, style="fill:var(--scene-floor,#e8eaed)")


def _grid(width: float, height: float) -> str:
    """The lines between location bins, and their numbers along the top and the left."""
    columns = "".join(f"M{number(width * i / BINS)},0v{number(height)}" for i in range(1, BINS))
    rows = "".join(f"M0,{number(height * i / BINS)}h{number(width)}" for i in range(1, BINS))
    style = "stroke:var(--scene-grid,#fff);stroke-width:1;fill:none"
    xs = (_bin_label(i, width * (i + 0.5) / BINS, 7.5) for i in range(BINS))
    ys = (_bin_label(i, 4.5, height * (i + 0.5) / BINS + 2.5) for i in range(1, BINS))
    return element("path", d=columns + rows, style=style) + "".join(xs) + "".join(ys)


def _bin_label(index: int, x: float, y: float) -> str:
    style = "font:7px system-ui,sans-serif;fill:var(--scene-label,#8a9099)"
    return words("text", str(index), x=x, y=y, text_anchor="middle", style=style)


def _ground_shade(thing: Thing, view: Camera, prefix: str) -> str:
    """The soft shadow on the floor, a little away from the light."""
    spread = {"cube": 1.62, "cylinder": 1.4, "sphere": 1.22}[thing.shape] * thing.radius
    x, y, rx, ry = view.ring(view.centre(thing), spread, -thing.radius)
    return element("ellipse", cx=x - 0.12 * rx, cy=y, rx=rx, ry=ry, fill=_veil("shade", prefix))


def _solid(thing: Thing, view: Camera, prefix: str, halo: bool = False) -> str:
    solid = {"cube": _cube, "sphere": _sphere, "cylinder": _cylinder}[thing.shape](thing, view, prefix)
    return element("g", words("title", thing.name), _haloed(solid, view.width / 100) if halo else solid)


def _tags(things: Sequence[tuple[int, Thing]], view: Camera) -> str:
    """The numbers of the objects, each where nearer objects and other numbers leave most room; the farthest first."""
    unit, solids = view.width / 100, [_round_shape(thing, view) for _, thing in things]
    spots: list[tuple[float, float, float]] = []
    for place, (x, y, reach) in enumerate(solids):
        taken = solids[place + 1 :] + spots
        ways = ((x + 0.7 * reach * across, y + 0.7 * reach * down) for across, down in _CORNERS)
        spots.append((*max(ways, key=lambda at: min(4.5 * unit, _room(at, taken))), 2.3 * unit))
    return "".join(tag(i, x, y, unit) for (i, _), (x, y, _) in zip(things, spots))


_CORNERS = ((-1, 1), (1, 1), (-1, -1), (1, -1), (0, -1.2), (-1.2, 0), (1.2, 0), (0, 1.2), (0, 0))


def _round_shape(thing: Thing, view: Camera) -> tuple[float, float, float]:
    """The middle of a thing in the image, and how far it reaches."""
    centre = view.centre(thing)
    return *view.image(centre, (0, 0, 0)), thing.radius * view.focal / float(centre[2])


def _room(at: tuple[float, float], taken: Sequence[tuple[float, float, float]]) -> float:
    return min((float(np.hypot(at[0] - x, at[1] - y)) - reach for x, y, reach in taken), default=np.inf)


def _sphere(thing: Thing, view: Camera, prefix: str) -> str:
    centre = view.centre(thing)
    x, y = view.image(centre, (0, 0, 0))
    return _ball(thing, x, y, thing.radius * view.focal / centre[2], prefix)


def _ball(thing: Thing, x: float, y: float, radius: float, prefix: str) -> str:
    fills = (_lit(thing.color, 1.0), _veil(f"ball-{thing.material}", prefix))
    return "".join(element("circle", cx=x, cy=y, r=radius, fill=fill) for fill in fills)


def _cylinder(thing: Thing, view: Camera, prefix: str) -> str:
    r, centre = thing.radius, view.centre(thing)
    x, y, rx, ry = view.ring(centre, r, r)
    X, Y, RX, RY = view.ring(centre, r, -r)
    side = "M{},{}L{},{}A{},{} 0 0 0 {},{}L{},{}A{},{} 0 0 1 {},{}Z".format(
        *map(number, (x - rx, y, X - RX, Y, RX, RY, X + RX, Y, x + rx, y, rx, ry, x - rx, y))
    )
    fills = (_lit(thing.color, 0.92), _veil(f"side-{thing.material}", prefix))
    top = [_lit(thing.color, 1.2)] + [_veil("face-metal", prefix)] * (thing.material == "metal")
    return "".join(element("path", d=side, fill=fill) for fill in fills) + "".join(
        element("ellipse", cx=x, cy=y, rx=rx, ry=ry, fill=fill) for fill in top
    )


def _cube(thing: Thing, view: Camera, prefix: str) -> str:
    """The faces that look this way, each as bright as it faces the light."""
    turn = np.deg2rad(thing.rotation)
    frame = np.array([[np.cos(turn), np.sin(turn), 0], [-np.sin(turn), np.cos(turn), 0], [0, 0, 1]]) * thing.radius
    centre = view.centre(thing)
    faces = ((frame[axis] * side, frame[axis - 2], frame[axis - 1]) for axis, side in product(range(3), (-1, 1)))
    seen = (face for face in faces if (centre + view.axes @ face[0]) @ (view.axes @ face[0]) < 0)
    return "".join(_face(thing, view, centre, face, prefix) for face in seen)


def _face(thing: Thing, view: Camera, centre: np.ndarray, face: tuple[np.ndarray, ...], prefix: str) -> str:
    out, across, along = face
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    points = _points([view.image(centre, out + a * across + b * along) for a, b in corners])
    fill = _lit(thing.color, 0.64 + 0.66 * max(0.0, float(out @ view.light) / thing.radius))
    plain = element("polygon", points=points, fill=fill, stroke=fill, stroke_linejoin="round")
    if thing.material == "rubber":
        return plain
    return plain + element("polygon", points=points, fill=_veil("face-metal", prefix))


# --- from above ---------------------------------------------------------------------------------------------------


def top_down(
    objects: Sequence[Drawable],
    size: float = 160,
    *,
    bins: bool = False,
    width: float = 240,
    height: float = 160,
    prefix: str = "",
) -> str:
    """The floor from above, the camera at the bottom; with `bins`, the board of 8 x 8 image locations."""
    name, things = _prefix(prefix, objects, size, bins, "above"), [_thing(one) for one in objects]
    spots = [_on_board(t, size, width, height) if bins else _on_floor(t, size) for t in things]
    drawing = "".join(_from_above(t, *spot, name) for t, spot in zip(things, spots))
    ground = _floor(size, size) + _grid(size, size) if bins else _plan(size)
    return canvas(_count(objects), size, size, _veils(drawing, name), ground, drawing)


def _on_floor(thing: Thing, size: float) -> tuple[float, float, float]:
    """x, y and radius in the drawing."""
    if thing.position is None:
        raise UserError(f"the {thing.name} has no position; a floor plan needs one")
    x, y = _floor_point(thing.position[0], thing.position[1], size)
    return x, y, thing.radius * size / (2 * REACH)


def _floor_point(x: float, y: float, size: float) -> tuple[float, float]:
    right, behind = np.array([[0.65631, 0.75449], [-0.75449, 0.65631]]) @ (x, y)
    return size / 2 * (1 + right / REACH), size / 2 * (1 - behind / REACH)


def _on_board(thing: Thing, size: float, width: float, height: float) -> tuple[float, float, float]:
    x, y, _ = thing.pixel or _pixel(thing, width, height)
    return x / width * size, y / height * size, size / BINS * {"large": 0.46, "small": 0.29}[thing.size]


def _pixel(thing: Thing, width: float, height: float) -> Point:
    view = Camera(CAMERA, width, height)
    centre = view.centre(thing)
    return *view.image(centre, (0, 0, 0)), float(centre[2])


def _plan(size: float) -> str:
    """The part of the floor where objects stand, and the unit squares on it."""
    end = 3.7
    edge = [_floor_point(x, y, size) for x, y in ((-end, -end), (end, -end), (end, end), (-end, end))]
    fill = "fill:var(--scene-floor,#e8eaed);stroke:var(--scene-floor,#e8eaed);stroke-width:4"
    lines = [line for i in range(-3, 4) for line in ((i, -end, i, end), (-end, i, end, i))]
    path = "".join(f"M{_points([_floor_point(x, y, size), _floor_point(X, Y, size)])}" for x, y, X, Y in lines)
    floor = element("polygon", points=_points(edge), stroke_linejoin="round", style=fill)
    return floor + element("path", d=path, style="stroke:var(--scene-grid,#fff);stroke-width:.8;fill:none")


def _from_above(thing: Thing, x: float, y: float, radius: float, prefix: str) -> str:
    shade = element("circle", cx=x - 0.1 * radius, cy=y + 0.12 * radius, r=1.35 * radius, fill=_veil("shade", prefix))
    glyph = {"cube": _square, "sphere": _ball, "cylinder": _disc}[thing.shape]
    return element("g", words("title", thing.name), shade, glyph(thing, x, y, radius, prefix))


def _square(thing: Thing, x: float, y: float, radius: float, prefix: str) -> str:
    # The plan shows the world turned by the angle of CLEVR's "right", 49 degrees.
    turn = f"rotate({number(49 - thing.rotation)} {number(x)} {number(y)})"
    box = {"x": x - radius, "y": y - radius, "width": 2 * radius, "height": 2 * radius, "rx": radius / 6}
    fills = [_lit(thing.color, 1.08)] + [_veil("face-metal", prefix)] * (thing.material == "metal")
    return "".join(element("rect", **box, transform=turn, fill=fill) for fill in fills)


def _disc(thing: Thing, x: float, y: float, radius: float, prefix: str) -> str:
    """A flat top with a rim, which a ball does not have."""
    fills = [_lit(thing.color, 1.12)] + [_veil("face-metal", prefix)] * (thing.material == "metal")
    rim = element("circle", cx=x, cy=y, r=radius, fill=_lit(thing.color, 0.62))
    return rim + "".join(element("circle", cx=x, cy=y, r=0.78 * radius, fill=fill) for fill in fills)


# --- any world ----------------------------------------------------------------------------------------------------

_LETTER = 5.6  # the usual width of a letter at 11 px
_CHIP = 22


def cards(
    objects: Sequence[Drawable],
    width: float = 240,
    height: float = 0,
    *,
    lit: Collection[int] | None = None,
) -> str:
    """The objects as labelled chips, with a swatch where a colour is known; as high as it needs to be."""
    chips = [_chip_width(one, width) for one in objects]
    spots = _flow(chips, width)
    bottom = max((y for _, y in spots), default=0) + _CHIP + 8
    chosen = [_chip(one, *spot, chip) for one, spot, chip in zip(objects, spots, chips)]
    drawing, tall = "".join(_faded(chip, i, lit) for i, chip in enumerate(chosen)), max(height, bottom)
    return canvas(_count(objects, lit), width, tall, _floor(width, tall), drawing)


def draw(
    objects: Sequence[Drawable],
    width: float = 240,
    height: float = 160,
    *,
    lit: Collection[int] | None = None,
    numbered: bool = False,
    prefix: str = "",
) -> str:
    """The scene in perspective where its objects are CLEVR's, as cards, without numbers, elsewhere."""
    if not drawable(objects):
        return cards(objects, width, height, lit=lit)
    return perspective(objects, width, height, lit=lit, numbered=numbered, prefix=prefix)


def _chip_width(one: Drawable, width: float) -> float:
    return min(width - 16, len(phrase(one)) * _LETTER + (30 if _swatch(one) else 16))


def _flow(chips: Sequence[float], width: float) -> list[tuple[float, float]]:
    """Chips from left to right, then on to the next line."""
    spots, x, y = [], 8.0, 8.0
    for chip in chips:
        if x > 8 and x + chip > width - 8:
            x, y = 8.0, y + _CHIP + 6
        spots.append((x, y))
        x += chip + 6
    return spots


def _chip(one: Drawable, x: float, y: float, width: float) -> str:
    swatch, text = _swatch(one), phrase(one)
    room = int((width - (30 if swatch else 16)) / _LETTER + 0.5)
    shown = text if len(text) <= room else text[: room - 1] + "…"
    style = "fill:var(--surface,#fff);stroke:var(--line,#d4d8de)"
    box = element("rect", x=x, y=y, width=width, height=_CHIP, rx=_CHIP / 2, style=style)
    dot = element("circle", cx=x + 13, cy=y + _CHIP / 2, r=5, fill=swatch) if swatch else ""
    font = "font:11px system-ui,sans-serif;fill:var(--ink,#1d232b)"
    label = words("text", shown, x=x + (23 if swatch else 9), y=y + 15, style=font)
    return element("g", words("title", text), box, dot, label)


def _swatch(one: Drawable) -> str:
    known = [_mix(RGB[str(value)], BLACK, 0) for value in one.values() if str(value) in RGB]
    return known[0] if known else ""
