"""What a fixed key makes does not drift; `make golden` says what changed and writes it when asked."""

import importlib.util
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("compare", Path(__file__).parent / "golden" / "compare.py")
assert spec and spec.loader
compare = importlib.util.module_from_spec(spec)
spec.loader.exec_module(compare)


@pytest.mark.parametrize("name", compare.GOLDEN)
def test_a_fixed_key_makes_what_it_always_made(name: str) -> None:
    assert compare.differences(compare.GOLDEN[name](), compare.stored(name)) == []


def test_every_file_is_compared() -> None:
    assert {file.stem for file in compare.HERE.glob("*.json")} == {*compare.GOLDEN}


def test_a_change_is_named() -> None:
    assert compare.differences({"paper": {"senses": 2}}, {"paper": {"senses": 1}}) == ["paper: senses: 1 -> 2"]
