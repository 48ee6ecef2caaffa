"""`recombine render`."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from recombine import __version__, benchmarks
from recombine.render.folders import Dataset, read_dataset
from recombine.render.rendering import Tell, Wanted, quiet, render_scenes, wanted
from recombine.store.cards import About
from recombine.store.engine import Engine, Progress, silent
from recombine.store.outputs import positive
from recombine.verbs import Answer
from recombine.verbs.make import teller, told_of


def run(
    what: str,
    asked: Mapping[str, Any],
    progress: Any,
    *,
    kind: Annotated[str | None, "images, sounds or images,sounds. Default: images; sounds with --recordings."] = None,
    size: Annotated[str | None, "Width and height of images, such as 480x320. Default: the dataset's."] = None,
    photo: Annotated[bool, "Physically based, by Mitsuba; seconds per image."] = False,
    recordings: Annotated[Path | None, "A folder of your own notes, in place of the synthesised ones."] = None,
    first: Annotated[int | None, "Render only the first so many scenes, of each part."] = None,
    format: Annotated[str, "parquet or webdataset."] = "parquet",
    workers: Annotated[int | Engine, "Processes or tasks at once. Default: all cores."] = 1,
    out: Annotated[Path | None, "A new folder. Default: beside the dataset, such as curi-480x320."] = None,
) -> Answer:
    pixels = wanted(kind or ("sounds" if recordings else "images"), size, first, photo, recordings)
    told: list[str] = []
    made = render_dataset(what, out, pixels, format, workers=workers, progress=progress, tell=teller(told))
    return told_of(made, told, f"rendered {what} in {made}")


def render_dataset(
    dataset: str | Path,
    out: str | Path | None = None,
    chosen: Wanted | str = "images",
    format: str = "parquet",
    *,
    workers: int | Engine = 1,
    progress: Progress = silent,
    tell: Tell = quiet,
) -> Path:
    """Render the scenes of a dataset again, or those of a scene file of CLEVR, into a dataset of its own."""
    positive(workers=workers if isinstance(workers, int) else None)
    with ExitStack() as stack:
        path = Path(dataset)
        folder = stack.enter_context(_opened(path)) if path.suffix == ".json" and path.is_file() else path
        named = path.with_suffix("") if folder != path else path
        return render_scenes(folder, named, out, chosen, format, workers, progress, tell, _described, _about)


def _described(folder: Path) -> tuple[Dataset, Any]:
    """What a folder says of itself; its benchmark may draw in a way of its own."""
    dataset, world = read_dataset(folder)
    if dataset.benchmark in benchmarks.names() and (where := benchmarks.get(dataset.benchmark).dataset_at):
        dataset = benchmarks.get(dataset.benchmark).part(where)(dataset, world)
    return dataset, world


def _about(benchmark: str, settings: Mapping[str, Any]) -> About | None:
    """What the card of rendered scenes says."""
    if benchmark not in benchmarks.names():
        return None
    known = benchmarks.get(benchmark)
    said = " ".join(f"--{name} {value}" for name, value in settings.items() if name != "size" or "x" in str(value))
    again = f"recombine render DATASET {said.replace('-photo', ' --photo')}"
    return About(benchmark, known.title, known.about, known.paper, settings, __version__, again)


def _opened(file: Path) -> Any:
    """A scene file as a dataset, by the benchmark whose file it is."""
    readers = [one for one in benchmarks.every() if one.scene_files_at]
    return readers[0].part(str(readers[0].scene_files_at))(file)
