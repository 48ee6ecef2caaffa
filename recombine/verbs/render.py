"""`recombine render`."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from rich.text import Text

from recombine import benchmarks
from recombine.render.rendering import Tell, Wanted, quiet, render_scenes, wanted
from recombine.store.engine import Progress, silent
from recombine.store.outputs import positive
from recombine.verbs import Answer


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
    workers: Annotated[int, "Processes. Default: all cores."] = 1,
    out: Annotated[Path | None, "A new folder. Default: beside the dataset, such as curi-480x320."] = None,
) -> Answer:
    pixels = wanted(kind or ("sounds" if recordings else "images"), size, first, photo, recordings)
    console = Console(stderr=True)

    def tell(sentence: str) -> None:
        console.print(Text(sentence), soft_wrap=True)

    made = render_dataset(what, out, pixels, format, workers=workers, progress=progress, tell=tell)
    return Answer((f"rendered {what} in {made}",), {"folder": str(made)})


def render_dataset(
    dataset: str | Path,
    out: str | Path | None = None,
    chosen: Wanted | str = "images",
    format: str = "parquet",
    *,
    workers: int = 1,
    progress: Progress = silent,
    tell: Tell = quiet,
) -> Path:
    """Render the scenes of a dataset again, or those of a scene file of CLEVR, into a dataset of its own."""
    positive(workers=workers)
    with ExitStack() as stack:
        path = Path(dataset)
        folder = stack.enter_context(_opened(path)) if path.suffix == ".json" and path.is_file() else path
        named = path.with_suffix("") if folder != path else path
        return render_scenes(folder, named, out, chosen, format, workers, progress, tell)


def _opened(file: Path) -> Any:
    """A scene file as a dataset, by the benchmark whose file it is."""
    readers = [one for one in map(benchmarks.get, benchmarks.names()) if one.scene_files_at]
    return readers[0].part(str(readers[0].scene_files_at))(file)
