"""How fast Super-CLEVR's parts are, each beside its plain reference where there is one."""

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec

from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline
from recombine.metrics.speed import Speed, cpu, interpreted
from recombine.store.key import Key
from recombine.world.scenes import Scenes

PLAIN = """
from recombine.benchmarks.super_clevr.questions import Asking
from recombine.store.key import Key
asking = Asking()
scenes = asking.world.sample(2, Key(0))
"""
"""What the plain loops start from; a scene with its pixels takes them seconds."""


def speeds(study: SuperClevrPipeline) -> Iterator[Speed]:
    """Measure everything on fresh scenes of this study's world."""
    key = study.key / "bench"
    study.world.sample(10, key / "warm")
    scenes = study.world.sample(500, key / "scenes")
    yield Speed(
        "one scene with the visibility of objects and parts",
        cpu(lambda: study.world.sample(500, key / "scenes"), 500),
        interpreted(PLAIN, "asking.world.sample(1, Key(1))", 1),
        1 / 500,
        None,
    )
    for kind in study.kinds:
        yield _questions(study, kind, scenes, key / kind)
    study.world.stage.draw(scenes[:2], 320, 240, ("rgb", "objects", "parts", "depth"))
    for width, height, target in ((320, 240, 1 / 45), (640, 480, 1 / 16)):
        some = scenes[:100]

        def draw(some: Scenes = some, width: int = width, height: int = height) -> None:
            study.world.stage.draw(some, width, height, ("rgb", "objects", "parts", "depth"))

        yield Speed(f"one picture of {width} x {height}", cpu(draw, len(some)), None, target, None)
    if find_spec("torch"):
        yield from _reasoning(study, scenes[:50], key / "reasoning")


def _questions(study: SuperClevrPipeline, kind: str, scenes: Scenes, key: Key) -> Speed:
    """One question with its text, program and trace."""
    from recombine.benchmarks.clevr.questions import balance

    asking, each = study.asking, study.each(kind)
    families = asking.families(kind)
    found = asking.find(scenes[:5], kind, each, key)
    asking.table(found, families, scenes[:5], 0, 0, key)
    kept = 0

    def make() -> None:
        nonlocal kept
        found = asking.find(scenes, kind, each + 6, key)
        chosen = found.rows(balance(found, each))
        kept = len(asking.table(chosen, families, scenes, 0, 0, key / "words"))

    make()
    statement = (
        f"found = asking.find(scenes, '{kind}', {each}, Key(1))\n"
        f"asking.table(found, asking.families('{kind}'), scenes, 0, 0, Key(2))"
    )
    plainly = interpreted(PLAIN, statement, 2 * each)
    return Speed(f"one question about {kind}s", cpu(make, kept), plainly, 5e-4, None)


def _reasoning(study: SuperClevrPipeline, scenes: Scenes, key: Key) -> Iterator[Speed]:
    """Looking at pictures, and answering without doubts and with them, on one thread."""
    import torch

    from recombine.benchmarks.super_clevr import sight
    from recombine.benchmarks.super_clevr.reasoning import REASONERS
    from recombine.benchmarks.super_clevr.symbolic import seen_in

    asking, parser = study.asking, sight.vehicle_parser()
    pictures = asking.world.stage.draw(scenes, *sight.SIZE, ("rgb",)).rgb
    assert pictures is not None
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    parser.perceive(pictures)
    spent = min(cpu(lambda: parser.perceive(pictures), len(scenes)) for _ in range(3))
    torch.set_num_threads(threads)
    yield Speed("one picture seen", spent, None, 1 / 50, None)
    found, families = asking.find(scenes, "object", study.each("object"), key), asking.families("object")
    programs, seen = asking.programs(found, families), seen_in(scenes, asking, parser)
    for name, reasoner in (("NSVQA", "nsvqa"), ("P-NSVQA", "p-nsvqa-joint")):
        run = partial(REASONERS[reasoner], programs, found.scene, seen, asking.world, asking.dialect)
        yield Speed(f"one question by {name}", cpu(run, len(programs)), None, 1e-3, None)
