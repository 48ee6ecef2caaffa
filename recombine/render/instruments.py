"""Eight synthesised instruments, each told from the others by its spectrum, its envelope and how it moves.

A note is 40,000 samples at 44,100 Hz, 0.907 s. The paper used recordings, which cannot be shipped, and states no rate:
44,100 Hz is what recordings usually have, and the low-pass (below bin 1000 of a note, here 1,102.5 Hz) then leaves
every fundamental.

Rows of the grid are the pitches A4 B4 C4 D4 E4 F4 G4 A5, tuned to A4 = 440 Hz in equal temperament; the french horn and
the guitar play them an octave lower.

Seven instruments are sums of harmonics. Harmonic n at f hertz has the amplitude

    n^-slope * (1 for odd n, `even` for even n) * (1 - depth + depth * the nearest of its formants at f),

a formant being a bell over the logarithm of frequency, half an octave wide, and depth 0.9 (trumpet 0.85, violin 0.8,
saxophone 0.7). There are at most 40 harmonics, none above 16 kHz, so nothing folds back. In brass the upper ones
enter late: it blooms, from harmonics that are n times weaker. Breath, bow and pick are noise around one frequency.
Envelopes are straight lines between the points given below, times in milliseconds. Vibrato moves the pitch, tremolo the
loudness.

| instrument  | spectrum                                     | envelope (ms: level)      | movement, noise             |
|-------------|----------------------------------------------|---------------------------|-----------------------------|
| trumpet     | slope 0.5, formant 1,500 Hz, blooms in 70 ms | 25: 1, 220: .7, level     | straight                    |
| clarinet    | slope 1.1, even harmonics at 5 %             | 60: .6, 450: 1, 850: .6   | straight                    |
| violin      | slope 0.9, formants 480, 1,100, 2,800 Hz     | 130: .9, 700: 1           | vibrato 6 Hz ± 2.6 %, bow   |
| flute       | slope 2.4                                    | 80: 1, level              | tremolo 5 Hz 45 %, breath   |
| oboe        | slope 0.3, formants 1,150, 2,900 Hz          | 12: 1, level              | vibrato 7.5 Hz ± 0.9 %      |
| saxophone   | slope 0.8, formants 650, 1,800 Hz            | 35: 1, 800: .8            | growl 32 Hz 50 %, slides up |
| french horn | slope 1.6, blooms in 160 ms                  | 150: .8, 500: 1           | straight, breath            |
| guitar      | plucked at 1/5 of its string; upper partials | decays by 60 dB in 4.6 s, | pick noise, 8 ms            |
|             | slightly sharp                               | upper partials faster     |                             |

The guitar is a plucked string: partial n starts with sin(n pi / 5) / n, sounds at n f sqrt(1 + 0.0002 n^2) and dies
away faster the higher it is. The saxophone starts 8 % flat and is in tune after 110 ms. The noise beside the tone is
3 % around 3,000 Hz (violin), 10 % around 1,200 Hz (flute), 2 % around 400 Hz (french horn) and, at the start, 25 %
around 2,500 Hz (guitar). All notes end with a fade of 25 ms.
"""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from recombine.store.errors import UserError
from recombine.store.key import Key

RATE = 44_100
"""Samples per second."""
NOTE = 40_000
"""Samples of one note."""
PITCHES = ("A4", "B4", "C4", "D4", "E4", "F4", "G4", "A5")
"""The pitch of every row of the grid."""
OCTAVE_LOWER = ("french-horn", "guitar")

TIME = np.arange(NOTE) / RATE
HARMONICS = 40
HIGHEST = 16_000.0
"""Harmonics above this many hertz are left out."""
NOISE = Key(5) / "instruments"
"""Breath is a part of the instrument: it is always the same."""

Points = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Noise:
    """A hiss around one frequency."""

    level: float  # beside the tone, both at their own root mean square
    centre: float  # Hz
    octaves: float


@dataclass(frozen=True)
class Sustained:
    """A blown or bowed instrument: what its notes are made of."""

    slope: float
    envelope: Points  # (milliseconds, level)
    even: float = 1.0
    formants: tuple[float, ...] = ()  # Hz
    depth: float = 0.9  # how much the formants decide
    bloom: float = 0.0  # milliseconds until the upper harmonics are there
    vibrato: tuple[float, float] = (0.0, 0.0)  # Hz, share of the pitch
    tremolo: tuple[float, float] = (0.0, 0.0)  # Hz, share of the loudness
    slide: tuple[float, float] = (0.0, 0.0)  # share of the pitch below at the start, milliseconds until in tune
    noise: Noise | None = None


