"""CLOSURE's networks: runs that go on as if they had never stopped, few-shot runs, tables, and what is refused."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

from recombine.benchmarks import networks as of_networks
from recombine.benchmarks.clevr.arrays import questions_of
from recombine.benchmarks.clevr.pipeline import ClevrPipeline
from recombine.benchmarks.clevr.program import TOKENS, read_program
from recombine.benchmarks.clevr.question_page import question_view
from recombine.benchmarks.clevr.runner import clevr_functions
from recombine.benchmarks.clevr.tallies import tallied
from recombine.benchmarks.closure import networks as of_closure
from recombine.benchmarks.closure import published
from recombine.benchmarks.closure.arrays import Data
from recombine.benchmarks.closure.exam import exams
from recombine.benchmarks.closure.looks import look_into
from recombine.benchmarks.closure.networks import MODULAR, NETWORKS, PAPER, TESTS, Options
from recombine.benchmarks.closure.pipeline import ClosurePipeline, ClosureScale
from recombine.benchmarks.networks import Job, settings
from recombine.benchmarks.runs import read_outcomes
from recombine.solvers.curriculum import MODULES
from recombine.solvers.questions import Questions, Vocabulary
from recombine.solvers.sitting import answered
from recombine.solvers.training.loop import Progress, load_best
from recombine.solvers.training.records import identity_of, keep, read_config, read_results
from recombine.store.errors import UserError
from recombine.store.store import Store
from recombine.tasks.made_splits import MadeSplit
from recombine.verbs.learners import write_page

SMALL = ClosureScale("small", 120, 240, 1, questions=4, closure=(36, 36, 36))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Data]:
    store = Store(tmp_path_factory.mktemp("store"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_closure, "VALIDATED", 40)
        patch.setattr(of_closure, "TIMES", 2)
        yield Data(ClosurePipeline(ClevrPipeline(SMALL, 0, store), SMALL.closure))


def job_for(model: str, split: str = "zero-shot", seed: int = 0, steps: int = 6, **own: Any) -> Job:
    options = Options(**{"steps": steps, "questions": 30, **own})
    training = replace(settings(NETWORKS, model, options, batch=16, validate_every=3), checkpoint_every=0.0)
    settled = replace(NETWORKS.concerning(options, model), steps=None, validate_every=None, batch=None)
    return Job("closure", split, model, seed, "small", 0, settled, training)


def checkpoints(folder: Path) -> list[bytes]:
    return [(folder / "checkpoints" / f"{name}.safetensors").read_bytes() for name in ("last", "best")]


@pytest.fixture(scope="module")
def runs(data: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generator, a network that reads and one that runs programs, and what they become with a few questions."""
    out = tmp_path_factory.mktemp("runs")
    generator = of_networks.learn(job_for("generator"), data, out)
    of_networks.learn(job_for("generator", seed=1), data, out)
    for supervision in ("strong", "weak"):
        few = job_for("generator", "few-shot", begin=str(generator), supervision=supervision)
        of_networks.learn(few, data, out)
    mac = of_networks.learn(job_for("mac"), data, out)
    of_networks.learn(job_for("mac", "few-shot", begin=str(mac)), data, out)
    of_networks.learn(job_for("vector-nmn", generator=str(generator)), data, out)
    of_networks.learn(job_for("span-parser", steps=4), data, out)
    return out


class Stopped(Exception):
    pass


@pytest.mark.parametrize(
    "name",
    [
        *("zero-shot-generator-0", "few-shot-generator-weak-0", "zero-shot-mac-0", "zero-shot-vector-nmn-0"),
        "zero-shot-span-parser-0",
    ],
)
def test_a_run_that_was_stopped_ends_in_the_same_bytes(name: str, runs: Path, data: Data, tmp_path: Path) -> None:
    whole = runs / f"closure-{name}"
    job = of_networks.job_of(read_config(whole), whole)
    job = replace(job, options=replace(job.options, questions=30))

    def stop(moment: Progress) -> None:
        if moment.step == 2:
            raise Stopped

    with pytest.raises(Stopped):
        of_networks.learn(job, data, tmp_path, stop)
    of_networks.learn(job, data, tmp_path)
    again = tmp_path / whole.name
    assert checkpoints(again) == checkpoints(whole)
    one, other = (read_results(folder) for folder in (again, whole))
    assert one is not None and other is not None and one["scores"] == other["scores"]


