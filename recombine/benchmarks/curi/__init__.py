"""CURI: few-shot concepts in a language of thought, nine held-out splits, strong and weak Bayesian oracles."""

from recombine.benchmarks import Benchmark
from recombine.benchmarks.curi.edition import PAPER
from recombine.benchmarks.curi.language import Lot, collapsed
from recombine.benchmarks.curi.meaning import Exact, Plainly
from recombine.benchmarks.curi.spelling import Speller, infix, postfix, prefix
from recombine.benchmarks.curi.splits import curi_splits
from recombine.benchmarks.curi.world import CuriWorld
from recombine.language.expr import Expr
from recombine.store.key import Key
from recombine.world.scenes import Scenes


def _draw(n: int, key: Key) -> tuple[Expr, ...]:
    grammar, rng = Lot().grammar(PAPER.nesting), key.rng()
    drawn = (grammar.draw(rng) for _ in range(n))
    return tuple(concept if i % 2 else collapsed(concept) for i, concept in enumerate(drawn))


def _plainly(scenes: Scenes, scene: int) -> Plainly:
    return Plainly(scenes.vocabulary, scenes.objects(scene))


BENCHMARK = Benchmark(
    name="curi",
    title="CURI",
    about="few-shot concepts in a language of thought, from scenes of 2 to 5 objects",
    paper="Vedantam, Szlam, Nickel, Morcos, Lake: CURI, ICML 2021",
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
