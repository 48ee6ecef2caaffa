"""Relative degrade gives every printed cell."""

import pytest

from recombine.benchmarks.super_clevr.published import MODELS, TABLE_1, TABLE_2, TESTED, TRAINED, accuracy, degrade
from recombine.metrics.degrade import across, towards
from recombine.store.errors import UserError


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("factor", TRAINED)
def test_table_2_follows_from_table_1(model: str, factor: str) -> None:
    assert degrade(accuracy(model, factor), factor) == pytest.approx(TABLE_2[model][factor], abs=0.0101)


def test_the_misprint_is_one() -> None:
    printed = {tested: TABLE_1["mDETR"][tested] for tested in TESTED["composition"]}
    assert abs(across(printed) - TABLE_2["mDETR"]["composition"]) > 0.3


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("factor", ["visual", "redundancy", "composition"])
def test_the_appendix_averages_what_the_table_adds(model: str, factor: str) -> None:
    tested, trained = accuracy(model, factor), TRAINED[factor]
    drops = [(tested[k][k] - tested[j][k]) / tested[k][k] for k in trained for j in trained if j != k]
    assert across(tested, "appendix") == pytest.approx(100 * sum(drops) / len(drops))


def test_the_appendix_divides_by_the_own_domain() -> None:
    tested = {**accuracy("NSVQA", "distribution"), "slt": {"bal": 90.0, "slt": 91.0, "long": 92.0}}
    head, tail, long, oppo = (tested[name] for name in ("head", "tail", "long", "oppo"))
    expected = [(head[k] - tail[k] + long[k] - oppo[k]) / (2 * tested[k][k]) for k in ("bal", "slt", "long")]
    assert degrade(tested, "distribution", "appendix") == pytest.approx(100 * sum(expected) / 3)


def test_who_loses_nothing_has_no_degrade() -> None:
    same = {test: {"a": 80.0, "b": 70.0} for test in ("a", "b", "head", "tail")}
    assert across({test: same[test] for test in ("a", "b")}) == 0
    assert towards(same, [("head", "tail")], "a") == 0


def test_what_is_missing_is_said() -> None:
    with pytest.raises(UserError, match="no accuracy on 'b' of a model trained on 'a'"):
        across({"a": {"a": 1.0, "b": 1.0}, "b": {"b": 1.0}})
    with pytest.raises(UserError, match="accuracy 0 on 'a'"):
        across({"a": {"a": 0.0, "b": 1.0}, "b": {"a": 1.0, "b": 1.0}})
    with pytest.raises(UserError, match="no reading 'other'"):
        across({"a": {"a": 1.0}}, "other")  # type: ignore[arg-type]
