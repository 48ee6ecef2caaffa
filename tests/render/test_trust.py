"""Datasets from elsewhere: nothing that they say leads out of the folder that is written."""

import json
import os
import resource
import struct
import zlib
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from recombine import render_dataset
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.render import gltf, loose, mesh, obj
from recombine.render.encodings import Look
from recombine.render.folders import read_dataset
from recombine.render.png import SIGNATURE, _chunk, read_png
from recombine.render.recordings import read_note
from recombine.render.rendering import as_dataset, wanted
from recombine.store.errors import UserError
from recombine.store.key import Key

SMALL = wanted("images", "16x16", first=3)
SCENES = ClevrWorld().sample(4, Key(0))


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A dataset that somebody else has made."""
    target = tmp_path / "downloads" / "data"
    target.parent.mkdir()
    with as_dataset(SCENES, "clevr", 16, 16, "theirs") as folder:
        os.rename(folder, target)
        folder.mkdir()
    return target


def tampered(dataset: Path, **changes: Any) -> Path:
    file = dataset / "recipe.json"
    recipe = json.loads(file.read_text())
    recipe["parameters"]["dataset"] |= changes
    file.write_text(json.dumps(recipe))
    return dataset


def everything(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_foreign_dataset_is_rendered(foreign: Path, tmp_path: Path) -> None:
    render_dataset(foreign, tmp_path / "pics", SMALL)
    assert everything(tmp_path / "pics") == {
        "README.md",
        "croissant.json",
        "recipe.json", "images", "images/images-00000.parquet", "scenes", "scenes/scenes-00000.parquet"
    }  # fmt: skip


def test_a_foreign_dataset_removes_nothing(foreign: Path, tmp_path: Path) -> None:
    """Part names become folders that are emptied before they are filled."""
    documents = tmp_path / "Documents"
    documents.mkdir()
    (documents / "scenes-00000.parquet").write_bytes((foreign / "scenes" / "scenes-00000.parquet").read_bytes())
    (documents / "thesis.tex").write_text("years of work")
    before = everything(tmp_path)
    for part in ("../../../Documents", str(documents), "..", "a/../../../../Documents", "x\0y", ["train"]):
        tampered(foreign, parts=[["", 4], [part, 4]])
        with pytest.raises(UserError, match="cannot be the name of a file or a folder"):
            render_dataset(foreign, tmp_path / "pics", SMALL)
        assert everything(tmp_path) == before


def test_a_link_in_a_draft_that_was_stopped_is_not_followed(foreign: Path, tmp_path: Path) -> None:
    documents = tmp_path / "Documents"
    documents.mkdir()
    (documents / "thesis.tex").write_text("years of work")
    draft = tmp_path / ".pics.draft-0123456789abcdef"
    draft.mkdir()
    (draft / "images").symlink_to(documents)
    render_dataset(foreign, tmp_path / "pics", SMALL)
    assert everything(documents) == {"thesis.tex"}
    assert not (tmp_path / "pics" / "images").is_symlink()


@pytest.mark.parametrize(
    "names", [("a", "a"), ("", ""), ("train", "Train"), ("\ud55c", "\u1112\u1161\u11ab")], ids=ascii
)
def test_two_parts_of_one_name_are_refused(foreign: Path, tmp_path: Path, names: tuple[str, str]) -> None:
    """Also of names that some disks take for one."""
    for name in filter(None, names):
        copytree(foreign / "scenes", tmp_path / "more" / name, dirs_exist_ok=True)
    if any(names):
        copytree(tmp_path / "more", foreign / "scenes", dirs_exist_ok=True)
    tampered(foreign, parts=[[name, 4] for name in names])
    with pytest.raises(UserError, match="two parts have the same name"):
        render_dataset(foreign, tmp_path / "pics", SMALL)


@pytest.mark.parametrize(
    "changes",
    [
        {"places": 10**9},
        {"places": "many"},
        {"per_file": 10**15, "parts": [["", 10**15]]},
        {"parts": [["", 5]]},
        {"parts": [["", 10**30]]},
        {"parts": [["train", 4]]},
        {"parts": 7},
        {"parts": [[]]},
        {"width": 10**9},
        {"height": -1},
        {"first_bin": []},
        {"vocabulary": None},
        {"vocabulary": {"attributes": [{"name": "shape", "values": ["cube"] * 300, "ordered": False}]}},
        {"vocabulary": {"attributes": [{"name": "\x1b[2J", "values": ["\x1b[2J"], "ordered": False}]}},
    ],
    ids=str,
)
def test_a_dataset_that_claims_too_much_is_refused(foreign: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(UserError) as refused:
        render_dataset(tampered(foreign, **changes), tmp_path / "pics", wanted("images", first=3))
    assert "\x1b" not in str(refused.value)
    assert not (tmp_path / "pics").exists()


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "{", "[]", '{"stage": "dataset", "version": Infinity, "parameters": {}, "inputs": {}}', "\xff", ""],
    ids=lambda text: text[:20],
)
def test_a_recipe_that_cannot_be_read_is_named(foreign: Path, text: str) -> None:
    (foreign / "recipe.json").write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match=r"recipe\.json"):
        read_dataset(foreign)


def test_no_picture_is_larger_than_memory() -> None:
    with pytest.raises(UserError, match="1 to 8192 pixels a side"):
        Look(10**6, 10)


# --- bombs


def memory() -> int:
    """The most memory that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def wav(channels: int, rate: int, width: int, frames: int, data: bytes) -> bytes:
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, rate, rate, channels * width, 8 * width)
    size = frames * channels * width
    return b"RIFF" + struct.pack("<I", 36 + size) + b"WAVE" + form + b"data" + struct.pack("<I", size) + data


