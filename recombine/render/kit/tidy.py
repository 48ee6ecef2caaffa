"""Tidying: the splinters that stamps leave of a face, put together again wherever they look alike.

The triangles of one face lie in one plane; those of one part and tint are cut anew along their outline. These are many
small tasks, so the arithmetic is of plain numbers.
"""

from collections.abc import Iterable
from itertools import pairwise
from math import atan2, tau

import numpy as np

from recombine.render.kit.piece import Piece, cross, length

Flat = list[tuple[float, float]]
"""Places in the plane of a face."""
SAME = 3e-8
"""Lengths that are as good as none."""


def tidy(piece: Piece) -> Piece:
    """The same surface of fewer triangles."""
    if not len(piece):
        return piece
    _, part = np.unique(piece.part, return_inverse=True)
    _, tint = np.unique(piece.tint, return_inverse=True)
    _, group = np.unique(np.stack([piece.face, part, tint]), axis=1, return_inverse=True)
    _, point = np.unique(np.round(piece.corners.reshape(-1, 3), 8) + 0.0, axis=0, return_inverse=True)
    flat, points = _flattened(piece).tolist(), point.reshape(-1, 3).tolist()
    order = np.argsort(group, kind="stable")
    corners: list[tuple[int, int, int]] = []  # of the new triangles, as numbers of old corners
    for which in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        corners += _anew(which.tolist(), flat, points)
    chosen = np.array(corners)
    places, normals = (column.reshape(-1, 3)[chosen] for column in (piece.corners, piece.normals))
    solid = length(cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0])) > 1e-10
    rest = (column[chosen[solid, 0] // 3] for column in (piece.part, piece.tint, piece.face))
    return Piece(places[solid], normals[solid], *rest)


def _flattened(piece: Piece) -> np.ndarray:
    """The corners of every triangle in the plane of axes that its face is least tilted against, float64[t, 3, 2]."""
    way = cross(piece.corners[:, 1] - piece.corners[:, 0], piece.corners[:, 2] - piece.corners[:, 0])
    total = np.zeros((int(piece.face.max()) + 1, 3))
    np.add.at(total, piece.face, way)
    drop = np.argmax(np.abs(total), axis=1)[piece.face]
    axes = np.array([(1, 2), (2, 0), (0, 1)])[drop]
    sign = np.where(np.take_along_axis(way, drop[:, None], axis=1) > 0, 1.0, -1.0)
    plane = np.take_along_axis(piece.corners, axes[:, None, :], axis=2)
    return np.stack([plane[..., 0] * sign, plane[..., 1]], axis=-1)


def _anew(which: list[int], flat: list, points: list) -> list[tuple[int, int, int]]:
    """Triangles of one face, cut anew along its outline; as they were where that is none."""
    same = [(3 * t, 3 * t + 1, 3 * t + 2) for t in which]
    if len(which) == 1:
        return same
    number: dict[int, int] = {}
    plane: Flat = []
    corner: list[int] = []
    triangles = []
    for t in which:
        for k in range(3):
            if points[t][k] not in number:
                number[points[t][k]] = len(plane)
                plane.append((flat[t][k][0], flat[t][k][1]))
                corner.append(3 * t + k)
        triangles.append([number[point] for point in points[t]])
    loops = _outlines(plane, triangles)
    if loops is None or sum(len(loop) - 2 for loop in loops) >= len(which):
        return same
    return [(corner[a], corner[b], corner[c]) for loop in loops for a, b, c in _ears(plane, loop)]


def _outlines(plane: Flat, triangles: list[list[int]]) -> list[list[int]] | None:
    """The outlines of a set of triangles, counter-clockwise; None where that fails."""
    loose = _cancelled((one, two) for a, b, c in triangles for one, two in ((a, b), (b, c), (c, a)))
    some = sorted({end for edge in loose for end in edge})
    # Where triangles meet, the edge of one may be several of the others.
    edges = _cancelled(piece for one, two in loose for piece in pairwise([one, *_between(plane, one, two, some), two]))
    after: dict[int, list[int]] = {}
    for one, two in sorted(edges):
        after.setdefault(one, []).append(two)
    loops = []
    while after:
        loop = [next(iter(after))]
        while True:
            at = _onward(plane, loop, after)
            if at is None:
                return None
            if at == loop[0]:
                break
            loop.append(at)
        loops.append(_cornered(plane, loop))
    return _bridged(plane, loops)


def _cancelled(edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Edges without those that are there in both directions."""
    left: dict[tuple[int, int], None] = {}
    for one, two in edges:
        if (two, one) in left:
            del left[two, one]
        else:
            left[one, two] = None
    return list(left)


def _onward(plane: Flat, loop: list[int], after: dict[int, list[int]]) -> int | None:
    """The next point of an outline; where outlines touch, the one that stays at the same triangles."""
    here, ways = loop[-1], after.get(loop[-1])
    if not ways:
        return None
    best = 0
    if len(ways) > 1 and len(loop) > 1:
        x, y = plane[here]
        back = atan2(plane[loop[-2]][1] - y, plane[loop[-2]][0] - x)
        turns = [(back - atan2(plane[way][1] - y, plane[way][0] - x)) % tau for way in ways]
        best = turns.index(min(turns))
    at = ways.pop(best)
    if not ways:
        del after[here]
    return at


def _bridged(plane: Flat, loops: list[list[int]]) -> list[list[int]] | None:
    """Outlines without holes: a way is cut from every hole to the outline around it."""
    area = [sum(_turn(plane[loop[0]], plane[a], plane[b]) for a, b in pairwise(loop[1:])) for loop in loops]
    outer = [loop for loop, size in zip(loops, area) if size > 0]
    holes = [loop for loop, size in zip(loops, area) if size <= 0]
    out = []
    for around in outer:
        mine = [hole for hole in holes if len(outer) == 1 or _within(plane, plane[hole[0]], around)]
        found = _joined(plane, around, mine)
        if found is None:
            return None
        out.append(found)
    return out


def _joined(plane: Flat, around: list[int], holes: list[list[int]]) -> list[int] | None:
    """An outline with ways to its holes, shortest ways first; None where there is none."""
    while holes:
        edges = [edge for loop in (around, *holes) for edge in zip(loop, [*loop[1:], loop[0]])]
        ways = sorted((_square(plane[a], plane[b]), h, i, j) for h, hole in enumerate(holes)
                      for i, a in enumerate(hole) for j, b in enumerate(around))  # fmt: skip
        free = ((h, i, j) for _, h, i, j in ways if not _crosses(plane, holes[h][i], around[j], edges))
        found = next(free, None)
        if found is None:
            return None
        h, i, j = found
        around = [*around[: j + 1], *holes[h][i:], *holes[h][: i + 1], *around[j:]]
        holes = holes[:h] + holes[h + 1 :]
    return around


def _within(plane: Flat, point: tuple[float, float], loop: list[int]) -> bool:
    """Whether a point lies inside an outline: a ray from it crosses that an odd number of times."""
    inside = False
    for one, two in zip(loop, [*loop[1:], loop[0]]):
        a, b = sorted((plane[one], plane[two]), key=lambda p: p[1])
        if a[1] <= point[1] < b[1] and _turn(a, b, point) > 0:
            inside = not inside
    return inside


def _crosses(plane: Flat, one: int, two: int, edges: list[tuple[int, int]]) -> bool:
    """Whether the straight way between two points meets an edge elsewhere than at its own ends."""
    a, b = plane[one], plane[two]
    for start, stop in edges:
        if one not in (start, stop) and two not in (start, stop):
            c, d = plane[start], plane[stop]
            if _turn(a, b, c) * _turn(a, b, d) <= 0 and _turn(c, d, a) * _turn(c, d, b) <= 0:
                return True
    return False


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Twice the area of a triangle, positive where it is counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _square(a: tuple[float, float], b: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1])


def _between(plane: Flat, one: int, two: int, some: list[int]) -> list[int]:
    """Those of some points that lie on the way from one to another, in order."""
    (ax, ay), (bx, by) = plane[one], plane[two]
    wx, wy, far = bx - ax, by - ay, _square(plane[one], plane[two])
    limit, on = SAME * SAME * far, []
    for i in some:
        x, y = plane[i]
        aside = (x - ax) * wy - (y - ay) * wx
        if aside * aside < limit:
            along = (x - ax) * wx + (y - ay) * wy
            if 1e-6 * far < along < (1 - 1e-6) * far:
                on.append((along, i))
    return [i for _, i in sorted(on)]


def _cornered(plane: Flat, loop: list[int]) -> list[int]:
    """A loop without the points at which it goes straight on."""
    kept = list(loop)
    for point in loop:
        i = kept.index(point)
        a, b, c = plane[kept[i - 1]], plane[point], plane[kept[(i + 1) % len(kept)]]
        turn = _turn(a, b, c)
        if len(kept) > 3 and turn * turn <= SAME * SAME * _square(a, c):
            kept.pop(i)
    return kept


def _ears(plane: Flat, loop: list[int]) -> list[tuple[int, int, int]]:
    """The triangles of an outline: again and again its best ear is cut off."""
    out, rest = [], list(loop)
    quality = [_ear(plane, rest, i) for i in range(len(rest))]
    while len(rest) > 3:
        if max(quality) < 0:  # what stood in the way of an ear may be gone
            quality = [_ear(plane, rest, i) for i in range(len(rest))]
        best = max(range(len(rest)), key=quality.__getitem__)
        n = len(rest)
        out.append((rest[best - 1], rest[best], rest[(best + 1) % n]))
        rest.pop(best)
        quality.pop(best)
        for i in ((best - 1) % (n - 1), best % (n - 1)):
            quality[i] = _ear(plane, rest, i)
    return [*out, (rest[0], rest[1], rest[2])]


def _ear(plane: Flat, rest: list[int], i: int) -> float:
    """How good a triangle a corner makes: its area over the square of its longest side; less than 0 if it is no ear."""
    one, two, three = rest[i - 1], rest[i], rest[(i + 1) % len(rest)]
    a, b, c = plane[one], plane[two], plane[three]
    area, longest = _turn(a, b, c), max(_square(a, b), _square(b, c), _square(c, a))
    if area <= 1e-9 * longest:
        return -1.0
    for other in rest:
        if other not in (one, two, three):
            p = plane[other]
            if _turn(a, b, p) > -1e-13 and _turn(b, c, p) > -1e-13 and _turn(c, a, p) > -1e-13:
                return -1.0
    return area / longest
