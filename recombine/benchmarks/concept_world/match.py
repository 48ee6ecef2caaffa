"""Matching: in how many ways the coloured points of an image are an object of a plan, twins in one order only.

Each piece is put as a whole. Where the whole image must be explained, the
first point in reading order that is not yet explained is the first point of some piece, so each step tries the pieces
at one cell. Where an object may stand among other points, each step tries one piece at all points.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from recombine.benchmarks.concept_world.plan import Plan
from recombine.benchmarks.concept_world.symmetry import group_of, pieces_of
from recombine.store.compiled import compiled
from recombine.store.limit import watched
from recombine.store.loops import copy
from recombine.world.scenes import ABSENT

MOST = 20_000_000
"""Pieces that are tried for one image and plan before the matcher gives up."""
_KINDS = {"in": 0, "alike": 1, "unlike": 2}


class Pattern(NamedTuple):
    """A plan as pieces, the largest first; the points of a piece in reading order."""

    order: np.ndarray  # int64[points]: which point of the plan
    start: np.ndarray  # int64[pieces + 1]: where a piece's points begin
    slider: np.ndarray  # int64[pieces, 2]
    offset: np.ndarray  # int64[points, 2]
    low: np.ndarray
    high: np.ndarray
    apart: np.ndarray
    unequal: np.ndarray
    color: np.ndarray  # int64[points]
    shown_start: np.ndarray  # int64[pieces + 1]
    shown: np.ndarray  # int64: of each piece, one point of each colour class
    palette: np.ndarray
    clauses: np.ndarray  # int64[alternatives, 4]: clause, kind, class, class or set
    twins: np.ndarray  # int64[pieces]: pieces of one number are read in one order; -1 for none


def pattern(plan: Plan) -> Pattern:
    """The plan, ready to be matched."""
    pieces = pieces_of(plan)
    inside = [piece.points for piece in pieces]
    order = np.array([point for points in inside for point in points], np.int64)
    shown = [
        list({int(plan.color[p]): i for i, p in reversed(list(enumerate(order))) if p in points}.values())
        for points in map(set, inside)
    ]
    rows = [(i, _KINDS[kind], a, b) for i, clause in enumerate(plan.clauses) for kind, a, b in clause]
    return Pattern(
        order,
        np.cumsum([0, *map(len, inside)]).astype(np.int64),
        np.array([piece.sliders for piece in pieces], np.int64).reshape(-1, 2),
        plan.offset[order].astype(np.int64).reshape(-1, 2),
        plan.low.astype(np.int64),
        plan.high.astype(np.int64),
        plan.apart.astype(np.int64),
        plan.unequal.astype(np.int64),
        plan.color[order].astype(np.int64),
        np.cumsum([0, *map(len, shown)]).astype(np.int64),
        np.array([i for some in shown for i in some], np.int64),
        plan.palette.astype(np.int64),
        np.array(rows, np.int64).reshape(-1, 4),
        group_of(plan),
    )


class Points(NamedTuple):
    """The coloured points of images in reading order, one image after the other."""

    x: np.ndarray
    y: np.ndarray
    color: np.ndarray
    start: np.ndarray  # int64[images + 1]
    shape: tuple[int, int]

    @property
    def counts(self) -> np.ndarray:
        return np.diff(self.start)


def points_of(images: np.ndarray) -> Points:
    """The points of images given as colour codes, uint8[n, height, width]; 0 is black."""
    image, y, x = np.nonzero(images)
    start = np.searchsorted(image, np.arange(len(images) + 1))
    color = images[image, y, x].astype(np.int64) - 1
    return Points(x.astype(np.int64), y.astype(np.int64), color, start.astype(np.int64), images.shape[1:])


def points_drawn(x: np.ndarray, y: np.ndarray, color: np.ndarray, shape: tuple[int, int]) -> Points:
    """The same from the points int[n, k] themselves, without images; a colour of 255 says that there is none."""
    there = color != ABSENT
    cell = np.where(there, y.astype(np.int64) * shape[1] + x, shape[0] * shape[1])
    order = np.argsort(cell, axis=1)
    sort, kept = (np.take_along_axis(column, order, axis=1) for column in (cell, there))
    start = np.concatenate([[0], np.cumsum(there.sum(axis=1))]).astype(np.int64)
    colors = np.take_along_axis(color, order, axis=1)[kept].astype(np.int64)
    return Points(sort[kept] % shape[1], sort[kept] // shape[1], colors, start, shape)


def ways(patterns: Sequence[Pattern], images: np.ndarray | Points, enough: np.ndarray | int = 1 << 40) -> np.ndarray:
    """For every image the number of ways over all patterns to explain all its points; counting stops at `enough`."""
    points = images if isinstance(images, Points) else points_of(images)
    total = np.zeros(len(points.counts), np.int64)
    enough = np.broadcast_to(enough, total.shape)
    for one in patterns:
        chosen = np.flatnonzero((points.counts == len(one.order)) & (total < enough))
        if len(chosen):
            total[chosen] += _counted(one, points, chosen, True, (enough - total)[chosen])
    return total


def found_within(one: Pattern, images: np.ndarray) -> np.ndarray:
    """Whether each image has an object of the pattern among its points, bool[n]."""
    points, found = points_of(images), np.zeros(len(images), bool)
    chosen = np.flatnonzero(points.counts >= len(one.order))
    if len(chosen):
        found[chosen] = _counted(one, points, chosen, False, np.ones(len(chosen), np.int64)) > 0
    return found


def _counted(one: Pattern, points: Points, chosen: np.ndarray, cover: bool, most: np.ndarray) -> np.ndarray:
    counts = _matched(one, points, chosen, cover, most)[0]
    if (counts < 0).any():
        raise OverflowError("too many ways to read one image")
    return counts


def _matched(
    one: Pattern, points: Points, chosen: np.ndarray, cover: bool, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The counts of the chosen images, and the first way for the last; limits are checked meanwhile."""
    stop = np.zeros(1, np.bool_)
    words = (chosen, *points[:4], *points.shape, *one[1:], cover, most, MOST, stop)
    found: tuple[np.ndarray, np.ndarray] = watched(lambda: _match_all(*words), lambda: stop.fill(True))
    return found


