"""Scenes as sound: every object is a note.

| property | what is heard (paper B.5)                                                                           |
|----------|-----------------------------------------------------------------------------------------------------|
| column   | when the note starts: eight onsets, evenly from sample 0 to 80,000; left is early                   |
| row      | its pitch: A4 B4 C4 D4 E4 F4 G4 A5 from the top; an octave lower for french horn and guitar         |
| colour   | its instrument: gray trumpet, red clarinet, blue violin, green flute, brown oboe, purple saxophone, |
|          | cyan french horn, yellow guitar                                                                     |
| shape    | its profile: a cube is steady, a sphere fades as (1 -> 0)^2, a cylinder swells as (0 -> 1)^2        |
| size     | its volume: large 1, small 0.3                                                                      |
| material | metal is muffled, rubber is not                                                                     |

A scene is 120,000 samples at 44,100 Hz (2.72 s), a note 40,000. To muffle a note is to drop bins 1000 and above of its
Fourier transform, 1,102.5 Hz, after its profile was applied, and to restore its energy.

**Loudness.** Every note has the same energy before profile and volume: a root mean square of 0.036. Nothing is
normalised per scene, so the same object sounds the same in any company. Our instruments never reach 0.2, so five of
them cannot clip; what goes beyond (more objects, recordings with sharp peaks) is cut off at full scale.

**Exactness.** A sound is the sum of its notes, each a whole number of 16-bit steps. So the sum does not depend on the
order of objects, scenes or batches, what lies between notes is exactly silent, and a 16-bit WAV file holds all of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from recombine.render.instruments import INSTRUMENTS, NOTE, PITCHES, RATE, sounding, synthesised
from recombine.store.compiled import compiled
from recombine.store.errors import UserError
from recombine.world.scenes import ABSENT, Scenes

SCENE = 120_000
"""Samples of one scene."""
COLUMNS = ROWS = len(PITCHES)
ONSETS = np.floor(np.linspace(0, SCENE - NOTE, COLUMNS)).astype(np.int64)
PROFILES = {
    "steady": np.ones(NOTE),
    "fading": np.linspace(1, 0, NOTE) ** 2,
    "swelling": np.linspace(0, 1, NOTE) ** 2,
}
TIMBRES = ("open", "muffled")
CUT = 1000
"""The first bin of a note's Fourier transform that muffling drops."""
LEVEL = 0.036
"""The root mean square of every note before profile and volume."""
FULL = 32_768
"""16-bit steps up to full scale."""

COLOR_INSTRUMENTS = (
    ("gray", "trumpet"),
    ("red", "clarinet"),
    ("blue", "violin"),
    ("green", "flute"),
    ("brown", "oboe"),
    ("purple", "saxophone"),
    ("cyan", "french-horn"),
    ("yellow", "guitar"),
)
SHAPE_PROFILES = (("cube", "steady"), ("sphere", "fading"), ("cylinder", "swelling"))
MATERIAL_TIMBRES = (("rubber", "open"), ("metal", "muffled"))
SIZE_VOLUMES = (("0.35", 0.3), ("small", 0.3), ("0.7", 1.0), ("large", 1.0))


@dataclass(frozen=True)
class Voicing:
    """How the properties of objects are heard; `first_bin` is the number of the first column and row, 0 or 1."""

    first_bin: int
    instruments: tuple[tuple[str, str], ...] = COLOR_INSTRUMENTS
    profiles: tuple[tuple[str, str], ...] = SHAPE_PROFILES
    timbres: tuple[tuple[str, str], ...] = MATERIAL_TIMBRES
    volumes: tuple[tuple[str, float], ...] = SIZE_VOLUMES

    def __post_init__(self) -> None:
        for what, table, known in (
            ("instrument", self.instruments, INSTRUMENTS),
            ("profile", self.profiles, tuple(PROFILES)),
            ("timbre", self.timbres, TIMBRES),
        ):
            for value, name in table:
                if name not in known:
                    raise UserError(f"'{value}' sounds as no known {what} '{name}'; choose one of {', '.join(known)}")
        for value, volume in self.volumes:
            if not 0 <= volume <= 1:
                raise UserError(f"'{value}' has the volume {volume}; choose one from 0 to 1")


@dataclass(frozen=True, eq=False)
class Orchestra:
    """Every note that can be heard, in 16-bit steps and at full volume."""

    notes: np.ndarray  # int16[instrument, row, profile, timbre, NOTE]


def orchestra(notes: np.ndarray) -> Orchestra:
    """The orchestra that plays these notes, float[instrument, row, NOTE], whatever their loudness."""
    profiles = np.stack(list(PROFILES.values()))
    steps = np.empty((*notes.shape[:2], len(PROFILES), len(TIMBRES), NOTE), np.int16)
    for place in np.ndindex(notes.shape[:2]):
        shaped = levelled(notes[place]) * profiles  # float64[profile, NOTE]
        voiced = np.stack([shaped, muffled(shaped)], axis=1)
        steps[place] = np.rint(voiced * FULL).clip(1 - FULL, FULL - 1)
    steps.setflags(write=False)
    return Orchestra(steps)


@cache
def synthesised_orchestra() -> Orchestra:
    """The orchestra of synthesised instruments; made once per process, in about a second."""
    return orchestra(synthesised())


def levelled(notes: np.ndarray) -> np.ndarray:
    """The notes, all with the same energy, float64[..., NOTE]; none may be silent."""
    notes = notes.astype(np.float64)
    return notes * (LEVEL / np.sqrt(np.mean(notes * notes, axis=-1, keepdims=True)))


