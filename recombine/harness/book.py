"""Books: the prompts of rows, and what the learners say to each.

A learner that answers like a model is handed a prompt, as any model is. It finds the row by what the prompt says and
shows: the words, and the pixels of every picture or the samples of every sound, in order. A harness may cut the text
into parts and write a picture anew, but not change a word or a pixel; where it does so all the same, asks in its own
way and shrinks pictures, the question and the likest picture decide. A prompt that is not in the book is refused.
"""

import hashlib
import io
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recombine.render.png import Flaw, decoded
from recombine.render.wave import from_wav
from recombine.store.errors import UserError
from recombine.tasks.prompts import parts
from recombine.tasks.rows import MARKS, Row

if TYPE_CHECKING:
    from recombine.benchmarks.row_export import Asked
    from recombine.benchmarks.study import Study

Content = Sequence[str | bytes]
"""Texts and files in the order of a prompt."""
LARGEST = 2**24
"""Pixels of a picture that is read."""
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
"""What a harness may send; some of Pillow's readers are slow, and some would start other programs."""
JPEG, SCAN, MOST_SCANS = b"\xff\xd8", b"\xff\xda", 64
"""A JPEG may go over all its pixels again and again; others do so ten times."""
SIDE = 12
"""Of the small pictures by which two are compared."""
_LETTERS = re.compile(r"^\s*\(?([A-Z])[.):]\s+(.+?)\s*$", re.MULTILINE)


class Book:
    """The rows that were asked for, and the answers of the learners of their study."""

    def __init__(self, study: "Study", asked: "Asked", rows: Iterable[Row] | None = None) -> None:
        from recombine.benchmarks.row_export import stream

        self.study, self.asked = study, asked
        self._rows: dict[str, Row] = {}
        self._by_prompt: dict[str, str] = {}
        for row in stream(asked) if rows is None else rows:
            self._rows[row.id] = row
            self._by_prompt[print_of([*parts(row)])] = row.id
        self._said: dict[str, dict[str, Row]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows.values())

    def row(self, content: Content) -> Row | None:
        """The row whose prompt this is."""
        found = self._by_prompt.get(print_of(content))
        return self._rows[found] if found else self._likest(content)

    def _likest(self, content: Content) -> Row | None:
        """The row that asks the same question about the likest picture; nothing where no question is the same."""
        text = words_of(content)
        pictures = [one for one in content if isinstance(one, bytes) and one[:4] != b"RIFF"]
        same = [
            row
            for row in self
            if row.question and len(row.media) == len(pictures) == 1 and words_of([row.question]) in text
        ]
        if not same:
            return None
        seen = small(pictures[0])
        return min(same, key=lambda row: float(np.abs(small(row.media[0]) - seen).mean()))

    def reply(self, learner: str, content: Content) -> str:
        """What a learner says to a prompt: in words, or by the letter of an option where these have letters."""
        row = self.row(content)
        if row is None:
            raise UserError(
                f"this prompt is none of the {len(self)} rows of {self.study.name} that {learner} was opened with; "
                "give it the same benchmark, splits, seed, form and pictures as the harness has"
            )
        said = self.answers(learner)[row.id]
        lettered = {option.lower(): letter for letter, option in _LETTERS.findall(_text(content))}
        if lettered and not set(lettered) <= {option.lower() for option in row.options}:
            lettered = {}
        if lettered:
            chances = dict(zip(map(str.lower, row.options), said.said[0]))
            return lettered[max(lettered, key=chances.__getitem__)]
        return self.study.benchmark.verifier.say(said.said, row.options)

    def answers(self, learner: str) -> dict[str, Row]:
        """The rows with what a learner says of each."""
        if learner not in self._said:
            form = "all" if self.asked.form == "sheet" else self.asked.form
            plain = replace(
                self.asked, render=None, size=None, form=form, difficulty=replace(self.asked.difficulty, noise=0.0)
            )
            self._said[learner] = {row.id: row for row in self.study.answers(plain, learner, self.asked.render)}
        return self._said[learner]


def _text(content: Content) -> str:
    return "\n".join(one for one in content if isinstance(one, str))


def words_of(content: Content) -> str:
    """The words of a prompt, however they are cut and spaced."""
    text = _text(content)
    for mark in MARKS.values():
        text = text.replace(mark, " ")
    return " ".join(text.split())


def print_of(content: Content) -> str:
    """Tells prompts apart by what they say and show."""
    digest = hashlib.blake2b(words_of(content).encode("utf-8", "replace"), digest_size=16)
    for one in content:
        if isinstance(one, bytes):
            digest.update(seen_or_heard(one))
    return digest.hexdigest()


def seen_or_heard(file: bytes) -> bytes:
    """The digest of pixels or samples."""
    if file[:4] == b"RIFF":
        return hashlib.blake2b(from_wav(file, "a sound of the prompt").samples.tobytes(), digest_size=16).digest()
    pixels = pixels_of(file)
    return hashlib.blake2b(repr(pixels.shape).encode() + pixels.tobytes(), digest_size=16).digest()


def pixels_of(file: bytes) -> np.ndarray:
    """uint8[h, w, 3], of a PNG or of anything that Pillow reads."""
    try:
        return decoded(file)
    except Flaw:
        if file.startswith(JPEG) and file.count(SCAN) > MOST_SCANS:
            raise UserError(f"a picture of the prompt is sent in more than {MOST_SCANS} scans; send PNG") from None
        try:
            from PIL import Image
        except ImportError:
            raise UserError("this picture is no plain PNG; to read others: pip install pillow") from None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", Image.DecompressionBombWarning)
                picture = Image.open(io.BytesIO(file), formats=FORMATS)
            if picture.width * picture.height > LARGEST:
                raise UserError(f"a picture of the prompt has more than {LARGEST:,} pixels; send a smaller one")
            return np.asarray(picture.convert("RGB"))
        except UserError:
            raise
        except Exception as error:  # every reader of Pillow has its own
            raise UserError("a picture of the prompt cannot be read; send PNG") from error


def small(file: bytes) -> np.ndarray:
    """A picture as few pixels, float[SIDE, SIDE, 3]."""
    pixels = pixels_of(file).astype(np.float64)
    for axis in (0, 1):
        cuts = np.linspace(0, pixels.shape[axis], SIDE + 1).astype(int)[:-1]
        pixels = np.add.reduceat(pixels, cuts, axis) / np.maximum(1, np.diff([*cuts, pixels.shape[axis]])).reshape(
            [-1 if one == axis else 1 for one in range(3)]
        )
    return pixels
