"""Gather the pages of the documentation site: `python experiments/site.py out/pages`; `make docs` builds it from there.

The README is the first page, the README of every benchmark has a page of its own, and everything in docs/ is as it is.
Links between them are made to fit their new places; links to source files become their names, links to sounds players.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
IMAGE = re.compile(r'<img src="([^"]+)" alt="([^"]*)"[^>]*>')
OUTSIDE = re.compile(r"^[a-z]+:")
FENCE = re.compile(r"^( *```\w+) .*$", re.MULTILINE)
"""Code whose first line says more than its language, which is for our tests alone."""


def pages() -> dict[Path, Path]:
    """Every file of the site: where it is in the repository, and where on the site."""
    found = {ROOT / "README.md": Path("index.md"), ROOT / "CHANGELOG.md": Path("changelog.md")}
    found |= {ROOT / "CONTRIBUTING.md": Path("contributing.md"), ROOT / "SECURITY.md": Path("security.md")}
    for page in sorted((ROOT / "recombine" / "benchmarks").glob("*/README.md")):
        found[page] = Path("benchmarks") / f"{page.parent.name.replace('_', '-')}.md"
    for file in sorted((ROOT / "docs").rglob("*")):
        if file.is_file():
            found[file] = file.relative_to(ROOT / "docs")
    if ROOT / "docs/results/README.md" in found:
        found[ROOT / "docs/results/README.md"] = Path("results/index.md")
    return found


def placed(text: str, page: Path, known: dict[Path, Path]) -> str:
    """The text of a page with its links as they are on the site."""

    def link(match: re.Match[str]) -> str:
        mark, text, target, anchor = match.groups()
        if OUTSIDE.match(target):
            return match[0]
        file = (page.parent / target).resolve()
        if file not in known:  # source, or a folder: its name alone
            return text
        up = Path(*[".."] * len(known[page].parent.parts))
        there = (up / known[file]).as_posix()
        if file.suffix == ".wav":  # HTML, which the site leaves as it is, in a folder of the page's own name
            own = there if known[page].stem == "index" else f"../{there}"
            return (
                f'{text}<br><audio controls preload="none" style="width:13rem" aria-label="{text}" src="{own}"></audio>'
            )
        if mark and file.suffix == ".svg":  # a tap opens the drawing alone, where a phone can look at it closely
            return f"[![{text}]({there})]({there})"
        return f"{mark}[{text}]({there}{anchor or ''})"

    return FENCE.sub(r"\1", LINK.sub(link, IMAGE.sub(r"![\2](\1)", text)))


def decisions(folder: Path) -> str:
    """A page that lists all decisions by their titles."""
    pages = sorted(folder.glob("[0-9]*.md"))
    titles = (page.read_text("utf-8").splitlines()[0].lstrip("# ") for page in pages)
    return "# Decisions\n\n" + "\n".join(f"* [{title}]({page.name})" for title, page in zip(titles, pages)) + "\n"


def gather(out: Path) -> list[Path]:
    """Write all pages into a folder."""
    shutil.rmtree(out, ignore_errors=True)
    known = pages()
    for source, place in known.items():
        (out / place).parent.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".md":
            (out / place).write_text(placed(source.read_text("utf-8"), source, known), encoding="utf-8")
        else:
            shutil.copyfile(source, out / place)
    listed = out / "decisions" / "index.md"
    listed.write_text(decisions(listed.parent), encoding="utf-8")
    return [listed, *(out / place for place in known.values())]


if __name__ == "__main__":
    gather(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "out" / "pages")
