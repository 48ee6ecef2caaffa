"""Writing: one way to write a file, a folder or a page, so that it is there whole or not at all.

    write_atomically(file, write)      a file
    with writing(folder) as draft:     a folder; nobody else writes it meanwhile
    with writing_page(page) as draft:  a page, and the figures in the folder of its name

What is being written has a name that nobody can guess, on the same disk, and belongs to this user alone. What a process
that was killed has left behind is cleared away by the next that writes the same thing, or taken up where that helps.
"""

import errno
import fcntl
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from recombine.store.checksums import SUMS, Region, checksum, damaged, draft_around, mend, note, sums_of
from recombine.store.errors import UserError
from recombine.store.paths import remove
from recombine.store.room import FULL

PART = ".part-"
DRAFT = ".draft-"
BUSY = "{} is being written by another command; wait until it is done, or choose another place"
PRIVATE = 0o700
"""The permissions of a draft beside what it becomes: nobody else looks in, or puts anything there."""


# --- locks --------------------------------------------------------------------------------------------------------


@contextmanager
def locked(file: Path, busy: str | None = None, keep: bool = True) -> Iterator[None]:
    """Hold an exclusive lock, which the system releases whichever way the process ends.

    Wait for it, or refuse with the sentence `busy`. Unless it is to be kept, its file goes at the end.
    """
    lock = _take(file, busy)
    try:
        yield
    finally:
        if not keep:
            file.unlink(missing_ok=True)
        os.close(lock)


def _take(file: Path, busy: str | None) -> int:
    while True:
        try:
            lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise UserError(f"{file} cannot be written ({error.strerror}); choose another folder") from None
        try:
            flock(lock, fcntl.LOCK_EX | (0 if busy is None else fcntl.LOCK_NB), file)
            if _is_there(lock, file):  # else it was removed while this process waited, and another may hold a new one
                return lock
        except BlockingIOError:
            os.close(lock)
            raise UserError(busy or "") from None
        except BaseException:
            os.close(lock)
            raise
        os.close(lock)


UNLOCKED = (errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK)


def flock(descriptor: int, how: int, file: Path) -> None:
    """Lock an open file; refuse a disk that knows no locks."""
    try:
        fcntl.flock(descriptor, how)
    except OSError as error:
        if error.errno not in UNLOCKED:
            raise
        raise UserError(
            f"the disk of {file.parent} knows no file locks ({error.strerror}), as Lustre mounted without flock; "
            "have it mounted with flock, or choose another disk for RECOMBINE_HOME (and out)"
        ) from None


