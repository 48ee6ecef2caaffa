"""Folders of drawn images: written through no link, by one command at a time."""

from pathlib import Path

import pytest

from recombine.benchmarks.concept_world.drawing import draw
from recombine.store.errors import UserError
from recombine.store.writing import writing


def test_a_link_that_waits_for_a_draft_is_not_followed(tmp_path: Path) -> None:
    documents = tmp_path / "Documents"
    documents.mkdir()
    (documents / "thesis.tex").write_text("years of work")
    (tmp_path / ".images.draft").symlink_to(documents)
    draw("red", 2).write(tmp_path / "images")
    assert [path.name for path in documents.iterdir()] == ["thesis.tex"]
    assert sorted(path.name for path in (tmp_path / "images").iterdir()) == ["0.png", "1.png"]


def test_a_folder_that_another_command_writes_is_refused(tmp_path: Path) -> None:
    drawn = draw("red", 2)
    with writing(tmp_path / "images") as draft:
        (draft / "theirs").touch()
        with pytest.raises(UserError, match="is being written by another command"):
            drawn.write(tmp_path / "images")
    assert [path.name for path in (tmp_path / "images").iterdir()] == ["theirs"]
