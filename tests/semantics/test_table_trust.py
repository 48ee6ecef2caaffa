"""A table that is killed, cut off or damaged while it is made comes out as one that was not."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recombine.semantics.table import fill, load, senses, size_of
from recombine.store.engine import InProcess
from recombine.store.errors import UserError
from recombine.store.recipe import Recipe
from recombine.store.store import Store
from tests.semantics.test_table import BLOCKS, EVERYONE, SCENES, SmallReader, census

RECIPE = Recipe("table", 1, {}, {})


class Stopping(InProcess):
    """Stops after so many shards."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def map(self, work: Callable[[Any], Any], shards: Sequence[Any], label: str) -> list[Any]:
        super().map(work, shards[: self.after], label)
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def made() -> tuple[np.ndarray, SmallReader]:
    sense, first = senses(census(EVERYONE, BLOCKS, InProcess()).extension)
    return sense, SmallReader(tuple(map(int, first)))


def stopped(store: Store, made: tuple[np.ndarray, SmallReader], after: int) -> Path:
    sense, reader = made
    with pytest.raises(KeyboardInterrupt):
        store.get(RECIPE, lambda draft: fill(draft, reader, sense, SCENES, Stopping(after)))
    return store.draft(RECIPE)


def finished(store: Store, made: tuple[np.ndarray, SmallReader], forbidden: tuple[int, ...] = ()) -> dict[str, bytes]:
    sense, reader = made
    only = SmallReader(reader.chosen, forbidden)
    folder = store.get(RECIPE, lambda draft: fill(draft, only, sense, SCENES, InProcess()))
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.npy")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, made: tuple[np.ndarray, SmallReader]) -> dict[str, bytes]:
    return finished(Store(tmp_path_factory.mktemp("whole")), made)


def test_what_was_stopped_goes_on(tmp_path: Path, made: Any, whole: dict[str, bytes]) -> None:
    store = Store(tmp_path)
    stopped(store, made, 2)
    assert finished(store, made, forbidden=(0, 1)) == whole


@pytest.mark.parametrize("name", ["by_sense.npy", "by_scene.npy", "done/00001.npy"])
def test_a_flipped_bit_of_a_block_is_filled_again(tmp_path: Path, made: Any, whole: Any, name: str) -> None:
    store, warnings = Store(tmp_path, lambda _: None), list[str]()
    file = stopped(store, made, 2) / name
    content = bytearray(file.read_bytes())
    content[len(content) // 2 if "by" in name else -1] ^= 1  # in the middle of the three blocks
    file.write_bytes(content)
    store = Store(tmp_path, warnings.append)
    assert finished(store, made, forbidden=(0,)) == whole
    assert len(warnings) == 1 and "00001.npy" in warnings[0]


@pytest.mark.parametrize("left", [b"", b"\x93NUMPY"])
def test_an_array_that_was_cut_off_is_made_again(tmp_path: Path, made: Any, whole: Any, left: bytes) -> None:
    store = Store(tmp_path)
    draft = stopped(store, made, 1)
    (draft / "by_sense.npy").write_bytes(left)
    store = Store(tmp_path, lambda _: None)
    assert finished(store, made) == whole


def test_a_table_that_cannot_be_read_is_no_interruption(tmp_path: Path, made: Any) -> None:
    sense, reader = made
    fill(tmp_path, reader, sense, SCENES, InProcess())
    for name in ("sense.npy", "before.npy", "by_sense.npy", "by_scene.npy"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(UserError, match=r"npy cannot be read"):
            load(tmp_path, SCENES)


def test_the_size_of_a_table_is_known_before(tmp_path: Path, made: Any, whole: dict[str, bytes]) -> None:
    size = sum(map(len, whole.values()))
    assert size <= size_of(SCENES, int(made[0].max()) + 1) + 10_000 <= 1.2 * size


# --- without compiled loops

PLAIN = """
import sys
from pathlib import Path
from recombine.benchmarks.curi.language import CURI_LOT
from recombine.benchmarks.curi.spelling import Speller
from recombine.benchmarks.curi.pipeline import Scale, Setup, CuriPipeline
from recombine.store.store import Store
colors = "gray red blue green brown cyan purple yellow".split()
own = tuple(Speller(CURI_LOT).read(f"{how}(color?(S), {color})") for how in ("all", "any") for color in colors)
study = CuriPipeline(Setup(scale=Scale("tiny", 300, 0, 2, 2, 2), concepts=own), Store(Path(sys.argv[1])))
for negatives in ("hard", "easy"):
    study.gaps("instance-iid", negatives)
"""


def test_curi_is_the_same_without_compiled_loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for how in ("0", "1"):
        monkeypatch.setenv("NUMBA_DISABLE_JIT", how)
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-c", PLAIN, tmp_path / how], capture_output=True, text=True
        )
        assert ran.returncode == 0, ran.stderr
    one, other = (
        {str(f.relative_to(tmp_path / how)): f.read_bytes() for f in (tmp_path / how).rglob("*.parquet")}
        for how in "01"
    )
    assert one == other and len(one) > 6
