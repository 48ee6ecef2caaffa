import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recombine.store import store as store_module
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store, read_recipe, read_table, write_atomically, write_table

RECIPE = Recipe("scenes", 1, {"count": 3}, {})
PARTS = ("0.txt", "1.txt", "2.txt")

# A program that makes the artefact of RECIPE part by part, and notes in a log each build and each part it writes.
# Asked to, it hangs before part 1 until it is killed.
MAKER = """
import sys, time
from pathlib import Path
from recombine.store.recipe import Recipe
from recombine.store.store import Store, write_atomically

home, log, hang = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "hang"

def note(text):
    with log.open("a") as file:
        file.write(text + "\\n")

def write(name, part):
    part.write_text(name)
    if hang and name == "1.txt":
        print("hanging", flush=True)
        time.sleep(600)

def make(draft):
    note("build")
    for name in ("0.txt", "1.txt", "2.txt"):
        if not (draft / name).exists():
            write_atomically(draft / name, lambda part: write(name, part))
            note(name)
            time.sleep(0.05)

print(Store(home).get(Recipe("scenes", 1, {"count": 3}, {}), make))
"""


def maker(home: Path, log: Path, how: str) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", MAKER, home, log, how], stdout=subprocess.PIPE, text=True)


class Maker:
    """Writes the parts that are not there, and remembers which; may stop before one of them."""

    def __init__(self, stop_before: str | None = None, error: type[BaseException] = RuntimeError):
        self.written: list[str] = []
        self.stop_before = stop_before
        self.error = error

    def __call__(self, draft: Path) -> None:
        for name in PARTS:
            if name == self.stop_before:
                raise self.error
            if not (draft / name).exists():
                write_atomically(draft / name, lambda part, name=name: part.write_text(name))
                self.written.append(name)


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path, warnings) -> Store:
    return Store(tmp_path / "home", warnings.append)


def contents(folder: Path) -> dict[str, str]:
    return {name: (folder / name).read_text() for name in PARTS}


WHOLE = {name: name for name in PARTS}


def test_an_artefact_is_made_once(store):
    first, second = Maker(), Maker()
    assert not store.has(RECIPE)
    assert store.get(RECIPE, first) == store.get(RECIPE, second) == store.path(RECIPE)
    assert store.has(RECIPE)
    assert (first.written, second.written) == ([*PARTS], [])
    assert contents(store.path(RECIPE)) == WHOLE


def test_another_recipe_is_another_artefact(store):
    other = Maker()
    store.get(RECIPE, Maker())
    store.get(Recipe("scenes", 2, {"count": 3}, {}), other)
    assert other.written == [*PARTS]


def test_an_artefact_carries_its_recipe(store):
    assert read_recipe(store.get(RECIPE, Maker())) == RECIPE


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_interrupted_draft_is_resumed(store, error):
    second = Maker()
    with pytest.raises(error):
        store.get(RECIPE, Maker("2.txt", error))
    assert not store.has(RECIPE)
    store.get(RECIPE, second)
    assert second.written == ["2.txt"]
    assert contents(store.path(RECIPE)) == WHOLE


def test_a_killed_draft_is_resumed_and_leaves_no_litter(store, tmp_path):
    with maker(store.home, tmp_path / "log", "hang") as process:
        assert process.stdout.readline() == "hanging\n"
        process.kill()
    second = Maker()
    folder = store.get(RECIPE, second)
    assert second.written == ["1.txt", "2.txt"]
    assert sorted(file.name for file in folder.iterdir()) == [*PARTS, "manifest.json", "recipe.json"]
    assert contents(folder) == WHOLE


def test_processes_that_ask_at_once_make_it_once(store, tmp_path):
    makers = [maker(store.home, tmp_path / "log", "finish") for _ in range(3)]
    answers = {process.communicate()[0].strip() for process in makers}
    assert answers == {str(store.path(RECIPE))}
    assert (tmp_path / "log").read_text().split() == ["build", *PARTS]


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[0] ^= 1
    file.write_bytes(content)


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-3])


