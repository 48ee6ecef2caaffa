"""Stamps: outlines that are cut into a piece as seen from one side, to paint, sink or raise what lies within.

    door = stamp(body, "left", [(.30, .06), (.53, .06), (.53, .20), (.30, .20)], part="front_left_door")

Windows, doors, lamps, grilles, wheel arches and the bed of a truck are made so: the surface keeps its shape and its
normals, and every triangle belongs to one part.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from recombine.render.kit.curves import Outline
from recombine.render.kit.piece import Piece, cross, facets, length, together
from recombine.render.kit.tidy import tidy

VIEWS = {
    "left": (1, 1.0, (0, 2), (-1.0, 1.0)),
    "right": (1, -1.0, (0, 2), (-1.0, 1.0)),
    "top": (2, 1.0, (0, 1), (-1.0, 1.0)),
    "bottom": (2, -1.0, (0, 1), (-1.0, 1.0)),
    "nose": (0, 1.0, (1, 2), (1.0, 1.0)),
    "tail": (0, -1.0, (1, 2), (1.0, 1.0)),
    "across": (1, 0.0, (0, 2), (-1.0, 1.0)),  # from the left, through everything
}
"""The axis one looks along, the way the faces look, and the axes and signs of an outline: (s, h), (s, w) or (w, h)."""

EDGE_ON = 0.05
"""Faces that turn further away than this are not seen."""


def stamp(
    piece: Piece,
    view: str,
    outline: Outline,
    part: str | None = None,
    tint: float | None = None,
    depth: float = 0.0,
    wall: float | None = None,
    within: tuple[float, float] = (-9.0, 9.0),
) -> Piece:
    """Paint what lies within a convex outline, and sink it by `depth` (or raise it), with walls of tint `wall`.

    `within` bounds what is reached along the view: (w, w), (h, h) or (s, s) of the middle of a triangle.
    """
    axis, sign, _, _ = VIEWS[view]
    inside, outside = cut(piece, view, outline, within)
    if part is not None:
        inside = inside.named(part)
    if tint is not None:
        inside = inside.tinted(tint)
    if depth == 0 or not len(inside):
        return _tidied(together([outside, inside], keep=True), inside)
    way = np.zeros(3)
    way[axis] = -sign * depth
    sunk, walls = replace(inside, corners=inside.corners + way), _walls(inside, way, wall)
    return together([_tidied(outside, inside), tidy(sunk), walls])


def _tidied(piece: Piece, touched: Piece) -> Piece:
    """A piece whose faces are tidied where they are those of another."""
    now = np.isin(piece.face, touched.face)
    return together([piece[~now], tidy(piece[now])], keep=True)


def stamp_pair(
    piece: Piece, view: str, outline: Outline, part: str | None = None, tint: float | None = None, depth: float = 0.0,
    wall: float | None = None, within: tuple[float, float] = (-9.0, 9.0),
) -> Piece:  # fmt: skip
    """The same stamp on both sides: {} in the name of the part is the side, and an outline is drawn for the left.

    The view "side" is the left and the right one.
    """
    for side, sign in (("left", 1.0), ("right", -1.0)):
        name = part.format(side) if part else part
        if view == "side":
            piece = stamp(piece, side, outline, name, tint, depth, wall, within)
        else:
            across = VIEWS[view][2].index(1)
            mirrored = [(sign * a, b) if across == 0 else (a, sign * b) for a, b in outline]
            piece = stamp(piece, view, mirrored, name, tint, depth, wall, within)
    return piece


def cut(piece: Piece, view: str, outline: Outline, within: tuple[float, float] = (-9.0, 9.0)) -> tuple[Piece, Piece]:
    """The triangles of a piece inside and outside an outline, those that cross it divided."""
    axis, sign, plane, signs = VIEWS[view]
    corners = np.asarray(outline, np.float64) * np.array(signs)
    corners = corners if _area(corners) > 0 else corners[::-1]
    if (_turns(corners) < -1e-9).any():
        raise ValueError(f"an outline that is stamped must be convex: {outline}")
    flat = piece.corners[..., list(plane)]
    facing = cross(piece.corners[:, 1] - piece.corners[:, 0], piece.corners[:, 2] - piece.corners[:, 0])
    seen = sign * facing[:, axis] > EDGE_ON * length(facing) if sign else np.ones(len(piece), bool)
    deep = piece.corners[..., axis].sum(axis=1) / (-3 if axis == 0 else 3)
    seen &= (deep >= within[0]) & (deep <= within[1])
    for k in range(2):
        seen &= (flat[..., k].max(axis=1) > corners[:, k].min()) & (flat[..., k].min(axis=1) < corners[:, k].max())
    inside, number, rest, origin = piece[seen], np.flatnonzero(seen), [], []
    for one, two in zip(corners, np.roll(corners, -1, axis=0)):
        a, b = inside.corners[..., plane[0]] - one[0], inside.corners[..., plane[1]] - one[1]
        step = two - one
        away = (step[0] * b - step[1] * a) / np.sqrt((step * step).sum())
        (inside, kept), (off, left) = _divided(inside, np.where(np.abs(away) < 1e-9, 0.0, away))
        rest.append(off)
        origin.append(number[left])
        number = number[kept]
    touched = np.zeros(len(piece), bool)
    touched[number] = True
    fragments = together(rest, keep=True)[touched[np.concatenate(origin)]] if rest else piece[np.zeros(0, np.int64)]
    return inside, together([piece[~touched], fragments], keep=True)


def _area(ring: np.ndarray) -> float:
    after = np.roll(ring, -1, axis=0)
    return float((ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]).sum()) / 2


def _turns(ring: np.ndarray) -> np.ndarray:
    one, two = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    return one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0]


def _divided(piece: Piece, away: np.ndarray) -> tuple[tuple[Piece, np.ndarray], tuple[Piece, np.ndarray]]:
    """A piece on the positive side of a line and on the negative one, and the triangle that each came from."""
    number = np.arange(len(piece))
    over, under = (away > 0).sum(axis=1), (away < 0).sum(axis=1)
    split = (over > 0) & (under > 0)
    # One corner is alone on its side, or one lies on the line: turn the triangle until that one comes first.
    lone = np.where(over == 1, np.argmax(away > 0, axis=1), np.argmax(away < 0, axis=1))
    turn = (lone[split, None] + np.arange(3)) % 3
    which = number[split]
    c, n, d = (np.take_along_axis(x[split], turn.reshape(turn.shape + (1,) * (x.ndim - 2)), axis=1) for x in
               (piece.corners, piece.normals, away))  # fmt: skip
    share = [np.clip(d[:, 0] / (d[:, 0] - d[:, k]), 0, 1)[:, None] for k in (1, 2)]
    cc = [c[:, 0] + t * (c[:, k] - c[:, 0]) for t, k in zip(share, (1, 2))]
    nn = [n[:, 0] + t * (n[:, k] - n[:, 0]) for t, k in zip(share, (1, 2))]
    nn = [x / np.maximum(length(x), 1e-300)[:, None] for x in nn]
    triangles = [
        (np.stack([c[:, 0], cc[0], cc[1]], axis=1), np.stack([n[:, 0], nn[0], nn[1]], axis=1), d[:, 0] > 0),
        (np.stack([cc[0], c[:, 1], c[:, 2]], axis=1), np.stack([nn[0], n[:, 1], n[:, 2]], axis=1), d[:, 0] < 0),
        (np.stack([cc[0], c[:, 2], cc[1]], axis=1), np.stack([nn[0], n[:, 2], nn[1]], axis=1), d[:, 0] < 0),
    ]
    made = together([replace(piece[which], corners=a, normals=b) for a, b, _ in triangles], keep=True)
    up, from_ = np.concatenate([side for _, _, side in triangles]), np.concatenate([which] * 3)
    kept = length(cross(made.corners[:, 1] - made.corners[:, 0], made.corners[:, 2] - made.corners[:, 0])) > 1e-10
    whole = ~split & (over > 0)
    low = ~split & (over == 0)
    return (
        (together([piece[whole], made[kept & up]], keep=True), np.concatenate([number[whole], from_[kept & up]])),
        (together([piece[low], made[kept & ~up]], keep=True), np.concatenate([number[low], from_[kept & ~up]])),
    )


def _walls(inside: Piece, way: np.ndarray, tint: float | None) -> Piece:
    """What joins the edge of a sunk surface to where it was."""
    a, b, triangle = _rim(inside)
    wide = length(cross(b - a, np.broadcast_to(way, a.shape))) > 1e-9
    a, b, triangle = a[wide], b[wide], np.concatenate([triangle[wide], triangle[wide]])
    made = facets(np.concatenate([np.stack([a, b, b + way], axis=1), np.stack([a, b + way, a + way], axis=1)]))
    return replace(
        made,
        part=inside.part[triangle],
        tint=inside.tint[triangle] if tint is None else np.full(len(made), tint),
    )


def _rim(piece: Piece) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges around a piece, from where to where, and the triangle at each.

    Where triangles meet, the edge of one may be several of the others: edges are cut at all points that lie on them.
    """
    points, index = np.unique(np.round(piece.corners.reshape(-1, 3), 7) + 0.0, axis=0, return_inverse=True)
    start = index.reshape(-1)
    stop = index.reshape(-1, 3)[:, (1, 2, 0)].reshape(-1)
    owner = np.repeat(np.arange(len(piece)), 3)
    alone = ~np.isin(start * len(points) + stop, stop * len(points) + start) & (start != stop)
    start, stop, owner = start[alone], stop[alone], owner[alone]
    some = np.unique(np.concatenate([start, stop]))
    along, off = points[stop] - points[start], points[some][None] - points[start][:, None]
    far = (along * along).sum(axis=1)[:, None]
    share = (off * along[:, None]).sum(axis=2) / far
    aside = length(off - share[..., None] * along[:, None])
    edges: dict[tuple[int, int], int] = {}
    for i in range(len(start)):
        on = np.flatnonzero((aside[i] < 2e-6) & (share[i] > 1e-6) & (share[i] < 1 - 1e-6))
        stops = [int(start[i]), *some[on[np.argsort(share[i, on], kind="stable")]].tolist(), int(stop[i])]
        for edge in pairwise(stops):
            if edge[::-1] in edges:
                del edges[edge[::-1]]
            else:
                edges[edge] = int(owner[i])
    ends = np.array(list(edges), np.int64).reshape(-1, 2)
    return points[ends[:, 0]], points[ends[:, 1]], np.array(list(edges.values()), np.int64)
