"""What the rooms of the explorer ask for: plain data from studies, which are opened when they are first needed."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from threading import Lock, RLock
from typing import Any

import numpy as np

from recombine import benchmarks
from recombine.benchmarks.exploring import Explorer, explorer, said_of
from recombine.benchmarks.study import Study
from recombine.explorer.compare import Runs, table_json
from recombine.language.expr import place_of
from recombine.solvers.sitting import Answering, taught
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.store.store import Store

LONGEST = 8_000
"""Letters of a text that is read."""
KEPT = 64 * 2**20
"""Bytes of pictures and sounds that are kept."""


class Kept:
    """Pictures and sounds that were made, the last used ones."""

    def __init__(self, room: int = KEPT) -> None:
        self.room, self.size = room, 0
        self.found: OrderedDict[tuple[str, str, int], bytes] = OrderedDict()

    def get(self, key: tuple[str, str, int], make: Callable[[], bytes]) -> bytes:
        if key in self.found:
            self.found.move_to_end(key)
            return self.found[key]
        made = self.found[key] = make()
        self.size += len(made)
        while self.size > self.room and len(self.found) > 1:
            self.size -= len(self.found.popitem(last=False)[1])
        return made


class Rooms:
    """Everything that can be asked for. One request is worked on at a time: studies are not made for several."""

    def __init__(
        self, store: Store | None = None, runs: Path | None = None, studies: Mapping[str, Study] | None = None
    ) -> None:
        self.store, self.studies = store, studies or {}
        self.lock = RLock()
        self.stage: tuple[str, int, int] | None = None
        self.kept = Kept()
        self.runs = Runs(runs, store)
        self._open: dict[str, Explorer] = {}
        self._taught: dict[tuple[str, str, str], Answering] = {}
        self.thinking = Lock()
        self.thinkers: dict[str, Answering] = {}

    # --- what there is

    def progress(self, stage: str, done: int, total: int) -> None:
        """What is being made, for a person who waits."""
        self.stage = (stage, done, total) if done < total else None

    def explorer(self, name: str) -> Explorer:
        if name not in benchmarks.names():
            raise UserError(f"there is no benchmark of this name; choose one of {', '.join(benchmarks.names())}")
        if name not in self._open:
            study = self.studies.get(name)
            self._open[name] = explorer(study or benchmarks.get(name).study(store=self.store, progress=self.progress))
        return self._open[name]

    def warm(self) -> None:
        """Load what the first page needs while the browser starts; what goes wrong is said when it is asked for."""
        with self.lock, suppress(Exception):
            names = self.names()
            first = max(names, key=lambda one: len(one["seen"]))["name"]
            opened = self.explorer(first)
            self.round(first, opened.study.benchmark.example, 0)
            self.picture(first, 0)

    def close(self) -> None:
        for one in self._open.values():
            one.study.close()

    def names(self) -> list[dict[str, Any]]:
        """The benchmarks, without opening them."""
        found = []
        for benchmark in benchmarks.every():
            kind = benchmark.part(benchmark.explorer_at) if benchmark.explorer_at else Explorer
            found.append(
                {
                    "name": benchmark.name,
                    "title": benchmark.title,
                    "about": benchmark.about,
                    "paper": benchmark.paper,
                    "example": benchmark.example,
                    "languages": kind.languages,
                    "asks": kind.asks,
                    "seen": kind.seen,
                    "pixelated": kind.pixelated,
                }
            )
        return found

    def about(self, name: str) -> dict[str, Any]:
        """Splits, scenes and who can be compared."""
        opened = self.explorer(name)
        splits = [{"name": one, "title": title, "about": about} for one, title, about in opened.splits]
        return {
            "name": name,
            "splits": splits,
            "scenes": opened.scenes,
            "pixels": opened.pixels,
            "layouts": opened.layouts,
            "settings": opened.study.settings,
            "solvers": self.solvers(name),
            "thinker": opened.thinker,
            "whom": opened.whom,
            "heard": opened.heard,
        }

    def tables(self, name: str) -> list[dict[str, Any]]:
        return [table_json(table) for table in self.explorer(name).tables()]

    def factors(self, name: str, layout: int = 0) -> Any:
        return plain(list(self.explorer(name).factors(layout)))

    # --- playing

    def round(self, name: str, split: str, number: int) -> Any:
        return plain(self.explorer(name).round(split, number))

    def solution(self, name: str, split: str, number: int) -> Any:
        opened = self.explorer(name)
        return plain(opened.solution(split, number, self.runs.answering(opened, split)))

    def thought(self, name: str, split: str, number: int) -> Any:
        """What the learner says that weighs a whole language. Other requests are answered while it thinks."""
        with self.lock:
            opened = self.explorer(name)
            if not (who := opened.thinker):
                raise UserError(f"{opened.study.benchmark.title} has no learner that weighs a whole language")
            examples, order = opened.rows(split, number)
        with self.thinking:
            if name not in self.thinkers:
                solver = opened.study.solvers_named(who)[who]
                assert solver is not None
                self.thinkers[name] = solver
            return plain(said_of(self.thinkers[name], examples, order, who))

    # --- writing and looking

    def read(self, name: str, text: str, first: int) -> Any:
        return plain(self.explorer(name).read(short(text), first))

    def filtered(self, name: str, text: str, first: int) -> Any:
        return plain(self.explorer(name).filtered(short(text), first))

    def shots(self, name: str, first: int, many: int) -> Any:
        """Scenes by their numbers."""
        opened = self.explorer(name)
        last = min(first + many, opened.scenes)
        return {
            "total": opened.scenes,
            "shots": [{"number": n, "words": "", "picture": ""} for n in range(first, last)],
        }

    def scene(self, name: str, number: int) -> Any:
        return plain(self.explorer(name).scene(number))

    def picture(self, name: str, number: int) -> bytes:
        opened = self.explorer(name)
        return self.kept.get((name, "picture", number), lambda: opened.picture(number))

    def large(self, name: str, number: int) -> bytes:
        opened = self.explorer(name)
        return self.kept.get((name, "large", number), lambda: opened.large(number))

    def sound(self, name: str, number: int) -> bytes:
        opened = self.explorer(name)
        return self.kept.get((name, "sound", number), lambda: opened.sound(number))

    # --- comparing

    def solvers(self, name: str) -> list[str]:
        """Who can be compared: ideal learners, baselines, and the networks of runs."""
        opened = self.explorer(name)
        return ["strong", "weak", *opened.study.baselines, *self.runs.of(name)]

    def _solver(self, opened: Explorer, split: str, who: str) -> Answering:
        exam = opened.exam(split)
        ideal = opened.study.learners(exam)
        if who in ideal:
            return ideal[who]
        if who in self.runs.of(opened.study.name):
            return self.runs.solver(opened, who)
        if who not in opened.study.baselines:
            raise UserError(
                f"there is no solver of this name; choose one of {', '.join(self.solvers(opened.study.name))}"
            )
        key = opened.study.name, split, who
        if key not in self._taught:
            solver = opened.study.solvers_named(who)[who]
            assert solver is not None
            self._taught[key] = taught(solver, exam, Key(opened.study.seed) / "score" / who / exam.name)
        return self._taught[key]

    def differences(self, name: str, split: str, one: str, other: str) -> Any:
        opened = self.explorer(name)
        sides = self._solver(opened, split, one), self._solver(opened, split, other)
        return plain(opened.differences(split, *sides))

    def compared(self) -> Any:
        """Tables and curves of all runs in the folder."""
        return self.runs.compared(self.progress)


def short(text: str) -> str:
    """A text, refused if nobody would write so much."""
    if len(text) > LONGEST:
        raise UserError(f"a text of {len(text):,} letters is longer than the {LONGEST:,} allowed")
    return text


def plain(value: Any) -> Any:
    """Frozen values as JSON takes them; numbers that JSON does not know become nothing."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, str) or not isinstance(value, Iterable):
        return None if isinstance(value, float) and not np.isfinite(value) else value
    return [plain(one) for one in value]


def pointed_at(error: UserError, text: str) -> dict[str, Any]:
    """What is wrong with a text, and where."""
    said = str(error)
    at = place_of(said, text)
    if at is None:
        at = _by_line(said, text)
        said = said if at is None else said.partition(": ")[2]
    if "⟨here⟩" in said:
        said = said.rpartition("': ")[2] or said
    return {"error": said, "at": at}


def _by_line(message: str, text: str) -> int | None:
    """The place of an error that begins with the name of a text, a line and a column."""
    head, _, rest = message.partition(">:")
    line, _, rest = rest.partition(":")
    column = rest.partition(":")[0]
    if not head.startswith("<") or not (line.isdigit() and column.isdigit()):
        return None
    before = text.splitlines(keepends=True)[: int(line) - 1]
    return min(len(text), sum(map(len, before)) + int(column) - 1)
