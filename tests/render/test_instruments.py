"""Laws of the synthesised instruments: in tune, without clicks, and each as its description says."""

import numpy as np
import pytest

from recombine.render.instruments import (
    INSTRUMENTS,
    NOTE,
    OCTAVE_LOWER,
    PITCHES,
    RATE,
    frequency,
    note,
    sounding,
    synthesised,
)
from recombine.store.errors import UserError


def played(instrument: str, pitch: str = "D4") -> np.ndarray:
    return synthesised()[INSTRUMENTS.index(instrument), PITCHES.index(pitch)].astype(float)


def loudness(samples: np.ndarray, parts: int) -> np.ndarray:
    """The root mean square of equal parts."""
    return np.sqrt(np.mean(samples.reshape(parts, -1) ** 2, axis=1))


def energy_between(samples: np.ndarray, low: float, high: float) -> float:
    """The share of the energy between two frequencies."""
    energy = np.abs(np.fft.rfft(samples)) ** 2
    hertz = np.fft.rfftfreq(len(samples), 1 / RATE)
    return float(energy[(hertz >= low) & (hertz < high)].sum() / energy.sum())


def harmonic(samples: np.ndarray, hertz: float, n: int) -> float:
    """The share of the energy within 4 % of one harmonic."""
    return energy_between(samples, 0.96 * n * hertz, 1.04 * n * hertz)


@pytest.mark.parametrize("instrument", INSTRUMENTS)
@pytest.mark.parametrize("pitch", PITCHES)
def test_a_note_repeats_with_the_period_of_its_pitch(instrument: str, pitch: str) -> None:
    """The strongest lag of the autocorrelation is one period, not a half or a double one."""
    middle = played(instrument, pitch)[10_000:30_000]
    hertz = frequency(sounding(instrument, pitch))
    spectrum = np.abs(np.fft.rfft(middle, 2 * len(middle))) ** 2
    likeness = np.fft.irfft(spectrum) / np.sum(middle**2)
    lags = np.arange(int(RATE / hertz / 2.2), int(RATE / hertz * 1.8))
    assert abs(RATE / lags[np.argmax(likeness[lags])] / hertz - 1) < 0.015
    assert likeness[lags].max() > 0.5


def test_notes_have_one_peak_and_no_clicks() -> None:
    notes = np.abs(synthesised())
    np.testing.assert_allclose(notes.max(axis=-1), 1, rtol=1e-6)
    assert notes[..., 0].max() < 0.01
    assert notes[..., -1].max() < 0.01


def test_a_note_is_always_the_same() -> None:
    for instrument in INSTRUMENTS:
        np.testing.assert_array_equal(note(instrument, "D4"), note(instrument, "D4"))
        np.testing.assert_array_equal(note(instrument, sounding(instrument, "D4")).astype("f4"), played(instrument))


def test_pitches_are_the_textbooks() -> None:
    textbook = (440.0, 493.88, 261.63, 293.66, 329.63, 349.23, 392.0, 880.0)
    assert tuple(round(frequency(pitch), 2) for pitch in PITCHES) == textbook
    assert frequency("F#3") == pytest.approx(185.0, abs=0.01)


def test_an_octave_doubles_the_frequency() -> None:
    for letter in "ABCDEFG":
        assert frequency(f"{letter}5") == pytest.approx(2 * frequency(f"{letter}4"), abs=1e-5)
    for name in INSTRUMENTS:
        ratio = frequency(sounding(name, "G4")) / frequency("G4")
        assert ratio == pytest.approx(0.5 if name in OCTAVE_LOWER else 1.0, abs=1e-6)


def test_only_the_guitar_dies_away() -> None:
    for name in INSTRUMENTS:
        early, late = loudness(played(name)[:36_000], 3)[[0, 2]]
        assert (late < early / 2) == (name == "guitar")


def test_the_clarinet_has_odd_harmonics() -> None:
    for name in INSTRUMENTS:
        second, third = (harmonic(played(name)[8_000:], frequency(sounding(name, "D4")), n) for n in (2, 3))
        assert (second < third / 50) == (name == "clarinet")


def test_the_flute_is_the_purest_and_the_oboe_and_trumpet_have_weak_fundamentals() -> None:
    first = {name: harmonic(played(name)[8_000:], frequency(sounding(name, "D4")), 1) for name in INSTRUMENTS}
    assert max(first, key=lambda name: first[name]) == "flute"
    assert set(sorted(first, key=lambda name: first[name])[:2]) == {"oboe", "trumpet"}


def test_brass_blooms() -> None:
    for name in ("trumpet", "french-horn"):
        start, later = (energy_between(played(name)[at : at + 2_000], 1_500, 9_000) for at in (300, 20_000))
        assert later > 1.4 * start


def test_the_saxophone_growls_and_the_flute_trembles() -> None:
    def trembling(name: str, hertz: int) -> float:
        level = loudness(played(name)[6_000:38_000], 160)
        waves = np.abs(np.fft.rfft(level / level.mean() - 1)) / 80
        at = round(hertz * 32_000 / RATE)
        return float(waves[at - 1 : at + 2].max())

    growl = {name: trembling(name, 32) for name in INSTRUMENTS}
    assert max(growl, key=lambda name: growl[name]) == "saxophone" and growl["saxophone"] > 0.25
    tremolo = {name: trembling(name, 5) for name in INSTRUMENTS if name != "guitar"}
    assert max(tremolo, key=lambda name: tremolo[name]) == "flute" and tremolo["flute"] > 0.2


def test_the_violin_has_the_widest_vibrato() -> None:
    """Its upper harmonics spread: the sharpest line of its spectrum is the least sharp."""

    def sharpest(name: str) -> float:
        energy = np.abs(np.fft.rfft(played(name)[8_000:38_000] * np.hanning(30_000))) ** 2
        hertz = np.fft.rfftfreq(30_000, 1 / RATE)
        upper = energy[(hertz > 1_000) & (hertz < 5_000)]
        return float(np.sort(upper)[-30:].sum() / upper.sum())

    spread = {name: sharpest(name) for name in INSTRUMENTS if name != "flute"}  # whose upper part is breath
    assert min(spread, key=lambda name: spread[name]) == "violin"


def test_all_notes_are_there() -> None:
    assert synthesised().shape == (8, 8, NOTE)
    assert len({samples.tobytes() for samples in synthesised().reshape(64, NOTE)}) == 64


def test_unknown_names_say_so() -> None:
    with pytest.raises(UserError, match="choose one of trumpet"):
        note("kazoo", "A4")
    with pytest.raises(UserError, match="'H4' is not a pitch"):
        note("oboe", "H4")
