"""WAV files come back as they went, and damaged ones say so."""

import io
import wave

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

from recombine.render.instruments import RATE
from recombine.render.wave import from_wav, to_wav
from recombine.store.errors import UserError

STEPS = arrays(np.int16, some.integers(0, 300))


def written(frames: bytes, width: int, channels: int = 1, rate: int = 8_000) -> bytes:
    """A WAV file of any kind, by the standard library."""
    data = io.BytesIO()
    with wave.open(data, "wb") as file:
        file.setparams((channels, width, rate, 0, "NONE", ""))
        file.writeframes(frames)
    return data.getvalue()


@given(STEPS, some.sampled_from((8_000, RATE, 96_000)))
def test_what_is_written_is_read_again(steps: np.ndarray, rate: int) -> None:
    samples = steps.astype(np.float32) / 32_768
    again = from_wav(to_wav(samples, rate), "it")
    assert again.rate == rate and again.samples.shape == (len(steps), 1)
    np.testing.assert_array_equal(again.samples[:, 0], samples)


@given(STEPS)
def test_our_bytes_are_the_standard_librarys(steps: np.ndarray) -> None:
    assert to_wav(steps / 32_768, 8_000) == written(steps.astype("<i2").tobytes(), 2)


@given(STEPS)
def test_all_widths_hold_the_same_sound(steps: np.ndarray) -> None:
    wide = steps.astype(np.int64)
    frames = {
        1: (wide // 256 + 128).astype(np.uint8).tobytes(),
        2: wide.astype("<i2").tobytes(),
        3: (wide << 8).astype("<i4").view(np.uint8).reshape(-1, 4)[:, :3].tobytes(),
        4: (wide << 16).astype("<i4").tobytes(),
    }
    for width, data in frames.items():
        read = from_wav(written(data, width), "it").samples[:, 0]
        np.testing.assert_allclose(read, steps / 32_768, atol=1 / 127 if width == 1 else 0)


def test_channels_stay_apart() -> None:
    stereo = np.array([[1, -1], [2, -2], [3, -3]], "<i2")
    np.testing.assert_array_equal(from_wav(written(stereo.tobytes(), 2, 2), "it").samples * 32_768, stereo)


def test_too_loud_is_cut_off() -> None:
    np.testing.assert_array_equal(from_wav(to_wav(np.array([2.0, -2.0])), "it").samples[:, 0], [32_767 / 32_768, -1])


def test_a_cut_file_says_so() -> None:
    data = to_wav(np.full(50, 0.5))
    for length in range(len(data) - 1):
        with pytest.raises(UserError, match=r"'horn\.wav' .*WAV file with 16-bit PCM"):
            from_wav(data[:length], "horn.wav")


@given(some.binary(max_size=100))
def test_other_bytes_say_so(data: bytes) -> None:
    with pytest.raises(UserError, match="'it' is not a WAV file"):
        from_wav(data, "it")


@given(some.integers(0, 43), some.integers(0, 255))
def test_a_broken_header_is_read_or_refused(place: int, value: int) -> None:
    data = bytearray(to_wav(np.full(50, 0.5)))
    data[place] = value
    try:
        from_wav(bytes(data), "it")
    except UserError as error:
        assert "'it'" in str(error)
