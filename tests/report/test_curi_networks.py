"""The page of CURI's networks: what is averaged, what is compared, what is said of more steps."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recombine.benchmarks.curi import findings
from recombine.benchmarks.curi.network_pages import markdown_page, tables
from recombine.benchmarks.curi.published import FIGURE, NETWORKS, SPLITS
from recombine.benchmarks.curi.runs import (
    Group,
    Outcome,
    cost_table,
    grouped_runs,
    growth_table,
    score_table,
    written_table,
)
from recombine.benchmarks.curi.training import PAPER, Job
from recombine.metrics.gap import Gap
from recombine.metrics.intervals import Interval
from recombine.report.curves import Curve, curve_chart
from recombine.report.table import Column, Table

TRAINING = replace(PAPER, steps=1_000, validate_every=250)
IDEAL = {
    ("release", "paper", 0, "counting", "hard"): {
        metric: Gap("counting", metric, Interval(98, 97, 99), Interval(62, 60, 64), Interval(36, 34, 38), 100)
        for metric in ("mAP", "accuracy")
    }
}


def outcome(
    value: float, seed: int = 0, steps: int = 1_000, written: Mapping[str, Any] | None = None, **job: Any
) -> Outcome:
    score = {"value": value, "low": value - 0.01, "high": value + 0.01}
    results = {
        "scores": {"mAP": score, "accuracy": score},
        "episodes": 200,
        "written": written,
        "parameters": 460_980,
        "best_step": steps,
        "steps": steps,
        "seconds": 20.0,
        "cpu_seconds": 10.0,
    }
    curve = ((250, value / 4), (500, value / 2), (1_000, value))
    wanted = {"split": "counting", "pooling": "avg-pool", "training": TRAINING} | job
    config = {"network": {"pooling": wanted["pooling"]}, "data": {"train": "f00d"}}
    return Outcome(Job(seed=seed, **wanted), config, results, curve)


def test_seeds_are_averaged_and_nothing_else_is():
    found = [
        outcome(0.2),
        outcome(0.4, seed=1),
        outcome(0.5, pooling="concat"),
        outcome(0.6, scale="demo"),
        outcome(0.7, alpha=1.0),
        outcome(0.8, steps=2_000),
        outcome(0.9, negatives="easy"),
        outcome(0.1, training=replace(TRAINING, rate=1e-2)),
        replace(outcome(0.3), config={"network": {}, "data": {"train": "other"}}),
    ]
    groups = grouped_runs(found)
    assert sorted(len(group.runs) for group in groups) == [1] * 7 + [2]
    (pair,) = (group for group in groups if len(group.runs) == 2)
    assert pair.score("mAP").value == pytest.approx(30)
    assert pair.score("mAP").high - pair.score("mAP").value > 50  # two seeds say little


def test_one_seed_has_the_interval_of_its_episodes():
    (group,) = grouped_runs([outcome(0.2)])
    found = group.score("mAP")
    assert (found.low, found.value, found.high) == pytest.approx((19, 20, 21))


def test_a_row_has_ours_the_papers_and_the_oracles():
    (row,) = score_table(grouped_runs([outcome(0.2)]), "mAP", IDEAL).rows
    assert row[:2] == ("counting", "schema avg-pool") and row[5:] == ("55.0 ± 6.4", 62, 98)


def test_what_the_paper_did_not_do_has_no_number_of_it():
    for other in (
        outcome(0.2, alpha=1.0),
        outcome(0.2, negatives="easy"),
        outcome(0.2, modality="sound", pooling="transformer"),
        outcome(0.2, scale="small"),
        outcome(0.2, edition="paper"),
        outcome(0.2, modality="image", size=(60, 40)),
        outcome(0.2, training=replace(TRAINING, batch=8)),
        outcome(0.2, training=replace(TRAINING, rate=0.5)),
        outcome(0.2, training=replace(TRAINING, precision="bfloat16")),
        outcome(0.2, data_seed=4),
    ):
        (row,) = score_table(grouped_runs([other]), "mAP", IDEAL).rows
        assert row[5] is None


def test_easy_negatives_have_the_papers_own_table():
    (row,) = score_table(grouped_runs([outcome(0.2, split="boolean", negatives="easy")]), "mAP", IDEAL).rows
    assert row[5] == "55.0 ± 2.1"
    (row,) = score_table(grouped_runs([outcome(0.2, split="boolean", negatives="easy")]), "accuracy", IDEAL).rows
    assert row[5] is None


def test_oracles_of_another_world_are_not_beside_a_run():
    (row,) = score_table(grouped_runs([outcome(0.2, scale="demo")]), "mAP", IDEAL).rows
    assert row[6:] == (None, None)


def test_what_a_doubling_brings_is_the_slope_against_the_logarithm_of_the_steps():
    one = replace(outcome(0.4), curve=((250, 0.1), (500, 0.2), (1_000, 0.3)))
    table = growth_table(grouped_runs([one]))
    assert table is not None and table.rows[0][3:] == (10, 20, pytest.approx(30), "+10.0 ± 0.0")


def test_what_was_before_a_quarter_of_the_steps_is_not_asked():
    one = replace(outcome(0.4), curve=((200, 0.9), (300, 0.1), (600, 0.2), (1_000, 0.3)))
    table = growth_table(grouped_runs([one]))
    assert table is not None and table.rows[0][3:6] == (10, 20, pytest.approx(30))


def test_a_curve_of_one_point_promises_nothing():
    (group,) = grouped_runs([outcome(0.4)])
    assert growth_table([Group((replace(group.runs[0], curve=((1_000, 0.4),)),))]) is None


def test_the_cost_is_that_of_all_runs_of_a_network():
    table = cost_table(grouped_runs([outcome(0.2), outcome(0.4, seed=1), outcome(0.3, split="boolean")]))
    assert table.rows[0][:5] == ("schema avg-pool", 460_980, 3, 1_000, 10.0)
    assert "All 3 runs: 30 s of CPU" in table.note


def test_written_concepts_are_told_where_there_are_any():
    written = {"well_formed": 1.0, "consistent": 0.5, "synonym": 0.25, "episodes": 4, "examples": [("a", "b")]}
    assert written_table(grouped_runs([outcome(0.2)])) is None
    table = written_table(grouped_runs([outcome(0.2, alpha=1.0, written=written)]))
    assert table is not None and table.rows[0][2:] == (4, 100, 50, 25)


def test_the_page_has_every_table_and_figure(tmp_path: Path):
    groups = grouped_runs([outcome(0.2), outcome(0.3, split="boolean"), outcome(0.4, pooling="concat")])
    markdown_page(groups, IDEAL, Table("Beside", (Column("solver"),), ()), tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert all(table.title in text for table in tables(groups, IDEAL))
    assert "3 runs: 2 networks on 2 of the nine splits" in text
    drawn = sorted(file.name for file in (tmp_path / "page").iterdir())
    assert drawn == ["curve-boolean.svg", "curve-counting.svg", "figure-3-accuracy.svg", "figure-3-mAP.svg"]
    assert all(f"page/{name}" in text for name in drawn)
    assert "strong oracle 98.0" in (tmp_path / "page" / "figure-3-mAP.svg").read_text()


def test_a_curve_chart_says_its_points():
    drawn = curve_chart([Curve("mine", [(500, 0.1), (1_000, 0.2), (4_000, 0.4)])], {"weak oracle": 0.6}, "title", "mAP")
    assert "0.400 after 4,000" in drawn and "weak oracle 0.600" in drawn
    assert all(f">{step}<" in drawn for step in ("500", "1,000", "2,000", "4,000"))


def test_the_published_table_is_whole():
    assert len(NETWORKS["mAP"]) == 11 and len(NETWORKS["accuracy"]) == 10
    assert all(set(row) == set(SPLITS) for rows in NETWORKS.values() for row in rows.values())
    means = {network: sum(value for value, _ in row.values()) / len(row) for network, row in NETWORKS["mAP"].items()}
    assert means["schema", "relation-net"] == pytest.approx(49.61, abs=0.01)  # the paper's column "Overall"
    assert means["image", "concat"] == pytest.approx(39.57, abs=0.01)


# --- findings


def ideal(split: str) -> dict[tuple[str, str, int, str, str], dict[str, Gap]]:
    """The published oracles."""
    strong, weak = FIGURE["mAP"][split]
    bounds = [Interval(value, value, value) for value in (strong, weak, strong - weak)]
    return {("release", "paper", 0, split, "hard"): {"mAP": Gap(split, "mAP", *bounds, 100)}}


PUBLISHED = {world: gap for split in SPLITS for world, gap in ideal(split).items()}


def published_runs(seeds: int = 2) -> list[Outcome]:
    """Runs that score what the paper prints, and gain by words what it says."""
    plain = [
        outcome(value / 100, seed, split=split, pooling=pooling)
        for (modality, pooling), row in NETWORKS["mAP"].items()
        if modality == "schema"
        for split, (value, _) in row.items()
        for seed in range(seeds)
    ]
    return plain + [outcome(0.55 + 0.028, seed, alpha=1.0) for seed in range(seeds)]


def held(found: list[Outcome]) -> dict[str, str]:
    return {one.finding: one.holds for one in findings.verdicts(grouped_runs(found), PUBLISHED)}


def test_the_papers_own_numbers_have_its_findings():
    assert list(held(published_runs()).values()) == ["holds"] * 7


def test_one_seed_decides_nothing():
    assert all("decided in 0 of" in verdict for verdict in held(published_runs(seeds=1)).values())


def test_without_runs_nothing_is_known():
    assert set(held([outcome(0.2, scale="small")]).values()) == {"not known yet"}


@pytest.mark.parametrize(
    ("begins", "found"),
    [
        ("Every network", [("counting", "avg-pool", 0.98)]),
        ("Where concepts are new", [("boolean", "avg-pool", 0.30)]),
        ("On Counting", [("counting", "avg-pool", 0.70)]),
        ("The relation network", [("boolean", "relation-net", 0.4), ("boolean", "concat", 0.5)]),
        ("The transformer does best", [("intrinsic", "transformer", 0.4), ("intrinsic", "concat", 0.5)]),
        ("The transformer is poor", [("counting", "transformer", 0.5), ("counting", "concat", 0.4)]),
    ],
)
def test_a_finding_can_fail(begins: str, found: list[tuple[str, str, float]]):
    runs = [outcome(value, seed, split=split, pooling=pooling) for split, pooling, value in found for seed in (0, 1)]
    (verdict,) = (said for finding, said in held(runs).items() if finding.startswith(begins))
    assert verdict == "does not hold"


def test_words_are_compared_with_the_same_network_without():
    def verdict(*more: Outcome) -> str:
        groups = grouped_runs([outcome(0.5, alpha=1.0), outcome(0.5, alpha=1.0, seed=1), *more])
        return findings.language(groups).holds

    assert verdict(outcome(0.4, pooling="concat"), outcome(0.4, split="boolean")) == "not known yet"
    assert verdict(outcome(0.4), outcome(0.4, seed=1)) == "holds"
    assert verdict(outcome(0.6), outcome(0.6, seed=1)) == "does not hold"


def test_the_longest_runs_are_judged():
    short, long = outcome(0.7, steps=1_000), outcome(0.5, steps=2_000)
    verdict = findings.verdicts(grouped_runs([short, long]), PUBLISHED)[2]
    assert "avg-pool 50.0, weak oracle 62.1" in verdict.because and "70.0" not in verdict.because
