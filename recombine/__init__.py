"""Recombine: build, measure and close compositional-generalisation gaps.

import recombine as rc

curi = rc.load("curi", scale="demo", edition="release")
print(curi.gap(["boolean"]).table("mAP").markdown())

rc.draw("f_pent west of z_pent", n=16).write("sheet.png")
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"
_HOMES = {
    "load": "api",
    "names": "api",
    "check": "api",
    "bench": "api",
    "render_dataset": "api",
    "wanted": "api",
    "score": "api",
    "train": "api",
    "evaluate": "api",
    "table": "api",
    "results_page": "api",
    "inputs": "solvers.own",
    "draw": "verbs.drawing",
    "count": "verbs.drawing",
    "recognise": "verbs.drawing",
    "Scale": "benchmarks.curi.study",
    "Edition": "benchmarks.curi.edition",
    "Kind": "benchmarks.curi.language",
    "Lot": "benchmarks.curi.language",
    "Attribute": "world.vocabulary",
    "Vocabulary": "world.vocabulary",
    "Uniform": "world.distribution",
    "Where": "language.query",
    "uses": "language.query",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    """The shop window: each name is imported when it is first used."""
    if name not in _HOMES:
        raise AttributeError(f"module 'recombine' has no attribute '{name}'")
    return getattr(import_module(f"recombine.{_HOMES[name]}"), name)
