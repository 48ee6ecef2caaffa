"""The four buses: hulls with many windows stamped into them.

Numbers are shares of the length: s from the nose back, w from the middle to the left, h from the ground up. Outlines
from the side are (s, h), from above (s, w), from the nose and from the tail (w, h).
"""

from collections.abc import Iterable, Sequence

from recombine.render.kit import (
    GLASS,
    HOLE,
    LAMP,
    SEAM,
    Level,
    Outline,
    Piece,
    Point,
    arch,
    box,
    ellipse,
    hull,
    loft,
    pair,
    rectangle,
    rounded,
    row,
    sides,
    stamp,
    stamp_pair,
    together,
    tube,
    wheel,
)

AHEAD, BEHIND = (-1.0, 0.3), (0.7, 2.0)
"""Stretches of s."""

# fmt: off
PLAN = ((0, 0), (.003, .55), (.008, .84), (.022, .965), (.05, 1), (.95, 1), (.985, .965), (.996, .84), (1, .55), (1, 0))
"""From above: a long box with round corners."""
FRONT_HALF = ((0, 0), (.006, .6), (.02, .88), (.05, .98), (.1, 1), (.4, 1), (.7, 1), (1, 1), (1, .5), (1, 0))
"""The half of a jointed bus that leads; the other one is it turned round."""
# fmt: on


def panel(shell: Piece, view: str, outline: tuple[float, float, float, float], part: str) -> Piece:
    """A rectangle within a dark line."""
    a, b, c, d = outline
    edge = 0.003
    shell = stamp(shell, view, rectangle(a, b, c, d), "", SEAM, within=BEHIND if view == "tail" else (-9.0, 9.0))
    inner = rectangle(a + edge, b - edge, c + edge, d - edge)
    return stamp(shell, view, inner, part, 1.0, within=BEHIND if view == "tail" else (-9.0, 9.0))


def door(shell: Piece, side: str, name: str, span: tuple[float, float], low: float, high: float) -> Piece:
    """A door of two leaves, each with a tall pane."""
    (start, stop), part = span, f"door_{name}_{side}"
    shell = panel(shell, side, (start, stop, low, high), part)
    middle, wide = (start + stop) / 2, (stop - start) / 2
    shell = stamp(shell, side, rectangle(middle - 0.0015, middle + 0.0015, low, high), "", SEAM)
    for left in (start, middle):
        pane = rectangle(left + 0.24 * wide, left + 0.76 * wide, low + 0.3 * (high - low), high - 0.1 * (high - low))
        shell = stamp(shell, side, pane, "", GLASS)
    return shell


def windows(shell: Piece, side: str, spans: Iterable[tuple[float, float]], low: float, high: float) -> Piece:
    """A band of windows on one side."""
    for start, stop in spans:
        shell = stamp(shell, side, rectangle(start, stop, low, high, 0.007, 1), "", GLASS)
    return shell


def running_gear(
    shell: Piece, radius: float, out: float, axles: Iterable[tuple[str, float]], spokes: int = 8
) -> list[Piece]:
    """A shell with wheel arches, and the wheels of axles (name, s) in them."""
    wheels = []
    for name, s in axles:
        shell = stamp_pair(shell, "side", arch(s, radius, 1.13), None, HOLE, 0.05)
        made = wheel((s, out, radius), radius, 0.04, 0.66, spokes, 2 * spokes)
        wheels.append(pair(name, made) if name else sides(made))
    return [shell, *wheels]


def lamps(shell: Piece, head: Outline, tail: Outline) -> Piece:
    """Head and tail lights, drawn on the left."""
    shell = stamp_pair(shell, "nose", head, "head_light_{}", LAMP, within=AHEAD)
    return stamp_pair(shell, "tail", tail, "tail_light_{}", LAMP, within=BEHIND)


def license_plate(end: str, s: float, h: float, w: float = 0.0) -> Piece:
    """A plate on the nose or the tail."""
    return box((s - 0.003, s + 0.003), (w - 0.032, w + 0.032), (h - 0.0085, h + 0.0085)).named("license_plate_" + end)


def mirrors(s: float, w: float, h: float, arm: Sequence[Point], size: float) -> Piece:
    """Upright mirrors at the ends of arms."""
    made = box((s - 0.006, s + 0.006), (w - size, w + size), (h - 1.7 * size, h + 1.7 * size), 0.005)
    return pair("mirror_{}", together([made, tube([*arm, (s, w, h + size)], 0.0038, 4)]))


# --- buses --------------------------------------------------------------------------------------------------------
# fmt: off


