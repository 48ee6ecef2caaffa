"""Super-CLEVR: vehicles with parts, questions about both, and four factors of domain shift."""

from recombine.benchmarks import Benchmark

BENCHMARK = Benchmark(
    name="super-clevr",
    title="Super-CLEVR",
    about="questions as programs about scenes of 3 to 10 vehicles and about their parts, in 99 families",
    paper="Li, Wang, Stengel-Eskin, Kortylewski, Ma, Van Durme, Yuille: Super-CLEVR, CVPR 2023",
    package=__name__,
    held_out=0,
    example="part",
    explorer_at="explore:SuperClevrExplorer",
    study_at="study:SuperClevr",
    language_at="laws:LANGUAGE",
    networks_at="networks:NETWORKS",
    verifier_at="exam:VERIFIER",
    dataset_at="drawing:opened",
)
