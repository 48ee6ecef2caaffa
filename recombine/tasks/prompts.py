"""Prompts: a row as the messages that a model is sent, its pictures and sounds where they belong."""

import base64
from collections.abc import Iterator
from typing import Any

from recombine.store.errors import UserError
from recombine.tasks.rows import MARKS, Row

MIMES = {b"\x89PNG": "image/png", b"RIFF": "audio/wav"}


def mime_of(file: bytes) -> str:
    """What kind of file it is, by how it begins."""
    found = MIMES.get(file[:4])
    if found is None:
        raise UserError("rows hold PNG and WAV files only; this is neither")
    return found


def kind_of(row: Row) -> str:
    """images, sounds, or words where it has neither."""
    if not row.media:
        return "words"
    return "images" if mime_of(row.media[0]).startswith("image") else "sounds"


def prompt(row: Row) -> str:
    """The whole prompt, with a mark where each picture or sound belongs."""
    if not row.media and not row.words:
        raise UserError("this row shows nothing but numbers of scenes; have it rendered: images, sounds or words")
    return row.text(MARKS.get(kind_of(row), ""))


def parts(row: Row) -> Iterator[str | bytes]:
    """Texts and media in the order in which they are read."""
    text, mark = prompt(row), MARKS.get(kind_of(row))
    pieces = text.split(mark) if mark else [text]
    if len(pieces) != len(row.media) + 1:
        raise UserError(
            f"{row.id} has {len(pieces) - 1} marks and {len(row.media)} files; its text must not be changed"
        )
    for place, piece in enumerate(pieces):
        if place:
            yield row.media[place - 1]
        if piece.strip():
            yield piece.strip("\n")


def data_address(file: bytes) -> str:
    """A file as a data URL."""
    return f"data:{mime_of(file)};base64,{base64.b64encode(file).decode()}"


def chat(row: Row) -> list[dict[str, Any]]:
    """The messages of an OpenAI-style chat."""
    return [{"role": "user", "content": [_part(one) for one in parts(row)]}]


def _part(one: str | bytes) -> dict[str, Any]:
    if isinstance(one, str):
        return {"type": "text", "text": one}
    if mime_of(one).startswith("image"):
        return {"type": "image_url", "image_url": {"url": data_address(one)}}
    return {"type": "input_audio", "input_audio": {"data": base64.b64encode(one).decode(), "format": "wav"}}


def placeholders(row: Row) -> list[dict[str, Any]]:
    """Messages with a placeholder for each picture or sound, which stand in a column of their own."""
    kinds = {"image/png": "image", "audio/wav": "audio"}
    content = [
        {"type": "text", "text": one} if isinstance(one, str) else {"type": kinds[mime_of(one)]} for one in parts(row)
    ]
    return [{"role": "user", "content": content}]
