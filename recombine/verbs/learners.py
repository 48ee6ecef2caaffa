"""What one can do with networks: train them, test them, and put many runs into a table beside the paper's.

Each benchmark that has networks brings the same four verbs; here they are found by the benchmark's name.
"""

from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

from recombine.benchmarks.concept_world import networks as concept_world_learners
from recombine.benchmarks.curi import networks as curi_learners
from recombine.report.table import Table
from recombine.solvers.records import read_config
from recombine.solvers.training import need_torch
from recombine.store.errors import UserError

LEARNING: dict[str, ModuleType] = {"concept-world": concept_world_learners, "curi": curi_learners}
"""The benchmarks that have networks."""


def train(benchmark: str, parts: Any = (), models: Any = (), *, device: str = "auto", **options: Any) -> Table:
    """Train networks on parts of a benchmark (splits or experiments); what is done already is kept."""
    need_torch()
    verb = _verb(benchmark, "train", options)
    return verb(parts, models, device=_device(device), **options)


def _device(wanted: str) -> str:
    from recombine.solvers.train import devices

    return devices()[0] if wanted == "auto" else wanted


def evaluate(run: str | Path, **options: Any) -> list[Table]:
    """Test a run again with its best weights."""
    need_torch()
    benchmark = str(read_config(Path(run)).get("benchmark"))
    return _verb(benchmark, "evaluate", options)(run, **options)


def table(benchmark: str, runs: str | Path = "runs", **options: Any) -> list[Table]:
    """The finished runs of a folder beside the paper's numbers."""
    return _verb(benchmark, "table", options)(runs, **options)


def brief(benchmark: str, table: Table) -> Table:
    """A table of `table` as wide as a terminal."""
    short: Table = LEARNING[benchmark].brief(table)
    return short


def results_page(benchmark: str, runs: str | Path, out: str | Path, **options: Any) -> Path:
    """The finished runs of a folder as a page with figures."""
    return _verb(benchmark, "results_page", options)(runs, out, **options)


def _verb(benchmark: str, name: str, options: dict[str, Any]) -> Any:
    """A verb of a benchmark, which must have all these options."""
    if benchmark not in LEARNING:
        raise UserError(f"there are no networks for '{benchmark}'; choose {' or '.join(LEARNING)}")
    verb = getattr(LEARNING[benchmark], name)
    unknown = sorted(set(options) - set(signature(verb).parameters))
    if unknown:
        raise UserError(f"{benchmark} has no option --{_dashed(unknown[0])} here; it has {_own_options(verb)}")
    return verb


def _own_options(verb: Any) -> str:
    """The options that not every benchmark has."""
    shared = set.intersection(*(set(signature(getattr(one, verb.__name__)).parameters) for one in LEARNING.values()))
    own = [name for name in signature(verb).parameters if name not in {*shared, "splits", "experiments"}]
    return ", ".join(f"--{_dashed(name)}" for name in own) or "none of its own"


def _dashed(name: str) -> str:
    return name.replace("_", "-")
