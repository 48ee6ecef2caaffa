"""Files that others wrote are read, or refused in one sentence, whatever they hold."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.store import untrusted
from recombine.store.errors import UserError
from recombine.store.untrusted import outlined, parse_json, read_bytes, read_json, read_text

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text('[]{}"\\ab'),
    lambda value: st.lists(value, max_size=3) | st.dictionaries(st.text('[]{}"\\', max_size=4), value, max_size=3),
    max_leaves=20,
)


def depth(value: Any) -> int:
    """The plain way."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


@given(VALUES, st.sampled_from([None, 1]))
def test_json_is_read_as_it_was_written(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert parse_json(text, "here") == parse_json(text.encode(), "here") == value
    assert outlined(text.encode()).depth == depth(value)


def test_nesting_is_counted_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "CHUNK", 3)
    assert outlined(b'[["[[[", {"a\\"]]": [[]]}]]').depth == 5


BAD = {
    "deep": ("[" * 101 + "]" * 101, "nests deeper than 100"),
    "bottomless": ("[" * 1_000_000, "nests deeper than 100"),
    "deep objects": ('{"a":' * 200 + "1" + "}" * 200, "nests deeper"),
    "infinite": ('{"a": Infinity}', "no finite number"),
    "no number": ("[NaN]", "no finite number"),
    "too large": ("[1e999]", "1e999 is no finite number"),
    "many digits": ("[" + "7" * 5_000 + "]", "a number of 5,000 digits"),
    "many decimals": ("[0." + "7" * 5_000 + "]", "digits"),
    "half": ('["\\ud800"]', "half a character"),
    "cut off": ('{"a": 1', "is not complete JSON"),
    "empty": ("", "is not complete JSON"),
    "list": ("[1]", "it is no object of JSON"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_json_is_refused_in_a_sentence(case: str, tmp_path: Path) -> None:
    text, expected = BAD[case]
    (tmp_path / "it.json").write_text(text)
    with pytest.raises(UserError, match=expected) as refused:
        read_json(tmp_path / "it.json", advice="copy it again")
    assert str(refused.value).startswith(str(tmp_path / "it.json"))
    assert str(refused.value).endswith("; copy it again")
    assert len(str(refused.value)) < 500


def test_whole_pairs_of_halves_are_fine() -> None:
    assert parse_json('["\\ud83d\\ude00"]', "here") == ["😀"]


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_bytes(b"caf\xe9")
    with pytest.raises(UserError, match=r"notes\.md is not text: byte 3 is not UTF-8"):
        read_text(tmp_path / "notes.md")
    (tmp_path / "notes.md").write_bytes(b"\xef\xbb\xbffine")
    assert read_text(tmp_path / "notes.md") == "fine"


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file, why in ((tmp_path / "pipe", "it is no file"), (tmp_path, "it is no file"), (tmp_path / "no", "No such")):
        with pytest.raises(UserError, match=why):
            read_bytes(file)
    with pytest.raises(UserError, match="cannot be read"):
        read_bytes("a\0b")


def test_too_large_a_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(UserError, match="larger than the 1 MB allowed"):
        read_bytes(tmp_path / "huge", 10**6)


@pytest.mark.parametrize("one", ["[]", "{}", '{"a":1}', "1.5", '"ab"', "1"])
def test_millions_of_small_values_are_refused_before_they_are_made(one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would take ten or twenty times the room of its letters."""
    monkeypatch.setattr(untrusted, "ROOM", 2**20)
    many = f"[{','.join([one] * 40_000)}]"
    with pytest.raises(UserError, match="lists and objects and 39,999 values, which would take too much memory"):
        parse_json(many, "here")
    assert len(parse_json(f"[{','.join([one] * 4_000)}]", "here")) == 4_000


def test_names_without_end_are_refused_and_large_files_of_ours_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "ROOM", 2**16)
    names = "{" + ",".join(f'"{number}":1' for number in range(5_000)) + "}"
    for large in (False, True):  # nothing of ours is as dense as this
        with pytest.raises(UserError, match="which would take too much memory"):
            parse_json(names, "here", large=large)
    objects = {
        "color": "red",
        "size": "large",
        "rotation": 269.87,
        "3d_coords": [-1.2, 0.3, 0.7],
        "pixel_coords": [1, 2],
    }
    whole = json.dumps({"scenes": [{"image_index": number, "objects": [objects] * 5} for number in range(200)]})
    assert len(parse_json(whole, "here", large=True)["scenes"]) == 200
    with pytest.raises(UserError, match="which would take too much memory"):
        parse_json(whole, "here")
