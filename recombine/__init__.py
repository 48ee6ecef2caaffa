"""Recombine: build, measure and close compositional-generalisation gaps.

import recombine as rc

curi = rc.load("curi", scale="demo", edition="release")
print(curi.gap(["boolean"]).table("mAP").markdown())
"""

from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "load", "names"]


def __getattr__(name: str) -> Any:
    """The verbs of `recombine.api`, imported when they are first used."""
    if name in ("load", "names"):
        from recombine import api

        return getattr(api, name)
    raise AttributeError(f"module 'recombine' has no attribute '{name}'")
