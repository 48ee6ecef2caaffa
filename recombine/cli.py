"""The command line: `recombine list`, `show`, `make`, `render`, `draw`, `count`, `recognise`, `gap`, `report`, ..."""

import errno
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from recombine import __version__, api, benchmarks
from recombine.benchmarks.clevr.facade import check_files, write_question
from recombine.benchmarks.clevr.question_page import question_terminal
from recombine.benchmarks.closure.pages import ClosureGaps
from recombine.benchmarks.concept_world import drawing
from recombine.benchmarks.concept_world.concept_image import derivation_tree, graph_tree, image_terminal
from recombine.benchmarks.concept_world.definition import Grid
from recombine.benchmarks.concept_world.extension import Count
from recombine.benchmarks.concept_world.facade import write_experiment
from recombine.benchmarks.concept_world.pages import ConceptWorldGaps, ExperimentView, experiment_terminal
from recombine.benchmarks.concept_world.search import Proof
from recombine.benchmarks.curi.episode import EpisodeView, episode_terminal
from recombine.benchmarks.curi.facade import write_episode
from recombine.benchmarks.scoring import brief
from recombine.language.query import anything
from recombine.render.rendering import picture_size, wanted
from recombine.report.table import Column, Table
from recombine.store.errors import UserError
from recombine.store.outputs import call, free_file, given
from recombine.store.progress import Bars
from recombine.store.store import write_atomically
from recombine.verbs import learners
from recombine.verbs.demo import write_demo

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
Splits = Annotated[
    list[str] | None, typer.Option("--split", help="A split or a test; repeat for several. Default: all.")
]
ScaleName = Annotated[str, typer.Option("--scale", help="How much: [b]demo[/b], [b]laptop[/b] or [b]paper[/b].")]
EditionName = Annotated[
    str | None,
    typer.Option(
        "--edition", help="[b]paper[/b] (default): as the papers say; [b]release[/b]: as the released code did."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", help="Another seed gives another world, the same seed the same bytes.", min=0)
]
Workers = Annotated[int, typer.Option("--workers", help="Processes. Default: all cores.", min=1)]
Kind = Annotated[str | None, typer.Option("--negatives", help="CURI: [b]hard[/b] (default) or [b]easy[/b].")]
Concepts = Annotated[
    Path | None,
    typer.Option(
        "--concepts",
        help="Your own concepts. CURI: postfix or infix, one per line, or a JSON list; ConceptWorld: a .concepts file.",
    ),
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
PictureSize = Annotated[
    str | None,
    typer.Option("--size", help="Width and height of images, such as [b]480x320[/b]; CURI: 240x160, CLEVR: 320x240."),
]
FirstScenes = Annotated[
    int | None, typer.Option("--first", help="Render only the first so many scenes, of each part.", min=1)
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
    edition: EditionName = None,
    seed: Seed = 0,
    workers: Workers = CORES,
    concepts: Concepts = None,
    hold_out: HoldOut = None,
    strict: Strict = False,
    as_json: Json = False,
) -> None:
    """The benchmarks, or the splits, tests or question families of one."""
    if benchmark is None:
        rows = tuple(
            (b.name, sum(split.test is not anything or split.shuffled for split in b.splits.values()), b.about, b.paper)
            for b in map(benchmarks.get, benchmarks.names())
        )
        columns = (Column("benchmark"), Column("held out", "right"), Column("what"), Column("paper"))
        return _print(Table("Benchmarks", columns, rows), as_json)
    with _loaded(
        benchmark, scale, seed, workers, hold_out, edition=edition, concepts=concepts, strict=strict
    ) as loaded:
        table = loaded.list()
    return _print(table, as_json)


@app.command(epilog="Example: [b]recombine show curi/boolean --episode 7 --out episode.html[/b]")
def show(
    what: Annotated[
        str,
        typer.Argument(
            help="Such as [b]curi/boolean[/b], [b]clevr/one_hop[/b], [b]closure/or_mat[/b], "
            "[b]concept-world/boxworld[/b]."
        ),
    ],
    number: Annotated[
        int, typer.Option("--episode", "--question", "--image", help="Which episode, question or image.", min=0)
    ] = 0,
    part: Annotated[
        str | None,
        typer.Option("--part", help="[b]train[/b], [b]validation[/b] or [b]test[/b]; ConceptWorld: a test's name."),
    ] = None,
    negatives: Kind = None,
    scale: ScaleName = "demo",
    edition: EditionName = None,
    seed: Seed = 0,
    workers: Workers = CORES,
    concepts: Concepts = None,
    hold_out: HoldOut = None,
    strict: Strict = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Also write a self-contained page (.html), or a picture (CURI: .svg).")
    ] = None,
    sound: Annotated[
        bool, typer.Option("--sound", help="CURI: a page with a player for every scene; default: in this folder.")
    ] = False,
    as_json: Json = False,
) -> None:
    """One episode, question or set of images: what is shown, what is asked, what the ideal learners make of it."""
    benchmark, _, split = what.partition("/")
    known = benchmarks.get(benchmark)
    if not split:
        example = "one_hop" if benchmark == "clevr" else next(iter(known.splits))
        raise UserError(f"'{what}' names no split; write for example {benchmark}/{example}")
    with _loaded(
        benchmark, scale, seed, workers, hold_out, edition=edition, concepts=concepts, strict=strict
    ) as loaded:
        if sound and out is None:
            out = Path(f"{benchmark}-{split}-{number}.html")
        media: dict[str, Any] = {"sounds": None} if sound else {}
        if "pictures" in signature(loaded.show).parameters:
            media |= {"pictures": out is not None}  # the terminal shows none
        view = call(benchmark, loaded.show, split, number, **given(part=part, negatives=negatives), **media)
    if as_json:
        print(json.dumps(_plain(view), indent=1))
    else:
        out_console.print(_terminal(view)(view))
    if out:
        note_console.print(f"wrote {_writer(view)(view, out)}")


def _plain(view: Any) -> Any:
    """What a view says, without its pixels and samples."""
    if is_dataclass(view) and not isinstance(view, type):
        return {f.name: _plain(getattr(view, f.name)) for f in fields(view) if f.name not in ("picture", "sound")}
    if isinstance(view, Mapping):
        return {name: _plain(value) for name, value in view.items()}
    return [_plain(value) for value in view] if isinstance(view, list | tuple) else view


def _terminal(view: Any) -> Callable[[Any], Any]:
    shown: dict[type, Callable[[Any], Any]] = {EpisodeView: episode_terminal, ExperimentView: experiment_terminal}
    return shown.get(type(view), question_terminal)


def _writer(view: Any) -> Callable[[Any, Path], Path]:
    written: dict[type, Callable[[Any, Path], Path]] = {EpisodeView: write_episode, ExperimentView: write_experiment}
    return written.get(type(view), write_question)


@app.command(epilog="Example: [b]recombine make curi --scale laptop --render images,sounds --out data/curi[/b]")
def make(
    benchmark: Benchmark,
    out: Annotated[
        Path | None, typer.Option("--out", help="A new folder for the files; default: the store only.")
    ] = None,
    splits: Splits = None,
    negatives: Annotated[
        str | None, typer.Option("--negatives", help="CURI: [b]hard[/b] (default), [b]easy[/b] or [b]both[/b].")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="[b]parquet[/b] (default); CLEVR: official [b]json[/b], or [b]jsonl[/b]; "
            "with --render: [b]webdataset[/b].",
        ),
    ] = None,
    render: Annotated[
        str | None,
        typer.Option(
            "--render", help="Also [b]images[/b] of the scenes; CURI: [b]sounds[/b], or [b]images,sounds[/b]."
        ),
    ] = None,
    size: PictureSize = None,
    first: FirstScenes = None,
    cogent: Annotated[str | None, typer.Option("--cogent", help="CLEVR: condition [b]A[/b] or [b]B[/b].")] = None,
    sheets: Annotated[
        bool, typer.Option("--sheets", help="ConceptWorld: also a PNG sheet of each experiment.")
    ] = False,
    scale: ScaleName = "demo",
    edition: EditionName = None,
    seed: Seed = 0,
    workers: Workers = CORES,
    concepts: Concepts = None,
    hold_out: HoldOut = None,
    strict: Strict = False,
    whole_language: Whole = False,
    as_json: Json = False,
) -> None:
    """Make the data: scenes, and episodes or questions about them. Goes on where it was stopped."""
    if render is None and (size or first):
        raise UserError(f"{'--size' if size else '--first'} is for --render; say what to render, such as images")
    pixels = None if render is None else wanted(render, size, first)
    options = {"edition": edition, "concepts": concepts, "strict": strict, "whole_language": whole_language}
    with _loaded(benchmark, scale, seed, workers, hold_out, cogent=cogent, **options) as loaded:
        chosen = given(splits=splits, negatives=negatives, format=format, sheets=sheets)
        folder = call(benchmark, loaded.make, out=out, **chosen, **given(render=pixels, tell=render and _tell))
    if as_json:
        print(json.dumps({"folder": str(folder)}))
    else:
        out_console.print(f"made {benchmark} at scale {scale} in {folder}")


