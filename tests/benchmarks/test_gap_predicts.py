"""Does the gap predict: claims are read from records and pages."""

import json
from pathlib import Path

import pytest

from recombine.benchmarks.prediction import Claim, claims, correlated, records
from recombine.benchmarks.subjects import SUBJECTS, subject
from recombine.store.errors import UserError

RESULTS = Path(__file__).parents[2] / "docs" / "results"
LOST = {test: {"a": value, "b": value + 1} for test, value in zip("wxyz", (1.0, 2.0, 3.0, 4.0))}


def test_a_number_in_the_order_of_the_losses_foretells_them() -> None:
    claim = Claim(
        "B", "n", LOST, {"up": dict(zip("wxyz", (5.0, 6, 7, 9))), "down": dict(zip("wxyz", (9.0, 7, 6, 5)))}, ""
    )
    found = correlated(claim)
    assert found["up"].value == 1 and found["down"].value == -1


def test_numbers_of_too_few_tests_are_left_out() -> None:
    assert (
        correlated(Claim("B", "n", LOST, {"few": {"w": 1.0, "x": 2.0}, "same": dict.fromkeys("wxyz", 1.0)}, "")) == {}
    )


def test_records_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    assert records(tmp_path, "gone") == []
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "bad.json").write_text("{")
    with pytest.raises(UserError, match=r"bad\.json is not complete JSON: .*; write it again: recombine gap --out"):
        records(tmp_path, "bad")


def test_no_records_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no records of gaps"):
        subject("prediction")().report(tmp_path / "page.md", results=tmp_path)


def test_gaps_of_every_benchmark_are_claimed(tmp_path: Path) -> None:
    """With records as `recombine gap --out` writes them."""
    from recombine.benchmarks.closure.published import TESTS
    from recombine.benchmarks.concept_world.published import F1
    from recombine.benchmarks.curi.published import SPLITS
    from recombine.benchmarks.super_clevr.prediction import losses

    data = tmp_path / "data"
    data.mkdir()
    curi = [{"split": split, "metric": "mAP", "gap": i} for i, split in enumerate(SPLITS)]
    world = [{"test": f"{a}/{b}", "gap": i, "gap_to_best": i} for i, (a, b) in enumerate(F1)]
    closure = [{"split": test, "gap": i, "control": False} for i, test in enumerate(TESTS)]
    vehicles = [{"split": shift, "gap": i} for i, shift in enumerate(losses())]
    every = {"curi-release": curi, "concept-world": world, "closure": closure, "super-clevr": vehicles}
    for name, rows in every.items():
        (data / f"{name}.json").write_text(json.dumps(rows))
    found = list(claims(tmp_path))
    assert {claim.benchmark for claim in found} == {"CURI", "CLOSURE", "ConceptWorld", "Super-CLEVR"}
    assert all(correlated(claim) for claim in found)
    page = subject("prediction")().report(tmp_path / "page.md", results=tmp_path)
    assert "What foretells what networks lose" in page.read_text()


def test_every_subject_can_be_opened() -> None:
    assert all(subject(name)() for name in SUBJECTS)


def test_our_models_lose_what_their_page_says() -> None:
    """From long to oppo: the two cells of Table 1 that the page prints, to a tenth of a point."""
    from recombine.benchmarks.super_clevr.prediction import losses, ours
    from recombine.report.read_tables import tables_of, value_of

    found = ours(RESULTS)
    assert found.keys() == losses().keys()
    table = next(one for one in tables_of(RESULTS / "super-clevr-models.md") if one.title == "Table 1: distribution")
    printed = {row["tested on"]: value_of(row["NSVQA"]) for row in table.rows if row["trained on"] == "long"}
    own, shifted = printed["long"], printed["oppo"]
    assert own and shifted
    assert found["long-to-oppo"]["NSVQA"] == pytest.approx(own.value - shifted.value, abs=0.11)
