"""`recombine show`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine import benchmarks
from recombine.store.errors import UserError
from recombine.store.outputs import free_file
from recombine.verbs import Answer, Open


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    number: Annotated[int, "Which episode, question or image.", ("--number", "--episode", "--question", "--image")] = 0,
    out: Annotated[Path | None, "Write a page (.html) instead, or a picture (.svg) where there is one."] = None,
) -> Answer:
    name, _, split = what.partition("/")
    if not split:
        raise UserError(f"'{what}' names no split; write for example {name}/{benchmarks.get(name).example}")
    if number < 0:
        raise UserError(f"examples count from 0, so there is none with the number {number}")
    if asked.get("sound") and out is None:
        out = Path(f"{name}-{split}-{number}.html")
    with open() as study:
        if out is not None:
            free_file(out, study.shown_as)
        seen = {"pictures": True} if out is not None and "pictures" in study.show.__code__.co_varnames else {}
        view = study.show(split, number, **{**asked, **seen})
        written = None if out is None else view.write(out)
    if written is not None:
        return Answer(data={"file": str(written), **_mapping(view.json())}, notes=(f"wrote {written}",))
    return Answer((view.terminal(),), view.json())


def _mapping(said: Any) -> dict[str, Any]:
    return said if isinstance(said, dict) else {}
