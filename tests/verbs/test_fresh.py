"""Fresh tests: made in a world of their own, certified on exactly their rows; whatever was changed is told."""

import csv
import io
import json
import shutil
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recombine import Clevr, Closure, ConceptWorld, Curi, SuperClevr, UserError, benchmarks
from recombine.benchmarks import carried, fresh
from recombine.benchmarks.curi.language import Lot
from recombine.benchmarks.curi.spelling import Speller
from recombine.benchmarks.fresh import CERTIFICATE, changed, digest_of, world_seed
from recombine.benchmarks.study import Study
from recombine.benchmarks.super_clevr.factors import composition
from recombine.benchmarks.super_clevr.vehicles import vehicle
from recombine.render.model_files import write_obj
from recombine.store.store import Store
from recombine.tasks.made_splits import MadeSplit
from tests.commands import Run, refused

COMPARE = (
    "fresh",
    "closure",
    "--seed",
    "2027",
    "--n",
    "6",
    "--split",
    "compare_mat",
    "--size",
    "24x16",
    "--workers",
    "1",
)
CONCEPTS = [f"{how}(color?(S), {color})" for how in ("all", "any") for color in ("red", "blue", "green", "gray")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, own_home: Path) -> Path:
    study = Closure(seed=2027, store=Store(own_home))
    return study.fresh(tmp_path_factory.mktemp("fresh") / "made", ["compare_mat"], n=6, size="24x16")


def certificate(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / CERTIFICATE).read_text())
    return found


def signed(folder: Path, said: dict[str, Any]) -> None:
    """What somebody writes who knows how certificates are signed."""
    said["files"] = {name: fresh._digest(folder / name) for name in said["files"]}
    (folder / CERTIFICATE).write_text(json.dumps({**said, "digest": digest_of(said)}))


def test_the_certificate_is_of_exactly_these_rows(made: Path) -> None:
    said, rows = certificate(made), pq.read_table(made / "compare_mat").to_pylist()
    with (made / "learners.csv").open() as lines:
        learners = {row["id"]: row for row in csv.DictReader(lines)}
    assert len(rows) == said["rows"] == 6 and learners.keys() == {row["id"] for row in rows}
    for who in ("strong", "weak"):
        mean = 100 * np.mean([float(row[who]) for row in learners.values()])
        assert said["all"][who]["value"] == pytest.approx(mean, abs=1e-3)
        assert said["all"][who]["low"] <= mean + 1e-3 and said["all"][who]["high"] >= mean - 1e-3
    assert said["tests"]["compare_mat/closure"]["accuracy"] == said["all"] or said["all"]["strong"]["value"] == 100
    assert said["command"] in (made / "README.md").read_text()


def test_its_world_is_nobody_elses(made: Path, own_home: Path) -> None:
    assert world_seed(2027) != world_seed(2028) and world_seed(2027) > 2**32
    assert {row["seed"] for row in pq.read_table(made / "compare_mat").to_pylist()} == {world_seed(2027)}


def test_the_same_command_gives_the_same_bytes_and_another_seed_others(made: Path, invoke: Run, tmp_path: Path) -> None:
    ran = invoke(*COMPARE, "--out", tmp_path / "again", "--json")
    assert ran.code == 0 and json.loads(ran.out)["digest"] == certificate(made)["digest"]
    files = [file.relative_to(made) for file in made.rglob("*") if file.is_file()]
    assert all((made / file).read_bytes() == (tmp_path / "again" / file).read_bytes() for file in files)
    other = invoke(*[{"2027": "2028"}.get(word, word) for word in COMPARE], "--out", tmp_path / "other", "--json")
    assert json.loads(other.out)["digest"] != certificate(made)["digest"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda file: file.write_text("{"), "is not complete JSON"),
        (lambda file: file.unlink(), "holds no certificate.json"),
        (lambda file: with_another_score(file.parent), "is not the one that was written with these rows"),
        (lambda file: signed(file.parent, certificate(file.parent) | {"all": 3}), "is not the one that was written"),
    ],
)
def test_a_folder_that_is_there_already_is_not_believed(
    copied: Path, invoke: Run, change: Callable[[Path], Any], said: str
) -> None:
    assert invoke(*COMPARE, "--out", copied).code == 0
    change(copied / CERTIFICATE)
    ran = invoke(*COMPARE, "--out", copied)
    assert ran.code == 2 and said in ran.err and "Traceback" not in ran.err and "strong" not in ran.out


