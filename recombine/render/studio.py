"""The studio: scenes as bodies of triangles, and what Mitsuba is told of bodies, lamps, ground and camera.

Everything is said in the numbers of the ray tracer: a material is a mixture of the lobes of `materials`, a lamp a
square that shines as much as that of `lamps`, the ground fades as that of `floor` does. The one difference: the gloss
of a brushed metal with a texture has no direction, because a body of triangles has one grain only.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recombine.render.floor import FADE, FLOOR
from recombine.render.lamps import AREA_LAMPS, SUN_DIRECTION, SUN_POWER, SUN_WIDTH
from recombine.render.materials import CHECKERED, DARKER, DOT, MATERIALS, PLAIN, STRIPED, Material
from recombine.render.primitives import CLOSE, Primitives
from recombine.render.tessellate import Surface, tessellate, together
from recombine.world.camera import FORWARD, POSITION, UP, Camera

SUN_FAR = 200.0
"""Where the sun stands: far enough to shine evenly, near enough for single precision."""
GROUND_EDGE = 4 * FADE
"""Where the ground ends; nothing is left of its light there."""
SMOOTHEST = 0.01
"""The least width of a gloss."""

Words = dict[str, Any]
"""What Mitsuba is told of a thing."""


@dataclass(frozen=True, eq=False)
class Body:
    """Triangles of one look."""

    surface: Surface  # in the world
    object: int
    part: int
    material: Material
    color: tuple[float, ...]
    texture: int = PLAIN
    grain: np.ndarray | None = None
    """float64[v, 2], where a corner lies in the texture, or which way the brushes run; the corners stand alone."""
    coat: tuple[Material, tuple[float, ...]] | None = None
    """Another material, and its colour, that throws back half of the light."""


# --- bodies of primitives -----------------------------------------------------------------------------------------


def bodies_of(primitives: Primitives, scene: int) -> list[Body]:
    """The primitives of a scene."""
    first, last = primitives.first[scene], primitives.first[scene + 1]
    return [_body(primitives, row, _axis(primitives, row)) for row in range(first, last)]


def _axis(p: Primitives, row: int) -> np.ndarray:
    """The middle of the object that a primitive belongs to."""
    return p.position[(p.scene == p.scene[row]) & (p.object == p.object[row])].mean(axis=0)


def _body(p: Primitives, row: int, axis: np.ndarray) -> Body:
    own = tessellate(int(p.kind[row]), p.scale[row], float(p.detail[row]))
    material = [*MATERIALS.values()][p.material[row]]
    body = Body(
        own.placed(p.position[row], p.rotation[row]),
        int(p.object[row]),
        int(p.part[row]),
        material,
        tuple(p.color[row].tolist()),
        int(p.texture[row]),
    )
    if body.texture != PLAIN:
        return replace(body, surface=body.surface.apart(), grain=_projected(own.apart()) / (2 * p.grain[row]))
    return brushed(body, axis)


def brushed(body: Body, axis: np.ndarray) -> Body:
    """The body with brushes in rings about an upright axis, if its material has any."""
    if body.material.along == body.material.across:
        return body
    surface = body.surface.apart()
    return replace(body, surface=surface, grain=_rings(surface, axis))


def _projected(surface: Surface) -> np.ndarray:
    """The flat place of every corner: as seen along the axis that its triangle faces most."""
    normal = np.abs(surface.normals.reshape(-1, 3, 3).mean(axis=1))
    a, b, c = normal.T
    top, side = c >= np.maximum(a, b), a > b
    axes = np.where(top[:, None], (0, 1), np.where(side[:, None], (1, 2), (0, 2)))
    return np.take_along_axis(surface.points, np.repeat(axes, 3, axis=0), axis=1)


def _rings(surface: Surface, axis: np.ndarray) -> np.ndarray:
    """Places of corners that run along the rings in the first direction, and across them in the second."""
    triangles = surface.points.reshape(-1, 3, 3)
    normal = _unit(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]))
    middle = triangles.mean(axis=1) - axis
    ring = np.stack([-middle[:, 1], middle[:, 0], np.zeros(len(middle))], axis=1)
    along = _unit(ring - np.einsum("fi,fi->f", ring, normal)[:, None] * normal)
    across = np.cross(normal, along)
    return np.stack([np.einsum("fci,fi->fc", triangles, way).reshape(-1) for way in (along, across)], axis=1)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)


# --- in Mitsuba's words -------------------------------------------------------------------------------------------


class Studio:
    """Says scenes in the words of Mitsuba."""

    def __init__(self, mitsuba: Any) -> None:
        self.mi = mitsuba
        self.ground, self.places = self._ground(), self._places()

    def body(self, body: Body) -> Any:
        """A mesh with its material."""
        properties = self.mi.Properties()
        properties["bsdf"] = self.mi.load_dict(self._material(body))
        return self._mesh(body.surface, properties, body.grain)

    def numbered(self, surfaces: Sequence[Surface]) -> Any:
        """One mesh of all surfaces, which says by its first texture coordinate which it is: 1, 2, 3, ..."""
        number = np.repeat(np.arange(len(surfaces)) + 1.0, [len(surface.points) for surface in surfaces])
        return self._mesh(together(surfaces), self.mi.Properties(), np.stack([number, number], axis=1))

    def _mesh(self, surface: Surface, properties: Any, grain: np.ndarray | None = None) -> Any:
        sizes = len(surface.points), len(surface.faces)
        mesh = self.mi.Mesh("body", *sizes, properties, has_vertex_normals=True, has_vertex_texcoords=grain is not None)
        columns = self.mi.traverse(mesh)
        columns["vertex_positions"] = _single(surface.points)
        columns["vertex_normals"] = _single(surface.normals)
        columns["faces"] = surface.faces.astype(np.uint32).reshape(-1)
        if grain is not None:
            columns["vertex_texcoords"] = _single(grain)
        columns.update()
        return mesh

    def _material(self, body: Body) -> Words:
        """What light is thrown back by, on both sides."""
        lobes = self._lobes(body)
        if body.coat:
            lobes = _mixed(lobes, self._lobes(replace(body, material=body.coat[0], color=body.coat[1])), 0.5)
        return {"type": "twosided", "bsdf": lobes}

    def _lobes(self, body: Body) -> Words:
        """A mixture of lobes, drawn in proportion to their shares."""
        m, white = body.material, (1.0, 1.0, 1.0)
        tinted = tuple(1 - m.tint + m.tint * share for share in body.color)
        widths = (m.along, m.across) if body.texture == PLAIN else (math.sqrt(m.along * m.across),) * 2
        total = m.diffuse + m.mirror + m.gloss
        lobes: list[tuple[float, Callable[[], Words]]] = [
            (m.diffuse, lambda: {"type": "diffuse", "reflectance": self._paint(body, body.color, total)}),
            (m.mirror, lambda: self._lobe((m.shine, m.shine), self._paint(body, body.color, total))),
            (m.gloss, lambda: self._lobe(widths, self._paint(body, tinted if m.tint else white, total))),
        ]
        mixture, so_far = None, 0.0
        for share, words in lobes:
            if share > 0:
                so_far += share
                mixture = words() if mixture is None else _mixed(mixture, words(), share / so_far)
        return mixture or {"type": "diffuse", "reflectance": _rgb(white, 0.0)}

    def _lobe(self, widths: tuple[float, float], paint: Words) -> Words:
        along, across = (max(width, SMOOTHEST) for width in widths)
        lobe = {"type": "roughconductor", "material": "none", "distribution": "ggx", "specular_reflectance": paint}
        return {**lobe, "alpha_u": along, "alpha_v": across}

    def _paint(self, body: Body, color: tuple[float, ...], share: float) -> Words:
        """A colour, or a texture in it."""
        if body.texture == PLAIN:
            return _rgb(color, share)
        tile = share * np.array(color) * _tile(body.texture)[..., None]
        bitmap = self.mi.Bitmap(tile.astype(np.float32))
        return {"type": "bitmap", "bitmap": bitmap, "raw": True, "filter_type": "nearest", "wrap_mode": "repeat"}

    def lamps(self, jitter: np.ndarray) -> Words:
        """The three area lamps and the sun: those of this studio, moved and set alight."""
        for place, lamp, off in zip(self.places, AREA_LAMPS, jitter):
            light = [lamp.power / (4 * lamp.side**2) * share for share in lamp.color]
            self._set(place, np.array(lamp.position) + off, lamp.side, light)
        sun = np.array(SUN_DIRECTION) * SUN_FAR / math.hypot(*SUN_DIRECTION)
        # So wide a square loses a little at its corners, which are farther away and seen aslant.
        bright = SUN_POWER / SUN_WIDTH**2 * (1 + SUN_WIDTH**2 / 3)
        self._set(self.places[-1], sun, SUN_WIDTH * SUN_FAR, [bright] * 3)
        return {f"lamp{i}": lamp for i, lamp in enumerate(self.places)}

    def _places(self) -> list[Any]:
        """Squares that shine, in the order in which Mitsuba draws from them.

        That order changes with the state of memory: were lamps made for every scene, other paths would be followed.
        """
        glow = {"type": "area", "radiance": _rgb((1.0, 1.0, 1.0))}
        places = [self.mi.load_dict({"type": "rectangle", "emitter": glow}) for _ in (*AREA_LAMPS, "sun")]
        room = self.mi.load_dict({"type": "scene", **{f"lamp{i}": place for i, place in enumerate(places)}})
        return [next(place for place in places if place.emitter() is emitter) for emitter in room.emitters()]

    def _set(self, place: Any, position: np.ndarray, side: float, light: list[float]) -> None:
        """Let a square face the middle of the world."""
        aside = (0, 0, 1) if abs(position[2]) < 0.99 * math.hypot(*position) else (1, 0, 0)
        stand = self.mi.ScalarTransform4f().look_at(origin=position.tolist(), target=(0, 0, 0), up=aside)
        columns = self.mi.traverse(place)
        columns["to_world"] = self.mi.Transform4f(stand.scale((side / 2, side / 2, 1)).matrix)
        columns["emitter.radiance.value"] = light
        columns.update()

    def _ground(self) -> Any:
        """A disc that fades with its distance from the middle."""
        rings = np.concatenate([[0.0], np.linspace(FADE / 4, 2 * FADE, 36), [GROUND_EDGE]])
        angle = np.linspace(0, 2 * np.pi, 97)
        x, y = (np.outer(rings, way).reshape(-1) for way in (np.cos(angle), np.sin(angle)))
        points = np.stack([x, y, np.zeros_like(x)], axis=1)
        corner = np.arange(len(points)).reshape(len(rings), -1)
        quads = [part.reshape(-1) for part in (corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:])]
        faces = np.concatenate([np.stack([quads[i] for i in three], axis=1) for three in ((0, 1, 2), (0, 2, 3))])
        left = FLOOR / (1 + ((x * x + y * y) / FADE**2) ** 4)
        properties = self.mi.Properties()
        paint = {"type": "mesh_attribute", "name": "vertex_color"}
        properties["bsdf"] = self.mi.load_dict({"type": "diffuse", "reflectance": paint})
        mesh = self._mesh(Surface(points, np.tile((0.0, 0.0, 1.0), (len(points), 1)), faces), properties)
        mesh.add_attribute("vertex_color", 3, _single(np.repeat(left, 3)))
        return mesh

    def sensor(self, camera: Camera, jitter: np.ndarray, sampler: Words) -> Words:
        """The camera."""
        view = camera.view(jitter)
        ahead = view[POSITION] + view[FORWARD]
        stand = self.mi.ScalarTransform4f().look_at(
            origin=view[POSITION].tolist(), target=ahead.tolist(), up=view[UP].tolist()
        )
        wide = math.degrees(2 * math.atan(camera.width / 2 / camera.focal))
        film = {"type": "hdrfilm", "width": camera.width, "height": camera.height, "rfilter": {"type": "box"}}
        film |= {"pixel_format": "rgb", "component_format": "float32"}
        return {
            "type": "perspective", "fov_axis": "x", "fov": wide, "near_clip": CLOSE / 2, "far_clip": 10 * SUN_FAR,
            "to_world": stand, "film": film, "sampler": sampler,
        }  # fmt: skip


def _single(numbers: np.ndarray) -> np.ndarray:
    return numbers.astype(np.float32).reshape(-1)


def _rgb(color: tuple[float, ...], share: float = 1.0) -> Words:
    return {"type": "rgb", "value": [share * channel for channel in color]}


def _mixed(one: Words, other: Words, weight: float) -> Words:
    return {"type": "blendbsdf", "weight": weight, "one": one, "other": other}


def _tile(texture: int, pixels: int = 64) -> np.ndarray:
    """Two by two cells of a texture: the share of its colour that is kept, float64[2 pixels, 2 pixels]."""
    cell = np.arange(2 * pixels) // pixels
    if texture == STRIPED:
        dark = np.broadcast_to(cell[:, None] == 1, (2 * pixels, 2 * pixels))
    elif texture == CHECKERED:
        dark = (cell[:, None] + cell) % 2 == 1
    else:
        off = (np.arange(2 * pixels) % pixels + 0.5) / pixels - 0.5
        dark = off[:, None] ** 2 + off**2 < DOT * DOT
    return np.where(dark, DARKER, 1.0)
