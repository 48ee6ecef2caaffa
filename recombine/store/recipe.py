"""Recipes: what decides an artefact's bytes, written as canonical JSON.

Two artefacts with the same recipe have the same bytes. The digest of the recipe is the artefact's name in the store.

>>> recipe = Recipe("scenes", 1, {"count": 10, "margin": 0.4}, {})
>>> recipe.canonical()
'{"inputs":{},"parameters":{"count":10,"margin":0.4},"stage":"scenes","version":1}'
>>> recipe.digest == Recipe("scenes", 1, {"margin": 0.4, "count": 10}, {}).digest
True
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """The stage that makes an artefact, the version of its code, its parameters and the digests of its inputs."""

    stage: str
    version: int
    parameters: Mapping[str, Any]
    inputs: Mapping[str, str]

    def canonical(self) -> str:
        """The one JSON text of this recipe."""
        plain = {field.name: _plain(getattr(self, field.name), field.name) for field in fields(self)}
        return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False)

    @cached_property
    def digest(self) -> str:
        """32 hexadecimal digits that name the recipe."""
        return hashlib.blake2b(self.canonical().encode(), digest_size=16).hexdigest()


def _plain(value: Any, path: str) -> Any:
    """The value as JSON knows it; `path` says where in the recipe it stands."""
    # Exact types: a subclass, such as NumPy's float64 or an enum, may print differently in another version.
    if value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, tuple | list):
        return [_plain(item, f"{path}[{place}]") for place, item in enumerate(value)]
    if isinstance(value, Mapping):
        return {_name(name, path): _plain(item, f"{path}.{name}") for name, item in value.items()}
    if _is_frozen(value):
        return _plain_dataclass(value, path)
    raise TypeError(f"{path} cannot be written in a recipe: {value!r} ({type(value).__name__})")


def _plain_dataclass(value: Any, path: str) -> dict[str, Any]:
    plain = {field.name: _plain(getattr(value, field.name), f"{path}.{field.name}") for field in fields(value)}
    if "type" in plain:
        raise TypeError(f"{path}.type cannot be written in a recipe: the name is taken by the type of {path}")
    return {"type": type(value).__name__, **plain}


def _name(name: Any, path: str) -> str:
    if type(name) is not str:
        raise TypeError(f"{path} cannot be written in a recipe: its key {name!r} is not a string")
    return name


def _is_frozen(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type) and value.__dataclass_params__.frozen  # type: ignore[attr-defined]
