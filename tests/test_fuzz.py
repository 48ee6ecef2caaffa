"""A short version of `make fuzz`: every reader meets some inputs that were changed at random."""

from pathlib import Path

import pytest

from experiments.trust.fuzz import READERS, Found, _try
from experiments.trust.readers import wellbehaved
from recombine.store.errors import UserError

INPUTS = 60
TORCH = ("of a run (", "checkpoints", "scene parsers", "features")
PILLOW = ("pictures (PNG)", "pictures and sounds of prompts")


@pytest.mark.filterwarnings("ignore")  # of libraries, about numbers that are none
@pytest.mark.parametrize("name", READERS)
def test_changed_inputs_are_read_or_refused_in_a_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if any(word in name for word in TORCH):
        pytest.importorskip("torch", reason="networks need PyTorch: pip install 'recombine[models]'")
    if name in PILLOW:
        pytest.importorskip("PIL", reason="the samples are written by Pillow: pip install pillow")
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path / "home"))
    (tmp_path / "reader").mkdir()
    reader, found = READERS[name](tmp_path / "reader"), Found(name)
    for number in range(INPUTS):
        _try(reader, number, found, limit=0)
    assert found.inputs == INPUTS
    assert found.failures == []


def test_a_complaint_is_short_and_steers_no_terminal() -> None:
    error = UserError(f"there is no family '{'a' * 70_000}\x1b[2J\u202e'; choose another")
    wellbehaved(error)
    assert str(error).startswith("there is no family 'aaa") and str(error).endswith("choose another")
