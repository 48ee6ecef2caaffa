"""Files that people asked for."""

from pathlib import Path

from recombine.store.outputs import free_file, write_text


def test_the_folder_of_a_file_is_made_when_the_file_is_written(tmp_path: Path) -> None:
    file = free_file(tmp_path / "new" / "deep" / "page.html", (".html",))
    assert not any(tmp_path.iterdir())
    write_text(file, "said")
    assert file.read_text() == "said"