@dataclass(frozen=True)
class Plucked:
    """A plucked string."""

    at: float  # where, as a share of the string
    stiffness: float
    fall: float  # 1/s, how fast the first partial dies away
    fall_above: float  # 1/s more for each further partial
    noise: Noise


BAND: dict[str, Sustained | Plucked] = {
    "trumpet": Sustained(0.5, ((0, 0), (25, 1), (220, 0.7), (907, 0.7)), formants=(1500,), depth=0.85, bloom=70),
    "clarinet": Sustained(1.1, ((0, 0), (60, 0.6), (450, 1), (850, 0.6), (907, 0.5)), even=0.05),
    "violin": Sustained(
        0.9,
        ((0, 0), (130, 0.9), (700, 1), (907, 0.9)),
        formants=(480, 1100, 2800),
        depth=0.8,
        vibrato=(6.0, 0.026),
        noise=Noise(0.03, 3000, 1.0),
    ),
    "flute": Sustained(2.4, ((0, 0), (80, 1), (907, 1)), tremolo=(5.0, 0.45), noise=Noise(0.1, 1200, 1.0)),
    "oboe": Sustained(0.3, ((0, 0), (12, 1), (907, 1)), formants=(1150, 2900), vibrato=(7.5, 0.009)),
    "saxophone": Sustained(
        0.8,
        ((0, 0), (35, 1), (800, 0.8), (907, 0.8)),
        formants=(650, 1800),
        depth=0.7,
        tremolo=(32.0, 0.5),
        slide=(0.08, 110.0),
    ),
    "french-horn": Sustained(1.6, ((0, 0), (150, 0.8), (500, 1), (907, 0.9)), bloom=160, noise=Noise(0.02, 400, 0.5)),
    "guitar": Plucked(0.2, 0.0002, 1.5, 0.3, Noise(0.25, 2500, 1.0)),
}
INSTRUMENTS = tuple(BAND)


def sounding(instrument: str, pitch: str) -> str:
    """The pitch that an instrument plays for a row's pitch.

    >>> sounding("trumpet", "C4"), sounding("guitar", "C4")
    ('C4', 'C3')
    """
    name, octave = pitch[:-1], int(pitch[-1])
    return f"{name}{octave - (instrument in OCTAVE_LOWER)}"


def frequency(pitch: str) -> float:
    """Hertz of a pitch such as A4 or F#3, in equal temperament.

    >>> frequency("A4"), round(frequency("C4"), 2)
    (440.0, 261.63)
    """
    if not re.fullmatch(r"[A-G]#?[0-9]", pitch):
        raise UserError(f"'{pitch}' is not a pitch; write a letter and an octave, such as A4 or F#3")
    steps = {"C": -9, "D": -7, "E": -5, "F": -4, "G": -2, "A": 0, "B": 2}[pitch[0]] + ("#" in pitch)
    return round(440.0 * 2.0 ** (int(pitch[-1]) - 4 + steps / 12), 6)  # the same on every machine


def note(instrument: str, pitch: str) -> np.ndarray:
    """One note at this pitch as it sounds, float64[NOTE], with a peak of 1."""
    if instrument not in BAND:
        raise UserError(f"there is no instrument '{instrument}'; choose one of {', '.join(INSTRUMENTS)}")
    player, hertz, key = BAND[instrument], frequency(pitch), NOISE / instrument / pitch
    tone = _plucked(player, hertz, key) if isinstance(player, Plucked) else _sustained(player, hertz, key)
    tone = tone * np.interp(TIME, (TIME[-1] - 0.025, TIME[-1]), (1.0, 0.0))
    return tone / np.abs(tone).max()


@cache
def synthesised() -> np.ndarray:
    """All notes, float32[instrument, row, NOTE]; made once per process, not to be written to."""
    notes = np.stack([[note(name, sounding(name, pitch)) for pitch in PITCHES] for name in INSTRUMENTS])
    notes = notes.astype(np.float32)
    notes.setflags(write=False)
    return notes