def test_a_network_learns_from_what_a_parser_believes(data: Data, tmp_path: Path) -> None:
    from recombine.benchmarks.clevr.sight import in_order, parser
    from recombine.render.raytrace import raytrace

    job = job_for("mac", view="detections", steps=3)
    results = read_results(of_networks.learn(job, data, tmp_path))
    assert results is not None and results["scores"]["CLEVR"]["questions"] == 30
    cells = NETWORKS.view(job, data, "val")(np.arange(2))
    pixels = raytrace(data.scenes("val")[:2], 320, 240, ("rgb",)).rgb
    assert pixels is not None
    seen = in_order(parser(), parser().perceive(pixels))
    order = [a.name for a in data.scenes("val").vocabulary]
    beliefs = np.concatenate([seen.beliefs[name] for name in order], axis=-1)
    for image in range(2):
        there = int(seen.count[image])
        told = cells.features[image, :there, : beliefs.shape[-1]].numpy()
        assert np.allclose(told, beliefs[image, :there], atol=2e-3)


@pytest.mark.parametrize("model", ["mac", "vector-nmn", "generator", "span-parser"])
def test_a_run_as_a_solver_says_what_its_results_say(model: str, runs: Path, data: Data) -> None:
    folder = runs / f"closure-zero-shot-{model}-0"
    job = of_networks.job_of(read_config(folder), folder)
    network = NETWORKS.network(job, data)
    load_best(folder / "checkpoints" / "best.safetensors", network, identity_of(read_config(folder)))
    solver = NETWORKS.solver(job, data, network)
    results = read_results(folder)
    assert results is not None
    exam = next(one for one in exams(data.study, ["or_mat"]) if not one.control)
    (piece,) = exam.pieces()
    right = answered(solver, piece).argmax(axis=1) == piece.asked
    formed = results["scores"]["or_mat"].get("formed", 1.0) * len(right)
    assert abs(right.sum() - results["scores"]["or_mat"]["right"] * len(right)) <= len(right) - formed + 1e-6


def test_results_count_every_question_by_family_depth_and_type(runs: Path) -> None:
    found = read_results(runs / "closure-zero-shot-vector-nmn-0")
    assert found is not None
    for part in (found["scores"], found["generated"]):
        assert [*part] == ["CLEVR", *TESTS, *(f"{test}, baseline" for test in TESTS)]
        for test, one in part.items():
            assert one["questions"] == (30 if test == "CLEVR" else 36)
            for by in ("families", "depths", "types"):
                right, asked = map(sum, zip(*one[by].values()))
                assert asked == one["questions"] and right == round(one["right"] * asked)
    assert found["generator"] == "closure-zero-shot-generator-0" and found["questions"] == 30


def test_a_finished_run_is_kept_and_tested_again_with_another_generator(runs: Path, data: Data) -> None:
    folder = runs / "closure-zero-shot-vector-nmn-0"
    before, results = checkpoints(folder), (folder / "results.json").read_bytes()
    job = job_for("vector-nmn", generator=str(runs / "closure-zero-shot-generator-0"))
    of_networks.learn(job, data, runs)
    assert checkpoints(folder) == before and (folder / "results.json").read_bytes() == results
    other = job_for("vector-nmn", generator=str(runs / "closure-zero-shot-generator-1"))
    of_networks.learn(other, data, runs)
    found = read_results(folder)
    assert checkpoints(folder) == before and found is not None
    assert found["generator"] == "closure-zero-shot-generator-1"
    of_networks.learn(job, data, runs)


