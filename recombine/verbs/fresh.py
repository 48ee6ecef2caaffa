"""`recombine fresh`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.verbs import Answer, Open
from recombine.verbs.make import teller


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    out: Annotated[Path, "A new folder for rows, card and certificate."] = Path("fresh"),
) -> Answer:
    from recombine.benchmarks.fresh import certificate_of

    with open() as study:
        folder = study.fresh(out, **asked, tell=teller([]))
    certificate = certificate_of(folder)
    scores = ", ".join(
        f"{who} {one['value']:.1f} [{one['low']:.1f}, {one['high']:.1f}]" for who, one in certificate["all"].items()
    )
    text = f"{folder} holds {certificate['rows']:,} rows of {what} that nobody has seen: {scores}"
    return Answer((text, f"certificate {certificate['digest']}"), {"folder": str(folder), **certificate})
