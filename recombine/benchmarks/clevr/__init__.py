"""CLEVR: questions about scenes as programs of 26 functions, in 90 families."""

from recombine.benchmarks import Benchmark

BENCHMARK = Benchmark(
    name="clevr",
    title="CLEVR",
    about="questions as programs about scenes of 3 to 10 objects, in 90 families",
    paper="Johnson, Hariharan, van der Maaten, Fei-Fei, Zitnick, Girshick: CLEVR, CVPR 2017",
    package=__name__,
    held_out=0,
    example="one_hop",
    study_at="facade:Clevr",
    language_at="laws:LANGUAGE",
    reader_at="english:read",
    scene_files_at="redraw:opened",
)
