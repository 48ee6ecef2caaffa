"""A user's own notes are heard as they were recorded, and a folder that does not serve says which file and why."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from recombine.render.instruments import INSTRUMENTS, NOTE, PITCHES, RATE, frequency, sounding
from recombine.render.recordings import as_note, file_name, read_note, recorded, resampled
from recombine.render.sound import FULL, levelled
from recombine.render.wave import Recording, to_wav
from recombine.store.errors import UserError

SHORT = 3_000


def tone(hertz: float, length: int = SHORT, rate: int = RATE) -> np.ndarray:
    """A note that starts at once and dies away, in whole 16-bit steps."""
    time = np.arange(length) / rate
    return np.rint(16_000 * np.cos(2 * np.pi * hertz * time) * np.exp(-9 * time)) / 32_768


def tone_of(instrument: str, pitch: str) -> np.ndarray:
    return tone(frequency(sounding(instrument, pitch)) * (1 + 0.001 * INSTRUMENTS.index(instrument)))


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notes")
    for instrument in INSTRUMENTS:
        for pitch in PITCHES:
            (folder / file_name(instrument, pitch)).write_bytes(to_wav(tone_of(instrument, pitch)))
    (folder / "README.txt").write_text("my notes")
    (folder / "trumpet_F#5.wav").write_bytes(b"not used")
    return folder


@pytest.fixture
def folder(originals: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(originals, tmp_path / "notes"))


def test_a_folder_plays_its_own_notes(folder: Path) -> None:
    (folder / "guitar_A3.wav").rename(folder / "Guitar_a3.WAV")
    steady = recorded(folder).notes[:, :, 0, 0]
    for place in np.ndindex(8, 8):
        note = np.pad(tone_of(INSTRUMENTS[place[0]], PITCHES[place[1]]), (0, NOTE - SHORT))
        np.testing.assert_array_equal(steady[place], np.rint(levelled(note) * FULL))


def spoil(folder: Path, what: str) -> Path:
    """Spoil the oboe's C4."""
    path = folder / "oboe_C4.wav"
    whole = path.read_bytes()
    if what == "missing":
        path.unlink()
    elif what == "misspelt":
        path.rename(folder / "obo_C4.wav")
        return folder / "obo_C4.wav"
    elif what == "no pitch":
        path.rename(folder / "oboe.wav")
        return folder / "oboe.wav"
    elif what == "twice":
        (folder / "OBOE_c4.wav").write_bytes(whole)
        if len(list(folder.glob("[oO][bB][oO][eE]_[cC]4.wav"))) < 2:
            pytest.skip("this file system does not tell capitals apart")
    elif what == "a folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(
            {
                "empty": b"",
                "text": b"I am not a sound",
                "cut": whole[:-100],
                "no samples": to_wav(np.zeros(0)),
                "silent": to_wav(np.zeros(SHORT)),
                "too high": to_wav(tone(9_000)),
                "too slow": to_wav(tone(262, rate=4_000), 4_000),
            }[what]
        )
    return path


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("missing", "add a recording of that note as a WAV file"),
        ("misspelt", "call it <instrument>_<pitch>.wav, such as 'oboe_C4.wav'"),
        ("no pitch", "call it <instrument>_<pitch>.wav"),
        ("twice", "are the same note; keep one of them"),
        ("a folder", "cannot be read: it is no file"),
        ("empty", "is not a WAV file that can be read (it ends too early)"),
        ("text", "is not a WAV file that can be read"),
        ("cut", "ends before its last sample; copy it again"),
        ("no samples", "is silent; record it again"),
        ("silent", "is silent; record it again"),
        ("too high", "has nothing below 1,102 Hz"),
        ("too slow", "has only 4000 samples per second"),
    ],
)
def test_a_spoilt_file_is_named_and_can_be_fixed(folder: Path, what: str, message: str) -> None:
    path = spoil(folder, what)
    with pytest.raises(UserError) as caught:
        recorded(folder)
    assert path.name in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_outside_the_folder_is_read(folder: Path, tmp_path: Path) -> None:
    (folder / "oboe_C4.wav").rename(tmp_path / "oboe_C4.wav")
    (folder / "oboe_C4.wav").symlink_to(tmp_path / "oboe_C4.wav")
    with pytest.raises(UserError, match=r"oboe_C4\.wav leads out of .*; remove the link"):
        recorded(folder)
    (folder / "oboe_C4.wav").unlink()
    (tmp_path / "oboe_C4.wav").rename(folder / "mine.txt")
    (folder / "oboe_C4.wav").symlink_to("mine.txt")
    (tmp_path / "link").symlink_to(folder)
    recorded(tmp_path / "link")


def test_a_missing_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        recorded(tmp_path / "nowhere")
    with pytest.raises(UserError, match=r"has no 'trumpet_A4\.wav' and 63 more"):
        recorded(tmp_path)


@settings(max_examples=20, deadline=None)
@given(some.sampled_from((8_000, 22_050, 32_000, 48_000, 96_000)), some.floats(100, 3_000))
def test_resampling_keeps_a_sine(rate: int, hertz: float) -> None:
    def sine(at: int) -> np.ndarray:
        return np.sin(2 * np.pi * hertz * np.arange(at // 5) / at)

    heard = resampled(sine(rate), rate, RATE)
    assert len(heard) == pytest.approx(RATE / 5, abs=1)
    inside = slice(400, len(heard) - 400)
    np.testing.assert_allclose(heard[inside], sine(RATE)[: len(heard)][inside], atol=2e-3)


def test_resampling_drops_what_the_new_rate_cannot_hold() -> None:
    high = np.sin(2 * np.pi * 30_000 * np.arange(20_000) / 96_000)
    assert np.abs(resampled(high, 96_000, RATE)[100:-100]).max() < 1e-3
    np.testing.assert_array_equal(resampled(high, RATE, RATE), high)


def test_channels_are_averaged_silence_before_is_cut_and_length_is_fitted() -> None:
    left = np.concatenate([np.zeros(10_000), tone(300, 60_000)]).astype(np.float32)
    note = as_note(Recording(np.stack([left, np.zeros_like(left)], axis=1), RATE), "it")
    start = RATE // 200
    assert note.shape == (NOTE,) and not note[: start - 1].any()
    kept = NOTE - start - RATE // 100
    np.testing.assert_allclose(note[start : start + kept], left[10_000 : 10_000 + kept] / 2, atol=1e-7)
    assert note[-1] == 0


def test_a_note_at_another_rate_is_the_same_note(tmp_path: Path) -> None:
    (tmp_path / "one.wav").write_bytes(to_wav(tone(300, 48_000, 48_000), 48_000))
    heard, expected = read_note(tmp_path / "one.wav"), tone(300, NOTE)
    np.testing.assert_allclose(heard[500 : NOTE - 500], expected[500 : NOTE - 500], atol=1e-3)
