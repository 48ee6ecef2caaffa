"""WAV files: 16-bit mono out, any whole-number PCM in.

A sample of x is written as the nearest whole number of 1/32768, so what `sounds` makes comes back exactly.
"""

import io
import wave
from typing import Any, NamedTuple

import numpy as np

from recombine.render.instruments import RATE
from recombine.store.errors import UserError

FULL = 32_768
HINT = "export it again as a WAV file with 16-bit PCM samples"
FASTEST, MOST_CHANNELS, MOST_SAMPLES = 384_000, 64, 2**24
"""The highest rate, channels, and samples of all channels together: a minute and a half in stereo at 96 kHz."""
MOST_PARTS = 10_000
"""Parts of a file: the form, the samples, and whatever programs leave beside them."""


class Recording(NamedTuple):
    """What a WAV file holds."""

    samples: np.ndarray  # float32[t, channels], between -1 and 1
    rate: int


def to_wav(samples: np.ndarray, rate: int = RATE) -> bytes:
    """The bytes of a WAV file, from float[t] between -1 and 1; what is louder is cut off."""
    steps = np.rint(np.asarray(samples, np.float64) * FULL).clip(-FULL, FULL - 1)
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(steps.astype("<i2").tobytes())
    return data.getvalue()


def from_wav(data: bytes, name: str) -> Recording:
    """What the bytes of a WAV file hold; `name` is what an error calls it."""
    if _parts(data) > MOST_PARTS:
        raise UserError(f"'{name}' has more than {MOST_PARTS:,} parts; {HINT}")
    try:
        with wave.open(io.BytesIO(data), "rb") as file:
            form = file.getparams()
            _check(form, name)
            frames = file.readframes(form.nframes)
    except (wave.Error, EOFError, RuntimeError) as error:  # the last for a chunk that claims more than the file has
        reason = str(error) or "it ends too early"
        raise UserError(f"'{name}' is not a WAV file that can be read ({reason}); {HINT}") from error
    if len(frames) != form.nframes * form.nchannels * form.sampwidth:
        raise UserError(f"'{name}' ends before its last sample; copy it again, or {HINT}")
    samples = _DECODERS[form.sampwidth](frames).reshape(-1, form.nchannels)
    return Recording(samples.astype(np.float32), form.framerate)


def _parts(data: bytes) -> int:
    """How many parts a file has, counted until they are too many."""
    start, found = 12, 0
    while start + 8 <= len(data) and found <= MOST_PARTS:
        size = int.from_bytes(data[start + 4 : start + 8], "little")
        start, found = start + 8 + size + size % 2, found + 1
    return found


def _check(form: Any, name: str) -> None:
    """Refuse what a header says before anything is unpacked."""
    if form.sampwidth not in _DECODERS or form.nchannels < 1 or form.framerate < 1:
        raise UserError(f"'{name}' has a damaged header; {HINT}")
    samples = form.nframes * form.nchannels
    if form.framerate > FASTEST or form.nchannels > MOST_CHANNELS or samples > MOST_SAMPLES:
        raise UserError(
            f"'{name}' has {samples:,} samples in {form.nchannels:,} channels at {form.framerate:,} Hz, more than "
            f"{MOST_SAMPLES:,}, {MOST_CHANNELS} or {FASTEST:,}; cut it, or {HINT}"
        )


def _three_bytes(frames: bytes) -> np.ndarray:
    padded = np.zeros((len(frames) // 3, 4), np.uint8)
    padded[:, 1:] = np.frombuffer(frames, np.uint8).reshape(-1, 3)
    return padded.view("<i4")[:, 0] / 2.0**31


_DECODERS = {
    1: lambda frames: np.frombuffer(frames, np.uint8) / 128.0 - 1.0,
    2: lambda frames: np.frombuffer(frames, "<i2") / FULL,
    3: _three_bytes,
    4: lambda frames: np.frombuffer(frames, "<i4") / 2.0**31,
}
"""Bytes per sample -> how to read them."""
