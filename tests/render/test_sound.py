"""Laws of scenes as sound, and a small classifier that tells the notes."""

import hashlib
import importlib.util
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from recombine.benchmarks.curi.world import CURI_VOCABULARY, SOLIDS, CuriWorld
from recombine.render.instruments import INSTRUMENTS, NOTE, PITCHES, RATE, synthesised
from recombine.render.sound import (
    CUT,
    FULL,
    LEVEL,
    ONSETS,
    PROFILES,
    SCENE,
    Voicing,
    described,
    levelled,
    muffled,
    sounds,
    synthesised_orchestra,
)
from recombine.store.errors import UserError
from recombine.store.key import Key
from recombine.world.scenes import ABSENT, Scenes
from recombine.world.vocabulary import Attribute, Vocabulary

PAPER, RELEASE = Voicing(first_bin=1), Voicing(first_bin=0)
CUBE = {"color": "red", "shape": "cube", "material": "rubber", "size": "0.7", "locationX": "1", "locationY": "4"}
COLORS = dict(zip(SOLIDS["color"].values, ("trumpet", "clarinet", "violin", "flute", "oboe", "saxophone")))
COLORS |= {"cyan": "french-horn", "yellow": "guitar"}

places = some.sampled_from(tuple("12345678"))
objects = some.fixed_dictionaries(
    {a.name: some.sampled_from(a.values) for a in SOLIDS} | {"locationX": places, "locationY": places}
)
scenes_of_five = some.lists(objects, max_size=5)


def scene(*things: dict[str, str], room: int = 5) -> Scenes:
    """One scene with these objects."""
    codes = {a.name: np.full((1, room), ABSENT, np.uint8) for a in CURI_VOCABULARY}
    for i, thing in enumerate(things):
        for name, value in thing.items():
            codes[name][0, i] = CURI_VOCABULARY[name].code(value)
    return Scenes(CURI_VOCABULARY, np.array([len(things)], np.uint8), codes, np.zeros((1, room, 3), np.float32))


def sound(*things: dict[str, str], voicing: Voicing = PAPER) -> np.ndarray:
    return sounds(scene(*things), voicing)[0]


def plainly(thing: dict[str, str]) -> np.ndarray:
    """One object's sound in 16-bit steps, step by step from the paper's table and the facts of the release."""
    row = int(thing["locationY"]) - 1
    raw = synthesised()[INSTRUMENTS.index(COLORS[thing["color"]]), row].astype(float)
    raw = raw * LEVEL / np.sqrt(np.mean(raw**2))
    ramp = np.arange(NOTE) / (NOTE - 1)
    note = raw * {"cube": 1.0, "sphere": (1 - ramp) ** 2, "cylinder": ramp**2}[thing["shape"]]
    if thing["material"] == "metal":
        spectrum = np.fft.fft(note)
        spectrum[CUT : NOTE - CUT + 1] = 0
        low = np.fft.ifft(spectrum).real
        note = low * np.sqrt(np.sum(note**2) / np.sum(low**2))
    whole, volume = np.zeros(SCENE), {"0.7": 1.0, "0.35": 0.3}[thing["size"]]
    start = (int(thing["locationX"]) - 1) * 80_000 // 7
    whole[start : start + NOTE] = np.rint(np.rint(note * FULL).astype(np.float32) * np.float32(volume))
    return whole


@settings(max_examples=30, deadline=None)
@given(objects)
def test_an_object_sounds_as_the_plain_reference_says(thing: dict[str, str]) -> None:
    steps = sound(thing) * FULL
    different = steps != plainly(thing)
    assert np.abs(steps - plainly(thing)).max() <= 1  # two ways to round, where a half is near
    assert different.mean() < 1e-4


@settings(max_examples=30, deadline=None)
@given(scenes_of_five, some.randoms())
def test_a_scene_is_exactly_the_sum_of_its_objects_in_any_order(things: list[dict[str, str]], chance: Random) -> None:
    alone = sum((sound(thing) for thing in things), np.zeros(SCENE, np.float32))
    np.testing.assert_array_equal(sound(*things), alone)
    chance.shuffle(things)
    np.testing.assert_array_equal(sound(*things), alone)


