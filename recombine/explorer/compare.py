"""Runs in a folder: their tables beside the paper's, their learning curves, and their networks as solvers."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from recombine import benchmarks
from recombine.benchmarks.exploring import Explorer
from recombine.benchmarks.networks import Networks, job_of, solver_of
from recombine.benchmarks.run_tables import curve_figure
from recombine.benchmarks.runs import read_outcomes, with_ideal
from recombine.report.figures import stand_alone
from recombine.report.table import Table
from recombine.solvers.sitting import Answering
from recombine.solvers.training.records import runs_of
from recombine.store.engine import Progress
from recombine.store.errors import UserError
from recombine.store.store import Store


def table_json(table: Table) -> dict[str, Any]:
    """A table as its texts."""
    columns = [{"name": column.name, "align": column.align} for column in table.columns]
    return {"title": table.title, "columns": columns, "rows": table.texts(), "note": table.note}


class Runs:
    """The runs of a folder. It is read when something is asked of it; a name that it does not hold opens nothing."""

    def __init__(self, folder: Path | None, store: Store | None) -> None:
        self.folder, self.store = folder, store
        self.figures: dict[str, str] = {}
        self._solvers: dict[str, Answering] = {}

    def _networks(self) -> list[Networks[Any]]:
        found = (one.networks for one in benchmarks.every() if one.networks_at)
        return [one for one in found if one is not None]

    def of(self, benchmark: str, split: str | None = None) -> list[str]:
        """The finished runs of a benchmark, or of a split."""
        if self.folder is None:
            return []
        found = []
        for folder, config, results in runs_of(self.folder, benchmark):
            if results is None:
                continue
            job = job_of(config, folder)
            if split is None or job.networks.sits(job, split):
                found.append(folder.name)
        return found

    def answering(self, opened: Explorer, split: str) -> dict[str, Answering]:
        """The networks that were trained on the data that the explorer shows, and can be asked about single items."""
        found = {}
        for run in self.of(opened.study.name, split):
            with suppress(UserError):
                found[run] = self.solver(opened, run)
        return found

    def solver(self, opened: Explorer, run: str) -> Answering:
        """The best network of a run."""
        if run not in self._solvers:
            assert self.folder is not None
            if run not in self.of(opened.study.name):
                raise UserError("there is no run of this name")
            found = solver_of(self.folder / run, opened.study)
            if found is None:
                raise UserError(f"the network of {run} cannot be asked about single items")
            self._solvers[run] = found
        return self._solvers[run]

    def compared(self, progress: Progress) -> list[dict[str, Any]]:
        """By benchmark: tables of scores, and the names of the figures that `figure` gives."""
        found = []
        for networks in self._networks() if self.folder is not None else ():
            assert self.folder is not None
            if not any(results for *_, results in runs_of(self.folder, networks.benchmark)):
                continue
            self.figures = {name: one for name, one in self.figures.items() if not name.startswith(networks.benchmark)}
            outcomes = with_ideal(read_outcomes(networks, self.folder), self.store or Store.default(), progress)
            tables: list[Table] = networks.tables(outcomes)
            curves: list[dict[str, str]] = []
            for world, groups in outcomes.worlds():
                figure = curve_figure(world, groups, outcomes.ideal)
                if figure is not None:
                    name = f"{networks.benchmark}-{len(curves)}"
                    self.figures[name] = stand_alone(figure.svg)
                    self.figures[f"{name}-narrow"] = stand_alone(figure.narrow)
                    curves.append({"name": name, "caption": figure.caption})
            found.append(
                {
                    "benchmark": networks.benchmark,
                    "title": networks.title,
                    "tables": [table_json(table) for table in tables],
                    "curves": curves,
                    "splits": list(dict.fromkeys(group.job.split for group in outcomes.groups)),
                    "unfinished": list(outcomes.unfinished),
                }
            )
        return found