def test_a_fresh_test_is_checked_from_its_seed(made: Path, invoke: Run) -> None:
    ran = invoke("check", "--certificate", made, "--workers", "1")
    assert ran.code == 0 and "everything is as the seed gives it: recombine fresh closure --seed 2027" in ran.said


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copied"))


def with_another_score(folder: Path) -> None:
    said = certificate(folder)
    said["all"]["strong"]["value"] = 12.5
    signed(folder, said)


def with_another(column: str, value: Callable[[Any], Any]) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        (file,) = folder.rglob("rows-*.parquet")
        table = pq.read_table(file)
        rows = table.to_pylist()
        rows[2][column] = value(rows[2][column])
        pq.write_table(type(table).from_pylist(rows, table.schema), file)
        signed(folder, certificate(folder))

    return change


def with_a_touched_picture(images: list[dict[str, Any]]) -> list[dict[str, Any]]:
    content = bytearray(images[0]["bytes"])
    content[-20] ^= 1
    return [{**images[0], "bytes": bytes(content)}, *images[1:]]


def with_a_torn_file(folder: Path) -> None:
    (file,) = folder.rglob("rows-*.parquet")
    content = bytearray(file.read_bytes())
    content[40 : len(content) // 2] = bytes(len(content) // 2 - 40)
    file.write_bytes(content)


def with_a_long_file(folder: Path) -> None:
    (file,) = folder.rglob("rows-*.parquet")
    file.write_bytes(file.read_bytes() * 2 + bytes(2**21))


FORGED = {
    "says all strong value 12.5, and the seed gives 100.0": with_another_score,
    "says answer 'no way', and the seed gives '": with_another("answer", lambda _: "no way"),
    "image 1 of row closure-compare_mat-closure-test-": with_another("images", with_a_touched_picture),
    "cannot be read as rows": with_a_torn_file,
    "is far larger than what the seed gives": with_a_long_file,
}


@pytest.mark.parametrize("told", FORGED)
def test_what_was_forged_and_signed_again_is_found_by_the_seed(made: Path, copied: Path, told: str) -> None:
    FORGED[told](copied)
    assert told in str(fresh._difference(copied, made))


def not_signed(folder: Path) -> None:
    said = certificate(folder)
    said["all"]["strong"]["value"] = 12.5
    (folder / CERTIFICATE).write_text(json.dumps(said))


SEEN = {
    "was changed after it was written": not_signed,
    "is missing": lambda folder: (folder / "learners.csv").unlink(),
    "is not one of the files": lambda folder: (folder / "more.parquet").write_bytes(b""),
}


@pytest.mark.parametrize("told", SEEN)
def test_what_was_changed_is_told_before_anything_is_made(copied: Path, told: str) -> None:
    SEEN[told](copied)

    def never(*args: object, **options: object) -> Study:
        raise AssertionError

    assert told in str(changed(copied, never))


def test_a_changed_folder_ends_with_one(copied: Path, invoke: Run) -> None:
    not_signed(copied)
    ran = invoke("check", "--certificate", copied)
    assert ran.code == 1 and "was changed after it was written: its digest is not that of what it says" in ran.said


def test_a_certificate_without_its_command_ends_with_one(copied: Path, invoke: Run) -> None:
    said = certificate(copied)
    del said["command"]
    (copied / CERTIFICATE).write_text(json.dumps(said))
    ran = invoke("check", "--certificate", copied)
    assert ran.code == 1 and "was changed after it was written" in ran.said


def nonsense(name: str, value: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        said = certificate(folder)
        said["asked"][name] = value
        signed(folder, said)

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda folder: (folder / CERTIFICATE).unlink(), "holds no certificate.json; give a folder"),
        (lambda folder: (folder / CERTIFICATE).write_text("{"), "is not complete JSON"),
        (nonsense("n", "many"), "does not say what was asked for"),
        (nonsense("benchmark", "chess"), "there is no benchmark 'chess'"),
        (nonsense("options", {"dark": True}), "asks for what closure does not have"),
        (nonsense("options", {"workers": 10**6}), "does not say what was asked for"),
    ],
)
def test_a_certificate_that_is_none_is_refused(
    copied: Path, invoke: Run, change: Callable[[Path], None], told: str
) -> None:
    change(copied)
    refused(invoke("check", "--certificate", copied, "--workers", "1"), told)


