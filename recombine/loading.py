"""Benchmarks by name."""

from typing import TYPE_CHECKING, Any, Literal, overload

from recombine import benchmarks

if TYPE_CHECKING:
    from recombine.benchmarks.clevr.study import Clevr
    from recombine.benchmarks.closure.study import Closure
    from recombine.benchmarks.concept_world.study import ConceptWorld
    from recombine.benchmarks.curi.study import Curi
    from recombine.benchmarks.study import Study
    from recombine.benchmarks.super_clevr.study import SuperClevr


@overload
def load(name: Literal["curi"], **options: Any) -> "Curi": ...
@overload
def load(name: Literal["clevr"], **options: Any) -> "Clevr": ...
@overload
def load(name: Literal["closure"], **options: Any) -> "Closure": ...
@overload
def load(name: Literal["concept-world"], **options: Any) -> "ConceptWorld": ...
@overload
def load(name: Literal["super-clevr"], **options: Any) -> "SuperClevr": ...
@overload
def load(name: str, **options: Any) -> "Study": ...
def load(name: str, **options: Any) -> "Study":
    """A benchmark by its name, ready to be worked with; `options` are those of its class, such as `Curi`.

    In Python a long stage shows a progress bar where there is a terminal or a notebook; `progress=silent` shows none.
    """
    from recombine.store.progress import watched

    return benchmarks.load(name, **{"progress": watched, **options})
