"""Laws of files of models: what is written is read, glTF says the same in all its ways, and nonsense is refused."""

import json
import struct
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.benchmarks.super_clevr.vehicles import vehicle
from recombine.render import gltf, model_files
from recombine.render.gltf import read_gltf
from recombine.render.instances import Instance, Look, gather
from recombine.render.kit import GLASS
from recombine.render.mesh_scene import draw_models
from recombine.render.model_files import read_model, read_models, write_obj
from recombine.render.models import Model
from recombine.render.obj import read_obj
from recombine.store.errors import UserError

CUBE = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
SIDES = np.array(
    [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
     (1, 5, 7), (1, 7, 3)]
)  # fmt: skip


def picture(model: Model) -> Any:
    """Of a vehicle on the ground."""
    height = -4.0 * float(model.points[:, 2].min())
    one = Instance(0, model.name, (0, 0, height), 40.0, 4.0, Look("red", "metal"), {"roof": Look("blue")})
    return draw_models(
        gather([[one]], [model], np.zeros((1, 3)), np.zeros((1, 3, 3))), 96, 72, ("rgb", "objects", "parts", "depth")
    )


def obj_of(*groups: str, faces: str = "") -> str:
    """A cube per group, side by side."""
    lines = []
    for i, name in enumerate(groups):
        lines += [f"g {name}"] if name else []
        lines += [f"v {x + 2 * i} {y} {z}" for x, y, z in CUBE]
        lines += [f"f {a - 8} {b - 8} {c - 8}" for a, b, c in SIDES]
    return "\n".join([*lines, faces])


# --- OBJ ------------------------------------------------------------------------------------------------------------


def test_a_vehicle_that_is_written_and_read_again_looks_the_same(tmp_path: Path) -> None:
    model = vehicle("sedan")
    write_obj(model, tmp_path / "sedan.obj")
    again = read_model(tmp_path / "sedan.obj")
    assert {*model.parts} == {*again.parts} and len(again.triangles) == len(model.triangles)
    assert ((again.part < 0) & (again.tint < 1)).sum() > 100  # windows
    one, two = picture(model), picture(again)
    number = np.array([*(again.parts.index(part) for part in model.parts), -1])
    assert (number[one.parts] == two.parts).mean() > 0.995 and (one.objects == two.objects).mean() > 0.995
    assert np.abs(one.rgb.astype(int) - two.rgb).mean() < 1  # but for tyres and seams


def test_groups_are_parts_and_glass_is_dark_body(tmp_path: Path) -> None:
    (tmp_path / "toy.obj").write_text(obj_of("body", "Left Wheel.001", "glass_front", "roof"))
    model = read_model(tmp_path / "toy.obj")
    assert model.name == "toy" and model.parts == ("left_wheel_001", "roof")
    assert model.part.tolist() == [-1] * 12 + [0] * 12 + [-1] * 12 + [1] * 12
    np.testing.assert_allclose(model.tint[24:36], GLASS)
    assert (model.tint[:24] == 1).all() and np.linalg.norm(np.ptp(model.points, axis=0)) == pytest.approx(1, abs=1e-4)
    np.testing.assert_allclose(np.abs(model.normals).max(axis=-1), 1, atol=1e-6)  # a cube has creases


def test_fans_and_counting_from_the_end(tmp_path: Path) -> None:
    file = tmp_path / "it.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 2\nf -4//1 -3//1 -2//1 -1//1\nf 1/1 2/1 3/1\n")
    found = read_obj(file)
    assert found.corners.shape == (3, 3, 3) and np.isnan(found.normals[2]).all()
    np.testing.assert_array_equal(found.normals[:2], np.broadcast_to([0, 0, 2], (2, 3, 3)))
    np.testing.assert_array_equal(found.corners[1], [(0, 0, 0), (1, 1, 0), (0, 1, 0)])


# --- glTF -----------------------------------------------------------------------------------------------------------


def padded(data: bytes, fill: bytes = b"\0") -> bytes:
    return data + fill * (-len(data) % 4)


def glb(content: dict[str, Any], binary: bytes = b"") -> bytes:
    text = padded(json.dumps(content).encode(), b" ")
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(binary), b"BIN\0") + binary if binary else b""
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def cube_file(**changes: Any) -> tuple[dict[str, Any], bytes]:
    """A cube in plain numbers."""
    points, order = CUBE.astype("<f4").tobytes(), SIDES.astype("<u2").tobytes()
    content = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "hood"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(order)},
        ],
        "buffers": [{"byteLength": len(points + order)}],
    }
    return {**content, **changes}, points + order


