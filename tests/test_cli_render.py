"""Images and sounds on the command line: made, made again, stopped, refused."""

import json
import shutil
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from recombine.benchmarks.clevr.pipeline import CLEVR_SCALES, ClevrScale
from recombine.benchmarks.closure.pipeline import CLOSURE_SCALES, ClosureScale
from recombine.benchmarks.curi.pipeline import SCALES, Scale
from recombine.render import rendering as render
from recombine.render.encodings import Images, Sounds
from recombine.render.instruments import INSTRUMENTS, PITCHES
from recombine.render.photo import load_mitsuba
from recombine.render.png import decoded
from recombine.render.recordings import file_name
from recombine.render.wave import to_wav
from recombine.store.writing import drafts_of
from tests.commands import Run, refused

SCENES = 3_000
CURI = ("curi", "--scale", "tiny", "--workers", "1", "--edition", "release", "--split", "boolean")
CLEVR = ("clevr", "--scale", "tiny", "--workers", "1")
SMALL = ("--size", "48x32", "--first", "8")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, invoke: Run) -> Run:
    """Run a command in this process; `tiny` is a scale, and three pictures a file."""
    monkeypatch.setitem(SCALES, "tiny", Scale("tiny", SCENES, 100_000, 40, 10, 60))
    monkeypatch.setitem(CLEVR_SCALES, "tiny", ClevrScale("tiny", 60, 160, 20, 4))
    monkeypatch.setitem(CLOSURE_SCALES, "tiny", ClosureScale("tiny", 60, 160, 20, 4, (36, 36, 36)))
    monkeypatch.setattr(render, "PER_FILE", 3)
    return invoke


@pytest.fixture
def dataset(run: Run, tmp_path: Path) -> Path:
    """A dataset without pictures."""
    assert run("make", *CURI, "--out", tmp_path / "data").code == 0
    return tmp_path / "data"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def recipe(folder: Path) -> Any:
    return json.loads((folder / "recipe.json").read_text())["parameters"]


# --- make -----------------------------------------------------------------------------------------------------------


def test_make_curi_with_images_and_sounds(run: Run, tmp_path: Path) -> None:
    ran = run("make", *CURI, "--render", "images,sounds", *SMALL, "--out", tmp_path / "made")
    assert ran.code == 0
    assert "8 images and 8 sounds take about" in ran.err and "on 1 worker;" in ran.err and "are free" in ran.err
    images, sounds = (pd.read_parquet(tmp_path / "made" / name) for name in ("images", "sounds"))
    assert images["scene"].tolist() == sounds["scene"].tolist() == list(range(8))
    assert decoded(images["image"][0]["bytes"]).shape == (32, 48, 3)
    scenes = pd.read_parquet(tmp_path / "made" / "scenes")
    assert len(scenes) == SCENES
    assert images["masks"].map(len).tolist() == scenes["count"][:8].tolist()
    assert {file.name for file in (tmp_path / "made").iterdir()} == {
        "recipe.json", "README.md", "croissant.json", "scenes", "concepts", "episodes", "images", "sounds"
    }  # fmt: skip
    assert all(file.name.startswith("images-") for file in (tmp_path / "made" / "images").iterdir())


def test_make_clevr_with_images_of_every_part(run: Run, tmp_path: Path) -> None:
    words = ("make", *CLEVR, "--render", "images", *SMALL, "--format", "webdataset", "--out", tmp_path / "made")
    assert run(*words).code == 0
    for part in ("train", "val", "test"):
        names = []
        for file in sorted((tmp_path / "made" / "webdataset" / part).iterdir()):
            with tarfile.open(file) as tar:
                names += tar.getnames()
        assert names == [f"{scene:07}.{suffix}" for scene in range(8) for suffix in ("png", "json")]
    assert (tmp_path / "made" / "questions" / "train").is_dir()


