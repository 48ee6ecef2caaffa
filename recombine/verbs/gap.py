"""`recombine gap`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from recombine.report.gaps import over_worlds
from recombine.store.outputs import free_file, positive, write_file
from recombine.verbs import Answer, Open, Seeds


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    seeds: Seeds = 1,
    out: Annotated[Path | None, "Write the records as JSON to this file instead."] = None,
) -> Answer:
    positive(seeds=seeds)
    if out is not None:
        free_file(out, (".json",))
    with open() as study:
        found, first = [study.gap(**asked)], study.seed
    for seed in range(first + 1, first + seeds):
        with open(seed=seed) as study:
            found.append(study.gap(**asked))
    gaps = over_worlds(found)
    if out is None:
        return Answer(tuple(gaps.briefs()), gaps.json())
    write_file(out, json.dumps(gaps.json(), indent=1))
    return Answer(data=gaps.json(), notes=(f"wrote {out}",))
