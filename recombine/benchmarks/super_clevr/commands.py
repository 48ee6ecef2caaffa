"""Looking at pictures of vehicles: what `recombine perceive` and `recombine answer` do with --parser super-clevr."""

from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.clevr.commands import objects_table
from recombine.benchmarks.clevr.program import write_program
from recombine.benchmarks.clevr.trace import steps_in_words
from recombine.benchmarks.super_clevr.english import english_of
from recombine.benchmarks.super_clevr.language import dialect_of
from recombine.report.answer import Answer
from recombine.report.table import Table

NAMES = ("size", "color", "material", "shape", "texture")


def perceive(image: Path, *, parser: Path | None = None, progress: Any = None) -> Answer:
    """recombine perceive image.png --parser super-clevr --json"""
    from recombine.benchmarks.super_clevr import sight

    found = sight.look(image, parser or sight.FILE)
    objects = found.objects()
    return Answer((_table(image, objects),), {"image": str(image), "size": list(found.size), "objects": objects})


def answer(image: Path, *, question: str, parser: Path | None = None, progress: Any = None) -> Answer:
    """recombine answer image.png --parser super-clevr --question "How many buses are there?" """
    from recombine.benchmarks.super_clevr import sight
    from recombine.benchmarks.super_clevr.exam import answer_words
    from recombine.benchmarks.super_clevr.reasoning import REASONERS, surest

    world = sight.VehicleWorld()
    found = sight.look(image, parser or sight.FILE)
    program, dialect = english_of(world).read(question), dialect_of(world)
    plain = surest(found.scenes, 0, dialect)
    steps = [english for _, english in steps_in_words(program, plain)]
    chances = REASONERS["p-nsvqa-joint"]([program], np.zeros(1, int), found.perceived, world, dialect)[0]
    words = answer_words(dialect)
    said, sure = words[int(chances.argmax())], float(chances.max())
    objects = found.objects()
    data = {
        "image": str(image),
        "question": question,
        "answer": said,
        "confidence": round(sure, 4),
        "program": write_program(program, dialect=dialect),
        "trace": steps,
        "objects": objects,
    }
    lines = (f"{n}. {step}" for n, step in enumerate(steps, 1))
    return Answer((_table(image, objects), *lines, f"Answer: {said} ({100 * sure:.0f} % sure)"), data)


def _table(image: Path, objects: list[dict[str, Any]]) -> Table:
    more = {"parts": lambda one: ", ".join(f"{part['color']} {part['part']}" for part in one["parts"])}
    return objects_table(image, objects, "vehicles", NAMES, more, " Parts: those of another look.")
