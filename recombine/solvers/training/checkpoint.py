"""Checkpoints: all that a training needs to go on as if it had never stopped.

A state is a tree of dictionaries and lists with tensors and plain values at its leaves, as `state_dict` gives it. The
tensors go into the file by their path, the rest as JSON beside them. Every checkpoint carries the identity of its run:
what decides the bytes, as far as it must be the same for the checkpoint to be of any use.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor

from recombine.solvers.training.tensors import read_tensors, write_tensors
from recombine.store.errors import UserError
from recombine.store.untrusted import parse_json

FORMAT = 2
Identity = Mapping[str, Any]


def save(file: Path, state: Mapping[str, Any], identity: Identity) -> None:
    """Write a state, whole or not at all."""
    tensors: dict[str, Tensor] = {}
    tree = _split(state, "", tensors)
    metadata = {"format": str(FORMAT), "identity": _text(identity), "state": _text(tree)}
    write_tensors(file, tensors, metadata)


def load(file: Path, identity: Identity) -> dict[str, Any]:
    """The state of a checkpoint of this run."""
    tensors, metadata = read_tensors(file)
    if metadata.keys() != {"format", "identity", "state"}:  # a name more may be that of the checksum, with a wrong bit
        raise UserError(f"{file} is no checkpoint of recombine; delete it, or put the right one there")
    if metadata["format"] != str(FORMAT):
        raise UserError(f"{file} was written by another version of recombine; train again in another folder")
    differ = difference(parse_json(metadata["identity"], str(file)), json.loads(_text(identity)))
    if differ:
        raise UserError(f"{file} is the checkpoint of another run: {differ}; train in another folder")
    with sound(file):
        return dict(_join(parse_json(metadata["state"], str(file)), tensors))


@contextmanager
def sound(file: Path) -> Iterator[None]:
    """Say that a file is damaged where what it holds does not fit together."""
    try:
        yield
    except (KeyError, ValueError, TypeError, AttributeError, IndexError, RuntimeError) as error:
        what = str(error).partition("\n")[0]
        raise UserError(f"{file} is damaged ({what:.200}); delete it, or put the right one there") from error


def difference(there: Any, here: Any, path: str = "") -> str:
    """In words, the first place where two trees of plain values differ; nothing where they are the same.

    >>> difference({"network": {"name": "cnn"}}, {"network": {"name": "mlp"}})
    "its network.name is 'cnn', here it is 'mlp'"
    """
    if isinstance(there, dict) and isinstance(here, dict):
        names = dict.fromkeys([*here, *there])
        found = (difference(there.get(name), here.get(name), f"{path}.{name}".lstrip(".")) for name in names)
        return next(filter(None, found), "")
    return "" if there == here else f"its {path} is {there!r}, here it is {here!r}"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _split(value: Any, path: str, tensors: dict[str, Tensor]) -> Any:
    """The tree with the names of its tensors in their places, which are collected."""
    if isinstance(value, Tensor):
        tensors[path] = value
        return {"tensor": path}
    if isinstance(value, Mapping):
        # As pairs, for the keys of an optimiser's state are numbers, which JSON would turn into words.
        return {"mapping": [[key, _split(item, f"{path}/{key}".lstrip("/"), tensors)] for key, item in value.items()]}
    if isinstance(value, list | tuple):
        items = [_split(item, f"{path}/{place}", tensors) for place, item in enumerate(value)]
        return {"tuple": items} if isinstance(value, tuple) else items
    return value


def _join(tree: Any, tensors: Mapping[str, Tensor]) -> Any:
    match tree:
        case {"tensor": name}:
            return tensors[name]
        case {"mapping": pairs}:
            return {key: _join(item, tensors) for key, item in pairs}
        case {"tuple": items}:
            return tuple(_join(item, tensors) for item in items)
        case list():
            return [_join(item, tensors) for item in tree]
    return tree
