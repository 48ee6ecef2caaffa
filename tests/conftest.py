"""Every test run has a store of its own, and one tiny study that many tests look at."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from recombine import Curi, cli
from recombine.benchmarks.curi.pipeline import Scale
from recombine.store.store import Store
from tests.commands import Ran, Run

settings.register_profile("here", deadline=None)  # a busy machine breaks no law
settings.register_profile("ci", deadline=None, derandomize=True, database=None)  # the same examples on every machine
settings.load_profile("ci" if os.environ.get("CI") else "here")
TINY = Scale("tiny", scenes=3_000, draws=100_000, train=40, validation=10, test=60)


@pytest.fixture(scope="session", autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test touches the user's store."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECOMBINE_HOME", str(home))
        yield home


@pytest.fixture(scope="session")
def tiny(own_home: Path) -> Iterator[Curi]:
    """CURI, edition release, small enough for tests."""
    with Curi(TINY, "release", store=Store(own_home)) as curi:
        yield curi


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], own_home: Path) -> Run:
    """Runs a command in this process."""

    def run(*words: str | Path) -> Ran:
        monkeypatch.setattr(sys, "argv", ["recombine", *map(str, words)])
        try:
            cli.main()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Ran(code, *capsys.readouterr())

    return run
