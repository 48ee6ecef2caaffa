"""What the laws hold for: the world, language, meanings and splits of Super-CLEVR."""

from collections.abc import Sequence

import numpy as np

from recombine.benchmarks.clevr.meaning import UNDEFINED, Undefined
from recombine.benchmarks.clevr.program import ProgramTokens
from recombine.benchmarks.language import Language
from recombine.benchmarks.super_clevr.english import english_of
from recombine.benchmarks.super_clevr.language import dialect_of
from recombine.benchmarks.super_clevr.meaning import Exact, Plainly, execute
from recombine.benchmarks.super_clevr.questions import KINDS, Asking
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.language.expr import Expr
from recombine.language.query import anything
from recombine.semantics.fold import fold
from recombine.store.key import Key
from recombine.tasks.splits import Split
from recombine.world.scenes import Scenes

WORLD = VehicleWorld()
DIALECT, ENGLISH = dialect_of(WORLD), english_of(WORLD)
TOKENS = ProgramTokens(DIALECT)


def draw_programs(n: int, key: Key) -> tuple[Expr, ...]:
    """Programs of questions about fresh scenes, half of them about parts."""
    asking, scenes = Asking(WORLD), WORLD.sample(-(-n // 12), key / "scenes")
    found = []
    for kind in KINDS:
        rows = asking.find(scenes, kind, 8, key / kind)
        programs = asking.programs(rows, asking.families(kind))
        picked = (key / kind / "picked").rng().permutation(len(programs))[: -(-n // 2)]
        found += [programs[i] for i in sorted(picked.tolist())]
    return tuple(found)[:n]


def plainly(program: Expr, scenes: Scenes, scene: int) -> int:
    """The answer of the plain meaning as a number; UNDEFINED where there is none."""
    try:
        value = fold(program, _reference(scenes, scene), {})
    except Undefined:
        return UNDEFINED
    return DIALECT.answers[program.head.out].index(value) if isinstance(value, str) else int(value)


def _exact(scenes: Scenes) -> Exact:
    return Exact(scenes, dialect=DIALECT)


def _execute(programs: Sequence[Expr], scenes: Scenes) -> np.ndarray:
    return execute(programs, scenes, DIALECT)


def _reference(scenes: Scenes, scene: int) -> Plainly:
    return Plainly.of(scenes, scene, DIALECT)


def _english(program: Expr) -> str:
    return ENGLISH.say(program, (Key(0) / program.digest).rng())


def _tokens(program: Expr) -> str:
    return " ".join(TOKENS.write(program))


def _read_tokens(text: str) -> Expr:
    """The value of a token may have spaces."""
    found: list[str] = []
    for word in text.split(" "):
        if found and "[" in found[-1] and "]" not in found[-1]:
            found[-1] += f" {word}"
        else:
            found.append(word)
    return TOKENS.read(found)


LANGUAGE = Language(
    world=WORLD,
    signature=DIALECT.signature,
    concepts=draw_programs,
    meaning=_exact,
    reference=_reference,
    spellings={
        "English": (_english, ENGLISH.read),
        "prefix tokens": (_tokens, _read_tokens),
    },
    splits={"iid": Split("iid", "IID", "new questions about new scenes", anything, anything)},
    execute=_execute,
    execute_plainly=plainly,
)
