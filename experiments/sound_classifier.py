"""How well a small classifier tells the eight instruments and the eight pitches, and how fast scenes become sound.

    python experiments/sound_classifier.py

A note of any instrument, pitch, profile, onset and volume stands alone in a scene; the classifier sees the spectrogram
of the scene. It looks at two things that do not depend on when and how loud the note is: the share of every frequency
in the whole, and how the loudness trembles. After that it is the nearest of 64 centroids (instrument and pitch
together), the distance measured in units of the spread within a class. It is tested on notes it was not trained on.
"""

from typing import NamedTuple

import numpy as np
from rich.console import Console

from recombine.benchmarks.curi.world import CuriWorld
from recombine.metrics.speed import cpu
from recombine.render.instruments import INSTRUMENTS, NOTE, PITCHES
from recombine.render.sound import FULL, PROFILES, SCENE, TIMBRES, Orchestra, Voicing, sounds, synthesised_orchestra
from recombine.render.spectrogram import FLOOR, powers, spectrograms
from recombine.report.table import Cell, Column, Table
from recombine.store.key import Key

TRAIN, TEST = 3_000, 2_000
CLASSES = len(INSTRUMENTS) * len(PITCHES)
RIDGE = 1e-3
"""Added to the spread of every feature, which keeps constant ones harmless."""


class Heard(NamedTuple):
    """Notes as the classifier sees them."""

    features: np.ndarray  # float64[n, features]
    label: np.ndarray  # int64[n]: instrument * 8 + pitch
    muffled: np.ndarray  # bool[n]


class Centroids(NamedTuple):
    """A trained classifier: the weights and the bias of every class."""

    weight: np.ndarray  # float64[features, classes]
    bias: np.ndarray  # float64[classes]

    def __call__(self, features: np.ndarray) -> np.ndarray:
        return np.argmax(features @ self.weight + self.bias, axis=1)


def draw_notes(n: int, players: Orchestra, key: Key) -> Heard:
    """n single notes, each instrument and pitch about as often as the others; the rest at random."""
    label = np.arange(n) % CLASSES
    profile = (key / "profile").rng().integers(0, len(PROFILES), n)
    timbre = (key / "timbre").rng().integers(0, len(TIMBRES), n)
    onset = (key / "onset").rng().integers(0, SCENE - NOTE + 1, n)
    volume = (key / "volume").rng().uniform(0.3, 1, n)
    notes = players.notes.reshape(CLASSES, len(PROFILES), len(TIMBRES), NOTE)
    features = []
    for i in range(n):
        scene = np.zeros((1, SCENE), np.float32)
        note = notes[label[i], profile[i], timbre[i]]
        scene[0, onset[i] : onset[i] + NOTE] = np.rint(note * volume[i]) / FULL
        features.append(features_of(powers(scene)[0]))
    return Heard(np.array(features), label, timbre == TIMBRES.index("muffled"))


def features_of(power: np.ndarray) -> np.ndarray:
    """The share of every frequency, and the spectrum of the loudness; both in decibels."""
    spectrum = power.mean(axis=1)
    loudness = power.sum(axis=0)
    heard = np.flatnonzero(loudness > FLOOR)
    level = np.log(loudness[heard[0] + 2 : heard[-1] - 1].astype(np.float64) + FLOOR)
    trend = np.polynomial.Polynomial.fit(np.arange(len(level)), level, 3)
    trembling = np.abs(np.fft.rfft(level - trend(np.arange(len(level))), 256)[:128])
    return 10 * np.log10(np.concatenate([spectrum / spectrum.sum() + 1e-8, trembling**2 + 1e-3]))


def train(heard: Heard) -> Centroids:
    """The centroid of every class, seen through the spread that all classes share."""
    middle, scale = heard.features.mean(axis=0), heard.features.std(axis=0) + 1e-6
    seen = (heard.features - middle) / scale
    centroid = np.stack([seen[heard.label == label].mean(axis=0) for label in range(CLASSES)])
    rest = seen - centroid[heard.label]
    weight = np.linalg.solve(rest.T @ rest / len(rest) + RIDGE * np.eye(rest.shape[1]), centroid.T)
    bias = -0.5 * np.sum(centroid.T * weight, axis=0)
    return Centroids(weight / scale[:, None], bias - (middle / scale) @ weight)


def accuracies(classifier: Centroids, heard: Heard, which: np.ndarray) -> tuple[float, float]:
    """How often the instrument is right, and the pitch; among the notes of a choice."""
    said, label = classifier(heard.features[which]), heard.label[which]
    per = len(PITCHES)
    return float(np.mean(said // per == label // per)), float(np.mean(said % per == label % per))


def classifier_table() -> Table:
    players = synthesised_orchestra()
    classifier = train(draw_notes(TRAIN, players, Key(1) / "train"))
    held_out = draw_notes(TEST, players, Key(1) / "test")
    choices = {"open": ~held_out.muffled, "muffled": held_out.muffled, "all": np.ones(TEST, bool)}
    rows: list[tuple[Cell, ...]] = []
    for name, which in choices.items():
        instrument, pitch = accuracies(classifier, held_out, which)
        rows.append((name, int(which.sum()), 100 * instrument, 100 * pitch))
    columns = (
        Column("notes"),
        Column("held out", "right"),
        Column("instrument %", "right", ".2f"),
        Column("pitch %", "right", ".2f"),
    )
    return Table("One note, told from its spectrogram", columns, tuple(rows), f"trained on {TRAIN:,} other notes")


def speed_table() -> Table:
    scenes, voicing = CuriWorld().sample(200, Key(1)), Voicing(CuriWorld().first_bin)
    waves = sounds(scenes, voicing)
    sound = min(cpu(lambda: sounds(scenes, voicing), len(scenes)) for _ in range(3))
    spectrogram = min(cpu(lambda: spectrograms(waves), len(scenes)) for _ in range(3))
    rows = (("sound", 1 / sound), ("spectrogram of it", 1 / spectrogram), ("both", 1 / (sound + spectrogram)))
    columns = (Column("of a CURI scene"), Column("per second of one core", "right", ",.0f"))
    return Table("Speed", columns, rows, "the best of three; the instruments are synthesised before")


if __name__ == "__main__":
    for table in (classifier_table(), speed_table()):
        Console().print(table.rich())
