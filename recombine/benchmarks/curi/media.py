"""Episodes of CURI with pictures and sounds."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recombine.benchmarks.curi.episode import EpisodeView, SceneView
from recombine.benchmarks.curi.pipeline import CuriPipeline
from recombine.render.sound import Voicing, check_scenes, described, sounds
from recombine.render.wave import to_wav
from recombine.report.picture import can_be_drawn, pictures
from recombine.world.scenes import Scenes, join

IMAGE = 240, 160
"""The size of CURI's images."""


@dataclass(frozen=True)
class Media:
    """What of a scene goes into a page beside its schematic."""

    pictures: bool = True
    sounds: int | None = 0
    """Of how many scenes, the positives first; None for all."""

    def added(self, study: CuriPipeline, view: EpisodeView) -> EpisodeView:
        """The same episode with pictures, where its world can be drawn, and with sounds."""
        scenes = [*view.support, *view.query]
        if self.pictures:
            scenes = _pictured(study, scenes)
        if self.sounds != 0:
            scenes = _sounding(study, scenes, self.sounds)
        size = len(view.support)
        return replace(view, support=tuple(scenes[:size]), query=tuple(scenes[size:]))


NO_MEDIA = Media(pictures=False)


def _pictured(study: CuriPipeline, shown: list[SceneView]) -> list[SceneView]:
    scenes = _batch(study, shown)
    if not can_be_drawn(scenes):
        return shown
    drawn = pictures(scenes, ["; ".join(one.words) for one in shown], *IMAGE)
    return [replace(one, picture=picture.svg()) for one, picture in zip(shown, drawn)]


def _sounding(study: CuriPipeline, shown: list[SceneView], many: int | None) -> list[SceneView]:
    chosen = sorted(shown, key=lambda one: not one.label)[:many]
    voicing = Voicing(getattr(study.world, "first_bin", study.setup.edition.first_bin))
    scenes = _batch(study, chosen)
    check_scenes(scenes, voicing)
    files = {one.scene: _address(sound) for one, sound in zip(chosen, sounds(scenes, voicing))}
    plays = {one.scene: "; ".join(described(scenes, i, voicing)) for i, one in enumerate(chosen)}
    return [replace(one, sound=files.get(one.scene, ""), plays=plays.get(one.scene, "")) for one in shown]


def _address(sound: np.ndarray) -> str:
    return "data:audio/wav;base64," + base64.b64encode(to_wav(sound)).decode()


def _batch(study: CuriPipeline, shown: Sequence[SceneView]) -> Scenes:
    """The scenes themselves."""
    found = (study.scene(one.scene) for one in shown)
    return join([batch[place : place + 1] for batch, place in found])
