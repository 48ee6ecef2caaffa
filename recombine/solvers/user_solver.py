"""Solvers of one's own: a function, a class or an object with `predict`, and `fit` where it has something to learn.

A function takes what is observed and gives probabilities. What is large is handed over in parts, whole groups at a
time; what is raised or comes back wrong is said in one sentence that names the solver.
"""

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import Any, Self

import numpy as np

from recombine.solvers.features import values
from recombine.solvers.groups import by_group
from recombine.solvers.sitting import checked
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.tasks.examples import Examples, Observed

AT_ONCE = 65_536
"""Rows that a solver is handed at once, if they are of several groups."""


@dataclass(frozen=True, eq=False)
class Own:
    """A solver of one's own, under guard."""

    name: str
    solver: Any

    def needs_training(self, few_shot: bool) -> bool:
        asked = getattr(self.solver, "needs_training", None)
        return hasattr(self.solver, "fit") if asked is None else bool(asked(few_shot))

    def fit(self, train: Examples, key: Key) -> Self:
        """What `fit` returns is what answers; where it returns nothing, the solver itself.

        It is a copy that learns, so that the next test meets a solver that has learnt nothing yet.
        """
        fresh = self._try(deepcopy, self.solver)
        found = self._try(fresh.fit, train, key)
        return type(self)(self.name, fresh if found is None else found)

    def predict(self, test: Observed) -> np.ndarray:
        said = np.empty((np.count_nonzero(~test.given), len(test.answers)))
        for rows, part in parts(test):
            said[rows] = checked(self._try(self._answer, part), said[rows].shape, self.name)
        return said

    def _answer(self, test: Observed) -> Any:
        return self.solver.predict(test) if hasattr(self.solver, "predict") else self.solver(test)

    def _try(self, run: Callable[..., Any], *words: Any) -> Any:
        try:
            return run(*words)
        except UserError:
            raise
        except (Exception, SystemExit) as error:  # whatever a user's code may raise
            raise UserError(f"{self.name} has failed: {_said(error)}") from error


def own(solver: Any, name: str = "") -> Own:
    """A solver of one's own: a function, a class that needs no arguments, or an object with `predict`."""
    name = name or getattr(solver, "__name__", type(solver).__name__)
    if isinstance(solver, type):
        solver = Own(name, None)._try(solver)
    if not hasattr(solver, "predict") and not callable(solver):
        raise UserError(f"{name} is no solver: give a function of what is observed, or an object with predict")
    return Own(name, solver)


def read_solver(place: str) -> Own:
    """The solver at FILE.py:NAME."""
    file, _, name = place.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise UserError(f"there is no file {path}; write FILE.py:NAME for a solver of your own")
    found = getattr(_module(path), name, None)
    if found is None:
        raise UserError(f"{path} defines no '{name}'; write FILE.py:NAME with the name of a function or a class")
    return own(found, name)


def _module(path: Path) -> Any:
    """A user's file as a module."""
    spec = spec_from_file_location(f"own_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} is no Python file; its name must end in .py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    beside = str(path.parent.absolute())
    if beside not in sys.path:
        sys.path.append(beside)  # it may import what stands beside it
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UserError(f"{path} cannot be read: {_said(error)}") from error
    return module


def _said(error: BaseException) -> str:
    """What was raised, and in which line of the user's file, in one line."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    steps = [step for step in extract_tb(error.__traceback__) if step.filename[:1] != "<" and step.filename != __file__]
    here = [step for step in steps if step.filename == steps[0].filename]
    return f"{text} ({Path(here[-1].filename).name}, line {here[-1].lineno})" if here else text


def parts(test: Observed, most: int = AT_ONCE) -> Iterator[tuple[np.ndarray, Observed]]:
    """A test in parts of whole groups, of so many rows or of one group; and the places of each among the asked rows."""
    order = np.argsort(test.group, kind="stable")
    place = np.cumsum(~test.given) - 1  # of a row among the asked ones
    told = np.cumsum(test.given) - 1
    for low, high in _cuts(test.group[order], most):
        rows = order[low:high]
        given, names = test.given[rows], test.concepts
        yield (
            place[rows[~given]],
            Observed(
                test.scenes,
                test.answers,
                test.scene[rows],
                test.group[rows],
                given,
                test.shown[told[rows[given]]],
                None if names is None else tuple(names[row] for row in rows),
                None if test.text is None else test.text[rows],
            ),
        )


def _cuts(group: np.ndarray, most: int) -> Iterator[tuple[int, int]]:
    """Where parts begin and end, among rows in the order of their groups."""
    ends = [*(np.flatnonzero(np.diff(group)) + 1).tolist(), len(group)]
    low = high = 0
    for end in ends:
        if end - low > most and high > low:
            yield low, high
            low = high
        high = end
    if high > low:
        yield low, high


def inputs(test: Observed) -> np.ndarray:
    """Every asked row as numbers, for networks that want such: float32[asked, features].

    How many objects its scene has with each value; and for each answer the mean of the same over the scenes that its
    group shows with it, zero where it shows none.
    """
    rows = by_group(test)
    seen, shown = (values(test.scenes[chosen]).astype(np.float32) for chosen in (rows.scenes, rows.shown))
    group = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
    columns = [seen[rows.place]]
    for answer in range(len(test.answers)) if len(shown) else ():
        means = _means(shown, rows.target == answer, rows.shown_start)
        columns.append(means[group])
    found = np.empty((len(rows.order), sum(column.shape[1] for column in columns)), np.float32)
    found[rows.order] = np.concatenate(columns, axis=1)
    return found


def _means(shown: np.ndarray, chosen: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The mean of the chosen rows of each group, float32[groups, features]."""
    group = np.repeat(np.arange(len(start) - 1), np.diff(start))[chosen]
    total = np.zeros((len(start) - 1, shown.shape[1]), np.float32)
    np.add.at(total, group, shown[chosen])
    return total / np.maximum(np.bincount(group, minlength=len(total)), 1)[:, None].astype(np.float32)
