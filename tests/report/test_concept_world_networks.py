"""Laws of the networks' results: what is averaged, what is said to hold, and that the page has it all."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from recombine.benchmarks.concept_world import findings
from recombine.benchmarks.concept_world.findings import FROM_SCRATCH, theirs
from recombine.benchmarks.concept_world.networks import HELD_BACK, NETWORKS, TABLES, figures
from recombine.benchmarks.concept_world.published import F1, FURTHER, MODELS
from recombine.benchmarks.run_findings import Ahead
from recombine.benchmarks.run_tables import brief, cost_table, runs_table, settings_table
from recombine.benchmarks.runs import Outcomes, read_outcomes
from recombine.metrics.confusion import f1
from recombine.metrics.intervals import Interval
from recombine.report.figures import PHONE, WIDTH
from recombine.report.findings import Verdict, finding_tables
from recombine.report.notes import notes_of
from recombine.report.read_tables import tables_of
from recombine.report.score_charts import Confusion, Score, confusion_chart, score_chart
from recombine.solvers.training.records import FORMAT
from recombine.store.errors import UserError
from recombine.verbs.learners import write_page

CLASSES = {
    "sequences": ("red", "blue", "mixed"),
    "boxworld": ("solution", "distractor", "2x2_square"),
    "patterns": ("blue", "red", "stripes", "checkerboard"),
    "substitution": ("type_1", "type_2", "type_1_pair", "type_2_pair", "mixed_pair"),
}
LENGTH = ("epochs", "steps", "checkpoint_every")
Scores = Mapping[str, Sequence[float]]


def put(
    folder: Path, experiment: str, model: str, scores: Scores, seed: int = 0, pretrained: bool = False, **changed: Any
) -> None:
    """A finished run with these F1, as if it had been trained; `changed` are other settings than the paper's."""
    training = asdict(NETWORKS.models[model])
    config = {
        "format": FORMAT,
        "benchmark": "concept-world",
        "experiment": experiment,
        "scale": "paper",
        "images": 0,
        "data": "f00d",
        "network": {"name": model, "version": 1, "weights": "cafe" if pretrained else None},
        "seed": seed,
        "training": {name: value for name, value in training.items() if name not in LENGTH},
        "length": {name: training[name] for name in LENGTH},
    }
    for name, value in changed.items():
        part = next((part for part in ("training", "length") if name in config[part]), None)  # type: ignore[operator]
        (config[part] if part else config)[name] = value  # type: ignore[index]
    classes = CLASSES[experiment.removesuffix("-curriculum")]
    results = {
        "classes": classes,
        "f1": scores,
        "confusion": {test: np.eye(len(classes), dtype=int).tolist() for test in scores},
        "parameters": 400_000 + len(classes),
        "steps": 100,
        "epochs": 10,
        "seconds": 20.0,
        "cpu_seconds": 10.0,
        "length": config["length"],
    }
    name = "-".join(map(str, ("run", experiment, model, seed, *changed.values())))
    (folder / name).mkdir(parents=True)
    (folder / name / "config.json").write_text(json.dumps(config))
    (folder / name / "results.json").write_text(json.dumps(results))


def outcomes(folder: Path, *runs: tuple[str, str, Scores], seeds: int = 2) -> Outcomes:
    """Runs whose seeds all score the same."""
    for experiment, model, scores in runs:
        for seed in range(seeds):
            put(folder, experiment, model, scores, seed)
    return read(folder)


def read(folder: Path) -> Outcomes:
    return read_outcomes(NETWORKS, folder)


def shown(found: Outcomes, row: str = "mixed") -> dict[str, dict[str, Any]]:
    """The rows of one class in the first table, by network."""
    return {str(one["network"]): one for one in NETWORKS.tables(found)[0].json() if one["class"] == row}


def published_runs(folder: Path, seeds: int = 2) -> Outcomes:
    """Runs that score exactly what the paper prints."""
    names = {"ResNet": "resnet", "WReN": "wren", "CNN": "cnn", "PrediNet": "predinet", "MLP": "mlp"}
    for experiment in TABLES:
        tests = [test for known, test in F1 | FURTHER if known == experiment]
        for model in MODELS:
            scores: Scores = {test: theirs(experiment, test, model) for test in dict.fromkeys(tests)}
            for seed in range(seeds):
                put(folder, experiment, names[model], scores, seed, pretrained=model == "ResNet")
    return read(folder)