def regular() -> list[Piece]:
    """A city bus: one plain box with two hatches in its roof."""
    shell = hull(PLAN, (
        (.012, .988, .112, .030), (.002, .998, .121, .042), (0, 1, .122, .136),
        (.003, .999, .121, .230), (.011, .995, .114, .250), (.024, .984, .098, .265),
    ), .008)
    shell = stamp(shell, "across", rectangle(-1, .035, 0, .075), "bumper_front")
    shell = stamp(shell, "across", rectangle(.965, 2, 0, .075), "bumper_back")
    shell = stamp(shell, "across", rectangle(-1, 2, .236, 1), "roof")
    shell = stamp(shell, "nose", rectangle(-.106, .106, .118, .222, .012, 1), "", GLASS)
    shell = stamp(shell, "nose", rectangle(-.070, .070, .236, .252), "", HOLE)
    shell = stamp(shell, "tail", rectangle(-.100, .100, .150, .225, .012, 1), "", GLASS)
    shell = panel(shell, "tail", (-.082, .082, .080, .138), "trunk")
    shell = windows(shell, "left", row(8, .035, .965, .012), .145, .225)
    for name, span in (("front", (.035, .135)), ("mid", (.455, .555)), ("back", (.860, .955))):
        shell = door(shell, "right", name, span, .045, .228)
    shell = windows(shell, "right", [*row(3, .150, .440, .012), *row(3, .570, .845, .012)], .145, .225)
    for s in (.28, .68):
        hatch = rectangle(s - .035, s + .035, -.045, .045, .008, 1)
        shell = stamp(shell, "top", hatch, None, HOLE, -.004, within=(.25, 1))
    shell = lamps(shell, rectangle(.054, .118, .046, .078, .008, 1), rectangle(.087, .118, .078, .140, .004, 1))
    return [
        *running_gear(shell, .050, .120, (("wheel_front_{}", .22), ("wheel_back_{}", .75))),
        license_plate("front", 0, .056), license_plate("back", 1, .108),
        mirrors(.012, .128, .195, [(.03, .115, .235), (.012, .126, .232)], .0145),
    ]


def school() -> list[Piece]:
    """A hood before a box with many small windows."""
    hood = hull(((0, 0), (.01, .5), (.04, .80), (.12, .95), (.35, 1), (1, 1), (1, .5), (1, 0)), (
        (.030, .20, .070, .030), (.012, .20, .088, .045), (.010, .20, .090, .085),
        (.014, .20, .088, [(0, .108), (.2, .125)]), (.030, .20, .074, [(0, .120), (.2, .140)]),
    ), .008)
    hood = stamp(hood, "nose", rectangle(-.045, .045, .056, .112, .010, 1), None, HOLE)
    for h in (.068, .084, .100):
        hood = stamp(hood, "nose", rectangle(-.045, .045, h, h + .006), None, 1.0)
    shell = together([hood, hull(PLAN, (
        (.160, .995, .092, .040), (.156, .998, .100, .050), (.156, .998, .100, .133),
        (.164, .997, .099, .206), (.175, .992, .090, .230), (.185, .986, .073, .244),
    ), .007)])
    shell = stamp(shell, "across", rectangle(-1, 2, .212, 1), "roof")
    screen = rounded([(-.086, .142), (.086, .142), (.080, .206), (-.080, .206)], .010, 1)
    shell = stamp(shell, "nose", screen, "", GLASS)
    shell = stamp(shell, "nose", rectangle(-.004, .004, .140, .210), "", 1.0)
    shell = panel(shell, "tail", (-.030, .030, .060, .205), "")
    shell = stamp(shell, "tail", rectangle(-.020, .020, .140, .195), "", GLASS)
    shell = stamp_pair(shell, "tail", rectangle(.040, .078, .140, .195, .008, 1), "", GLASS)
    for h in (.094, .124):
        shell = stamp_pair(shell, "side", rectangle(.17, 1.1, h, h + .006), None, SEAM)
    shell = windows(shell, "left", [(.172, .222), *row(5, .236, .500, .010), *row(8, .578, .985, .010)], .140, .200)
    shell = panel(shell, "left", (.510, .568, .052, .206), "door_mid_left")
    shell = stamp(shell, "left", rectangle(.520, .558, .140, .197), "", GLASS)
    shell = windows(shell, "right", row(15, .236, .985, .010), .140, .200)
    shell = door(shell, "right", "front", (.166, .224), .050, .206)
    shell = stamp_pair(shell, "tail", ellipse(.073, .112, .020, .024, 10), "tail_light_{}", LAMP, within=BEHIND)
    head = loft([(.004, .010, .075, .095), (.010, .014, .070, .100), (.05, .014, .070, .100)], 10).moved(w=.066)
    bumper = tube([(.030, .093, .050), (.008, .080, .050), (.004, 0, .050), (.008, -.080, .050), (.030, -.093, .050)],
                  .014, 6)
    return [
        *running_gear(shell, .050, .096, (("wheel_front_{}", .080), ("wheel_back_{}", .790))),
        pair("head_light_{}", stamp(head, "nose", ellipse(.066, .085, .010, count=10), None, LAMP)),
        bumper.named("bumper_front"),
        box((.990, 1), (-.096, .096), (.040, .068), .004).named("bumper_back"),
        license_plate("front", -.009, .050), license_plate("back", .998, .080, .050),
        mirrors(.105, .0945, .172, [(.165, .092, .190), (.12, .092, .198)], .0125),
        sides(tube([(.985, .055, .222), (.985, .055, .240)], .010, 6)),
    ]


