"""What the documentation says is true: its Python runs, its commands parse, its links lead somewhere."""

import ast
import re
import shlex
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import recombine as rc
from recombine.cli import app_for
from tests.commands import Run

ROOT = Path(__file__).parent.parent
TUTORIALS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = [
    *TUTORIALS,
    *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*/*.md")),
    *sorted((ROOT / "recombine" / "benchmarks").glob("*/README.md")),
]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"""\]\(([^)\s]+)\)|\b(?:src|href)="([^"]+)\"""")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def fenced(page: Path) -> Iterator[tuple[int, str, str, str]]:
    """The fenced blocks: the number of the first line, the language, what else the fence says, the text."""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield text.count("\n", 0, match.start(3)), match.group(1), match.group(2).strip(), match.group(3)


def blocks(page: Path, *languages: str) -> Iterator[tuple[int, str]]:
    """The fenced blocks in these languages, each with the number of its first line."""
    return ((line, text) for line, language, _, text in fenced(page) if language in languages)


def wanted_modules(source: str) -> set[str]:
    """The top-level packages that a block imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            found.add(str(node.module).split(".")[0])
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all pages, as a reader would have it."""
    return tmp_path_factory.mktemp("reader")


@pytest.mark.parametrize("page", TUTORIALS, ids=name_of)
def test_a_page_runs_from_top_to_bottom(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, invoke: Run) -> None:
    """Python in one namespace, commands between, files where a block names one; all pages in one folder, in order.

    Commands that take long are marked so and only parsed; Python for a library that is not installed is only compiled.
    """
    monkeypatch.chdir(folder)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for line, language, marks, source in fenced(page):
        file = marks.partition("file=")[2]
        if file and "/" not in file:
            Path(file).write_text(source, encoding="utf-8")
        if language == "sh" and not marks:
            for words in commands_in(source):
                ran = invoke(*words)
                assert ran.code == 0, f"recombine {shlex.join(words)}: {ran.err}"
        if language == "python" and "/" not in file:
            code = compile("\n" * line + source, str(page), "exec")
            if all(find_spec(module) for module in wanted_modules(source)):
                exec(code, namespace)


def commands(page: Path) -> Iterator[list[str]]:
    """The words of every `recombine ...` line, without the program's name."""
    for _, text in blocks(page, "sh", "console"):
        yield from commands_in(text)


def commands_in(text: str) -> Iterator[list[str]]:
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words and words[0].endswith("recombine"):
            yield words[1:]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    for name, *words in commands(page):
        program = get_command(app_for([name, *words]))
        assert name in program.commands, f"there is no command '{name}'"  # type: ignore[attr-defined]
        program.commands[name].make_context(name, list(words))  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))  # in code, filter[color,red](scene) is no link
    targets = [one or other for one, other in LINK.findall(prose)]
    local = [target.partition("#")[0] for target in targets if not re.match(r"\w+:", target)]
    assert [target for target in local if target and not (page.parent / target).exists()] == []


def test_the_commands_are_found_where_there_are_some() -> None:
    assert ["list"] in list(commands(ROOT / "README.md"))


@pytest.mark.parametrize("page", TUTORIALS, ids=name_of)
def test_documents_use_public_names_only(page: Path) -> None:
    """`recombine` itself, or a benchmark: `from recombine.benchmarks import clevr`."""
    deep = re.compile(r"^(?:from|import) recombine\.(?!benchmarks import)", re.MULTILINE)
    assert [text for _, text in blocks(page, "python") if deep.search(text)] == []


def test_the_model_of_the_page_beats_chance_on_curi(tiny: rc.Curi) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'recombine[models]'")
    (source,) = [text for _, text in blocks(ROOT / "docs" / "own-model.md", "python") if "class Small" in text]
    namespace: dict[str, Any] = {"rc": rc}
    exec(source.partition("\nsome = ")[0], namespace)
    table = tiny.score([namespace["Small"], "chance"], ["counting"], first=32)
    (small, chance) = (row[3] for row in table.rows[:2])
    assert [row[1] for row in table.rows[:2]] == ["Small", "chance"] and table.columns[3].name == "mAP"
    assert isinstance(small, rc.Interval) and isinstance(chance, rc.Interval) and small.low > 2 * chance.high