def written(folder: Path, content: dict[str, Any], binary: bytes, name: str = "cube.glb") -> Path:
    (folder / name).write_bytes(glb(content, binary))
    return folder / name


def corners_of(file: Path) -> np.ndarray:
    return read_gltf(file).corners


def test_y_is_up_and_z_is_ahead(tmp_path: Path) -> None:
    content, binary = cube_file()
    found = corners_of(written(tmp_path, content, binary))
    np.testing.assert_array_equal(found, CUBE[SIDES][..., [2, 0, 1]])
    assert read_gltf(tmp_path / "cube.glb").names == ("", "hood")


def test_buffers_may_lie_in_the_text_or_beside_it(tmp_path: Path) -> None:
    content, binary = cube_file()
    expected = corners_of(written(tmp_path, content, binary))
    (tmp_path / "my data.bin").write_bytes(binary)
    for uri in ("my%20data.bin", "data:application/octet-stream;base64," + b64encode(binary).decode()):
        content["buffers"] = [{"byteLength": len(binary), "uri": uri}]
        (tmp_path / "cube.gltf").write_text(json.dumps(content))
        np.testing.assert_array_equal(corners_of(tmp_path / "cube.gltf"), expected)


def test_accessors_may_be_strided_sparse_and_small(tmp_path: Path) -> None:
    content, binary = cube_file()
    expected = corners_of(written(tmp_path, content, binary))
    order = binary[96:]
    rows = np.zeros((8, 5), "<f4")
    rows[:, 1:4] = CUBE
    content["bufferViews"][0] = {"buffer": 0, "byteLength": 160, "byteStride": 20}
    content["bufferViews"][1]["byteOffset"] = 160
    content["accessors"][0]["byteOffset"] = 4
    np.testing.assert_array_equal(corners_of(written(tmp_path, content, rows.tobytes() + order)), expected)
    # All zeros, but for some.
    some = np.flatnonzero(CUBE.any(axis=1))
    places, values = padded(some.astype("u1").tobytes()), CUBE[some].astype("<f4").tobytes()
    content["bufferViews"] = [
        {"buffer": 0, "byteLength": len(places)},
        {"buffer": 0, "byteOffset": len(places), "byteLength": len(values)},
        {"buffer": 0, "byteOffset": len(places + values), "byteLength": len(order)},
    ]
    content["accessors"] = [
        {
            "componentType": 5126, "count": 8, "type": "VEC3",
            "sparse": {
                "count": len(some), "indices": {"bufferView": 0, "componentType": 5121}, "values": {"bufferView": 1},
            },
        },
        {"bufferView": 2, "componentType": 5123, "count": 36, "type": "SCALAR"},
    ]  # fmt: skip
    np.testing.assert_array_equal(corners_of(written(tmp_path, content, places + values + order)), expected)
    # Bytes that mean shares.
    content, _ = cube_file()
    small = padded(np.pad((255 * CUBE).astype("u1"), ((0, 0), (0, 1))).tobytes())
    content["accessors"][0] |= {"componentType": 5121, "normalized": True}
    content["bufferViews"] = [
        {"buffer": 0, "byteLength": len(small), "byteStride": 4},
        {"buffer": 0, "byteOffset": len(small), "byteLength": len(order)},
    ]
    np.testing.assert_array_equal(corners_of(written(tmp_path, content, small + order)), expected)


