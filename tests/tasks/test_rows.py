"""Rows: whole in themselves, mixed, the same in every format and with any number of workers."""

import base64
import json
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine import Clevr, ConceptWorld, Curi
from recombine.benchmarks import row_export
from recombine.benchmarks.clevr.pipeline import ClevrScale
from recombine.render import media
from recombine.render.encodings import LEVEL
from recombine.render.png import decoded, png
from recombine.render.raytrace import raytrace
from recombine.render.sheets import contact_sheet, strip
from recombine.store.errors import UserError
from recombine.store.store import Store, read_table
from recombine.tasks.made_splits import MadeSplit
from recombine.tasks.rows import Row
from tests.commands import Run, refused

FEW = ClevrScale("few", 20, 40, 20, 5)
SMALL = "24x16"


@pytest.fixture(scope="module")
def clevr(own_home: Path) -> Clevr:
    return Clevr(FEW, store=Store(own_home))


def test_a_row_is_an_episode_with_its_labels(tiny: Curi) -> None:
    episodes = tiny.episodes("boolean")
    found = list(tiny.rows(["boolean"]))
    assert sorted(int(row.id[-7:]) for row in found) == list(range(len(episodes)))
    for row in found[:20]:
        episode = episodes[int(row.id[-7:])]
        truth = dict(zip(episode.scenes.tolist(), np.where(episode.labels, "yes", "no").tolist()))
        said = [*row.shown, *row.answers]
        assert [truth[scene] for scene in row.scenes] == said
        assert Counter(row.scenes[: episode.size]) == Counter(episode.scenes[: episode.size].tolist())
        assert (row.split, row.part, row.seed, row.benchmark) == ("boolean", "test", 0, "curi") and row.digest


def test_the_place_of_a_scene_tells_nothing(tiny: Curi) -> None:
    """Five of 25 are positive wherever they stand; in the files of the store they stand first."""
    found = list(tiny.rows(["boolean", "counting"]))
    for part in (np.array([row.shown for row in found]), np.array([row.answers for row in found])):
        share = (part == "yes").mean(axis=0)
        assert part.shape[1] == 25 and share.max() < 0.4 and share.min() > 0.05
    assert (np.diff([int(row.id[-7:]) for row in found]) != 1).any()


def test_one_query_a_row_asks_the_same(tiny: Curi) -> None:
    whole = {row.id: row for row in tiny.rows(["boolean"], first=5)}
    single = list(tiny.rows(["boolean"], first=5, form="query"))
    assert len(single) == 25 * len(whole) and len({row.id for row in single}) == len(single)
    for row in single:
        name, _, place = row.id.rpartition("-q")
        of, count = whole[name], len(whole[name].shown)
        assert row.scenes == (*of.scenes[:count], of.scenes[count + int(place)])
        assert row.answers == (of.answers[int(place)],) and row.text().count("<image>") == count + 1


def test_the_first_rows_stay_when_more_are_asked_for(tiny: Curi) -> None:
    few, more = ({row.id: row for row in tiny.rows(["boolean"], first=first)} for first in (5, 30))
    assert len(few) == 5 and all(more[name] == row for name, row in few.items())


def test_questions_keep_their_scene_and_answer(clevr: Clevr) -> None:
    table = clevr.questions(None, "val").table.to_pylist()
    found = list(clevr.rows(part="val"))
    assert len(found) == len(table)
    for row in found:
        asked = table[int(row.id[-7:])]
        assert (row.question, row.answers, row.scenes) == (
            asked["question"],
            (asked["answer"],),
            (asked["image_index"],),
        )
        assert row.text().count("<image>") == 1 and row.question in row.text()


def test_images_do_not_come_class_by_class(own_home: Path) -> None:
    study = ConceptWorld("demo", store=Store(own_home))
    found = [row.answers[0] for row in study.rows(["sequences"], "train", first=40)]
    assert len(set(found)) > 1 and len(set(found[:10])) > 1


def test_words_stand_where_pictures_would(tiny: Curi) -> None:
    row = next(tiny.rows(["boolean"], first=1, render="words"))
    assert "<image>" not in row.text() and row.text().count("\n") > 50 and len(row.words) == 50
    scenes, place = tiny.study.scene(row.scenes[0])
    assert scenes.objects(place)[0]["color"] in row.words[0]


