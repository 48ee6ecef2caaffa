"""Laws of tables."""

import json
import re
from html import unescape
from io import StringIO
from xml.etree import ElementTree

import pytest
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from recombine.metrics.intervals import Interval
from recombine.report.table import Column, Table
from recombine.store.text import console

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
    assert [[unescape(cell.replace("¦", "|")) for cell in row] for row in rows[2:]] == TABLE.texts()
    out = StringIO()
    Console(file=out, width=200).print(TABLE.rich())
    assert all(text in out.getvalue() for row in TABLE.texts() for text in row)


def test_title_and_note_are_shown_everywhere() -> None:
    for shown in (unescape(TABLE.html()), unescape(TABLE.markdown())):
        assert TABLE.title in shown
        assert TABLE.note in shown


def test_json_keeps_the_numbers() -> None:
    rows = json.loads(json.dumps(TABLE.json()))
    assert rows[0]["mAP"] == {"value": 93.3, "low": 92.8, "high": 93.9}
    assert rows[1] == {"split": "[bold]Boolean|or[/bold]", "mAP": 7.25, "n": 47, "entropy": None}


def test_a_row_has_as_many_cells_as_there_are_columns() -> None:
    with pytest.raises(ValueError, match="has 1 columns, but a row has 2 cells"):
        Table("", (Column("a"),), ((1, 2),))


def test_a_number_stands_in_one_line_with_its_interval() -> None:
    sure, wide = Interval(100.0, 100.0, 100.0), Interval(62.5, 54.9, 69.5)
    columns = (Column("test"), Column("solver"), Column("accuracy", "right"), Column("probability", "right"))
    table = Table("", columns, (("and_mat_spa/closure", "statistics", wide, sure),))
    for width, cell, said in (
        (80, "62.5 [54.9, 69.5]", ""),
        (70, "62.5 ± 7.3", "half the width"),
        (50, "62.5 ± 7.3", ""),
    ):
        out = StringIO()
        Console(file=out, width=width).print(table)
        (row,) = [line for line in out.getvalue().splitlines() if line.startswith("│")]
        assert cell in row and said in " ".join(out.getvalue().split())
    assert "No room here for: probability; --json has them." in " ".join(out.getvalue().split())
    brief = Table("", (Column("network"), Column("mean", "right")), (("cnn", "37.5 [36.0, 39.0] (35.0 ± 1.2)"),))
    assert brief._fitted(31)[0][1] == len("37.5 [36.0, 39.0]")
    speed = Table("", (Column("what"), Column("ours", "right")), (("one scene with visibility", "7.32 µs"),))
    assert speed._fitted(24)[0] == {0: 10, 1: 7}
    assert brief._short().texts() == [["cnn", "37.5 ± 1.5 (35.0 ± 1.2)"]]


def test_a_name_is_folded_before_a_column_is_left_out() -> None:
    columns = (Column("split"), *(Column(name, "right") for name in ("strong", "weak", "gap")))
    full, none = Interval(100.0, 100.0, 100.0), Interval(0.0, 0.0, 0.0)
    table = Table("", columns, (("another-world-pairwise-substitution/held_out", full, none, full),))
    out = StringIO()
    Console(file=out, width=80).print(table)
    said = out.getvalue()
    assert "No room" not in said and "│ another-world-pairwise-substitution/ " in said and "│ held_out " in said
    assert max(map(len, said.splitlines())) <= 80


EVIL = "a|b <script>alert(1)</script> `c` [d](http://e)\n# f \x1b[2J\u202e"


def test_names_from_elsewhere_are_text_on_every_page() -> None:
    table = Table(EVIL, (Column(EVIL), Column("n", "right")), ((EVIL, 1),), EVIL)
    written = table.markdown()
    assert "<script" not in table.html() + written and "\x1b" not in written
    assert not re.search(r"(?<!\\)\]\(", written)
    lines = written.splitlines()
    assert [line.replace("\\|", "").count("|") for line in lines if line.startswith("|")] == [3, 3, 3]
    assert not any(line.lstrip().startswith("#") for line in lines)


def test_names_from_elsewhere_do_not_steer_a_terminal() -> None:
    out = StringIO()
    console(file=out, width=200, force_terminal=True, color_system=None).print(
        Table(EVIL, (Column(EVIL),), ((EVIL,),), EVIL), Tree(Text(EVIL)), Text(EVIL)
    )
    said = out.getvalue()
    assert "\x1b[2J" not in said and "\u202e" not in said and "<script>" in said
