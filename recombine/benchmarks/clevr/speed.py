"""How fast CLEVR's parts are, each beside its plain reference where there is one."""

from collections.abc import Iterator

from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Families, build
from recombine.benchmarks.clevr.meaning import Plainly, Undefined, execute
from recombine.benchmarks.clevr.pipeline import ClevrPipeline, questions_table
from recombine.benchmarks.clevr.questions import Rules, filling, search
from recombine.language.expr import Expr
from recombine.metrics.speed import Speed, cpu, interpreted
from recombine.semantics.fold import fold
from recombine.store.key import Key
from recombine.world.scenes import Scenes

PLAIN = """
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES
from recombine.benchmarks.clevr.questions import Rules, search
from recombine.benchmarks.clevr.pipeline import questions_table
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.store.key import Key
scenes = ClevrWorld().sample(10, Key(0))
"""


def speeds(study: ClevrPipeline) -> Iterator[Speed]:
    """Measure everything on fresh scenes of this study's world."""
    key = study.key / "bench"
    scenes = study.world.sample(10_000, key / "warm")
    yield Speed(
        "one scene with visibility",
        cpu(lambda: study.world.sample(10_000, key / "scenes"), 10_000),
        interpreted(PLAIN, "ClevrWorld().sample(20, Key(1))", 20),
        5e-5,
        1 / 1_480,
    )
    yield _execution(scenes, key)
    setup = f"{PLAIN}families, rules = CLEVR_FAMILIES, Rules()"
    plainly = question_plainly(setup, 10)
    ours = question(CLEVR_FAMILIES, Rules(), 10, scenes[:1_000], key / "clevr")
    yield Speed("one CLEVR question", ours, plainly, 5e-4, 1 / 18)


def question(families: Families, rules: Rules, each: int, scenes: Scenes, key: Key) -> float:
    """Seconds to find one question of these families and to put it into words."""
    questions_table(search(scenes[:5], families, each, key, rules), families, scenes[:5], 0, 0, key)
    found = search(scenes, families, each, key, rules)

    def make() -> None:
        questions_table(search(scenes, families, each, key, rules), families, scenes, 0, 0, key / "words")

    return cpu(make, len(found.scene))


def question_plainly(setup: str, each: int) -> float:
    """The same search and words, with the compiled loops as plain Python; `setup` names scenes, families and rules."""
    statement = f"questions_table(search(scenes, families, {each}, Key(1), rules), families, scenes, 0, 0, Key(2))"
    return interpreted(setup, statement, 10 * each)


def _execution(scenes: Scenes, key: Key) -> Speed:
    found = search(scenes[:200], CLEVR_FAMILIES, 5, key / "programs")
    programs: list[Expr] = [
        build(CLEVR_FAMILIES[f], filling(CLEVR_FAMILIES[f], described, related))
        for f, described, related in zip(found.family, found.described, found.related)
    ]

    def plainly() -> None:
        for scene in range(20):
            plain = Plainly.of(scenes, scene)
            for program in programs[:200]:
                try:
                    fold(program, plain, {})
                except Undefined:
                    continue

    ours = cpu(lambda: execute(programs, scenes), len(programs) * len(scenes))
    return Speed("one program on one scene", ours, cpu(plainly, 20 * 200), 2e-7, 1 / 60_000)
