"""How dark things are beside the body of a vehicle: what its colour is multiplied with."""

GLASS = 0.22
"""Half as bright on the screen."""
LAMP = 0.62
"""The glass of lamps, and what holds it."""
SEAM = 0.4
"""The lines between doors and the like, handles, trims."""
RUBBER = 0.42
"""Tyres, grips, saddles."""
HOLE = 0.22
"""Wheel arches, grilles, the ends of pipes, what one sees between spokes."""
STEEL = 0.75
"""Brake discs, springs, the caps of tanks."""
