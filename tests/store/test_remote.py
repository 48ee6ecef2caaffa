"""Push and pull: the same bytes there and back, resumable, never replaced; to files, memory and a mock of S3."""

import errno
import io
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from recombine.store.errors import UserError
from recombine.store.house import sweep
from recombine.store.recipe import Recipe
from recombine.store.remote import BEGUN, MANIFEST, Place, pull, push
from recombine.store.store import Store
from recombine.store.untrusted import MOST
from recombine.store.writing import abandoned
from tests.commands import Run, refused
from tests.store.mock_s3 import bucket

fsspec = pytest.importorskip("fsspec")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small dataset."""
    made = tmp_path / "made"
    (made / "episodes" / "test").mkdir(parents=True)
    recipe = Recipe("dataset", 1, {"made": {}}, {})
    (made / "recipe.json").write_text(recipe.canonical())
    (made / "episodes" / "test" / "episodes-00000.parquet").write_bytes(bytes(range(256)) * 100)
    (made / "README.md").write_text("a card")
    return made


@pytest.fixture(params=["file", "memory", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "s3":
        with bucket() as (address, _):
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                monkeypatch.setenv(name, "anybody")
            monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
            options = f"endpoint_override={address}&scheme=http&region=here"
            yield f"s3://bucket/data?{options}"
        return
    fsspec.filesystem("memory").store.clear()
    yield {"file": f"file://{tmp_path}/there", "memory": "memory://there"}[request.param]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_what_comes_back_is_what_was_sent(folder: Path, place: str, tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    push(folder, place, lambda _, done, total: told.append((done, total)))
    assert told[-1] == (3, 3)
    assert contents(pull(place, tmp_path / "back")) == contents(folder)
    push(folder, place)  # is there already
    (folder / "README.md").write_text("another card")
    with pytest.raises(UserError, match="holds something else already; nothing there is replaced"):
        push(folder, place)


def test_a_push_that_was_stopped_goes_on(folder: Path, place: str, tmp_path: Path, monkeypatch: Any) -> None:
    sent: list[str] = []
    send = Place.send

    def stopped(self: Place, file: Path, name: str) -> None:
        if len(sent) == 1:
            raise KeyboardInterrupt
        sent.append(name)
        send(self, file, name)

    with monkeypatch.context() as patch:
        patch.setattr(Place, "send", stopped)
        with pytest.raises(KeyboardInterrupt):
            push(folder, place)
    with pytest.raises(UserError, match="its push was not finished"):
        pull(place, tmp_path / "back")
    again: list[str] = []
    monkeypatch.setattr(Place, "send", lambda self, file, name: again.append(name) or send(self, file, name))
    push(folder, place)
    assert len(sent) == 1 and len(again) == 2 and not {*sent} & {*again}
    assert contents(pull(place, tmp_path / "back")) == contents(folder)


def test_a_pull_that_was_stopped_goes_on(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place, fetched = f"file://{tmp_path}/there", list[str]()
    push(folder, place)
    fetch = Place.fetch

    def stopped(self: Place, name: str, part: Path, size: int) -> None:
        if len(fetched) == 2:
            raise KeyboardInterrupt
        fetched.append(name)
        fetch(self, name, part, size)

    with monkeypatch.context() as patch:
        patch.setattr(Place, "fetch", stopped)
        with pytest.raises(KeyboardInterrupt):
            pull(place, tmp_path / "back")
    assert not (tmp_path / "back").exists()
    again: list[str] = []
    monkeypatch.setattr(
        Place, "fetch", lambda self, name, part, size: again.append(name) or fetch(self, name, part, size)
    )
    assert contents(pull(place, tmp_path / "back")) == contents(folder) and len(again) == 1


def test_a_damaged_file_is_refused_and_sent_again(folder: Path, tmp_path: Path) -> None:
    place = f"file://{tmp_path}/there"
    push(folder, place)
    file = tmp_path / "there" / "README.md"
    file.write_text("A CARD")  # as long as it was
    with pytest.raises(UserError, match="does not have the bytes that were pushed"):
        pull(place, tmp_path / "back")
    (tmp_path / "there" / MANIFEST).unlink()
    push(folder, place)
    assert file.read_text() == "a card"


@pytest.mark.parametrize("name", [BEGUN, MANIFEST])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_push_that_was_stopped_while_it_said_what_it_is_goes_on(
    folder: Path, place: str, tmp_path: Path, name: str, share: float
) -> None:
    """As a full disk stops it, or a kill: half a file is there, or nothing of it."""
    other, there = Place(f"file://{tmp_path}/other"), Place(place)
    push(folder, other.url)
    said = other.read(name) or b""
    assert there.create(name, said[: int(share * len(said))])
    push(folder, place)
    assert there.read(name) == said
    assert contents(pull(place, tmp_path / "back")) == contents(folder)


def test_a_full_place_is_told(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    there = Place(f"file://{tmp_path}/there")
    monkeypatch.setattr(type(there.fs), "put_file", full)
    with pytest.raises(UserError, match=r"\(\[Errno 28\] No space left on device\); free some room there"):
        push(folder, there.url)


def test_two_who_push_do_not_mix(folder: Path, tmp_path: Path) -> None:
    place = f"file://{tmp_path}/there"
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / BEGUN).write_text("{}")
    with pytest.raises(UserError, match="was begun with something else"):
        push(folder, place)


def test_what_others_have_put_there_is_not_replaced(folder: Path, place: str) -> None:
    there = Place(place)
    assert there.create("README.md", b"theirs")
    with pytest.raises(UserError, match=r"has another README\.md already; nothing there is replaced"):
        push(folder, place)
    assert there.read("README.md") == b"theirs" and there.read(BEGUN) is None


def test_an_artefact_goes_from_store_to_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe("numbers", 1, {"count": 3}, {})
    one, other = Store(tmp_path / "one"), Store(tmp_path / "other")
    made = one.get(recipe, lambda draft: (draft / "numbers").write_text("1 2 3") and None)
    push(made, "memory://numbers")
    assert pull("memory://numbers", store=other) == other.path(recipe)
    assert other.has(recipe) and not other.verify() and contents(other.path(recipe)) == contents(made)
    assert pull("memory://numbers", store=other) == other.path(recipe)


def test_who_fetches_an_artefact_has_it_alone_and_leaves_nothing_that_looks_like_one(tmp_path: Path) -> None:
    """A fetched artefact has the lock and the place of a draft that one that is made has."""
    recipe = Recipe("numbers", 1, {"count": 3}, {})
    one, other = Store(tmp_path / "one"), Store(tmp_path / "other")
    push(one.get(recipe, lambda draft: (draft / "numbers").write_text("1 2 3") and None), "memory://alone")
    seen: list[bool] = []

    def stopped(_: str, done: int, total: int) -> None:
        lock = other.home / "locks" / recipe.digest
        seen.append(lock.exists() and not abandoned(lock))
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull("memory://alone", store=other, progress=stopped)
    assert seen == [True, True]
    assert not [*other.folders()] and not other.verify() and not [*other.draft(recipe).parent.glob(recipe.digest)]
    assert {one.what for one in sweep(other)} >= {"a draft that was interrupted"}
    made = other.get(recipe, lambda draft: (draft / "numbers").write_text(f"{[*draft.iterdir()]}") and None)
    assert (made / "numbers").read_text() == "[]"  # nothing from elsewhere is taken for a finished part


def test_a_pull_that_was_killed_at_its_end_leaves_no_checksums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe("numbers", 1, {"count": 3}, {})
    one, other = Store(tmp_path / "one"), Store(tmp_path / "other")
    push(one.get(recipe, lambda draft: (draft / "numbers").write_text("1 2 3") and None), "memory://ended")
    with monkeypatch.context() as killed, pytest.raises(KeyboardInterrupt):
        killed.setattr(shutil, "rmtree", Mock(side_effect=KeyboardInterrupt))
        pull("memory://ended", store=other)
    assert other.has(recipe) and [*(other.home / "drafts").iterdir()]
    assert pull("memory://ended", store=other) == other.path(recipe)
    assert not [*(other.home / "drafts").iterdir()]


def test_an_artefact_that_is_not_as_its_own_manifest_says_stays_out(tmp_path: Path) -> None:
    recipe, store = Recipe("numbers", 1, {"count": 3}, {}), Store(tmp_path / "other")
    made = Store(tmp_path / "one").get(recipe, lambda draft: (draft / "numbers").write_text("1 2 3") and None)
    (made / "numbers").write_text("1 2 4")
    push(made, "memory://changed")
    with pytest.raises(UserError, match="numbers is not as its manifest says; nothing was put into the store"):
        pull("memory://changed", store=store)
    (made / "recipe.json").write_text(Recipe("../numbers", 1, {}, {}).canonical())
    push(made, "memory://astray")
    with pytest.raises(UserError, match="is of no stage of a store"):
        pull("memory://astray", store=store)
    assert not [*store.folders()]


def test_links_are_not_followed_to_what_nobody_wants_to_send(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (folder / "notes.md").symlink_to(tmp_path / "secret")
    with pytest.raises(UserError, match=r"notes\.md is a link"):
        push(folder, "memory://links")


def test_a_manifest_that_leads_elsewhere_is_refused(folder: Path, tmp_path: Path) -> None:
    place = f"file://{tmp_path}/there"
    push(folder, place)
    said = json.loads((tmp_path / "there" / MANIFEST).read_text())
    said["files"]["../out"] = {"size": 1, "checksum": ""}
    (tmp_path / "there" / MANIFEST).write_text(json.dumps(said))
    with pytest.raises(UserError, match="cannot be the name"):
        pull(place, tmp_path / "back")
    for text in ("{", '{"format": 99, "files": {}}', '{"format": 1}'):
        (tmp_path / "there" / MANIFEST).write_text(text)
        with pytest.raises(UserError):
            pull(place, tmp_path / "back")


def test_a_bucket_without_permission_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "anybody")
    with bucket(refused=True) as (address, objects):
        with pytest.raises(UserError, match=r"cannot be written .* your permission"):
            push(folder, f"s3://bucket/data?endpoint_override={address}&scheme=http&region=here")
        assert not objects


def test_the_command_line(invoke: Run, folder: Path, tmp_path: Path) -> None:
    place = f"file://{tmp_path}/there"
    assert invoke("push", folder, place).code == 0
    assert invoke("pull", place, "--out", tmp_path / "back").code == 0
    assert contents(tmp_path / "back") == contents(folder)
    refused(invoke("pull", place, "--out", tmp_path / "back"), "exists and is not empty")
    refused(invoke("pull", place), "is a dataset; say with out where it goes")
    refused(invoke("push", tmp_path / "nothing", place), "there is no folder and no artefact")
    refused(invoke("push", tmp_path, place), "has no recipe.json")
    refused(invoke("push", folder, "gopher://there"), "is no place that can be reached")
    refused(invoke("pull", f"file://{tmp_path}/empty", "--out", tmp_path / "b"), f"has no {MANIFEST}")


def test_a_place_that_sends_without_end_is_stopped(folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """It says the right size, and then sends more: at most one byte of that is taken."""
    place = str(tmp_path / "place")
    push(folder, place)
    taken: list[int] = []
    there = Place(place)

    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            taken.append(size)
            return bytes(size)

    monkeypatch.setattr(there.fs, "open", lambda *_, **__: Endless())
    there.fetch("recipe.json", tmp_path / "part", 100)
    assert sum(taken) == (tmp_path / "part").stat().st_size == 101
    taken.clear()
    with pytest.raises(UserError, match="larger than it says"):
        there.read("recipe.json")
    assert taken == [MOST + 1]