# ---- What is averaged ----


def test_a_mean_is_over_the_seeds_of_one_setting(tmp_path: Path) -> None:
    for seed, mixed in enumerate((0.1, 0.2, 0.3)):
        put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, mixed)}, seed)
    (group,) = read(tmp_path).groups
    assert group.name == "MLP" and len(group.runs) == 3
    rows = {row["class"]: row for row in NETWORKS.tables(read(tmp_path))[0].json()}
    found = rows["mixed"]["length_3"]
    assert isinstance(found, dict) and found["value"] == pytest.approx(0.2)
    assert found["low"] < 0.1 and found["high"] > 0.3
    assert rows["mean"]["length_3"]["value"] == pytest.approx(2.2 / 3)  # type: ignore[index]
    assert rows["mixed"]["paper"] == 0.119 and rows["mixed"]["seeds"] == 3


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"rate": 0.1}, "MLP (rate 0.1)"),
        ({"epochs": 3}, "MLP (epochs 3)"),
        ({"batch": 64, "precision": "bfloat16"}, "MLP (batch 64, precision bfloat16)"),
    ],
)
def test_runs_with_other_settings_are_never_averaged(changed: dict[str, Any], name: str, tmp_path: Path) -> None:
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2)}, 0)
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.4)}, 1)
    put(tmp_path, "sequences", "mlp", {"length_3": (0, 0, 0)}, 2, **changed)
    found = read(tmp_path)
    assert [(group.name, len(group.runs)) for group in found.groups] == [("MLP", 2), (name, 1)]
    assert [group.name for group in found.compared] == ["MLP"]
    rows = shown(found)
    assert rows["MLP"]["length_3"]["value"] == pytest.approx(0.3) and rows["MLP"]["paper"] == 0.119
    assert rows[name]["length_3"] == 0 and rows[name]["paper"] is None


@pytest.mark.parametrize(
    ("changed", "world"), [({"scale": "demo"}, "sequences, scale demo"), ({"images": 7}, "sequences, seed 7")]
)
def test_runs_on_other_data_have_a_table_of_their_own(changed: dict[str, Any], world: str, tmp_path: Path) -> None:
    for seed in range(3):
        put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.4)}, seed, **changed)
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2)}, 0)
    found = read(tmp_path)
    assert [(group.world, len(group.runs)) for group in found.groups] == [("sequences", 1), (world, 3)]
    assert [group.world for group in found.compared] == ["sequences"], "the paper's data first, however few"
    paper, other = NETWORKS.tables(found)
    assert "paper" in paper.json()[0] and "paper" not in other.json()[0]


def test_the_terminal_has_the_papers_numbers_in_brackets(tmp_path: Path) -> None:
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2), "length_5": (1, 1, 1)})
    (row,) = brief(NETWORKS.tables(read(tmp_path))[0]).texts()
    assert row == ["MLP", "0.733 (0.581)", "1.000 (0.533)"]


def test_runs_on_other_images_under_the_same_settings_are_told_apart(tmp_path: Path) -> None:
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2)})
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.4)}, data="beef")
    names = {group.name for group in read(tmp_path).groups}
    assert names == {"MLP (data f00d)", "MLP (data beef)"}


def test_how_often_a_run_is_saved_is_no_setting(tmp_path: Path) -> None:
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2)})
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.4)}, 1, checkpoint_every=1.0)
    (group,) = read(tmp_path).groups
    assert group.name == "MLP" and len(group.runs) == 2


def test_a_resnet_from_scratch_is_not_the_pretrained_one(tmp_path: Path) -> None:
    put(tmp_path, "sequences", "resnet", {"length_7": (1, 1, 1)})
    put(tmp_path, "sequences", "resnet", {"length_7": (1, 1, 1)}, 1, pretrained=True)
    rows = shown(read(tmp_path))
    assert rows[FROM_SCRATCH]["paper"] == 0.512 and rows["ResNet"]["paper"] == 0.646


def test_other_benchmarks_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2)}, benchmark="curi")
    with pytest.raises(UserError, match="has no finished runs of concept-world"):
        read(tmp_path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2)})
    (file,) = tmp_path.glob("*/results.json")
    file.write_text("{")
    with pytest.raises(UserError, match=r"results\.json is not complete JSON.*; remove it and repeat the command"):
        read(tmp_path)