def move_time(file: Path) -> None:
    os.utime(file, ns=(0, file.stat().st_mtime_ns + 10**9))


@pytest.mark.parametrize("damage", [flip, truncate, Path.unlink])
@pytest.mark.parametrize("name", ["1.txt", "recipe.json", "manifest.json"])
def test_damage_is_noticed_named_and_repaired(store, warnings, damage, name):
    folder = store.get(RECIPE, Maker())
    damage(folder / name)
    assert [(where, file) for where, file, _ in store.verify()] == [(folder, name)]
    store.get(RECIPE, Maker())
    assert len(warnings) == 1
    assert str(folder / name) in warnings[0]
    assert contents(folder) == WHOLE
    assert store.verify() == []


def test_whichever_bit_flips_the_same_bytes_are_delivered(store):
    """In a manifest a time may differ; everything else is made again."""
    folder, rng = store.get(RECIPE, Maker()), (Key(0) / "bits").rng()
    for name in (*WHOLE, "recipe.json", "manifest.json"):
        for bit in rng.integers(0, 8 * (folder / name).stat().st_size, 30):
            content = bytearray((folder / name).read_bytes())
            content[bit // 8] ^= 1 << bit % 8
            (folder / name).write_bytes(content)
            assert contents(store.get(RECIPE, Maker())) == WHOLE


def test_damage_after_a_check_is_noticed(store, warnings):
    folder = store.get(RECIPE, Maker())
    store.get(RECIPE, Maker())
    flip(folder / "1.txt")
    move_time(folder / "1.txt")
    store.get(RECIPE, Maker())
    assert len(warnings) == 1


def test_a_touched_file_is_still_sound(store, warnings):
    move_time(store.get(RECIPE, Maker()) / "1.txt")
    store.get(RECIPE, Maker(stop_before="0.txt"))
    assert warnings == []


def test_a_file_is_hashed_once_per_process(store, monkeypatch):
    hashed = []
    store.get(RECIPE, Maker())
    checksum = store_module._checksum
    monkeypatch.setattr(store_module, "_checksum", lambda file: hashed.append(file.name) or checksum(file))
    for _ in range(3):
        store.get(RECIPE, Maker())
    assert sorted(hashed) == [*PARTS, "recipe.json"]


def test_a_large_file_is_hashed_only_when_its_time_differs(store, warnings, monkeypatch):
    monkeypatch.setattr(store_module, "HASHED_WHEN_OPENED", 4)
    file = store.get(RECIPE, Maker()) / "1.txt"
    before = file.stat().st_mtime_ns
    flip(file)
    os.utime(file, ns=(before, before))
    store.get(RECIPE, Maker())
    assert warnings == []
    assert len(store.verify()) == 1
    move_time(file)
    store.get(RECIPE, Maker())
    assert len(warnings) == 1


def test_the_default_warning_is_one_line_on_stderr(tmp_path, capsys):
    store = Store(tmp_path)
    flip(store.get(RECIPE, Maker()) / "1.txt")
    store.get(RECIPE, Maker())
    assert "1.txt" in capsys.readouterr().err.splitlines()[0]


def test_a_newer_store_is_refused(store):
    (store.home / "store.json").write_text('{"format": 2}')
    with pytest.raises(UserError, match=r"newer version of recombine.*RECOMBINE_HOME"):
        Store(store.home)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": "x"}', "{}"])
def test_an_unreadable_store_is_named(store, text):
    (store.home / "store.json").write_text(text)
    with pytest.raises(UserError, match=r"store\.json"):
        Store(store.home)


@pytest.mark.parametrize("text", ["{", "[1]", '{"stage": "scenes"}'])
def test_an_unreadable_recipe_is_named(tmp_path, text):
    (tmp_path / "recipe.json").write_text(text)
    with pytest.raises(UserError, match=r"recipe\.json"):
        read_recipe(tmp_path)


def test_a_home_that_cannot_be_created_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for home in (tmp_path / "file", tmp_path / "file" / "home"):
        with pytest.raises(UserError, match="RECOMBINE_HOME"):
            Store(home)


def test_a_home_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    # Root may write anywhere, so a folder's permissions would not show this.
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    with pytest.raises(UserError, match=r"Cannot write.*RECOMBINE_HOME"):
        Store(tmp_path)


def test_the_default_home_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path / "here"))
    assert Store.default().home == tmp_path / "here"
    monkeypatch.delenv("RECOMBINE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Store.default().home == tmp_path / ".cache" / "recombine"


@pytest.mark.parametrize("stage", ["locks", "drafts", "", "..", "a/b", "store.json"])
def test_a_stage_must_be_a_folder_of_its_own(store, stage):
    with pytest.raises(ValueError, match="stage"):
        store.path(Recipe(stage, 1, {}, {}))


def test_too_small_a_disk_is_refused(store):
    store.need(1)
    with pytest.raises(UserError, match=r"needs 1,000 PB.*smaller scale.*RECOMBINE_HOME"):
        store.need(10**18)


def test_a_file_that_fails_halfway_does_not_appear(tmp_path):
    def fail(part: Path) -> None:
        part.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_atomically(tmp_path / "whole.txt", fail)
    assert list(tmp_path.iterdir()) == []


def test_a_file_appears_in_one_step(tmp_path):
    written = []

    def write(part: Path) -> None:
        part.write_text("whole")
        written.append(part.stat().st_ino)

    write_atomically(tmp_path / "whole.txt", write)
    assert written == [(tmp_path / "whole.txt").stat().st_ino]


def test_a_table_is_readable_by_others_and_carries_its_recipe(tmp_path):
    file = tmp_path / "numbers.parquet"
    write_table(file, pa.table({"n": [1, 2], "name": ["a", "b"]}), RECIPE)
    assert pd.read_parquet(file).to_dict("list") == {"n": [1, 2], "name": ["a", "b"]}
    assert json.loads(pq.read_schema(file).metadata[b"recombine.recipe"]) == json.loads(RECIPE.canonical())


def test_a_folder_is_read_in_the_order_of_names(tmp_path):
    for name in (2, 0, 1):
        write_table(tmp_path / f"{name}.parquet", pa.table({"n": [name], "m": [-name]}), RECIPE)
    assert read_table(tmp_path).to_pydict() == {"n": [0, 1, 2], "m": [0, -1, -2]}
    assert read_table(tmp_path, ["n"]).to_pydict() == {"n": [0, 1, 2]}
    assert read_table(tmp_path / "1.parquet").to_pydict() == {"n": [1], "m": [-1]}


def test_an_unreadable_table_is_named(tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"not a table")
    write_table(tmp_path / "sound.parquet", pa.table({"n": [1]}), RECIPE)
    (tmp_path / "empty").mkdir()
    for read in (
        partial(read_table, tmp_path / "broken.parquet"),
        partial(read_table, tmp_path),
        partial(read_table, tmp_path / "missing.parquet"),
        partial(read_table, tmp_path / "sound.parquet", ["absent"]),
        partial(read_table, tmp_path / "empty"),
    ):
        with pytest.raises(UserError, match=str(tmp_path)):
            read()


# --- what is not believed


def stopped(store: Store) -> Path:
    with pytest.raises(RuntimeError):
        store.get(RECIPE, Maker("2.txt"))
    return store.draft(RECIPE)


def test_a_flipped_bit_in_a_draft_is_made_again(store, warnings):
    draft, second = stopped(store), Maker()
    flip(draft / "0.txt")
    assert contents(store.get(RECIPE, second)) == WHOLE
    assert second.written == ["0.txt", "2.txt"]
    assert len(warnings) == 1 and str(draft / "0.txt") in warnings[0]


def test_a_part_of_which_nothing_is_noted_is_made_again(store, warnings):
    draft, second = stopped(store), Maker()
    (store.home / "drafts" / f"{RECIPE.digest}.sums" / "1.txt").unlink()
    (draft / "stray").symlink_to(store.home / "store.json")
    assert sorted(file.name for file in store.get(RECIPE, second).iterdir()) == [*PARTS, "manifest.json", "recipe.json"]
    assert second.written == ["1.txt", "2.txt"]


def test_a_bit_that_flips_while_it_is_made_is_seen_before_sealing(store, warnings):
    tries = []

    def unlucky(draft: Path) -> None:
        Maker()(draft)
        tries.append(1)
        if len(tries) == 1:
            flip(draft / "1.txt")

    assert contents(store.get(RECIPE, unlucky)) == WHOLE
    assert len(tries) == 2 and len(warnings) == 1


def test_a_disk_that_keeps_nothing_is_blamed(store, warnings):
    def hopeless(draft: Path) -> None:
        Maker()(draft)
        flip(draft / "1.txt")

    with pytest.raises(UserError, match="check the disk"):
        store.get(RECIPE, hopeless)
    assert not store.has(RECIPE)


def test_what_was_removed_on_purpose_is_no_damage(store, warnings):
    def make(draft: Path) -> None:
        Maker()(draft)
        (draft / "1.txt").unlink()

    assert not (store.get(RECIPE, make) / "1.txt").exists() and warnings == []


def test_an_artefact_from_before_there_were_checksums_is_read(store):
    folder = store.get(RECIPE, Maker())
    assert sorted(path.name for path in store.home.rglob("*.sums")) == []
    store.get(RECIPE, Maker(stop_before="0.txt"))
    assert store.verify() == [] and contents(folder) == WHOLE


def test_a_manifest_cannot_point_elsewhere(store, tmp_path):
    folder = store.get(RECIPE, Maker())
    os.mkfifo(folder / "pipe")
    (tmp_path / "precious").write_text("x")
    manifest = json.loads((folder / "manifest.json").read_text())
    for name in ("../../../precious", str(tmp_path / "precious"), "pipe"):
        files = {**manifest["files"], name: {"size": 0, "mtime_ns": 0, "checksum": ""}}
        (folder / "manifest.json").write_text(json.dumps({**manifest, "files": files}))
        assert len(store.verify()) == 1


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": Infinity}', '{"format": ' + "1" * 5000 + "}", '"\\ud800"'])
def test_a_store_that_was_tampered_with_is_named(store, text):
    (store.home / "store.json").write_text(text)
    with pytest.raises(UserError, match=r"store\.json"):
        Store(store.home)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"stage": 1e999}', '{"stage": [], "version": 1, "parameters": 1, "inputs": 2}']
)
def test_a_recipe_that_was_tampered_with_is_named(tmp_path, text):
    (tmp_path / "recipe.json").write_text(text)
    with pytest.raises(UserError, match=r"recipe\.json"):
        read_recipe(tmp_path)