@settings(max_examples=30, deadline=None)
@given(scenes_of_five)
def test_there_is_silence_where_no_object_sounds(things: list[dict[str, str]]) -> None:
    quiet = np.ones(SCENE, bool)
    for thing in things:
        start = ONSETS[int(thing["locationX"]) - 1]
        quiet[start : start + NOTE] = False
    heard = sound(*things)
    assert heard.dtype == np.float32
    assert not heard[quiet].any()
    assert bool(heard.any()) == bool(things)


def test_a_batch_sounds_like_its_scenes_one_by_one_in_any_order() -> None:
    scenes = CuriWorld().sample(12, Key(4))
    together, order = sounds(scenes, PAPER), np.random.default_rng(0).permutation(12)
    assert together.shape == (12, SCENE)
    np.testing.assert_array_equal(sounds(scenes[order], PAPER), together[order])
    for i in range(12):
        np.testing.assert_array_equal(sounds(scenes[i : i + 1], PAPER)[0], together[i])


def test_both_ways_to_count_the_grid_sound_alike() -> None:
    paper, release = (CuriWorld(first_bin=first).sample(6, Key(4)) for first in (1, 0))
    np.testing.assert_array_equal(sounds(paper, PAPER), sounds(release, RELEASE))


@settings(max_examples=30, deadline=None)
@given(objects)
def test_a_large_object_is_louder(thing: dict[str, str]) -> None:
    small, large = (np.sum(sound(thing | {"size": size}).astype(float) ** 2) for size in ("0.35", "0.7"))
    assert small / large == pytest.approx(0.09, rel=0.01)


@settings(max_examples=20, deadline=None)
@given(objects, places)
def test_a_column_moves_the_note_and_changes_nothing_else(thing: dict[str, str], column: str) -> None:
    here, there = sound(thing), sound(thing | {"locationX": column})
    move = int(ONSETS[int(column) - 1] - ONSETS[int(thing["locationX"]) - 1])
    np.testing.assert_array_equal(np.roll(here, move), there)
    assert (move > 0) == (column > thing["locationX"])


def test_onsets_are_the_released_ones() -> None:
    assert list(ONSETS) == [0, 11428, 22857, 34285, 45714, 57142, 68571, 80000]


@settings(max_examples=20, deadline=None)
@given(objects)
def test_metal_cuts_above_the_bin_and_keeps_the_energy(thing: dict[str, str]) -> None:
    rubber, metal = (sound(thing | {"material": name, "locationX": "1"})[:NOTE] for name in ("rubber", "metal"))
    assert np.sum(metal**2) / np.sum(rubber**2) == pytest.approx(1, rel=0.01)
    energy = np.abs(np.fft.rfft(metal)) ** 2
    assert energy[CUT:].sum() < 1e-4 * energy.sum()  # what rounding leaves


