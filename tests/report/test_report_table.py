"""Laws of tables."""

import json
from html import unescape
from io import StringIO
from xml.etree import ElementTree

import pytest
from rich.console import Console

from recombine.metrics.intervals import Interval
from recombine.report.table import Column, Table

TABLE = Table(
    "Scores & gaps",
    (Column("split"), Column("mAP", "right"), Column("n", "right"), Column("entropy", "right", ".3f")),
    (
        ("Counting <3>", Interval(93.3, 92.8, 93.9), 12500, 0.0614),
        ("[bold]Boolean|or[/bold]", 7.25, 47, None),
    ),
    "95 % intervals",
)


def test_a_cell_is_written_by_its_kind() -> None:
    assert TABLE.texts() == [
        ["Counting <3>", "93.3 [92.8, 93.9]", "12,500", "0.061"],
        ["[bold]Boolean|or[/bold]", "7.2", "47", "–"],
    ]


def test_all_renderers_show_the_same_cells() -> None:
    root = ElementTree.fromstring(TABLE.html())
    assert [[cell.text for cell in row.iter("td")] for row in root.iter("tr")][1:] == TABLE.texts()
    rows = [line.strip("| ").replace("\\|", "¦").split(" | ") for line in TABLE.markdown().splitlines() if "|" in line]
    assert [[cell.replace("¦", "|") for cell in row] for row in rows[2:]] == TABLE.texts()
    out = StringIO()
    Console(file=out, width=200).print(TABLE.rich())
    assert all(text in out.getvalue() for row in TABLE.texts() for text in row)


def test_title_and_note_are_shown_everywhere() -> None:
    for shown in (unescape(TABLE.html()), TABLE.markdown()):
        assert TABLE.title in shown
        assert TABLE.note in shown


def test_json_keeps_the_numbers() -> None:
    rows = json.loads(json.dumps(TABLE.json()))
    assert rows[0]["mAP"] == {"value": 93.3, "low": 92.8, "high": 93.9}
    assert rows[1] == {"split": "[bold]Boolean|or[/bold]", "mAP": 7.25, "n": 47, "entropy": None}


def test_a_row_has_as_many_cells_as_there_are_columns() -> None:
    with pytest.raises(ValueError, match="has 1 columns, but a row has 2 cells"):
        Table("", (Column("a"),), ((1, 2),))
