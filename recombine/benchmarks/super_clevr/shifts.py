"""Shifts of domain: tests of Super-CLEVR whose world, or whose words, are not those of training.

`long-to-oppo` is trained on the long-tailed distribution and tested on the opposite one; `co-1-to-co-2` likewise for
compositions; `rd+` is tested with questions that say everything. In `long-to-long` the weak
observer's belief is right, and pays.
"""

from dataclasses import dataclass, replace
from functools import cache, partial

from recombine.benchmarks.clevr.exam import mark
from recombine.benchmarks.clevr.pipeline import Part
from recombine.benchmarks.super_clevr.exam import answer_words, pieces, training
from recombine.benchmarks.super_clevr.factors import COMPOSITIONS, DISTRIBUTIONS, variant
from recombine.benchmarks.super_clevr.observers import Belief, Observer
from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline
from recombine.benchmarks.super_clevr.redundancy import REDUNDANCIES
from recombine.store.errors import UserError
from recombine.tasks.exam import Exam

BETWEEN = "-to-"


@dataclass(frozen=True)
class Shift:
    """What is trained on, and what is tested on."""

    factor: str
    trained: str
    tested: str

    @property
    def name(self) -> str:
        return self.tested if self.factor == "redundancy" else f"{self.trained}{BETWEEN}{self.tested}"

    def at(self, pipeline: SuperClevrPipeline, name: str) -> SuperClevrPipeline:
        """The data of one side."""
        asking = pipeline.asking
        if self.factor == "redundancy":
            changed = replace(asking, redundancy=name)
        else:
            chances, pairs = (name, "co-0") if self.factor == "distribution" else ("bal", name)
            plain = replace(asking.world, weights=(), color_given_shape=())
            changed = replace(asking, world=variant(plain, chances, pairs, edition=asking.edition))
        return SuperClevrPipeline(pipeline.scale, pipeline.seed, pipeline.store, pipeline.engine, changed)


SHIFTS = {
    shift.name: shift
    for shift in (
        *(Shift("distribution", "long", tested) for tested in ("long", "bal", "head", "tail", "oppo")),
        *(Shift("composition", trained, tested) for trained in COMPOSITIONS[1:] for tested in COMPOSITIONS),
        *(Shift("redundancy", "rd", tested) for tested in REDUNDANCIES),
    )
}


def shift_named(name: str) -> Shift:
    """A shift by its name; any two variants of a factor can be put together."""
    if name in SHIFTS:
        return SHIFTS[name]
    trained, between, tested = name.partition(BETWEEN)
    for factor, known in (("composition", COMPOSITIONS), ("distribution", DISTRIBUTIONS)):
        if between and trained in known and tested in known:
            return Shift(factor, trained, tested)
    raise UserError(f"Super-CLEVR has no split '{name}'; choose from object, part, {', '.join(SHIFTS)}")


def exam_of(shift: Shift, pipeline: SuperClevrPipeline, part: Part) -> Exam:
    """The questions about objects of the variant that is tested on."""
    tested = shift.at(pipeline, shift.tested)
    return Exam(
        shift.name,
        answer_words(tested.asking.dialect),
        cache(partial(training, shift.at(pipeline, shift.trained), "object", True)),
        partial(pieces, tested, part, "object", True),
        mark,
        pipeline.key / "bootstrap" / part / shift.name,
        split=shift.name,
        title=f"{shift.factor}: {shift.name}",
    )


def observers(shift: Shift, pipeline: SuperClevrPipeline, noise: float) -> dict[str, Observer]:
    """The strong and the weak observer of a shift."""
    tested, key = shift.at(pipeline, shift.tested), pipeline.key / "observers" / shift.name
    plain = replace(tested.world, weights=(), color_given_shape=())
    strong = Observer(tested.asking, noise, key, Belief.of(plain))
    if shift.factor == "redundancy":
        return {"strong": strong, "weak": replace(strong, belief=None)}
    return {"strong": strong, "weak": replace(strong, belief=Belief.of(shift.at(pipeline, shift.trained).world))}