@pytest.mark.parametrize("broken", ["no keys", "other keys", "a list", "another network", "no results"])
def test_a_run_that_is_not_as_we_write_it_is_named(tmp_path: Path, broken: str) -> None:
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2)})
    (file,) = tmp_path.glob("*/config.json")
    config = json.loads(file.read_text())
    if broken == "no results":
        (file.parent / "results.json").write_text("{}")
    other: dict[str, Any] = {
        "no keys": {name: config[name] for name in ("format", "benchmark")},
        "other keys": {**config, "training": {**config["training"], "mood": 3}},
        "a list": [config],
        "another network": {**config, "network": {"name": "oracle"}},
    }
    file.write_text(json.dumps(other.get(broken, config)))
    with pytest.raises(UserError, match=r"run-sequences-mlp-0.*remove (it|the folder)"):
        read(tmp_path)


def test_a_run_is_as_long_as_it_was_when_it_was_tested(tmp_path: Path) -> None:
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2)}, epochs=3)
    (file,) = tmp_path.glob("*/config.json")
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "length": {**config["length"], "epochs": 700}}))
    assert [group.name for group in read(tmp_path).groups] == ["MLP (epochs 3)"]


# ---- What holds ----


def test_the_papers_findings_hold_for_the_papers_scores(tmp_path: Path) -> None:
    assert [one.mark for one in findings.verdicts(published_runs(tmp_path))] == ["✓"] * 10


def counts(verdict: Verdict) -> str:
    """A finding's mark, and those of its cases."""
    return f"{verdict.mark} {''.join(case.mark for case in verdict.cases)}"


def test_less_data_than_the_papers_decide_nothing(tmp_path: Path) -> None:
    for seed in (0, 1):
        put(tmp_path, "sequences", "cnn", {"length_3": (1, 1, 1), "length_7": (0, 0, 0)}, seed, scale="demo")
    assert {one.mark for one in findings.verdicts(read(tmp_path).as_published())} == {"?"}


def test_productivity_needs_every_network_to_fall(tmp_path: Path) -> None:
    falling = {"length_3": (0.9, 0.9, 0.9), "length_7": (0.5, 0.5, 0.5)}
    rising = {"length_3": (0.5, 0.5, 0.2), "length_7": (0.8, 0.8, 0.8)}
    assert findings.productivity(outcomes(tmp_path / "a", ("sequences", "cnn", falling))).mark == "✓"
    verdict = findings.productivity(
        outcomes(tmp_path / "b", ("sequences", "cnn", falling), ("sequences", "mlp", rising))
    )
    assert counts(verdict) == "✗ ✓✗"
    assert verdict.cases[1].says == "sequences, MLP 0.400 at length_3, 0.800 at length_7 (+0.400 [+0.400, +0.400])"
    assert findings.productivity(outcomes(tmp_path / "c", ("sequences", "mlp", rising))).mark == "✗"


@given(some.floats(0, 1))
def test_the_mlp_fails_where_it_is_worse_than_a_guess(score: float) -> None:
    with TemporaryDirectory() as folder:
        found = outcomes(Path(folder), ("sequences", "mlp", {"length_5": (0.8, 0.8, score)}))
    verdict = findings.mixed_rows(found)
    assert verdict.mark == ("✓" if score < 1 / 3 else "✗" if score > 1 / 3 else "?")
    assert f"length_5 {score:.3f}" in verdict.cases[0].says


def test_squares_are_solved_by_whoever_knows_both_patterns(tmp_path: Path) -> None:
    one = {"squares_4x4": (1, 1, 0.95, 0.5)}
    both = {"squares_4x4": (1, 1, 0.95, 0.96)}
    assert findings.patterned_squares(outcomes(tmp_path / "a", ("patterns", "cnn", one))).mark == "✓"
    verdict = findings.patterned_squares(outcomes(tmp_path / "b", ("patterns", "cnn", one), ("patterns", "mlp", both)))
    assert counts(verdict) == "✗ ✓✗"
    assert verdict.cases[1].says == "MLP stripes 0.950 [0.950, 0.950], checkerboard 0.960 [0.960, 0.960]"


