"""A benchmark is one folder: the one of docs/own-benchmark.md, in a package of somebody else's, has every verb."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recombine import benchmarks
from recombine.benchmarks.laws import LAWS
from recombine.store.key import Key
from recombine.tasks.made_splits import MadeSplit
from tests.commands import Run, refused

PAGE = Path(__file__).parents[1] / "docs" / "own-benchmark.md"
FILE = re.compile(r"^```python file=(\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
OF_STUDY = "import recombine as rc\nclass Pairs(rc.Study):"
OF_CONCEPTS = "import recombine as rc\nclass Pairs(rc.ConceptStudy): sizes = {'demo': 200}"
VERBS: dict[str, tuple[str, ...]] = {
    "list": ("list", "pairs"),
    "show": ("show", "pairs/blue-cube", "--number", "3"),
    "make": ("make", "pairs"),
    "rows": ("rows", "pairs", "--render", "words"),
    "gap": ("gap", "pairs", "--seeds", "3"),
    "check": ("check", "pairs"),
    "bench": ("bench", "pairs"),
    "eval": ("eval", "pairs", "--solver", "majority"),
    "train": ("train", "pairs", "--seeds", "2", "--workers", "1"),
    "table": ("table", "pairs"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The package is installed, and the working folder empty."""
    package = tmp_path / "site" / "somebodys"
    for name, text in FILE.findall(PAGE.read_text()):
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (package / "__init__.py").touch()
    info = tmp_path / "site" / "somebodys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[recombine.benchmarks]\npairs = somebodys.pairs:BENCHMARK\n")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    _forget()
    yield package
    for name in [name for name in sys.modules if name.startswith("somebodys")]:
        del sys.modules[name]
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    benchmarks._plugins.cache_clear()
    benchmarks.get.cache_clear()


def test_it_is_short() -> None:
    lines = [line for name, text in FILE.findall(PAGE.read_text()) for line in text.splitlines() if line.strip()]
    assert len(FILE.findall(PAGE.read_text())) == 4 and len(lines) <= 65


@pytest.mark.parametrize("law", LAWS)
def test_the_laws_hold_for_it(law: str) -> None:
    LAWS[law](benchmarks.get("pairs").language, Key(1))


def test_it_is_listed_after_those_of_the_house(invoke: Run) -> None:
    rows = json.loads(invoke("list", "--json").out)
    assert rows[-1]["benchmark"] == "pairs" and rows[-1]["held out"] == 1 and len(rows) > 4


def test_it_has_every_verb(invoke: Run, folder: Path) -> None:
    for verb, words in VERBS.items():
        ran = invoke(*words, "--json")
        assert ran.code == 0, f"{verb}: {ran.err}"
        json.loads(ran.out)
        assert invoke(*words).code == 0
    gaps = json.loads(invoke("gap", "pairs", "--json").out)
    assert gaps[0]["strong"] == 100 and 10 < gaps[0]["gap"] < 90
    assert json.loads(invoke("train", "pairs", "--seeds", "2", "--workers", "1", "--json").out)
    for name in ("report.html", "report.md"):
        assert invoke("report", "pairs", "--out", name).code == 0
        assert "Pairs" in Path(name).read_text()
    assert invoke("show", "pairs/blue-cube", "--out", "one.html").code == 0
    assert invoke("make", "pairs", "--out", "data").code == 0
    assert "made before" in invoke("make", "pairs", "--out", "data").out
    assert invoke("table", "pairs", "--out", "runs.md").code == 0
    (run,) = [path for path in Path("runs").iterdir() if path.name.endswith("-0")]
    assert invoke("eval", run).code == 0
    refused(invoke("fresh", "pairs", "--n", "10"), "the scenes of pairs are not drawn; leave render out")
    assert invoke("fresh", "pairs", "--n", "10", "--render", "words").code == 0
    assert "everything is as the seed gives it" in invoke("check", "pairs", "--certificate", "fresh").out
    assert invoke("export", "trl", "pairs", "--render", "words", "--out", "exported").code == 0
    assert invoke("weights", run, "--out", "weights").code == 0
    concepts = [repr(concept) for concept in benchmarks.load("pairs").concepts()]
    MadeSplit("made", "own", "pairs", train=tuple(concepts[1:]), test=(concepts[0],)).write("made.json")
    for verb in ("gap", "train"):  # of this language every concept is an atom, so no combinations can be held out
        refused(invoke(verb, "pairs", "--split", "made.json"), "on the test side and nowhere on the training side")


