"""The variants that models are trained and tested on, and which of them each factor compares.

Three of Table 1's variants are one: mid, rd and co-0 are all *default*. By its numbers the balanced distribution is not
that one but *hard*: all fifteen cells of bal and bal are those of hard and hard. So distributions are those of hard.

>>> tests_of("default")
('default', 'easy', 'hard', 'rd-', 'rd+', 'co-1', 'co-2')
>>> tests_of("slt")
('slt', 'hard', 'long', 'head', 'tail', 'oppo')
"""

from dataclasses import dataclass

from recombine.benchmarks.clevr.questions import Rules
from recombine.benchmarks.super_clevr.factors import variant
from recombine.benchmarks.super_clevr.published import TESTED
from recombine.benchmarks.super_clevr.published import TRAINED as PUBLISHED
from recombine.benchmarks.super_clevr.questions import Asking
from recombine.benchmarks.super_clevr.world import VehicleWorld
from recombine.store.errors import UserError

DEFAULT, HARD = "default", "hard"
SAME = {"mid": DEFAULT, "rd": DEFAULT, "co-0": DEFAULT, "bal": HARD}
"""Variants that have another name here, by the paper's."""


@dataclass(frozen=True)
class Variant:
    """What the scenes and questions of a variant are."""

    complexity: str = "mid"
    redundancy: str = "rd"
    distribution: str = "bal"
    composition: str = "co-0"

    def asking(self) -> Asking:
        world = variant(VehicleWorld(complexity=self.complexity), self.distribution, self.composition)
        return Asking(world, "paper", Rules(strict=True), self.redundancy)


VARIANTS = {
    DEFAULT: Variant(),
    "easy": Variant(complexity="easy"),
    HARD: Variant(complexity="hard"),
    "rd-": Variant(redundancy="rd-"),
    "rd+": Variant(redundancy="rd+"),
    "co-1": Variant(composition="co-1"),
    "co-2": Variant(composition="co-2"),
    **{name: Variant("hard", distribution=name) for name in ("slt", "long", "head", "tail", "oppo")},
}
FACTORS = {factor: {name: SAME.get(name, name) for name in names} for factor, names in TESTED.items()}
"""By factor and the paper's name of a test, the variant."""
TRAINED = {factor: {name: SAME.get(name, name) for name in names} for factor, names in PUBLISHED.items()}
"""The same of what is trained on."""
LEARNT = tuple(name for name in VARIANTS if any(name in names.values() for names in TRAINED.values()))
"""What models are trained on."""


def tests_of(trained: str) -> tuple[str, ...]:
    """What a model that was trained on a variant is tested on: that one, then all that its factors compare it to."""
    factors = [factor for factor, names in TRAINED.items() if trained in names.values()]
    wanted = {test for factor in factors for test in FACTORS[factor].values()}
    return (trained, *(name for name in VARIANTS if name in wanted and name != trained))


def learnt(name: str) -> str:
    """The name of a variant that models are trained on."""
    if name in SAME:
        raise UserError(f"the variant '{name}' is '{SAME[name]}' here; choose that split")
    if name not in LEARNT:
        raise UserError(f"nothing is trained on '{name}'; choose one of {', '.join(LEARNT)}")
    return name
