"""A kit to model vehicles with: shapes from drawings, outlines stamped into them, and `finish` to make a model."""

from recombine.render.kit.assembly import finish
from recombine.render.kit.curves import Outline, arch, curve, ellipse, line, rectangle, rounded, row, scaled, shrunk
from recombine.render.kit.piece import Piece, Point, pair, sides, together
from recombine.render.kit.shapes import Level, ball, box, fender, hull, loft, plate, revolve, tube, wing
from recombine.render.kit.stamp import stamp, stamp_pair
from recombine.render.kit.tints import GLASS, HOLE, LAMP, RUBBER, SEAM, STEEL
from recombine.render.kit.wheels import arms, chain, disc, ring, tyre, wheel, wires

__all__ = [
    "GLASS", "HOLE", "LAMP", "RUBBER", "SEAM", "STEEL", "Level", "Outline", "Piece", "Point", "arch", "arms", "ball",
    "box", "chain", "curve", "disc", "ellipse", "fender", "finish", "hull", "line", "loft", "pair", "plate",
    "rectangle", "revolve", "ring", "rounded", "row", "scaled", "shrunk", "sides", "stamp", "stamp_pair", "together",
    "tube", "tyre", "wheel", "wing", "wires",
]  # fmt: skip
