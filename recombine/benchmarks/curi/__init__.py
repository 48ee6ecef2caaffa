"""CURI: few-shot concepts in a language of thought, nine held-out splits, strong and weak Bayesian oracles."""

from recombine.benchmarks import Benchmark

BENCHMARK = Benchmark(
    name="curi",
    title="CURI",
    about="few-shot concepts in a language of thought, from scenes of 2 to 5 objects",
    paper="Vedantam, Szlam, Nickel, Morcos, Lake: CURI, ICML 2021",
    package=__name__,
    held_out=8,
    example="boolean",
    explorer_at="explore:CuriExplorer",
    study_at="study:Curi",
    language_at="laws:LANGUAGE",
    sounds=True,
    verifier_at="exam:VERIFIER",
    networks_at="networks:NETWORKS",
)
