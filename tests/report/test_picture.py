"""Pictures on pages: masks as paths cover the pixels of their objects, and pages hold the pixels once."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.benchmarks.clevr.laws import LANGUAGE as CLEVR
from recombine.benchmarks.clevr.question_page import question_card
from recombine.benchmarks.curi.laws import LANGUAGE as CURI
from recombine.report.picture import can_be_drawn, mask_path, outline_path, pictures
from recombine.store.key import Key
from recombine.verbs.demo import example_questions


def filled(path: str, shape: tuple[int, int]) -> np.ndarray:
    """How often the rectangles of a path cover each pixel."""
    found = np.zeros(shape, int)
    for x, y, w, h in re.findall(r"M(\d+) (\d+)h(\d+)v(\d+)h-\d+z", path):
        found[int(y) : int(y) + int(h), int(x) : int(x) + int(w)] += 1
    return found


@given(st.lists(st.lists(st.booleans(), min_size=7, max_size=7), min_size=1, max_size=6))
def test_the_path_of_a_mask_covers_its_pixels_once(rows: list[list[bool]]) -> None:
    mask = np.array(rows, bool)
    assert np.array_equal(filled(mask_path(mask), mask.shape), mask)


def test_a_picture_shows_every_object_where_the_ray_tracer_sees_it() -> None:
    scenes = CLEVR.world.sample(1, Key(3))
    (picture,) = pictures(scenes, ["a scene"], 96, 72)
    covered = sum(filled(mask, (72, 96)) for mask in picture.masks)
    assert len(picture.masks) == scenes.count[0] and covered.max() == 1
    for mask, (x, y) in zip(picture.masks, picture.middles):
        assert not mask or filled(mask, (72, 96))[int(y), int(x)]


def test_a_world_with_other_words_cannot_be_drawn() -> None:
    scenes = CLEVR.world.sample(1, Key(3))
    assert can_be_drawn(scenes) and can_be_drawn(CURI.world.sample(1, Key(3)))
    without = {name: column for name, column in scenes.extra.items() if name != "pixel"}
    assert not can_be_drawn(type(scenes)(scenes.vocabulary, scenes.count, scenes.codes, scenes.position, without))


def test_a_question_has_its_pixels_once_and_lights_what_each_step_finds() -> None:
    for view in example_questions():
        card = question_card(view)
        steps = [step for step in view.steps if step.objects is not None]
        assert card.count("data:image/png") == 1
        assert len(re.findall(r'<use href="#[^"]+-pixels"', card)) >= len(steps)
        ids = re.findall(r' id="([^"]+)"', card)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'href="#([^"]+)"', card)) | set(re.findall(r"url\(#([^)]+)\)", card)) <= set(ids)


@pytest.mark.parametrize("number", [0, 1])
def test_the_examples_are_answered_by_their_programs(number: int) -> None:
    view = list(example_questions())[number]
    assert view.steps[-1].value == view.answer


def wound(path: str, shape: tuple[int, int]) -> np.ndarray:
    """How often closed ways go around each pixel, from their steps up and down."""
    found = np.zeros(shape, int)
    for x, y, turns in re.findall(r"M(\d+) (\d+)([HV0-9]+)z", path):
        at = start = int(x), int(y)
        for way, value in [*re.findall(r"([HV])(\d+)", turns), ("", "")]:
            after = start if not way else (int(value), at[1]) if way == "H" else (at[0], int(value))
            assert at[0] == after[0] or at[1] == after[1]
            found[min(at[1], after[1]) : max(at[1], after[1]), : at[0]] += np.sign(after[1] - at[1])
            at = after
    return found


@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**49 - 1))
def test_an_outline_goes_once_around_every_pixel_of_its_mask(height: int, width: int, bits: int) -> None:
    mask = np.array([bits >> i & 1 for i in range(height * width)], bool).reshape(height, width)
    assert np.array_equal(wound(outline_path(mask), mask.shape), mask.astype(int))