def test_a_span_parser_reads_after_a_few_hundred_questions(runs: Path) -> None:
    found = read_results(runs / "closure-zero-shot-span-parser-0")
    assert found is not None and found["scores"]["CLEVR"]["exact"] > 0.7
    assert {one["formed"] for one in found["scores"].values()} <= {1.0} or found["scores"]["CLEVR"]["formed"] > 0.9


def test_a_span_parser_writes_for_module_networks_and_learns_from_fewer(runs: Path, data: Data, tmp_path: Path) -> None:
    job = job_for("vector-nmn", generator=str(runs / "closure-zero-shot-span-parser-0"))
    found = NETWORKS.examine(job, data, NETWORKS.network(job, data))
    assert found["generated"]["CLEVR"]["formed"] > 0.7
    few = job_for("span-parser", steps=2, shown=100)
    folder = of_networks.learn(few, data, tmp_path)
    assert folder.name == "closure-zero-shot-span-parser-shown100-0"
    assert of_networks.job_of(read_config(folder), folder).options.shown == 100
    (table,) = NETWORKS.tables(read_outcomes(NETWORKS, tmp_path))
    assert table.title == "Learning from fewer questions"


def test_records_without_weights_make_the_same_tables(runs: Path, data: Data, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    names = keep(runs, kept, "closure")
    assert len(names) == len([*runs.glob("*/results.json")])
    assert not [*kept.rglob("*.safetensors")] and keep(runs, kept, "closure") == names
    one, other = (NETWORKS.tables(read_outcomes(NETWORKS, folder)) for folder in (runs, kept))
    assert [table.texts() for table in one] == [table.texts() for table in other]
    config = kept / names[0] / "config.json"
    config.write_text(config.read_text().replace('"small"', '"laptop"'))
    with pytest.raises(UserError, match="holds another run"):
        keep(runs, kept, "closure")


def test_few_shot_questions_come_many_times_among_clevrs(runs: Path, data: Data) -> None:
    job = job_for("generator", "few-shot", begin=str(runs / "closure-zero-shot-generator-0"))
    lesson = NETWORKS.objective(job, data, NETWORKS.network(job, data))
    rows, clevr = lesson.stages[0].rows, len(data.clevr("train"))
    assert len(lesson.questions) == clevr + 36 * len(TESTS)
    assert np.bincount(rows).tolist() == [1] * clevr + [of_closure.TIMES] * (36 * len(TESTS))
    few = lesson.questions.rows(np.arange(clevr, len(lesson.questions)))
    assert (data.runner("train")(few.token, few.image) == few.answer).all()


def test_a_perfect_reader_is_right_everywhere_and_gets_all_rewards(data: Data) -> None:
    questions = data.clevr("train")
    reward = of_closure._Reward(data, questions)
    rows = np.arange(len(questions))
    assert reward(questions.token[rows], rows).all()
    wrong = questions.token[rows].copy()
    wrong[:, 0] = TOKENS.numbers["scene"]
    assert not reward(wrong, rows).any()
    test = data.test("or_mat", "test")
    assert tallied(test, lambda asked: {"right": np.ones(len(asked), bool)}, clevr_functions())["right"] == 1


def test_the_page_has_our_runs_beside_the_papers(runs: Path, tmp_path: Path) -> None:
    outcomes = read_outcomes(NETWORKS, runs)
    names = {group.name for group in outcomes.groups}
    assert {"NS-VQA", "NS-VQA (strong)", "NS-VQA (weak)", "MAC"} <= {name.partition(" (batch")[0] for name in names}
    text = write_page(outcomes, {}, tmp_path / "page.md").read_text()
    for said in (
        "Table 1",
        "Table 2",
        "Table 3",
        "Table 5",
        "by the depth of the program",
        "PG-Vector-NMN",
        "Findings",
    ):
        assert said in text
    assert all((tmp_path / "page" / f"figure-{number}.svg").exists() for number in (3, 4, 7))


def test_the_papers_tables_are_whole() -> None:
    tables = (published.TABLE_1, published.TABLE_2, published.TABLE_3, published.TABLE_4)
    assert sum(len(row) for table in tables for row in table.values()) + len(published.TABLE_5) == 149


def test_the_papers_settings() -> None:
    sizes = {name: (one.rate, one.weight_decay, one.batch, one.steps) for name, one in PAPER.items()}
    assert sizes["mac"] == (1e-4, 1e-5, 64, 1_000_000) and sizes["film"] == (3e-4, 1e-5, 64, 500_000)
    assert sizes["vector-nmn"] == (1e-4, 0, 128, 500_000) and sizes["tensor-nmn"] == (1e-4, 0, 64, 500_000)
    assert sizes["generator"] == (7e-4, 0, 64, 100_000)
    weak = NETWORKS.usual("generator", Options(supervision="weak", begin="somewhere"))
    assert (weak.rate, weak.batch, weak.steps, weak.fall) == (1e-5, 128, 200_000, None)
    assert NETWORKS.usual("mac", Options(steps=1_000)).fall == (700, 1_000)


# --- what is refused


@pytest.mark.parametrize(
    ("model", "split", "own", "said"),
    [
        ("mac", "counting", {}, "there is no split 'counting'; choose zero-shot or few-shot"),
        ("mac", "few-shot", {}, "need begin: a run on zero-shot"),
        ("mac", "zero-shot", {"view": "features"}, "needs features: the folder"),
        ("mac", "zero-shot", {"noise": -1.0}, "noise is a number above 0"),
        ("mac", "zero-shot", {"view": "objects", "noise": np.nan}, "noise is a number above 0"),
        ("mac", "zero-shot", {"view": "pixels", "noise": 0.1}, "noise is a number above 0 for the view 'objects'"),
        ("mac", "zero-shot", {"questions": 0}, "questions must be at least 1"),
        ("mac", "zero-shot", {"shown": 10_000_000}, "10,000,000 questions cannot be shown; there are 1 to"),
        ("span-parser", "few-shot", {"begin": "somewhere"}, "the span parser learns on zero-shot alone"),
        (
            "mac",
            "zero-shot",
            {"view": "sound"},
            "view must be one of objects, detections, features, pixels, not 'sound'",
        ),
    ],
)
def test_jobs_that_cannot_be_done_are_refused(
    model: str, split: str, own: dict[str, Any], said: str, data: Data
) -> None:
    with pytest.raises(UserError, match=said):
        of_networks.check(job_for(model, split, **own), data)


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"shown": 481}, "481 questions cannot be shown; there are 1 to 480"),
        ({"shown": 0}, "0 questions cannot be shown"),
        ({"view": "features", "features": "nowhere"}, "there are no features in nowhere/train.npy"),
        ({"generator": "nowhere"}, "nowhere is not the folder of a run"),
    ],
)
def test_they_are_refused_before_any_data_are_made(own: dict[str, Any], said: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    with pytest.raises(UserError, match=said):
        of_networks.check(
            job_for("vector-nmn", **own), Data(ClosurePipeline(ClevrPipeline(SMALL, 0, store), SMALL.closure))
        )
    assert not [*store.folders()]


def test_module_networks_begin_with_easy_questions(data: Data) -> None:
    job = job_for("vector-nmn-1", steps=100)
    stages = NETWORKS.objective(job, data, NETWORKS.network(job, data)).stages
    questions, count = data.clevr("train"), data.scenes("train").count
    assert len(stages) == 1 + len(MODULES) and len(stages[-1].rows) == len(questions)
    for lesson, stage in zip(MODULES, stages):
        assert (count[questions.image[stage.rows]] <= lesson.objects).all()
        assert questions.size[stage.rows].mean() < questions.size.mean()
    for other in (job_for("vector-nmn-1", size="paper"), job_for("mac")):
        assert len(NETWORKS.objective(other, data, NETWORKS.network(other, data)).stages) == 1


def test_few_shot_runs_that_begin_from_the_run_of_their_own_seed_belong_together() -> None:
    runs = [
        {"seed": seed, "begin": {"run": f"closure-zero-shot-generator-{begun}", "weights": f"{begun}"}}
        for seed, begun in ((0, 0), (1, 1), (2, 0))
    ]
    first, second, other = (NETWORKS.without_seed(run)["begin"] for run in runs)
    assert first == second != other
    assert NETWORKS.without_seed({"seed": 0, "begin": None}) == {"seed": 0, "begin": None}


def test_few_shot_runs_begin_from_the_same_network(runs: Path, data: Data) -> None:
    with pytest.raises(UserError, match="is no run of mac on zero-shot with the same view and size"):
        of_networks.check(job_for("mac", "few-shot", begin=str(runs / "closure-zero-shot-generator-0")), data)
    with pytest.raises(UserError, match="is not the folder of a run"):
        of_networks.check(job_for("mac", "few-shot", begin=str(runs / "nowhere")), data)


def test_programs_come_from_a_generator(runs: Path, data: Data) -> None:
    job = job_for("vector-nmn", generator=str(runs / "closure-zero-shot-mac-0"))
    with pytest.raises(UserError, match="is no run of a generator or parser on the same questions"):
        NETWORKS.examine(job, data, NETWORKS.network(job, data))


def test_a_checkpoint_of_another_view_is_refused(runs: Path, data: Data, tmp_path: Path) -> None:
    folder = runs / "closure-zero-shot-mac-0"
    noisy = job_for("mac", noise=0.1)
    (tmp_path / noisy.name).mkdir()
    for name in ("config.json", "checkpoints"):
        (tmp_path / noisy.name / name).symlink_to(folder / name)
    with pytest.raises(UserError, match=r"holds another run: its view\.noise is 0\.0, here it is 0\.1"):
        of_networks.check(noisy, data, tmp_path)


def test_features_for_too_few_images_are_refused_before_anything_is_lost(
    runs: Path, data: Data, tmp_path: Path
) -> None:
    for source in ("train", "val"):
        np.save(tmp_path / f"{source}.npy", np.zeros((3, 2, 2, 4), np.float32))
    with pytest.raises(UserError, match=r"train\.npy has only the images 0 to 2"):
        of_networks.learn(job_for("mac", view="features", features=str(tmp_path)), data, tmp_path / "runs")


def test_a_word_that_no_training_question_has_is_named() -> None:
    with pytest.raises(
        UserError, match="the word 'giraffe' of the question 'Is there a giraffe\\?' is not among the 3"
    ):
        Vocabulary(("a", "is", "there")).read("Is there a giraffe?")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([{"function": "scene", "inputs": [], "value_inputs": []}], "program of question 0: .*which is no answer"),
        (
            [
                {"function": "scene", "inputs": [], "value_inputs": []},
                {"function": "relate", "inputs": [0], "value_inputs": ["left"]},
                {"function": "exist", "inputs": [1], "value_inputs": []},
            ],
            "program of question 0: node 1: relate takes object, not objects",
        ),
        ([{"function": "dance", "inputs": [], "value_inputs": []}], "there is no function 'dance'"),
    ],
)
def test_programs_that_do_not_type_check_are_refused(nodes: list[dict[str, Any]], said: str, data: Data) -> None:
    table = data.study.questions("or_mat", "train").slice(0, 1)
    place = table.schema.get_field_index("program")
    table = table.set_column(place, "program", [[json.dumps(nodes)]])
    with pytest.raises(UserError, match=said):
        questions_of(table, data.vocabulary)


