"""How fast CURI's parts are, each beside its plain reference, in CPU time of one core and one run."""

from collections.abc import Iterator

import numpy as np

from recombine.benchmarks.curi.meaning import Exact, Plainly
from recombine.benchmarks.curi.pipeline import CuriPipeline
from recombine.metrics.scores import average_precision
from recombine.metrics.speed import Speed, cpu, interpreted
from recombine.semantics.bits import unpack_bits
from recombine.semantics.fold import Plan, fold
from recombine.semantics.table import BLOCK
from recombine.solvers.oracle import answer
from recombine.tasks.episodes import Episodes, draw_episodes, rival_scenes

PLAIN_WORLD = """
from recombine.benchmarks.curi.world import CuriWorld
from recombine.store.key import Key
"""


def speeds(study: CuriPipeline) -> Iterator[Speed]:
    """Measure everything on this study's scale; what must be made first is made first."""
    yield _grammar_draw(study)
    yield _scene(study)
    yield _truth_value(study)
    yield _hard_episode(study)
    yield _oracles(study)


def _grammar_draw(study: CuriPipeline) -> Speed:
    grammar, draws = study.setup.lot.grammar(study.setup.edition.nesting), 2_000_000
    rng = (study.key / "bench" / "draws").rng()
    ours = cpu(lambda: grammar.enumerate().draw(draws, rng), draws)
    plain = cpu(lambda: [grammar.draw(rng) for _ in range(1_000)], 1_000)
    return Speed("one draw from the grammar, of 2M", ours, plain, 4e-3, 4.5e-3)


def _scene(study: CuriPipeline) -> Speed:
    study.world.sample(10, study.key / "bench" / "warm")
    ours = cpu(lambda: study.world.sample(BLOCK, study.key / "bench" / "scenes"), BLOCK)
    return Speed(
        "one scene with visibility",
        ours,
        interpreted(PLAIN_WORLD, "CuriWorld().sample(30, Key(0))", 30),
        2 * 60 / 990_000,
        None,
    )


def _truth_value(study: CuriPipeline) -> Speed:
    scenes, concepts = study.scene(0)[0], study.space.concepts
    plan, meaning = Plan(concepts), Exact(scenes)

    def fast() -> None:
        for _, truth in plan.run(meaning):
            np.packbits(truth)

    few = concepts[:: max(1, len(concepts) // 50)]

    def plainly() -> None:
        for scene in range(20):
            plain = Plainly(scenes.vocabulary, scenes.objects(scene))
            for concept in few:
                fold(concept, plain, {})

    return Speed("one truth value", cpu(fast, len(concepts) * len(scenes)), cpu(plainly, 20 * len(few)), 2e-9, 29e-6)


def _hard_episode(study: CuriPipeline) -> Speed:
    table, weight, shape = study.table, study.space.weight, study.shape("hard")
    key = study.key / "bench" / "episodes"
    draw_episodes(table, weight, 2, shape, key)
    ours = cpu(lambda: draw_episodes(table, weight, 4_000, shape, key), 4_000)
    some = draw_episodes(table, weight, 5, shape, key)
    rng = key.rng()

    def plainly() -> None:
        for concept, support in zip(some.concept, some.support):
            union = rival_scenes(table, int(table.sense[concept]), support[: shape.positives])
            rng.permutation(np.flatnonzero(union))[: shape.negatives]

    return Speed("one hard episode", ours, cpu(plainly, len(some.concept)), 2e-4, 2.9)


def _oracles(study: CuriPipeline) -> Speed:
    episodes, beliefs, probe = study.episodes("boolean", "test", "hard"), study.beliefs("boolean", "hard"), study.probe
    many = Episodes(*(column[:2_000] for column in episodes))
    few = Episodes(*(column[:5] for column in episodes))
    for belief in beliefs.values():
        answer(belief, few, probe)
    ours = cpu(lambda: [answer(belief, many, probe) for belief in beliefs.values()], len(many.concept))
    truth = unpack_bits(probe.bits, probe.size)

    def plainly() -> None:
        for concept, scene, label in zip(*few):
            for belief in beliefs.values():
                posterior = belief.posterior(scene[: few.size], label[: few.size])
                score = np.bincount(study.table.sense, posterior, study.table.senses) @ truth
                average_precision(truth[study.table.sense[concept]], score)

    return Speed("strong and weak oracle with mAP", ours, cpu(plainly, len(few.concept)), 5e-3, 1.0)
