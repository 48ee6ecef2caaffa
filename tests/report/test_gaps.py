"""Laws of the one gap table: what it says of learners, controls, published values and several worlds."""

import json
from dataclasses import replace

import pytest

from recombine.metrics.gap import Gap
from recombine.metrics.intervals import Interval
from recombine.report.gaps import Gaps, Trial, over_worlds


def trial(split: str, weak: float, control: bool = False, published: dict | None = None, metric: str = "mAP") -> Trial:
    strong, poor = Interval(100.0, 100.0, 100.0), Interval(weak, weak - 2, weak + 2)
    gap = Gap(split, metric, strong, poor, Interval(100 - weak, 98 - weak, 102 - weak), 180)
    return Trial(split, f"{split}/test", split.title(), gap, {"membership": 33.3}, published or {}, control)


PAPER = {"paper strong": 92.2, "paper weak": 35.4, "CNN": 50.0}
GAPS = Gaps(
    "mine",
    "Mine",
    {"scale": "demo", "seed": 7},
    (trial("boolean", 60.0, published=PAPER), trial("boolean", 100.0, control=True), trial("rest", 80.0)),
    "episodes",
    "Too few.",
    "Published: elsewhere.",
)


def test_a_table_has_learners_gap_control_and_what_was_published() -> None:
    table = GAPS.table()
    names = [column.name for column in table.columns]
    assert names == ["split", "strong", "weak", "membership", "gap", "episodes", "gap on control", *PAPER]
    first, second = table.texts()
    assert first[0] == "Boolean" and first[4] == "40.0 [38.0, 42.0]" and first[6] == "0.0 [-2.0, 2.0]"
    assert second[6:] == ["–"] * 4
    assert all(text in table.note for text in ("Scale demo, seed 7", "episodes", "Too few.", "Published: elsewhere."))


def test_a_brief_table_fits_a_terminal_and_keeps_the_gap() -> None:
    table = GAPS.brief()
    assert table.texts()[0] == ["Boolean", "100.0 ± 0.0", "60.0 ± 2.0", "40.0 ± 2.0", "0.0", "92.2 / 35.4"]
    assert table._fitted(80)[1] == []


def test_who_is_the_best_is_said_where_it_stands() -> None:
    one = trial("boolean", 60.0)
    several = replace(GAPS, trials=(replace(one, best=(one.gap, "membership")),))
    assert "The best: " in several.table().note and "gap to the best" in [one.name for one in several.table().columns]
    assert "The best: " not in several.brief().note and "The best: " not in GAPS.table().note


def test_every_record_has_the_same_fields() -> None:
    records = json.loads(json.dumps(GAPS.json()))
    assert len({tuple(record) for record in records}) == 1 and len(records) == 3
    assert [record["control"] for record in records] == [False, True, False]
    assert records[0]["published"] == PAPER and records[0]["gap"] == 40.0 and records[0]["seed"] == 7


def test_metrics_have_tables_of_their_own() -> None:
    both = Gaps(
        "m", "M", {"seed": 0}, (trial("a", 50.0), trial("a", 70.0, metric="accuracy")), "episodes", "Said once."
    )
    first, second = both.briefs()
    assert (first.note, "Said once." in second.note) == ("", True)
    assert [both.table(metric).rows[0][2].value for metric in both.metrics] == [50.0, 70.0]  # type: ignore[union-attr]
    assert both["a"].gap.value == 50.0


def test_several_worlds_give_a_mean_with_an_interval_over_them() -> None:
    worlds = [Gaps("m", "M", {"seed": seed}, (trial("a", weak),), "images") for seed, weak in ((3, 40.0), (4, 50.0))]
    found = over_worlds(worlds)
    gap = found["a"]
    assert gap.gap.value == pytest.approx(55.0) and gap.gap.low < 45 and gap.gap.high == 100.0 and gap.episodes == 360
    assert found.settings == {"seed": 3, "seeds": 2} and "worlds" in found.table().note
    assert over_worlds(worlds[:1]) is worlds[0]


def test_gaps_are_a_data_frame() -> None:
    pytest.importorskip("pandas", reason="data frames need pandas: pip install pandas")
    frame = GAPS.to_pandas()
    assert list(frame["split"]) == [trial.title for trial in GAPS.of()]
    assert list(frame["gap"]) == [trial.gap.gap.value for trial in GAPS.of()]
