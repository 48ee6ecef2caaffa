"""`recombine pull`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.store.remote import pull
from recombine.verbs import Answer


def run(
    what: str,
    asked: Mapping[str, Any],
    progress: Any,
    *,
    out: Annotated[Path | None, "A new folder for a dataset. Default, for an artefact: the store."] = None,
) -> Answer:
    folder = pull(what, out, progress=progress)
    return Answer((f"{what} is in {folder}",), {"folder": str(folder)})
