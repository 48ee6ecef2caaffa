"""glTF files, as text with buffers beside it (.gltf) or in one piece (.glb): meshes in a tree of nodes.

The name of a triangle's group is that of the nearest named node above it, or that of its mesh. Nodes move, turn and
scale what is below them. What a file says is taken at its rest: skins, poses, materials and textures are left aside.
glTF has y up and the front toward z; here z is up and the front looks along x.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from recombine.render.loose import LARGEST, MOST, Loose, check_names, too_many
from recombine.store.errors import UserError
from recombine.store.paths import inside
from recombine.store.untrusted import parse_json, read_bytes

MOST_NODES = MOST_PRIMITIVES = 20_000
MOST_ENTRIES = 16 * MOST
"""Of all accessors that are read, each as often as it is read."""
LARGEST_TEXT = 64 * 2**20
COMPRESSED = ("KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression")
NUMBERS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
TRIANGLES, STRIP, FAN = 4, 5, 6
AXES = np.array([(0, 0, 1), (1, 0, 0), (0, 1, 0)], np.float64)
"""Ahead is z, the left is x, up is y."""


def read_gltf(file: Path) -> Loose:
    """The triangles of a glTF file."""
    whole = read_bytes(file, LARGEST, "simplify it")
    text, binary = _chunks(file, whole) if file.suffix.lower() == ".glb" else (whole, None)
    if len(text) > LARGEST_TEXT:
        raise UserError(f"{file} has more than {LARGEST_TEXT / 1e6:,.0f} MB of text; keep its buffers apart")
    found = _Reader(file, parse_json(text, str(file), dict), binary, {}, {"entries": 0, "bytes": 0, "primitives": 0})
    try:
        return found.triangles()
    except _Wrong as wrong:
        raise UserError(f"{file} cannot be read: {wrong}") from None
    except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise UserError(f"{file} cannot be read: it is no glTF file ({type(error).__name__}: {error})") from None


class _Wrong(Exception):
    """What is wrong with a record of a file."""


def _chunks(file: Path, whole: bytes) -> tuple[bytes, bytes | None]:
    """The text of a GLB file, and its buffer."""
    if whole[:4] != b"glTF" or len(whole) < 20 or int.from_bytes(whole[4:8], "little") != 2:
        raise UserError(f"{file} cannot be read: it is no GLB file of version 2")
    found: list[tuple[bytes, bytes]] = []
    at = 12
    while at + 8 <= len(whole) and len(found) < 2:
        size = int.from_bytes(whole[at : at + 4], "little")
        if at + 8 + size > len(whole):
            raise UserError(f"{file} cannot be read: it ends within its chunk {len(found)}")
        found.append((whole[at + 4 : at + 8], whole[at + 8 : at + 8 + size]))
        at += 8 + size
    if not found or found[0][0] != b"JSON":
        raise UserError(f"{file} cannot be read: its first chunk is no JSON")
    return found[0][1], next((chunk for kind, chunk in found[1:] if kind == b"BIN\0"), None)


@dataclass(frozen=True, eq=False)
class _Reader:
    """A file, and what its records mean."""

    file: Path
    content: dict[str, Any]
    binary: bytes | None
    buffers: dict[Any, bytes]
    """Those that have been read."""
    spent: dict[str, int]
    """How many entries of accessors, bytes of buffers, and primitives."""

    def triangles(self) -> Loose:
        """All triangles below the roots."""
        if packed := [name for name in self._list_of(self.content, "extensionsRequired") if name in COMPRESSED]:
            raise _Wrong(f"it is compressed ({packed[0]}); export it without compression")
        corners, normals, group, names, total = [np.zeros((0, 3, 3))], [np.zeros((0, 3, 3))], [], {"": 0}, 0
        for node, matrix, name in self._nodes():
            if "mesh" not in node:
                continue
            mesh = self._record("meshes", node["mesh"])
            name = name or str(mesh.get("name", "")).strip()
            for number, primitive in enumerate(self._list_of(mesh, "primitives")):
                where = f"primitive {number} of mesh {node['mesh']}"
                self.spent["primitives"] += 1  # of a mesh as often as it stands somewhere
                if self.spent["primitives"] > MOST_PRIMITIVES:
                    raise _Wrong(f"it has more than {MOST_PRIMITIVES:,} primitives")
                points, turned = self._primitive(primitive, where)
                total += len(points)
                if total > MOST:
                    raise too_many(self.file, MOST)
                points, turned = _moved(points, turned, AXES @ matrix[:3, :3], AXES @ matrix[:3, 3])
                if not np.isfinite(points).all():
                    raise _Wrong(f"{where} has a point that is not finite")
                corners.append(points)
                normals.append(turned)
                group.append(np.full(len(points), names.setdefault(name, len(names))))
        check_names(self.file, tuple(names))
        return Loose(
            np.concatenate(corners), np.concatenate(normals), np.concatenate([np.zeros(0, np.int64), *group]), (*names,)
        )

    # --- records ------------------------------------------------------------------------------------------------

    def _list_of(self, record: dict[str, Any], name: str) -> list[Any]:
        found = record.get(name, [])
        if not isinstance(found, list):
            raise _Wrong(f"'{name}' is no list")
        return found

    def _record(self, kind: str, number: Any) -> dict[str, Any]:
        """A record of a kind, by its number."""
        known = self._list_of(self.content, kind)
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(known):
            raise _Wrong(f"it has no {number!r} among its {len(known)} {kind}")
        if not isinstance(known[number], dict):
            raise _Wrong(f"number {number} of its {kind} is no record")
        return dict(known[number])

    def _nodes(self) -> Iterator[tuple[dict[str, Any], np.ndarray, str]]:
        """All nodes below the roots, each with its place in the world and the nearest name above its mesh."""
        nodes = self._list_of(self.content, "nodes")
        if self._list_of(self.content, "scenes"):
            roots = self._list_of(self._record("scenes", self.content.get("scene", 0)), "nodes")
        else:
            below = {child for node in nodes for child in self._list_of(node, "children")}
            roots = [number for number in range(len(nodes)) if number not in below]
        seen: set[int] = set()
        waiting = [(number, np.eye(4), "") for number in reversed(roots)]
        while waiting:
            number, above, name = waiting.pop()
            node = self._record("nodes", number)
            if number in seen:
                raise _Wrong(f"node {number} is below two others, or below itself")
            seen.add(number)
            if len(seen) > MOST_NODES:
                raise _Wrong(f"it has more than {MOST_NODES:,} nodes")
            matrix, name = above @ _matrix(node, number), str(node.get("name", "")).strip() or name
            yield node, matrix, name
            waiting += [(child, matrix, name) for child in reversed(self._list_of(node, "children"))]

    def _primitive(self, primitive: dict[str, Any], where: str) -> tuple[np.ndarray, np.ndarray]:
        """The corners of its triangles, and their normals."""
        attributes, mode = primitive["attributes"], primitive.get("mode", TRIANGLES)
        if mode not in (TRIANGLES, STRIP, FAN) or "POSITION" not in attributes:
            return np.zeros((0, 3, 3)), np.zeros((0, 3, 3))
        if "KHR_draco_mesh_compression" in primitive.get("extensions", {}) and "bufferView" not in self._record(
            "accessors", attributes["POSITION"]
        ):
            raise _Wrong(f"{where} is compressed (KHR_draco_mesh_compression); export it without compression")
        points = self._accessor(attributes["POSITION"], 3)
        if not np.isfinite(points).all():
            raise _Wrong(f"accessor {attributes['POSITION']}, the points of {where}, has a number that is not finite")
        order = np.arange(len(points))
        if "indices" in primitive:
            order = self._accessor(primitive["indices"], 1)[:, 0].astype(np.int64)
        if len(order) and (order.min() < 0 or order.max() >= len(points)):
            raise _Wrong(f"accessor {primitive['indices']} of {where} names points beyond its {len(points):,}")
        faces = _faces(order, mode)
        normals = np.full(points.shape, np.nan)
        if "NORMAL" in attributes:
            normals = self._accessor(attributes["NORMAL"], 3)
            if len(normals) != len(points):
                raise _Wrong(f"{where} has {len(points):,} points, but {len(normals):,} normals")
        return points[faces], normals[faces]

    # --- numbers ------------------------------------------------------------------------------------------------

    def _accessor(self, number: Any, width: int) -> np.ndarray:
        """The numbers of an accessor, float64[n, width]."""
        record = self._record("accessors", number)
        if WIDTHS.get(record["type"]) != width:
            raise _Wrong(f"accessor {number} holds {record['type']}, where {width} numbers each are needed")
        count = _whole(record["count"], f"the count of accessor {number}")
        self.spent["entries"] += count
        if count > 3 * MOST or self.spent["entries"] > MOST_ENTRIES:
            raise too_many(self.file, MOST)
        found = np.zeros((count, width))
        if "bufferView" in record:
            found = self._numbers(record, count, width, f"accessor {number}")
        if "sparse" in record:
            sparse = record["sparse"]
            many = _whole(sparse["count"], f"the sparse count of accessor {number}")
            if many > count:
                raise _Wrong(f"accessor {number} has {many:,} sparse numbers, more than its {count:,}")
            where = f"the sparse part of accessor {number}"
            places = self._numbers(sparse["indices"], many, 1, where)[:, 0].astype(np.int64)
            if len(places) and (places.min() < 0 or places.max() >= count):
                raise _Wrong(f"{where} lies beyond its {count:,} entries")
            found[places] = self._numbers({**record, **sparse["values"]}, many, width, where)
        kind = NUMBERS[record["componentType"]]
        if record.get("normalized") and kind != "<f4":
            found = np.maximum(found / np.iinfo(kind).max, -1.0)
        return found

    def _numbers(self, record: dict[str, Any], count: int, width: int, where: str) -> np.ndarray:
        """Numbers that lie in a view of a buffer, one row after the other or with gaps between."""
        if record["componentType"] not in NUMBERS:
            raise _Wrong(f"{where} holds numbers of the unknown kind {record['componentType']}")
        kind, view = np.dtype(NUMBERS[record["componentType"]]), self._record("bufferViews", record["bufferView"])
        if packed := [name for name in view.get("extensions", {}) if name in COMPRESSED]:
            raise _Wrong(f"{where} is compressed ({packed[0]}); export it without compression")
        buffer, row = self._buffer(view["buffer"]), kind.itemsize * width
        start = _whole(view.get("byteOffset", 0), f"the offset of {where}")
        stop = start + _whole(view["byteLength"], f"the length of {where}")
        start += _whole(record.get("byteOffset", 0), f"the offset of {where}")
        stride = _whole(view.get("byteStride", row), f"the stride of {where}") or row
        if count == 0:
            return np.zeros((0, width))
        if stride < row or start + stride * (count - 1) + row > min(stop, len(buffer)):
            raise _Wrong(f"{where} reaches beyond its buffer of {len(buffer):,} bytes")
        raw = np.ndarray((count, width), kind, buffer, start, (stride, kind.itemsize))
        return raw.astype(np.float64)

    def _buffer(self, number: Any) -> bytes:
        if number not in self.buffers:
            self.buffers[number] = self._load(self._record("buffers", number), number)
            self.spent["bytes"] += len(self.buffers[number])
            if self.spent["bytes"] > 2 * LARGEST:
                raise _Wrong(f"its buffers are larger than the {2 * LARGEST / 1e6:,.0f} MB allowed")
        return self.buffers[number]

    def _load(self, buffer: dict[str, Any], number: int) -> bytes:
        """The bytes of a buffer: of the same file, in its text, or of a file beside it."""
        uri = buffer.get("uri")
        if uri is None:
            if number != 0 or self.binary is None:
                raise _Wrong(f"buffer {number} is nowhere")
            return self.binary
        if not isinstance(uri, str):
            raise _Wrong(f"the address of buffer {number} is no text")
        if uri.startswith("data:"):
            try:
                return b64decode(uri.partition(",")[2], validate=True)
            except Base64Error:
                raise _Wrong(f"buffer {number} is not in base64") from None
        name = unquote(uri)
        if Path(name).is_absolute() or ".." in Path(name).parts or ":" in name or "\\" in name:
            raise _Wrong(f"buffer {number} lies at '{name[:80]}', not beside the file")
        return read_bytes(
            inside(self.file.parent, self.file.parent / name), LARGEST, f"it is buffer {number} of {self.file}"
        )


def _whole(number: Any, what: str) -> int:
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 2**40:
        raise _Wrong(f"{what} is {str(number)[:40]}, not a whole number from 0 on")
    return number


def _matrix(node: dict[str, Any], number: int) -> np.ndarray:
    """Where a node puts what is below it, float64[4, 4]."""
    if "matrix" in node:
        matrix = np.array(node["matrix"], np.float64)
        if matrix.shape != (16,):
            raise _Wrong(f"the matrix of node {number} has not 16 numbers")
        return matrix.reshape(4, 4).T
    move, turn, scale = (
        np.array(node.get(name, default), np.float64)
        for name, default in (("translation", (0, 0, 0)), ("rotation", (0, 0, 0, 1)), ("scale", (1, 1, 1)))
    )
    if (move.shape, turn.shape, scale.shape) != ((3,), (4,), (3,)):
        raise _Wrong(f"node {number} is moved, turned or scaled by too few or too many numbers")
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = _turned(turn) * scale, move
    return matrix


def _turned(quaternion: np.ndarray) -> np.ndarray:
    """The turn that a quaternion x, y, z, w means."""
    x, y, z, w = quaternion / max(float(np.linalg.norm(quaternion)), 1e-30)
    return np.array([
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    ])  # fmt: skip


def _moved(
    corners: np.ndarray, normals: np.ndarray, turn: np.ndarray, move: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Triangles elsewhere; in a mirror their corners go round the other way."""
    with np.errstate(over="ignore", invalid="ignore"):
        corners = corners @ turn.T + move
        # The cofactors of the matrix turn normals, also where it is flat.
        aside = np.stack([np.cross(turn[1], turn[2]), np.cross(turn[2], turn[0]), np.cross(turn[0], turn[1])])
        normals, mirrored = normals @ aside.T, float(np.linalg.det(turn)) < 0
    return (corners[:, ::-1], -normals[:, ::-1]) if mirrored else (corners, normals)


def _faces(order: np.ndarray, mode: int) -> np.ndarray:
    """The corners of triangles, int64[t, 3]."""
    if mode == TRIANGLES:
        return order[: len(order) // 3 * 3].reshape(-1, 3)
    if len(order) < 3:
        return np.zeros((0, 3), np.int64)
    if mode == FAN:
        return np.stack([np.full(len(order) - 2, order[0]), order[1:-1], order[2:]], axis=1)
    strip = np.stack([order[:-2], order[1:-1], order[2:]], axis=1)
    strip[1::2] = strip[1::2][:, [1, 0, 2]]
    return strip