def test_shapes_have_their_profiles() -> None:
    """On an instrument that is nearly level, halves show them."""
    for shape, expected in (("cube", 1.0), ("sphere", 1 / 31), ("cylinder", 31.0)):
        oboe = sound(CUBE | {"color": "brown", "shape": shape})[:NOTE].astype(float)
        first, second = np.sum(oboe[: NOTE // 2] ** 2), np.sum(oboe[NOTE // 2 :] ** 2)
        assert second / first == pytest.approx(expected, rel=0.15)


@settings(max_examples=20, deadline=None)
@given(objects, some.sampled_from([a.name for a in CURI_VOCABULARY]))
def test_every_property_is_heard(thing: dict[str, str], name: str) -> None:
    values = tuple("12345678") if "location" in name else CURI_VOCABULARY[name].values
    variants = {sound(thing | {name: value}).tobytes() for value in values}
    assert len(variants) == len(values)


def test_all_notes_are_equally_loud_before_their_profile() -> None:
    notes = levelled(synthesised())
    np.testing.assert_allclose(np.sqrt(np.mean(notes**2, axis=-1)), LEVEL)
    assert not muffled(np.zeros(NOTE)).any()


def test_five_objects_never_clip() -> None:
    assert 5 * int(np.abs(synthesised_orchestra().notes.astype(int)).max()) < FULL


def test_what_is_too_loud_is_cut_off() -> None:
    many = sounds(scene(*[CUBE] * 40, room=40), PAPER)
    assert many.max() == (FULL - 1) / FULL and many.min() == -(FULL - 1) / FULL
    clipped = (40 * sound(CUBE)).clip(-(FULL - 1) / FULL, (FULL - 1) / FULL)
    np.testing.assert_array_equal(many[0], clipped)


def test_no_scenes_and_empty_scenes() -> None:
    assert sounds(scene()[:0], PAPER).shape == (0, SCENE)
    assert not sound().any()


def test_the_same_scene_always_has_the_same_samples() -> None:
    waves = sounds(CuriWorld().sample(3, Key(7)), PAPER)
    assert hashlib.blake2b(waves.astype("<f4").tobytes(), digest_size=8).hexdigest() == "397b6b73ea28cfa9"


def test_a_scene_in_words() -> None:
    plucked = CUBE | {"color": "yellow", "shape": "sphere", "material": "metal", "size": "0.35", "locationX": "2"}
    scenes = scene(CUBE, plucked | {"locationY": "3"})
    assert described(scenes, 0, PAPER) == (
        "clarinet D4 from 0.00 s, steady, open, at 100 %",
        "guitar C3 from 0.26 s, fading, muffled, at 30 %",
    )


def test_another_voicing_changes_who_plays() -> None:
    swapped = replace(PAPER, instruments=(("blue", "clarinet"), *((c, i) for c, i in PAPER.instruments if c != "blue")))
    np.testing.assert_array_equal(sound(CUBE | {"color": "blue"}, voicing=swapped), sound(CUBE))
    words = Vocabulary(tuple(Attribute("size", ("small", "large")) if a.name == "size" else a for a in CURI_VOCABULARY))
    np.testing.assert_array_equal(sounds(replace(scene(CUBE), vocabulary=words), PAPER)[0], sound(CUBE))


def test_what_cannot_be_heard_says_so() -> None:
    pink = Vocabulary((Attribute("color", ("pink", "red")), *(a for a in CURI_VOCABULARY if a.name != "color")))
    north = Vocabulary(
        tuple(Attribute(a.name, ("north",) * 9) if a.name == "locationX" else a for a in CURI_VOCABULARY)
    )
    for broken, voicing, message in (
        (replace(scene(CUBE), vocabulary=pink), PAPER, "the color 'pink' has no sound; name it in Voicing"),
        (replace(scene(CUBE), vocabulary=north), PAPER, "locationX is heard only if its values are numbers"),
        (replace(scene(CUBE), codes={}), PAPER, "scenes without color, locationX, locationY, material, shape, size"),
        (scene(CUBE | {"locationX": "0"}), PAPER, "locationX 0, but a grid with first_bin=1 ends at 1 and 8"),
        (scene(CUBE | {"locationY": "8"}), RELEASE, "locationY 8, but a grid with first_bin=0 ends at 0 and 7"),
    ):
        with pytest.raises(UserError, match=message):
            sounds(broken, voicing)
    with pytest.raises(UserError, match="'red' sounds as no known instrument 'kazoo'; choose one of trumpet"):
        Voicing(1, instruments=(("red", "kazoo"),))
    with pytest.raises(UserError, match="choose one from 0 to 1"):
        Voicing(1, volumes=(("large", 2.0),))


def test_a_small_classifier_tells_instruments_and_pitches() -> None:
    path = Path(__file__).parents[2] / "experiments" / "sound_classifier.py"
    spec = importlib.util.spec_from_file_location("sound_classifier", path)
    assert spec and spec.loader
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    players, key = synthesised_orchestra(), Key(3)
    classifier = benchmark.train(benchmark.draw_notes(8 * 64, players, key / "train"))
    held_out = benchmark.draw_notes(256, players, key / "test")
    assert min(benchmark.accuracies(classifier, held_out, ~held_out.muffled)) >= 0.99
    assert min(benchmark.accuracies(classifier, held_out, held_out.muffled)) >= 0.95  # more notes to learn from: 0.99


def test_constants_agree() -> None:
    assert SCENE == 120_000 and NOTE == 40_000 and RATE == 44_100 and len(PITCHES) == 8
    assert [profile[[0, -1]].tolist() for profile in PROFILES.values()] == [[1, 1], [1, 0], [0, 1]]
