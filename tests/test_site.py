"""The documentation site: every page is in the contents, every link leads somewhere, nothing comes from elsewhere."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
NAV = re.compile(r"^\s+- (?:[^:\n]+: )?([\w/-]+\.md)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spec = spec_from_file_location("site_pages", ROOT / "experiments" / "site.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    out = tmp_path_factory.mktemp("site") / "out" / "pages"
    module.gather(out)
    return out


def test_the_contents_name_every_page(pages: Path) -> None:
    named = set(NAV.findall((ROOT / "mkdocs.yml").read_text()))
    there = {str(page.relative_to(pages)) for page in pages.rglob("*.md")}
    assert named <= there
    elsewhere = {name for name in there - named if not name.startswith(("decisions/", "results/"))}
    assert elsewhere == set(), "add them to nav in mkdocs.yml"


def test_links_between_pages_lead_somewhere(pages: Path) -> None:
    lost, found = [], 0
    for page in pages.rglob("*.md"):
        for target in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
            if not re.match(r"[a-z]+:", target):
                found += 1
                if not (page.parent / target).exists():
                    lost.append(f"{page.relative_to(pages)}: {target}")
    assert lost == [] and found > 50


def test_code_is_code_and_every_benchmark_has_a_picture(pages: Path) -> None:
    """The site's Markdown takes one word after a fence, and lists whose further lines are indented by four."""
    for page in pages.rglob("*.md"):
        text = page.read_text("utf-8")
        assert not re.search(r"^ *```\w+ ", text, re.MULTILINE), page
        assert not re.search(r"^ {1,3}```", text, re.MULTILINE), page
    for page in (pages / "benchmarks").glob("*.md"):
        assert "![" in page.read_text("utf-8"), page


def test_sounds_have_players_and_drawings_open_alone(pages: Path) -> None:
    gallery = (pages / "gallery.md").read_text("utf-8")
    for sound in (pages / "sounds").glob("*.wav"):
        assert f'src="../sounds/{sound.name}"></audio>' in gallery
    assert "](pictures/gallery-instruments.svg)](pictures/gallery-instruments.svg)" in gallery


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.links += [(tag, value) for name, value in attributes if name in ("href", "src") and value]


@pytest.mark.skipif(shutil.which("zensical") is None, reason="the site needs: pip install 'recombine[docs]'")
def test_the_site_is_built_whole_and_loads_nothing_from_elsewhere(pages: Path) -> None:
    top = pages.parent.parent
    config = (ROOT / "mkdocs.yml").read_text().replace("paths: [.]", f"paths: ['{ROOT}']")
    (top / "mkdocs.yml").write_text(config)
    command = [shutil.which("zensical") or "", "build", "--config-file", "mkdocs.yml"]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    site = top / "out" / "site"
    assert "compositionality gap of each split" in (site / "api" / "index.html").read_text("utf-8")
    lost = []
    for page in site.rglob("*.html"):
        parser = _Links()
        parser.feed(page.read_text("utf-8"))
        for tag, link in parser.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if tag in ("script", "img", "link") and parts.scheme in ("http", "https"):
                    lost.append(f"{page.relative_to(site)} loads {link}")
                continue
            if not parts.path or page.name == "404.html":
                continue
            base = site if parts.path.startswith("/") else page.parent
            file = base / unquote(parts.path).lstrip("/")
            if not (file.is_file() or (file / "index.html").is_file()):
                lost.append(f"{page.relative_to(site)}: {link}")
    assert lost == []
