"""How well the symbolic models answer, across variants: what each got right, image by image, kept as data.

A parser that was trained on a variant is tested on all that its factors compare it to. All models of a parser see the
same pictures and are asked the same questions, so they can be compared image by image.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from recombine.benchmarks.clevr.exam import mark
from recombine.benchmarks.clevr.families import build
from recombine.benchmarks.clevr.questions import look
from recombine.benchmarks.super_clevr import redundancy
from recombine.benchmarks.super_clevr.exam import examples
from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline, SuperClevrScale
from recombine.benchmarks.super_clevr.published import REMOVED
from recombine.benchmarks.super_clevr.reasoning import REASONERS
from recombine.benchmarks.super_clevr.sight import READS, SIZE, in_order
from recombine.benchmarks.super_clevr.symbolic import BY_TYPE, ByType
from recombine.benchmarks.super_clevr.variants import DEFAULT, FACTORS, VARIANTS, tests_of
from recombine.language.expr import Expr
from recombine.solvers.perception import Parser, Perceived
from recombine.solvers.scene_labels import Labels
from recombine.solvers.scene_parsing import CLOSE, matched
from recombine.store.arrays import map_array, write_array
from recombine.store.engine import Engine
from recombine.store.key import Key
from recombine.store.recipe import Recipe
from recombine.store.store import Store
from recombine.tasks.examples import Examples
from recombine.world.camera import Camera

QUESTIONS = 10
"""About the objects, and about the parts, of every image."""
TAUGHT = 300
"""Scenes whose questions the simple baselines learn from."""
BINS = 10
"""Of how sure a parser is."""


@dataclass(frozen=True)
class Tests:
    """The tests: so many images of every variant, with their questions."""

    images: int
    store: Store
    engine: Engine
    seed: int = 0

    @cache  # noqa: B019
    def study(self, name: str) -> SuperClevrPipeline:
        parts = QUESTIONS if name == DEFAULT else 0
        scale = SuperClevrScale("models", TAUGHT, 1, self.images, QUESTIONS, parts)
        return SuperClevrPipeline(scale, self.seed, self.store, self.engine, VARIANTS[name].asking())

    @cache  # noqa: B019
    def asked(self, name: str, kind: str = "object", part: Any = "test") -> Examples:
        study = self.study(name)
        return examples(study.questions(part, kind), study.scenes(part), 0, study.asking, True)

    def pictures(self, name: str) -> np.ndarray:
        """The pictures of a test, uint8[n, height, width, 3]; drawn once."""
        study = self.study(name)
        given = {"scenes": study.scenes_recipe("test").digest}
        recipe = Recipe("super-clevr-model-pictures", 1, {"size": SIZE}, given)

        def make(draft: Path) -> None:
            rgb = study.world.stage.draw(study.scenes("test"), *SIZE, ("rgb",)).rgb
            assert rgb is not None
            write_array(draft / "pixels.npy", rgb)

        return map_array(self.store.get(recipe, make) / "pixels.npy", "r")


@dataclass(frozen=True, eq=False)
class Seen:
    """What one parser sees in one test."""

    tests: Tests
    name: str
    parser: Parser

    @cached_property
    def perceived(self) -> Perceived:
        world = self.tests.study(self.name).world
        return in_order(self.parser, self.parser.perceive(np.asarray(self.tests.pictures(self.name))), world)

    def right(self, asked: Examples, programs: Sequence[Expr] | None = None) -> dict[str, list[float]]:
        """How many of the questions about each image every model answers right."""
        study = self.tests.study(self.name)
        said = [asked.concepts[i] for i in asked.concept] if programs is None else programs
        found = {"asked": _by_image(np.ones(len(asked.scene)), asked.scene, self.tests.images)}
        for model, reason in REASONERS.items():
            answers = reason(said, asked.scene, self.perceived, study.world, study.asking.dialect)
            found[model] = _by_image(mark(asked, answers)["accuracy"], asked.scene, self.tests.images)
        return found

    def sight(self) -> dict[str, Any]:
        """How well objects are found and told, and how often one is right who is so sure."""
        scenes, seen = self.tests.study(self.name).scenes("test"), self.perceived
        width, height = Camera(*SIZE).width, Camera(*SIZE).height
        px, py, _ = Camera(width, height).project(scenes.position, scenes.extra["camera"][:, None])
        centre = ((np.stack([px, py], axis=-1) - (width / 2, height / 2)) / width).astype(np.float32)
        nothing = np.zeros(0)
        pairs = matched(Labels(scenes.count, centre, nothing, nothing, nothing), seen.centre, seen.count, CLOSE)
        mine, true = (pairs.picture, pairs.said), (pairs.picture, pairs.true)
        found: dict[str, Any] = {
            "objects": pairs.objects,
            "perceived": pairs.perceived,
            "found": len(pairs.picture),
            "place": float(np.abs(seen.place[mine] - scenes.position[true][:, :2]).mean()),
        }
        for name in READS:
            belief, truth = seen.beliefs[name][mine], scenes.codes[name][true]
            found[name] = float((belief.argmax(axis=1) == truth).mean())
            found[f"{name} bins"] = _bins(belief.max(axis=1), belief.argmax(axis=1) == truth)
        return found


def _by_image(earned: np.ndarray, scene: np.ndarray, images: int) -> list[float]:
    return [round(float(one), 3) for one in np.bincount(scene, earned, images)]


def _bins(sure: np.ndarray, right: np.ndarray) -> list[list[float]]:
    """How many, how sure and how often right, in bins of how sure."""
    which = np.minimum((BINS * sure).astype(int), BINS - 1)
    return [
        [int(n), round(float(sure[which == b].mean()), 4), round(float(right[which == b].mean()), 4)]
        for b in range(BINS)
        if (n := int((which == b).sum()))
    ]


def scores(
    parser: Parser, trained: str, tests: Tests, only: bool = False, factors: Sequence[str] = tuple(FACTORS)
) -> dict[str, Any]:
    """All that is kept of a parser: what every model got right on every test of these factors, or `only` on its own."""
    found: dict[str, Any] = {"trained": trained, "images": tests.images, "tests": {}}
    sights: dict[Any, Seen] = {}
    wanted = {trained, *(test for factor in factors if not only for test in FACTORS[factor].values())}
    for name in (name for name in tests_of(trained) if name in wanted):
        key = tests.study(name).scenes_recipe("test").digest
        seen = sights.setdefault(key, Seen(tests, name, parser))
        found["tests"][name] = seen.right(tests.asked(name))
        if name == trained:
            found["sight"] = seen.sight()
    if trained == DEFAULT and only:
        found["parts"] = sights[tests.study(DEFAULT).scenes_recipe("test").digest].right(tests.asked(DEFAULT, "part"))
    elif trained == DEFAULT:
        mine = sights[tests.study(DEFAULT).scenes_recipe("test").digest]
        found["parts"] = mine.right(tests.asked(DEFAULT, "part"))
        found["parts"] |= _baselines(tests, "part")
        found["baselines"] = _baselines(tests, "object")
        found["removed"] = removed(mine)
        found["read"] = _read(mine)
    return found


def _baselines(tests: Tests, kind: str) -> dict[str, list[float]]:
    """What the simple baselines get right."""
    from recombine.solvers.sitting import answered

    taught, asked = tests.asked(DEFAULT, kind, "train"), tests.asked(DEFAULT, kind)
    asking = tests.study(DEFAULT).asking
    return {
        name: _by_image(
            mark(asked, answered(ByType(asking, name).fit(taught, Key(0)), asked))["accuracy"],
            asked.scene,
            tests.images,
        )
        for name in BY_TYPE
    }


def _read(seen: Seen) -> dict[str, Any]:
    """The same questions, read from their words."""
    from recombine.benchmarks.super_clevr.exam import read_in

    asked, asking = seen.tests.asked(DEFAULT), seen.tests.study(DEFAULT).asking
    assert asked.text is not None
    programs = [read_in(asking, text) for text in asked.text]
    same = float(np.mean([program is asked.concepts[i] for program, i in zip(programs, asked.concept)]))
    return {"same": same, **seen.right(asked, programs)}


def removed(seen: Seen) -> dict[str, dict[str, list[float]]]:
    """What is right as redundancy is removed step by step: questions that say all, with some of it left out again."""
    asked, study = seen.tests.asked(DEFAULT), seen.tests.study(DEFAULT)
    families = study.asking.families("object")
    looked = look(study.scenes("test"), families.dialect)
    things = {scene: redundancy.Things(looked, scene, families.dialect) for scene in np.unique(asked.scene).tolist()}
    found: dict[str, dict[str, list[float]]] = {}
    luck = (Key(0) / "removed").rng().random((len(asked.scene), 64))
    for share in REMOVED:
        programs, words = [], 0
        for row, (concept, scene) in enumerate(zip(asked.concept, asked.scene.tolist())):
            family, slots = families.recognise(asked.concepts[concept])
            most = redundancy.reworded(family, slots, things[scene], "rd+", families)
            family, most = families.recognise(build(family, most))
            fewer = redundancy.thinned(family, most, things[scene], families, share / 100, luck[row])
            programs.append(build(family, fewer))
            words += programs[-1].size
        found[str(share)] = {"size": [round(words / len(programs), 3)], **seen.right(asked, programs)}
    return found


def read_kept(folder: Path) -> Mapping[str, Any]:
    """What is kept of all parsers, by the variant they were trained on."""
    from recombine.store.untrusted import read_json

    return {file.stem: read_json(file) for file in sorted(folder.glob("*.json"))}
