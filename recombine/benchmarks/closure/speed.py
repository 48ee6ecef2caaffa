"""How fast CLOSURE's parts are: CLEVR's, and the questions of its slowest test."""

from collections.abc import Iterator

from recombine.benchmarks.clevr.speed import PLAIN, question, question_plainly
from recombine.benchmarks.clevr.speed import speeds as of_clevr
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES
from recombine.benchmarks.closure.pipeline import RULES, ClosurePipeline
from recombine.metrics.speed import Speed


def speeds(study: ClosurePipeline) -> Iterator[Speed]:
    """Measure everything on fresh scenes of this study's world."""
    yield from of_clevr(study.clevr)
    key = study.clevr.key / "bench"
    scenes = study.clevr.world.sample(500, key / "warm")
    ours = {
        test: question(families, RULES, len(families), scenes, key / test)
        for test, families in CLOSURE_FAMILIES.items()
    }
    slowest = max(ours, key=ours.__getitem__)
    setup = f"""{PLAIN}
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES
families, rules = CLOSURE_FAMILIES['{slowest}'], Rules(counts={RULES.counts})"""
    plainly = question_plainly(setup, len(CLOSURE_FAMILIES[slowest]))
    yield Speed(f"one question of {slowest}", ours[slowest], plainly, 1 / 300, 40 / 300)
