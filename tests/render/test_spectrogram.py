"""Spectrograms agree with an explicit Fourier sum, and have the size the paper gives."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from recombine.render.instruments import RATE
from recombine.render.sound import SCENE
from recombine.render.spectrogram import FLOOR, HOP, WINDOW, powers, spectrograms


def plainly(wave: np.ndarray) -> np.ndarray:
    """The definition: every frame, every frequency, one sum each; decibels."""
    frames = 1 + len(wave) // HOP
    out = np.empty((201, frames))
    for frame in range(frames):
        places = np.abs(np.arange(WINDOW) - WINDOW // 2 + frame * HOP)
        places = np.where(places >= len(wave), 2 * (len(wave) - 1) - places, places)
        window = np.sin(np.pi * np.arange(WINDOW) / WINDOW) ** 2
        for bin_ in range(201):
            turn = np.exp(-2j * np.pi * bin_ * np.arange(WINDOW) / WINDOW)
            power = np.abs(np.sum(wave[places] * window * turn) / (window.sum() / 2)) ** 2
            out[bin_, frame] = 10 * np.log10(max(power, FLOOR))
    return out


def noise(n: int, length: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (n, length)).astype(np.float32)


def test_the_fast_way_agrees_with_the_plain_sum() -> None:
    for length in (201, 400, 1_333):
        waves = noise(1, length) * np.linspace(1, 0, length, dtype=np.float32) ** 8
        np.testing.assert_allclose(spectrograms(waves)[0], plainly(waves[0]), atol=0.02)


def test_the_size_is_the_papers() -> None:
    assert spectrograms(np.zeros((2, SCENE), np.float32)).shape == (2, 201, 601)
    assert spectrograms(np.zeros((0, SCENE), np.float32)).shape == (0, 201, 601)


def test_silence_is_the_floor() -> None:
    np.testing.assert_allclose(spectrograms(np.zeros((1, 1_000), np.float32)), -100, atol=1e-4)


@given(some.integers(3, 197), some.floats(0.01, 1))
def test_a_sine_stands_at_its_frequency_with_its_power(bin_: int, level: float) -> None:
    wave = level * np.sin(2 * np.pi * bin_ * RATE / WINDOW * np.arange(4_000) / RATE)
    middle = spectrograms(wave[None])[0, :, 10]
    assert np.argmax(middle) == bin_
    np.testing.assert_allclose(middle[bin_], 20 * np.log10(level), atol=0.01)
    assert np.delete(middle, (bin_ - 1, bin_, bin_ + 1)).max() < middle[bin_] - 50


@given(some.integers(1, 10))
def test_a_hop_later_is_a_frame_later(hops: int) -> None:
    wave = np.zeros(6_000, np.float32)
    wave[1_000:3_000] = noise(1, 2_000)[0]
    one, later = spectrograms(np.stack([wave, np.roll(wave, hops * HOP)]))
    np.testing.assert_array_equal(one[:, : -hops - 1], later[:, hops:-1])


def test_a_batch_is_its_sounds_one_by_one() -> None:
    waves = noise(4, 2_000)
    together = powers(waves)
    for wave, power in zip(waves, together):
        np.testing.assert_array_equal(powers(wave[None])[0], power)


def test_ten_times_the_sound_is_twenty_decibels_more() -> None:
    quiet, loud = spectrograms(noise(1, 2_000) / 20), spectrograms(noise(1, 2_000) / 2)
    heard = quiet > -90
    assert heard.mean() > 0.99
    np.testing.assert_allclose((loud - quiet)[heard], 20, atol=1e-2)
