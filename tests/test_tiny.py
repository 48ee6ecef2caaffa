"""Smoke: one scene, one expression, one answer for every benchmark, in seconds."""

import numpy as np
import pytest

from recombine import benchmarks
from recombine.language.expr import Expr
from recombine.semantics.fold import fold
from recombine.store.key import Key
from recombine.world.scenes import Scenes


@pytest.mark.parametrize("name", benchmarks.names())
def test_one_scene_one_expression_one_answer(name: str) -> None:
    benchmark = benchmarks.get(name).language
    (concept,) = benchmark.concepts(1, Key(1) / "concepts")
    scene = benchmark.world.sample(1, Key(1) / "scenes")
    ((answer,),) = benchmark.values((concept,), scene)
    assert answer == benchmark.value(concept, scene, 0)


@pytest.mark.parametrize("name", benchmarks.names())
def test_one_expression_comes_back_from_every_spelling(name: str) -> None:
    benchmark = benchmarks.get(name).language
    (concept,) = benchmark.concepts(1, Key(1))
    assert benchmark.signature.parse(repr(concept)) is concept
    assert all(read(write(concept)) is concept for write, read in benchmark.spellings.values())


def all_blue(benchmark: benchmarks.Benchmark) -> Expr:
    return benchmark.spellings["infix"][1]("all(color?(S), blue)")


def test_a_scene_is_all_blue_when_its_objects_are() -> None:
    benchmark = benchmarks.get("curi").language
    scene = benchmark.world.sample(1, Key(1))
    for color, expected in (("blue", True), ("red", False)):
        code = benchmark.world.vocabulary["color"].code(color)
        painted = Scenes(
            scene.vocabulary,
            scene.count,
            {**scene.codes, "color": np.full_like(scene.codes["color"], code)},
            scene.position,
        )
        assert fold(all_blue(benchmark), benchmark.meaning(painted), {}).tolist() == [expected]