def first_way(one: Pattern, image: np.ndarray) -> np.ndarray | None:
    """One way to explain all points of an image: for each point of the plan its row (x, y, colour)."""
    points = points_of(image[None])
    if len(points.x) != len(one.order):
        return None
    counts, first = _matched(one, points, np.zeros(1, np.int64), True, np.ones(1, np.int64))
    if counts[0] <= 0:
        return None
    found = np.empty((len(one.order), 3), np.int64)
    found[one.order] = np.stack([column[first] for column in points[:3]], axis=1)
    return found


@compiled(nogil=True)
def _match_all(  # type: ignore[no-untyped-def]
    chosen, xs, ys, colors, begin, h, w,
    start, slider, offset, low, high, apart, unequal, color_class, shown_start, shown, palette, clauses,
    twins, cover, most, budget, stop,
):  # fmt: skip
    """The number of ways for each chosen image (-1 where the budget ran out), and the first way for the last.

    Ends early, with numbers that mean nothing, once another thread has set `stop`.
    """
    counts, first = np.zeros(len(chosen), np.int64), np.full(len(color_class), -1, np.int64)
    cells = np.full((h, w), -1, np.int64)
    for i in range(len(chosen)):
        a, b = begin[chosen[i]], begin[chosen[i] + 1]
        x, y, color = xs[a:b], ys[a:b], colors[a:b]
        for p in range(b - a):
            cells[y[p], x[p]] = p
        counts[i] = _match(
            cells, x, y, color, start, slider, offset, low, high, apart, unequal, color_class, shown_start, shown,
            palette, clauses, twins, cover, most[i], budget, first, stop,
        )  # fmt: skip
        for p in range(b - a):
            cells[y[p], x[p]] = -1
    return counts, first