def test_a_collapse_is_lower_than_before_and_than_a_guess(tmp_path: Path) -> None:
    def verdict(name: str, one: float, two: float) -> Verdict:
        scores = {"one_substitution": (1, 1, one, one, one), "two_substitutions": (1, 1, two, two, two)}
        return findings.two_substitutions(outcomes(tmp_path / name, ("substitution", "wren", scores)))

    assert verdict("a", 0.4, 0.1).mark == "✓"
    assert "0.400 [0.400, 0.400] with one, 0.100 [0.100, 0.100] with two" in verdict("b", 0.4, 0.1).cases[0].says
    assert verdict("c", 0.4, 0.3).mark == "✗"
    assert verdict("d", 0.05, 0.1).mark == "✗"


def test_the_curriculum_has_the_papers_effect_if_it_has_its_sign(tmp_path: Path) -> None:
    low = {test: (0.1,) * 5 for test in findings.SUBSTITUTION}
    high = {test: (0.2,) * 5 for test in findings.SUBSTITUTION}

    def verdict(name: str, model: str, plain: Scores, staged: Scores) -> Verdict:
        runs = (("substitution", model, plain), ("substitution-curriculum", model, staged))
        return findings.curriculum(outcomes(tmp_path / name, *runs))

    assert verdict("a", "mlp", high, low).mark == "✓" and verdict("b", "mlp", low, high).mark == "✗"
    assert verdict("c", "resnet", low, high).mark == "✓"
    assert verdict("d", "mlp", high, low).cases[0].says == "MLP -0.100 [-0.100, -0.100], paper -0.079"


def test_nothing_is_said_of_runs_that_are_not_there(tmp_path: Path) -> None:
    found = outcomes(tmp_path, ("boxworld", "cnn", {"length_3": (0, 0, 0), "length_5": (0, 0, 0)}))
    held = findings.verdicts(found)
    assert [len(one.cases) for one in held] == [1, *[0] * 9] and {one.mark for one in held} == {"?"}
    first, _, third, *_ = (list(row.values())[1:] for row in finding_tables(held)[1].json())
    assert first == [held[0].cases[0].says, "✗", "?"]
    assert third == ["no finished runs of the MLP on sequences", None, "?"]


def test_a_network_is_ahead_if_its_mean_is(tmp_path: Path) -> None:
    def verdict(name: str, *scores: tuple[str, float]) -> Verdict:
        tests = ("length_3", "length_5", "length_7")
        runs = [("sequences", model, {test: (score,) * 3 for test in tests}) for model, score in scores]
        return best(outcomes(tmp_path / name, *runs))

    best = next(one for one in findings.FINDINGS if isinstance(one, Ahead) and one.splits == ("sequences",))
    assert verdict("a", ("resnet", 0.9), ("cnn", 0.8)).mark == "✓"
    ahead = verdict("b", ("resnet", 0.9), ("cnn", 0.8), ("mlp", 0.95))
    assert counts(ahead) == "✗ ✓✗"
    assert ahead.cases[1].says == "sequences, ResNet from scratch 0.900, MLP 0.950 (-0.050 [-0.050, -0.050])"
    assert not verdict("c", ("cnn", 0.8), ("mlp", 0.9)).cases


def test_what_is_within_the_scatter_of_seeds_is_not_decided(tmp_path: Path) -> None:
    for seed, low in enumerate((0.5, 0.9, 0.8)):
        put(tmp_path, "sequences", "cnn", {"length_3": (0.8,) * 3, "length_7": (low,) * 3}, seed)
    verdict = findings.productivity(read(tmp_path))
    assert counts(verdict) == "? ?"
    assert verdict.cases[0].says.startswith("sequences, CNN 0.800 at length_3, 0.733")


def test_one_seed_decides_nothing(tmp_path: Path) -> None:
    falling = {"length_3": (0.9,) * 3, "length_7": (0.1,) * 3}
    verdict = findings.productivity(outcomes(tmp_path, ("sequences", "cnn", falling), seeds=1))
    assert counts(verdict) == "? ?"


# ---- The page ----


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    return published_runs(tmp_path_factory.mktemp("published"))


def test_the_page_has_every_table_and_figure_and_the_intervals(whole: Outcomes, tmp_path: Path) -> None:
    file = tmp_path / "networks.md"
    text = write_page(whole, {}, file).read_text()
    assert all(f"**{name}: ConceptWorld, {experiment}**" in text for experiment, name in TABLES.items())
    assert "| MLP | mixed | 2 | 100 | 0.119 [0.119, 0.119] | 0.119 |" in text
    assert all(f"| {case.says} | ✓ | ✓ |" in text for one in findings.verdicts(whole) for case in one.cases)
    drawn = sorted(one.name for one in (tmp_path / "networks").iterdir())
    assert len(drawn) == 5 + 10 and all(f"(networks/{name})" in text for name in drawn)
    assert all(ElementTree.parse(tmp_path / "networks" / name) for name in drawn)
    page = write_page(whole, {}, tmp_path / "networks.html").read_text()
    assert all(f"{name}: ConceptWorld, {experiment}" in page for experiment, name in TABLES.items())


