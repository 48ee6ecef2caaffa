"""`recombine report prediction`: does the gap of a test foretell what networks lose there?

A benchmark's folder that has a say brings `prediction.py` with a function `claims`, which is handed the folder of
results: committed records of gaps, `data/*.json`, and pages of networks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from recombine.benchmarks.subjects import Subject
from recombine.metrics.comparisons import holm
from recombine.metrics.intervals import Interval
from recombine.metrics.prediction import FEWEST, Prediction, predicts
from recombine.report.document import ENDINGS, Chapter, Figure, Item, write_document
from recombine.report.notes import notes_of
from recombine.report.scatter import Dot, scatter_chart
from recombine.report.table import Cell, Column, Table
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.outputs import free_file
from recombine.store.untrusted import read_json

TITLE = "Does the gap predict?"
INTRO = (
    "The compositionality gap says of a test how much an ideal learner loses there that cannot recombine. If it "
    "measures what makes a test hard, networks that were never asked should lose where it is large. Here it stands, "
    "test by test, against what published networks and our own lose. Tests are few: the order is compared, by "
    "Spearman's rank correlation, with its p-value over all orders, an interval over tests, which says how far the "
    "answer hangs on these tests, and one over networks."
)
ALPHA = 0.05


@dataclass(frozen=True)
class Claim:
    """Numbers that may foretell losses, and the losses."""

    benchmark: str
    networks: str
    """Whose losses they are."""
    lost: Mapping[str, Mapping[str, float]]
    """By test and network."""
    foretold: Mapping[str, Mapping[str, float]]
    """By the name of the number, then by test; the first is drawn."""
    about: str
    """What the loss is."""


class Predictions(Subject):
    """The gap against what networks lose, over all benchmarks."""

    def report(
        self,
        out: str | Path,
        *,
        results: Annotated[Path, "The folder of results: data/*.json, and pages of networks."] = Path("docs/results"),
        **_: Any,
    ) -> Path:
        """One page for all benchmarks."""
        free_file(out, ENDINGS)
        found = list(claims(results))
        if not found:
            raise UserError(f"{results} has no records of gaps; make some: recombine gap NAME --out {results}/data/...")
        return write_document(out, TITLE, INTRO, chapters(found, notes_of(Path(out))))


def folders(part: str) -> list[Any]:
    """The modules of this name in the folders of benchmarks."""
    here = Path(__file__).parent
    names = sorted(path.parent.name for path in here.glob(f"*/{part}.py"))
    return [import_module(f"recombine.benchmarks.{name}.{part}") for name in names]


def claims(results: Path) -> Iterator[Claim]:
    """What all benchmarks have to say."""
    for module in folders("prediction"):
        yield from module.claims(results)


def records(results: Path, name: str) -> list[dict[str, Any]]:
    """The records of a file of gaps, as `recombine gap --out` writes them; none where there is no file."""
    file = results / "data" / f"{name}.json"
    if not file.is_file():
        return []
    advice = f"write it again: recombine gap --out {file}"
    found: list[dict[str, Any]] = read_json(file, list, advice=advice)
    if not all(isinstance(one, dict) for one in found):
        raise UserError(f"{file} cannot be read: it is no list of records; {advice}")
    return found


def correlated(claim: Claim) -> dict[str, Prediction]:
    """Each number against the losses; one that is the same everywhere, or known of too few tests, is left out."""
    found = {}
    for name, values in claim.foretold.items():
        shared = {test: value for test, value in values.items() if test in claim.lost}
        if len(shared) >= FEWEST and len(set(shared.values())) > 1:
            found[name] = predicts(shared, claim.lost, Key(0) / "prediction" / claim.benchmark / name)
    return found


# --- the page


def chapters(found: Iterable[Claim], notes: Iterable[str | Table] = ()) -> Iterator[Chapter]:
    together = [(claim, correlated(claim)) for claim in found]
    yield Chapter("In one table", (_table(tuple(_rows(together))), *notes))
    for claim, numbers in together:
        if numbers:
            yield Chapter(f"{claim.benchmark}: {claim.networks}", tuple(_shown(claim, numbers)), claim.about)


def _rows(together: Iterable[tuple[Claim, Mapping[str, Prediction]]]) -> Iterator[tuple[Cell, ...]]:
    every = [(claim, name, one) for claim, numbers in together for name, one in numbers.items()]
    adjusted = holm([one.over_tests.p or 0.0 for _, _, one in every])
    for (claim, name, one), p in zip(every, adjusted):
        counts = (len(one.tests), len(one.networks))
        values = (one.over_tests, one.over_tests.p, p, one.over_networks)
        yield (claim.benchmark, claim.networks, name, *values, *counts, _said(one.value, one.over_tests.p or 0.0, p))


def _said(value: float, alone: float, together: float) -> str:
    """A plain reading."""
    if alone >= ALPHA:
        return "not decided"
    said = "foretells" if value > 0 else "foretells the opposite"
    return said if together < ALPHA else f"{said}, by itself"


def _table(rows: tuple[tuple[Cell, ...], ...]) -> Table:
    columns = (
        *map(Column, ("benchmark", "networks", "number")),
        Column("Spearman, over tests", "right", "+.2f"),
        Column("p", "right", ".2g"),
        Column("p, all together", "right", ".2g"),
        Column("over networks", "right", "+.2f"),
        Column("tests", "right"),
        Column("networks of these", "right"),
        Column("reading"),
    )
    note = (
        "Spearman's correlation of a number of every test with the mean loss of the networks there, with 95 % "
        "bootstrap intervals; p: the share of all orders that correlate as strongly; all together: adjusted by Holm's "
        f"steps for all rows of the table. Decided where that is below {ALPHA}."
    )
    return Table("What foretells what networks lose", columns, rows, note)


def _shown(claim: Claim, numbers: Mapping[str, Prediction]) -> Iterator[Item]:
    name, first = next(iter(numbers.items()))
    dots = [
        Dot(test, x, Interval(float(row.mean()), float(row.min()), float(row.max())))
        for test, x, row in zip(first.tests, first.foretold, first.lost)
    ]
    said = (
        f"{claim.benchmark}: {name} (across) and what {claim.networks} lose (up): mean, least and most over networks."
    )
    slug = f"{claim.benchmark}-{claim.networks}".lower().replace(" ", "-").replace("'", "")
    yield Figure.drawn(slug, said, partial(scatter_chart, dots, said, name, "lost, points"))
    columns = (Column("test"), *(Column(each, "right") for each in numbers), Column("lost on average", "right"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (test, *(float(one.foretold[one.tests.index(test)]) for one in numbers.values()), float(first.lost[i].mean()))
        for i, test in enumerate(first.tests)
        if all(test in one.tests for one in numbers.values())
    )
    yield Table(f"{claim.benchmark}, {claim.networks}, test by test", columns, rows)
    every = sorted(first.each.items(), key=lambda pair: -pair[1])
    yield f"{name}, network by network: " + ", ".join(f"{who} {value:+.2f}" for who, value in every) + "."