@compiled
def _match(  # type: ignore[no-untyped-def]
    cells, x, y, color, start, slider, offset, low, high, apart, unequal, color_class, shown_start, shown,
    palette, clauses, twins, cover, most, budget, first, stop,
):  # fmt: skip
    """Depth first over pieces."""
    pieces, n, size = len(slider), len(x), len(color_class)
    value, set_by = np.zeros(len(low), np.int64), np.full(len(low), -1, np.int64)
    paint, painted_by = np.zeros(len(palette), np.int64), np.full(len(palette), -1, np.int64)
    for s in range(len(low)):
        if low[s] == high[s]:
            value[s], set_by[s] = low[s], pieces
    used, taken = np.zeros(n, np.bool_), np.zeros(pieces, np.bool_)
    at, here = np.full(size, -1, np.int64), np.zeros(pieces + 1, np.int64)
    piece_at, count, depth, tried = np.full(pieces, -1, np.int64), 0, 0, 0
    fitting, fits = _fits(cells, x, y, color, start, offset, color_class, palette)
    if cover and not _all_covered(cells, x, y, start, offset, fits):
        return 0
    # What is tried at a depth: all fitting points for one piece, or (-1) all pieces for the first point in reading
    # order, which must be the first point of its piece where everything is explained.
    piece_tried, fresh = np.full(pieces + 1, -1, np.int64), True
    while depth >= 0 and not stop[0]:
        if depth == pieces:
            if count == 0:
                copy(at, first)
            count += 1
            if count >= most:
                return count
            depth -= 1
            fresh = False
            continue
        if piece_at[depth] >= 0:
            _take_back(piece_at[depth], depth, start, slider, color_class, at, used, set_by, painted_by)
            taken[piece_at[depth]] = False
            piece_at[depth] = -1
        anchor = 0
        if cover:
            while used[anchor]:
                anchor += 1
        if fresh:
            here[depth] = 0
            piece_tried[depth] = -1
            fewest = n + 1
            if cover:
                fewest = 0
                for g in range(pieces):
                    if not taken[g] and fits[g, anchor]:
                        fewest += 1
            for g in range(pieces):
                if not taken[g] and fewest > 1:
                    options = _options(
                        g, fitting, cells, x, y, color, start, slider, offset, color_class, shown_start, shown,
                        used, value, set_by, paint, painted_by, fewest,
                    )  # fmt: skip
                    if options < fewest:
                        fewest, piece_tried[depth] = options, g
            if fewest == 0:
                depth -= 1
                fresh = False
                continue
        mine, placed = piece_tried[depth], False
        choices = pieces if mine < 0 else fitting[mine, 0]
        while here[depth] < choices and not placed:
            g = here[depth] if mine < 0 else mine
            p = anchor if mine < 0 else fitting[mine, 1 + here[depth]]
            here[depth] += 1
            if taken[g] or used[p] or not fits[g, p] or not _in_order(g, p, twins, taken, at, start):
                continue
            tried += 1
            if tried > budget:
                return -1
            placed = _put(
                g, p, depth, cells, x, y, color, start, slider, offset, low, high, apart, unequal, color_class,
                at, used, value, set_by, paint, painted_by,
            ) and _clauses_may_hold(clauses, paint, painted_by)  # fmt: skip
            if placed:
                taken[g], piece_at[depth] = True, g
            else:
                _take_back(g, depth, start, slider, color_class, at, used, set_by, painted_by)
        depth += 1 if placed else -1
        fresh = placed
    return count


@compiled(inline="always")
def _in_order(g, p, twins, taken, at, start):  # type: ignore[no-untyped-def]
    """Whether a piece at a point comes after its earlier twins and before its later ones in reading order."""
    if twins[g] < 0:
        return True
    for other in range(len(twins)):
        if taken[other] and twins[other] == twins[g] and (other < g) != (at[start[other]] < p):
            return False
    return True


@compiled(inline="always")
def _options(  # type: ignore[no-untyped-def]
    g, fitting, cells, x, y, color, start, slider, offset, color_class, shown_start, shown,
    used, value, set_by, paint, painted_by, enough,
):  # fmt: skip
    """At how many points a piece may still stand, as its first point and its colours tell; stops at `enough`."""
    sx, sy = slider[g, 0], slider[g, 1]
    ox, oy = offset[start[g], 0], offset[start[g], 1]
    found = 0
    for j in range(1, fitting[g, 0] + 1):
        p = fitting[g, j]
        if used[p] or (set_by[sx] >= 0 and value[sx] != x[p] - ox) or (set_by[sy] >= 0 and value[sy] != y[p] - oy):
            continue
        good = True
        for j2 in range(shown_start[g], shown_start[g + 1]):
            i = shown[j2]
            k = color_class[i]
            if painted_by[k] >= 0 and paint[k] != color[cells[y[p] - oy + offset[i, 1], x[p] - ox + offset[i, 0]]]:
                good = False
                break
        if not good:
            continue
        found += 1
        if found >= enough:
            break
    return found


