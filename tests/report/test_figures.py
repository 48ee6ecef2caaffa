"""Laws of charts."""

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as some

from recombine.metrics.intervals import Interval
from recombine.report.figures import COLOURS, NARROW, Bar, GapRow, bars, gap_chart, histogram, stand_alone, ticks

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [
    GapRow("Binding <colour>", Interval(93.3, 92.8, 93.9), Interval(7.5, 6.9, 8.2), 93.7, 7.2),
    GapRow("Instance IID", Interval(95.2, 94.6, 95.8), Interval(95.2, 94.6, 95.8)),
]
CHARTS = {
    "gap": gap_chart(ROWS),
    "bars": bars([Bar("Counting & co", Interval(0.061, 0.055, 0.067))], "entropy, nats"),
    "histogram": histogram({6: 26, 12: 10708}, title="Lengths", x_label="tokens"),
    "log histogram": histogram({1: 9000, 2: 1, 3: 0}, title="Synonyms", log=True),
}


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("svg", CHARTS.values(), ids=CHARTS)
def test_a_chart_describes_itself(svg: str) -> None:
    for root in (ElementTree.fromstring(svg), ElementTree.fromstring(stand_alone(svg))):
        assert root.get("role") == "img"
        assert root.findtext(f"{SVG}title")
        assert root.findtext(f"{SVG}desc")


def test_the_gap_chart_shows_every_split_and_its_gap() -> None:
    assert {"Binding <colour>", "Instance IID", "85.8", "0.0"} <= set(texts(CHARTS["gap"]))
    described = ElementTree.fromstring(CHARTS["gap"]).findtext(f"{SVG}desc", "")
    assert "strong 93.3 [92.8, 93.9], weak 7.5 [6.9, 8.2], gap 85.8, published strong 93.7" in described


def test_published_values_are_explained_where_they_are_shown() -> None:
    assert "published" in texts(gap_chart(ROWS))
    assert "published" not in texts(gap_chart(ROWS[1:]))


def test_bars_and_columns_show_their_values() -> None:
    assert {"Counting & co", "0.06", "entropy, nats"} <= set(texts(CHARTS["bars"]))
    assert {"6", "12", "26", "10,708", "tokens"} <= set(texts(CHARTS["histogram"]))
    assert {"1", "10,000", "count (log scale)"} <= set(texts(CHARTS["log histogram"]))


def test_a_higher_count_is_a_higher_column() -> None:
    columns = list(ElementTree.fromstring(CHARTS["log histogram"]).iter(f"{SVG}rect"))
    heights = [float(column.get("height", 0)) for column in columns]
    assert heights[0] > heights[1] > heights[2] == 0


def test_a_chart_alone_knows_both_schemes() -> None:
    svg = stand_alone(CHARTS["gap"])
    assert "prefers-color-scheme:dark" in svg
    assert all(f"--{name}:{light};" in svg and f"--{name}:{dark};" in svg for name, (light, dark) in COLOURS.items())


def test_small_values_are_told_apart() -> None:
    drawn = bars([Bar("a", Interval(0.0091, 0.009, 0.01)), Bar("b", Interval(0.0052, 0.005, 0.006))], "nats")
    assert ">0.009<" in drawn and ">0.005<" in drawn
    assert ">1.25<" in bars([Bar("a", Interval(1.25, 1, 2))], "nats")


@pytest.mark.parametrize("empty", [gap_chart([]), bars([], "nats"), histogram({}, "none")])
def test_nothing_can_be_drawn_too(empty: str) -> None:
    assert ElementTree.fromstring(empty).tag == f"{SVG}svg"


@given(some.floats(1e-6, 1e6))
def test_ticks_reach_the_top_in_few_steps(top: float) -> None:
    marks = ticks(top)
    assert marks[0] == 0
    assert 3 <= len(marks) <= 7
    assert marks[-1] >= top * (1 - 1e-5)


def test_a_narrow_chart_says_the_same_in_letters_of_the_same_size() -> None:
    wide, narrow = gap_chart(ROWS), gap_chart(ROWS, width=NARROW)
    assert {*texts(narrow)} >= {row.split for row in ROWS} | {f"{row.gap:.1f}" for row in ROWS}
    assert "font-size:13px" in wide and "font-size:13px" in narrow and f'viewBox="0 0 {NARROW} ' in narrow