def double() -> list[Piece]:
    """A coach with two rows of windows, three axles and a sloping face."""
    shell = hull(PLAN, (
        (.050, .990, .090, .023), (.034, .998, .099, .034), (.030, 1, .100, .092), (.037, 1, .100, .186),
        (.092, .994, .095, .290), (.122, .985, .080, .312),
    ), .008)
    shell = stamp(shell, "across", rectangle(-1, .072, 0, .066), "bumper_front")
    shell = stamp(shell, "across", rectangle(.970, 2, 0, .066), "bumper_back")
    shell = stamp(shell, "across", rectangle(-1, 2, .291, 1), "roof")
    shell = stamp(shell, "nose", rectangle(-.088, .088, .096, .172, .012, 1), "", GLASS)
    shell = stamp(shell, "nose", rectangle(-.086, .086, .194, .284, .014, 1), "", GLASS)
    shell = stamp(shell, "tail", rectangle(-.080, .080, .205, .282, .012, 1), "", GLASS)
    shell = panel(shell, "tail", (-.070, .070, .070, .165), "trunk")
    for side in ("left", "right"):
        shell = windows(shell, side, [*row(3, .162, .440, .008), *row(5, .526, .975, .008)], .102, .172)
        first = rounded([(.090, .200), (.172, .200), (.172, .282), (.130, .282)], .008, 1)
        shell = stamp(shell, side, first, "", GLASS)
        shell = windows(shell, side, row(8, .182, .975, .008), .200, .282)
        shell = door(shell, side, "front", (.085, .150), .040, .178)
        shell = door(shell, side, "mid", (.450, .515), .040, .178)
    shell = lamps(shell, rectangle(.038, .096, .036, .072, .008, 1), rectangle(.073, .098, .068, .150, .004, 1))
    axles = (("wheel_front_{}", .230), ("wheel_back_{}", .690), ("wheel_back_{}", .785))
    return [
        *running_gear(shell, .045, .098, axles, 7),
        license_plate("front", .030, .048), license_plate("back", 1, .090),
        mirrors(.008, .101, .160, [(.070, .085, .215), (.018, .098, .205)], .0152),
    ]


def articulated() -> list[Piece]:
    """Long, thin and jointed."""
    def levels(nose: float, tail: float) -> list[Level]:
        return [
            (nose + .006, tail - .006, .064, .010), (nose, tail, .070, .018), (nose, tail, .070, .074),
            (nose + .001, tail - .001, .069, .130), (nose + .004, tail - .004, .064, .145),
            (nose + .010, tail - .010, .054, .151),
        ]
    back_half = tuple((1 - u, v) for u, v in reversed(FRONT_HALF))
    shell = together([hull(FRONT_HALF, levels(0, .535), .003), hull(back_half, levels(.585, 1), .003)])
    shell = stamp(shell, "across", rectangle(.975, 2, 0, .036), "bumper_back")
    shell = stamp(shell, "across", rectangle(-1, 2, .136, 1), "roof")
    shell = stamp(shell, "nose", rectangle(-.062, .062, .056, .128, .008, 1), "", GLASS, within=AHEAD)
    shell = stamp(shell, "tail", rectangle(-.056, .056, .088, .130, .006, 1), "", GLASS, within=BEHIND)
    shell = panel(shell, "tail", (-.050, .050, .038, .082), "trunk")
    left = [(.020, .070), *row(6, .084, .520, .009), *row(6, .600, .980, .009)]
    right = [*row(4, .092, .335, .009), *row(2, .417, .520, .009), (.600, .670), *row(4, .752, .980, .009)]
    shell = windows(windows(shell, "left", left, .078, .126), "right", right, .078, .126)
    for name, span in (("front", (.020, .082)), ("mid", (.345, .407)), ("back", (.680, .742))):
        shell = door(shell, "right", name, span, .020, .130)
    shell = lamps(shell, rectangle(.033, .068, .020, .053, .006, 1), rectangle(.0515, .069, .037, .086, .003, 1))
    folds = [(.530 + .006 * i, *((.069, .012, .151) if i % 2 else (.062, .018, .143))) for i in range(11)]
    pods = [loft([(s, .036, .140, .152), (s + .006, .042, .140, .164), (s + .104, .042, .140, .164),
                  (s + .110, .036, .140, .152)], 12, 8) for s in (.21, .74)]
    return [
        *running_gear(shell, .030, .069, (("wheel_front_{}", .145), ("", .455), ("wheel_back_{}", .830)), 6),
        loft(folds, 16, 9, crease=20).tinted(.6),
        together(pods).named("roof"),
        license_plate("front", 0, .038), license_plate("back", 1, .060),
        mirrors(.008, .079, .112, [(.02, .066, .138), (.010, .078, .135)], .010),
    ]
