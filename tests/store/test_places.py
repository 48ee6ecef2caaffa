"""A place that cannot be written is seen before any work is done, whichever command is to write there."""

from pathlib import Path
from typing import Any

import pytest

from recombine.store import outputs
from recombine.store.errors import UserError
from recombine.store.writing import write_text, writing_page
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


@pytest.mark.parametrize(
    "words",
    [
        ("show", "clevr/one_hop", "--number", "9999999", "--out", "b.html"),
        ("show", "clevr/none", "--out", "b.html"),
        ("gap", "clevr", "--split", "none", "--out", "b.json"),
        ("report", "clevr", "--worlds", "1", "--out", "b.html"),
        ("split", "clevr", "--share", "7", "--out", "b.json"),
        ("draw", "none", "--out", "b.png"),
        ("draw", "red", "--n", "0", "--out", "b"),
        ("make", "clevr", "--split", "none", "--out", "b"),
        ("rows", "clevr", "--split", "none", "--out", "b"),
        ("fresh", "clevr", "--split", "none", "--out", "b"),
    ],
    ids=" ".join,
)
def test_a_command_that_is_refused_leaves_no_folders(words: tuple[str, ...], invoke: Run, tmp_path: Path) -> None:
    assert invoke(*words[:-1], tmp_path / "new" / "a" / words[-1]).code == 2
    assert not list(tmp_path.iterdir())


def test_a_page_that_fails_takes_along_what_was_made_for_it(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(ZeroDivisionError), writing_page(tmp_path / "there" / "new" / "a" / "page.md") as draft:
        write_text(draft, str(1 / 0))
    assert [*tmp_path.rglob("*")] == [tmp_path / "there"]
