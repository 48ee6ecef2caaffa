"""Charts that are drawn for a phone: nothing sticks out, letters keep their size, nothing that is said is lost."""

import re
from collections.abc import Callable
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest

from recombine.metrics.intervals import Interval
from recombine.report.curves import Curve, curve_chart
from recombine.report.document import Figure
from recombine.report.figures import PHONE, WIDTH, Bar, GapRow, bars, gap_chart, histogram
from recombine.report.scatter import Dot, panels, scatter_chart
from recombine.report.score_charts import Confusion, Level, Score, confusion_chart, score_chart

SVG = "{http://www.w3.org/2000/svg}"
SOME = Interval(70.0, 65.0, 75.0)
STEPS = [(100 * 2**k, 0.2 + 0.08 * k) for k in range(8)]
COUNTS = np.array([[8, 1, 1], [2, 7, 1], [0, 1, 9]])
CHARTS: dict[str, Callable[..., str]] = {
    "gap": partial(gap_chart, [GapRow("composition: co-1-to-co-2", SOME, SOME, 71.0, 7.2)]),
    "bars": partial(bars, [Bar("Binding (color)", SOME)], "nats"),
    "histogram": partial(histogram, {str(i): 10 * i for i in range(1, 24)}, "Lengths", "postfix tokens"),
    "curves": partial(curve_chart, [Curve("avg-pool, schema", STEPS)], {"strong oracle": 0.95}, "Curves", "mAP"),
    "scatter": partial(scatter_chart, [Dot("compare_mat_spa", 60, SOME), Dot("or", 2, 1)], "Dots", "gap", "lost"),
    "panels": partial(
        panels, {f"test {i}": {"a": [0.5, 0.9]} for i in range(5)}, "P", "the set", "share", {"a": "weak"}
    ),
    "scores": partial(
        score_chart,
        [("counting", [Score("Vector-NMN", SOME, 72.0)])],
        "S",
        "F1",
        100.0,
        {"counting": [Level("weak", 9)]},
    ),
    "confusion": partial(
        confusion_chart, ["solution", "distractor"], [Confusion(n, COUNTS[:2, :2]) for n in "ABCDE"], "C"
    ),
}


def placed(svg: str) -> list[tuple[str, float, float]]:
    """The texts of a drawing, and about where they begin and end; those that are turned are left out."""
    found = []
    for node in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        if node.get("transform"):
            continue
        said, x = node.text or "", float(node.get("x", 0))
        long = 6.4 * len(said)
        start = x - {"start": 0.0, "middle": long / 2, "end": long}[node.get("text-anchor", "start")]
        found.append((said, start, start + long))
    return found


@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_fits_a_phone_in_letters_of_the_same_size(name: str) -> None:
    figure = Figure.drawn(name, "Said.", CHARTS[name])
    for svg, width in ((figure.svg, WIDTH), (figure.narrow, PHONE)):
        root = ElementTree.fromstring(svg)
        assert root.get("viewBox", "").split()[2] == str(width) and "font-size:13px" in root.get("style", "")
        assert all(start >= -1 and end <= width + 1 for _, start, end in placed(svg)), placed(svg)
    wide, narrow = (ElementTree.fromstring(svg).findtext(f"{SVG}desc") for svg in (figure.svg, figure.narrow))
    assert wide == narrow


@pytest.mark.parametrize("name", ["gap", "bars", "curves", "scatter", "panels", "scores"])
def test_every_name_is_still_there(name: str) -> None:
    figure = Figure.drawn(name, "Said.", CHARTS[name])
    named = [{said for said, *_ in placed(svg) if re.search("[a-z]{3}", said)} for svg in (figure.svg, figure.narrow)]
    assert named[0] - {"mAP, percent"} <= named[1]


def test_a_curve_of_one_point_is_seen() -> None:
    drawn = curve_chart([Curve("one", [(60, 0.5)]), Curve("two", [(60, 0.2), (120, 0.4)])], {}, "T", "mAP")
    assert drawn.count("<circle") == 1 and drawn.count("<polyline") == 1