def test_nodes_move_turn_scale_and_mirror(tmp_path: Path) -> None:
    half = np.sqrt(0.5)
    content, binary = cube_file(
        nodes=[
            {"name": "car", "translation": [1, 2, 3], "children": [1, 2]},
            {"mesh": 0, "scale": [2, 1, 1], "rotation": [0, half, 0, half]},  # x to -z, z to x
            {"mesh": 0, "name": "wing", "matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]},
        ]
    )
    found = read_gltf(written(tmp_path, content, binary))
    assert found.names == ("", "car", "wing")
    x, y, z = CUBE[SIDES].transpose(2, 0, 1)
    np.testing.assert_allclose(found.corners[:12], np.stack([3 - 2 * x, 1 + z, 2 + y], axis=-1), atol=1e-6)
    mirrored = np.stack([3 + z, 6 - x, 2 + y], axis=-1)[:, ::-1]
    np.testing.assert_allclose(found.corners[12:], mirrored, atol=1e-6)
    for cube in (found.corners[:12], found.corners[12:]):  # both look outward
        one, two, three = cube.transpose(1, 0, 2)
        assert np.einsum("ti,ti->", one - cube.mean(axis=(0, 1)), np.cross(two - one, three - one)) > 0


def test_normals_turn_with_their_surface(tmp_path: Path) -> None:
    points = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0)], "<f4")
    normals = np.array([(0, 0, 1)] * 3, "<f4")
    content, _ = cube_file(nodes=[{"mesh": 0, "scale": [1, 2, -3], "rotation": [0.2, 0.4, 0.1, 0.8]}])
    content["meshes"] = [{"name": "fin", "primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1}}]}]
    content["accessors"] = [
        {"bufferView": i, "componentType": 5126, "count": 3, "type": "VEC3"} for i in range(2)
    ]  # fmt: skip
    content["bufferViews"] = [{"buffer": 0, "byteOffset": 36 * i, "byteLength": 36} for i in range(2)]
    found = read_gltf(written(tmp_path, content, points.tobytes() + normals.tobytes()))
    one, two, three = found.corners[0]
    out = np.cross(two - one, three - one)
    normal = found.normals[0, 0] / np.linalg.norm(found.normals[0, 0])
    np.testing.assert_allclose(normal, out / np.linalg.norm(out), atol=1e-6)
    assert found.names == ("", "fin")


@pytest.mark.parametrize(("mode", "faces"), [(5, [(0, 1, 2), (2, 1, 3)]), (6, [(0, 1, 2), (0, 2, 3)]), (1, [])])
def test_strips_fans_and_lines(tmp_path: Path, mode: int, faces: list[tuple[int, int, int]]) -> None:
    points = CUBE[:4].astype("<f4")
    content, _ = cube_file(
        meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "mode": mode}]}],
        accessors=[{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"}],
        bufferViews=[{"buffer": 0, "byteLength": 48}],
    )
    found = corners_of(written(tmp_path, content, points.tobytes()))
    np.testing.assert_array_equal(found, CUBE[np.array(faces, int).reshape(-1, 3)][..., [2, 0, 1]])


# --- folders --------------------------------------------------------------------------------------------------------


def test_a_folder_is_a_fleet(tmp_path: Path) -> None:
    (tmp_path / "farm").mkdir()
    for name in ("farm/Tractor Big.obj", "sled.obj"):
        (tmp_path / name).write_text(obj_of("body", "runner"))
    (tmp_path / "notes.txt").write_text("not a vehicle")
    found = read_models(tmp_path)
    assert found.categories == {"farm": ("tractor_big",), "vehicle": ("sled",)}
    assert [*found.models] == ["tractor_big", "sled"]
    assert found.digest == read_models(tmp_path).digest
    (tmp_path / "sled.obj").write_text(obj_of("body", "rope"))
    assert found.digest != read_models(tmp_path).digest


# --- bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no faces"),
        ("v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 3 4\ng a\nf 1 2 3\n", "is flat"),
        (obj_of("", ""), "has no named groups"),
        (obj_of("body", "glass"), "has no named groups"),
        (obj_of("a") + "v nan 0 0", "line 22: 'v nan 0 0' cannot be read"),
        (obj_of("a", faces="f 1 2 999"), "line 22: 'f 1 2 999' cannot be read"),
        (obj_of("a", faces="f " + "1 " * 40_000), "line 22 is longer than"),
        (obj_of("a", faces="v 1e308 0 0\nv -1e308 1 0\nv 0 1 1e300\nf -1 -2 -3"), "no vehicle is"),
        (obj_of("a" * 100), "longer than 80 characters"),
    ],
)
def test_impossible_files_are_refused_in_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "it.obj").write_text(text)
    with pytest.raises(UserError, match=sentence) as caught:
        read_model(tmp_path / "it.obj")
    assert "it.obj" in str(caught.value) and "\n" not in str(caught.value)


def test_too_many_triangles_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "it.obj").write_text(obj_of("a", "b", "c"))
    monkeypatch.setattr(model_files, "MOST_TRIANGLES", 35)
    with pytest.raises(UserError, match=r"it\.obj has 36 triangles, but 35 are allowed"):
        read_model(tmp_path / "it.obj")
    content, binary = cube_file(nodes=[{"mesh": 0}] * 9, scenes=[{"nodes": [*range(9)]}])
    file = written(tmp_path, content, binary)
    monkeypatch.setattr(gltf, "MOST", 100)
    with pytest.raises(UserError, match="more than 100 points or triangles"):
        read_gltf(file)


def wrong(**changes: Any) -> bytes:
    content, binary = cube_file()
    for path, value in changes.items():
        *way, last = path.split("__")
        record: Any = content
        for step in way:
            record = record[int(step) if step.isdigit() else step]
        record[int(last) if last.isdigit() else last] = value
    return glb(content, binary)


