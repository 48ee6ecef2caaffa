"""Hostile names: whatever a name or a file holds, a complaint is one line, and nothing outside is touched."""

from pathlib import Path

import pytest

from recombine.store.store import print_warning
from tests.commands import Run, refused

NAME = "a\n\tb\x1b[31m\r\u2028c"
COMMANDS = [
    ["make", NAME],
    ["list", NAME],
    ["eval", NAME],
    ["render", NAME],
    ["show", f"curi/{NAME}"],
    ["make", "curi", "--split", NAME],
    ["make", "curi", "--scale", NAME],
    ["make", "curi", "--seed", NAME],
    ["make", "curi", f"--{NAME}"],
    ["draw", NAME],
    ["draw", "red", "--out", f"{NAME}.txt"],
    ["report", "curi", "--out", f"{NAME}.txt"],
    ["report", "ledger", "--results", NAME],
    ["check", "--certificate", NAME],
    ["pull", NAME],
    ["push", NAME, "place"],
    ["table", "curi", NAME],
    ["weights", NAME],
    ["export", NAME, "curi"],
    ["train", "curi", "--model", NAME],
    [NAME],
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words).replace(NAME, "NAME"))
def test_a_complaint_about_any_name_is_one_line(
    tmp_path: Path, invoke: Run, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = invoke(*words)
    refused(ran, "")
    assert "\x1b" not in ran.err and "\r" not in ran.err and len(ran.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_warning_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_warning(f"{NAME} is no artefact")
    assert capsys.readouterr().err == "a b[31mc is no artefact\n"
