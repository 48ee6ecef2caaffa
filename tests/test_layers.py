"""Imports point left only."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import recombine

ROOMS = ("store", "world", "language", "semantics", "render", "tasks", "metrics", "solvers", "report", "benchmarks")
LAYERS = (*ROOMS, "loading", "explorer", "harness", "verbs", "cli", "__main__")
SAY_THE_VERSION = ("store", "render", "report", "benchmarks", "verbs", "cli")
ROOT = Path(recombine.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")  # it opens `api` on demand


def layer(module: str) -> str | None:
    """The layer of a dotted name; None for what is not ours, 'recombine' for the package itself."""
    parts = module.split(".")
    if parts[0] != "recombine":
        return None
    return parts[1] if len(parts) > 1 else "recombine"


def imported(source: str, package: str) -> Iterator[tuple[int, str]]:
    """The line and dotted name of every import, wherever it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            if layer(module) == "recombine":  # `from recombine import api` speaks of recombine.api
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, module


def pointing_right(source: str, package: str, here: str) -> list[str]:
    """The imports of a module in layer `here` that do not point left."""
    wrong = []
    for line, module in imported(source, package):
        there = layer(module)
        if there is None or there == here or (module == "recombine.__version__" and here in SAY_THE_VERSION):
            continue
        if there not in LAYERS or LAYERS.index(there) > LAYERS.index(here):
            wrong.append(f"line {line}: {here} imports {module}")
    return wrong


def test_every_module_is_in_a_layer() -> None:
    assert len(MODULES) > 30
    assert {path.relative_to(ROOT).parts[0].removesuffix(".py") for path in MODULES} == set(LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    package = ".".join(["recombine", *parts[:-1]])
    assert not pointing_right(path.read_text(), package, parts[0])


@pytest.mark.parametrize(
    "source",
    [
        "from recombine.solvers.oracle import Oracle",
        "from recombine.solvers import oracle",
        "import recombine.solvers.oracle",
        "import numpy, recombine.report",
        "from recombine import solvers",
        "from recombine import __version__",
        "from recombine import api as anything",
        "import recombine",
        "from ..solvers import oracle",
        "from .. import solvers",
        "def later():\n    from recombine.cli import main",
        "if TYPE_CHECKING:\n    from recombine.solvers.oracle import Oracle",
    ],
)
def test_an_import_that_points_right_is_found(source: str) -> None:
    assert pointing_right(source, "recombine.tasks", "tasks")


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np",
        "from recombine.store.key import Key",
        "from recombine.tasks.splits import Split",
        "from recombine import world",
        "from . import splits",
        "from .splits import Split",
        "from ..world.scenes import Scenes",
        "from recombinex.solvers import oracle",
    ],
)
def test_an_import_that_points_left_is_fine(source: str) -> None:
    assert not pointing_right(source, "recombine.tasks", "tasks")


def test_those_who_speak_to_people_may_know_the_version() -> None:
    for here in SAY_THE_VERSION:
        assert not pointing_right("from recombine import __version__", "recombine.report", here)
    assert pointing_right("from recombine import __version__", "recombine.solvers", "solvers")


# ---- Between benchmarks ----


def folders_named(source: str, package: str) -> set[str]:
    """The folders of benchmarks that a module imports from."""
    names = (module.split(".") for _, module in imported(source, package))
    return {parts[2] for parts in names if parts[:2] == ["recombine", "benchmarks"] and len(parts) > 2}


