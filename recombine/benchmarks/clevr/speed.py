"""How fast CLEVR's parts are, each beside its plain reference where there is one."""

from collections.abc import Iterator

from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, CLOSURE_FAMILIES, build
from recombine.benchmarks.clevr.meaning import Plainly, Undefined, execute
from recombine.benchmarks.clevr.questions import Rules, filling, search
from recombine.benchmarks.clevr.study import ClevrStudy, questions_table
from recombine.language.expr import Expr
from recombine.metrics.speed import Speed, cpu, interpreted
from recombine.semantics.fold import fold
from recombine.store.key import Key
from recombine.world.scenes import Scenes

PLAIN = """
from recombine.benchmarks.clevr.questions import Rules, search
from recombine.benchmarks.clevr.study import families_of, questions_table
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.store.key import Key
scenes = ClevrWorld().sample(10, Key(0))
"""


def speeds(study: ClevrStudy) -> Iterator[Speed]:
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
    yield _question("one CLEVR question", "clevr", scenes[:1_000], key, 5e-4, 1 / 18)
    slowest = max(
        (_question(f"one question of {test}", test, scenes[:500], key, 1 / 300, 40 / 300) for test in CLOSURE_FAMILIES),
        key=lambda speed: speed.ours,
    )
    yield slowest


def _question(what: str, test: str, scenes: Scenes, key: Key, target: float, released: float | None) -> Speed:
    families = CLEVR_FAMILIES if test == "clevr" else CLOSURE_FAMILIES[test]
    rules = Rules() if test == "clevr" else Rules(counts=(1, 3))
    each = 10 if test == "clevr" else len(families)
    questions_table(search(scenes[:5], families, each, key, rules), families, scenes[:5], 0, 0, key)
    found = search(scenes, families, each, key / test, rules)

    def make() -> None:
        questions_table(search(scenes, families, each, key / test, rules), families, scenes, 0, 0, key / "words")

    return Speed(what, cpu(make, len(found.scene)), _plainly(test, each), target, released)


def _plainly(test: str, each: int) -> float:
    """The same search and words, with the compiled loops as plain Python."""
    setup = f"{PLAIN}families, rules = families_of('{test}'), Rules(counts=(0, 10) if '{test}' == 'clevr' else (1, 3))"
    statement = f"questions_table(search(scenes, families, {each}, Key(1), rules), families, scenes, 0, 0, Key(2))"
    return interpreted(setup, statement, 10 * each)


def _execution(scenes: Scenes, key: Key) -> Speed:
    found = search(scenes[:200], CLEVR_FAMILIES, 5, key / "programs")
    programs: list[Expr] = [
        build(CLEVR_FAMILIES[f], filling(CLEVR_FAMILIES[f], described, related, scenes))
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
