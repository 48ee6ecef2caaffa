"""`recombine make`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.verbs import Answer, Open


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    out: Annotated[Path | None, "A new folder for the files. Default: the store only."] = None,
) -> Answer:
    told: list[str] = []
    with open() as study:
        folder = study.make(out, **asked, tell=teller(told))
    return told_of(folder, told, f"made {what} in {folder}")


def told_of(folder: Path, told: list[str], otherwise: str) -> Answer:
    """What was made, or that it was there already."""
    text = f"{folder} was made before" if told and told[-1].endswith("already") else otherwise
    return Answer((text,), {"folder": str(folder)})


def teller(told: list[str]) -> Any:
    """Says at once what will take long, and remembers it."""
    from rich.text import Text

    from recombine.store.text import console

    terminal = console(stderr=True)

    def tell(sentence: str) -> None:
        told.append(sentence)
        terminal.print(Text(sentence), soft_wrap=True)

    return tell
