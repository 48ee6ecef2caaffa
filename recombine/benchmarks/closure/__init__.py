"""CLOSURE: seven tests that put CLEVR's matching relations where CLEVR never puts them."""

from recombine.benchmarks import Benchmark

BENCHMARK = Benchmark(
    name="closure",
    title="CLOSURE",
    about="seven tests of novel combinations for learners trained on CLEVR",
    paper="Bahdanau, de Vries, O'Donnell, Murty, Beaudoin, Bengio, Courville: CLOSURE, 2020",
    package=__name__,
    held_out=7,
    example="or_mat",
    study_at="facade:Closure",
    language_at="laws:LANGUAGE",
    networks_at="networks:NETWORKS",
    reader_at="families:read",
)
