"""What one can do with CLOSURE."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from math import lcm
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import pyarrow as pa

from recombine.benchmarks.clevr.answers import ANSWERS
from recombine.benchmarks.clevr.arrays import by_pairs, held_out, need_questions
from recombine.benchmarks.clevr.exam import Ideal
from recombine.benchmarks.clevr.objects import QuestionSet
from recombine.benchmarks.clevr.question_page import question_card
from recombine.benchmarks.clevr.shapes import shape_of
from recombine.benchmarks.clevr.study import Clevr, QuestionFile, SceneFiles, check_files, part_of, shard_pieces
from recombine.benchmarks.closure import exam as of_exam
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES, ENGLISH
from recombine.benchmarks.closure.learners import taken_for, weak_answers
from recombine.benchmarks.closure.order_page import by_order, order_chapter
from recombine.benchmarks.closure.orders import first_new
from recombine.benchmarks.closure.pipeline import (
    KINDS,
    PARTS,
    ClosurePipeline,
    ClosureScale,
    Kind,
    Part,
    closure_scale,
    programs_of,
)
from recombine.benchmarks.closure.published import ZERO_SHOT
from recombine.benchmarks.closure.speed import speeds
from recombine.benchmarks.closure.tests import CLOSURE_SPLITS
from recombine.benchmarks.study import Part as PartName
from recombine.benchmarks.study import Scale, Seed, Splits, Study, Workers, part_named
from recombine.language.expr import Expr
from recombine.metrics.speed import Speed
from recombine.render.folders import Dataset
from recombine.render.rendering import Given
from recombine.report.document import Card, Chapter
from recombine.report.table import Cell, Column, Table
from recombine.report.view import View
from recombine.store.engine import Progress
from recombine.store.errors import UserError
from recombine.store.recipe import Recipe
from recombine.store.store import Store, read_table, write_table
from recombine.tasks.exam import Exam, Marks
from recombine.tasks.made_splits import Items, MadeSplit, is_file
from recombine.tasks.rows import RowSet
from recombine.world.scenes import Scenes

ENOUGH = 100
"""Questions of a family that its balance is judged by."""
TEMPLATES = lcm(*map(len, CLOSURE_FAMILIES.values()))
"""Every template of a test gives the same number of questions, where there are so many of them."""
FEWEST_SCENES = 100
SCENES: tuple[Part, ...] = ("train", "val")
"""The parts of CLEVR whose scenes are asked about."""


class Closure(Study):
    """CLOSURE's seven tests on CLEVR's scenes, at one scale and seed."""

    name = "closure"
    baselines: ClassVar[tuple[str, ...]] = Clevr.baselines
    intro = (
        "CLOSURE asks questions whose parts all occur in CLEVR, but never together. The strong learner runs any "
        "program; the weak learner knows only the program shapes that CLEVR's distribution produces, and answers a new "
        "question with the known programs that are closest to it. What the second loses is the compositionality gap "
        "of a test; on the nearest CLEVR questions, the control, it loses nothing."
    )
    asks = Clevr.asks
    notes = (
        "Questions of validation and test are about different scenes of `validation`, those of train about `train`.",
    )
    published_note: ClassVar[str] = "Models: the paper's Table 1, zero-shot accuracy, trained on CLEVR images."

    def __init__(
        self,
        scale: Scale | ClosureScale = "demo",
        seed: Seed = 0,
        *,
        workers: Workers = 1,
        store: Store | None = None,
        progress: Progress | None = None,
    ) -> None:
        size = closure_scale(scale) if isinstance(scale, str) else scale
        self.clevr = Clevr(size, seed, workers=workers, store=store, progress=progress)
        self.scale_name, self.seed, self.store, self.progress = size.name, seed, self.clevr.store, self.clevr.progress
        self.engine, self.study = self.clevr.engine, ClosurePipeline(self.clevr.study, size.closure)

    def list(self) -> Table:
        """The seven tests, and why CLEVR never asks their questions."""
        rows = tuple(
            (name, len(CLOSURE_FAMILIES[name]), split.test.text, split.about) for name, split in CLOSURE_SPLITS.items()
        )
        columns = (Column("test"), Column("templates", "right"), Column("what"), Column("why it is new"))
        return Table("CLOSURE's tests", columns, rows)

    def questions(self, test: str, part: PartName = "validation", kind: Kind = "closure") -> QuestionSet:
        """The questions of a test, or of the CLEVR families nearest to it (`kind="baseline"`).

        Of the file of a split, those of CLEVR's questions that it holds out.
        """
        if is_file(test):
            return self.clevr.held_out_questions(self.split_of(test), part)
        chosen: Part = part_of(part)
        self.need_room()
        scene = partial(self.clevr.study.scene, self.study.source(chosen)[0])
        return QuestionSet(self.study.questions(test, chosen, kind), scene, "CLOSURE", test, most_likely, taken_for)

    def show(
        self,
        split: str,
        number: int = 0,
        part: PartName = "validation",
        *,
        run: Annotated[Path | None, "Also what a trained network makes of it: the folder of its run."] = None,
        pictures: bool = False,
    ) -> View:
        """One question, with the answers of the weak learner, or with what a run makes of it."""
        view = self.questions(split, part).numbered(number).view(pictures)
        if run is None:
            return view
        from recombine.benchmarks.closure.arrays import Data
        from recombine.benchmarks.closure.looks import look_into

        if is_file(split):
            raise UserError("networks are looked into with questions of the seven tests; name one of them")
        if part_of(part) == "train":
            raise UserError("networks are looked into with questions about validation scenes; choose another part")
        data = Data(self.study)
        return look_into(run, data, data.test(split, part_of(part)).rows(slice(number, number + 1)), view)

    def exams(self, splits: Splits = (), part: PartName = "test") -> Sequence[Exam]:
        """Two exams for each test: its own questions, and the control."""
        named = [split for split in splits if not is_file(split)]
        made = [self.split_of(split) for split in splits if is_file(split)]
        (plain,) = self.clevr.exams((), part) if made else (None,)
        own = of_exam.exams(self.study, named, part_of(part)) if named or not made else []
        return [*own, *(self.clevr.exam_of(one, plain) for one in made if plain)]

    def split_items(self) -> Items:
        """The programs of CLEVR's training questions."""
        return self.clevr.split_items()

    def row_sets(self, splits: Splits = (), part: PartName = "test") -> Sequence[RowSet]:
        """The questions of the tests and of their controls."""
        scenes, named = self.study.source(part_of(part))[0], part_named(part)
        return [
            RowSet(
                "/".join(exam.name.split("/")[:2]),
                exam.split,
                named,
                partial(shard_pieces, exam),
                self.asks,
                scenes,
                exam,
            )
            for exam in self.exams(splits, part)
        ]

    def scales_for(self, rows: int) -> Iterable[ClosureScale]:
        """As many scenes to a question as at the scale of the paper, or some more; templates in equal parts."""
        paper = closure_scale("paper")
        questions = -(-rows // TEMPLATES) * TEMPLATES
        scenes = max(FEWEST_SCENES, -(-paper.val * questions // paper.closure[2]))
        return [
            ClosureScale(f"fresh-{rows}", 1, times * scenes, 1, paper.questions, (36, 72, questions))
            for times in (1, 2, 4)
        ]

    def scales_for_made(self, rows: int) -> Iterable[ClosureScale]:
        return [ClosureScale(**asdict(one), closure=(36, 36, 36)) for one in self.clevr.scales_for_made(rows)]

    def novelty(self, concept: Expr) -> int | None:
        return first_new(concept)

    @property
    def dataset(self) -> Dataset:
        """CLEVR's scenes, those that are asked about."""
        clevr = self.clevr.dataset
        return replace(clevr, benchmark=self.name, parts=tuple(one for one in clevr.parts if one[0] in SCENES))

    def scenes_given(self) -> Mapping[str, Given]:
        return {part: given for part, given in self.clevr.scenes_given().items() if part in SCENES}

    def learners(self, exam: Exam) -> Mapping[str, Ideal]:
        """The strong and the weak learner."""
        return self.clevr.learners(exam) if exam.name in self.clevr.made else of_exam.learners()

    def ideal(self, exam: Exam) -> Mapping[str, Marks]:
        if exam.name in self.clevr.made:
            return super().ideal(exam)
        found = self.study.scores(exam.split, of_exam.part_of(exam), "baseline" if exam.control else "closure")
        return {"strong": {"probability": found.strong}, "weak": {"probability": found.weak}}

    def published(self, exam: Exam, metric: str) -> Mapping[str, Cell]:
        return ZERO_SHOT.get(exam.split, {})

    def gap_note(self) -> str:
        return "Expected accuracy. On the controls the gap is 0 by definition."

    def artefacts(self, splits: Splits = ()) -> dict[str, Path]:
        """All questions of the tests and of their baselines, and CLEVR's scenes."""
        files = [split for split in splits if is_file(split)]
        parts: tuple[Part, ...] = (*SCENES, "test") if files else SCENES
        found = {f"scenes/{part}": self.clevr.study.scenes_folder(part) for part in parts}
        for file in files:
            made = by_pairs(self.split_of(file))
            found |= {f"{made.name}/{part}": self._side_of(made, part) for part in PARTS}
        for test in [split for split in splits if not is_file(split)] or (() if files else CLOSURE_FAMILIES):
            for part in PARTS:
                for kind in KINDS:
                    found[f"{kind}/{test}/{part}"] = self.study.questions_file(test, part, kind).parent
        return found

    def _side_of(self, made: MadeSplit, part: Part) -> Path:
        """CLEVR's questions of a part on one side of a split: its test has what it holds out, all else the rest."""
        clevr = self.clevr.study
        recipe = Recipe("closure-made", 1, {"pairs": made.pairs}, {"questions": clevr.questions_recipe(part).digest})

        def make(draft: Path) -> None:
            table = read_table(clevr.questions_folder(part))
            held = held_out(table, made, trained=part == "train")
            rows = need_questions(np.flatnonzero(held == (part == "test")), made.name, part)
            split = pa.array([made.name] * len(rows), pa.string())
            write_table(draft / "questions.parquet", table.take(rows).append_column("split", split), recipe)

        return self.store.get(recipe, make)

    def evidence(self) -> Table:
        """What makes the tests fair: how CLEVR's own questions are spread, and that none has the shape of a test."""
        columns = [self._evidence(part) for part in PARTS]
        rows = tuple((what, *(column[what] for column in columns)) for what in columns[0])
        names = (Column(part, "right", ".3f") for part in PARTS)
        return Table("CLEVR's questions", (Column("what"), *names), rows)

    def _evidence(self, part: Part) -> dict[str, int | float | None]:
        questions, spread = self.clevr.questions(None, part).table, self.clevr.spread(part)
        large = [family for family in spread if family.questions >= ENOUGH]
        shapes = {family.shape for families in CLOSURE_FAMILIES.values() for family in families}
        return {
            "questions": len(questions),
            "families of 90 that occur": sum(family.questions > 0 for family in spread),
            "questions of the rarest family": min(family.questions for family in spread),
            "questions of the most frequent family": max(family.questions for family in spread),
            f"families of {ENOUGH} questions or more": len(large),
            "largest answer / second, worst of these": max((family.lead or 0.0 for family in large), default=None),
            "questions with the shape of a CLOSURE test": sum(shape_of(p) in shapes for p in programs_of(questions)),
        }

    def chapters(self) -> Iterable[Chapter]:
        yield self.gap_chapter(self.gap())
        yield order_chapter(by_order(self.study))
        yield from self.world_chapters()
        yield Chapter("The seven tests, and CLEVR", (self.list(), self.evidence()))
        cards = tuple(Card(question_card(self.questions(test).numbered(3).view(True))) for test in CLOSURE_FAMILIES)
        yield Chapter("Questions", cards, "One question of each test, step by step.")
        yield Chapter("Settings", (self.settings_table(),))

    def speeds(self) -> Iterator[Speed]:
        return speeds(self.study)

    def check(self, *, scenes: SceneFiles = (), questions: QuestionFile = None) -> tuple[Table, bool]:
        """Every law on fresh scenes and questions; or files of scenes and questions, as for CLEVR."""
        return check_files(scenes, questions, ENGLISH.read) if scenes or questions else super().check()

    def need_room(self, splits: Sequence[str] = ()) -> None:
        named = [split for split in splits if not is_file(split)]
        self.store.need(self.study.size_estimate([*(named or CLOSURE_FAMILIES)]))


def most_likely(program: Expr, scenes: Scenes, scene: int) -> tuple[tuple[str, float], ...]:
    """The weak learner's answers to one question, the likeliest first."""
    (chances,) = weak_answers([program], scenes, np.array([scene]))
    order = np.argsort(-chances, kind="stable")
    return tuple((ANSWERS[i], float(chances[i])) for i in order if chances[i] > 0)
