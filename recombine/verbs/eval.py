"""`recombine eval`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from recombine import benchmarks
from recombine.benchmarks.scoring import brief, over_worlds
from recombine.store.errors import UserError
from recombine.store.outputs import positive
from recombine.verbs import Answer, Open, Seeds, learners


def run(
    what: str,
    open: Open,
    asked: Mapping[str, Any],
    *,
    solvers: Annotated[Sequence[str], "A baseline such as nearest, or your own: FILE.py:NAME. Default: all."] = (),
    seeds: Seeds = 1,
) -> Answer:
    positive(seeds=seeds)
    if what not in benchmarks.names():
        if not Path(what).exists():
            known = ", ".join(benchmarks.names())
            raise UserError(f"there is no benchmark and no folder '{what}'; choose {known}, or a run")
        if solvers or seeds > 1:
            raise UserError(f"{'solvers' if solvers else 'seeds'} are for benchmarks; leave them out to test a run")
        tables = learners.evaluate(what)
        return Answer(tuple(tables), [table.json() for table in tables])
    with open() as study:
        found, first = [study.score(solvers or None, **asked)], study.seed
    for seed in range(first + 1, first + seeds):
        with open(seed=seed) as study:
            found.append(study.score(solvers or None, **asked))
    table = over_worlds(found)
    return Answer((brief(table),), table.json())
