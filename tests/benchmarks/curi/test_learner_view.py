"""An episode through the eyes of a learner."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from recombine import Curi
from recombine.benchmarks.curi import learner_view as of_view
from recombine.benchmarks.curi.learner_view import LearnerView
from recombine.store.errors import UserError

MODALITIES = ("enumeration-learnt", "enumeration-image")


@pytest.fixture(scope="module")
def views(tiny: Curi) -> dict[str, LearnerView]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_view, "COUNTED", {"schema": 512, "image": 14})
        found = {name: tiny.show("counting", 1, run=name, pictures=True) for name in MODALITIES}
    assert all(isinstance(one, LearnerView) for one in found.values())
    return found  # type: ignore[return-value]


def test_a_learner_infers_a_concept_that_fits_what_was_shown(views: dict[str, LearnerView]) -> None:
    view = views["enumeration-learnt"]
    assert view.inferred and sum(one.probability for one in view.inferred) <= 1.0001
    asked = [one for one in view.scenes if one.asked]
    assert len(asked) == len(view.episode.query) and sum(not one.wrong for one in asked) > len(asked) / 2
    assert all(one.yes is None for one in view.scenes if not one.asked)


def test_what_is_perceived_is_what_is_there(views: dict[str, LearnerView]) -> None:
    for name in MODALITIES[1:]:
        shown = [*views[name].episode.support, *views[name].episode.query]
        right = sum(len(one.objects) == len(scene.words) for one, scene in zip(views[name].scenes, shown))
        assert right > 0.8 * len(shown)
    assert all(one.objects == () for one in views["enumeration-learnt"].scenes)


def test_boxes_are_drawn_over_pictures(views: dict[str, LearnerView]) -> None:
    seen = views["enumeration-image"]
    boxes = [thing.box for one in seen.scenes for thing in one.objects]
    assert all(box and box[2] > 0 and -2 <= box[0] <= 240 and -2 <= box[1] <= 160 for box in boxes)
    assert sum(one.picture.count("<rect") for one in seen.scenes) == len(boxes)
    assert all("<rect" not in one.picture for one in views["enumeration-learnt"].scenes)


def test_it_is_shown_in_a_terminal_on_a_page_and_as_json(views: dict[str, LearnerView], tmp_path: Path) -> None:
    view = views["enumeration-image"]
    console = Console(width=160, file=StringIO())
    console.print(view.terminal())
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert view.said in text.replace("\n", " ") and view.inferred[0].text in text
    page = view.html()
    assert page.count('<figure class="shot"') >= len(view.scenes) and view.learner in page
    said = json.loads(json.dumps(view.json()))
    assert said["inferred"][0]["english"] == view.inferred[0].english
    assert said["scenes"][0]["objects"][0]["beliefs"].keys() >= {"color", "shape"}


def test_an_unknown_learner_is_refused(tiny: Curi, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no learner 'nobody'; choose one of enumeration"):
        tiny.show("counting", 0, run="nobody")
    with pytest.raises(UserError, match="not the folder of a run"):
        tiny.show("counting", 0, run=str(tmp_path))
