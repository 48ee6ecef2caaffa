"""CLEVR: questions about scenes as programs of 26 functions, in 90 families."""

from typing import TYPE_CHECKING

from recombine.benchmarks import Benchmark
from recombine.store.lazy import lazily

if TYPE_CHECKING:
    from recombine.benchmarks.clevr.english import read as read
    from recombine.benchmarks.clevr.english import say as say
    from recombine.benchmarks.clevr.families import CLEVR_FAMILIES as CLEVR_FAMILIES
    from recombine.benchmarks.clevr.families import build as build
    from recombine.benchmarks.clevr.formats import read_scenes as read_scenes
    from recombine.benchmarks.clevr.language import signature as signature
    from recombine.benchmarks.clevr.meaning import answer_text as answer_text
    from recombine.benchmarks.clevr.meaning import execute as execute
    from recombine.benchmarks.clevr.questions import Rules as Rules
    from recombine.benchmarks.clevr.questions import filling as filling
    from recombine.benchmarks.clevr.questions import search as search
    from recombine.benchmarks.clevr.trace import trace_text as trace_text

BENCHMARK = Benchmark(
    name="clevr",
    title="CLEVR",
    about="questions as programs about scenes of 3 to 10 objects, in 90 families",
    paper="Johnson, Hariharan, van der Maaten, Fei-Fei, Zitnick, Girshick: CLEVR, CVPR 2017",
    package=__name__,
    held_out=0,
    example="one_hop",
    explorer_at="explore:ClevrExplorer",
    study_at="study:Clevr",
    language_at="laws:LANGUAGE",
    reader_at="english:read",
    verifier_at="exam:VERIFIER",
    scene_files_at="redraw:opened",
    commands={
        "perceive": "What stands in a picture: every object, its place, its box, and how sure that is.",
        "answer": "The answer to a question about a picture, with the program and what each step finds.",
    },
)

_HOMES = {
    "CLEVR_FAMILIES": "families",
    "Rules": "questions",
    "answer_text": "meaning",
    "build": "families",
    "execute": "meaning",
    "filling": "questions",
    "read": "english",
    "read_scenes": "formats",
    "say": "english",
    "search": "questions",
    "signature": "language",
    "trace_text": "trace",
}
"""Where each public name lives; it is imported when it is first used."""
__getattr__ = lazily(__name__, _HOMES)
