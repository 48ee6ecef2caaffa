"""A learner that answers prompts in words earns, row by row, what `recombine gap` says that it earns."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from recombine import Closure, ConceptWorld, Curi, Endless, Level, Study, SuperClevr, UserError
from recombine.benchmarks.closure.pipeline import ClosureScale
from recombine.benchmarks.concept_world import pipeline as of_study
from recombine.benchmarks.rewards import verdict
from recombine.benchmarks.super_clevr.pipeline import SuperClevrScale
from recombine.metrics.scores import balanced_accuracy
from recombine.render.png import decoded
from recombine.store.store import Store
from recombine.tasks.prompts import chat, parts, placeholders
from recombine.tasks.rows import Row


@pytest.fixture(autouse=True, scope="module")
def tiny_scale() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(of_study.SHARES, "tiny", 0.02)
        yield


def said(study: Study, row: Row) -> str:
    return study.benchmark.verifier.say(row.said, row.options)


@pytest.mark.parametrize("who", ["strong", "weak"])
@pytest.mark.parametrize("form", ["all", "query"])
def test_episodes_earn_their_gap(tiny: Curi, who: str, form: str) -> None:
    unit, truth, right = [], [], []
    for row in tiny.answers(tiny.asked_rows(["counting"], form=form), who):
        found = verdict(row, said(tiny, row))
        assert not found.unreadable
        unit.append((row.split, row.number))
        truth.append(row.answers)
        right.append(found.right)
    (exam,) = tiny.exams(["counting"])
    assert balanced_accuracy(unit, truth, right) == pytest.approx(tiny.ideal(exam)[who]["accuracy"].mean(), abs=1e-12)
    assert len(unit) == tiny.study.setup.episodes("test") * (25 if form == "query" else 1)


@pytest.mark.parametrize("split", ["or_mat", "embed_mat_spa", "sequences", "long-to-oppo", "part"])
def test_questions_and_images_earn_their_gap_row_by_row(own_home: Path, split: str) -> None:
    store, study = Store(own_home), None
    if split in ("or_mat", "embed_mat_spa"):
        study = Closure(ClosureScale("few", 40, 60, 20, 4, (36, 36, 36)), store=store)
    elif split == "sequences":
        study = ConceptWorld("tiny", store=store)
    else:
        study = SuperClevr(SuperClevrScale("tiny", 4, 4, 12, 3, 3), store=store)
    exams = {exam.name: exam for exam in study.exams([split])}
    for one in study.row_sets([split]):
        assert one.exam is not None and one.exam.name in exams
        marks = study.ideal(exams[one.exam.name])
        for who in ("strong", "weak"):
            rows = [
                row
                for row in study.answers(study.asked_rows([split]), who)
                if f"-{one.name.replace('/', '-')}-" in row.id
            ]
            earned = np.empty(len(rows))
            for row in rows:
                earned[row.number] = verdict(row, said(study, row)).score
            np.testing.assert_array_equal(earned, marks[who]["probability"])
            for row in study.answers(study.asked_rows([split], first=3), who):  # as much where fewer are asked
                if f"-{one.name.replace('/', '-')}-" in row.id:
                    assert verdict(row, said(study, row)).score == marks[who]["probability"][row.number]


def test_an_unknown_learner_is_refused(tiny: Curi) -> None:
    with pytest.raises(UserError, match="no learner 'nobody'; choose one of strong, weak, induction"):
        next(tiny.answers(tiny.asked_rows(["boolean"], first=1), "nobody"))


def test_a_prompt_has_its_pictures_where_they_belong(tiny: Curi) -> None:
    row = next(tiny.rows(["boolean"], first=1, render="images", size="24x16"))
    found = list(parts(row))
    assert [one for one in found if isinstance(one, bytes)] == [*row.media]
    assert "".join("<image>" if isinstance(one, bytes) else one for one in found).replace(
        "\n", ""
    ) == row.text().replace("\n", "")
    kinds = [part["type"] for part in chat(row)[0]["content"]]
    assert (
        kinds.count("image_url") == 50 and [one["type"] for one in placeholders(row)[0]["content"]].count("image") == 50
    )
    words = next(tiny.rows(["boolean"], first=1, render="words"))
    assert [part["type"] for part in chat(words)[0]["content"]] == ["text"]
    with pytest.raises(UserError, match="numbers of scenes"):
        chat(next(tiny.rows(["boolean"], first=1)))


def test_difficulty_keeps_such_rows_and_no_others(own_home: Path, tiny: Curi) -> None:
    study = Closure(ClosureScale("few", 40, 60, 20, 4, (36, 36, 36)), store=Store(own_home))
    every = {row.id: row for row in study.rows(["or_mat"], render="words")}
    few = {
        row.id: row for row in study.rows(["or_mat"], render="words", difficulty={"objects": "3-6", "novelty": "2-"})
    }
    inside = {id for id, row in every.items() if len(row.words[0].split("; ")) <= 6 and "-closure-" in id}
    assert (
        set(few) == inside
        and 0 < len(few) < len(every)
        and {row.digest for row in few.values()} != {row.digest for row in every.values()}
    )
    deep = list(tiny.rows(["boolean"], difficulty={"depth": "-6"}))
    assert deep and all(_depth(row.concept) <= 6 for row in deep)
    clear, noisy = (
        next(tiny.rows(["boolean"], first=1, render="images", size="24x16", difficulty=hard)).media
        for hard in (None, {"noise": "0.1"})
    )
    apart = np.abs(decoded(clear[0]).astype(int) - decoded(noisy[0]).astype(int))
    assert 5 < apart.mean() < 40
    for wrong in ({"objects": "many"}, {"noise": "2"}, {"age": "3"}, {"objects": "6-3"}):
        with pytest.raises(UserError):
            next(tiny.rows(["boolean"], difficulty=wrong))
    with pytest.raises(UserError, match="no orders of novelty"):
        next(tiny.rows(["boolean"], difficulty={"novelty": "3"}))


def _depth(text: str) -> int:
    open_, most = 1, 1
    for letter in text:
        open_ += (letter == "(") - (letter == ")")
        most = max(most, open_)
    return most


def test_endless_rows_go_on_and_up(own_home: Path) -> None:
    def rows(**more: object) -> Endless:
        scale = SuperClevrScale("tiny", 4, 4, 4, 2, 2)
        return Endless("super-clevr", ["object"], scale=scale, store=Store(own_home), seed=3, **more)  # type: ignore[arg-type]

    first, again = (list(islice(rows(), 20)) for _ in range(2))
    assert first == again and {row.seed for row in first} == {3, 4, 5} and {row.part for row in first} == {"train"}
    steps = rows(
        curriculum=[Level({}, window=2), Level({"difficulty": {"objects": "5-"}}, rows=1), {"render": "words"}]
    )
    for score in (0.0, 1.0, 1.0):
        next(steps)
        steps.told(score)
    assert steps.level == 1
    assert next(steps).seed % 3 == 1 and next(steps).words and steps.level == 2
    with pytest.raises(UserError, match="no option 'colour'"):
        rows(colour="red")
