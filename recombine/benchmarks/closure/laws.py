"""What the laws hold for: the world, language, meanings and splits of CLOSURE."""

from dataclasses import replace

from recombine.benchmarks.clevr.families import CLOSURE_FAMILIES, build
from recombine.benchmarks.clevr.laws import LANGUAGE as CLEVR
from recombine.benchmarks.clevr.laws import WORLD, draw_programs
from recombine.benchmarks.clevr.questions import filling, search
from recombine.benchmarks.closure.study import RULES
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
            build(families[f], filling(families[f], described, related, scenes))
            for f, described, related in zip(found.family, found.described, found.related)
        ]
    order = (key / "order").rng().permutation(len(programs))
    half = [programs[i] for i in order[: n // 2]]
    return (*half, *draw_programs(n - len(half), key / "clevr"))


LANGUAGE = replace(
    CLEVR,
    concepts=_draw,
    splits=CLOSURE_SPLITS,
)