def _is_there(descriptor: int, file: Path) -> bool:
    """Whether an open file is the file of this name."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(descriptor), os.lstat(file))
    return False


def held(file: Path) -> bool:
    """Whether another process holds a lock."""
    return file.is_file() and not file.is_symlink() and not abandoned(file)


def abandoned(file: Path, clear: bool = False) -> bool:
    """Whether a lock, or a file that is locked while it is written, is held by nobody; `clear` removes it then, before
    anybody else can hold it."""
    try:
        lock = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if clear and _is_there(lock, file):
            file.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


# --- files --------------------------------------------------------------------------------------------------------


def write_atomically(
    path: Path, write: Callable[[Path], object], also: Sequence[Region] = (), noted: bool = True
) -> None:
    """Let `write` write a file that appears at `path` whole or not at all.

    In a draft its checksum is noted, unless it will be written on; `also` are the regions of such files that belong
    to the same part.
    """
    draft = draft_around(path)
    if draft is None:
        _clear_parts(path)
    part, mine = _new_part(path)
    try:
        write(part)
        if not _is_there(mine, part):
            raise UserError(f"{part} was exchanged while it was written; choose a folder that others cannot write to")
        os.fsync(mine)
        if draft is not None and noted:
            note(draft, Region(str(path.relative_to(draft)), checksum(part)), *also)
        os.replace(part, path)
    except OSError as error:
        if error.errno in FULL or not error.filename:  # a write that fails knows no name, a copy that of its source
            error.filename = str(path)
        raise
    finally:
        part.unlink(missing_ok=True)
        os.close(mine)
    sync(path.parent)


def _new_part(path: Path) -> tuple[Path, int]:
    """An empty file beside the path, open and locked, so that others see that it is alive."""
    while True:
        # The name comes last because writers look at its suffix.
        part = path.with_name(f"{PART}{secrets.token_hex(8)}-{path.name}")
        mine = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        try:
            flock(mine, fcntl.LOCK_EX, part)
            if _is_there(mine, part):  # else another process has found it before it was locked, and removed it
                return part, mine
        except BaseException:
            part.unlink(missing_ok=True)
            os.close(mine)
            raise
        os.close(mine)


def write_text(path: Path, text: str) -> None:
    """A text in UTF-8 that appears whole or not at all."""
    write_atomically(path, lambda part: part.write_text(text, encoding="utf-8"))


def _clear_parts(path: Path) -> None:
    """Remove what processes that were killed have left of a file."""
    ending = f"-{path.name}"
    for left in list(path.parent.glob(f"{PART}*")):
        if left.name.endswith(ending):
            abandoned(left, clear=True)


def sync(path: Path) -> None:
    """Have the bytes of a file, or the names in a folder, on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def folder_of(path: Path) -> Iterator[None]:
    """Make the folder of what is written in the block; where that fails, what was made for it goes."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    try:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"{path.parent} cannot be made ({error.strerror}); choose another folder") from None
        yield
    except BaseException:
        with suppress(OSError):  # something is in it
            for folder in missing:
                folder.rmdir()
        raise


# --- folders ------------------------------------------------------------------------------------------------------


@contextmanager
def writing(out: Path | str, again: bool = False) -> Iterator[Path]:
    """A draft of a folder, which is at `out` once the block has ended well; others are kept out meanwhile.

    With `again`, what a try that was stopped has left is still there, as far as it is sound; else it is gone.
    """
    out = Path(out).absolute()
    try:
        refuse_taken(out)
    except UserError:
        tidy(out)
        raise
    with alone(out):
        draft = open_draft(_draft(out, again))
        try:
            yield draft
            clear_parts(draft)
            if bad := damaged(draft):
                raise UserError(f"{out / bad[0]} does not have the bytes that were written; check the disk")
            refuse_taken(out)
            publish(draft, out)
        except BaseException:
            if not again:
                discard(draft)
            raise


@contextmanager
def writing_page(page: Path | str) -> Iterator[Path]:
    """A draft of a page, which is at `page` once the block has ended well, after the figures of its folder.

    Whether it can be written is seen at once, before any work is done.
    """
    page = Path(page).absolute()
    if page.is_dir() or page.with_suffix("").is_symlink():
        raise UserError(f"{page} is a folder, or figures beside it would go through a link; choose another name")
    with alone(page):
        folder = _draft(page, again=False)
        folder.mkdir(mode=PRIVATE)
        try:
            draft, figures = folder / page.name, (folder / page.name).with_suffix("")
            yield draft
            for file in sorted(figures.rglob("*")) if figures.is_dir() else []:
                _put(file, page.with_suffix("") / file.relative_to(figures))
            _put(draft, page)
        finally:
            discard(folder)


def tidy(out: Path) -> None:
    """Clear away what a kill at the very end has left of a folder that is complete."""
    out = out.absolute()
    start, lock = f".{out.name}{DRAFT}", _lock_of(out)
    beside = [path.name for path in out.parent.iterdir()] if out.parent.is_dir() else []
    if lock.name in beside or any(name.startswith(start) for name in beside):
        with suppress(UserError), alone(out):  # else another command is at it
            for path in [path for path in out.parent.iterdir() if path.name.startswith(start)]:
                if path.is_dir() and not path.is_symlink() and path.lstat().st_uid == os.geteuid():
                    shutil.rmtree(path, ignore_errors=True)


def refuse_taken(out: Path) -> None:
    """Refuse the place of a new folder where something is."""
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise UserError(f"{out} exists and is not empty; choose another folder or remove it")


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """Keep others out while something is written; what can be seen of it before is seen here."""
    out = out.absolute()
    with folder_of(out), locked(_lock_of(out), BUSY.format(out), keep=False):
        yield


def refuse_busy(out: Path) -> None:
    """Refuse, before any work is done, what another command is writing."""
    if held(_lock_of(out.absolute())):
        raise UserError(BUSY.format(out.absolute()))


def _lock_of(out: Path) -> Path:
    return out.with_name(f".{out.name}.lock")


def drafts_of(out: Path) -> list[Path]:
    """What tries that were stopped have left of a folder, the newest last; only what belongs to this user."""
    start, found = f".{out.name}{DRAFT}", []
    for path in out.parent.iterdir() if out.parent.is_dir() else []:
        if path.name.startswith(start) and not path.name.endswith(SUMS):
            about = path.lstat()
            if stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid():
                found.append((about.st_mtime_ns, path))
    return [path for _, path in sorted(found)]


def _draft(out: Path, again: bool) -> Path:
    """The draft to go on with, or a place for a new one; others are cleared away."""
    left = drafts_of(out)
    kept = left.pop() if again and left else out.with_name(f".{out.name}{DRAFT}{secrets.token_hex(8)}")
    for draft in left:
        discard(draft)
    return kept


def open_draft(draft: Path, warn: Callable[[str], None] = lambda _: None, mode: int = PRIVATE) -> Path:
    """Make a draft, or take it up again: what is not as it was written goes."""
    for folder in (draft, sums_of(draft)):
        if folder.is_symlink():
            folder.unlink()
        folder.mkdir(mode, parents=True, exist_ok=True)
        about = folder.lstat()
        if mode == PRIVATE and not (stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid()):
            raise UserError(f"{folder} belongs to somebody else; choose a folder that others cannot write to")
    for name in mend(draft):
        warn(f"{draft / name} does not have the bytes that were written; it is made again.")
    return draft


def clear_parts(folder: Path) -> None:
    """Remove what writers that were killed have left in a folder that is ours alone."""
    for left in list(folder.rglob(f"{PART}*")):
        remove(left, folder)


def publish(draft: Path, folder: Path) -> None:
    """Move a complete draft to its place, in one step and only after its bytes are on the disk."""
    for path in [*draft.rglob("*"), draft]:
        sync(path)
    folder.parent.mkdir(exist_ok=True)
    draft.chmod(draft.stat().st_mode | (0o777 & ~_umask()))
    os.rename(draft, folder)
    sync(folder.parent)
    shutil.rmtree(sums_of(draft), ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def discard(draft: Path) -> None:
    """Remove a draft and the checksums of its parts."""
    for folder in (draft, sums_of(draft)):
        shutil.rmtree(folder, ignore_errors=True)


def _put(file: Path, place: Path) -> None:
    if file.is_file():
        sync(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, place)
