"""A file, a folder or a page is there whole or not at all, is written by one process at a time, and through no link."""

import errno
import os
import resource
import secrets
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from recombine.store import room
from recombine.store.arrays import blank_array, map_array, read_array
from recombine.store.checksums import damaged, mend, sums_of
from recombine.store.errors import UserError
from recombine.store.room import allocate, need_room, size_text
from recombine.store.untrusted import read_bytes
from recombine.store.writing import PART, drafts_of, locked, write_atomically, write_text, writing, writing_page

KILLED = """
import os, signal, sys
from pathlib import Path
from recombine.store.writing import write_atomically, write_text, writing, writing_page

what, out = sys.argv[1], Path(sys.argv[2])

def die(part):
    part.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)

if what == "file":
    write_atomically(out, die)
elif what == "page":
    with writing_page(out) as draft:
        die(draft)
else:
    with writing(out, again=True) as draft:
        (draft / "deep").mkdir()
        write_text(draft / "deep" / "whole", "whole")
        write_atomically(draft / "half", die)
"""


def killed(what: str, out: Path) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED, what, out]).returncode == -9


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_folder_appears_in_one_step_and_nothing_else_does(tmp_path: Path) -> None:
    with writing(tmp_path / "out") as draft:
        assert draft.parent == tmp_path and draft.stat().st_mode & 0o777 == 0o700
        assert len(draft.name) > len(".out.draft-") + 15
        (draft / "a").write_text("a")
        write_text(draft / "b", "b")
        assert not (tmp_path / "out").exists()
    assert names(tmp_path) == {"out/a", "out/b"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o777 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_folder_that_fails_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), writing(tmp_path / "out") as draft:
        (draft / "a").write_text("a")
        raise error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", [writing, writing_page])
def test_two_commands_do_not_write_one_thing(tmp_path: Path, write) -> None:  # type: ignore[no-untyped-def]
    with ExitStack() as both:
        both.enter_context(write(tmp_path / "a" / "out")).write_text("one") if write is writing_page else None
        if write is writing:
            both.enter_context(writing(tmp_path / "a" / "out"))
        with pytest.raises(UserError, match="is being written by another command"), write(tmp_path / "a" / "out"):
            pass
    assert (tmp_path / "a" / "out").exists()
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["out"]


def test_a_folder_that_is_taken_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    (tmp_path / "out" / "precious").write_text("x")
    for out in (tmp_path / "out", tmp_path / "link", tmp_path / "out" / "precious"):
        with pytest.raises(UserError, match="exists and is not empty"), writing(out):
            pass
    with pytest.raises(UserError, match="cannot be made"), writing(tmp_path / "out" / "precious" / "new"):
        pass
    with writing(tmp_path / "empty") as draft:
        (draft / "a").write_text("a")
    assert names(tmp_path / "empty") == {"a"} and names(tmp_path / "out") == {"precious"}


def test_what_is_taken_meanwhile_stays(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="exists and is not empty"), writing(tmp_path / "out") as draft:
        (draft / "a").write_text("a")
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "theirs").write_text("b")
    assert names(tmp_path) == {"out/theirs"}


def test_drafts_and_locks_of_others_are_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "precious").write_text("x")
    for name in (".out.draft", ".out.draft-0123456789abcdef"):
        (tmp_path / name).symlink_to(victim)
    with writing(tmp_path / "out", again=True) as draft:
        (draft / "a").write_text("a")
    assert names(victim) == {"precious"} and names(tmp_path / "out") == {"a"}
    (tmp_path / ".page.lock").symlink_to(tmp_path / "victim" / "precious")
    with pytest.raises(UserError, match="cannot be written"), writing_page(tmp_path / "page"):
        pass
    assert (victim / "precious").read_text() == "x"


def test_a_file_that_is_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("x")
    (tmp_path / "page.html").symlink_to(tmp_path / "precious")
    write_text(tmp_path / "page.html", "new")
    assert (tmp_path / "precious").read_text() == "x" and not (tmp_path / "page.html").is_symlink()


