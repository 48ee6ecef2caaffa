"""Recordings: a folder of a user's own notes in place of the synthesised ones.

The folder holds one WAV file for each of the 64 notes, `<instrument>_<pitch>.wav`, the pitch as it sounds:

    trumpet_A4.wav  trumpet_B4.wav  trumpet_C4.wav  ...  trumpet_G4.wav  trumpet_A5.wav
    clarinet_... violin_... flute_... oboe_... saxophone_...                                 likewise
    french-horn_A3.wav ... french-horn_G3.wav  french-horn_A4.wav, and guitar_...            an octave lower

Capitals do not matter. Notes of these instruments at other pitches, and files that are not WAV, may lie beside them and
are not used; any other WAV file is taken for a misspelt one. A file may have any rate from 8,000 Hz, any number of
channels and 8 to 32 bits per sample, up to 64 MB, 16 million samples, 64 channels and 384,000 Hz. Channels are
averaged, the rate becomes 44,100 Hz, silence before the note is cut
(up to 5 ms before it first reaches 1 % of its peak), and it is cut or filled up to 40,000 samples, with a fade of 10 ms
where it is cut. Loudness is levelled as for the synthesised notes.

`recorded(folder)` reads everything before anything is heard, and speaks of the first file that is missing or damaged.
"""

from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path

import numpy as np

from recombine.render.instruments import INSTRUMENTS, NOTE, PITCHES, RATE, frequency, sounding
from recombine.render.sound import CUT, Orchestra, orchestra
from recombine.render.wave import Recording, from_wav
from recombine.store.errors import UserError
from recombine.store.paths import inside
from recombine.store.untrusted import read_bytes

SLOWEST = 8_000
"""The lowest rate of a recording, Hz."""
SILENCE = 1e-4
"""A recording that stays below this is silent."""
DULL = 1e-3
"""A note needs this share of its energy below the cut, or its muffled version would be noise."""
REACH = 32
"""Zero crossings of the sinc on either side."""


def file_name(instrument: str, pitch: str) -> str:
    """The file of an instrument's note for a row's pitch.

    >>> file_name("oboe", "A5"), file_name("guitar", "A5")
    ('oboe_A5.wav', 'guitar_A4.wav')
    """
    return f"{instrument}_{sounding(instrument, pitch)}.wav"


def recorded(folder: Path) -> Orchestra:
    """The orchestra of a folder of recordings."""
    files = _files(folder)
    names = [[file_name(instrument, pitch) for pitch in PITCHES] for instrument in INSTRUMENTS]
    missing = [name for row in names for name in row if name.lower() not in files]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise UserError(f"'{folder}' has no '{missing[0]}'{more}; add a recording of that note as a WAV file")
    return orchestra(np.stack([[read_note(files[name.lower()]) for name in row] for row in names]))


def read_note(path: Path) -> np.ndarray:
    """One recording as a note, float64[NOTE]."""
    note = as_note(from_wav(read_bytes(path, advice="make it shorter, or readable"), str(path)), str(path))
    energy = np.abs(np.fft.rfft(note)) ** 2
    if energy[:CUT].sum() < DULL * energy.sum():
        raise UserError(
            f"'{path}' has nothing below {CUT * RATE // NOTE:,} Hz, so its muffled note would be silent; "
            "record the note that its name says"
        )
    return note


def as_note(recording: Recording, name: str) -> np.ndarray:
    """A recording in one channel, at our rate and length, from its first sound on."""
    samples = recording.samples.mean(axis=1, dtype=np.float64)
    if recording.rate < SLOWEST:
        raise UserError(f"'{name}' has only {recording.rate} samples per second; record it with at least {SLOWEST:,}")
    loudest = np.abs(samples).max(initial=0.0)
    if loudest < SILENCE:
        raise UserError(f"'{name}' is silent; record it again, or check that the right track was exported")
    first = int(np.argmax(np.abs(samples) >= loudest / 100))
    start = max(0, first - recording.rate // 200)
    return _fitted(resampled(samples[start : start + recording.rate], recording.rate, RATE))


def resampled(samples: np.ndarray, rate: int, to: int) -> np.ndarray:
    """The samples at another rate, by a sinc under a Hann window, cut at the lower of the two rates' limits."""
    if rate == to:
        return samples
    ratio = Fraction(rate, to)
    scale = float(min(Fraction(1), 1 / ratio))  # below 1 the sinc is wider, and keeps out what the new rate cannot hold
    half = int(np.ceil(REACH / scale))
    padded = np.pad(samples, half)
    count = int(len(samples) / ratio)
    out = np.empty(count)
    taps = np.arange(-half + 1, half + 1)
    for start in range(0, count, 4096):
        # The place of every new sample among the old ones, whole and fractional part, without rounding.
        place = np.arange(start, min(count, start + 4096)) * ratio.numerator
        whole, part = place // ratio.denominator, (place % ratio.denominator) / ratio.denominator
        away = taps - part[:, None]
        weight = np.sinc(scale * away) * np.cos(np.pi * away / (2 * half)) ** 2
        weight *= scale
        out[start : start + len(place)] = np.sum(weight * padded[whole[:, None] + taps + half], axis=1)
    return out


def _fitted(samples: np.ndarray) -> np.ndarray:
    """Cut, with a short fade, or filled up to the length of a note."""
    if len(samples) <= NOTE:
        return np.pad(samples, (0, NOTE - len(samples)))
    fade = RATE // 100
    note = samples[:NOTE].copy()
    note[-fade:] *= np.linspace(1, 0, fade)
    return note


def _files(folder: Path) -> dict[str, Path]:
    """The WAV files of a folder, by name without capitals; refuses misspelt ones."""
    if not folder.is_dir():
        raise UserError(f"there is no folder '{folder}'; give the folder that holds your recordings")
    files: dict[str, Path] = {}
    for path in sorted(inside(folder, path) for path in folder.iterdir() if path.suffix.lower() == ".wav"):
        name = path.name.lower()
        _check_name(path)
        if name in files:
            raise UserError(f"'{files[name]}' and '{path}' are the same note; keep one of them")
        files[name] = path
    return files


def _check_name(path: Path) -> None:
    """Refuse a file whose name says no note of an instrument."""
    instrument, _, pitch = path.stem.rpartition("_")
    try:
        frequency(pitch.upper())
    except UserError:
        pitch = ""
    if instrument.lower() in INSTRUMENTS and pitch:
        return
    wanted = [file_name(i, p) for i in INSTRUMENTS for p in PITCHES]
    close = get_close_matches(path.name, wanted, 1, 0.0)[0]
    raise UserError(
        f"'{path}' is not named after a note; call it <instrument>_<pitch>.wav, such as '{close}', with one of "
        f"{', '.join(INSTRUMENTS)}, or take it out of the folder"
    )
