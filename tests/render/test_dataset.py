"""Laws of datasets with pixels: the same bytes for any number of workers, whole files or none, read by others."""

import errno
import io
import json
import os
import sys
import tarfile
import wave
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.curi.world import CuriWorld
from recombine.render import encodings
from recombine.render.dataset import RenderScenes, Source, cost
from recombine.render.encodings import Form, Images, Look, Samples, Sounds
from recombine.render.masks import decode
from recombine.render.photo import load_mitsuba
from recombine.render.png import decoded
from recombine.render.raytrace import raytrace
from recombine.render.sound import SCENE, Voicing, sounds
from recombine.render.wave import from_wav
from recombine.store.engine import Processes
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.world.columns import to_table
from recombine.world.distribution import World
from recombine.world.scenes import Scenes
from recombine.world.shards import MakeScenes

RECIPE = Recipe("test", 1, {}, {})
COUNT, PER_SCENE_FILE, PER_FILE = 8, 5, 3
"""Files of pictures do not end where files of scenes end."""
IMAGES, SOUNDS = Images(Look(48, 32)), Sounds(first_bin=1)
FORMS: dict[str, Form] = {"images": IMAGES, "sounds": SOUNDS, "webdataset": Samples(IMAGES, SOUNDS)}


def made(folder: Path, world: World) -> Source:
    """A few scenes in two files."""
    make = MakeScenes(str(folder), world, COUNT, PER_SCENE_FILE, Key(7), RECIPE)
    for shard in (0, 1):
        make(shard)
    return Source(str(folder), world.vocabulary, world.high, COUNT, PER_SCENE_FILE)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return made(tmp_path_factory.mktemp("scenes"), CuriWorld())


def job(folder: Path, source: Source, form: Form) -> RenderScenes:
    return RenderScenes(str(folder), source, form, COUNT, PER_FILE, RECIPE)


def rendered(folder: Path, source: Source, form: Form) -> RenderScenes:
    work = job(folder, source, form)
    for number in range(work.files):
        work(number)
    return work


def folders(parent: Path, *names: str) -> list[Path]:
    for name in names:
        (parent / name).mkdir()
    return [parent / name for name in names]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


# --- what is in the files -------------------------------------------------------------------------------------------


def test_scenes_are_read_across_files(source: Source) -> None:
    whole = source.read(0, COUNT)
    for low, high in ((0, 8), (0, 5), (3, 6), (5, 8), (7, 8)):
        assert to_table(source.read(low, high), low).equals(to_table(whole[low:high], low))


def test_images_are_those_of_the_ray_tracer(source: Source, tmp_path: Path) -> None:
    rendered(tmp_path, source, IMAGES)
    table = pd.read_parquet(tmp_path)
    scenes = source.read(0, COUNT)
    pictures = raytrace(scenes, 48, 32, ("rgb", "objects"))
    assert pictures.rgb is not None and pictures.objects is not None
    assert table["scene"].tolist() == list(range(COUNT))
    for row in table.itertuples():
        np.testing.assert_array_equal(decoded(row.image["bytes"]), pictures.rgb[row.scene])
        assert row.image["path"] == f"{row.scene:07}.png"
        assert len(row.boxes) == len(row.visible) == len(row.masks) == scenes.count[row.scene]
        for place, (box, visible, lengths) in enumerate(zip(row.boxes, row.visible, row.masks)):
            mask = decode(lengths, 48, 32)
            np.testing.assert_array_equal(mask, pictures.objects[row.scene] == place)
            left, top, width, height = box
            assert mask.sum() == mask[top : top + height, left : left + width].sum() == visible


def test_sounds_are_those_of_the_scenes(source: Source, tmp_path: Path) -> None:
    rendered(tmp_path, source, SOUNDS)
    table = pd.read_parquet(tmp_path)
    heard = sounds(source.read(0, COUNT), Voicing(1))
    for row in table.itertuples():
        np.testing.assert_array_equal(from_wav(row.sound["bytes"], "sound").samples[:, 0], heard[row.scene])
        assert row.sound["path"] == f"{row.scene:07}.wav"


