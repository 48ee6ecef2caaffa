"""The verbs of the command line as a small Python API.

    import recombine as rc

    curi = rc.load("curi", scale="demo", edition="release", seed=0)
    curi.gap(["boolean", "counting"]).json()      # numbers
    curi.show("boolean", episode=7)               # an EpisodeView
    curi.make("out/curi")                         # Parquet for everyone
    curi.report("out/curi.html")                  # a page for people

The command line only calls these.
"""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from recombine import benchmarks
from recombine.benchmarks.curi.language import CURI_LOT
from recombine.benchmarks.curi.space import read_concepts
from recombine.benchmarks.laws import LAWS, LawBroken
from recombine.metrics.speed import Speed, duration
from recombine.report.table import Column, Table
from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.verbs.clevr import Clevr
from recombine.verbs.clevr import write_question as write_question
from recombine.verbs.closure import Closure
from recombine.verbs.curi import Curi
from recombine.verbs.curi import own_split as own_split
from recombine.verbs.curi import write_episode as write_episode

VERBS: dict[str, Callable[..., Any]] = {"curi": Curi, "clevr": Clevr, "closure": Closure}


def names() -> list[str]:
    """The benchmarks there are."""
    return [name.replace("_", "-") for name in benchmarks.names()]


def load(name: str, **options: Any) -> Any:
    """A benchmark, ready for its verbs; `recombine.verbs` has a class for each, with its options."""
    verbs = VERBS[benchmarks.get(name).name]
    unknown = sorted(set(options) - set(signature(verbs).parameters))
    if unknown:
        raise UserError(f"{name} has no option {', '.join('--' + option.replace('_', '-') for option in unknown)}")
    return verbs(**options)


def check(name: str, seed: int = 0, concepts: str | Path | None = None, store: bool = False) -> Table:
    """Every law of a benchmark, on fresh scenes and concepts; a file of concepts; the store. A row per check."""
    benchmark, key = benchmarks.get(name), Key(seed) / "check"
    if concepts is not None and name != "curi":
        raise UserError(f"--concepts is for curi; {name} has none")
    rows = [(text, _verdict(law, benchmark, key)) for text, law in LAWS.items()]
    if concepts is not None:
        found = read_concepts(Path(concepts), CURI_LOT)
        rows.append((f"{concepts}: {len(found):,} concepts can be read", "holds"))
    if store:
        damaged = Store.default().verify()
        rows += [(f"{folder / file}", problem) for folder, file, problem in damaged]
        rows += [] if damaged else [(f"every byte of {Store.default().home} is as it was written", "holds")]
    return Table(f"Laws of {benchmark.title}, seed {seed}", (Column("law"), Column("verdict")), tuple(rows))


def _verdict(law: Callable[[benchmarks.Benchmark, Key], None], benchmark: benchmarks.Benchmark, key: Key) -> str:
    try:
        law(benchmark, key)
    except LawBroken as broken:
        return f"broken: {broken}"
    return "holds"


def bench(name: str, scale: str = "laptop", seed: int = 0, progress: Progress = silent) -> Table:
    """The speed of every part beside its plain reference, in CPU time of one core."""
    options = {"edition": "release"} if name == "curi" else {}
    with load(name, scale=scale, seed=seed, progress=progress, **options) as loaded:
        rows = tuple(_speed_row(speed) for speed in loaded.speeds())
    columns = (
        Column("what"),
        *(Column(title, "right") for title in ("ours", "plain", "ratio", "target", "released")),
    )
    note = (
        f"CPU time of one core at scale {scale}; plain: the same in plain Python, measured in this run; questions with "
        "their text. The released code's figures were measured elsewhere."
    )
    return Table(f"Speed of {name}", columns, rows, note)


def _ratio(speed: Speed) -> str | None:
    """How many times faster than the plain reference, or else than the released code."""
    if speed.plain:
        return f"{speed.plain / speed.ours:,.0f}x"
    return f"{speed.released / speed.ours:,.0f}x (released)" if speed.released else None


def _speed_row(speed: Speed) -> tuple[str | None, ...]:
    return (
        speed.what,
        duration(speed.ours),
        duration(speed.plain) if speed.plain else None,
        _ratio(speed),
        f"≤ {duration(speed.target)}",
        duration(speed.released) if speed.released else None,
    )
