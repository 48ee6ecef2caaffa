"""CLEVR's own commands: look at a picture, answer a question about it."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from recombine import benchmarks
from recombine.benchmarks.clevr.language import ATTRIBUTES
from recombine.benchmarks.clevr.meaning import Plainly, answer_text, trace
from recombine.benchmarks.clevr.program import write_program
from recombine.benchmarks.clevr.trace import plain_scene, steps_in_words
from recombine.report.answer import Answer
from recombine.report.table import Column, Table
from recombine.store.errors import UserError

Image = Annotated[Path, "A picture (.png) of solids on a gray floor: CLEVR's own, or one of yours; 3:2 or 4:3."]
ParserFile = Annotated[
    Path | None,
    "A parser that you trained (.safetensors), or the name of a benchmark that has one, such as super-clevr. "
    "Default: CLEVR's own.",
]


def perceive(image: Image, *, parser: ParserFile = None, progress: Any = None) -> Answer:
    """recombine perceive image.png --json"""
    from recombine.benchmarks.clevr import sight

    if (other := _of_another(parser, "perceive")) is not None:
        return other(image)
    found = sight.look(image, parser if parser and str(parser) != "clevr" else sight.FILE)
    objects = found.objects()
    return Answer((objects_table(image, objects),), {"image": str(image), "size": list(found.size), "objects": objects})


def answer(
    image: Image,
    *,
    question: Annotated[str, "A question in CLEVR's English, such as 'How many red cubes are there?'"],
    parser: ParserFile = None,
    progress: Any = None,
) -> Answer:
    """recombine answer image.png --question "What color is the large sphere?" """
    from recombine.benchmarks.clevr import sight
    from recombine.benchmarks.clevr.study import read_any

    if (other := _of_another(parser, "answer")) is not None:
        return other(image, question=question)
    found = sight.look(image, parser if parser and str(parser) != "clevr" else sight.FILE)
    program = read_any(question)
    plain = plain_scene(found.scenes, 0, found.related)
    steps = [english for _, english in steps_in_words(program, plain)]
    said = _answered(program, plain)
    objects = found.objects()
    data = {
        "image": str(image),
        "question": question,
        "answer": said,
        "program": write_program(program),
        "trace": steps,
        "objects": objects,
    }
    if said is None:
        raise UserError(f"the question has no answer in {image}: {steps_until(steps)}")
    return Answer(
        (objects_table(image, objects), *(f"{n}. {step}" for n, step in enumerate(steps, 1)), f"Answer: {said}"), data
    )


def _of_another(parser: Path | None, command: str) -> Callable[..., Answer] | None:
    """The same command of the benchmark that a parser belongs to, where that is another that has a parser."""
    if parser is None or str(parser) == "clevr":
        return None
    if str(parser) in benchmarks.names() and not parser.exists():
        found, file = benchmarks.get(str(parser)), None
    else:
        from recombine.solvers.perception import Parser

        world = Parser.load(parser).world if parser.exists() else ""
        if world == "clevr" or world not in benchmarks.names():
            return None
        found, file = benchmarks.get(world), parser
    run: Callable[..., Answer] = partial(found.part(f"commands:{command}"), parser=file)
    return run


def _answered(program: Any, plain: Plainly) -> str | None:
    last = trace(program, plain)[-1]
    return None if last.value is None else answer_text(last.kind, last.value)


def steps_until(steps: list[str]) -> str:
    """The step at which it ends."""
    return next((step for step in steps if "undefined" in step), steps[-1])


def objects_table(
    image: Path,
    objects: list[dict[str, Any]],
    things: str = "objects",
    names: tuple[str, ...] = ATTRIBUTES,
    more: Mapping[str, Callable[[dict[str, Any]], str]] = MappingProxyType({}),
    note: str = "",
) -> Table:
    """What stands in a picture; `more` columns have what another benchmark tells of an object."""
    heads = [*names, "sure", "least sure of", "place", "box", *more]
    rows = []
    for number, one in enumerate(objects):
        least = min(ATTRIBUTES, key=lambda name: max(one["beliefs"][name].values()))
        rows.append(
            (
                number,
                *(one[name] for name in names),
                f"{100 * one['confidence']:.0f} %",
                f"{least} {100 * max(one['beliefs'][least].values()):.0f} %",
                " ".join(f"{x:+.1f}" for x in one["place"]),
                " ".join(f"{x:.0f}" for x in one["box"]),
                *(tell(one) for tell in more.values()),
            )
        )
    columns = (Column("", "right"), *(Column(name, "right" if name == "sure" else "left") for name in heads))
    said = f"Place: on the ground, x and y. Box: left, top, width and height in pixels.{note}"
    return Table(f"{image}: {len(objects)} {things}", columns, tuple(rows), said)
