"""What the laws hold for: the world, language, meanings and splits of CLEVR."""

from collections.abc import Sequence

import numpy as np

from recombine.benchmarks.clevr.english import read, say
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, build
from recombine.benchmarks.clevr.language import signature
from recombine.benchmarks.clevr.meaning import UNDEFINED, Exact, Plainly, Undefined, execute
from recombine.benchmarks.clevr.program import TOKENS
from recombine.benchmarks.clevr.questions import filling, search
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.benchmarks.language import Language
from recombine.language.expr import Expr
from recombine.language.query import anything
from recombine.semantics.fold import fold
from recombine.store.key import Key
from recombine.tasks.splits import Split
from recombine.world.scenes import Scenes

WORLD = ClevrWorld()


def draw_programs(n: int, key: Key) -> tuple[Expr, ...]:
    """Programs of questions about fresh scenes, of all families in turn."""
    scenes = WORLD.sample(-(-n // 8), key / "scenes")
    found = search(scenes, CLEVR_FAMILIES, 8, key / "questions")
    programs = (
        build(CLEVR_FAMILIES[f], filling(CLEVR_FAMILIES[f], described, related))
        for f, described, related in zip(found.family, found.described, found.related)
    )
    return tuple(programs)[:n]


def plainly(program: Expr, scenes: Scenes, scene: int) -> int:
    """The answer of the plain meaning as a number; UNDEFINED where there is none."""
    try:
        value = fold(program, Plainly.of(scenes, scene), {})
    except Undefined:
        return UNDEFINED
    return scenes.vocabulary[program.head.out].code(value) if isinstance(value, str) else int(value)


def _execute(programs: Sequence[Expr], scenes: Scenes) -> np.ndarray:
    return execute(programs, scenes)


def _reference(scenes: Scenes, scene: int) -> Plainly:
    return Plainly.of(scenes, scene)


def _english(program: Expr) -> str:
    return say(program, (Key(0) / program.digest).rng())


def _tokens(program: Expr) -> str:
    return " ".join(TOKENS.write(program))


def _read_tokens(text: str) -> Expr:
    return TOKENS.read(text.split())


LANGUAGE = Language(
    world=WORLD,
    signature=signature(),
    concepts=draw_programs,
    meaning=Exact,
    reference=_reference,
    spellings={"English": (_english, read), "prefix tokens": (_tokens, _read_tokens)},
    splits={"iid": Split("iid", "IID", "new questions about new scenes", anything, anything)},
    execute=_execute,
    execute_plainly=plainly,
)
