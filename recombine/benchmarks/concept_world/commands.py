"""ConceptWorld's own commands: draw a concept, count its images, recognise it."""

from pathlib import Path
from typing import Annotated, Any

from rich.console import RenderableType
from rich.text import Text

from recombine.benchmarks.concept_world import drawing
from recombine.benchmarks.concept_world.concept_image import derivation_tree, graph_tree, image_terminal
from recombine.benchmarks.concept_world.definition import Grid
from recombine.benchmarks.concept_world.extension import Count
from recombine.benchmarks.concept_world.search import Proof
from recombine.report.answer import Answer
from recombine.store.engine import silent

Depth = Annotated[int | None, "How often a definition may stand inside itself."]
WhereText = Annotated[str, "Which derivations, such as depth(east_seq) == 3 and not uses(red)."]
GridText = Annotated[str | None, "The size of the images: WIDTHxHEIGHT."]
File = Annotated[Path | None, "A .concepts file with your own definitions."]
OwnConcept = Annotated[str | None, "Which concept of the file. Default: the last one that it defines."]
Limit = Annotated[float, "Seconds after which it gives up."]
Seed = Annotated[int, "Another seed gives other images, the same seed the same bytes."]
Target = Annotated[str, "A phrase, the name of a concept, or a .concepts file."]


def draw(
    target: Annotated[str | None, "A phrase, a concept or a .concepts file. Without: the concepts there are."] = None,
    *,
    concept: OwnConcept = None,
    concepts: File = None,
    n: Annotated[int | None, "Different images. Default: 16 with --out, otherwise 1."] = None,
    out: Annotated[Path | None, "A sheet (.png; of one image, the image itself), or a new folder of images."] = None,
    graph: Annotated[Path | None, "Write the scene graph of the first image (.svg)."] = None,
    where: WhereText = "",
    depth: Depth = None,
    grid: GridText = None,
    seed: Seed = 0,
    limit: Limit = drawing.LIMIT,
    progress: Any = silent,
) -> Answer:
    """recombine draw "f_pent west of z_pent" --n 16 --out sheet.png"""
    if target is None:
        table = drawing.concept_table(concepts)
        return Answer((table,), table.json())
    drawing.need_place(out, ".png", folder=True)
    drawing.need_place(graph, ".svg")
    which = drawing.Which(concept=concept, concepts=concepts, where=where, depth=depth, grid=grid)
    many = (16 if out else 1) if n is None else n
    found = drawing.draw(target, many, seed=seed, limit=limit, progress=progress, **which)
    written = [found.write(out)] if out else []
    written += [drawing.write_graph(found.view(), graph)] if graph else []
    shown: list[RenderableType] = []
    for i in range(0 if out else len(found.images)):
        shown += [image_terminal(found.view(i)), Text()]
    if found.count is not None:
        shown.append(_count_text(found.concept, found.count, found.library.grid))
    return Answer(tuple(shown), found.json(), (*found.notes, *(f"wrote {file}" for file in written)))


def count(
    target: Target,
    *,
    concept: OwnConcept = None,
    concepts: File = None,
    where: WhereText = "",
    depth: Depth = None,
    grid: GridText = None,
    seed: Seed = 0,
    limit: Limit = drawing.LIMIT,
    progress: Any = silent,
) -> Answer:
    """recombine count red_seq --where 'depth(east_seq) == 3'"""
    asked = drawing.ask(target, concept=concept, concepts=concepts, where=where, depth=depth, grid=grid)
    number = drawing.counted(asked, seed, limit, progress)
    data = {"concept": asked.name, **drawing.count_json(number), "notes": asked.notes}
    return Answer((_count_text(asked.name, number, asked.library.grid),), data, tuple(asked.notes))


def recognise(
    image: Annotated[Path, "A PNG image; a pixel is a point, black is nothing."],
    concept: Annotated[str, "The name of a concept, or a phrase."],
    *,
    concepts: File = None,
    graph: Annotated[Path | None, "Write the scene graph (.svg)."] = None,
    progress: Any = None,
) -> Answer:
    """recombine recognise image.png f_pent"""
    drawing.need_place(graph, ".svg")
    found = drawing.recognise(image, concept, concepts=concepts)
    if isinstance(found.found, Proof):
        shown: tuple[RenderableType, ...] = (
            Text(f"yes: {image} is {found.concept}", style="bold green"),
            graph_tree(found.view().graph),
            Text("by these definitions:"),
            derivation_tree(found.found.derivation),
        )
    else:
        shown = (Text(f"no: {image} is not {found.concept}", style="bold red"), Text(found.reason))
    written = [f"wrote {drawing.write_graph(found.view(), graph)}"] if graph and found else []
    return Answer(shown, found.json(), (*found.notes, *written), code=0 if found else 1)


def _count_text(concept: str, number: Count, grid: Grid) -> str:
    many, _, bounds = str(number).partition(" (")
    images = f"{'exactly ' * number.exact}{many} image{'' if number.images == 1 else 's'}{bounds and f' ({bounds}'}"
    return f"{concept} on a grid of {grid.width} by {grid.height}: {images}"
