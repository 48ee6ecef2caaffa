"""The command line: `recombine list | show | make | gap | report | check | bench`."""

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from recombine import __version__, api, benchmarks
from recombine.report.episode import episode_terminal
from recombine.report.table import Column, Table
from recombine.store.errors import UserError
from recombine.store.progress import Bars

app = typer.Typer(
    name="recombine",
    help="Build, measure and close compositional-generalisation gaps.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
)
out_console, note_console = Console(), Console(stderr=True)

Benchmark = Annotated[str, typer.Argument(help="A benchmark, such as [b]curi[/b].")]
Splits = Annotated[list[str] | None, typer.Option("--split", help="A split; repeat for several. Default: all.")]
ScaleName = Annotated[str, typer.Option("--scale", help="How much: [b]demo[/b], [b]laptop[/b] or [b]paper[/b].")]
EditionName = Annotated[
    str, typer.Option("--edition", help="[b]paper[/b]: as the papers say. [b]release[/b]: as the released code did.")
]
Seed = Annotated[
    int, typer.Option("--seed", help="Another seed gives another world, the same seed the same bytes.", min=0)
]
Workers = Annotated[int, typer.Option("--workers", help="Processes. Default: all cores.", min=1)]
Kind = Annotated[str, typer.Option("--negatives", help="[b]hard[/b] or [b]easy[/b].")]
Concepts = Annotated[
    Path | None, typer.Option("--concepts", help="Your own concepts, postfix or infix: one per line, or a JSON list.")
]
HoldOut = Annotated[
    list[str] | None,
    typer.Option(
        "--hold-out", help="A split of your own: [b]name=predicate[/b], e.g. [b]mine=green & (cube | length>11)[/b]."
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Leave out test concepts with a synonym on the training side.")]
Whole = Annotated[bool, typer.Option("--whole-language", help="Every concept of the language, not those of 2M draws.")]
Episodes = Annotated[
    int | None, typer.Option("--episodes", help="Test episodes per split, in place of the scale's.", min=1)
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    if version:
        out_console.print(__version__)
        raise typer.Exit


@app.command("list", epilog="Example: [b]recombine list curi --scale demo[/b]")
def list_(
    benchmark: Annotated[
        str | None, typer.Argument(help="A benchmark whose splits are listed with their sizes.")
    ] = None,
    scale: ScaleName = "demo",
    edition: EditionName = "paper",
    seed: Seed = 0,
    workers: Workers = CORES,
    concepts: Concepts = None,
    hold_out: HoldOut = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """The benchmarks, or the splits of one with how many concepts each side has."""
    if benchmark is None:
        rows = tuple((b.name, len(b.splits), b.about, b.paper) for b in map(benchmarks.get, benchmarks.names()))
        columns = (Column("benchmark"), Column("splits", "right"), Column("what"), Column("paper"))
        return _print(Table("Benchmarks", columns, rows), as_json)
    with _loaded(
        benchmark, scale, edition, seed, workers, concepts=concepts, hold_out=hold_out, strict=strict
    ) as loaded:
        table = loaded.list()
    return _print(table, as_json)


@app.command(epilog="Example: [b]recombine show curi/boolean --episode 7 --out episode.html[/b]")
def show(
    what: Annotated[str, typer.Argument(help="A benchmark and a split, such as [b]curi/boolean[/b].")],
    episode: Annotated[int, typer.Option("--episode", help="Which episode.", min=0)] = 0,
    part: Annotated[str, typer.Option("--part", help="[b]train[/b], [b]validation[/b] or [b]test[/b].")] = "test",
    negatives: Kind = "hard",
    scale: ScaleName = "demo",
    edition: EditionName = "paper",
    seed: Seed = 0,
    workers: Workers = CORES,
    concepts: Concepts = None,
    hold_out: HoldOut = None,
    strict: Strict = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also write a self-contained page (.html) or a picture (.svg).")
    ] = None,
    as_json: Json = False,
) -> None:
    """One episode: the concept, the scenes, and what the strong and the weak oracle make of them."""
    benchmark, _, split = what.partition("/")
    benchmarks.get(benchmark)
    if not split:
        raise UserError(
            f"'{what}' names no split; write for example {benchmark}/{next(iter(benchmarks.get(benchmark).splits))}"
        )
    with _loaded(
        benchmark, scale, edition, seed, workers, concepts=concepts, hold_out=hold_out, strict=strict
    ) as loaded:
        view = loaded.show(split, episode, negatives, part)
    if as_json:
        print(json.dumps(asdict(view), indent=1))
    else:
        out_console.print(episode_terminal(view))
    if out:
        note_console.print(f"wrote {api.write_episode(view, out)}")


@app.command(epilog="Example: [b]recombine make curi --scale laptop --out data/curi[/b]")
def make(
    benchmark: Benchmark,
    out: Annotated[
        Path | None, typer.Option("--out", help="A new folder for the Parquet files; default: the store only.")
    ] = None,
    splits: Splits = None,
    negatives: Annotated[str, typer.Option("--negatives", help="[b]hard[/b], [b]easy[/b] or [b]both[/b].")] = "hard",
    scale: ScaleName = "demo",
    edition: EditionName = "paper",
    seed: Seed = 0,
    workers: Workers = CORES,
    concepts: Concepts = None,
    hold_out: HoldOut = None,
    strict: Strict = False,
    whole_language: Whole = False,
    as_json: Json = False,
) -> None:
    """Make the data: scenes, concepts, and training, validation and test episodes. Goes on where it was stopped."""
    with _loaded(
        benchmark, scale, edition, seed, workers, concepts=concepts, hold_out=hold_out, strict=strict
    ) as loaded:
        folder = loaded.make(out, splits or (), negatives)
    if as_json:
        print(json.dumps({"folder": str(folder)}))
    else:
        out_console.print(f"made {benchmark} at scale {scale} in {folder}")


@app.command(epilog="Example: [b]recombine gap curi --split boolean --split counting --edition release[/b]")
def gap(
    benchmark: Benchmark,
    splits: Splits = None,
    negatives: Kind = "hard",
    scale: ScaleName = "demo",
    edition: EditionName = "paper",
    seed: Seed = 0,
    workers: Workers = CORES,
    concepts: Concepts = None,
    hold_out: HoldOut = None,
    strict: Strict = False,
    whole_language: Whole = False,
    episodes: Episodes = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the records as JSON to this file.")] = None,
    as_json: Json = False,
) -> None:
    """The compositionality gap: strong minus weak oracle, with the published values beside ours."""
    options: dict[str, Any] = {
        "concepts": concepts,
        "hold_out": hold_out,
        "strict": strict,
        "episodes": episodes,
        "whole_language": whole_language,
    }
    with _loaded(benchmark, scale, edition, seed, workers, **options) as loaded:
        found = loaded.gap(splits or (), negatives)
    text = json.dumps(found.json(), indent=1)
    if out:
        out.write_text(text, encoding="utf-8")
    if as_json:
        print(text)
    else:
        out_console.print(replace(found.brief("mAP"), note="").rich())
        out_console.print(found.brief("accuracy").rich())


@app.command(epilog="Example: [b]recombine report curi --scale demo --out report.html[/b]")
def report(
    benchmark: Annotated[str, typer.Argument(help="A benchmark.")] = "curi",
    out: Annotated[Path, typer.Option("--out", help="The page (.html), or Markdown with figures (.md).")] = Path(
        "report.html"
    ),
    scale: ScaleName = "demo",
    edition: EditionName = "paper",
    seed: Seed = 0,
    workers: Workers = CORES,
    concepts: Concepts = None,
    hold_out: HoldOut = None,
    strict: Strict = False,
    whole_language: Whole = False,
    episodes: Episodes = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Also make all training and validation episodes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Everything about a benchmark as one self-contained page: gaps, episodes, concepts, splits."""
    options: dict[str, Any] = {
        "concepts": concepts,
        "hold_out": hold_out,
        "strict": strict,
        "episodes": episodes,
        "whole_language": whole_language,
    }
    with _loaded(benchmark, scale, edition, seed, workers, **options) as loaded:
        file = loaded.report(out, complete=complete)
    if as_json:
        print(json.dumps({"file": str(file)}))
    else:
        out_console.print(f"wrote {file}")


@app.command(epilog="Example: [b]recombine check curi[/b]")
def check(
    benchmark: Benchmark,
    concepts: Concepts = None,
    seed: Seed = 0,
    store: Annotated[bool, typer.Option("--store", help="Also verify every byte of the store.")] = False,
    as_json: Json = False,
) -> None:
    """Check the laws on fresh scenes and concepts, your own list of concepts if given, and the store if asked."""
    table = api.check(benchmark, seed, concepts, store)
    _print(table, as_json)
    if any(row[1] != "holds" for row in table.rows):
        raise typer.Exit(1)


@app.command(epilog="Example: [b]recombine bench curi[/b]")
def bench(
    benchmark: Benchmark = "curi",
    scale: ScaleName = "laptop",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How fast the parts are, beside the plain reference, measured in one run on one core."""
    with _bars() as bars:
        table = api.bench(benchmark, scale, seed, bars)
    _print(table, as_json)


def _print(table: Table, as_json: bool) -> None:
    if as_json:
        print(json.dumps(table.json(), indent=1))
    else:
        out_console.print(table.rich())


@contextmanager
def _bars() -> Iterator[Bars]:
    with Bars(note_console) as bars:
        yield bars


@contextmanager
def _loaded(
    benchmark: str,
    scale: str,
    edition: str,
    seed: int,
    workers: int,
    hold_out: Sequence[str] | None = None,
    **options: Any,
) -> Iterator[api.Curi]:
    """The benchmark with progress bars on the error stream."""
    own = dict(_named(text) for text in hold_out or ())
    with (
        _bars() as bars,
        api.load(
            benchmark, scale=scale, edition=edition, seed=seed, workers=workers, hold_out=own, progress=bars, **options
        ) as loaded,
    ):
        yield loaded


def _named(text: str) -> tuple[str, str]:
    name, equals, predicate = text.partition("=")
    if not equals or not name.strip().replace("-", "").isalnum():
        raise UserError(f"--hold-out '{text}' must read name=predicate, for example mine=green & cube")
    return name.strip(), predicate


INTERRUPTED = 130


def main() -> None:
    """Run the command line: 0 done, 1 a check failed, 2 bad input, 130 interrupted."""
    try:
        code = app(standalone_mode=False)
    except UserError as error:
        code = _fail(str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        code = _fail(f"{error.strerror or error}{where}; free some room or mend the permissions, then run it again")
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        # Typer's own complaints about the words of a command know how to say themselves.
        say = getattr(error, "format_message", None)
        if say is None:
            raise
        code = _fail(say()) if say() else 0
    if code == INTERRUPTED:
        note_console.print("Stopped; the same command goes on from here.")
    sys.exit(code or 0)


def _fail(message: str) -> int:
    note_console.print(f"Error: {message}", style="red", markup=False, highlight=False, soft_wrap=True)
    return 2


if __name__ == "__main__":
    main()
