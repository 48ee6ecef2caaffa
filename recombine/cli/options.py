"""Options of the command line, read off signatures.

A keyword of a function is an option if its annotation carries a text: `seed: Annotated[int, "Another seed ..."] = 0`
is `--seed`. Sequences may be repeated and lose their s, mappings are written name=value; a tuple after the text says
other names: `Annotated[int, "Which one.", ("--number", "--episode")]`.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from rich.markup import escape

from recombine.store.errors import UserError

SIMPLE = (bool, int, float, str, Path)
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Option:
    """A keyword of a function as the command line knows it."""

    name: str
    help: str
    type: Any
    """What one value of it is."""
    many: bool
    named: bool
    """Whether its values are written name=value."""
    default: Any
    word: bool = False
    """Whether it stands in a command without its name."""
    flags: tuple[str, ...] = ()
    """What it is called, where that does not follow from its name."""

    @property
    def flag(self) -> str:
        if self.flags:
            return self.flags[0]
        short = self.name.removesuffix("s") if self.many else self.name
        return "--" + short.replace("_", "-")

    def about(self, unit: str) -> "Option":
        """Of several names, those that suit what is counted: --episodes for episodes, and --number always."""
        mine = tuple(flag for flag in self.flags if flag.strip("-") in ("number", unit, unit.removesuffix("s")))
        return replace(self, flags=mine or self.flags)

    def parameter(self) -> Parameter:
        """For Typer."""
        one: Any = self.type
        kind: Any = list[one] | None if self.many else one if self.default is not None else one | None
        default = CORES if self.name == "workers" else None if self.many else self.default
        said: dict[str, Any] = {
            "help": escape(self.help),
            "show_default": default not in (None, "", False, Parameter.empty),
        }
        option: Any = typer.Argument(**said) if self.word else typer.Option(*(self.flags or [self.flag]), **said)
        return Parameter(self.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])

    def value(self, given: Any) -> Any:
        """What was given, as the function takes it."""
        if not self.many:
            return given
        return dict(map(self._pair, given or ())) if self.named else tuple(given or ())

    def _pair(self, text: str) -> tuple[str, str]:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().replace("-", "").isalnum():
            raise UserError(f"{self.flag} '{text}' must read name=predicate, for example mine=green & cube")
        return name.strip(), value


def options_of(function: Callable[..., Any], words: bool = False) -> dict[str, Option]:
    """The options of a function by name; with `words`, what is not a keyword stands without its name."""
    whole: Any = function
    hints = get_type_hints(whole.__init__ if isinstance(function, type) else whole, include_extras=True)
    found = (_option(one, hints.get(one.name), words) for one in signature(function).parameters.values())
    return {one.name: one for one in found if one is not None}


def _option(parameter: Parameter, annotation: Any, words: bool) -> Option | None:
    help, kinds = _parts(annotation)
    if help is None:
        return None
    flags = next((one for one in getattr(annotation, "__metadata__", ()) if isinstance(one, tuple)), ())
    for kind in kinds:
        origin = get_origin(kind)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return Option(parameter.name, help, str, True, True, None, flags=flags)
        if origin is Literal or kind in SIMPLE:
            word = parameter.kind is Parameter.POSITIONAL_OR_KEYWORD and words
            return Option(parameter.name, help, kind, False, False, parameter.default, word, flags)
        if isinstance(origin, type) and issubclass(origin, Sequence):
            return Option(parameter.name, help, get_args(kind)[0], True, False, None, flags=flags)
    raise TypeError(f"{parameter.name} cannot be an option: {annotation}")


def _parts(annotation: Any) -> tuple[str | None, list[Any]]:
    """The help of an annotation, and the types it allows."""
    if get_origin(annotation) is Annotated:
        inner, *said = get_args(annotation)
        return next((text for text in said if isinstance(text, str)), None), _parts(inner)[1]
    if get_origin(annotation) in (Union, UnionType):
        found = [_parts(one) for one in get_args(annotation) if one is not NoneType]
        return next((help for help, _ in found if help), None), [kind for _, kinds in found for kind in kinds]
    return None, [annotation]


def command(run: Callable[..., Any], options: Iterator[Option], argument: Parameter | None, help: str) -> Callable:
    """A function for Typer with these options, which are handed on in one mapping."""
    every = [*([argument] if argument else []), *(option.parameter() for option in options)]

    def called(**given: Any) -> Any:
        return run(given)

    called.__signature__ = Signature(every)  # type: ignore[attr-defined]
    called.__annotations__, called.__doc__ = {}, help
    return called
