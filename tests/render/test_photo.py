"""Photos: the same scenes as the ray tracer's, seen by the same camera, with the same ids."""

import sys
from pathlib import Path

import numpy as np
import pytest

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.render.lamps import KEY
from recombine.render.mesh import Mesh
from recombine.render.photo import load_mitsuba, photograph
from recombine.render.primitives import KINDS, Part, Primitives, assemble
from recombine.render.raytrace import NOTHING, Pictures, raytrace
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.camera import FORWARD, POSITION, Camera

pytest.importorskip("mitsuba", reason="photos need Mitsuba: pip install 'recombine[photo]'")

WIDTH, HEIGHT = 64, 48
IDS = ("objects", "parts", "depth", "normals")
ALL = ("rgb", *IDS)

TETRAHEDRON = """
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
g floor
f 1 3 2
g walls
f 1 2 4
f -4 -1 -2
f 2 3 4
"""

PLY = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 0 1
3 0 1 2
"""


def staged(*parts: Part) -> Primitives:
    """One scene without jitter."""
    return assemble([parts], np.zeros((1, 3)), np.zeros((1, 3, 3)))


def likely(pictures: Pictures) -> np.ndarray:
    assert pictures.rgb is not None
    return pictures.rgb.astype(float)


def agreement(one: Pictures, other: Pictures, layer: str) -> float:
    return float((getattr(one, layer) == getattr(other, layer)).mean())


# --- beside the ray tracer ------------------------------------------------------------------------------------------


def test_photos_show_what_the_ray_tracer_shows() -> None:
    scenes = ClevrWorld().sample(3, Key(5))
    fast, photo = raytrace(scenes, WIDTH, HEIGHT, ALL), photograph(scenes, WIDTH, HEIGHT, ALL)
    assert agreement(fast, photo, "objects") > 0.995
    assert agreement(fast, photo, "parts") == 1
    assert abs(likely(fast).mean() - likely(photo).mean()) < 4
    assert np.abs(likely(fast) - likely(photo)).mean() < 6
    same = fast.objects == photo.objects
    assert fast.depth is not None and photo.depth is not None and fast.normals is not None
    np.testing.assert_allclose(photo.depth[same], fast.depth[same], atol=0.1)
    assert (np.abs(photo.normals - fast.normals)[same] < 0.2).mean() > 0.99


def test_every_kind_of_primitive_is_where_the_ray_tracer_sees_it() -> None:
    turn = ((0.6, -0.8, 0.0), (0.48, 0.36, -0.8), (0.64, 0.48, 0.6))
    for kind in KINDS:
        scale = {"torus": (1.0, 1.0, 0.3), "disc": (1.0, 0.7, 0.0), "capsule": (0.4, 0.4, 1.0)}.get(
            kind, (1.0, 0.7, 0.8)
        )
        scene = staged(Part(kind, (0.0, 0.0, 1.2), scale, rotation=turn, part=3))
        fast, photo = raytrace(scene, WIDTH, HEIGHT, IDS), photograph(scene, WIDTH, HEIGHT, IDS)
        assert agreement(fast, photo, "objects") > 0.995, kind
        assert agreement(fast, photo, "parts") > 0.995, kind
        assert (fast.objects == 0).any(), kind
        same = fast.objects == photo.objects
        assert np.median(np.abs(photo.normals - fast.normals)[same]) < 0.01, kind


@pytest.mark.parametrize(
    ("texture", "material"),
    [("striped", "rubber"), ("checkered", "rubber"), ("dotted", "rubber"), ("striped", "metal")],
)
def test_textures_lie_where_the_ray_tracer_lays_them(texture: str, material: str) -> None:
    part = Part("box", (0.0, 0.0, 1.5), (1.5, 1.5, 1.5), "yellow", material, texture, grain=0.8)
    fast, photo, plain = (
        likely(draw(staged(one), WIDTH, HEIGHT, ("rgb",)))
        for draw, one in ((raytrace, part), (photograph, part), (raytrace, part._replace(texture="none")))
    )
    darker = np.abs(plain - fast).mean(axis=(0, -1)) > 15
    assert darker.sum() > 50
    assert np.abs(photo - fast)[0][darker].mean() < 0.5 * np.abs(photo - plain)[0][darker].mean()


def test_the_same_scene_is_the_same_photo_in_any_batch() -> None:
    scenes = ClevrWorld().sample(3, Key(6))
    together, alone = photograph(scenes, 32, 24, ALL, 2), photograph(scenes[1:2], 32, 24, ALL, 2)
    for layer in ALL:
        np.testing.assert_array_equal(getattr(together, layer)[1:2], getattr(alone, layer))


def test_only_what_is_wanted_is_made_in_the_types_of_the_ray_tracer() -> None:
    scene = staged(Part("sphere", (0.0, 0.0, 1.0), (1.0, 1.0, 1.0)))
    fast, photo = raytrace(scene, 16, 12, ALL), photograph(scene, 16, 12, ALL, 1)
    for layer in ALL:
        assert getattr(photo, layer).dtype == getattr(fast, layer).dtype
        assert getattr(photo, layer).shape == getattr(fast, layer).shape
    only = photograph(scene, 16, 12, ("depth",))
    assert only.rgb is None and only.objects is None and only.depth is not None


def test_an_empty_scene_is_the_bare_ground() -> None:
    fast, photo = raytrace(staged(), 32, 24, ALL), photograph(staged(), 32, 24, ALL)
    assert photo.objects is not None and fast.depth is not None
    assert (photo.objects == NOTHING).all()
    np.testing.assert_allclose(photo.depth, fast.depth, rtol=1e-5)
    assert np.abs(likely(fast) - likely(photo)).mean() < 6


def test_a_lamp_before_the_camera_is_not_seen() -> None:
    camera = Camera(WIDTH, HEIGHT)
    view = camera.view(np.zeros(3))
    lamps = np.zeros((1, 3, 3))
    lamps[0, 0] = view[POSITION] + 2 * view[FORWARD] - KEY.position
    scene = assemble([[Part("sphere", (0.0, 0.0, 1.0), (1.0, 1.0, 1.0))]], np.zeros((1, 3)), lamps)
    fast, photo = raytrace(scene, WIDTH, HEIGHT, ALL), photograph(scene, WIDTH, HEIGHT, ALL)
    assert agreement(fast, photo, "objects") > 0.995
    assert np.abs(likely(fast) - likely(photo)).mean() < 8


def test_a_disc_faces_the_eye_on_either_side() -> None:
    for up in (1.0, -1.0):
        turned = ((1.0, 0.0, 0.0), (0.0, up, 0.0), (0.0, 0.0, up))
        scene = staged(Part("disc", (0.0, 0.0, 1.0), (1.5, 1.5, 0.0), "yellow", rotation=turned))
        fast, photo = raytrace(scene, WIDTH, HEIGHT, ALL), photograph(scene, WIDTH, HEIGHT, ALL)
        assert photo.normals is not None and photo.objects is not None
        np.testing.assert_allclose(photo.normals[photo.objects == 0], fast.normals[photo.objects == 0], atol=1e-5)
        assert np.abs(likely(fast) - likely(photo))[photo.objects == 0].mean() < 15


# --- meshes of one's own --------------------------------------------------------------------------------------------


def test_groups_of_a_mesh_are_its_parts(tmp_path: Path) -> None:
    file = tmp_path / "own.obj"
    file.write_text(TETRAHEDRON)
    scene = staged(Part("sphere", (-2.0, 0.0, 0.5), (0.5, 0.5, 0.5)))
    mesh = Mesh(file, object=1, position=(0.0, -0.5, 0.1), size=2.0, color="red", paint={"floor": "green"})
    shown = photograph(scene, WIDTH, HEIGHT, ALL, meshes=[[mesh]])
    assert shown.objects is not None and shown.parts is not None
    assert set(np.unique(shown.objects)) == {NOTHING, 0, 1}
    assert set(np.unique(shown.parts[shown.objects == 1])) == {1}  # the floor lies below
    red, green, _ = likely(shown)[shown.objects == 1].mean(axis=0)
    assert red > 1.5 * green


def test_a_ply_is_one_thing_without_parts(tmp_path: Path) -> None:
    file = tmp_path / "own.ply"
    file.write_text(PLY)
    shown = photograph(staged(), WIDTH, HEIGHT, IDS, meshes=[[Mesh(file, 0, size=3.0, turn=30.0, material="metal")]])
    assert shown.objects is not None and shown.parts is not None
    assert (shown.objects == 0).sum() > 20
    assert (shown.parts == NOTHING).all()


def test_a_mesh_of_a_primitive_is_seen_as_the_primitive_is(tmp_path: Path) -> None:
    """A wedge written as OBJ with a ramp of four corners."""
    file = tmp_path / "wedge.obj"
    corners = "v -1 -1 -1\nv -1 1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 -1 1\nv -1 1 1\n"
    file.write_text(corners + "f 1 2 4 3\nf 1 5 6 2\nf 3/7 4/8 6/9 5/1 # the ramp\nf 1 3 5\nf 2 6 4\n")
    mesh = Mesh(str(file), 0, position=(0.0, 0.0, 1.0), turn=0.0)
    own = photograph(staged(), WIDTH, HEIGHT, ALL, meshes=[[mesh]])
    wedge = photograph(staged(Part("wedge", (0.0, 0.0, 1.0), (1.0, 1.0, 1.0))), WIDTH, HEIGHT, ALL)
    for layer in ("objects", "parts"):
        np.testing.assert_array_equal(getattr(own, layer), getattr(wedge, layer))
    np.testing.assert_allclose(own.normals, wedge.normals, atol=1e-5)
    assert np.abs(likely(own) - likely(wedge)).mean() < 2


# --- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("own.obj", "v 0 0 0\nf 1 2 3\n", r"line 2: 'f 1 2 3' cannot be read"),
        ("own.obj", "v 0 x 0\n", r"line 1: 'v 0 x 0' cannot be read"),
        ("own.obj", "v 0 0 0\n", "has no faces"),
        ("own.obj", "", "has no faces"),
        ("own.ply", "nonsense", "is no PLY file that can be read"),
        ("own.fbx", "", r"convert it to \.obj, \.gltf, \.glb or \.ply"),
        ("own.glb", "", "is no GLB file"),
    ],
)
def test_meshes_that_cannot_be_read_say_where(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=said):
        photograph(staged(), 16, 12, meshes=[[Mesh(tmp_path / name, 0)]])


def test_meshes_that_cannot_be_placed_say_why(tmp_path: Path) -> None:
    file = tmp_path / "own.obj"
    file.write_text(TETRAHEDRON)
    for mesh, said in (
        (Mesh(file, 0, size=0.0), "choose a positive one"),
        (Mesh(file, 0, size=1e6), "choose a smaller size"),
        (Mesh(file, 0, position=(20.0, -20.0, 10.0)), "is behind the camera"),
        (Mesh(file, -1), "objects count from 0"),
        (Mesh(file, 0, color="pink"), "'pink' is not a color"),
        (Mesh(file, 0, material="wood"), "'wood' is not a material"),
        (Mesh(file, 0, paint={"roof": "red"}), "has no group 'roof' to paint; it has floor, walls"),
        (Mesh(tmp_path / "other.obj", 0), "there is no mesh"),
    ):
        with pytest.raises(UserError, match=said):
            photograph(staged(), 16, 12, meshes=[[mesh]])
    with pytest.raises(UserError, match="meshes for 2 scenes, but there are 1"):
        photograph(staged(), 16, 12, meshes=[[], []])


def test_what_cannot_be_photographed_is_said() -> None:
    for arguments, said in (
        ((WIDTH, HEIGHT, ("heat",)), "a picture has no heat"),
        ((WIDTH, HEIGHT, ()), "a picture of nothing"),
        ((0, HEIGHT), "1 to 8192 pixels"),
        ((WIDTH, HEIGHT, ("rgb",), 0), "at least 1 sample"),
    ):
        with pytest.raises(UserError, match=said):
            photograph(staged(), *arguments)  # type: ignore[arg-type]


def test_without_mitsuba_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    load_mitsuba.cache_clear()
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(UserError, match=r"needs Mitsuba: pip install 'recombine\[photo\]'"):
        photograph(staged(), WIDTH, HEIGHT)