def test_without_a_folder_pictures_are_kept_in_the_store_and_copied_later(run: Run, tmp_path: Path) -> None:
    words = ("make", *CURI, "--render", "images", "--size", "24x16", "--first", "4")
    assert "4 images take about" in run(*words).err
    assert run(*words).err == ""
    ran = run(*words, "--out", tmp_path / "made")
    assert ran.code == 0 and ran.err == ""
    assert pd.read_parquet(tmp_path / "made" / "images")["scene"].tolist() == [0, 1, 2, 3]


def test_a_dataset_says_how_to_draw_it(dataset: Path) -> None:
    described = recipe(dataset)["dataset"]
    assert (described["benchmark"], described["parts"]) == ("curi", [["", SCENES]])
    assert (described["width"], described["height"], described["first_bin"]) == (240, 160, 0)
    assert recipe(dataset)["world"]["type"] == "CuriWorld"
    assert "camera" in pd.read_parquet(dataset / "scenes").columns


# --- stopped --------------------------------------------------------------------------------------------------------


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[type, int, BaseException], None]]:
    """Have a form fail after so many batches, until the end of the test or `monkeypatch.undo`."""

    def plan(form: Any, batches: int, error: BaseException) -> None:
        table, left = form.table, iter(range(batches))

        def failing(self: Any, *batch: Any) -> Any:
            if next(left, None) is None:
                raise error
            return table(self, *batch)

        monkeypatch.setattr(form, "table", failing)

    yield plan


Broken = Callable[[type, int, BaseException], None]
ESTIMATE = 2
"""Batches that the estimate renders."""


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")], ids=["stop", "full"])
def test_a_stopped_command_goes_on_and_gives_the_same_bytes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: Broken, error: BaseException
) -> None:
    words = ("make", *CURI, "--render", "images,sounds", *SMALL, "--out")
    assert run(*words, tmp_path / "whole").code == 0
    table = Sounds.table
    broken(Sounds, ESTIMATE + 1, error)
    ran = run(*words, tmp_path / "made")
    full = isinstance(error, OSError)
    assert ran.code == (2 if full else 130)
    assert ("is full at sounds-00001.parquet: free some room, then run it again" in ran.err) == full
    assert not (tmp_path / "made").exists()
    (draft,) = drafts_of(tmp_path / "made")
    left = contents(draft)
    assert {"images/images-00002.parquet", "sounds/sounds-00000.parquet"} <= left.keys()
    assert not [name for name in left if ".part-" in name or "sounds-00001" in name]
    monkeypatch.setattr(Sounds, "table", table)
    broken(Images, 0, AssertionError("no picture is drawn twice"))
    ran = run(*words, tmp_path / "made")
    assert ran.code == 0 and "5 more sounds take about" in ran.err
    assert contents(tmp_path / "made") == contents(tmp_path / "whole")


def test_another_size_does_not_go_on(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: Broken) -> None:
    words = ("make", *CURI, "--render", "images", "--first", "8", "--out", tmp_path / "made", "--size")
    table = Images.table
    broken(Images, ESTIMATE + 1, KeyboardInterrupt())
    assert run(*words, "48x32").code == 130
    monkeypatch.setattr(Images, "table", table)
    assert "8 images take about" in run(*words, "24x16").err
    images = pd.read_parquet(tmp_path / "made" / "images")["image"]
    assert {decoded(image["bytes"]).shape for image in images} == {(16, 24, 3)}


def test_a_disk_that_is_too_small_is_refused_before_anything_is_made(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("make", *CURI).code == 0
    real = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: real._replace(free=10_000_000))
    monkeypatch.setattr("recombine.store.store.Store.need", lambda self, bytes: None)
    ran = run("make", *CURI, "--render", "sounds", "--out", tmp_path / "made")
    refused(ran, "3,000 sounds take about")
    assert "has 10 MB free" in ran.err
    assert not list(tmp_path.iterdir())


# --- render ---------------------------------------------------------------------------------------------------------


