"""ConceptWorld: concepts in a logical language that draws, and four experiments on recombining them."""

from recombine.benchmarks import Benchmark

BENCHMARK = Benchmark(
    name="concept-world",
    title="ConceptWorld",
    about="a logical concept language that draws; four experiments on longer and substituted compositions",
    paper="Klinger, Adjodah, Marois, Joseph, Riemer, Pentland, Campbell: A Study of Compositional Generalization, 2020",
    package=__name__,
    held_out=4,
    example="boxworld",
    explorer_at="explore:ConceptWorldExplorer",
    study_at="study:ConceptWorld",
    language_at="laws:LANGUAGE",
    networks_at="networks:NETWORKS",
    commands={
        "draw": "Draw images of a concept, each verified, and say how many there are.",
        "count": "How many images satisfy a concept: exactly, or an estimate with its interval.",
        "recognise": "Whether an image satisfies a concept: the object that proves it, or the condition that fails.",
    },
)
