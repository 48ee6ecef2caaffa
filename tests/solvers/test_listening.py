"""The listener: notes of a sound, told apart by trying them."""

import numpy as np
import pytest

from recombine.benchmarks.curi.induction import heard
from recombine.benchmarks.curi.world import CuriWorld
from recombine.render.sound import NOTE, ONSETS, SCENE, Orchestra, Voicing, sounds, synthesised_orchestra
from recombine.solvers.listening import KINDS, Listener
from recombine.store.errors import UserError
from recombine.store.key import Key


@pytest.fixture(scope="module")
def listener() -> Listener:
    return Listener(synthesised_orchestra())


def test_it_hears_what_is_played() -> None:
    scenes = CuriWorld(first_bin=0).sample(40, Key(1))
    (reading,) = heard(scenes, 0, 1, Key(2))
    right = [sorted(map(str, scenes.objects(i))) == sorted(map(str, reading.objects(i))) for i in range(len(scenes))]
    assert np.mean(right) >= 0.95


def test_products_are_those_of_the_notes_where_they_stand(listener: Listener) -> None:
    rng, many = Key(3).rng(), len(listener.notes)
    for _ in range(5):
        (a, first), (b, second) = ((int(rng.integers(many)), int(rng.integers(len(ONSETS)))) for _ in range(2))
        placed = np.zeros((2, SCENE))
        placed[0, ONSETS[first] : ONSETS[first] + NOTE] = listener.notes[a]
        placed[1, ONSETS[second] : ONSETS[second] + NOTE] = listener.notes[b]
        found = listener.products[first * many + a, second * many + b]
        assert found == pytest.approx(placed[0] @ placed[1], abs=1e-3)


def test_beliefs_are_distributions_and_soften_with_noise(listener: Listener) -> None:
    scenes = CuriWorld(first_bin=0).sample(6, Key(4))
    played = sounds(scenes, Voicing(0))
    clean = listener.hear(played)
    noisy = Listener(listener.orchestra, noise=0.05)
    vars(noisy).update(products=listener.products, notes=listener.notes)
    hiss = played + Key(5).rng().normal(size=played.shape).astype(np.float32) * np.float32(0.05)
    unsure = noisy.hear(hiss)
    for name in ("onset", *KINDS, "volume"):
        for one in (clean, unsure):
            there = np.arange(5) < one.count[:, None]
            np.testing.assert_allclose(one.beliefs[name].sum(axis=-1)[there], 1, atol=1e-5)
    least = [min(float(one.beliefs[k][one.beliefs[k] > 0.5].mean()) for k in KINDS) for one in (clean, unsure)]
    assert least[0] > least[1]
    assert clean.unexplained.max() < 0.1


def test_silence_has_no_notes(listener: Listener) -> None:
    assert listener.hear(np.zeros((1, SCENE), np.float32)).count.tolist() == [0]


def test_a_sound_of_another_rate_is_refused(listener: Listener) -> None:
    with pytest.raises(UserError, match="44,100 Hz"):
        Listener(Orchestra(listener.orchestra.notes)).hear(np.zeros((1, 60_000), np.float32))
