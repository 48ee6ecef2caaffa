"""The vehicles of Super-CLEVR, modelled anew: every part is named, and every box is as measured.

>>> sedan = vehicle("sedan")
>>> len(sedan.parts), sedan.parts[:2]
(21, ('front_left_door', 'left_tail_light'))
"""

from functools import cache

from recombine.benchmarks.super_clevr.vehicles import aeroplanes, bicycles, buses, cars, motorbikes
from recombine.benchmarks.super_clevr.vehicles.measured import FACELESS, MEASURED, TAXONOMY, Measured
from recombine.render.kit import finish
from recombine.render.models import Model
from recombine.store.errors import UserError

__all__ = ["FACELESS", "MEASURED", "VEHICLES", "Measured", "vehicle"]

VEHICLES = TAXONOMY
"""The names of all vehicles by category."""

_DRAWINGS = {
    drawing.__name__: drawing
    for drawing in (
        cars.suv, cars.wagon, cars.minivan, cars.sedan, cars.truck,
        buses.articulated, buses.regular, buses.double, buses.school,
        motorbikes.chopper, motorbikes.dirtbike, motorbikes.scooter, motorbikes.cruiser,
        aeroplanes.jet, aeroplanes.fighter, aeroplanes.biplane, aeroplanes.airliner,
        bicycles.road, bicycles.utility, bicycles.mountain, bicycles.tandem,
    )
}  # fmt: skip


@cache
def vehicle(name: str) -> Model:
    """The model of a vehicle, built when it is first asked for."""
    if name not in MEASURED:
        raise UserError(f"there is no vehicle '{name}'; choose one of {', '.join(MEASURED)}")
    measured = MEASURED[name]
    return finish(name, _DRAWINGS[name](), measured.box, measured.ground, measured.parts)
