"""The page of the symbolic models, from the scores that stand in the repository."""

from pathlib import Path

from recombine.benchmarks.super_clevr.model_page import CALLED, verdicts
from recombine.benchmarks.super_clevr.model_scores import read_kept
from recombine.benchmarks.super_clevr.variants import FACTORS

RESULTS = Path(__file__).parents[3] / "docs" / "results"


def test_findings_are_judged_by_their_intervals_in_view_of_each_other() -> None:
    above, less, removed = verdicts(read_kept(RESULTS / "runs" / "super-clevr"))
    assert (len(above.cases), len(less.cases), len(removed.cases)) == (2, 2 * len(FACTORS), len(CALLED))
    for case in (*above.cases, *less.cases, *removed.cases):
        assert case.margin.p is not None and 0 < case.margin.p <= 1
        assert (case.margin.p < 0.05) == (case.margin.low > 0 or case.margin.high < 0)
    page = (RESULTS / "super-clevr-models.md").read_text(encoding="utf-8")
    assert all(case.says in page for one in (above, less, removed) for case in one.cases)
