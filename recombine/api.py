"""The verbs of the command line as a small Python API.

    import recombine as rc

    curi = rc.load("curi", scale="demo", edition="release", seed=0)
    curi.gap(["boolean", "counting"]).json()      # numbers
    curi.show("boolean", episode=7)               # an EpisodeView
    curi.make("out/curi")                         # Parquet for everyone
    curi.make("out/seen", render="images,sounds") # with pictures and sounds
    rc.render_dataset("out/curi", "out/large", rc.wanted("images", "480x320"))
    curi.report("out/curi.html")                  # a page for people
    rc.draw("f_pent west of z_pent", n=16).write("sheet.png")     # ConceptWorld's images
    rc.score("nearest", "curi", ["boolean"])      # any solver beside the ideal learners
    rc.train("curi", ["boolean"], ["avg-pool"], out="runs", scale="demo", steps=500)  # the paper's networks
    rc.table("curi", "runs")                      # beside the paper's numbers

The command line only calls these.
"""

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

from recombine import benchmarks
from recombine.benchmarks.clevr.facade import Clevr
from recombine.benchmarks.clevr.facade import write_question as write_question
from recombine.benchmarks.closure.facade import Closure
from recombine.benchmarks.concept_world.drawing import checked
from recombine.benchmarks.concept_world.facade import ConceptWorld
from recombine.benchmarks.curi.facade import Curi
from recombine.benchmarks.curi.facade import own_split as own_split
from recombine.benchmarks.curi.facade import write_episode as write_episode
from recombine.benchmarks.curi.language import CURI_LOT
from recombine.benchmarks.curi.space import read_concepts
from recombine.benchmarks.laws import LAWS, LawBroken
from recombine.benchmarks.scoring import score as score
from recombine.metrics.speed import Speed, duration
from recombine.render.rendering import render_dataset as render_dataset
from recombine.render.rendering import wanted as wanted
from recombine.report.table import Column, Table
from recombine.store.engine import Progress, silent
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store
from recombine.verbs.learners import evaluate as evaluate
from recombine.verbs.learners import results_page as results_page
from recombine.verbs.learners import table as table
from recombine.verbs.learners import train as train

VERBS: dict[str, Callable[..., Any]] = {
    "curi": Curi,
    "clevr": Clevr,
    "closure": Closure,
    "concept-world": ConceptWorld,
}


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
    if concepts is not None and benchmark.name not in ("curi", "concept-world"):
        raise UserError(f"--concepts is for curi and concept-world; {name} has none")
    own = [] if concepts is None else _own(benchmark.name, concepts)
    rows = [*((text, _verdict(law, benchmark, key)) for text, law in LAWS.items()), *own]
    if store:
        damaged = Store.default().verify()
        rows += [(f"{folder / file}", problem) for folder, file, problem in damaged]
        rows += [] if damaged else [(f"every byte of {Store.default().home} is as it was written", "holds")]
    return Table(f"Laws of {benchmark.title}, seed {seed}", (Column("law"), Column("verdict")), tuple(rows))


def _own(name: str, concepts: str | Path) -> list[tuple[str, str]]:
    """What was checked of a file of concepts."""
    if name == "concept-world":
        return [(text, "holds") for text in checked(concepts)]
    return [(f"{concepts}: {len(read_concepts(Path(concepts), CURI_LOT)):,} concepts can be read", "holds")]


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