def test_a_dataset_is_drawn_again_as_it_was(run: Run, tmp_path: Path, dataset: Path) -> None:
    assert run("make", *CURI, "--render", "images,sounds", *SMALL, "--out", tmp_path / "made").code == 0
    ran = run("render", dataset, "--kind", "images,sounds", *SMALL, "--out", tmp_path / "again", "--workers", "1")
    assert ran.code == 0 and "8 images and 8 sounds take about" in ran.err
    for name in ("images", "sounds"):
        assert pd.read_parquet(tmp_path / "made" / name).equals(pd.read_parquet(tmp_path / "again" / name))


def test_what_is_drawn_again_is_a_dataset_too(run: Run, tmp_path: Path, dataset: Path) -> None:
    large = ("--size", "96x64", "--first", "2", "--workers", "1")
    ran = run("render", dataset, *large, "--json")
    folder = Path(json.loads(ran.out)["folder"])
    assert folder == tmp_path / "data-96x64"
    assert decoded(pd.read_parquet(folder / "images")["image"][0]["bytes"]).shape == (64, 96, 3)
    assert recipe(folder)["world"] == recipe(dataset)["world"]
    assert run("render", folder, *large, "--out", tmp_path / "third").code == 0
    again = run("render", folder, *large, "--out", tmp_path / "third")
    assert again.code == 0 and again.said == f"{tmp_path / 'third'} was made before"
    assert contents(folder) == contents(tmp_path / "third")


def test_clevr_is_drawn_again(run: Run, tmp_path: Path) -> None:
    assert run("make", *CLEVR, "--out", tmp_path / "made").code == 0
    words = ("--first", "2", "--format", "webdataset", "--size", "48x32", "--workers", "1")
    assert run("render", tmp_path / "made", *words, "--out", tmp_path / "drawn").code == 0
    assert {file.name for file in (tmp_path / "drawn" / "webdataset").iterdir()} == {"train", "val", "test"}
    refused(run("render", tmp_path / "made", "--kind", "sounds"), "the scenes of clevr have no sound")


