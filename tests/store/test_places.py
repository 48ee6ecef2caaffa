"""A place that cannot be written is seen before any work is done, whichever command is to write there."""

from pathlib import Path
from typing import Any

import pytest

from recombine.store import outputs
from recombine.store.errors import UserError
from tests.commands import Run, refused

WRITERS = {
    "make": ("make", "clevr", "--out"),
    "make --render": ("make", "curi", "--render", "images", "--first", "2", "--out"),
    "make --sheets": ("make", "concept-world", "--sheets", "--out"),
    "rows": ("rows", "closure", "--questions", "2", "--out"),
    "fresh": ("fresh", "clevr", "--n", "30", "--out"),
    "export": ("export", "trl", "closure", "--out"),
    "draw": ("draw", "red", "--out"),
    "split": ("split", "clevr", "--out"),
    "gap": ("gap", "clevr", "--out"),
    "report": ("report", "clevr", "--out"),
    "show": ("show", "clevr/one_hop", "--out"),
    "demo": ("demo", "--out"),
}
ENDINGS = {"split": ".json", "gap": ".json", "report": ".html", "show": ".html", "demo": ".html"}


@pytest.mark.parametrize("name", WRITERS)
def test_an_unwritable_place_is_seen_before_the_work(
    name: str, invoke: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path / "home"))
    real: Any = outputs._try_to_write

    def full(folder: Path) -> None:
        if folder.name == "readonly":
            raise PermissionError
        real(folder)

    monkeypatch.setattr(outputs, "_try_to_write", full)
    (tmp_path / "readonly").mkdir()
    refused(invoke(*WRITERS[name], tmp_path / "readonly" / f"out{ENDINGS.get(name, '')}"), "cannot be written to")
    assert not list((tmp_path / "readonly").iterdir())
    assert not [*(tmp_path / "home").rglob("*.parquet")] and not [*(tmp_path / "home").rglob("*.npy")]


def test_a_folder_that_holds_just_this_needs_no_writable_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def readonly(_: Path) -> None:
        raise PermissionError

    monkeypatch.setattr(outputs, "_try_to_write", readonly)
    with pytest.raises(UserError, match="cannot be written to"):
        outputs.place_for(tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "recipe.json").write_text("{}")
    assert outputs.place_for(tmp_path / "out") == tmp_path / "out"
