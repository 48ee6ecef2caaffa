"""Room on a disk: asked for before work starts, and taken before memory is mapped onto it.

>>> size_text(1_234), size_text(56_700_000), size_text(2e12)
('1.2 kB', '57 MB', '2.0 TB')
"""

import errno
import os
import shutil
from pathlib import Path

from recombine.store.errors import UserError

FULL = (errno.ENOSPC, errno.EDQUOT)
ADVICE = "free some room, or choose a folder on a bigger disk"
ZEROS = bytes(2**20)


def size_text(size: float) -> str:
    """A number of bytes as people say it."""
    for unit in ("bytes", "kB", "MB", "GB", "TB", "PB"):
        if size < 999.5 or unit == "PB":
            break
        size /= 1000
    return f"{size:.1f} {unit}" if size < 9.95 and unit != "bytes" else f"{size:,.0f} {unit}"


def nearest_folder(path: Path) -> Path:
    """The nearest folder that there is, above a path or at it."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())


def same_disk(one: Path, other: Path) -> bool:
    """Whether two places take their room from each other."""
    return nearest_folder(one).stat().st_dev == nearest_folder(other).stat().st_dev


def need_room(place: Path, size: float, what: str = "This", advice: str = ADVICE) -> None:
    """Refuse to go on where the disk of a place has less room than this."""
    where = nearest_folder(place)
    free = shutil.disk_usage(where).free
    if size > free:
        raise UserError(f"{what} needs {size_text(size)}, but {where} has {size_text(free)} free: {advice}.")


def allocate(file: Path, size: int) -> None:
    """Give a file this size, with room on the disk for all of it: a map onto missing room would kill the process."""
    with file.open("r+b") as content:
        try:
            os.posix_fallocate(content.fileno(), 0, size)
        except (AttributeError, OSError) as error:
            if getattr(error, "errno", None) in FULL:
                raise
            content.seek(0, os.SEEK_END)  # a system that cannot: write it out
            for start in range(content.tell(), size, len(ZEROS)):
                content.write(ZEROS[: size - start])