def test_what_cannot_be_made_is_refused(invoke: Run, tmp_path: Path, own_home: Path) -> None:
    refused(invoke("check"), "say what to check")
    for words, told in (
        (("--n", "0"), "n must be at least 1"),
        (("--n", "3"), "has 7 tests, so ask for at least 7 rows"),
        (("--n", "7", "--render", "smells"), "rows have no smells"),
        (("--n", "7", "--split", "chess"), "CLOSURE has no test 'chess'"),
    ):
        refused(invoke("fresh", "closure", *words, "--workers", "1", "--out", tmp_path / "none"), told)
    assert not (tmp_path / "none").exists()
    with pytest.raises(UserError, match="gives no 100,000 different rows"):
        ConceptWorld(store=Store(own_home)).fresh(tmp_path / "none", ["substitution"], n=100_000 * 2, render="none")


STUDIES: dict[str, tuple[type[Study], dict[str, Any], str]] = {
    "clevr": (Clevr, {}, "iid"),
    "super-clevr": (SuperClevr, {}, "object"),
    "concept-world": (ConceptWorld, {}, "sequences"),
    "curi": (Curi, {"concepts": CONCEPTS}, "instance-iid"),
}


@pytest.mark.parametrize("name", STUDIES)
def test_every_benchmark_gives_fresh_tests(name: str, own_home: Path, tmp_path: Path) -> None:
    kind, options, split = STUDIES[name]
    folder = kind(seed=5, store=Store(own_home), **options).fresh(tmp_path / "made", [split], n=5, render="none")
    said = certificate(folder)
    assert said["rows"] == 5 and said["all"]["strong"]["value"] >= said["all"]["weak"]["value"]
    assert said["asked"]["options"] == options
    assert changed(folder, lambda named, **said: STUDIES[named][0](**said)) is None


def with_own_concepts(folder: Path) -> tuple[type[Study], dict[str, Any], str]:
    (folder / "mine.txt").write_text("\n".join(CONCEPTS))
    tested = (CONCEPTS[0], CONCEPTS[5])
    sides = ([one for one in CONCEPTS if one not in tested], tested)
    train, test = ([repr(Speller(Lot()).read(one)) for one in side] for side in sides)
    MadeSplit("halves", "own", "curi", (), tuple(train), tuple(test)).write(folder / "split.json")
    return Curi, {"concepts": folder / "mine.txt"}, str(folder / "split.json")


def with_own_experiments(folder: Path) -> tuple[type[Study], dict[str, Any], str]:
    (folder / "mine.concepts").write_text(EXPERIMENT)
    return ConceptWorld, {"concepts": folder / "mine.concepts"}, "towers"


def with_own_vehicles(folder: Path) -> tuple[type[Study], dict[str, Any], str]:
    (folder / "cars").mkdir()
    for name in ("sedan", "truck", "biplane"):
        write_obj(vehicle(name), folder / "cars" / f"my_{name}.obj")
    return SuperClevr, {"vehicles": folder / "cars"}, "object"


def with_own_colors(folder: Path) -> tuple[type[Study], dict[str, Any], str]:
    (folder / "colors.json").write_text(json.dumps(composition("co-1")))
    return SuperClevr, {"composition": str(folder / "colors.json")}, "object"


EXPERIMENT = """
concept tower(X): X == (x) and point(x)
    or (X == x :: XS and XS == y :: YS and south_point_1(x, y) and tower(XS))
concept red_tower(X): tower(X) and red(X)
concept other_tower(X): tower(X) and not red(X)

experiment towers "Towers":
    train:
        red   20 of red_tower where depth(tower) <= 2
        other 20 of other_tower where depth(tower) == 2
    test higher:
        red   10 of red_tower where depth(tower) == 3
        other 10 of other_tower where depth(tower) == 3
"""
OWN = [with_own_concepts, with_own_experiments, with_own_vehicles, with_own_colors]


