"""What the laws hold for: the world, language, meanings and splits of CURI."""

from recombine.benchmarks.curi.edition import PAPER
from recombine.benchmarks.curi.language import Lot, collapsed
from recombine.benchmarks.curi.meaning import Exact, Plainly
from recombine.benchmarks.curi.spelling import Speller, infix, postfix, prefix
from recombine.benchmarks.curi.splits import curi_splits
from recombine.benchmarks.curi.world import CuriWorld
from recombine.benchmarks.language import Language
from recombine.language.expr import Expr
from recombine.store.key import Key
from recombine.world.scenes import Scenes


def _draw(n: int, key: Key) -> tuple[Expr, ...]:
    grammar, rng = Lot().grammar(PAPER.nesting), key.rng()
    drawn = (grammar.draw(rng) for _ in range(n))
    return tuple(concept if i % 2 else collapsed(concept) for i, concept in enumerate(drawn))


def _plainly(scenes: Scenes, scene: int) -> Plainly:
    return Plainly(scenes.vocabulary, scenes.objects(scene))


LANGUAGE = Language(
    world=CuriWorld(first_bin=PAPER.first_bin),
    signature=Lot().signature(),
    concepts=_draw,
    meaning=Exact,
    reference=_plainly,
    spellings={
        "postfix": (postfix, Speller().read_postfix),
        "prefix": (prefix, Speller().read_prefix),
        "infix": (infix, Speller().read_infix),
    },
    splits=curi_splits(PAPER),
)