def test_a_part_that_is_exchanged_is_noticed(tmp_path: Path) -> None:
    def exchange(part: Path) -> None:
        part.unlink()
        part.symlink_to(tmp_path / "other")

    with pytest.raises(UserError, match="was exchanged"):
        write_atomically(tmp_path / "file", exchange)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["file", "page", "folder"])
def test_what_a_kill_leaves_is_cleared_away(tmp_path: Path, what: str) -> None:
    out = tmp_path / "out.html"
    killed(what, out)
    assert not out.exists() and list(tmp_path.iterdir())
    if what == "file":
        write_text(out, "whole")
    elif what == "page":
        with writing_page(out) as page:
            page.write_text("whole")
    else:
        with writing(out) as draft:
            assert not list(draft.iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["out.html"]


def test_what_a_kill_leaves_of_a_folder_is_taken_up_again(tmp_path: Path) -> None:
    killed("folder", tmp_path / "out")
    with writing(tmp_path / "out", again=True) as draft:
        assert names(draft) == {"deep/whole"}
        write_text(draft / "more", "more")
    assert names(tmp_path) == {"out/deep/whole", "out/more"}


def test_a_flipped_bit_is_not_taken_up(tmp_path: Path) -> None:
    killed("folder", tmp_path / "out")
    (left,) = drafts_of(tmp_path / "out")
    (left / "deep" / "whole").write_text("whOle")
    (left / "unknown").write_text("whence?")
    with writing(tmp_path / "out", again=True) as draft:
        assert names(draft) == set()


def test_a_bit_that_flips_meanwhile_is_not_published(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"out/a does not have the bytes"), writing(tmp_path / "out") as draft:
        write_text(draft / "a", "a")
        (draft / "a").write_text("b")
    assert list(tmp_path.iterdir()) == []


def test_a_page_brings_its_figures_and_leaves_other_files(tmp_path: Path) -> None:
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "mine").write_text("x")
    with writing_page(tmp_path / "page.md") as page:
        page.with_suffix("").mkdir()
        (page.with_suffix("") / "a.svg").write_text("<svg/>")
        page.write_text("![](page/a.svg)")
        assert not (tmp_path / "page.md").exists()
    assert names(tmp_path) == {"page.md", "page/a.svg", "page/mine"}


def test_a_page_without_a_place_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for page in (tmp_path, tmp_path / "file" / "page.html"):
        with pytest.raises(UserError), writing_page(page):
            pytest.fail("work was done")


def test_a_lock_that_is_removed_still_keeps_others_out(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with locked(lock, keep=False), pytest.raises(UserError, match="busy"), locked(lock, "busy"):
        pass
    assert list(tmp_path.iterdir()) == []


# --- room


def test_sizes_have_sensible_units() -> None:
    assert [size_text(size) for size in (0, 12, 1_500, 9_949_000, 99e9, 1e15)] == [
        "0 bytes", "12 bytes", "1.5 kB", "9.9 MB", "99 GB", "1.0 PB"
    ]  # fmt: skip


def test_too_little_room_is_seen_before(tmp_path: Path) -> None:
    need_room(tmp_path / "not" / "there" / "yet", 1)
    with pytest.raises(UserError, match=r"A copy needs 1,000 PB, but .* has .* free: free some room"):
        need_room(tmp_path / "new", 1e18, "A copy")


@pytest.mark.parametrize("how", ["reserved", "written out"])
def test_an_array_has_its_room_before_it_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    if how == "written out":
        monkeypatch.setattr(room, "ZEROS", bytes(7))
        monkeypatch.setattr(os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError(errno.EOPNOTSUPP, "no")))
    blank_array(tmp_path / "a.npy", np.uint64, (100, 3, 7))
    np.lib.format.open_memmap(tmp_path / "b.npy", "w+", np.uint64, (100, 3, 7)).flush()
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    assert (tmp_path / "a.npy").stat().st_blocks * 512 >= 8 * 2100
    assert map_array(tmp_path / "a.npy").shape == (100, 3, 7)


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
    with pytest.raises(OSError, match="full"):
        blank_array(tmp_path / "a.npy", np.uint64, (100,))
    assert list(tmp_path.iterdir()) == []