def test_what_is_missing_is_said(whole: Outcomes, tmp_path: Path) -> None:
    assert "50 of 75 runs are finished, 25 are missing." in runs_table(whole).note
    put(tmp_path, "sequences", "mlp", {"length_3": (1, 1, 0.2)})
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "config.json").write_text(f'{{"format": {FORMAT}, "benchmark": "concept-world"}}')
    table = runs_table(read(tmp_path))
    assert "1 of 75 runs are finished, 74 are missing; begun and not at their end: 1." in table.note
    assert table.json()[0] | {"MLP": "1 of 3", "CNN": "0 of 3"} == table.json()[0]


def test_costs_add_up(whole: Outcomes) -> None:
    table = cost_table(whole)
    assert sum(int(str(row[3])) for row in table.rows) == 50
    assert "All 50 runs: 8 min 20 s of CPU, 2 at a time about 4 min 10 s; 16 min 40 s by the clock" in table.note


def test_settings_are_those_of_the_configs(whole: Outcomes) -> None:
    rows = {row["network"]: row for row in settings_table(whole).json()}
    assert rows["PrediNet"]["batch"] == 64 and rows["PrediNet"]["rate"] == 1e-5 and rows["MLP"]["rate"] == 1e-3
    assert rows["MLP"]["parameters"] == "400,003 to 400,005" and rows["MLP"]["seeds"] == "0 to 1"


def test_as_much_is_held_back_as_is_said() -> None:
    pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")
    from recombine.solvers import pictures

    assert pictures.HELD_BACK == HELD_BACK


def test_notes_of_people_are_part_of_the_page(whole: Outcomes, tmp_path: Path) -> None:
    file = tmp_path / "networks.md"
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "networks.md").write_text(
        "**Honestly**, [this](x.md) differs.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    )
    (tmp_path / "notes" / "other.md").write_text("of another page")
    assert notes_of(file) == ["**Honestly**, [this](x.md) differs.", "| a | b |\n|---|---|\n| 1 | 2 |"]
    write_page(whole, {}, file)
    assert "**Honestly**, [this](x.md) differs.\n\n| a | b |" in file.read_text()
    page = write_page(whole, {}, tmp_path / "networks.html").read_text()
    assert "Honestly, this differs." in page and "<td>2</td>" in page and "another page" not in page


# ---- Charts ----


def test_a_chart_without_the_papers_values_does_not_speak_of_them() -> None:
    alone = score_chart([("test", [Score("CNN", Interval(0.5, 0.5, 0.5))])], "Scores")
    assert "ours, 95 % interval" in alone and "paper" not in alone


def test_a_score_chart_has_both_numbers_and_says_them_in_words() -> None:
    svg = score_chart(
        [("length <3>", [Score("MLP", Interval(0.5, 0.4, 0.6), 0.7), Score("CNN", Interval(1, 1, 1))])], "F1"
    )
    root = ElementTree.fromstring(svg)
    texts = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"MLP", "CNN", "length <3>", "0.500 (0.700)", "1.000"} <= set(texts)
    said = root.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert said == "length <3>: MLP 0.500 [0.400, 0.600], paper 0.700; CNN 1.000"


def test_a_confusion_chart_gives_shares_of_rows() -> None:
    svg = confusion_chart(("a", "b"), [Confusion("MLP", np.array([[3, 1], [0, 8]]))], "taken")
    assert "MLP: a taken for a 75, b 25; b taken for a 0, b 100" in svg
    assert "a taken for b: 1" in svg


