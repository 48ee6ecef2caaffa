"""The verbs of the command line, one file each. They know no benchmark: what they do, they ask a study for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

from recombine.report.answer import Answer as Answer

Open = Callable[..., Any]
"""Opens the study that was asked for; keywords take the place of its options."""
Seeds = Annotated[int, "So many worlds: this seed and those after it, with mean and interval over them."]


class Verb(NamedTuple):
    """What a verb does, an example of it, and what it asks a study for."""

    help: str
    example: str
    method: str | None = None
    """The method of the study whose options it takes."""


VERBS = {
    "list": Verb("The benchmarks, or the splits, tests or question families of one.", "list curi --scale demo", "list"),
    "show": Verb(
        "One episode, question or set of images, and what the ideal learners make of it.",
        "show curi/boolean --number 7 --out episode.html",
        "show",
    ),
    "make": Verb(
        "Make the data: scenes, and episodes or questions about them. Goes on where it was stopped.",
        "make curi --scale laptop --render images,sounds --out data/curi",
        "make",
    ),
    "rows": Verb(
        "Write self-contained rows, one per episode or question, mixed, with the pictures that they use.",
        "rows curi --split boolean --episodes 200 --render images --out data/boolean",
        "export",
    ),
    "fresh": Verb(
        "A test that nobody has seen: rows with pictures, and a certificate of what the ideal learners score on them.",
        "fresh closure --seed 2027 --n 500 --out data/fresh",
        "fresh",
    ),
    "split": Verb(
        "Make a split that holds combinations out and keeps every atom; --split of any command takes the file.",
        "split curi --how mcd --out mcd.json",
        "made_split",
    ),
    "render": Verb(
        "Render the scenes of a dataset again: in another size, as photos, with other instruments.",
        "render data/curi --size 480x320 --out data/curi-large",
    ),
    "gap": Verb(
        "The compositionality gap: strong minus weak ideal learner, beside published values where there are any.",
        "gap curi --split boolean --split counting --edition release",
        "gap",
    ),
    "report": Verb(
        "Everything about a benchmark as one self-contained page: gaps, examples, splits.",
        "report curi --scale demo --out report.html",
        "report",
    ),
    "check": Verb(
        "Check the laws on fresh scenes and concepts; or your files; or the store; or a fresh test by its certificate.",
        "check curi --details",
        "check",
    ),
    "bench": Verb("How fast the parts are on one core, beside the plain reference.", "bench curi", "speeds"),
    "eval": Verb(
        "Score solvers on a benchmark beside its ideal learners; or test the best network of a run again.",
        "eval curi --split counting --solver nearest",
        "score",
    ),
    "train": Verb(
        "Train networks; the same command goes on where it was stopped, and adds seeds, epochs or steps.",
        "train concept-world --split sequences --model cnn --seeds 3",
    ),
    "table": Verb(
        "All finished runs of a folder, mean and interval over seeds, beside the paper's numbers.",
        "table concept-world runs",
    ),
    "weights": Verb(
        "The best network of a run for others: model.safetensors with plain names, config.json, a card.",
        "weights runs/RUN --out weights",
    ),
    "store": Verb("What is kept, how large and how old; verify it, and remove what may go.", "store prune --older 30d"),
    "explore": Verb(
        "Play, write, browse and compare in the browser: a web application on this computer alone.",
        "explore --runs runs",
    ),
    "export": Verb(
        "Rows in the files of another tool: lmms-eval, vlmevalkit, trl, verl, ms-swift or verifiers.",
        "export trl closure --split or_mat --part train --out data/trl",
        "rows",
    ),
    "serve": Verb(
        "The learners of a benchmark behind an OpenAI-style server on this computer, for the rows that are asked for.",
        "serve closure --split or_mat --questions 20 --render images",
        "rows",
    ),
    "push": Verb(
        "Send a dataset or an artefact to any place that fsspec knows: checksummed, resumable, never replaced.",
        "push data/curi s3://bucket/curi",
    ),
    "pull": Verb("Fetch what was pushed, and check every byte.", "pull s3://bucket/curi --out data/curi"),
    "demo": Verb("A small world to look at and listen to, with its gaps, on one page.", "demo --out demo.html"),
}
