"""CLOSURE for people: the gaps of the seven tests and of their baselines, and the report."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recombine.benchmarks.clevr.question_page import QuestionView, question_card
from recombine.metrics.gap import Gap
from recombine.report.figures import GapRow, gap_chart, stand_alone
from recombine.report.page import Section, chart, page
from recombine.report.table import Column, Table

PUBLISHED = {
    "embed_spa_mat": (93.4, 99.0, 98.3, 98.5),
    "embed_mat_spa": (62.0, 76.8, 97.3, 98.7),
    "compare_mat": (66.2, 65.3, 96.1, 98.5),
    "compare_mat_spa": (65.8, 66.2, 95.4, 98.4),
    "and_mat_spa": (41.4, 63.7, 33.3, 86.3),
    "or_mat": (34.4, 75.2, 69.5, 91.5),
    "or_mat_spa": (35.2, 70.4, 50.4, 88.6),
}
"""The paper's Table 1, zero-shot accuracies in percent: FiLM, MAC, NS-VQA, GT-Vector-NMN."""
MODELS = ("FiLM", "MAC", "NS-VQA", "GT-Vector-NMN")

INTRO = (
    "CLOSURE asks questions whose parts all occur in CLEVR, but never together. The strong learner runs any program; "
    "the weak learner knows only the program shapes that CLEVR's distribution produces, and answers a new question "
    "with the known programs that are closest to it. What the second loses is the compositionality gap of a test; on "
    "the nearest CLEVR questions it loses nothing."
)


@dataclass(frozen=True)
class ClosureGaps:
    """The gaps of the tests and of their baselines."""

    scale: str
    seed: int
    part: str
    tests: dict[str, Gap]
    baselines: dict[str, Gap]

    def table(self) -> Table:
        """Both learners on every test, the published models beside them."""
        rows = []
        for test, found in self.tests.items():
            base = self.baselines[test]
            ours = (found.strong, found.weak, found.gap, found.episodes, base.gap, base.episodes)
            rows.append((test, *ours, *PUBLISHED[test]))
        columns = (
            Column("test"),
            *(
                Column(name, "right")
                for name in ("strong", "weak", "gap", "questions", "gap on baseline", "its questions", *MODELS)
            ),
        )
        note = f"{self.note()} Models: the paper's Table 1, trained on CLEVR images."
        return Table("CLOSURE: the compositionality gap", columns, tuple(rows), note)

    def note(self) -> str:
        return (
            f"Expected accuracy in percent with 95 % bootstrap intervals over questions; scale {self.scale}, seed "
            f"{self.seed}, {self.part} questions, one run. On the baselines the gap is 0 by definition."
        )

    def brief(self) -> Table:
        """The same for a terminal of 80 columns."""
        rows = tuple(
            (test, f.strong.value, f.weak.value, f.gap, self.baselines[test].gap.value)
            for test, f in self.tests.items()
        )
        names = ("strong", "weak", "gap", "on baseline")
        columns = (Column("test"), *(Column(name, "right") for name in names))
        return Table("CLOSURE: the compositionality gap", columns, rows, self.note())

    def chart(self) -> str:
        rows = [GapRow(test, found.strong, found.weak) for test, found in self.tests.items()]
        return gap_chart(rows, "CLOSURE: the compositionality gap", "accuracy, percent")

    def json(self) -> list[dict[str, object]]:
        """One flat record per test, and one per baseline."""
        return [
            {
                "benchmark": "closure",
                "test": test,
                "kind": kind,
                "part": self.part,
                "scale": self.scale,
                "seed": self.seed,
                "questions": found.episodes,
                "strong": found.strong.value,
                "weak": found.weak.value,
                "gap": found.gap.value,
                "gap_low": found.gap.low,
                "gap_high": found.gap.high,
            }
            for kind, gaps in (("closure", self.tests), ("baseline", self.baselines))
            for test, found in gaps.items()
        ]


def html_report(gaps: ClosureGaps, tables: Sequence[Table], examples: Sequence[QuestionView]) -> str:
    """One self-contained page."""
    sections = [
        Section("The compositionality gap", chart(gaps.chart(), "Both ideal learners.") + gaps.table().html()),
        Section("The seven tests, and CLEVR", "".join(table.html() for table in tables)),
        Section("Questions", "".join(map(question_card, examples)), "One question of each test, step by step."),
    ]
    return page("CLOSURE: how far from the ideal learner?", sections, INTRO)


def markdown_report(gaps: ClosureGaps, tables: Sequence[Table], file: Path) -> None:
    """The gaps as Markdown, with the figure in a folder beside it."""
    folder = file.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gap.svg").write_text(stand_alone(gaps.chart()), encoding="utf-8")
    text = f"# CLOSURE: the ideal learners\n\n{INTRO}\n\n![Both ideal learners.]({folder.name}/gap.svg)\n\n"
    parts = [gaps.table().markdown(), *(table.markdown() for table in tables)]
    file.write_text(text + "\n\n".join(parts) + "\n", encoding="utf-8")
