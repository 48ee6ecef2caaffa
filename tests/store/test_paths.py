"""What a file says is a name before it is a path."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.store.errors import UserError
from recombine.store.paths import plain_name, remove, within

BAD = [
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "/etc",
    "a\\b",
    ".hidden",
    "-rf",
    "a\0b",
    "a\nb",
    "a ",
    "a.",
    "x" * 300,
    "~",
    "$HOME",
    "a:b",
    7,
    None,
    ["a"],
]


@pytest.mark.parametrize("text", BAD, ids=repr)
def test_what_is_no_plain_name_is_refused(text: object) -> None:
    with pytest.raises(UserError, match="cannot be the name"):
        plain_name(text)


@pytest.mark.parametrize(
    "text", ["train", "done", "images-00000.parquet", "größe", "a b", "x+y=1", "_x", "..".join("ab")]
)
def test_what_people_call_things_is_fine(text: str) -> None:
    assert plain_name(text) == text


@given(st.text())
def test_a_plain_name_is_one_step_down(text: str) -> None:
    try:
        name = plain_name(text)
    except UserError:
        return
    assert Path("/base/place", name).parent == Path("/base/place")


def test_a_link_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "else").mkdir()
    (tmp_path / "root" / "out").symlink_to(tmp_path / "else")
    assert within(tmp_path / "root", "a", "b") == tmp_path / "root" / "a" / "b"
    with pytest.raises(UserError, match="leads out of"):
        within(tmp_path / "root", "out", "b")


def test_only_what_is_inside_is_removed(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "else"
    (root / "a" / "b").mkdir(parents=True)
    (other / "precious").mkdir(parents=True)
    (root / "link").symlink_to(other)
    for path in (other, root, root / ".." / "else", root / "link" / "precious", root / "a" / ".." / ".." / "else"):
        with pytest.raises(UserError, match="is not removed"):
            remove(path, root)
    remove(root / "link", root)
    remove(root / "a", root)
    remove(root / "never was", root)
    assert (other / "precious").is_dir() and list(root.iterdir()) == []