# As another user, for root may write anywhere.
READER = """
import os, sys
from pathlib import Path
from recombine.store.errors import UserError
from recombine.store.recipe import Recipe
from recombine.store.store import Store
Store(Path(sys.argv[1])).verify()  # all of Python that it takes is loaded now
os.setuid(65534)
store = Store(Path(sys.argv[1]))
print(store.get(Recipe("scenes", 1, {"count": 3}, {}), None))
try:
    store.get(Recipe("scenes", 2, {"count": 3}, {}), None)
except UserError as error:
    print(error)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_store_that_is_complete_can_be_used_by_who_may_only_read(store, tmp_path):
    folder = store.get(RECIPE, Maker())
    for path in (tmp_path, *tmp_path.parents[:3]):
        path.chmod(path.stat().st_mode | 0o055)
    ran = subprocess.run([sys.executable, "-c", READER, store.home], capture_output=True, text=True)
    assert ran.stdout.splitlines()[:1] == [str(folder)], ran.stderr
    assert "Cannot write to the store" in ran.stdout


def test_a_table_that_claims_too_much_is_not_unpacked(tmp_path):
    file = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"n": pa.array([0] * 100_000)}), file)
    assert len(read_table(file, most=100_000)) == 100_000
    with pytest.raises(UserError, match=r"bomb\.parquet.*100,000 values"):
        read_table(file, most=99_999)
