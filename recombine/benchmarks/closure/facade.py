"""What one can do with CLOSURE."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np

from recombine.benchmarks.clevr.facade import Clevr, view_of
from recombine.benchmarks.clevr.families import CLOSURE_FAMILIES, shape_of
from recombine.benchmarks.clevr.question_page import QuestionView
from recombine.benchmarks.clevr.study import ClevrScale
from recombine.benchmarks.closure.learners import ANSWERS, weak_answers
from recombine.benchmarks.closure.pages import ClosureGaps, html_report, markdown_report
from recombine.benchmarks.closure.study import PARTS, ClosureStudy, Kind, Part, programs_of
from recombine.benchmarks.closure.tests import CLOSURE_SPLITS
from recombine.language.expr import Expr
from recombine.metrics.speed import Speed
from recombine.report.table import Column, Table
from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.outputs import export, free_file, free_folder
from recombine.store.store import Store, write_atomically
from recombine.world.scenes import Scenes

ENOUGH = 100
"""Questions of a family that its balance is judged by."""
KINDS: tuple[Kind, ...] = ("closure", "baseline")


class Closure:
    """CLOSURE's seven tests on CLEVR's scenes, at one scale and seed."""

    def __init__(
        self,
        scale: str | ClevrScale = "demo",
        seed: int = 0,
        *,
        workers: int = 1,
        store: Store | None = None,
        progress: Progress = silent,
    ) -> None:
        self.clevr = Clevr(scale, seed, workers=workers, store=store, progress=progress)
        self.study = ClosureStudy(self.clevr.study)

    def close(self) -> None:
        """End the workers."""
        self.clevr.close()

    def __enter__(self) -> "Closure":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def list(self) -> Table:
        """The seven tests, and why CLEVR never asks their questions."""
        rows = tuple(
            (name, len(CLOSURE_FAMILIES[name]), split.test.text, split.about) for name, split in CLOSURE_SPLITS.items()
        )
        columns = (Column("test"), Column("templates", "right"), Column("what"), Column("why it is new"))
        return Table("CLOSURE's tests", columns, rows)

    def show(self, test: str, number: int = 0, part: str = "val", *, pictures: bool = False) -> QuestionView:
        """One question, with the answers of the weak learner."""
        part_ = _part(part)
        table = self.study.questions(test, part_)
        scene = partial(self.clevr.study.scene, self.study.source(part_)[0])
        return view_of(table, number, test, "CLOSURE", scene, most_likely, pictures)

    def make(self, out: str | Path | None = None) -> Path:
        """All questions of all tests and of their baselines, and CLEVR's scenes."""
        free_folder(out)
        found = {f"scenes/{part}": self.clevr.study.scenes_folder(part) for part in ("train", "val")}
        for test in CLOSURE_FAMILIES:
            for part in PARTS:
                for kind in KINDS:
                    found[f"{kind}/{test}/{part}"] = self.study.questions_file(test, part, kind).parent
        return self.clevr.study.store.home if out is None else export(found, Path(out))

    def gap(self, tests: Sequence[str] = (), part: str = "test") -> ClosureGaps:
        """Strong minus weak learner on each test and on its baseline."""
        chosen = list(tests) or list(CLOSURE_FAMILIES)
        self.clevr.study.store.need(self.clevr.study.count("val") * 3_000)
        for test in chosen:
            self.study.families(test, "closure")
        gaps = {kind: {test: self.study.gaps(test, _part(part), kind) for test in chosen} for kind in KINDS}
        scale = self.clevr.study.scale
        return ClosureGaps(scale.name, self.clevr.study.seed, _part(part), gaps["closure"], gaps["baseline"])

    def evidence(self) -> Table:
        """What makes the tests fair: how CLEVR's own questions are spread, and that none has the shape of a test."""
        columns = [self._evidence(part) for part in PARTS]
        rows = tuple((what, *(column[what] for column in columns)) for what in columns[0])
        names = (Column(part, "right", ".3f") for part in PARTS)
        return Table("CLEVR's questions", (Column("what"), *names), rows)

    def _evidence(self, part: Part) -> dict[str, int | float | None]:
        questions, spread = self.clevr.questions(part), self.clevr.spread(part)
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

    def report(self, out: str | Path) -> Path:
        """The gaps and one question of each test as a page (.html), or the gaps as Markdown (.md)."""
        out = free_file(out, (".html", ".md"))
        gaps = self.gap()
        if out.suffix == ".md":
            markdown_report(gaps, (self.list(), self.evidence()), out)
            return out
        text = html_report(
            gaps, (self.list(), self.evidence()), [self.show(test, 3, pictures=True) for test in CLOSURE_FAMILIES]
        )
        write_atomically(out, lambda draft: draft.write_text(text, encoding="utf-8"))
        return out

    def speeds(self) -> Iterator[Speed]:
        """What every part costs beside its plain reference."""
        return self.clevr.speeds()


def most_likely(program: Expr, scenes: Scenes, scene: int) -> tuple[tuple[str, float], ...]:
    """The weak learner's answers to one question, the likeliest first."""
    (chances,) = weak_answers([program], scenes, np.array([scene]))
    order = np.argsort(-chances, kind="stable")
    return tuple((ANSWERS[i], float(chances[i])) for i in order if chances[i] > 0)


def _part(name: str) -> Part:
    name = "val" if name == "validation" else name
    if name not in PARTS:
        raise UserError(f"there is no part '{name}'; choose one of {', '.join(PARTS)}")
    return cast(Part, name)