def test_recordings_are_heard_in_place_of_our_instruments(run: Run, tmp_path: Path, dataset: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number, (instrument, pitch) in enumerate((i, p) for i in INSTRUMENTS for p in PITCHES):
        wave = 0.5 * np.sin(np.arange(4_000) * (200 + 10 * number) * 2 * np.pi / 44_100)
        (folder / file_name(instrument, pitch)).write_bytes(to_wav(wave))
    words = ("render", dataset, "--first", "2", "--workers", "1")
    assert run(*words, "--kind", "sounds", "--out", tmp_path / "ours").code == 0
    assert run(*words, "--recordings", folder, "--out", tmp_path / "own").code == 0
    ours, own = (pd.read_parquet(tmp_path / name / "sounds")["sound"] for name in ("ours", "own"))
    assert ours[0]["bytes"] != own[0]["bytes"]
    assert str(folder) not in (tmp_path / "own" / "recipe.json").read_text()
    (folder / file_name("oboe", "A5")).write_bytes(b"RIFF")
    refused(run(*words, "--recordings", folder, "--out", tmp_path / "bad"), "oboe_A5.wav' is not a WAV file")
    assert not (tmp_path / "bad").exists() and not (tmp_path / ".bad.draft").exists()


# --- bad words ------------------------------------------------------------------------------------------------------

BAD_MAKE = {
    "unknown kind": (("--render", "images,videos"), "nothing is rendered as 'videos'"),
    "nothing": (("--render", ""), "nothing is rendered as ''"),
    "no size": (("--render", "images", "--size", "480"), "'480' is no size; write width and height such as 480x320"),
    "a size of nothing": (("--render", "images", "--size", "0x320"), "1 to 8192 pixels a side"),
    "a huge size": (("--render", "images", "--size", "99999x320"), "1 to 8192 pixels a side"),
    "no scene": (("--render", "images", "--first", "0"), "first must be at least 1"),
    "unknown format": (("--render", "images", "--format", "jpeg"), "no format 'jpeg' for images and sounds"),
    "tar of nothing": (("--format", "webdataset"), "say which with render"),
    "official files": (("--format", "json"), "no format 'json'"),
    "size of nothing": (("--size", "48x32"), "size is for render"),
    "first of nothing": (("--first", "8"), "first is for render"),
}


@pytest.mark.parametrize("case", BAD_MAKE)
def test_bad_words_are_refused_before_anything_is_made(run: Run, tmp_path: Path, case: str) -> None:
    words, expected = BAD_MAKE[case]
    refused(run("make", *CURI, *words, "--out", tmp_path / "made"), expected)
    assert not list(tmp_path.iterdir())


def test_clevr_has_no_sound_and_no_official_images(run: Run, tmp_path: Path) -> None:
    refused(run("make", *CLEVR, "--render", "sounds", "--out", tmp_path / "made"), "the scenes of clevr have no sound")
    words = ("--render", "images", "--format", "json", "--out", tmp_path / "made")
    refused(run("make", *CLEVR, *words), "no format 'json' for images and sounds")


def spoil(dataset: Path, change: Callable[[Any], Any]) -> None:
    file = dataset / "recipe.json"
    whole = json.loads(file.read_text())
    file.write_text(json.dumps(change(whole)))


BAD_DATASETS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (shutil.rmtree, "there is no dataset"),
    "no recipe": (lambda folder: (folder / "recipe.json").unlink(), "has no recipe.json, so it is no dataset"),
    "no JSON": (lambda folder: (folder / "recipe.json").write_text("{"), "recipe.json is not complete JSON"),
    "no recipe in it": (lambda folder: (folder / "recipe.json").write_text("[1]"), "recipe.json"),
    "an artefact": (
        lambda folder: spoil(folder, lambda r: {**r, "stage": "scenes"}),
        "describes scenes, not a dataset",
    ),
    "newer": (lambda folder: spoil(folder, lambda r: {**r, "version": 99}), "newer version of recombine"),
    "no words": (lambda folder: spoil(folder, lambda r: {**r, "parameters": {}}), "recipe.json is damaged"),
    "no scenes": (lambda folder: shutil.rmtree(folder / "scenes"), "scenes-00000.parquet is missing"),
    "damaged scenes": (
        lambda folder: (folder / "scenes" / "scenes-00000.parquet").write_bytes(b"PAR1"),
        "Cannot read the table",
    ),
}


@pytest.mark.parametrize("case", BAD_DATASETS)
def test_a_bad_dataset_is_told_in_one_sentence(run: Run, tmp_path: Path, dataset: Path, case: str) -> None:
    change, expected = BAD_DATASETS[case]
    change(dataset)
    refused(run("render", dataset, *SMALL, "--out", tmp_path / "drawn", "--workers", "1"), expected)
    assert not (tmp_path / "drawn").exists() and not (tmp_path / ".drawn.draft").exists()


def test_words_that_do_not_belong_together_are_refused(run: Run, tmp_path: Path, dataset: Path) -> None:
    refused(run("render", dataset, "--kind", "sounds", "--photo"), "photo is for images")
    refused(run("render", dataset, "--kind", "images", "--recordings", tmp_path), "recordings is for sounds")
    refused(run("render", dataset, "--out", dataset), "exists and is not empty")
    refused(run("render", dataset, "--recordings", tmp_path / "none"), "there is no folder")


def test_photos_without_mitsuba_say_what_to_install(run: Run, dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_mitsuba.cache_clear()
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    refused(run("render", dataset, "--photo", "--first", "1"), "pip install 'recombine[photo]'")


def test_the_command_has_help_with_an_example(run: Run) -> None:
    assert "Example: recombine render" in " ".join(run("render", "--help").out.split())
