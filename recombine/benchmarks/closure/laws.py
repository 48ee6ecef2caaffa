"""What the laws hold for: the world, language, meanings and splits of CLOSURE."""

from dataclasses import replace

from recombine.benchmarks.clevr.families import build
from recombine.benchmarks.clevr.laws import LANGUAGE as CLEVR
from recombine.benchmarks.clevr.laws import WORLD, draw_programs
from recombine.benchmarks.clevr.questions import filling, search
from recombine.benchmarks.closure.families import CLOSURE_FAMILIES, ENGLISH
from recombine.benchmarks.closure.pipeline import RULES
from recombine.benchmarks.closure.tests import CLOSURE_SPLITS
from recombine.language.expr import Expr
from recombine.store.key import Key


def _draw(n: int, key: Key) -> tuple[Expr, ...]:
    """Programs of CLOSURE's and of CLEVR's families."""
    scenes = WORLD.sample(60, key / "scenes")
    programs: list[Expr] = []
    for test, families in CLOSURE_FAMILIES.items():
        found = search(scenes, families, 1, key / test, RULES)
        programs += [
            build(families[f], filling(families[f], described, related))
            for f, described, related in zip(found.family, found.described, found.related)
        ]
    order = (key / "order").rng().permutation(len(programs))
    half = [programs[i] for i in order[: n // 2]]
    return (*half, *draw_programs(n - len(half), key / "clevr"))


def _english(program: Expr) -> str:
    return ENGLISH.say(program, (Key(0) / program.digest).rng())


LANGUAGE = replace(
    CLEVR,
    concepts=_draw,
    spellings={**CLEVR.spellings, "English": (_english, ENGLISH.read)},
    splits=CLOSURE_SPLITS,
)