@pytest.mark.parametrize("width", [WIDTH, PHONE])
@pytest.mark.parametrize("classes", ["ab", "abc", "abcdefghijkl"])
def test_names_of_matrices_stand_apart_on_the_canvas(classes: str, width: int) -> None:
    names = ["CNN (epochs 1)", "ResNet from scratch", "MLP (epochs 1)", "WReN", "PrediNet", "CNN"]
    counts = np.eye(len(classes), dtype=int)
    svg = confusion_chart(classes, [Confusion(name, counts) for name in names], "taken", width=width)
    texts = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    short = [name.replace(" from scratch", "*") for name in names]
    heads = [(float(one.get("y", 0)), float(one.get("x", 0)), one.text or "") for one in texts if one.text in short]
    assert len(heads) == len(names)
    for (y, x, name), (below, after, _) in itertools.pairwise(heads):
        assert below > y or x + 7.5 * len(name) < after, name
    assert all(x + 7.5 * len(name) < width for _, x, name in heads)


def test_matrices_of_all_tests_are_drawn(whole: Outcomes) -> None:
    groups = whole.on("boxworld")
    names = [figure.name for figure in figures(groups)]
    assert names == ["boxworld-f1", "boxworld-length_3", "boxworld-length_5"]
    assert "Figure 3b is the panel of WReN." in figures(groups)[-1].caption
    assert f1(np.array(groups[0].runs[0].results["confusion"]["length_3"])).tolist() == [1, 1, 1]


def test_the_held_out_check_follows_from_the_tables_of_the_page() -> None:
    """Readings were chosen on the MLP; what the page says of the other four networks is in its tables."""
    page = Path(__file__).parents[2] / "docs" / "results" / "concept-world-networks.md"
    tables = [table.rows for table in tables_of(page)]
    rows = next(one for one in tables if "one odd square" in one[0])
    pairs = next(one for one in tables if "pentominoes" in one[0])
    others = [row for row in rows if row["network"] != "MLP"]
    odd, random = (
        np.array([abs(float(row[name]) - float(row["paper"])) for row in others])
        for name in ("one odd square", "at random")
    )
    said = [*map(_numbers, (row for row in pairs if row["network"] != "MLP"))]
    paper, five, three = (np.concatenate(said[start::3]) for start in range(3))
    text = page.read_text().replace("\n", " ")
    assert f"twelve scores of mixed rows are {odd.mean():.3f} away" in text
    assert f"one odd square and {random.mean():.3f} at random, nearer in ten of twelve" in text
    assert int((odd < random).sum()) == 10
    assert (
        f"{abs(three - paper).mean():.3f} away with three colours and {abs(five - paper).mean():.3f} with five" in text
    )
    assert int((abs(three - paper) < abs(five - paper)).sum()) == 23


def _numbers(row: dict[str, str]) -> np.ndarray:
    return np.array([float(v) for name in ("one substitution", "two substitutions") for v in row[name].split(", ")])


@pytest.mark.parametrize(
    "change",
    [
        {"seed": "zero"},
        {"seed": True},
        {"scale": ["paper"]},
        {"training": {"batch": "many"}},
        {"training": {"rate": []}},
    ],
    ids=str,
)
def test_a_config_from_elsewhere_is_looked_at_before_a_table_shows_it(tmp_path: Path, change: dict[str, Any]) -> None:
    outcomes(tmp_path, ("sequences", "mlp", {"long": [0.5] * 3}), seeds=1)
    (file,) = tmp_path.glob("*/config.json")
    config = json.loads(file.read_text())
    for name, value in change.items():
        config[name] = {**config[name], **value} if isinstance(value, dict) else value
    file.write_text(json.dumps(config))
    with pytest.raises(UserError, match="is no run that can be read"):
        read_outcomes(NETWORKS, tmp_path)


@pytest.mark.parametrize("change", [{"steps": 0}, {"seconds": "nan"}, {"f1": {"long": [None]}}, {"f1": {}}], ids=str)
def test_results_from_elsewhere_are_looked_at_before_a_table_shows_them(tmp_path: Path, change: dict[str, Any]) -> None:
    outcomes(tmp_path, ("sequences", "mlp", {"long": [0.5] * 3}), seeds=1)
    (file,) = tmp_path.glob("*/results.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    with pytest.raises(UserError, match="is no run that can be read"):
        read_outcomes(NETWORKS, tmp_path)


def test_notes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "page.md").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"page\.md is not text"):
        notes_of(tmp_path / "page.md")
    (tmp_path / "notes" / "page.md").write_text("| a | b |\n| --- | --- |\n| 1 |\n")
    assert [one.rows for one in notes_of(tmp_path / "page.html") if not isinstance(one, str)] == [(("1", ""),)]