SOUND = wav(1, 44_100, 1, 4_096, bytes(range(128, 256)) * 32)
WAVES = {
    "rate": wav(1, 2**31, 1, 4_000_000, bytes(range(256)) * 15_625),
    "channels": wav(65_535, 44_100, 1, 61, bytes(61 * 65_535)),
    "length": wav(1, 44_100, 1, 2**24 + 1, bytes(2**24 + 1)),
    "claims": wav(1, 44_100, 4, 2**29, b""),
    "parts": SOUND[:12] + 20_000 * b"junk\0\0\0\0" + SOUND[12:],
}


@pytest.mark.parametrize("case", WAVES)
def test_a_recording_is_bounded_before_it_is_unpacked(tmp_path: Path, case: str) -> None:
    (tmp_path / "oboe_C4.wav").write_bytes(WAVES[case])
    before = memory()
    with pytest.raises(UserError, match=r"oboe_C4\.wav"):
        read_note(tmp_path / "oboe_C4.wav")
    assert memory() - before < 200e6


def picture(width: int, height: int, data: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(data, 1)), (b"IEND", b""))
    return SIGNATURE + b"".join(_chunk(*chunk) for chunk in chunks)


@pytest.mark.parametrize(("width", "height"), [(2**31, 2**31), (2**24, 1), (1, 2**24), (9_000, 10), (0, 5)])
def test_a_picture_is_bounded_before_it_is_unpacked(tmp_path: Path, width: int, height: int) -> None:
    (tmp_path / "it.png").write_bytes(picture(width, height, bytes(2**22)))
    with pytest.raises(UserError, match=r"it\.png is said to be"):
        read_png(tmp_path / "it.png")


def test_a_picture_may_be_bounded_further(tmp_path: Path) -> None:
    (tmp_path / "it.png").write_bytes(picture(40, 30, bytes(30 * 121)))
    assert read_png(tmp_path / "it.png").shape == (30, 40, 3)
    with pytest.raises(UserError, match="at most 32 a side"):
        read_png(tmp_path / "it.png", longest=32)
    (tmp_path / "it.png").write_bytes(SIGNATURE + _chunk(b"tEXt", b"") * 200_000)
    with pytest.raises(UserError, match="more than 100,000 chunks"):
        read_png(tmp_path / "it.png")


def test_a_mesh_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh, "MOST", 10)
    monkeypatch.setattr(obj, "MOST", 10)
    (tmp_path / "it.obj").write_text("v 0 0 0\n" * 20)
    with pytest.raises(UserError, match=r"it\.obj has more than 10"):
        mesh.read_groups(tmp_path / "it.obj", None)
    for line in ("element vertex 4000000000", "element face 11", "element vertex x"):
        (tmp_path / "it.ply").write_text(f"ply\nformat ascii 1.0\n{line}\nend_header\n")
        with pytest.raises(UserError, match=r"it\.ply claims"):
            mesh.read_groups(tmp_path / "it.ply", None)


def test_lines_and_names_without_end_are_no_mesh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "it.obj"
    monkeypatch.setattr(obj, "MOST_LINES", 1_000)
    file.write_text("\n" * 2_000)
    with pytest.raises(UserError, match=r"it\.obj has more than 1,000 lines"):
        obj.read_obj(file)
    monkeypatch.setattr(obj, "MOST_NAMES", 20)
    file.write_text("".join(f"g {number}\n" for number in range(900)) + "f nowhere\n")
    with pytest.raises(UserError, match=r"it\.obj, line 901"):  # the bound on names is checked at the end too
        monkeypatch.setattr(obj, "MOST_NAMES", 1_000)
        obj.read_obj(file)
    monkeypatch.setattr(obj, "MOST_NAMES", 20)
    monkeypatch.setattr(loose, "MOST_NAMES", 20)
    with pytest.raises(UserError, match=r"it\.obj has 21 groups, but 20 are allowed"):  # it is read no farther
        obj.read_obj(file)


def test_a_mesh_that_stands_everywhere_is_counted_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gltf, "MOST_PRIMITIVES", 99)
    empty = {"attributes": {"POSITION": 0}}
    whole = {
        "nodes": [{"mesh": 0}] * 10,
        "meshes": [{"primitives": [empty] * 10}],
        "accessors": [{"componentType": 5126, "count": 0, "type": "VEC3"}],
    }
    (tmp_path / "it.gltf").write_text(json.dumps(whole))
    with pytest.raises(UserError, match="it has more than 99 primitives"):
        gltf.read_gltf(tmp_path / "it.gltf")
