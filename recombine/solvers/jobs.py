"""Many runs: each is done whatever becomes of the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from recombine.solvers.records import read_results
from recombine.store.engine import Engine
from recombine.store.errors import UserError


class Named(Protocol):
    @property
    def name(self) -> str: ...


J = TypeVar("J", bound=Named)


@dataclass(frozen=True)
class _Tried(Generic[J]):
    """Does a job, or says what went wrong."""

    learn: Callable[[J], Any]

    def __call__(self, job: J) -> Any:
        try:
            return self.learn(job)
        except UserError as error:
            return error


def train_all(running: Engine, learn: Callable[[J], Any], jobs: Sequence[J]) -> list[tuple[str, dict[str, Any]]]:
    """Do all jobs, each into the folder that `learn` gives back: their names and results.

    If some fail, the others are done all the same, and then it is said which ones and why.
    """
    folders = running.map(_Tried(learn) if len(jobs) > 1 else learn, jobs, "runs")
    failed = [(job.name, found) for job, found in zip(jobs, folders) if isinstance(found, UserError)]
    if failed:
        (name, error), *others = failed
        also = f"; so did {', '.join(other for other, _ in others)}" if others else ""
        done = "none is done" if len(failed) == len(jobs) else "the others are done"
        raise UserError(f"{len(failed)} of {len(jobs)} runs failed, {done}; {name}: {error}{also}")
    return [(folder.name, read_results(folder) or {}) for folder in folders]