def test_hugging_face_is_told_the_types(source: Source, tmp_path: Path) -> None:
    for name, special in (("images", {"_type": "Image"}), ("sounds", {"sampling_rate": 44_100, "_type": "Audio"})):
        folder = tmp_path / name
        folder.mkdir()
        work = rendered(folder, source, FORMS[name])
        schema = pq.read_schema(work.file(0))
        features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
        assert list(features) == schema.names
        assert features[name.removesuffix("s")] == special
        assert schema.metadata[b"recombine.recipe"].decode() == RECIPE.canonical()


def test_a_tar_holds_a_picture_a_sound_and_the_words_of_every_scene(source: Source, tmp_path: Path) -> None:
    work = rendered(tmp_path, source, FORMS["webdataset"])
    rows = to_table(source.read(0, COUNT)).to_pylist()
    found: dict[str, bytes] = {}
    for number in range(work.files):
        with tarfile.open(work.file(number)) as tar:
            members = tar.getmembers()
            assert {(m.mtime, m.uid, m.gid, m.uname, m.gname, m.mode) for m in members} == {(0, 0, 0, "", "", 0o644)}
            for member in members:
                content = tar.extractfile(member)
                assert content is not None
                found[member.name] = content.read()
    assert list(found) == [f"{scene:07}.{suffix}" for scene in range(COUNT) for suffix in ("png", "wav", "json")]
    for scene in range(COUNT):
        words = json.loads(found[f"{scene:07}.json"])
        assert {name: words[name] for name in rows[scene]} == rows[scene]
        assert len(words["masks"]) == len(words["boxes"]) == words["count"]
        assert decoded(found[f"{scene:07}.png"]).shape == (words["height"], words["width"], 3)
        with wave.open(io.BytesIO(found[f"{scene:07}.wav"])) as sound:
            assert sound.getnframes() == SCENE


def test_scenes_without_sound_have_tars_too(tmp_path: Path) -> None:
    (tmp_path / "scenes").mkdir()
    source = made(tmp_path / "scenes", ClevrWorld(low=3, high=4))
    work = rendered(tmp_path, source, Samples(IMAGES, None))
    with tarfile.open(work.file(0)) as tar:
        assert tar.getnames()[:2] == ["0000000.png", "0000000.json"]
        content = tar.extractfile("0000000.json")
        assert content is not None and np.shape(json.load(content)["lamps"]) == (9,)


# --- bytes ----------------------------------------------------------------------------------------------------------


def test_the_same_bytes_for_one_worker_and_for_two(source: Source, tmp_path: Path) -> None:
    with Processes(2) as engine:
        for name, form in FORMS.items():
            one, two = folders(tmp_path, f"{name}-1", f"{name}-2")
            rendered(one, source, form)
            engine.map(job(two, source, form), range(3), name)
            assert contents(one) == contents(two)
            assert len(contents(one)) == 3