NAN = np.full((8, 3), np.nan, "<f4").tobytes()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"nothing", "no GLB file"),
        (glb(*cube_file())[:200], "ends within its chunk 0"),
        (wrong(extensionsRequired=["KHR_draco_mesh_compression"]), "compressed .* export it without compression"),
        (wrong(bufferViews__0__extensions={"EXT_meshopt_compression": {}}), "compressed .* export it without"),
        (wrong(accessors__0__count=9), "accessor 0 reaches beyond its buffer|reaches beyond"),
        (wrong(accessors__0__count=10**12), "not a whole number|more than"),
        (wrong(accessors__0__count=-1), "not a whole number"),
        (wrong(accessors__0__type="SCALAR"), "accessor 0 holds SCALAR"),
        (wrong(accessors__0__componentType=7), "unknown kind 7"),
        (wrong(bufferViews__0__byteStride=2), "reaches beyond"),
        (wrong(bufferViews__0__byteOffset=2**50), "not a whole number"),
        (wrong(nodes__0__mesh=4), "it has no 4 among its 1 meshes"),
        (wrong(nodes__0__children=[0]), "below two others, or below itself"),
        (wrong(nodes__0__matrix=[1, 2]), "not 16 numbers"),
        (wrong(nodes__0__scale=[1e308, 1e308, 1e308], nodes__0__translation=[1e308, 0, 0]), "no vehicle is|not finite"),
        (wrong(nodes="x"), "no list"),
        (wrong(nodes=[]), "has no 0 among its 0 nodes"),
        (wrong(meshes=[{"primitives": []}]), "has no faces"),
        (wrong(buffers__0__uri="../secret.bin"), "not beside the file"),
        (wrong(buffers__0__uri="/etc/passwd"), "not beside the file"),
        (wrong(buffers__0__uri="http://example.com/a.bin"), "not beside the file"),
        (wrong(buffers__0__uri="missing.bin"), "it is buffer 0 of"),
        (wrong(buffers__0__uri="data:;base64,%%%"), "not in base64"),
        (glb(cube_file()[0], NAN + cube_file()[1][96:]), "accessor 0, the points of primitive 0 of mesh 0, has a num"),
        (glb({"asset": json.loads("[" * 90 + "]" * 90), "nodes": {}}), "no list"),
    ],
)
def test_nonsense_in_gltf_is_refused_in_one_sentence(tmp_path: Path, data: bytes, sentence: str) -> None:
    (tmp_path / "it.glb").write_bytes(data)
    with pytest.raises(UserError, match=sentence) as caught:
        read_model(tmp_path / "it.glb")
    assert "it.glb" in str(caught.value) and "\n" not in str(caught.value)


def test_deep_json_is_refused(tmp_path: Path) -> None:
    (tmp_path / "it.gltf").write_text("[" * 100_000)
    with pytest.raises(UserError, match=r"it\.gltf"):
        read_model(tmp_path / "it.gltf")


def test_nothing_outside_a_folder_of_vehicles_is_read(tmp_path: Path) -> None:
    (tmp_path / "fleet").mkdir()
    write_obj(vehicle("sedan"), tmp_path / "sedan.obj")
    (tmp_path / "fleet" / "sedan.obj").symlink_to(tmp_path / "sedan.obj")
    with pytest.raises(UserError, match="leads out of"):
        read_models(tmp_path / "fleet")
    content, binary = cube_file()
    (tmp_path / "elsewhere").write_bytes(binary)
    (tmp_path / "fleet" / "x.bin").symlink_to(tmp_path / "elsewhere")
    content["buffers"] = [{"byteLength": len(binary), "uri": "x.bin"}]
    (tmp_path / "fleet" / "bus.gltf").write_text(json.dumps(content))
    with pytest.raises(UserError, match="leads out of"):
        read_gltf(tmp_path / "fleet" / "bus.gltf")


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ([], "holds no vehicles"),
        (["a/x.obj", "b/x.obj"], "two vehicles called 'x'"),
        (["x/x.obj"], "a vehicle and a category"),
        (["dr\u00e4isine.obj"], "is no name for a file"),
    ],
)
def test_folders_that_are_no_fleet_are_refused(tmp_path: Path, files: list[str], sentence: str) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(obj_of("body", "wheel"))
    with pytest.raises(UserError, match=sentence):
        read_models(tmp_path)
    with pytest.raises(UserError, match="there is no folder"):
        read_models(tmp_path / "nowhere")
