"""`recombine push`."""

from collections.abc import Mapping
from typing import Annotated, Any

from recombine.store.remote import artefact_or_folder, push
from recombine.store.store import Store
from recombine.verbs import Answer


def run(
    what: str,
    asked: Mapping[str, Any],
    progress: Any,
    place: Annotated[str, "Where to: a folder, s3://bucket/name, or any other address that fsspec knows."],
) -> Answer:
    found = push(artefact_or_folder(what, Store.default()), place, progress)
    return Answer((f"{what} is at {found}",), {"place": found})
