"""Spectrograms: how strong each frequency is at each moment.

A window of 400 samples moves in hops of 200 over a sound that is mirrored at both ends, so that the first frame is
centred on the first sample: 120,000 samples give 201 frequencies (0, 110.25, ... 22,050 Hz) times 601 frames. The
window is a periodic Hann window. Window and hop are those of the released code; the kind of window, the mirrored ends
and the scale are our choice.

Values are decibels: 10 log10 of the power, 0 for a sine at full scale in the middle of a bin, -100 for silence.
"""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

WINDOW = 400
HOP = 200
FLOOR = 1e-10
"""The power that counts as silence: -100 dB."""

HANN = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)).astype(np.float32)
FREQUENCIES = WINDOW // 2 + 1


def powers(waves: np.ndarray) -> np.ndarray:
    """The power of each frequency at each moment, float32[n, 201, frames], from float[n, t]; t is at least 201."""
    out = np.empty((len(waves), FREQUENCIES, 1 + waves.shape[1] // HOP), np.float32)
    window = HANN * np.float32(2 / HANN.sum())  # a sine at full scale has power 1
    for wave, power in zip(waves, out):
        mirrored = np.pad(wave.astype(np.float32), WINDOW // 2, mode="reflect")
        spectrum = np.fft.rfft(sliding_window_view(mirrored, WINDOW)[::HOP] * window)
        power[:] = (spectrum.real**2 + spectrum.imag**2).T
    return out


def spectrograms(waves: np.ndarray) -> np.ndarray:
    """The same in decibels: float32[n, 201, 601] from the sounds of n scenes."""
    power = powers(waves)
    np.maximum(power, np.float32(FLOOR), out=power)
    np.log(power, out=power)
    power *= np.float32(10 / np.log(10))
    return power
