"""The benchmarks: one folder each, here or in a package of somebody else's. There is no list of them to keep.

A folder with a `BENCHMARK` is a benchmark; a package registers one with an entry point of the group
`recombine.benchmarks`. A `Benchmark` costs nothing to import: what it brings is imported when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import signature
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

from recombine.store.errors import UserError
from recombine.tasks.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recombine.benchmarks.language import Language
    from recombine.benchmarks.networks import Networks
    from recombine.benchmarks.study import Study

GROUP = "recombine.benchmarks"
PLAIN = Verifier()


@dataclass(frozen=True)
class Benchmark:
    """What a benchmark is called, and where its parts are: `module:Name`, seen from its package."""

    name: str
    title: str
    about: str
    paper: str
    package: str
    """The folder: `__name__` in its `__init__.py`."""
    held_out: int
    """How many of its splits hold combinations out."""
    example: str
    """A split, test or family to show."""
    study_at: str = "study:Study"
    language_at: str = "language:LANGUAGE"
    networks_at: str | None = None
    """None where it has no networks."""
    scene_files_at: str | None = None
    """Opens a scene file of the original as the folder of a dataset; None where there are no such files."""
    dataset_at: str | None = None
    """Has a dataset that was read from a folder draw in the benchmark's own way; None where it is drawn as usual."""
    reader_at: str | None = None
    """Reads a question in words as a program, where it has questions."""
    explorer_at: str | None = None
    """What people can do with it in the explorer; None for what every benchmark has there."""
    verifier_at: str | None = None
    """How answers in words are read and scored; None where only the options themselves are answers."""
    sounds: bool = False
    """Whether its scenes can be heard."""
    commands: Mapping[str, str] = field(default_factory=dict)
    """Further commands of the command line: what each does, in a sentence. `commands.py` has a function for each."""

    @property
    def study(self) -> type[Study]:
        """What one can do with it."""
        from recombine.benchmarks.study import Study

        found = self.part(self.study_at)
        if not (isinstance(found, type) and issubclass(found, Study)):
            raise UserError(f"benchmark '{self.name}' needs a class of Study at {self.study_at}, not {found!r}")
        if lacking := sorted(found.__abstractmethods__):
            raise UserError(f"benchmark '{self.name}' lacks {' and '.join(lacking)} in {self.study_at}")
        if getattr(found, "name", None) != self.name:
            raise UserError(f"benchmark '{self.name}' lacks its name in {self.study_at}: name = \"{self.name}\"")
        return found

    @property
    def language(self) -> Language:
        """World, signature, meanings, splits: what the laws hold for."""
        from recombine.benchmarks.language import Language

        return self._made(self.language_at, Language)

    @property
    def networks(self) -> Networks | None:
        """What it takes to train networks on it."""
        from recombine.benchmarks.networks import Networks

        return None if self.networks_at is None else self._made(self.networks_at, Networks)

    @property
    def verifier(self) -> Verifier:
        """How answers in words are read and scored."""
        return PLAIN if self.verifier_at is None else self._made(self.verifier_at, Verifier)

    def part(self, where: str) -> Any:
        """What stands at `module:Name` of its package."""
        module, _, what = where.partition(":")
        full = f"{self.package}.{module}"
        try:
            home = import_module(full)
        except Exception as error:
            if isinstance(error, ModuleNotFoundError) and error.name == full:
                raise UserError(f"benchmark '{self.name}' lacks {where}: add {module}.py to {self.package}") from error
            raise _unloaded(self.name, full, error) from error
        if not hasattr(home, what):
            raise UserError(f"benchmark '{self.name}' lacks {where}: {full} defines no {what}")
        return getattr(home, what)

    def _made(self, where: str, kind: type[Any]) -> Any:
        """What stands there, which has to be a value of this kind."""
        found = self.part(where)
        if not isinstance(found, kind):
            raise UserError(f"benchmark '{self.name}' needs a {kind.__name__} at {where}, not {found!r}")
        return found


@cache
def _plugins() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def _folders() -> tuple[str, ...]:
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/__init__.py")))


def names() -> list[str]:
    """The benchmarks there are: those that come with the package, then those of others."""
    own = [folder.replace("_", "-") for folder in _folders()]
    return [*own, *sorted(set(_plugins()) - set(own))]


def every(told: list[str] | None = None) -> list[Benchmark]:
    """The benchmarks that can be loaded; what the others lack is told, and hinders nobody who does without them."""
    found = []
    for name in names():
        try:
            found.append(get(name))
        except UserError as error:
            if told is not None:
                told.append(str(error))
    return found


@cache
def get(name: str) -> Benchmark:
    """The benchmark of this name; `concept-world` is the folder concept_world."""
    if name.replace("-", "_") in _folders():
        found = import_module(f"{__name__}.{name.replace('-', '_')}")
        return _checked(name, getattr(found, "BENCHMARK", None), f"{found.__name__} defines no BENCHMARK")
    if name not in _plugins():
        raise UserError(f"there is no benchmark '{name}'; choose one of {', '.join(names())}")
    point = _plugins()[name]
    try:
        loaded = point.load()
    except Exception as error:
        raise _unloaded(name, point.value, error) from error
    return _checked(name, loaded, f"its entry point {point.value} is a {type(loaded).__name__}")


def _unloaded(name: str, where: str, error: Exception) -> UserError:
    """What somebody's code raised when it was imported, and where."""
    if isinstance(error, UserError):
        return error
    frames = extract_tb(error.__traceback__)
    theirs = [one for one in frames if one.filename != __file__ and "importlib" not in one.filename]
    place = "".join(f" ({one.filename}, line {one.lineno})" for one in theirs[-1:])
    return UserError(f"benchmark '{name}' cannot be loaded from {where}: {type(error).__name__}: {error}{place}")


def _checked(name: str, found: object, otherwise: str) -> Benchmark:
    if not isinstance(found, Benchmark):
        raise UserError(f"benchmark '{name}' needs a Benchmark called BENCHMARK, but {otherwise}")
    if found.name != name:
        raise UserError(f"benchmark '{name}' calls itself '{found.name}'; its BENCHMARK needs the name '{name}'")
    return found


def load(name: str, **options: Any) -> Study:
    """A benchmark, ready to be worked with; `options` are those of its class."""
    study = get(name).study
    known = [one for one in signature(study).parameters]
    if unknown := [option for option in options if option not in known]:
        raise UserError(f"{name} has no option '{unknown[0]}'; it has {', '.join(known)}")
    return study(**options)
