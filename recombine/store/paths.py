"""Paths: what a file says is checked to be one plain name before it becomes part of a path.

>>> plain_name("train")
'train'
>>> plain_name("../Documents")
Traceback (most recent call last):
recombine.store.errors.UserError: '../Documents' cannot be the name of a file or a folder; use letters, digits, '_', '-'
"""

import re
import shutil
from pathlib import Path

from recombine.store.errors import UserError

_PLAIN = re.compile(r"\w[\w.+= -]*")
LONGEST = 200
"""Bytes of a name."""


def plain_name(text: object) -> str:
    """The text if it is one plain name: no folders, no dots in front, nothing that a system could read otherwise."""
    found = _PLAIN.fullmatch(text) if isinstance(text, str) else None
    if not found or len(found[0].encode("utf-8", "replace")) > LONGEST or found[0].endswith((" ", ".")):
        raise UserError(f"{text!r:.80} cannot be the name of a file or a folder; use letters, digits, '_', '-'")
    return found[0]


def within(root: Path, *names: object) -> Path:
    """The path of plain names inside a folder, refused where a link leads out of it."""
    return inside(root, root.joinpath(*map(plain_name, names)))


def inside(root: Path, path: Path) -> Path:
    """A path in a folder, refused where a link leads out of it."""
    if not path.resolve().is_relative_to(root.resolve()):
        raise UserError(f"{path} leads out of {root}; remove the link")
    return path


def remove(path: Path, root: Path) -> None:
    """Remove a file or a folder that lies inside another, if it is there; of a link, only the link."""
    place = path.parent.resolve() / path.name
    if path.name in ("", "..") or not place.is_relative_to(root.resolve()) or place == root.resolve():
        raise UserError(f"{path} is not inside {root}, and is not removed")
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
