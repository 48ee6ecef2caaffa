"""A few questions about a few scenes, as networks take them."""

from functools import cache

from recombine.benchmarks.clevr.arrays import questions_of
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES
from recombine.benchmarks.clevr.pipeline import questions_table
from recombine.benchmarks.clevr.questions import search
from recombine.benchmarks.clevr.world import ClevrWorld
from recombine.solvers.questions import Questions, Vocabulary
from recombine.store.key import Key
from recombine.world.scenes import Scenes


@cache
def asked(scenes: int = 12, each: int = 2) -> tuple[Questions, Vocabulary, Scenes]:
    """So many questions about each of so many scenes."""
    seen = ClevrWorld().sample(scenes, Key(11))
    found = search(seen, CLEVR_FAMILIES, each, Key(12))
    table = questions_table(found, CLEVR_FAMILIES, seen, 0, 0, Key(13))
    words = Vocabulary.of(table["question"].to_pylist())
    return questions_of(table, words), words, seen
