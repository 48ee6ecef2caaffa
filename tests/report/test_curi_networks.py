"""The page of CURI's networks: what is averaged, what is compared, what is said of more steps."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import pytest

from recombine.benchmarks.curi import findings
from recombine.benchmarks.curi.networks import NETWORKS, PAPER, Options, written_table
from recombine.benchmarks.curi.published import FIGURE, SPLITS
from recombine.benchmarks.curi.published import NETWORKS as PUBLISHED_NETWORKS
from recombine.benchmarks.networks import Job
from recombine.benchmarks.run_tables import cost_table, growth_table, score_table, settings_table
from recombine.benchmarks.runs import Group, Outcome, Outcomes, grouped
from recombine.report.curves import Curve, curve_chart
from recombine.report.findings import Verdict
from recombine.report.table import Column, Table
from recombine.verbs.learners import write_page

TRAINING = replace(PAPER, steps=1_000, validate_every=250)
ORACLES = {"weak oracle": 62.0, "strong oracle": 98.0}
IDEAL = {"counting": {metric: ORACLES for metric in ("mAP", "accuracy")}}


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
    own: dict[str, Any] = {one.name: job.pop(one.name) for one in fields(Options) if one.name in job}
    wanted: dict[str, Any] = {"split": "counting", "model": "avg-pool", "training": TRAINING} | job
    wanted["training"] = replace(wanted["training"], steps=steps)
    made = Job("curi", seed=seed, options=Options(**{"edition": "release"} | own), **wanted)
    config = {**NETWORKS.config(made), "training": asdict(made.training), "data": {"train": "f00d"}}
    return Outcome(made, config, results, NETWORKS.scores(results), curve)


def outcomes(*found: Outcome, ideal: Any = IDEAL) -> Outcomes:
    return Outcomes(NETWORKS, grouped(found), ideal=ideal)


def row_of(one: Outcome, metric: str = "mAP", ideal: Any = IDEAL) -> dict[str, Any]:
    (row,) = score_table("", grouped([one]), ideal, [metric]).json()
    return row


def test_seeds_are_averaged_and_nothing_else_is():
    found = [
        outcome(0.2),
        outcome(0.4, seed=1),
        outcome(0.5, model="concat"),
        outcome(0.6, scale="demo"),
        outcome(0.7, alpha=1.0),
        outcome(0.8, steps=2_000),
        outcome(0.9, negatives="easy"),
        outcome(0.1, training=replace(TRAINING, rate=1e-2)),
        replace(outcome(0.3), config={**outcome(0.3).config, "data": {"train": "other"}}),
    ]
    groups = grouped(found)
    assert sorted(len(group.runs) for group in groups) == [1] * 7 + [2]
    (pair,) = (group for group in groups if len(group.runs) == 2)
    assert pair.score("mAP").value == pytest.approx(30)
    assert pair.score("mAP").high - pair.score("mAP").value > 50  # two seeds say little


def test_one_seed_borrows_the_papers_spread_over_seeds():
    (group,) = grouped([outcome(0.2)])
    found = group.score("mAP")  # avg-pool on Counting: 55.0 ± 6.4
    assert (found.low, found.value, found.high) == pytest.approx((20 - 1.96 * 6.4, 20, 20 + 1.96 * 6.4))


def test_one_seed_without_a_printed_spread_has_the_interval_of_its_episodes():
    (group,) = grouped([outcome(0.2, scale="small")])
    found = group.score("mAP")
    assert (found.low, found.value, found.high) == pytest.approx((19, 20, 21))


def test_a_row_has_ours_the_papers_and_the_oracles():
    row = row_of(outcome(0.2))
    assert (row["split"], row["network"]) == ("counting", "schema avg-pool")
    assert (row["paper"], row["weak oracle"], row["strong oracle"]) == ("55.0 ± 6.4", 62, 98)


@pytest.mark.parametrize(
    "other",
    [
        {"alpha": 1.0},
        {"negatives": "easy"},
        {"modality": "sound", "model": "transformer"},
        {"scale": "small"},
        {"edition": "paper"},
        {"modality": "image", "size": "60x40"},
        {"training": replace(TRAINING, batch=8)},
        {"training": replace(TRAINING, rate=0.5)},
        {"training": replace(TRAINING, precision="bfloat16")},
        {"data_seed": 4},
    ],
)
def test_what_the_paper_did_not_do_has_no_number_of_it(other: dict[str, Any]):
    assert "paper" not in row_of(outcome(0.2, **other))
    both = score_table("", grouped([outcome(0.2), outcome(0.2, **other)]), IDEAL, ["mAP"]).json()
    assert sorted(row["paper"] is None for row in both) == [False, True]


def test_easy_negatives_have_the_papers_own_table():
    easy = outcome(0.2, split="boolean", negatives="easy")
    assert row_of(easy)["paper"] == "55.0 ± 2.1" and "paper" not in row_of(easy, "accuracy")


def test_oracles_of_another_world_are_not_beside_a_run():
    row = row_of(outcome(0.2, scale="demo"))
    assert row["split"] == "counting, scale demo" and "weak oracle" not in row


def test_what_a_doubling_brings_is_the_slope_against_the_logarithm_of_the_steps():
    one = replace(outcome(0.4), curve=((250, 0.1), (500, 0.2), (1_000, 0.3)))
    table = growth_table(grouped([one]))
    assert table is not None and table.rows[0][3:] == (10, 20, pytest.approx(30), "+10.0 ± 0.0")


def test_what_was_before_a_quarter_of_the_steps_is_not_asked():
    one = replace(outcome(0.4), curve=((200, 0.9), (300, 0.1), (600, 0.2), (1_000, 0.3)))
    table = growth_table(grouped([one]))
    assert table is not None and table.rows[0][3:6] == (10, 20, pytest.approx(30))


def test_a_curve_of_one_point_promises_nothing():
    (group,) = grouped([outcome(0.4)])
    assert growth_table([Group((replace(group.runs[0], curve=((1_000, 0.4),)),))]) is None


def test_the_cost_is_that_of_a_run_and_the_note_has_all():
    table = cost_table(outcomes(outcome(0.2), outcome(0.4, seed=1), outcome(0.3, split="boolean")))
    assert table.rows[1][:6] == ("counting", "schema avg-pool", 460_980, 2, 1_000, 10.0)
    assert "All 3 runs: 30 s of CPU" in table.note


def test_settings_of_one_network_are_one_row_for_all_splits():
    (row,) = settings_table(outcomes(outcome(0.2), outcome(0.4, seed=1), outcome(0.3, split="boolean"))).json()
    assert (row["seeds"], row["batch"], row["at most"]) == ("0 to 1", 64, "1,000 steps")
    assert row["data"] == "scale paper, seed 0, negatives hard, edition release"


def test_written_concepts_are_told_where_there_are_any():
    written = {"well_formed": 1.0, "consistent": 0.5, "synonym": 0.25, "episodes": 4, "examples": [("a", "b")]}
    assert written_table(grouped([outcome(0.2)])) is None
    table = written_table(grouped([outcome(0.2, alpha=1.0, written=written)]))
    assert table is not None and table.rows[0][2:] == (4, 100, 50, 25)


def test_the_page_has_every_table_and_figure(tmp_path: Path):
    found = outcomes(outcome(0.2), outcome(0.3, split="boolean"), outcome(0.4, model="concat"))
    write_page(found, {"counting": Table("Beside", (Column("solver"),), ())}, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert all(table.title in text for table in NETWORKS.tables(found)) and "**Beside**" in text
    assert "3 of 108 runs are finished, 105 are missing" in text
    drawn = sorted(file.name for file in (tmp_path / "page").iterdir())
    assert drawn == ["curve-boolean.svg", "curve-counting.svg", "figure-3-accuracy.svg", "figure-3-mAP.svg"]
    assert all(f"page/{name}" in text for name in drawn)
    assert "strong oracle 98.0" in (tmp_path / "page" / "figure-3-mAP.svg").read_text()
    assert "strong oracle 98.0" in write_page(found, {}, tmp_path / "page.html").read_text()


def test_a_curve_chart_says_its_points():
    drawn = curve_chart([Curve("mine", [(500, 0.1), (1_000, 0.2), (4_000, 0.4)])], {"weak oracle": 0.6}, "title", "mAP")
    assert "0.400 after 4,000" in drawn and "weak oracle 0.600" in drawn
    assert all(f">{step}<" in drawn for step in ("500", "1,000", "2,000", "4,000"))


def test_the_published_table_is_whole():
    assert len(PUBLISHED_NETWORKS["mAP"]) == 11 and len(PUBLISHED_NETWORKS["accuracy"]) == 10
    assert all(set(row) == set(SPLITS) for rows in PUBLISHED_NETWORKS.values() for row in rows.values())
    means = {
        network: sum(value for value, _ in row.values()) / len(row)
        for network, row in PUBLISHED_NETWORKS["mAP"].items()
    }
    assert means["schema", "relation-net"] == pytest.approx(49.61, abs=0.01)  # the paper's column "Overall"
    assert means["image", "concat"] == pytest.approx(39.57, abs=0.01)


# --- findings


PUBLISHED = {split: {"mAP": dict(zip(("strong oracle", "weak oracle"), FIGURE["mAP"][split]))} for split in SPLITS}
"""The published oracles."""


def published_runs(seeds: int = 2) -> list[Outcome]:
    """Runs that score what the paper prints, and gain by words what it says."""
    plain = [
        outcome(value / 100, seed, split=split, model=pooling)
        for (modality, pooling), row in PUBLISHED_NETWORKS["mAP"].items()
        if modality == "schema"
        for split, (value, _) in row.items()
        for seed in range(seeds)
    ]
    return plain + [outcome(0.55 + 0.028, seed, alpha=1.0) for seed in range(seeds)]


def held(found: list[Outcome]) -> dict[str, str]:
    judged = outcomes(*found, ideal=PUBLISHED).as_published()
    return {one.finding: one.mark for one in NETWORKS.verdicts(judged)}


def test_the_papers_own_numbers_have_its_findings():
    assert list(held(published_runs()).values()) == ["✓"] * 7


def test_one_seed_decides_nothing():
    assert set(held(published_runs(seeds=1)).values()) == {"?"}


def test_less_data_than_the_papers_decide_nothing():
    found = [replace(one, job=replace(one.job, scale="small")) for one in published_runs()]
    assert set(held(found).values()) == {"?"}


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
    runs = [outcome(value, seed, split=split, model=pooling) for split, pooling, value in found for seed in (0, 1)]
    (verdict,) = (said for finding, said in held(runs).items() if finding.startswith(begins))
    assert verdict == "✗"


def test_words_are_compared_with_the_same_network_without():
    def verdict(*more: Outcome) -> Verdict:
        return findings.language(outcomes(outcome(0.5, alpha=1.0), outcome(0.5, alpha=1.0, seed=1), *more))

    assert not verdict(outcome(0.4, model="concat"), outcome(0.4, split="boolean")).cases
    assert verdict(outcome(0.4), outcome(0.4, seed=1)).mark == "✓"
    assert verdict(outcome(0.6), outcome(0.6, seed=1)).mark == "✗"


def test_the_longest_runs_are_judged():
    short, long = outcome(0.7, steps=1_000), outcome(0.5, steps=2_000)
    (case,) = NETWORKS.verdicts(outcomes(short, long, ideal=PUBLISHED))[2].cases
    assert case.says == "counting, schema avg-pool 50.0, weak oracle 62.1"
