"""Meshes of the user's own, for the photo renderer: OBJ and PLY files, whose named groups are parts.

    car = Mesh("car.obj", object=3, position=(1, 0, 0), size=0.5, color="red", paint={"wheels": "gray"})
    photograph(scenes, 480, 320, ("rgb", "objects", "parts"), meshes=[[car], ...])

A mesh is in the axes of the world, z up. The groups of an OBJ file (`g` or `o`) are the parts 0, 1, 2, ... in the order
of the file; a mesh without groups has no parts. Corners without normals get those of their flat triangles.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from recombine.render.materials import COLORS, MATERIALS, choose
from recombine.render.primitives import CLOSE, HUGE, NO_PART
from recombine.render.studio import Body, brushed
from recombine.render.tessellate import Surface
from recombine.store.errors import UserError
from recombine.store.untrusted import read_bytes
from recombine.world.camera import FORWARD, POSITION, Camera

Color = str | tuple[float, float, float]
MOST, LARGEST = 1_000_000, 128 * 2**20
"""Corners or faces of a mesh, and bytes of its file."""
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


def read_groups(file: Path, mitsuba: Any) -> dict[str, Surface]:
    """The named groups of a file; one without a name where it has none."""
    if not file.is_file():
        raise UserError(f"there is no mesh {file}")
    kind = file.suffix.lower()
    if kind not in (".obj", ".ply"):
        raise UserError(f"{file} is no mesh that can be read; convert it to .obj or .ply")
    groups = _read_obj(file) if kind == ".obj" else {"": _read_ply(file, mitsuba)}
    if not groups:
        raise UserError(f"{file} has no faces")
    return groups


def _read_obj(file: Path) -> dict[str, Surface]:
    """The corners and faces of an OBJ file; textures and materials are left aside."""
    points: list[list[float]] = []
    normals: list[list[float]] = []
    groups: dict[str, list[list[tuple[int, int | None]]]] = {}
    name, faces = "", 0
    for number, line in enumerate(StringIO(_text(file), newline=None), 1):
        if max(len(points), len(normals), faces) > MOST:
            raise UserError(f"{file} has more than {MOST:,} corners or faces; simplify it")
        word, *rest = line.partition("#")[0].split() or [""]
        try:
            if word in ("v", "vn"):
                (points if word == "v" else normals).append([float(rest[i]) for i in range(3)])
            elif word in ("g", "o"):
                name = " ".join(rest)
            elif word == "f":
                corners = [_corner(text, len(points), len(normals)) for text in rest]
                fan = [[corners[0], corners[i], corners[i + 1]] for i in range(1, len(corners) - 1)]
                groups.setdefault(name, []).extend(fan)
                faces += len(fan)
        except (ValueError, IndexError) as error:
            raise UserError(f"{file}, line {number}: '{line.strip()}' cannot be read") from error
    return {group: _gathered(np.array(points), normals, fans) for group, fans in groups.items() if fans}


def _text(file: Path) -> str:
    return read_bytes(file, LARGEST, "simplify it").decode("utf-8", "replace")


def _corner(text: str, points: int, normals: int) -> tuple[int, int | None]:
    """The point of a corner and its normal, from 3, 3/1, 3//2 or 3/1/2; negative numbers count from the end."""
    numbers = text.split("/")
    normal = _index(numbers[2], normals) if len(numbers) > 2 and numbers[2] else None
    return _index(numbers[0], points), normal


def _index(text: str, count: int) -> int:
    number = int(text)
    found = number - 1 if number > 0 else count + number
    if not 0 <= found < count:
        raise ValueError(f"{number} is out of range")
    return found


def _gathered(points: np.ndarray, normals: list[list[float]], faces: list[list[tuple[int, int | None]]]) -> Surface:
    corners = [corner for face in faces for corner in face]
    where = points[[point for point, _ in corners]]
    own = flat_normals(where)
    given = np.array([own[i] if n is None else normals[n] for i, (_, n) in enumerate(corners)])
    length = np.linalg.norm(given, axis=1, keepdims=True)
    unit = np.where(length > 0, given / np.maximum(length, 1e-30), own)
    return Surface(where, unit, np.arange(len(where)).reshape(-1, 3))


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