def test_stored_questions_read_back_as_they_were(data: Data, tmp_path: Path) -> None:
    questions = data.test("compare_mat_spa", "train")
    questions.save(tmp_path)
    again = Questions.open(tmp_path)
    assert all((getattr(again, name) == getattr(questions, name)).all() for name in ("word", "token", "left", "answer"))
    assert {*MODULAR} < {*PAPER}


# --- one question


@pytest.mark.parametrize("name", ["generator-0", "span-parser-0", "mac-0", "vector-nmn-0"])
def test_a_run_can_be_looked_into(name: str, runs: Path, data: Data) -> None:
    """What it attends to are shares of words, or of objects; what it says is what it says among others."""
    folder, test = runs / f"closure-zero-shot-{name}", "or_mat"
    one = data.test(test, "test").rows(slice(0, 1))
    table = data.study.questions(test, "test").slice(0, 1)
    program = read_program(json.loads(table["program"][0].as_py()))
    asked = (table["question"][0].as_py(), table["answer"][0].as_py(), data.scenes("val"), int(one.image[0]))
    view = look_into(folder, data, one, question_view(program, *asked, "or_mat", 0))
    assert view.looks and view.said.startswith(view.network)
    for heat in view.looks:
        values = np.array(heat.values)
        assert values.shape == (len(heat.rows), len(heat.columns))
        np.testing.assert_allclose(values.sum(axis=1), 1, atol=1e-4)
        assert heat.title in view.html()
    assert view.run in view.html()