def muffled(notes: np.ndarray) -> np.ndarray:
    """The notes without their upper frequencies, each with the same energy; silent if it has nothing else."""
    spectrum = np.fft.rfft(notes)
    spectrum[..., CUT:] = 0
    low = np.fft.irfft(spectrum, notes.shape[-1])
    before, after = (np.linalg.norm(x, axis=-1, keepdims=True) for x in (notes, low))
    return low * np.divide(before, after, out=np.zeros_like(after), where=after > 0)


def sounds(scenes: Scenes, voicing: Voicing, players: Orchestra | None = None) -> np.ndarray:
    """What the scenes sound like, float32[n, SCENE] between -1 and 1; without players, the synthesised ones play."""
    notes = (players or synthesised_orchestra()).notes
    out = np.zeros((len(scenes), SCENE), np.float32)
    _mix(notes.reshape(-1, NOTE), *_parts(scenes, voicing), out)
    return out


def described(scenes: Scenes, scene: int, voicing: Voicing) -> tuple[str, ...]:
    """What each object of one scene plays, in words: 'guitar C3 from 0.26 s, fading, muffled, at 30 %'."""
    one = scenes[scene : scene + 1]
    which, onset, volume = _parts(one, voicing)
    kinds = (len(INSTRUMENTS), ROWS, len(PROFILES), len(TIMBRES))
    return tuple(
        _words(tuple(map(int, np.unravel_index(which[0, i], kinds))), onset[0, i] / RATE, float(volume[0, i]))
        for i in range(int(one.count[0]))
    )


def _words(place: tuple[int, ...], start: float, volume: float) -> str:
    instrument, row, profile, timbre = place
    name = INSTRUMENTS[instrument]
    kinds = f"{tuple(PROFILES)[profile]}, {TIMBRES[timbre]}"
    return f"{name} {sounding(name, PITCHES[row])} from {start:.2f} s, {kinds}, at {100 * volume:.0f} %"


def _parts(scenes: Scenes, voicing: Voicing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every object: its note (-1: no object), onset and volume; int64[n, k], int64[n, k], float32[n, k]."""
    check_scenes(scenes, voicing)
    place = (
        _looked(scenes, "color", _numbered(voicing.instruments, INSTRUMENTS)),
        _bins(scenes, "locationY", voicing.first_bin),
        _looked(scenes, "shape", _numbered(voicing.profiles, tuple(PROFILES))),
        _looked(scenes, "material", _numbered(voicing.timbres, TIMBRES)),
    )
    which = np.ravel_multi_index(place, (len(INSTRUMENTS), ROWS, len(PROFILES), len(TIMBRES)))
    there = np.arange(scenes.places) < scenes.count[:, None]
    onset = ONSETS[_bins(scenes, "locationX", voicing.first_bin)]
    volume = _looked(scenes, "size", dict(voicing.volumes)).astype(np.float32)
    return np.where(there, which, -1), onset, volume


def check_scenes(scenes: Scenes, voicing: Voicing) -> None:
    """Refuse scenes that this voicing gives no sound, whatever objects are in them."""
    tables = {"color": "instruments", "shape": "profiles", "material": "timbres", "size": "volumes"}
    if missing := {*tables, "locationX", "locationY"} - set(scenes.codes):
        raise UserError(f"scenes without {', '.join(sorted(missing))} have no sound; CURI's scenes have all of it")
    for name, table in tables.items():
        for value in scenes.vocabulary[name].values:
            if value not in dict(getattr(voicing, table)):
                raise UserError(f"the {name} '{value}' has no sound; name it in Voicing({table}=...)")


def _numbered(table: tuple[tuple[str, str], ...], names: tuple[str, ...]) -> dict[str, int]:
    return {value: names.index(name) for value, name in table}


def _looked(scenes: Scenes, attribute: str, table: Mapping[str, float]) -> np.ndarray:
    """What a table says about the value of every object; the first value's where there is no object."""
    codes = scenes.codes[attribute]
    found = np.array([table[value] for value in scenes.vocabulary[attribute].values])
    return found[np.where(codes == ABSENT, 0, codes)]


def _bins(scenes: Scenes, attribute: str, first: int) -> np.ndarray:
    """The column or row of every object, from 0 to 7; 0 where there is no object."""
    values = scenes.vocabulary[attribute].values
    if not all(value.isdecimal() for value in values):
        raise UserError(f"{attribute} is heard only if its values are numbers, not {', '.join(values)}")
    numbers = _looked(scenes, attribute, {value: int(value) for value in values})
    bins = np.where(scenes.codes[attribute] == ABSENT, 0, numbers - first)
    wrong = (bins < 0) | (bins >= COLUMNS)
    if wrong.any():
        raise UserError(
            f"an object has the {attribute} {numbers[wrong][0]}, but a grid with first_bin={first} ends at "
            f"{first} and {first + COLUMNS - 1}; use the first_bin of the world that made the scenes"
        )
    return bins


@compiled
def _mix(notes: np.ndarray, which: np.ndarray, onset: np.ndarray, volume: np.ndarray, out: np.ndarray) -> None:
    """Add the notes of every scene in whole 16-bit steps, which float32 adds exactly; then cut off at full scale."""
    for scene in range(len(out)):
        sound = out[scene]
        for place in range(which.shape[1]):
            if which[scene, place] >= 0:
                note, loud = notes[which[scene, place]], volume[scene, place]
                heard = sound[onset[scene, place] : onset[scene, place] + len(note)]
                for t in range(len(note)):
                    heard[t] += np.rint(np.float32(note[t]) * loud)
        for t in range(len(sound)):
            sound[t] = min(max(sound[t], np.float32(1 - FULL)), np.float32(FULL - 1)) * np.float32(1 / FULL)