@compiled
def _fits(cells, x, y, color, start, offset, color_class, palette):  # type: ignore[no-untyped-def]
    """Where a piece has all its points in colours it may have: a list of first points, and the same as a table."""
    h, w = cells.shape
    pieces, n = len(start) - 1, len(x)
    fits, fitting = np.zeros((pieces, n), np.bool_), np.zeros((pieces, n + 1), np.int64)
    seen = np.full(len(palette), -1, np.int64)
    for g in range(pieces):
        for p in range(n):
            good = True
            for i in range(start[g], start[g + 1]):
                seen[color_class[i]] = -1
            for i in range(start[g], start[g + 1]):
                cx = x[p] + offset[i, 0] - offset[start[g], 0]
                cy = y[p] + offset[i, 1] - offset[start[g], 1]
                if cx < 0 or cy < 0 or cx >= w or cy >= h or cells[cy, cx] < 0:
                    good = False
                    break
                c, k = color[cells[cy, cx]], color_class[i]
                if palette[k] >> c & 1 == 0 or (seen[k] >= 0 and seen[k] != c):
                    good = False
                    break
                seen[k] = c
            fits[g, p] = good
            if good:
                fitting[g, 0] += 1
                fitting[g, fitting[g, 0]] = p
    return fitting, fits


@compiled
def _all_covered(cells, x, y, start, offset, fits):  # type: ignore[no-untyped-def]
    """Whether some piece can stand on every point."""
    covered = np.zeros(len(x), np.bool_)
    for g in range(len(start) - 1):
        for p in range(len(x)):
            if fits[g, p]:
                for i in range(start[g], start[g + 1]):
                    dx, dy = offset[i, 0] - offset[start[g], 0], offset[i, 1] - offset[start[g], 1]
                    covered[cells[y[p] + dy, x[p] + dx]] = True
    return covered.all()


@compiled(inline="always")
def _put(  # type: ignore[no-untyped-def]
    g, p, depth, cells, x, y, color, start, slider, offset, low, high, apart, unequal, color_class,
    at, used, value, set_by, paint, painted_by,
):  # fmt: skip
    """Try to put a piece that fits on a point; what was marked is taken back by the caller."""
    for axis in range(2):
        s = slider[g, axis]
        v = (x[p] if axis == 0 else y[p]) - offset[start[g], axis]
        if set_by[s] >= 0:
            if value[s] != v:
                return False
        elif v < low[s] or v > high[s]:
            return False
        else:
            value[s], set_by[s] = v, depth
    vx, vy = value[slider[g, 0]], value[slider[g, 1]]
    for i in range(start[g], start[g + 1]):
        q = cells[vy + offset[i, 1], vx + offset[i, 0]]
        if used[q]:
            return False
        k = color_class[i]
        if painted_by[k] < 0:
            paint[k], painted_by[k] = color[q], depth
        elif paint[k] != color[q]:
            return False
        used[q], at[i] = True, q
    return _distances_hold(value, set_by, apart, unequal)


@compiled(inline="always")
def _take_back(g, depth, start, slider, color_class, at, used, set_by, painted_by):  # type: ignore[no-untyped-def]
    for i in range(start[g], start[g + 1]):
        if at[i] >= 0:
            used[at[i]] = False
            at[i] = -1
        if painted_by[color_class[i]] == depth:
            painted_by[color_class[i]] = -1
    for axis in range(2):
        if set_by[slider[g, axis]] == depth:
            set_by[slider[g, axis]] = -1


@compiled(inline="always")
def _distances_hold(value, set_by, apart, unequal):  # type: ignore[no-untyped-def]
    for i in range(len(apart)):
        a, b = apart[i, 0], apart[i, 1]
        if set_by[a] >= 0 and set_by[b] >= 0 and value[a] - value[b] > apart[i, 2]:
            return False
    for i in range(len(unequal)):
        a, b = unequal[i, 0], unequal[i, 1]
        if set_by[a] >= 0 and set_by[b] >= 0 and value[a] - value[b] == unequal[i, 2]:
            return False
    return True


@compiled
def _clauses_may_hold(clauses, paint, painted_by):  # type: ignore[no-untyped-def]
    """Whether no clause is broken, as far as colours are known."""
    i = 0
    while i < len(clauses):
        clause, holds = clauses[i, 0], False
        while i < len(clauses) and clauses[i, 0] == clause:
            kind, a, b = clauses[i, 1], clauses[i, 2], clauses[i, 3]
            if painted_by[a] < 0 or (kind != 0 and painted_by[b] < 0):
                holds = True
            elif kind == 0:
                holds |= (b >> paint[a]) & 1 == 1
            else:
                holds |= (paint[a] == paint[b]) == (kind == 1)
            i += 1
        if not holds:
            return False
    return True