def test_of_a_copy_the_full_place_is_named(tmp_path: Path) -> None:
    def copy(part: Path) -> None:
        raise OSError(errno.ENOSPC, "full", str(tmp_path / "source"), None, str(part))

    with pytest.raises(OSError, match=r"full: .*copy'") as error:
        write_atomically(tmp_path / "copy", copy)
    assert error.value.filename == str(tmp_path / "copy")


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"x" * 200])
def test_a_damaged_array_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.npy").write_bytes(content)
    for read in (read_array, map_array):
        with pytest.raises(UserError, match=r"a\.npy cannot be read"):
            read(tmp_path / "a.npy")


def test_notes_lie_beside_a_draft(tmp_path: Path) -> None:
    with writing(tmp_path / "out") as draft:
        write_text(draft / "a", "a")
        assert [note.name for note in sums_of(draft).iterdir()] == ["a"]
        allocate(draft / "a", 1)


def test_what_a_kill_at_the_very_end_leaves_beside_a_folder_is_cleared_away(tmp_path: Path) -> None:
    """The folder is there, but the checksums of its draft and the lock still are, too."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("a")
    (tmp_path / ".out.draft-0123456789abcdef.sums").mkdir()
    (tmp_path / ".out.lock").touch()
    with pytest.raises(UserError, match="not empty"), writing(tmp_path / "out"):
        pass
    assert names(tmp_path) == {"out/a"} and not list(tmp_path.glob(".out*"))


def test_a_note_of_a_draft_may_name_anything_and_nothing_outside_is_touched(tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    for name in ("../outside", "x" * 5_000, "/etc/passwd", "\0"):
        sums_of(draft).mkdir(parents=True, exist_ok=True)
        draft.mkdir(exist_ok=True)
        (tmp_path / "outside").write_text("outside")
        (sums_of(draft) / "note").write_text(f"{'0' * 32} 0  {name}\n")
        assert mend(draft) == [] and damaged(draft) == []
        assert (tmp_path / "outside").read_text() == "outside"


def test_a_file_is_read_with_no_more_room_than_it_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who allows much would else make room for much."""
    (tmp_path / "a").write_bytes(b"a")
    before = resource.getrlimit(resource.RLIMIT_AS)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + 2**30, before[1]))
    try:
        assert read_bytes(tmp_path / "a", most=64 * 2**30) == b"a"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_checksums_that_somebody_else_has_laid_there_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between both folders of a draft leaves a name that others can read: what they put there is not used."""
    draft = tmp_path / ".out.draft-0123456789abcdef"
    draft.mkdir(0o700)
    sums_of(draft).mkdir()
    real = Path.lstat

    def foreign(path: Path) -> os.stat_result:
        about = real(path)
        changed = [*about]
        changed[4] += path == sums_of(draft)
        return os.stat_result(changed)

    monkeypatch.setattr(Path, "lstat", foreign)
    with pytest.raises(UserError, match="belongs to somebody else"), writing(tmp_path / "out", again=True):
        raise AssertionError
    assert not (tmp_path / "out").exists()


def test_a_name_that_was_guessed_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are random; and where one is known all the same, a link there is no way in."""
    monkeypatch.setattr(secrets, "token_hex", lambda _: "guessed")
    precious = tmp_path / "precious"
    precious.write_text("x")
    (tmp_path / f"{PART}guessed-page.html").symlink_to(precious)
    with pytest.raises(FileExistsError):
        write_text(tmp_path / "page.html", "y")
    assert precious.read_text() == "x" and not (tmp_path / "page.html").exists()
