"""Pictures of what is used: `make --episodes` and `make --family` draw these scenes and no others."""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from recombine import Clevr, Curi
from recombine.benchmarks.clevr.pipeline import ClevrScale
from recombine.benchmarks.curi.pipeline import Scale
from recombine.store.errors import UserError
from recombine.store.store import Store

FEW = Scale("few", 1_500, 20_000, 6, 3, 6)


def scenes_in(folder: Path, pattern: str, *columns: str) -> set[int]:
    tables = [pq.read_table(file, columns=list(columns)) for file in sorted(folder.glob(pattern))]
    lists = [column.combine_chunks() for table in tables for column in table.columns]
    return {int(n) for one in lists for n in np.asarray(one.flatten() if hasattr(one, "flatten") else one)}


def test_every_test_episode_is_pictured_whole_and_nothing_else_is(own_home: Path, tmp_path: Path) -> None:
    told: list[str] = []
    for workers in (1, 2):
        with Curi(FEW, episodes=2, workers=workers, store=Store(own_home)) as study:
            out = study.make(tmp_path / f"{workers}", ["counting"], render="images", size="8x8", tell=told.append)
    one, two = (
        {str(f.relative_to(d)): f.read_bytes() for f in d.rglob("*.parquet")} for d in (tmp_path / "1", tmp_path / "2")
    )
    assert one == two
    asked = scenes_in(out, "episodes/counting/hard/test/*.parquet", "support", "query")
    drawn = scenes_in(out, "images/*.parquet", "scene")
    assert drawn == asked and len(drawn) < 1_500
    assert f"{len(drawn):,} images, of the 1,500 scenes those that are used, take about" in told[0]
    assert "Pictures and sounds are those of the scenes that the test episodes" in (out / "README.md").read_text()


def test_other_numbers_of_episodes_are_other_data(own_home: Path, tmp_path: Path) -> None:
    with Curi(FEW, episodes=2, store=Store(own_home)) as study:
        study.make(tmp_path / "out", ["counting"])
        assert "--episodes 2" in (tmp_path / "out" / "README.md").read_text()
    with Curi(FEW, episodes=3, store=Store(own_home)) as study, pytest.raises(UserError, match="is not empty"):
        study.make(tmp_path / "out", ["counting"])
    with Curi(FEW, episodes=3, store=Store(own_home)) as study, pytest.raises(UserError, match="give one of them"):
        study.make(tmp_path / "other", ["counting"], render="images", first=3)


def test_questions_of_a_family_bring_their_pictures(own_home: Path, tmp_path: Path) -> None:
    with Clevr(ClevrScale("few", 8, 8, 8, 2), store=Store(own_home)) as study:
        out = study.make(tmp_path / "out", family="zero_hop", questions=3, render="images", size="8x8")
    for part in ("train", "val", "test"):
        asked = scenes_in(out, f"questions/{part}/*.parquet", "image_index")
        assert scenes_in(out, f"images/{part}/*.parquet", "scene") == asked and len(asked) <= 3