def _sustained(player: Sustained, hertz: float, key: Key) -> np.ndarray:
    turn = np.exp(1j * _phase(player, hertz))
    strength = _strengths(player, hertz)
    start = strength * _starts(strength)
    tone = _harmonics(start, turn)
    if player.bloom:
        dark = _harmonics(start / np.arange(1, len(start) + 1), turn)
        bright = np.minimum(1.0, 1000 * TIME / player.bloom)
        tone = dark * (1 - bright) + tone * bright
    if player.noise:
        tone = tone + _hiss(player.noise, key)
    return tone * _envelope(player)


def _phase(player: Sustained, hertz: float) -> np.ndarray:
    """The phase of the first harmonic, radians; in closed form, since a running sum would add up rounding errors."""
    (speed, width), (below, until) = player.vibrato, player.slide
    time = TIME
    if speed:
        turns = 2 * np.pi * speed
        time = time + width * (1 - np.cos(turns * TIME)) / turns
    if until:
        late = np.minimum(1000 * TIME / until, 1.0)
        time = time - below * until / 1000 * (late - late * late / 2)
    return 2 * np.pi * hertz * time


def _strengths(player: Sustained, hertz: float) -> np.ndarray:
    """The amplitude of every harmonic."""
    n = _numbers(hertz)
    strength = n**-player.slope * np.where(n % 2, 1.0, player.even)
    if player.formants:
        away = np.abs(np.log2(n[:, None] * hertz / np.array(player.formants))).min(axis=1)
        strength = strength * (1 - player.depth + player.depth * np.exp(-((away / 0.5) ** 2)))
    return strength


def _numbers(hertz: float) -> np.ndarray:
    """1, 2, ... for the harmonics that are sounded."""
    return np.arange(1, min(HARMONICS, int(HIGHEST / hertz)) + 1, dtype=float)


def _harmonics(start: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """The sum of all harmonics of a turning phase, each from its start; with a root mean square of 1."""
    total = np.zeros(len(turn), complex)
    for one in start[::-1]:  # Horner: harmonic n is the n-th power of the turn
        total += one
        total *= turn
    return total.real / _size(total.real)


def _starts(strength: np.ndarray) -> np.ndarray:
    """The phases at which harmonics start, as unit numbers; spread as Schroeder's are, which keeps the peaks low."""
    power = strength * strength / np.sum(strength * strength)
    return np.exp(-2j * np.pi * np.cumsum(np.cumsum(power)))


def _envelope(player: Sustained) -> np.ndarray:
    speed, depth = player.tremolo
    times, levels = zip(*player.envelope)
    shaken = 1 - depth * (0.5 - 0.5 * np.cos(2 * np.pi * speed * TIME))
    return np.interp(1000 * TIME, times, levels) * shaken


def _plucked(string: Plucked, hertz: float, key: Key) -> np.ndarray:
    n = _numbers(hertz)
    strength = np.sin(np.pi * n * string.at) / n
    turns = n * hertz * np.sqrt(1 + string.stiffness * n * n)
    speed = 2j * np.pi * turns - string.fall - string.fall_above * (n - 1)
    tone = np.zeros(NOTE)
    for start, one in zip(strength * np.exp(1j * n * n), speed):  # phases apart: a pluck, but not one sharp peak
        tone += (start * _spiral(one)).imag
    pick = _hiss(string.noise, key) * np.exp(-TIME / 0.008)
    return (tone / _size(tone[: NOTE // 10]) + pick) * np.minimum(1.0, TIME / 0.003)


def _spiral(speed: complex) -> np.ndarray:
    """exp(speed * TIME): a turn that dies away. One row of fine steps turned by one column of coarse ones."""
    fine = np.exp(speed * TIME[:200])
    return (np.exp(speed * TIME[::200])[:, None] * fine).reshape(NOTE)


def _hiss(noise: Noise, key: Key) -> np.ndarray:
    """Noise of a given colour."""
    white = np.fft.rfft(key.rng().random(NOTE) - 0.5)
    hertz = np.maximum(np.fft.rfftfreq(NOTE, 1 / RATE), 1.0)
    colour = np.exp(-((np.log2(hertz / noise.centre) / noise.octaves) ** 2))
    band = np.fft.irfft(white * colour, NOTE)
    return noise.level * band / _size(band)


def _size(samples: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(samples * samples)))
