"""Meshes of the user's own, for the photo renderer: OBJ, glTF and PLY files, whose named groups are parts.

    car = Mesh("car.obj", object=3, position=(1, 0, 0), size=0.5, color="red", paint={"wheels": "gray"})
    photograph(scenes, 480, 320, ("rgb", "objects", "parts"), meshes=[[car], ...])

A mesh is in the axes of the world, z up. The groups of an OBJ file (`g` or `o`) are the parts 0, 1, 2, ... in the order
of the file; a mesh without groups has no parts. Corners without normals get those of their flat triangles.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from recombine.render.gltf import read_gltf
from recombine.render.loose import LARGEST, MOST, Loose
from recombine.render.materials import COLORS, MATERIALS, choose
from recombine.render.obj import read_obj
from recombine.render.primitives import CLOSE, HUGE, NO_PART
from recombine.render.studio import Body, brushed
from recombine.render.tessellate import Surface
from recombine.store.errors import UserError
from recombine.store.untrusted import read_bytes
from recombine.world.camera import FORWARD, POSITION, Camera

Color = str | tuple[float, float, float]
HEADER = 2**16


@dataclass(frozen=True)
class Mesh:
    """A thing from a file, and where it stands."""

    file: str | Path
    object: int
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where the origin of the file goes."""
    size: float = 1.0
    """How long a length of one in the file is."""
    turn: float = 0.0
    """Degrees about z."""
    color: Color = "gray"
    material: str = "rubber"
    paint: Mapping[str, Color] = field(default_factory=dict)
    """The colours of groups, by name; the others have the colour of the mesh."""


def bodies_of_mesh(mesh: Mesh, camera: Camera, jitter: np.ndarray, mitsuba: Any) -> list[Body]:
    """The groups of a mesh in the world, where this camera sees it."""
    groups = read_groups(Path(mesh.file), mitsuba)
    if unknown := [name for name in mesh.paint if name not in groups]:
        raise UserError(f"{mesh.file} has no group '{unknown[0]}' to paint; it has {', '.join(groups)}")
    placed = {name: _placed(mesh, surface) for name, surface in groups.items()}
    _check(mesh, np.concatenate([surface.points for surface in placed.values()]), camera.view(jitter))
    middle = np.mean([surface.points.mean(axis=0) for surface in placed.values()], axis=0)
    material = [*MATERIALS.values()][choose("material", mesh.material, tuple(MATERIALS))]
    bodies = []
    for part, (name, surface) in enumerate(placed.items()):
        color = _shares(mesh.paint.get(name, mesh.color))
        body = Body(surface, mesh.object, part if len(placed) > 1 or name else NO_PART, material, color)
        bodies.append(brushed(body, middle))
    return bodies


def _shares(color: Color) -> tuple[float, ...]:
    if isinstance(color, str):
        return [*COLORS.values()][choose("color", color, tuple(COLORS))]
    if len(color) != 3 or not all(0 <= share <= 1 for share in color):
        raise UserError(f"a color is three shares between 0 and 1, not {color}")
    return color


def _placed(mesh: Mesh, surface: Surface) -> Surface:
    angle = np.radians(mesh.turn)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    return surface._replace(points=mesh.size * surface.points).placed(np.array(mesh.position, np.float64), turn)


def _check(mesh: Mesh, points: np.ndarray, view: np.ndarray) -> None:
    if mesh.object < 0:
        raise UserError(f"{mesh.file} is object {mesh.object}, but objects count from 0")
    if not (np.isfinite(mesh.size) and mesh.size > 0):
        raise UserError(f"{mesh.file} has the size {mesh.size}; choose a positive one")
    if not np.isfinite(points).all() or np.abs(points).max() > HUGE:
        raise UserError(
            f"{mesh.file} reaches farther than {HUGE:g} from the middle of the world; choose a smaller size"
        )
    if ((points - view[POSITION]) @ view[FORWARD]).min() < CLOSE:
        raise UserError(f"{mesh.file} is behind the camera, or reaches it; move it or the camera")


# --- files --------------------------------------------------------------------------------------------------------

READERS = {".obj": read_obj, ".gltf": read_gltf, ".glb": read_gltf}


def read_groups(file: Path, mitsuba: Any) -> dict[str, Surface]:
    """The named groups of a file; one without a name where it has none."""
    if not file.is_file():
        raise UserError(f"there is no mesh {file}")
    kind = file.suffix.lower()
    if kind == ".ply":
        return {"": _read_ply(file, mitsuba)}
    if kind not in READERS:
        raise UserError(f"{file} is no mesh that can be read; convert it to {', '.join(READERS)} or .ply")
    loose = READERS[kind](file)
    if not len(loose.corners):
        raise UserError(f"{file} has no faces")
    return {loose.names[group]: _gathered(loose, loose.group == group) for group in np.unique(loose.group).tolist()}


def _gathered(loose: Loose, which: np.ndarray) -> Surface:
    corners, given = loose.corners[which].reshape(-1, 3), loose.normals[which].reshape(-1, 3)
    length = np.linalg.norm(given, axis=1, keepdims=True)
    unit = np.where(length > 0, given / np.where(length > 0, length, 1.0), flat_normals(corners))
    return Surface(corners, unit, np.arange(len(corners)).reshape(-1, 3))


def flat_normals(corners: np.ndarray) -> np.ndarray:
    """The normals of triangles that share no corner, for every corner; up for those that are no more than a line."""
    one, two, three = corners[0::3], corners[1::3], corners[2::3]
    out = np.cross(two - one, three - one)
    length = np.linalg.norm(out, axis=1, keepdims=True)
    return np.repeat(np.where(length > 0, out / np.maximum(length, 1e-30), (0.0, 0.0, 1.0)), 3, axis=0)


def _check_ply(file: Path) -> None:
    """Refuse a file whose header claims more than a mesh has, or than the file can hold."""
    whole = read_bytes(file, LARGEST, "simplify it")
    head = whole.partition(b"end_header")[0][:HEADER].split()
    for word, count in zip(head, head[2:]):
        if word == b"element" and not (count.isdigit() and len(count) < 10 and int(count) <= min(MOST, len(whole))):
            raise UserError(f"{file} claims to have {count.decode('ascii', 'replace')} corners or faces; simplify it")


def _read_ply(file: Path, mitsuba: Any) -> Surface:
    _check_ply(file)
    try:
        mesh = mitsuba.load_dict({"type": "ply", "filename": str(file), "face_normals": False})
        columns = mitsuba.traverse(mesh)
        points = np.array(columns["vertex_positions"], np.float64).reshape(-1, 3)
        faces = np.array(columns["faces"], np.int64).reshape(-1, 3)
    except RuntimeError as error:
        raise UserError(f"{file} is no PLY file that can be read ({str(error).strip().splitlines()[-1]})") from error
    if not len(faces):
        raise UserError(f"{file} has no faces")
    flat = Surface(points, np.zeros_like(points), faces).apart()
    if not mesh.has_vertex_normals():
        return flat._replace(normals=flat_normals(flat.points))
    normals = np.array(columns["vertex_normals"], np.float64).reshape(-1, 3)
    return Surface(points, normals, faces)