def drawn(study: Curi, number: int) -> bytes:
    """The picture of a scene, the plain way."""
    scenes, place = study.study.scene(number)
    rgb = raytrace(scenes[place : place + 1], 24, 16, ("rgb",)).rgb
    assert rgb is not None
    return png(rgb[0], LEVEL)


def test_pictures_are_those_of_the_scenes(tiny: Curi) -> None:
    for row in tiny.rows(["boolean"], first=2, render="images", size=SMALL):
        assert len(row.media) == len(row.scenes)
        assert all(row.media[i] == drawn(tiny, row.scenes[i]) for i in (0, 7, 30))


def test_a_split_that_was_written_anew_has_pictures_of_its_own(clevr: Clevr, tmp_path: Path) -> None:
    """Under the same name, in the same file."""
    digests = set()
    for pair in (("filter[color,red]", "filter[shape,cube]"), ("filter[color,blue]", "filter[shape,sphere]")):
        file = MadeSplit("mine", "own", "clevr", (pair,)).write(tmp_path / "mine.json")
        for row in clevr.again().rows([str(file)], first=4, render="images", size=SMALL):
            scenes, place = clevr.study.scene("test", row.scenes[0])
            rgb = raytrace(scenes[place : place + 1], 24, 16, ("rgb",)).rgb
            assert rgb is not None and row.media == (png(rgb[0], LEVEL),)
            digests.add(row.digest)
        file.unlink()
    assert len(digests) == 2


def test_a_sheet_holds_every_picture(tiny: Curi) -> None:
    (row,) = tiny.rows(["boolean"], first=1, render="images", size="48x32", form="sheet")
    (plain,) = tiny.rows(["boolean"], first=1, render="images", size="48x32")
    page = decoded(row.media[0])
    assert row.media == (contact_sheet([strip(decoded(one)) for one in plain.media], 25),)
    assert row.text().count("<image>") == 1
    first, last = decoded(plain.media[0]), decoded(plain.media[-1])
    assert (page[4:36, 4:52][-8:] == first[-8:]).all() and (page[-36:-4, 4 + 4 * 52 :][-8:, :48] == last[-8:]).all()
    assert "1. scene 1: " in row.text() and "50. scene 50" in row.text()


