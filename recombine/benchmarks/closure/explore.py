"""CLOSURE in the explorer: questions that CLEVR never asks."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from recombine.benchmarks.clevr.explore import ClevrExplorer
from recombine.benchmarks.clevr.pipeline import ClevrPipeline, Part
from recombine.benchmarks.closure.families import read as read_closure
from recombine.benchmarks.closure.learners import taken_for
from recombine.benchmarks.closure.tests import CLOSURE_SPLITS
from recombine.language.expr import Expr
from recombine.report.table import Table


class ClosureExplorer(ClevrExplorer):
    """The same scenes, other questions."""

    study: Any
    asked: ClassVar[Part] = "val"
    languages: ClassVar[Mapping[str, str]] = {
        **ClevrExplorer.languages,
        "as CLOSURE asks": "How many things are small balls or cubes that are the same color as the large cylinder?",
    }

    @property
    def pipeline(self) -> ClevrPipeline:
        found: ClevrPipeline = self.study.clevr.study
        return found

    @property
    def splits(self) -> Sequence[tuple[str, str, str]]:
        return [(split.name, split.title, split.about) for split in CLOSURE_SPLITS.values()]

    def tables(self) -> Sequence[Table]:
        return [self.study.list()]

    def parsed(self, text: str) -> Expr:
        return read_closure(text)

    def mistaken(self, program: Expr) -> Sequence[str]:
        known = taken_for(program)
        return (f"The weak learner takes it for: {' / '.join(known)}",) if known else ()