def test_the_same_pixels_in_any_batch(source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = folders(tmp_path, "one", "two")
    rendered(one, source, IMAGES)
    monkeypatch.setattr(encodings, "PIXELS", 1)
    rendered(two, source, IMAGES)
    assert pq.read_table(one).equals(pq.read_table(two))
    assert pq.ParquetFile(two / "images-00000.parquet").num_row_groups == PER_FILE


# --- stopped --------------------------------------------------------------------------------------------------------


def stop_in(monkeypatch: pytest.MonkeyPatch, form: type[Images], batches: int, error: BaseException) -> None:
    """Have a form fail after so many batches."""
    table, left = form.table, iter(range(batches))

    def failing(self: Images, first: int, scenes: Scenes) -> pa.Table:
        if next(left, None) is None:
            raise error
        return table(self, first, scenes)

    monkeypatch.setattr(form, "table", failing)


def test_what_was_stopped_goes_on(source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, stopped = folders(tmp_path, "whole", "stopped")
    rendered(whole, source, IMAGES)
    with monkeypatch.context() as patch:
        stop_in(patch, Images, 1, KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            rendered(stopped, source, IMAGES)
    assert contents(stopped).keys() == {"images-00000.parquet"}
    assert job(stopped, source, IMAGES).missing() == COUNT - PER_FILE
    before = (stopped / "images-00000.parquet").stat().st_mtime_ns
    assert rendered(stopped, source, IMAGES).missing() == 0
    assert contents(stopped) == contents(whole)
    assert (stopped / "images-00000.parquet").stat().st_mtime_ns == before


class Full(io.BytesIO):
    """A disk with room for a few bytes."""

    def write(self, data) -> int:  # type: ignore[no-untyped-def]
        if self.tell() + len(data) > 2_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk_is_told_and_leaves_nothing_half_written(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def write(self: RenderScenes, part: Path, batches: object) -> None:
        part.write_bytes(b"half")
        self.form.write(Full(), batches, self.recipe)  # type: ignore[arg-type]

    work = job(tmp_path, source, FORMS[form])
    work(0)
    with monkeypatch.context() as patch:
        patch.setattr(RenderScenes, "_write", write)
        with pytest.raises(UserError, match=r"is full at .*-00001\..*: free some room, then run it again"):
            work(1)
    assert [file.name for file in tmp_path.iterdir()] == [work.file(0).name]
    assert rendered(tmp_path, source, FORMS[form]).missing() == 0


def test_other_troubles_of_a_disk_are_not_called_full(
    source: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_in(monkeypatch, Images, 0, PermissionError(errno.EACCES, "denied"))
    with pytest.raises(PermissionError):
        job(tmp_path, source, IMAGES)(0)
    assert not list(tmp_path.iterdir())


# --- size and time --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_what_is_estimated_is_what_is_written(source: Source, tmp_path: Path, form: str) -> None:
    work = RenderScenes(str(tmp_path), source, FORMS[form], COUNT, COUNT, RECIPE)
    work(0)
    estimate = cost(FORMS[form], source, RECIPE, tried=COUNT)
    assert estimate.bytes * COUNT == pytest.approx(work.file(0).stat().st_size, rel=0.01)
    assert estimate.seconds > 0


# --- bad input ------------------------------------------------------------------------------------------------------


def column(name: str, change: Callable[[list], list]) -> Callable[[pa.Table], pa.Table]:
    """Another column of the same type in place of a column of lists."""

    def changed(table: pa.Table) -> pa.Table:
        place = table.schema.get_field_index(name)
        values = pa.array([change(row) for row in table[name].to_pylist()], table.schema.field(name).type)
        return table.set_column(place, name, values)

    return changed


AS_DESCRIBED = "does not hold scenes as the dataset describes them"
BAD_SCENES = {
    "another order": (lambda table: table.take([2, 1, 0]), "does not hold the scenes 5 to 7"),
    "too few": (lambda table: table[:-1], "does not hold the scenes 5 to 7"),
    "no colors": (lambda table: table.drop_columns("color"), f"{AS_DESCRIBED}.*color"),
    "no numbers": (lambda table: table.drop_columns("scene"), f"{AS_DESCRIBED}.*scene"),
    "no places": (lambda table: table.drop_columns("x"), AS_DESCRIBED),
    "an object too few": (column("y", lambda values: values[1:]), AS_DESCRIBED),
    "an unknown color": (column("color", lambda values: ["pink"] * len(values)), "'pink' is not a color"),
    "behind the camera": (
        column("x", lambda values: [100.0] * len(values)),
        "counted from scene 6, object 0 of scene 0",
    ),
}


@pytest.mark.parametrize("case", BAD_SCENES)
def test_bad_scenes_are_told_in_one_sentence(tmp_path: Path, case: str) -> None:
    change, sentence = BAD_SCENES[case]
    source, out = made(tmp_path, CuriWorld()), tmp_path / "out"
    out.mkdir()
    file = tmp_path / "scenes-00001.parquet"
    pq.write_table(change(pq.read_table(file)), file)
    with pytest.raises(UserError, match=sentence):
        job(out, source, IMAGES)(2)
    assert not list(out.iterdir())


def test_a_missing_file_of_scenes_is_named(tmp_path: Path) -> None:
    source = made(tmp_path, CuriWorld())
    (tmp_path / "scenes-00001.parquet").unlink()
    with pytest.raises(UserError, match=r"scenes-00001\.parquet is missing"):
        source.read(0, COUNT)


def test_photos_without_their_renderer_say_what_to_install(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    load_mitsuba.cache_clear()
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(UserError, match=r"pip install 'recombine\[photo\]'"):
        Look(48, 32, photo=True).pictures(0, source.read(0, 1))


def test_a_real_full_device_is_told(source: Source) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no device that is always full")
    sink: BinaryIO
    for form in FORMS.values():
        with pytest.raises(OSError, match="No space left") as told, open("/dev/full", "wb") as sink:
            form.write(sink, [(range(COUNT), source.read(0, COUNT))], RECIPE)
        assert told.value.errno == errno.ENOSPC