def written(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


OPTIONS: dict[str, Any] = {"first": 6, "render": "images", "size": SMALL}


@pytest.mark.parametrize("format", ["parquet", "jsonl", "webdataset"])
def test_every_format_holds_the_same(tiny: Curi, tmp_path: Path, format: str) -> None:
    expected = {row.id: row for row in tiny.rows(["boolean"], **OPTIONS)}
    folder = tiny.export(tmp_path / "rows", ["boolean"], format=format, **OPTIONS) / "boolean" / "hard" / "test"
    for record in READERS[format](folder):
        row: Row = expected.pop(record["id"])
        assert record["text"] == row.text() and record["answers"] == [*row.answers] and record["split"] == "boolean"
        assert record["media"] == [*row.media] and record["scenes"] == [*row.scenes] and record["seed"] == 0
    assert not expected


def of_parquet(folder: Path) -> list[dict[str, Any]]:
    rows = read_table(folder).to_pylist()
    return [{**row, "media": [one["bytes"] for one in row["images"]]} for row in rows]


def of_jsonl(folder: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for file in folder.glob("*.jsonl") for line in file.read_text().splitlines()]
    start = "data:image/png;base64,"
    return [{**row, "media": [base64.b64decode(one.removeprefix(start)) for one in row["images"]]} for row in rows]


def of_tar(folder: Path) -> list[dict[str, Any]]:
    with tarfile.open(folder / "rows-00000.tar") as tar:
        files = {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr]
    rows = [json.loads(content) for name, content in files.items() if name.endswith(".json")]
    return [{**row, "media": [files[name] for name in row["files"]]} for row in rows]


READERS = {"parquet": of_parquet, "jsonl": of_jsonl, "webdataset": of_tar}


def test_any_number_of_workers_and_any_stop_give_the_same_bytes(
    tmp_path: Path, tiny: Curi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of two rows, a pack of ten pictures a file; the second try goes on where the first was stopped."""
    monkeypatch.setattr(row_export, "TOGETHER", 2)
    monkeypatch.setattr(row_export, "PER_FILE", 10)
    folders = []
    for workers in (1, 2):
        scale = tiny.study.setup.scale
        with Curi(scale, "release", workers=workers, store=Store(tmp_path / f"store-{workers}")) as study:
            folders.append(study.export(tmp_path / f"of-{workers}", ["boolean"], **OPTIONS))
    stopped = Store(tmp_path / "store-1")
    with Curi(tiny.study.setup.scale, "release", store=stopped) as study:
        work = row_export.WriteRows.__call__
        with monkeypatch.context() as patch:
            patch.setattr(row_export.WriteRows, "__call__", lambda self, n: _stop() if n == 2 else work(self, n))
            with pytest.raises(KeyboardInterrupt):
                study.export(tmp_path / "stopped", ["boolean"], **OPTIONS)
        with monkeypatch.context() as patch:
            patch.setattr(row_export.WriteRows, "_parquet", lambda *a: _stop() if _too_many() else _parquet(*a))
            folders.append(study.export(tmp_path / "stopped", ["boolean"], **OPTIONS))
    assert written(folders[0]) == written(folders[1]) == written(folders[2])
    assert len(list(folders[0].rglob("*.parquet"))) == 3


_parquet = row_export.WriteRows._parquet
_seen: list[int] = []


def _too_many() -> bool:
    """Whether more than the one file that was missing is written again."""
    _seen.append(1)
    return len(_seen) > 1


def _stop() -> None:
    raise KeyboardInterrupt


def test_only_what_is_used_is_drawn(tiny: Curi, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told: list[str] = []
    counted: list[int] = []
    draw = media.Traced.files
    monkeypatch.setattr(media.Traced, "files", lambda self, scenes: counted.append(len(scenes)) or draw(self, scenes))
    tiny.export(tmp_path / "rows", ["boolean"], first=3, render="images", size="30x20", tell=told.append)
    used = {scene for row in tiny.rows(["boolean"], first=3) for scene in row.scenes}
    assert sum(counted) == len(used) + 2 * 16  # and a few, twice, for the estimate
    assert told[0].startswith(f"3 rows use {len(used)} images, about ") and "1 worker" in told[0]


def test_the_command_line(invoke: Run, tmp_path: Path) -> None:
    rows = ("rows", "clevr", "--scale", "demo", "--questions", "7", "--workers", "1", "--part", "val")
    ran = invoke(*rows, "--render", "images", "--size", "30x20", "--out", tmp_path / "rows", "--json")
    assert ran.code == 0 and len(read_table(Path(json.loads(ran.out)["folder"]) / "iid" / "validation")) == 7
    again = invoke(*rows, "--render", "images", "--size", "30x20", "--out", tmp_path / "rows")
    assert "was made before" in again.out
    refused(invoke(*rows, "--out", tmp_path / "rows"), "exists and is not empty")
    for words, expected in (
        (("--form", "many"), "there is no form 'many'"),
        (("--format", "xml"), "there is no format 'xml' for rows"),
        (("--render", "smells"), "rows have no smells"),
        (("--render", "sounds"), "no sound"),
        (("--form", "sheet"), "a sheet is made of images"),
        (("--size", "3x3"), "size is for images"),
        (("--questions", "0"), "at least 1"),
    ):
        refused(invoke(*rows, *words, "--out", tmp_path / "other"), expected)
    assert not (tmp_path / "other").exists()


def test_where_there_are_no_such_rows_nothing_is_drawn(tiny: Curi, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there are no such rows"):
        tiny.export(tmp_path / "rows", ["boolean"], render="images", difficulty={"objects": "90-99"})
    assert not list(tmp_path.iterdir())
    assert not list(tiny.rows(["boolean"], render="images", difficulty={"objects": "90-99"}))


def test_what_cannot_be_drawn_is_refused(own_home: Path) -> None:
    with pytest.raises(UserError, match="neither sounds"):
        list(ConceptWorld("demo", store=Store(own_home)).rows(["sequences"], render="sounds"))