def test_a_run_on_other_questions_cannot_be_looked_into(runs: Path, data: Data) -> None:
    other = Data(ClosurePipeline(ClevrPipeline(SMALL, 1, data.study.clevr.store), SMALL.closure))
    with pytest.raises(UserError, match="is no run of closure on the questions of this scale and seed"):
        look_into(runs / "closure-zero-shot-mac-0", other, data.clevr("val").rows(slice(0, 1)), None)  # type: ignore[arg-type]


@pytest.mark.parametrize("data_of_it", [None, "x", {}, {"clevr": None}])
def test_a_run_that_does_not_say_what_it_learnt_from_is_refused(
    data_of_it: object, runs: Path, data: Data, tmp_path: Path
) -> None:
    folder = tmp_path / "closure-zero-shot-generator-0"
    config = read_config(runs / folder.name) | {"data": data_of_it}
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "checkpoints").symlink_to(runs / folder.name / "checkpoints")
    with pytest.raises(UserError):
        look_into(folder, data, data.clevr("val").rows(slice(0, 1)), None)  # type: ignore[arg-type]
    job = job_for("vector-nmn", generator=str(folder))
    with pytest.raises(UserError):
        NETWORKS.examine(job, data, NETWORKS.network(job, data))


def test_a_split_that_was_made_is_learnt_and_tested_again_without_its_file(data: Data, tmp_path: Path) -> None:
    file = MadeSplit("mine", "own", "closure", (("filter[color,red]", "filter[shape,cube]"),)).write(
        tmp_path / "a.json"
    )
    assert NETWORKS.know(data, str(file)) == ["mine"]
    job = replace(job_for("lstm", "mine", questions=400), made=str(file))
    held, rows = data.held_out("mine", "train"), of_closure._rows(job, data)[1]
    assert 0 < held.sum() < len(held) and not held[rows].any() and len(rows) == (~held).sum()
    red, cube = (TOKENS.numbers[f"filter_{name}"] for name in ("color[red]", "shape[cube]"))
    token = data.clevr("train").token
    assert np.array_equal(held, (token == red).any(axis=1) & (token == cube).any(axis=1))
    folder = of_networks.learn(job, data, tmp_path / "runs")
    found = read_results(folder)
    assert found is not None and {*found["scores"]} == {"CLEVR", "held out"}
    file.unlink()
    again = of_networks.job_of(read_config(folder), folder)
    other = Data(data.study)
    assert again.made == str(folder / "split.json") and NETWORKS.know(other, again.made) == ["mine"]
    assert of_networks.examine(folder, other, replace(again, options=job.options))["scores"] == found["scores"]
    keep(tmp_path / "runs", tmp_path / "kept", "closure")
    for place in ("runs", "kept"):
        (table,) = NETWORKS.tables(read_outcomes(NETWORKS, tmp_path / place))
        assert table.title == "Split mine, scale small" and "held out" in [column.name for column in table.columns]
    with pytest.raises(UserError, match="there is a split 'mine' already"):
        more = MadeSplit("mine", "own", "closure", (("filter[color,red]", "count"),))
        NETWORKS.know(data, str(more.write(tmp_path / "b.json")))
