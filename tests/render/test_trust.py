"""Datasets from elsewhere: nothing that they say leads out of the folder that is written."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.render.folders import read_dataset
from recombine.render.forms import Look
from recombine.render.rendering import as_dataset, render_dataset, wanted
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