@app.command(epilog="Example: [b]recombine render data/curi --size 480x320 --out data/curi-large[/b]")
def render(
    dataset: Annotated[
        Path,
        typer.Argument(help="A folder made by [b]recombine make[/b] with --out, or a scene file of CLEVR (.json)."),
    ],
    what: Annotated[
        str | None,
        typer.Option("--what", help="[b]images[/b] (default), [b]sounds[/b] (default with --recordings), or both."),
    ] = None,
    size: PictureSize = None,
    photo: Annotated[bool, typer.Option("--photo", help="Physically based, by Mitsuba; seconds per image.")] = False,
    recordings: Annotated[
        Path | None, typer.Option("--recordings", help="A folder of your own notes, in place of the synthesised ones.")
    ] = None,
    first: FirstScenes = None,
    format: Annotated[str, typer.Option("--format", help="[b]parquet[/b] or [b]webdataset[/b].")] = "parquet",
    workers: Workers = CORES,
    out: Annotated[
        Path | None, typer.Option("--out", help="A new folder; default: beside the dataset, such as curi-480x320.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Render the scenes of a dataset again: in another size, as photos, with other instruments."""
    pixels = wanted(what or ("sounds" if recordings else "images"), size, first, photo, recordings)
    with _bars() as bars:
        folder = api.render_dataset(dataset, out, pixels, format, workers=workers, progress=bars, tell=_tell)
    if as_json:
        print(json.dumps({"folder": str(folder)}))
    else:
        out_console.print(f"rendered {dataset} in {folder}")


@app.command(epilog="Example: [b]recombine gap curi --split boolean --split counting --edition release[/b]")
def gap(
    benchmark: Benchmark,
    splits: Splits = None,
    negatives: Kind = None,
    scale: ScaleName = "demo",
    edition: EditionName = None,
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
    """The compositionality gap: strong minus weak ideal learner, beside published values where there are any."""
    if out:
        free_file(out, (".json",))
    options = {"edition": edition, "concepts": concepts, "strict": strict, "episodes": episodes}
    with _loaded(benchmark, scale, seed, workers, hold_out, whole_language=whole_language, **options) as loaded:
        found = call(benchmark, loaded.gap, splits or (), **given(negatives=negatives))
    text = json.dumps(found.json(), indent=1)
    if out:
        write_atomically(out, lambda draft: draft.write_text(text, encoding="utf-8"))
    if as_json:
        print(text)
    elif isinstance(found, ClosureGaps | ConceptWorldGaps):
        out_console.print(found.brief().rich())
    else:
        out_console.print(replace(found.brief("mAP"), note="").rich())
        out_console.print(found.brief("accuracy").rich())


@app.command(epilog="Example: [b]recombine demo --out demo.html[/b]")
def demo(
    out: Annotated[Path, typer.Option("--out", help="The page (.html).")] = Path("demo.html"),
    workers: Workers = CORES,
) -> None:
    """A small world to look at and listen to: pictures, sounds, questions, ideal learners and gaps on one page."""
    with _bars() as bars:
        written = write_demo(out, workers=workers, progress=bars)
    note_console.print(f"wrote {written}")


@app.command(epilog="Example: [b]recombine report curi --scale demo --out report.html[/b]")
def report(
    benchmark: Annotated[str, typer.Argument(help="A benchmark.")] = "curi",
    out: Annotated[Path, typer.Option("--out", help="The page (.html), or Markdown with figures (.md).")] = Path(
        "report.html"
    ),
    scale: ScaleName = "demo",
    edition: EditionName = None,
    seed: Seed = 0,
    workers: Workers = CORES,
    concepts: Concepts = None,
    hold_out: HoldOut = None,
    strict: Strict = False,
    whole_language: Whole = False,
    episodes: Episodes = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="CURI: also make all training and validation episodes.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Everything about a benchmark as one self-contained page: gaps, examples, splits."""
    options = {"edition": edition, "concepts": concepts, "strict": strict, "episodes": episodes}
    with _loaded(benchmark, scale, seed, workers, hold_out, whole_language=whole_language, **options) as loaded:
        file = call(benchmark, loaded.report, out, **given(complete=complete))
    if as_json:
        print(json.dumps({"file": str(file)}))
    else:
        out_console.print(f"wrote {file}")


@app.command(
    epilog="Example: [b]recombine check curi[/b], or [b]recombine check clevr --scenes S.json --questions Q.json[/b]"
)
def check(
    benchmark: Benchmark,
    scenes: Annotated[
        list[Path] | None,
        typer.Option("--scenes", help="CLEVR: a file of scenes, JSON or JSON lines; may be repeated."),
    ] = None,
    questions: Annotated[
        Path | None, typer.Option("--questions", help="CLEVR: a file of questions about them.")
    ] = None,
    concepts: Concepts = None,
    seed: Seed = 0,
    store: Annotated[bool, typer.Option("--store", help="Also verify every byte of the store.")] = False,
    as_json: Json = False,
) -> None:
    """Check the laws on fresh scenes and concepts; or your files: concepts, or scenes and questions; or the store.

    With --scenes and --questions: recompute relations from coordinates, run programs, read the text where there is no
    program, and compare the answers, per family.
    """
    if scenes and (store or concepts):
        raise UserError("--scenes and --questions are checked on their own, without --store and --concepts")
    if bool(scenes) != (questions is not None):
        raise UserError("--scenes and --questions belong together: give both files")
    if scenes and questions is not None:
        if benchmark not in ("clevr", "closure"):
            raise UserError(f"--scenes and --questions are for clevr and closure, not for {benchmark}")
        table, fine = check_files(scenes, questions)
    else:
        table = api.check(benchmark, seed, concepts, store)
        fine = all(row[1] == "holds" for row in table.rows)
    _print(table, as_json)
    if as_json and table.note:
        note_console.print(table.note)
    if not fine:
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


def _tell(sentence: str) -> None:
    note_console.print(sentence, markup=False, highlight=False, soft_wrap=True)


# --- ConceptWorld's concepts

Depth = Annotated[int | None, typer.Option("--depth", help="How often a definition may stand inside itself.", min=1)]
WhereText = Annotated[
    str, typer.Option("--where", help="Which derivations, such as [b]depth(east_seq) == 3 and not uses(red)[/b].")
]
GridText = Annotated[str | None, typer.Option("--grid", help="The size of the images: [b]WIDTHxHEIGHT[/b].")]
ConceptFile = Annotated[Path | None, typer.Option("--concepts", help="A .concepts file with your own definitions.")]
OwnConcept = Annotated[
    str | None, typer.Option("--concept", help="Which concept of the file. Default: the last one that it defines.")
]


@app.command(epilog='Example: [b]recombine draw "f_pent west of z_pent" --n 16 --out sheet.png[/b]')
def draw(
    target: Annotated[
        str | None,
        typer.Argument(
            help="A phrase, the name of a concept, or a .concepts file. Without it: the concepts there are."
        ),
    ] = None,
    concept: OwnConcept = None,
    concepts: ConceptFile = None,
    n: Annotated[
        int | None, typer.Option("--n", help="Different images. Default: 16 with --out, otherwise 1.", min=1)
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A sheet (.png; of one image, the image itself), or a new folder of single images."),
    ] = None,
    graph: Annotated[
        Path | None, typer.Option("--graph", help="Write the scene graph of the first image (.svg).")
    ] = None,
    where: WhereText = "",
    depth: Depth = None,
    grid: GridText = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Draw images of a ConceptWorld concept, each verified, and say how many there are."""
    if target is None:
        _print(drawing.concept_table(concepts), as_json)
        return
    drawing.need_place(out, ".png", folder=True)
    drawing.need_place(graph, ".svg")
    which = drawing.Which(concept=concept, concepts=concepts, where=where, depth=depth, grid=grid)
    found = drawing.draw(target, n or (16 if out else 1), seed=seed, **which)
    written = [found.write(out)] if out else []
    written += [drawing.write_graph(found.view(), graph)] if graph else []
    if as_json:
        print(json.dumps(found.json(), indent=1))
    else:
        _say_drawing(found, shown=not out)
    _notes(*found.notes, *(f"wrote {file}" for file in written))


def _say_drawing(found: drawing.Drawing, shown: bool) -> None:
    for i in range(len(found.images) if shown else 0):
        out_console.print(image_terminal(found.view(i)))
        out_console.print()
    if found.count is not None:
        _say_count(found.concept, found.count, found.library.grid)


def _say_count(concept: str, number: Count, grid: Grid) -> None:
    many, _, bounds = str(number).partition(" (")
    images = f"{'exactly ' * number.exact}{many} image{'' if number.images == 1 else 's'}{bounds and f' ({bounds}'}"
    _say(f"{concept} on a grid of {grid.width} by {grid.height}: {images}")


def _say(text: str, style: str = "") -> None:
    out_console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


@app.command(epilog='Example: [b]recombine count red_seq --where "depth(east_seq) == 3"[/b]')
def count(
    target: Annotated[str, typer.Argument(help="A phrase, the name of a concept, or a .concepts file.")],
    concept: OwnConcept = None,
    concepts: ConceptFile = None,
    where: WhereText = "",
    depth: Depth = None,
    grid: GridText = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How many images satisfy a ConceptWorld concept on this grid: exactly, or an estimate with its interval."""
    asked = drawing.ask(target, concept=concept, concepts=concepts, where=where, depth=depth, grid=grid)
    number, notes = drawing.counted(asked, seed), asked.notes
    if as_json:
        print(json.dumps({"concept": asked.name, **drawing.count_json(number), "notes": notes}, indent=1))
    else:
        _say_count(asked.name, number, asked.library.grid)
    _notes(*notes)


@app.command(epilog="Example: [b]recombine recognise image.png f_pent[/b]")
def recognise(
    image: Annotated[Path, typer.Argument(help="A PNG image; a pixel is a point, black is nothing.")],
    concept: Annotated[str, typer.Argument(help="The name of a concept, or a phrase.")],
    concepts: ConceptFile = None,
    graph: Annotated[Path | None, typer.Option("--graph", help="Write the scene graph (.svg).")] = None,
    as_json: Json = False,
) -> None:
    """Whether an image satisfies a ConceptWorld concept: the object that proves it, or the condition that fails.

    The exit code is 0 for yes, 1 for no.
    """
    drawing.need_place(graph, ".svg")
    found = drawing.recognise(image, concept, concepts=concepts)
    if as_json:
        print(json.dumps(found.json(), indent=1))
    elif isinstance(found.found, Proof):
        _say(f"yes: {image} is {found.concept}", "bold green")
        out_console.print(graph_tree(found.view().graph))
        _say("by these definitions:")
        out_console.print(derivation_tree(found.found.derivation))
    else:
        _say(f"no: {image} is not {found.concept}", "bold red")
        _say(found.reason)
    written = [f"wrote {drawing.write_graph(found.view(), graph)}"] if graph and found else []
    _notes(*found.notes, *written)
    if not found:
        raise typer.Exit(1)


@app.command(epilog="Example: [b]recombine train concept-world --experiment sequences --model cnn --seeds 3[/b]")
def train(
    benchmark: Benchmark,
    experiment: Annotated[
        list[str] | None,
        typer.Option(
            "--experiment",
            help="ConceptWorld: [b]sequences[/b], [b]boxworld[/b], [b]patterns[/b], [b]substitution[/b], "
            "[b]substitution-curriculum[/b]; repeat for several. Default: all.",
        ),
    ] = None,
    splits: Splits = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            help="ConceptWorld: [b]mlp[/b], [b]cnn[/b], [b]resnet[/b], [b]wren[/b], [b]predinet[/b]; CURI: "
            "[b]avg-pool[/b], [b]concat[/b], [b]relation-net[/b], [b]transformer[/b]; repeat for several. "
            "Default: all.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="The first seed of the networks.", min=0)] = 0,
    seeds: Annotated[int, typer.Option("--seeds", help="How many seeds, each a run of its own.", min=1)] = 1,
    out: Annotated[
        Path, typer.Option("--out", help="Where the runs are; finished ones are kept, others go on.")
    ] = Path("runs"),
    scale: Annotated[
        str,
        typer.Option(
            "--scale",
            help="How much data: [b]demo[/b], [b]laptop[/b] or [b]paper[/b]; CURI also has [b]small[/b]. "
            "At paper scale CURI first makes gigabytes of data, once.",
        ),
    ] = "paper",
    data_seed: Annotated[
        int, typer.Option("--data-seed", help="Another seed gives other images or episodes.", min=0)
    ] = 0,
    workers: Annotated[
        int, typer.Option("--workers", help="Runs at once, each with one thread. Default: all cores.", min=1)
    ] = CORES,
    epochs: Annotated[
        int | None, typer.Option("--epochs", help="ConceptWorld: the most epochs. Default: the paper's.", min=1)
    ] = None,
    patience: Annotated[
        int | None, typer.Option("--patience", help="ConceptWorld: epochs without progress before it stops.", min=1)
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option("--steps", help="CURI: how many steps, up to the next validation. Default: 5,000.", min=1),
    ] = None,
    validate_every: Annotated[
        int | None, typer.Option("--validate-every", help="CURI: steps between validations. Default: 500.", min=1)
    ] = None,
    modality: Annotated[
        str | None, typer.Option("--modality", help="CURI: [b]schema[/b] (default), [b]image[/b] or [b]sound[/b].")
    ] = None,
    size: Annotated[str | None, typer.Option("--size", help="CURI: the size of images. Default: 240x160.")] = None,
    negatives: Kind = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="CURI: how much writing the concept counts. Default: 0.")
    ] = None,
    edition: Annotated[
        str | None,
        typer.Option("--edition", help="CURI: [b]release[/b] (default) or [b]paper[/b]."),
    ] = None,
    episodes: Annotated[
        int | None, typer.Option("--episodes", help="CURI: test episodes of a run. Default: 2,000.", min=1)
    ] = None,
    batch: Annotated[
        int | None, typer.Option("--batch", help="CURI: episodes a step. Default: the paper's.", min=1)
    ] = None,
    rate: Annotated[float | None, typer.Option("--rate", help="The learning rate. Default: the paper's.")] = None,
    device: Annotated[
        str, typer.Option("--device", help="[b]cpu[/b], [b]cuda[/b], [b]mps[/b]; or the fastest.")
    ] = "auto",
    precision: Annotated[
        str,
        typer.Option(
            "--precision", help="[b]float32[/b], or [b]bfloat16[/b]: faster on a GPU or with AMX, far slower elsewhere."
        ),
    ] = "float32",
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="ConceptWorld: ResNet-18's ImageNet weights (.pth or .safetensors)."),
    ] = None,
    concepts: Annotated[
        Path | None, typer.Option("--concepts", help="ConceptWorld: a .concepts file with experiments of your own.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train networks; the same command goes on where it was stopped, and adds seeds, epochs or steps."""
    if experiment and splits:
        raise UserError("give --experiment for ConceptWorld or --split for CURI, not both")
    options = given(
        epochs=epochs,
        patience=patience,
        steps=steps,
        validate_every=validate_every,
        modality=modality,
        size=None if size is None else picture_size(size),
        negatives=negatives,
        alpha=alpha,
        edition=edition,
        episodes=episodes,
        batch=batch,
        rate=rate,
        weights=weights,
        concepts=concepts,
    )
    with _bars() as bars:
        table = learners.train(
            benchmark,
            experiment or splits or (),
            model or (),
            seed=seed,
            seeds=seeds,
            out=out,
            scale=scale,
            data_seed=data_seed,
            workers=workers,
            device=device,
            precision=precision,
            progress=bars,
            **options,
        )
    return _print(table, as_json)


@app.command(
    "eval",
    epilog="Example: [b]recombine eval curi --split boolean --solver nearest[/b], or "
    "[b]recombine eval runs/concept-world-sequences-cnn-0[/b]",
)
def evaluate(
    context: typer.Context,
    what: Annotated[str, typer.Argument(help="A benchmark, such as [b]curi[/b], or the folder of a run.")],
    solver: Annotated[
        list[str] | None,
        typer.Option(
            "--solver",
            help="A baseline such as [b]nearest[/b], or your own: [b]FILE.py:NAME[/b]; repeat for several. "
            "Default: all baselines.",
        ),
    ] = None,
    splits: Splits = None,
    negatives: Kind = None,
    scale: ScaleName = "demo",
    edition: EditionName = None,
    seed: Seed = 0,
    workers: Workers = CORES,
    episodes: Annotated[
        int | None, typer.Option("--episodes", help="CURI: only the first so many test episodes.", min=1)
    ] = None,
    as_json: Json = False,
) -> None:
    """Score solvers on a benchmark beside its ideal learners; or test the best network of a run again."""
    options = given(splits=splits, negatives=negatives, edition=edition, episodes=episodes)
    with _bars() as bars:
        if what in api.names():
            whole: dict[str, Any] = {"scale": scale, "seed": seed, "workers": workers, "progress": bars}
            scored = api.score(solver, what, **whole, **options)
            tables = [scored if as_json else brief(scored)]
        else:
            tested = {name: options.pop(name) for name in ("episodes",) if name in options}
            others = ["solver"] * bool(solver) + list(options) + _typed(context, "scale", "seed", "workers")
            _only_for_benchmarks(what, others)
            tables = learners.evaluate(what, progress=bars, **tested)
    if what in api.names():
        return _print(tables[0], as_json)
    return _print_all(tables, as_json)


def _typed(context: typer.Context, *names: str) -> list[str]:
    """Those of these options that stand in the command."""
    return [name for name in names if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"]


def _only_for_benchmarks(what: str, options: Sequence[str]) -> None:
    """Refuse what is neither a benchmark nor the folder of a run, and options that a run decides itself."""
    if not Path(what).exists():
        raise UserError(f"there is no benchmark and no folder '{what}'; choose {', '.join(api.names())}, or a run")
    if options:
        option = {"splits": "split"}.get(options[0], options[0])
        raise UserError(f"{what} is no benchmark, and --{option} is for benchmarks; leave it out to test a run")


@app.command("table", epilog="Example: [b]recombine table concept-world runs[/b]")
def table_(
    benchmark: Benchmark,
    runs: Annotated[Path, typer.Argument(help="The folder of the runs.")] = Path("runs"),
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write Markdown with figures (.md) instead; ConceptWorld: or a page (.html)."),
    ] = None,
    as_json: Json = False,
) -> None:
    """All finished runs of a folder, mean and interval over seeds, beside the paper's numbers."""
    with _bars() as bars:
        if out is not None:
            _notes(f"wrote {learners.results_page(benchmark, runs, out, progress=bars)}")
            return
        tables = learners.table(benchmark, runs, progress=bars)
    _print_all(tables if as_json else [learners.brief(benchmark, table) for table in tables], as_json)


def _notes(*texts: str) -> None:
    for text in texts:
        note_console.print(text, markup=False, highlight=False, soft_wrap=True)


def _print(table: Table, as_json: bool) -> None:
    if as_json:
        print(json.dumps(table.json(), indent=1))
    else:
        out_console.print(table.rich())


def _print_all(tables: Sequence[Table], as_json: bool) -> None:
    """Several tables; as JSON, one list."""
    if as_json:
        print(json.dumps([table.json() for table in tables], indent=1))
        return
    for table in tables:
        _print(table, as_json)


@contextmanager
def _bars() -> Iterator[Bars]:
    with Bars(note_console) as bars:
        yield bars


@contextmanager
def _loaded(
    benchmark: str, scale: str, seed: int, workers: int, hold_out: Sequence[str] | None = None, **options: Any
) -> Iterator[Any]:
    """The benchmark with progress bars on the error stream; options that were not given are left to it."""
    own = dict(_named(text) for text in hold_out or ())
    chosen = given(hold_out=own, **options)
    with (
        _bars() as bars,
        api.load(benchmark, scale=scale, seed=seed, workers=workers, progress=bars, **chosen) as loaded,
    ):
        yield loaded


def _named(text: str) -> tuple[str, str]:
    name, equals, predicate = text.partition("=")
    if not equals or not name.strip().replace("-", "").isalnum():
        raise UserError(f"--hold-out '{text}' must read name=predicate, for example mine=green & cube")
    return name.strip(), predicate


INTERRUPTED = 130
OUT_OF_MEMORY = re.compile("MemoryError|can't allocate memory|out of memory")
ADVICE = {errno.ENOSPC: "free some room", errno.EACCES: "mend the permissions", errno.EPERM: "mend the permissions"}


def main() -> None:
    """Run the command line: 0 done, 1 a check failed, 2 bad input, 130 interrupted."""
    before = signal.signal(signal.SIGTERM, _stop)
    try:
        code = _code()
    finally:
        signal.signal(signal.SIGTERM, before)
    if code == INTERRUPTED:
        note_console.print("Stopped; the same command goes on from here.")
    sys.exit(code)


def _stop(number: int, frame: object) -> None:
    """Who is asked to end does so as after Ctrl-C: in good order, and the workers too."""
    raise KeyboardInterrupt


def _code() -> int:
    """Run a command and tell how it ended."""
    try:
        return app(standalone_mode=False) or 0
    except UserError as error:
        return _fail(str(error))
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        advice = ADVICE.get(error.errno or 0, "choose another path")
        return _fail(f"{error.strerror or error}{where}; {advice}, then run it again")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:
        said = _in_words(error)
        if said is None:
            raise
        return _fail(said) if said else 0


def _in_words(error: Exception) -> str | None:
    """What a user can do about an error; nothing for a bug of ours."""
    if isinstance(error, MemoryError | RuntimeError) and OUT_OF_MEMORY.search(f"{type(error).__name__} {error}"):
        return "there is not enough memory for this; use fewer --workers, or a smaller --scale, --batch or --size"
    # Typer's own complaints about the words of a command know how to say themselves.
    say = getattr(error, "format_message", None)
    return say() if say else None


def _fail(message: str) -> int:
    note_console.print(f"Error: {message}", style="red", markup=False, highlight=False, soft_wrap=True)
    return 2


if __name__ == "__main__":
    main()