def builds_on() -> dict[str, set[str]]:
    """For each folder of a benchmark, the others that it imports from."""
    folders = sorted(path.parent for path in (ROOT / "benchmarks").glob("*/__init__.py"))
    found: dict[str, set[str]] = {folder.name: set() for folder in folders}
    for folder in folders:
        for path in folder.rglob("*.py"):
            package = ".".join(["recombine", *path.relative_to(ROOT).parts[:-1]])
            found[folder.name] |= folders_named(path.read_text(), package)
        found[folder.name] = found[folder.name] & {*found} - {folder.name}
    return found


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Benchmarks that import one another in a circle; empty where there is none."""
    left = dict(graph)
    while left:
        free = [name for name, others in left.items() if not others & {*left}]
        if not free:
            return sorted(left)
        for name in free:
            del left[name]
    return []


def test_no_benchmark_imports_one_that_imports_it() -> None:
    found = builds_on()
    assert {"clevr", "closure", "curi"} <= {*found}
    assert circle(found) == []
    assert "clevr" in found["closure"] and not found["clevr"]


def test_a_circle_of_benchmarks_is_found() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c", "d"]
    assert circle({"a": {"b"}, "b": set(), "c": {"a", "b"}}) == []
    package = "recombine.benchmarks.clevr"
    for source in (
        "from recombine.benchmarks.closure.learners import ANSWERS",
        "from recombine.benchmarks.closure import learners",
        "import recombine.benchmarks.closure",
        "from ..closure import learners",
        "def later():\n    from recombine.benchmarks.closure.learners import score",
    ):
        assert folders_named(source, package) == {"closure"}, source


# ---- A benchmark is one folder ----

OUTSIDE = [path for path in MODULES if path.relative_to(ROOT).parts[0] not in ("benchmarks", "loading.py")]
SHARED = [path for path in MODULES if path.parent == ROOT / "benchmarks"]
FOLDERS = sorted(path.parent.name for path in (ROOT / "benchmarks").glob("*/__init__.py"))
MEANT = re.compile("|".join(folder.replace("_", "_?") for folder in FOLDERS), re.IGNORECASE)
SAYS = re.compile(rf"recombine\.benchmarks\.({'|'.join(FOLDERS)})\b")


@pytest.mark.parametrize("path", [*OUTSIDE, *SHARED], ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_outside_a_folder_imports_a_benchmark(path: Path) -> None:
    """The demo page aside, which shows some of them."""
    if path != ROOT / "verbs" / "demo.py":
        assert SAYS.findall(path.read_text()) == []


def test_no_file_outside_is_named_after_a_benchmark() -> None:
    named = [path for path in [*OUTSIDE, *SHARED] if any(folder in path.stem for folder in FOLDERS)]
    assert named == []


def named_in(source: str) -> set[str]:
    """The names of code, and the texts that are nothing but a name, which speak of a benchmark."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        for name in (getattr(node, what, None) for what in ("id", "attr", "arg", "name", "asname")):
            found |= {name} if isinstance(name, str) and MEANT.search(name) else set()
        if isinstance(node, ast.Constant) and str(node.value).replace("-", "_") in FOLDERS:
            found.add(repr(node.value))
    return found


@pytest.mark.parametrize("path", [*OUTSIDE, *SHARED], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_code_outside_a_folder_names_a_benchmark(path: Path) -> None:
    """Help, examples and comments may; so may the demo page."""
    if path != ROOT / "verbs" / "demo.py":
        assert named_in(path.read_text()) == set()


def test_a_name_in_code_is_found() -> None:
    for source in (
        "CURI_VOLUMES = 1",
        "x.of_clevr",
        "if name == 'concept-world': ...",
        "def closure(): ...",
        "f(curi=1)",
    ):
        assert named_in(source), source
    assert not named_in("'curi and clevr'\n# curi\nhelp('a benchmark, such as curi')")


def test_an_error_speaks_of_no_flag_for_it_may_be_read_in_python() -> None:
    """Whole commands aside, which are said as they are typed."""
    told = []
    for room in (*ROOMS, "explorer", "harness"):
        for path in sorted((ROOT / room).rglob("*.py")):
            for call in ast.walk(ast.parse(path.read_text())):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("UserError", "Exceeded"):
                    said = "".join(str(one.value) for one in ast.walk(call) if isinstance(one, ast.Constant))
                    if re.search(r"(?<![\w-])--[a-z]", said) and not re.search(r"recombine [a-z]+ |ray start", said):
                        told.append(f"{path.relative_to(ROOT)}:{call.lineno} {said}")
    assert told == []