def test_help_has_its_options_and_no_others(invoke: Run) -> None:
    said = invoke("gap", "pairs", "--help").said
    assert "--scale" in said and "--negatives" not in said
    refused(invoke("gap", "pairs", "--negatives", "hard"), "No such option: --negatives")
    refused(invoke("gap", "pairs", "--split", "red"), "no split 'red'")


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("study.py", None, "benchmark 'pairs' lacks study:Pairs: add study.py to somebodys.pairs"),
        ("study.py", "x = 1", "benchmark 'pairs' lacks study:Pairs: somebodys.pairs.study defines no Pairs"),
        (
            "study.py",
            "import nowhere",
            "study: ModuleNotFoundError: No module named 'nowhere' (<site>/study.py, line 1)",
        ),
        ("study.py", "def (", "cannot be loaded from somebodys.pairs.study: SyntaxError: invalid syntax (study.py"),
        ("study.py", "class Pairs: ...", "benchmark 'pairs' needs a class of Study at study:Pairs, not <class"),
        ("study.py", f"{OF_STUDY} name = 'pairs'", "benchmark 'pairs' lacks exams and learners in study:Pairs"),
        ("study.py", OF_CONCEPTS, "benchmark 'pairs' lacks its name in study:Pairs: name = \"pairs\""),
        ("laws.py", "LANGUAGE = 3", "benchmark 'pairs' needs a Language at laws:LANGUAGE, not 3"),
        ("__init__.py", "BENCHMARK = 3", "needs a Benchmark"),
        ("__init__.py", "", "benchmark 'pairs' cannot be loaded from somebodys.pairs:BENCHMARK"),
        (
            "__init__.py",
            "x = y",
            "from somebodys.pairs:BENCHMARK: NameError: name 'y' is not defined (<site>/__init__.py",
        ),
    ],
)
def test_what_it_lacks_is_said_by_name(invoke: Run, folder: Path, file: str, text: str | None, expected: str) -> None:
    place = folder / "pairs" / file
    place.unlink() if text is None else place.write_text(text)
    refused(invoke("gap", "pairs"), expected.replace("<site>", str(folder / "pairs")))


def test_networks_that_are_none_are_refused_by_name(invoke: Run, folder: Path) -> None:
    (folder / "pairs" / "networks.py").write_text("NETWORKS = 3")
    for words in ("train", "pairs", "--help"), ("train", "pairs"):
        refused(invoke(*words), "benchmark 'pairs' needs a Networks at networks:NETWORKS, not 3")


def test_a_broken_one_hinders_no_other(invoke: Run, folder: Path) -> None:
    (folder / "pairs" / "__init__.py").write_text("raise OSError('nothing here')")
    ran = invoke("list", "--json")
    assert ran.code == 0 and "pairs" not in [row["benchmark"] for row in json.loads(ran.out)]
    assert "benchmark 'pairs' cannot be loaded from somebodys.pairs:BENCHMARK: OSError: nothing here" in ran.err
    assert invoke("--help").code == invoke("show", "clevr", "--help").code == 0
    refused(invoke("show", "pairs", "--help"), "OSError: nothing here")


def test_it_is_registered_under_its_own_name(invoke: Run, folder: Path) -> None:
    file = folder / "pairs" / "__init__.py"
    file.write_text(file.read_text().replace('name="pairs"', 'name="couples"'))
    refused(invoke("gap", "pairs"), "benchmark 'pairs' calls itself 'couples'")
