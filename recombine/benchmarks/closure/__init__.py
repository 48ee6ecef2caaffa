"""CLOSURE: seven tests that put CLEVR's matching relations where CLEVR never puts them."""

from typing import TYPE_CHECKING

from recombine.benchmarks import Benchmark
from recombine.store.lazy import lazily

if TYPE_CHECKING:
    from recombine.benchmarks.closure.learners import closest as closest

BENCHMARK = Benchmark(
    name="closure",
    title="CLOSURE",
    about="seven tests of novel combinations for learners trained on CLEVR",
    paper="Bahdanau, de Vries, O'Donnell, Murty, Beaudoin, Bengio, Courville: CLOSURE, 2020",
    package=__name__,
    held_out=7,
    example="or_mat",
    explorer_at="explore:ClosureExplorer",
    study_at="study:Closure",
    language_at="laws:LANGUAGE",
    networks_at="networks:NETWORKS",
    verifier_at="exam:VERIFIER",
    reader_at="families:read",
)

__getattr__ = lazily(__name__, {"closest": "learners"})
