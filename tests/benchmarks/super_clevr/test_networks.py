"""Super-CLEVR's networks: runs that go on as if they had never stopped, tests across factors, tables, refusals."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")

from recombine.benchmarks import networks as of_networks
from recombine.benchmarks.clevr.program import ProgramTokens
from recombine.benchmarks.networks import Job, settings
from recombine.benchmarks.runs import read_outcomes
from recombine.benchmarks.super_clevr import networks as of_super_clevr
from recombine.benchmarks.super_clevr import published, variants
from recombine.benchmarks.super_clevr.arrays import Data
from recombine.benchmarks.super_clevr.exam import read_in
from recombine.benchmarks.super_clevr.network_tables import degrade
from recombine.benchmarks.super_clevr.networks import NAMES, NETWORKS, Options
from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
from recombine.benchmarks.super_clevr.study import SuperClevr
from recombine.benchmarks.super_clevr.symbolic import named
from recombine.benchmarks.super_clevr.variants import FACTORS, LEARNT, SAME, TRAINED, VARIANTS
from recombine.metrics.degrade import across, from_one
from recombine.metrics.intervals import Interval
from recombine.solvers.questions import words_of
from recombine.solvers.training.loop import Progress
from recombine.solvers.training.records import read_config, read_results
from recombine.store.engine import InProcess
from recombine.store.errors import UserError
from recombine.store.store import Store
from recombine.tasks.made_splits import MadeSplit
from recombine.verbs.learners import write_page

SMALL = SuperClevrScale("small", 40, 6, 6, questions=4, part_questions=2)
SIZE = (64, 48)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Data]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_super_clevr, "VALIDATED", 12)
        yield Data(SMALL, 0, Store(tmp_path_factory.mktemp("store")), InProcess())


def job_for(model: str, split: str = "default", seed: int = 0, **own: Any) -> Job:
    options = Options(**{"steps": 6, "questions": 12, "picture": "64x48", **own})
    training = replace(settings(NETWORKS, model, options, batch=16, validate_every=3), checkpoint_every=0.0)
    settled = replace(NETWORKS.concerning(options, model), steps=None, validate_every=None, batch=None)
    return Job("super-clevr", split, model, seed, "small", 0, settled, training)


@pytest.fixture(scope="module")
def runs(data: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    for model in NAMES:
        of_networks.learn(job_for(model), data, out)
    for split in ("easy", "hard"):
        of_networks.learn(job_for("nscl", split), data, out)
    of_networks.learn(job_for("nscl", view="objects", picture="160x120"), data, out)
    of_networks.learn(job_for("cnn-lstm", about="part", view="objects", picture="160x120"), data, out)
    return out


class Stopped(Exception):
    pass


@pytest.mark.parametrize("model", ["film", "mdetr", "nscl"])
def test_a_run_that_was_stopped_ends_in_the_same_bytes(model: str, runs: Path, data: Data, tmp_path: Path) -> None:
    job = job_for(model)
    whole = runs / job.name

    def stop(moment: Progress) -> None:
        if moment.step == 2:
            raise Stopped

    with pytest.raises(Stopped):
        of_networks.learn(job, data, tmp_path, stop)
    of_networks.learn(job, data, tmp_path)
    for name in ("last", "best"):
        file = Path("checkpoints") / f"{name}.safetensors"
        assert (tmp_path / job.name / file).read_bytes() == (whole / file).read_bytes()
    again = of_networks.job_of(read_config(whole), whole)
    assert (again.options, again.split) == (replace(job.options, questions=2_000), "default")


def test_every_run_is_tested_on_all_that_its_factors_compare(runs: Path) -> None:
    for split in ("default", "hard"):
        found = read_results(runs / f"super-clevr-{split}-nscl-64x48-0")
        assert found is not None and tuple(found["scores"]) == variants.tests_of(split)
        for one in found["scores"].values():
            assert one["questions"] == 12 == sum(one["images"]["asked"])
            assert sum(one["images"]["right"]) == round(12 * one["right"])


def test_tables_have_each_factor_and_the_degrade_of_whole_ones(runs: Path) -> None:
    outcomes = read_outcomes(NETWORKS, runs)
    tables = {table.title: table for table in NETWORKS.tables(outcomes)}
    assert {f"Table 1: {factor}, tested on" for factor in FACTORS} <= {*tables}
    easy = next(group for group in outcomes.groups if group.job.split == "easy")
    assert [row[:2] for row in tables["Table 2: relative degrade"].rows] == [(easy.name, "visual")]
    rows = [row[:3] for row in tables["Relative degrade by the variant trained on"].rows]
    assert {(easy.name, "visual", trained) for trained in ("easy", "mid", "hard")} <= {*rows}
    assert len(tables["Questions about parts"].rows) == 1
    trained = {variant: name for name, variant in TRAINED["visual"].items()}
    factor = {trained[group.job.split]: group for group in outcomes.groups if group.name == easy.name}
    said = degrade(factor, "visual")
    accuracy = {
        tested: {trained: float(group.of(variant)[0]) for trained, group in factor.items()}
        for tested, variant in FACTORS["visual"].items()
    }
    assert isinstance(said, Interval)
    if min(min(row.values()) for row in accuracy.values()) > 0:
        assert said.value == pytest.approx(across(accuracy))


def test_a_page_of_all_runs_is_written(runs: Path, tmp_path: Path) -> None:
    page = write_page(read_outcomes(NETWORKS, runs), {}, tmp_path / "page.md").read_text()
    assert "Table 2: relative degrade" in page and all(name in page for name in NAMES.values())


def test_from_one_is_what_across_is_the_mean_of() -> None:
    for model in published.MODELS:
        for factor in ("visual", "redundancy", "composition"):
            table = published.accuracy(model, factor)
            ones = [from_one({name: row[k] for name, row in table.items()}, k) for k in published.TRAINED[factor]]
            assert np.mean(ones) == pytest.approx(across(table))


def test_variants_that_are_one_here_are_one_in_table_1() -> None:
    for model in published.MODELS:
        table = published.TABLE_1[model]
        assert table["hard"]["hard"] == table["bal"]["bal"]
        assert table["mid"]["mid"] == pytest.approx(table["rd"]["rd"], abs=0.05)
        assert published.accuracy(model, "composition")["co-0"]["co-0"] == table["mid"]["mid"]
    assert {*SAME.values()} == {"default", "hard"} and len(LEARNT) == 9 and {*LEARNT} <= {*VARIANTS}


def test_the_vocabulary_has_the_words_of_all_variants_and_kinds(data: Data) -> None:
    for variant in VARIANTS:
        for kind in data.at(variant).kinds:
            questions = data.questions(variant, "test", kind)
            assert (data.answers(kind), len(questions)) and questions.answer.max() < len(data.answers(kind))


def test_mentions_speak_of_the_objects_that_their_words_describe(data: Data) -> None:
    questions, scenes = data.questions("default", "train"), data.scenes("default", "train")
    found, dialect = data.groundings("default", "train"), data.dialect("object")
    texts = data.at("default").questions("train", "object")["question"].to_pylist()
    known, linked = ProgramTokens(dialect).symbols.values(), 0
    words = {said: symbol.index for symbol in known if symbol.family == "filter" for said in [symbol.index[1]]}
    for row, text in enumerate(texts):
        said = words_of(text)
        for start, end, mask in zip(found.start[row], found.end[row], found.objects[row]):
            plain = [words[word] for word in said[start:end] if word in words] if start >= 0 else []
            for one in (i for i in range(10) if int(mask) >> i & 1):
                linked += 1
                for attribute, value in plain:
                    code = scenes.codes[attribute][questions.image[row], one]
                    assert scenes.vocabulary[attribute].values[code] in dialect.objects.accepts(attribute, value), text
    assert linked > 100


@pytest.mark.parametrize(
    ("model", "split", "own", "said"),
    [
        ("nscl", "mid", {}, "the variant 'mid' is 'default' here"),
        ("nscl", "oppo", {}, "nothing is trained on 'oppo'"),
        ("film", "default", {"picture": "8x8"}, "32 to 1,024 pixels"),
        ("film", "default", {"view": "features"}, "needs features"),
        ("film", "default", {"view": "objects"}, "leave picture out"),
        ("film", "default", {"noise": 0.5}, "noise is a number above 0 for the view 'objects'"),
        ("film", "default", {"view": "objects", "picture": "160x120", "noise": np.inf}, "noise is a number above 0"),
        ("film", "default", {"questions": 0}, "questions must be at least 1"),
        ("film", "default", {"parser": "x"}, "needs no parser"),
        ("film", "default", {"view": "detections", "parser": "x", "picture": "160x120"}, "there is no parser x"),
        ("mdetr", "default", {"about": "part"}, "mDETR is given objects, not their parts"),
        ("film", "easy", {"about": "part"}, "'easy' has no parts"),
        ("nscl", "default", {"view": "features", "features": "x", "picture": "160x120"}, "choose the view pixels"),
        ("mdetr", "default", {"view": "objects", "picture": "160x120"}, "cannot see the view 'objects'"),
    ],
)
def test_what_cannot_be_done_is_refused(model: str, split: str, own: dict[str, Any], said: str, data: Data) -> None:
    with pytest.raises(UserError, match=said):
        of_networks.check(job_for(model, split, **own), data)


def test_a_variant_that_is_not_there_is_told(data: Data) -> None:
    with pytest.raises(UserError, match="there is no variant 'nowhere'; choose one of default"):
        data.at("nowhere")


def test_a_split_that_was_made_is_learnt_and_tested_beside_its_control(data: Data, tmp_path: Path) -> None:
    pair = ("filter[color,red]", "count")
    file = MadeSplit("mine", "own", "super-clevr", (pair,)).write(tmp_path / "mine.json")
    assert NETWORKS.know(data, str(file)) == ["mine"]
    whole, tokens = data.questions("default", "train"), ProgramTokens(data.dialect("object")).numbers
    with_red, counts = ((whole.token == tokens[name]).any(axis=1) for name in ("filter_color[red]", "count"))
    held = with_red & counts
    learnt = data.questions("mine", "train")
    assert held.sum() > 0 and np.array_equal(learnt.word, whole.word[~held])
    assert len(data.groundings("mine", "train")) == len(learnt)
    tests = [data.questions(f"mine{ending}", "test") for ending in ("", ", control")]
    assert sum(map(len, tests)) == len(data.questions("default", "test")) and all(map(len, tests))
    job = replace(job_for("lstm", "mine", questions=10_000), made=str(file))
    folder = of_networks.learn(job, data, tmp_path / "runs")
    found = read_results(folder)
    assert found is not None and {*found["scores"]} == {"mine", "mine, control"}
    (table,) = NETWORKS.tables(read_outcomes(NETWORKS, tmp_path / "runs"))
    assert table.title == "Split mine, scale small"
    assert of_networks.job_of(read_config(folder), folder).made == str(folder / "split.json")


def test_what_a_generator_writes_is_run_and_what_is_no_program_is_a_guess(
    runs: Path, data: Data, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = runs / "super-clevr-default-generator-0"
    study = SuperClevr(SMALL, generator=folder, store=data.store)
    (exam,) = study.exams(part="validation")
    asked = next(iter(exam.pieces()))
    seen = asked.observed()
    texts = asked.text.tolist() if asked.text is not None else []
    written = of_super_clevr.programs_written(folder, texts[:5], study.study.asking.dialect)
    assert len(written) == 5
    programs = [read_in(study.study.asking, text) for text in texts]
    some = [program if row % 2 else None for row, program in enumerate(programs)]
    monkeypatch.setattr(of_super_clevr, "programs_written", lambda *_: some)
    given = named(study, "nsvqa").predict(seen)
    read = named(SuperClevr(SMALL, store=data.store), "nsvqa").predict(seen)
    assert np.array_equal(given[1::2], read[1::2])
    assert (given[::2] == 1 / given.shape[1]).all()


def test_a_generator_is_asked_what_it_has_learnt(runs: Path, data: Data) -> None:
    study = SuperClevr(SMALL, generator=runs / "super-clevr-default-generator-0", store=data.store)
    assert [exam.name for exam in study.exams()] == ["object"]
    with pytest.raises(UserError, match="has learnt to read questions about objects alone, not part"):
        study.exams(["part"])
    with pytest.raises(UserError, match="is no run of a generator"):
        SuperClevr(SMALL, generator=runs / "super-clevr-default-lstm-0", store=data.store).exams()


def test_a_generator_learns_to_write_the_programs(data: Data) -> None:
    """The same few questions again and again, until they are written token for token."""
    import torch

    from recombine.solvers.parsing import ProgramObjective, exact, write
    from recombine.solvers.training.batches import Stage

    questions = data.questions("default", "train").rows(slice(0, 8))
    network = NETWORKS.network(job_for("generator"), data)
    lesson = ProgramObjective(network, questions, (Stage(np.arange(8)),), lambda _: {})
    steps = torch.optim.Adam(network.parameters(), 3e-3)
    for _ in range(60):
        steps.zero_grad()
        lesson.loss(np.arange(8)).backward()
        steps.step()
    network.eval()
    assert exact(write(network, questions), questions).all()
