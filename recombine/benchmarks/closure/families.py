"""CLOSURE's 46 question families, in seven tests, and their English.

A template of a test is a program by what is matched and what is asked, and one frame that says it.
"""

from collections.abc import Callable
from typing import NamedTuple

from recombine.benchmarks.clevr.english import English
from recombine.benchmarks.clevr.english_frames import COMPARE, DEEP_EXIST, EITHER, QUERY, Frames, suiting
from recombine.benchmarks.clevr.families import CLEVR_FAMILIES, Families, Family
from recombine.benchmarks.clevr.language import CLEVR
from recombine.benchmarks.clevr.shapes import EVERYTHING, asked, both, compare, either, hop_from, hops, match, shape_of
from recombine.language.expr import Expr


class Templates(NamedTuple):
    """The families of one test."""

    program: Callable[[str, str], Expr]
    """The program of a template, by what is matched and what is asked."""
    templates: str
    """In the order of `question_family_index` in CLOSURE's files: matched, or matched:asked."""
    frames: Callable[[str], Frames]
    """How a template is said, by what is asked."""
    baseline: tuple[int, ...]
    """The CLEVR families nearest to it (Figure 6 of the paper)."""
    outer: tuple[str, ...] | None = None
    apart: tuple[str, ...] = ()


_PLAIN, _TERSE = ("[made of] ",), ("[made of] ", "[that is] ")
_THINGS = Frames(("how many " + EITHER.replace("{x.names}", "things"),), (), _PLAIN)
_BESIDE_A_MATCH = (
    "is there a {x.name} {x.relation} the {x.anchor.name} that is the same {x.anchor.matched} as {x.anchor.anchor.name}"
)

_TESTS = {
    "embed_spa_mat": Templates(
        lambda matched, _: asked("exist", match(matched, hops(1))),
        "size color material shape",
        lambda _: Frames(("is there a {x.name} that is {x.link}",), DEEP_EXIST[:2], _TERSE),
        (79,),
    ),
    "embed_mat_spa": Templates(
        lambda matched, _: asked("exist", hop_from(match(matched))),
        "shape color material size",
        lambda _: Frames((_BESIDE_A_MATCH,), DEEP_EXIST, _TERSE),
        (79,),
    ),
    "compare_mat": Templates(
        lambda matched, same: compare(same, match(matched), EVERYTHING),
        "material:color shape:color size:color material:size size:shape color:shape shape:size material:shape "
        "color:size",
        lambda same: Frames((COMPARE["does-it"],), suiting(COMPARE, CLEVR.objects.manner(same)), _PLAIN),
        (13, 16, 22),
        apart=("D2", "D3"),
    ),
    "compare_mat_spa": Templates(
        lambda matched, same: compare(same, match(matched), hops(1)),
        "material:color material:shape size:color color:size shape:color shape:size color:shape material:size "
        "size:shape",
        lambda same: Frames((COMPARE["does-it"],), suiting(COMPARE, CLEVR.objects.manner(same)), _PLAIN),
        (15, 18, 24),
        apart=("D2", "D4"),
    ),
    "and_mat_spa": Templates(
        lambda matched, wanted: asked(wanted, both(match(matched), hops(1))),
        "shape:size material:size material:color size:material shape:material size:shape color:material shape:color "
        "color:shape size:color material:shape color:size",
        lambda wanted: Frames((QUERY["of"],), suiting(QUERY, CLEVR.objects.manner(wanted)), _PLAIN),
        (32, 33, 34, 35),
        apart=("A1", "R1"),
    ),
    "or_mat": Templates(
        lambda matched, _: asked("count", either(EVERYTHING, match(matched))),
        "material color shape size",
        lambda _: _THINGS,
        (71,),
        outer=(),
    ),
    "or_mat_spa": Templates(
        lambda matched, _: asked("count", either(hops(1), match(matched))),
        "material size shape color",
        lambda _: _THINGS,
        (67,),
        outer=(),
    ),
}


def _families(name: str, test: Templates) -> Families:
    return Families(
        Family(index, name, name, shape_of(test.program(matched, wanted)), test.outer, test.apart, test.frames(wanted))
        for index, (matched, _, wanted) in enumerate(template.partition(":") for template in test.templates.split())
    )


CLOSURE_FAMILIES = {name: _families(name, test) for name, test in _TESTS.items()}
"""By test, in the order of `question_family_index` in CLOSURE's files."""

BASELINES = {name: Families(CLEVR_FAMILIES[index] for index in test.baseline) for name, test in _TESTS.items()}
"""By test, the CLEVR families nearest to it."""

FAMILIES = Families((*CLEVR_FAMILIES, *(family for families in CLOSURE_FAMILIES.values() for family in families)))
"""CLEVR's, then CLOSURE's."""

ENGLISH = English(FAMILIES)
read = ENGLISH.read