@pytest.mark.parametrize("own", OWN)
def test_a_folder_carries_what_it_was_made_of(
    own: Callable[[Path], tuple[type[Study], dict[str, Any], str]],
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is checked by somebody who has nothing but the folder, and for the sake of time the same scenes."""
    monkeypatch.setattr(fresh, "Store", lambda place: Store(own_home))
    (tmp_path / "mine").mkdir()
    kind, options, split = own(tmp_path / "mine")
    made = kind(seed=5, store=Store(own_home), **options).fresh(tmp_path / "made", [split], n=4, render="none")
    shutil.rmtree(tmp_path / "mine")
    assert not any(str(tmp_path).encode() in file.read_bytes() for file in made.rglob("*") if file.is_file())
    there = made.rename(tmp_path / "there")
    assert changed(there, benchmarks.load) is None
    (file, *_) = (file for file in (there / "given").rglob("*") if file.is_file())
    file.write_bytes(file.read_bytes() + b" ")
    assert "was changed after certificate.json was written" in str(changed(there, benchmarks.load))


def test_files_that_a_folder_does_not_carry_are_not_read(copied: Path) -> None:
    for split in ("/tmp/mine.json", "given/../../mine.json", "given/"):
        said = certificate(copied)
        said["asked"]["splits"] = [f"{split}x.json"]
        signed(copied, said)
        with pytest.raises(UserError, match=r"which its folder does not carry|cannot be the name|no split and no file"):
            changed(copied, benchmarks.load)


def test_two_files_of_one_name_are_both_carried(tmp_path: Path) -> None:
    files = [tmp_path / name / "mine.json" for name in ("one", "other")]
    for number, file in enumerate(files):
        file.parent.mkdir()
        file.write_text(str(number))
    order = fresh.Order("clevr", 0, 2, tuple(map(str, [*files, files[0]])))
    said, places = carried.carried(order, Clevr)
    assert said.splits == ("given/mine.json", "given/2/mine.json", "given/mine.json")
    carried.write(places, tmp_path)
    again = carried.uncarried(said, Clevr, tmp_path, tmp_path)
    assert [Path(split).read_text() for split in again.splits] == ["0", "1", "0"]
    assert carried.carried(again, Clevr)[0] == said


def test_what_a_link_leads_to_is_not_carried(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "more.wav").symlink_to(tmp_path / "secret")
    with pytest.raises(UserError, match="leads out of"):
        carried.write({"given/notes": tmp_path / "notes"}, tmp_path / "fresh")
    (tmp_path / "split.json").symlink_to(tmp_path / "secret")  # which was named itself
    carried.write({"given/split.json": tmp_path / "split.json"}, tmp_path / "fresh")
    assert (tmp_path / "fresh" / "given" / "split.json").read_text() == "secret"


def test_a_folder_that_is_too_large_to_be_carried_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "large.obj").open("wb") as content:
        content.truncate(2**27)
    with pytest.raises(UserError, match="carries the files that it is made of"):
        carried.digests({"given/x": tmp_path})


@pytest.mark.parametrize("ending", ["jsonl", "tar"])
def test_a_file_of_rows_without_end_takes_no_memory(ending: str, tmp_path: Path) -> None:
    """A file with a hole in it takes no room on the disk, however large it says it is."""
    file, size = tmp_path / f"rows.{ending}", 2**26
    with file.open("wb") as content:
        if ending == "tar":  # the head of a note about what follows, which tar would read as a whole
            content.write(
                b"x".ljust(124, b"\0") + f"{size - 512:011o}\0".encode().ljust(32, b"\0") + b"x".ljust(356, b"\0")
            )
        content.truncate(size)
    tracemalloc.start()
    try:
        assert fresh._rows_of(file) == 0
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


def test_rows_of_every_format_are_counted(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "rows.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in (("a.json", b"{}"), ("a.png", bytes(700)), ("b.json", b"{}"), ("b.png", b"")):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    (tmp_path / "rows.jsonl").write_text("{}\n" * 2)
    pq.write_table(pa.table({"id": ["a", "b"]}), tmp_path / "rows.parquet")
    assert [fresh._rows_of(tmp_path / f"rows.{ending}") for ending in ("tar", "jsonl", "parquet")] == [2, 2, 2]
