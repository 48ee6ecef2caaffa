"""Keeping house: what is there, what may go, and that nothing goes by accident."""

import json
import os
import time
from pathlib import Path

import pytest

from recombine.store.errors import UserError
from recombine.store.house import kept, prune, sweep
from recombine.store.recipe import Recipe
from recombine.store.store import Store, write_atomically
from recombine.store.writing import locked
from tests.commands import Run

DAY = 86_400


def make(store: Store, stage: str, size: int, days: float = 0, **parameters: object) -> Path:
    recipe = Recipe(stage, 1, parameters, {})
    content = bytes(size)
    folder = store.get(recipe, lambda draft: write_atomically(draft / "data", lambda part: part.write_bytes(content)))
    then = time.time() - days * DAY
    os.utime(folder / "manifest.json", (then, then))
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "home")


def test_a_store_says_what_it_holds(store: Store) -> None:
    make(store, "scenes", 1000, 3, count=3000, seed=7)
    make(store, "table", 2000)
    found = kept(store)
    assert [(one.stage, one.recipe) for one in found] == [("table", "table"), ("scenes", "scenes: count 3,000, seed 7")]
    assert found[1].size >= 1000 and 3 * DAY <= found[1].age < 3 * DAY + 60


def test_nothing_goes_unless_it_is_said(store: Store) -> None:
    folder = make(store, "scenes", 10)
    assert [one.folder for one in prune(store, older=-1)] == [folder]
    assert folder.is_dir()
    with pytest.raises(UserError, match="say what may go"):
        prune(store, dry=False)
    assert [one.folder for one in prune(store, older=-1, dry=False)] == [folder]
    assert not folder.exists() and kept(store) == [] and sweep(store) == []


def test_what_is_old_or_large_or_of_a_recipe_goes(store: Store) -> None:
    old, new, other = (
        make(store, *words, seed=n) for n, words in enumerate([("a", 5000, 9), ("a", 5000, 1), ("b", 5000, 5)])
    )  # type: ignore[arg-type]
    assert [one.folder for one in prune(store, older=2 * DAY)] == [old, other]
    assert [one.folder for one in prune(store, recipe="SEED 1")] == [new]
    assert [one.folder for one in prune(store, recipe="seed=1")] == [new]
    tenth = make(store, "c", 10, seed=10, split={"name": "sequences"})
    assert [one.folder for one in prune(store, recipe="seed=1")] == [new]
    assert [one.folder for one in prune(store, recipe="sequences")] == [tenth]
    for nothing in ("", " ", "="):
        with pytest.raises(UserError, match="without any, everything would go"):
            prune(store, recipe=nothing, dry=False)
    prune(store, recipe="sequences", dry=False)
    assert [one.folder for one in prune(store, older=2 * DAY, recipe="b:")] == [other]
    assert [one.folder for one in prune(store, to=10**9)] == []
    assert [one.folder for one in prune(store, to=12_000)] == [old]
    assert [one.folder for one in prune(store, to=0)] == [old, other, new]


def test_a_damaged_recipe_is_listed_too(store: Store) -> None:
    (make(store, "scenes", 10) / "recipe.json").write_text("{")
    assert [one.recipe for one in kept(store)] == ["scenes: its recipe cannot be read"]


def test_dead_drafts_and_locks_go_and_living_ones_stay(store: Store) -> None:
    def stop(draft: Path) -> None:
        write_atomically(draft / "data", lambda part: part.write_text("data"))
        raise KeyboardInterrupt

    dead, alive = Recipe("a", 1, {}, {}), Recipe("b", 1, {}, {})
    for recipe in (dead, alive):
        with pytest.raises(KeyboardInterrupt):
            store.get(recipe, stop)
    with locked(store.home / "locks" / alive.digest):
        found = {(one.path.parent.name, one.path.name) for one in sweep(store, dry=False)}
    sums = f"{dead.digest}.sums"
    assert found == {("drafts", dead.digest), ("drafts", sums), ("locks", dead.digest)}
    assert store.draft(alive).is_dir() and not store.draft(dead).exists()
    assert {one.path.name for one in sweep(store)} == {alive.digest, f"{alive.digest}.sums"}


def test_a_link_in_a_store_is_not_followed(store: Store, tmp_path: Path) -> None:
    make(store, "scenes", 10)
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (store.home / "scenes" / "link").symlink_to(tmp_path / "precious")
    (store.home / "more").symlink_to(tmp_path)
    (store.home / "drafts" / "dead").symlink_to(tmp_path / "precious")
    prune(store, older=-1, dry=False)
    sweep(store, dry=False)
    assert (tmp_path / "precious" / "file").exists()


def test_what_is_damaged_is_told_in_a_line_that_a_narrow_terminal_cannot_hide(
    store: Store, invoke: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(store, "scenes", 1000)
    monkeypatch.setenv("RECOMBINE_HOME", str(store.home))
    monkeypatch.setenv("COLUMNS", "80")
    fine = invoke("store", "verify")
    assert fine.code == 0 and f"{store.home}: every byte is as it was written" in fine.out
    (folder / "data").write_bytes(b"x" * 1000)
    ran = invoke("store", "verify")
    assert ran.code == 1 and f"{store.home}: 1 file is damaged\n" in ran.out
    assert f"{folder / 'data'} does not have the bytes it was written with\n" in ran.out
    assert json.loads(invoke("store", "verify", "--json").out)[0]["file"] == str(folder / "data")
