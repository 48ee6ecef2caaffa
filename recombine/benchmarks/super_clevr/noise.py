"""What noise does to ideal observers under the shifts, beside what the shifts do to published networks.

For every variant that is tested on, observers see the same scenes through the same noise. One believes in uniform,
independent attributes; others believe the statistics of a variant that one could have trained on; for redundancy, one
weighs all constraints of a question together and one commits. So there is an accuracy for every pair of variants, as
for the networks of Table 1, and the same relative degrade.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from recombine.benchmarks.scoring import answered_by
from recombine.benchmarks.super_clevr.observers import Belief, Observer
from recombine.benchmarks.super_clevr.pipeline import SuperClevrPipeline
from recombine.benchmarks.super_clevr.published import MODELS, TABLE_2, TESTED, TRAINED, degrade
from recombine.benchmarks.super_clevr.shifts import SHIFTS, Shift, exam_of
from recombine.report.curves import Curve, curve_chart
from recombine.report.document import Figure
from recombine.report.table import Cell, Column, Table

NOISES = (0.0, 0.05, 0.1, 0.2, 0.4)
UNIFORM = {"distribution": "bal", "composition": "co-0"}
"""The variant whose statistics are those that the strong observer believes."""
JOINT, COMMITS = "weighs all together", "commits"
DRAWN = ("long-to-oppo", "long-to-tail", "long-to-long", "co-1-to-co-2", "rd-", "rd+")
"""The shifts in the figure."""

Scores = dict[str, dict[str, float]]
"""In percent: by the variant tested on, then by who answers."""


@dataclass(frozen=True)
class Noisy:
    """How well observers do at several levels of noise."""

    accuracy: Mapping[tuple[str, float], Scores]  # by factor and noise
    probability: Mapping[tuple[str, float], Scores]  # of the right answer
    noises: Sequence[float]
    questions: int
    """Of each variant."""

    def gap(self, shift: Shift, noise: float) -> float:
        """What the weak observer of a shift loses against the strong one, in points."""
        found = self.probability[shift.factor, noise][shift.tested]
        if shift.factor == "redundancy":
            return found[JOINT] - found[COMMITS]
        return found[UNIFORM[shift.factor]] - found[shift.trained]

    def gaps(self) -> Table:
        """The gap of every shift by noise."""
        rows: list[tuple[Cell, ...]] = [
            (one.factor, one.name, *(self.gap(one, noise) for noise in self.noises)) for one in SHIFTS.values()
        ]
        columns = (Column("factor"), Column("shift"), *(Column(f"{100 * n:g} %", "right", ".1f") for n in self.noises))
        note = (
            "Strong minus weak, in points of the right answer's probability, by the chance to see a value wrong; "
            f"{self.questions:,} questions each. Under rd-, rd and rd+ the weak one is the one that commits."
        )
        return Table("The gap by noise", columns, tuple(rows), note)

    def degrade(self, factor: str, noise: float, who: str = "") -> float:
        """The relative degrade as Table 2 has it; under redundancy, of one of the two observers."""
        found = self.accuracy[factor, noise]
        if factor == "redundancy":  # nobody is trained, so all training sets are alike
            return degrade({tested: dict.fromkeys(found, row[who]) for tested, row in found.items()}, factor)
        return degrade(found, factor)

    def own(self, factor: str, noise: float) -> float:
        """The mean accuracy where training and test are alike."""
        found = self.accuracy[factor, noise]
        return float(np.mean([found[one][one] for one in TRAINED[factor] if one in found]))

    def degrades(self) -> Table:
        """Relative degrade of observers by noise, beside the published networks."""
        rows: list[tuple[Cell, ...]] = []
        for noise in self.noises:
            shifted = [(self.own(factor, noise), self.degrade(factor, noise)) for factor in UNIFORM]
            both = [self.degrade("redundancy", noise, who) for who in (JOINT, COMMITS)]
            rows.append((f"observer, noise {100 * noise:g} %", *shifted[0], *shifted[1], *both))
        for model in MODELS:
            told = TABLE_2[model]
            rows.append((model, None, told["distribution"], None, told["composition"], told["redundancy"], None))
        names = ("own %", "distribution", "own %", "composition", "redundancy, joint", "redundancy, commits")
        columns = (Column("who"), *(Column(name, "right", ".1f") for name in names))
        note = (
            "Relative degrade in percent, by the formula that gives Table 2. Observers believe the statistics of what "
            "they were trained on; own: accuracy where test and training are alike. Networks: as published."
        )
        return Table("Relative degrade of observers and of networks", columns, tuple(rows), note)

    def figures(self) -> tuple[Figure, ...]:
        return self._gap_figure(), *(self._degrade_figure(factor) for factor in UNIFORM)

    def _gap_figure(self) -> Figure:
        curves = [Curve(name, [(100 * n, self.gap(SHIFTS[name], n)) for n in self.noises]) for name in DRAWN]
        title = "What the weak observer loses, by noise"
        axes = "strong minus weak, points", "chance to see a value wrong, %"
        drawn = partial(curve_chart, curves, {}, title, *axes)
        return Figure.drawn("gap-by-noise", title, drawn)

    def _degrade_figure(self, factor: str) -> Figure:
        curve = Curve("observer", [(100 * noise, self.degrade(factor, noise)) for noise in self.noises])
        title = f"Relative degrade under {factor}: an observer by noise, published networks as lines"
        levels = {model: TABLE_2[model][factor] for model in MODELS}
        drawn = partial(curve_chart, [curve], levels, title, "relative degrade, %", "chance to see a value wrong, %")
        return Figure.drawn(f"degrade-by-noise-{factor}", title, drawn)


def measured(pipeline: SuperClevrPipeline, noises: Sequence[float] = NOISES) -> Noisy:
    """Ask all observers all questions of the test part, at every level of noise."""
    accuracy: dict[tuple[str, float], Scores] = {(f, n): {} for f in ("redundancy", *UNIFORM) for n in noises}
    probability: dict[tuple[str, float], Scores] = {key: {} for key in accuracy}
    questions = 0
    for factor in ("distribution", "composition", "redundancy"):
        for tested in TESTED[factor]:
            shift = Shift(factor, TRAINED[factor][0], tested)
            exam = exam_of(shift, pipeline, "test")
            pieces = [*exam.pieces()]
            questions = sum(len(one.asked) for one in pieces)
            for noise in noises:
                marks = {
                    name: [exam.mark(one, answered_by(who, one)) for one in pieces]
                    for name, who in _observers(shift, pipeline, noise).items()
                }
                for found, measure in ((accuracy, "accuracy"), (probability, "probability")):
                    found[factor, noise][tested] = {
                        name: 100 * float(np.concatenate([one[measure] for one in some]).mean())
                        for name, some in marks.items()
                    }
    return Noisy(accuracy, probability, tuple(noises), questions)


def _observers(shift: Shift, pipeline: SuperClevrPipeline, noise: float) -> dict[str, Observer]:
    """Everyone who is asked about the variant that a shift tests on."""
    tested, key = shift.at(pipeline, shift.tested), pipeline.key / "observers" / shift.factor / shift.tested
    plain = replace(tested.world, weights=(), color_given_shape=())
    strong = Observer(tested.asking, noise, key, Belief.of(plain))
    if shift.factor == "redundancy":
        return {JOINT: strong, COMMITS: replace(strong, belief=None)}
    worlds = {name: shift.at(pipeline, name).world for name in TRAINED[shift.factor]}
    return {name: replace(strong, belief=Belief.of(world)) for name, world in worlds.items()}
