"""Studies, episodes, questions and images as Python objects, and the public names."""

import ast
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

import recombine as rc
from recombine.benchmarks.clevr.pipeline import ClevrScale
from recombine.benchmarks.concept_world import pipeline as of_worlds
from recombine.store.store import Store


@pytest.fixture(scope="module")
def clevr(own_home: Path) -> Iterator[rc.Clevr]:
    with rc.Clevr(ClevrScale("tiny", 20, 20, 20, 5), store=Store(own_home)) as study:
        yield study


def test_every_public_name_is_there_for_editors_and_at_run_time() -> None:
    tree = ast.parse(Path(rc.__file__).read_text())
    (typed,) = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {f"{node.module}.{alias.name}": alias.asname for node in typed.body for alias in node.names}  # type: ignore[attr-defined]
    homes = {f"recombine.{home}.{name}": name for name, home in rc._HOMES.items()}
    assert seen == homes
    for name, home in rc._HOMES.items():
        assert getattr(rc, name) is getattr(import_module(f"recombine.{home}"), name)
    assert set(rc._HOMES) <= set(dir(rc))


def test_the_package_says_that_it_is_typed() -> None:
    home = Path(rc.__file__).parent
    said = tomllib.loads((home.parent / "pyproject.toml").read_text())
    assert (home / "py.typed").exists() and "py.typed" in said["tool"]["setuptools"]["package-data"]["*"]


def test_every_study_is_typed_and_introduces_itself(tiny: rc.Curi, clevr: rc.Clevr) -> None:
    for study in (rc.Curi, rc.Clevr, rc.Closure, rc.SuperClevr, rc.ConceptWorld):
        assert study.__doc__ and all(get_type_hints(study.__init__).values())
    assert repr(clevr) == "Clevr(edition='paper', scale='tiny', seed=0)"
    assert "<table" in clevr._repr_html_() and "edition='release'" in repr(tiny)
    assert str(tiny.list()) == tiny.list().markdown() and "| Boolean |" in str(tiny.gap(["boolean"]))


def test_episodes_are_a_sequence_of_objects(tiny: rc.Curi) -> None:
    episodes = tiny.episodes("boolean")
    columns = tiny.study.episodes("boolean", "test", "hard")
    assert len(episodes) == 60 == len(list(episodes)) and len(episodes[5:9]) == 4
    one = episodes[7]
    assert episodes[-53].concept == one.concept == episodes[5:9][2].concept
    np.testing.assert_array_equal(np.concatenate([one.support_labels, one.query_labels]), columns.label[7])
    assert [scene.number for scene in (*one.support, *one.query)] == columns.scene[7].tolist()
    some = episodes[5:9]
    tensors: Any = some.torch()  # type: ignore[attr-defined]
    assert repr(some) == f"4 of {episodes!r}" and len(tensors) == 4 and repr(tensors) == f"{some!r} for PyTorch"
    assert some[1:][1].concept == one.concept == some[-2].concept
    view = tiny.show("boolean", 7)
    assert (view.concept_english, view.concept_infix) == (one.english, one.concept)
    assert [text for text, _ in one.hypotheses()] == [h.text for h in view.hypotheses]
    scene = one.support[0]
    assert scene.objects and len(scene.words) == len(scene.objects) == len(scene.positions)
    assert scene.pixels(24, 16).shape == (16, 24, 3) and np.abs(scene.sound()).max() > 0
    with pytest.raises(IndexError):
        episodes[60]


def test_pictures_are_pil_images(tiny: rc.Curi) -> None:
    pytest.importorskip("PIL", reason="pictures need Pillow: pip install pillow")
    assert tiny.episodes("boolean")[0].query[0].image(24, 16).size == (24, 16)


def test_questions_are_a_sequence_of_objects(clevr: rc.Clevr) -> None:
    questions = clevr.questions(part="validation")
    assert len(questions) == len(questions.table) > 50
    one = questions[3]
    assert questions.table["question"][3].as_py() == one.text and rc.read(one.text) is one.program
    assert one.view().answer == one.answer and len(clevr.questions("one_hop")) < len(questions)
    assert one.scene.pixels(24, 16).shape == (16, 24, 3)
    with pytest.raises(rc.UserError, match="have no sound"):
        one.scene.sound()


def test_images_are_a_sequence_of_objects(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(of_worlds.SHARES, "tiny", 0.02)
    images = rc.ConceptWorld("tiny", store=Store(own_home)).images("patterns", "squares_4x4")
    assert len(images) == 28 and len({image.label for image in images}) == 4
    assert images[0].pixels().shape == (32, 32, 3)


def test_each_is_a_torch_dataset_in_one_line(tiny: rc.Curi, clevr: rc.Clevr) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'recombine[models]'")
    from torch.utils.data import DataLoader, Dataset

    episodes = tiny.episodes("boolean").torch()
    assert isinstance(episodes, Dataset) and len(episodes) == 60
    batch = next(iter(DataLoader(episodes, batch_size=4)))
    assert batch["support"].shape[:2] == (4, 25) and batch["query_labels"].shape == (4, 25)
    assert clevr.questions().torch(lambda one: one.answer)[0] == clevr.questions()[0].answer


def test_a_table_is_a_data_frame() -> None:
    pytest.importorskip("pandas", reason="data frames need pandas: pip install pandas")
    table = rc.Table("", (rc.Column("a"), rc.Column("b")), (("x", rc.Interval(1.0, 0.5, 2.0)), ("y", None)))
    frame = table.to_pandas()
    assert list(frame.columns) == ["a", "b", "b low", "b high"] and frame["b high"][0] == 2.0


def test_accuracy_alone_asks_for_the_queries_only(tiny: rc.Curi) -> None:
    (exam,) = tiny.exams(["boolean"], first=8, queries_only=True)
    (piece,) = exam.pieces()
    assert len(piece.asked) == 8 * 25
    table = tiny.score("majority", ["boolean"], first=8, queries_only=True)
    assert [column.name for column in table.columns[3:]] == ["accuracy"]
