"""The ledger: every number of the papers is counted once, and pages can be counted again."""

from pathlib import Path

import pytest

from recombine.benchmarks.ledger import Entry, agree, count, counts, entries, pairs, total_table
from recombine.benchmarks.subjects import subject
from recombine.metrics.intervals import Interval
from recombine.report.read_tables import tables_in, tables_of, value_of
from recombine.store.errors import UserError

RESULTS = Path(__file__).parents[2] / "docs" / "results"
BESIDE = """**Table 2, mAP**

| split | network | mAP | paper |
| :--- | :--- | ---: | ---: |
| counting | a | 21.4 [20.0, 22.8] | 22.0 ± 0.1 |
| counting | b | 30.0 [29.0, 31.0] | 22.0 ± 0.1 |
| counting | c | 30.0 [29.0, 31.0] | – |
"""
NAMED = """**Table 4: World**

| model | concept | one, paper | one |
| :--- | :--- | ---: | ---: |
| a | red | 0.5 | 0.6 [0.4, 0.8] |
| a | mean | 0.5 | 0.6 [0.4, 0.8] |
"""
BELOW = """**Table 1: tests**

| network | seeds | steps | one | two |
| :--- | :--- | ---: | ---: | ---: |
| a | 3 | 5,000 | 41.0 [40.0, 42.0] | 50.0 [49.0, 51.0] |
|  | paper | – | 41.5 ± 2 | 80 |
"""


@pytest.mark.parametrize(("text", "expected"), [(BESIDE, [True, False]), (NAMED, [True]), (BELOW, [True, False])])
def test_pairs_are_found_however_a_table_is_laid_out(text: str, expected: list[bool]) -> None:
    (table,) = tables_in(text)
    assert [agree(ours, paper) for ours, paper, _ in pairs(table)] == expected


def test_values_agree_where_noise_allows() -> None:
    assert agree(Interval(10, 8, 12), Interval(12.5, 11, 14))
    assert not agree(Interval(10, 8, 12), Interval(12.6, 11, 14))
    assert agree(Interval(10, 8, 12), Interval(12.6, 11, 14), tolerance=1.0)


def test_cells_that_are_no_numbers_are_none() -> None:
    assert value_of("–") is None
    assert value_of("a 3") is None
    assert value_of("1,234") == Interval(1234, 1234, 1234)


def test_an_entry_is_counted_on_its_page(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(BESIDE + "\nThe gap is 5.50 ± 1.40 (the papers: 5.5 ± 1.4).\n")
    entry = Entry("P", "Table 2", "", 10, ("gone.md", "page.md"), ("Table 2",), explained="few steps", missing="time")
    found = count(entry, tmp_path)
    assert (found.beside, found.within, found.explained, found.unexplained, found.missing) == (2, 1, 1, 0, 8)
    unknown = count(Entry("P", "Table 2", "", 10, ("page.md",), ("Table 2",), unknown=("b",), explained="x"), tmp_path)
    assert (unknown.explained, unknown.unexplained) == (0, 1)
    said = r"gap is ([\d.]+) ± ([\d.]+) .*papers: ([\d.]+) ± ([\d.]+)"
    assert count(Entry("P", "text", "", 1, ("page.md",), sentence=said, tables=("No",)), tmp_path).within == 1


def test_a_page_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_bytes(BESIDE.encode() + b"\xff")
    with pytest.raises(UserError, match=r"page\.md is not text"):
        count(Entry("P", "Table 2", "", 10, ("page.md",), ("Table 2",)), tmp_path)
    with pytest.raises(UserError, match=r"page\.md is not text"):
        count(Entry("P", "text", "", 1, ("page.md",), sentence="gap is", tables=("No",)), tmp_path)


def test_every_value_is_counted_once_and_every_missing_one_has_a_reason() -> None:
    found = counts(RESULTS)
    for one in found:
        entry = one.entry
        assert one.own == one.within + one.explained + one.unexplained + one.missing, entry.name
        assert min(one.within, one.explained, one.unexplained, one.missing) >= 0, entry.name
        assert not one.missing or entry.missing, f"{entry.name}: why are some missing?"
    assert len({one.entry.name for one in found}) == len(found)
    assert {one.entry.paper for one in found} >= {"CLOSURE", "ConceptWorld", "CURI (ICML)", "Super-CLEVR"}


def test_every_table_with_numbers_of_the_papers_is_there() -> None:
    items = {entry.paper: [one.item for one in entries() if one.paper == entry.paper] for entry in entries()}
    assert {f"Table {n}" for n in range(1, 19)} <= {*items["CURI (ICLR manuscript with appendix)"]}
    assert {f"Table {n}" for n in range(1, 6)} <= {*items["CLOSURE"]}
    assert {f"Table {n}" for n in range(3, 12)} <= {*items["ConceptWorld"]}
    assert {"Table 1", "Table 2", "Table 3"} <= {item.split(",")[0] for item in items["Super-CLEVR"]}
    values = {entry.name: entry.values for entry in entries()}
    assert values["CURI (ICML), Table 2, mAP"] == 99 + 11
    assert values["CURI (ICML), Table 2, accuracy"] == 90 + 10
    assert sum(values[f"CURI (ICLR manuscript with appendix), Table {n}"] for n in range(10, 19)) == 54
    assert values["Super-CLEVR, Table 1, networks"] + values["Super-CLEVR, Table 1, symbolic models"] == 210


def test_the_committed_ledger_adds_up_and_says_no_more_than_the_pages() -> None:
    tables = {table.title: table for table in tables_of(RESULTS / "ledger.md")}
    total = tables["All papers"].rows
    now = {row[0]: row for row in total_table(counts(RESULTS)).rows}
    for name in ("values", "ours beside", "within noise", "explained", "unexplained", "missing"):
        said = [int(row[name].replace(",", "")) for row in total]
        assert said[-1] == sum(said[:-1]), name
    for row in total:
        assert int(row["ours beside"].replace(",", "")) <= int(str(now[row["paper"]][3])), row["paper"]


def test_links_of_the_ledger_lead_somewhere() -> None:
    for one in counts(RESULTS):
        assert not one.page or one.entry.same_as or (RESULTS / one.page).exists(), one.page


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is no folder"):
        subject("ledger")().report(tmp_path / "ledger.md", results=tmp_path / "nothing")
