"""The four buses: a hull with many windows stamped into it.

Numbers are shares of the length: s from the nose back, w from the middle to the left, h from the ground up.
"""

from collections.abc import Iterable, Sequence

from recombine.render.kit import (
    Piece,
    box,
    ellipse,
    hull,
    loft,
    pair,
    rectangle,
    rounded,
    row,
    shrunk,
    sides,
    stamp,
    stamp_pair,
    together,
    tube,
    wheel,
)

GLASS, SEAM, LAMP, DARK = 0.36, 0.45, 0.62, 0.22
"""Tints: of windows, of the lines between panels, of the housing of lamps, of holes."""
AHEAD, BEHIND = (-1.0, 0.3), (0.7, 2.0)
"""Stretches of s."""

Outline = Sequence[tuple[float, float]]

PLAN = ((0, 0), (.003, .55), (.008, .84), (.022, .965), (.05, 1), (.95, 1), (.985, .965), (.996, .84),
        (1, .55), (1, 0))  # fmt: skip
"""From above: a long box with round corners."""


def windows(shell: Piece, side: str, spans: Iterable[tuple[float, float]], low: float, high: float) -> Piece:
    """A band of windows on one side."""
    for start, stop in spans:
        shell = stamp(shell, side, rectangle(start, stop, low, high, .007, 1), "", GLASS)
    return shell


def door(shell: Piece, side: str, part: str, start: float, stop: float, low: float, high: float) -> Piece:
    """A door of two leaves, each with a tall pane."""
    shell = stamp(shell, side, rectangle(start, stop, low, high), "", SEAM)
    edge, middle = .003, (start + stop) / 2
    for one, two in ((start + edge, middle - edge / 2), (middle + edge / 2, stop - edge)):
        shell = stamp(shell, side, rectangle(one, two, low + edge, high - edge), part, 1.0)
        wide, tall = two - one, high - low
        pane = rectangle(one + .2 * wide, two - .2 * wide, low + .30 * tall, high - .10 * tall)
        shell = stamp(shell, side, pane, "", GLASS)
    return shell


def running_gear(shell: Piece, radius: float, out: float, axles: Iterable[tuple[str, float]], spokes: int = 8
                 ) -> list[Piece]:  # fmt: skip
    """A shell with wheel arches, and the wheels in them: named axles at s."""
    wheels = []
    for name, s in axles:
        around = ellipse(s, radius, 1.13 * radius, count=16)
        arch = [(s - 1.13 * radius, 0), *reversed(around[:9]), (s + 1.13 * radius, 0)]
        shell = stamp_pair(shell, "side", arch, None, DARK, .05)
        made = wheel((s, out, radius), radius, .04, rim=.66, spokes=spokes, around=2 * spokes)
        wheels.append(pair(name, made) if name else sides(made))
    return [shell, *wheels]


def ends(shell: Piece, head: Outline, tail: Outline, front_plate: float, back_plate: float, nose: float = 0.0) -> list[Piece]:
    """Lamps and plates."""
    shell = stamp_pair(shell, "nose", head, "head_light_{}", LAMP, within=AHEAD)
    shell = stamp_pair(shell, "tail", tail, "tail_light_{}", LAMP, within=BEHIND)
    plates = [
        box((s - .003, s + .003), (-.032, .032), (h - .008, h + .008)).named("license_plate_" + name)
        for name, s, h in (("front", nose, front_plate), ("back", 1.0, back_plate))
    ]
    return [shell, *plates]


def mirrors(s: float, w: float, h: float, arm: Sequence[tuple[float, float, float]], size: float = .014) -> Piece:
    """Upright mirrors at the ends of arms."""
    made = box((s - .006, s + .006), (w - size, w + size), (h - 1.7 * size, h + 1.7 * size), .005)
    return pair("mirror_{}", together([made, tube([*arm, (s, w, h + size)], .0035, 4)]))


def regular() -> list[Piece]:
    """A city bus: one plain box."""
    shell = hull(PLAN, (
        (.012, .988, .112, .030), (.002, .998, .121, .042), (0, 1, .122, .136),
        (.003, .999, .121, .230), (.011, .995, .114, .250), (.024, .984, .098, .265),
    ), .008, steps=1)  # fmt: skip
    shell = stamp(shell, "across", rectangle(-1, .035, 0, .075), "bumper_front")
    shell = stamp(shell, "across", rectangle(.965, 2, 0, .075), "bumper_back")
    shell = stamp(shell, "across", rectangle(-1, 2, .236, 1), "roof")
    shell = stamp(shell, "nose", rectangle(-.106, .106, .118, .222, .012, 1), "", GLASS)
    shell = stamp(shell, "nose", rectangle(-.070, .070, .235, .252), "", DARK)
    shell = stamp(shell, "tail", rectangle(-.100, .100, .150, .225, .012, 1), "", GLASS)
    shell = stamp(shell, "tail", rectangle(-.100, .100, .078, .138), "", SEAM)
    shell = stamp(shell, "tail", rectangle(-.097, .097, .081, .135), "trunk", 1.0)
    shell = windows(shell, "left", row(8, .035, .965, .012), .145, .225)
    for name, start, stop in (("front", .035, .135), ("mid", .455, .555), ("back", .860, .955)):
        shell = door(shell, "right", f"door_{name}_right", start, stop, .045, .228)
    shell = windows(shell, "right", row(3, .150, .440, .012), .145, .225)
    shell = windows(shell, "right", row(3, .570, .845, .012), .145, .225)
    for s in (.28, .68):
        shell = stamp(shell, "top", rectangle(s - .035, s + .035, -.045, .045, .008, 1), None, DARK, -.004, within=(.25, 1))
    shell, *wheels = running_gear(shell, .050, .120, (("wheel_front_{}", .22), ("wheel_back_{}", .75)))
    head, tail = rectangle(.070, .108, .052, .072, .006, 1), rectangle(.088, .112, .080, .125, .004, 1)
    return [*ends(shell, head, tail, .058, .108), *wheels, mirrors(.012, .130, .195, [(.03, .115, .235), (.012, .128, .232)])]


def school() -> list[Piece]:
    """A hood before a box."""
    nose = hull(((0, 0), (.01, .5), (.04, .80), (.12, .95), (.35, 1), (1, 1), (1.0, .5), (1, 0)), (
        (.030, .20, .070, .030), (.012, .20, .088, .045), (.010, .20, .090, .085),
        (.014, .20, .088, [(0, .108), (.2, .125)]), (.030, .20, .074, [(0, .120), (.2, .140)]),
    ), .008, steps=1)  # fmt: skip
    cabin = hull(PLAN, (
        (.160, .995, .092, .040), (.156, .998, .100, .050), (.156, .998, .100, .133),
        (.164, .997, .099, .206), (.175, .992, .090, .230), (.185, .986, .073, .244),
    ), .009, steps=1)  # fmt: skip
    nose = stamp(nose, "nose", rectangle(-.045, .045, .056, .112, .010, 1), None, DARK)
    for h in (.066, .080, .094):
        nose = stamp(nose, "nose", rectangle(-.045, .045, h, h + .006), None, 1.0)
    shell = together([nose, cabin])
    shell = stamp(shell, "across", rectangle(-1, 2, .212, 1), "roof")
    shell = stamp(shell, "nose", rounded([(-.086, .142), (.086, .142), (.080, .206), (-.080, .206)], .010, 1), "", GLASS)
    shell = stamp(shell, "nose", rectangle(-.004, .004, .140, .210), "", 1.0)
    shell = stamp(shell, "tail", rectangle(-.030, .030, .060, .205), "", SEAM)
    shell = stamp(shell, "tail", rectangle(-.027, .027, .063, .202), "", 1.0)
    shell = stamp(shell, "tail", rectangle(-.020, .020, .140, .195), "", GLASS)
    shell = stamp_pair(shell, "tail", rectangle(.040, .078, .140, .195, .008, 1), "", GLASS)
    shell = stamp_pair(shell, "side", rectangle(.17, 1.1, .124, .130), None, SEAM, within=(-.5, .5))
    shell = stamp_pair(shell, "side", rectangle(.17, 1.1, .092, .098), None, SEAM, within=(-.5, .5))
    shell = windows(shell, "left", [(.172, .222), *row(5, .236, .500, .010)], .140, .200)
    shell = stamp(shell, "left", rectangle(.510, .568, .052, .206), "", SEAM)
    shell = stamp(shell, "left", rectangle(.513, .565, .055, .203), "door_mid_left", 1.0)
    shell = stamp(shell, "left", rectangle(.520, .558, .140, .197), "", GLASS)
    shell = windows(shell, "left", row(8, .578, .985, .010), .140, .200)
    shell = door(shell, "right", "door_front_right", .166, .222, .050, .206)
    shell = windows(shell, "right", row(15, .236, .985, .010), .140, .200)
    shell, *wheels = running_gear(shell, .050, .096, (("wheel_front_{}", .080), ("wheel_back_{}", .790)))
    shell = stamp_pair(shell, "tail", ellipse(.080, .110, .012, count=10), "tail_light_{}", LAMP, within=BEHIND)
    bumper = tube([(.030, .093, .050), (.008, .080, .050), (.004, 0, .050), (.008, -.080, .050), (.030, -.093, .050)], .014, 6, flat=1.0)
    lamps = [pair("head_light_{}", loft([(.004, .010, .075, .095), (.010, .014, .070, .100), (.05, .014, .070, .100)], 1, 10).moved(w=.066))]
    return [
        shell, *wheels, *lamps, bumper.named("bumper_front"),
        box((.990, 1.0), (-.096, .096), (.040, .068), .004).named("bumper_back"),
        box((-.012, -.009), (-.030, .030), (.042, .058)).named("license_plate_front"),
        box((.999, 1.002), (.036, .066), (.078, .094)).named("license_plate_back"),
        mirrors(.105, .094, .172, [(.165, .092, .190), (.12, .092, .198)], .012),
        sides(tube([(.985, .055, .222), (.985, .055, .240)], .010, 6)), 
    ]  # fmt: skip


def double() -> list[Piece]:
    """A coach with two rows of windows and a sloping face."""
    shell = hull(PLAN, (
        (.050, .990, .090, .023), (.034, .998, .099, .034), (.030, 1, .100, .092), (.037, 1, .100, .186),
        (.092, .994, .095, .290), (.122, .985, .080, .312),
    ), .008, steps=1)  # fmt: skip
    shell = stamp(shell, "across", rectangle(-1, .072, 0, .066), "bumper_front")
    shell = stamp(shell, "across", rectangle(.970, 2, 0, .066), "bumper_back")
    shell = stamp(shell, "across", rectangle(-1, 2, .291, 1), "roof")
    shell = stamp(shell, "nose", rectangle(-.088, .088, .096, .172, .012, 1), "", GLASS)
    shell = stamp(shell, "nose", rectangle(-.086, .086, .194, .284, .014, 1), "", GLASS)
    shell = stamp(shell, "tail", rectangle(-.080, .080, .205, .282, .012, 1), "", GLASS)
    shell = stamp(shell, "tail", rectangle(-.082, .082, .070, .165), "", SEAM)
    shell = stamp(shell, "tail", rectangle(-.079, .079, .073, .162), "trunk", 1.0)
    for side in ("left", "right"):
        shell = door(shell, side, f"door_front_{side}", .085, .150, .040, .178)
        shell = door(shell, side, f"door_mid_{side}", .450, .515, .040, .178)
        shell = windows(shell, side, row(3, .165, .440, .008), .102, .172)
        shell = windows(shell, side, row(5, .526, .975, .008), .102, .172)
        shell = stamp(shell, side, rounded([(.090, .200), (.172, .200), (.172, .282), (.130, .282)], .008, 1), "", GLASS)
        shell = windows(shell, side, row(8, .182, .975, .008), .200, .282)
    shell, *wheels = running_gear(
        shell, .045, .098, (("wheel_front_{}", .230), ("wheel_back_{}", .690), ("wheel_back_{}", .785))
    )
    head, tail = rectangle(.050, .086, .046, .064, .006, 1), rectangle(.074, .094, .075, .120, .004, 1)
    return [
        *ends(shell, head, tail, .050, .085, .030), *wheels,
        mirrors(.010, .100, .160, [(.070, .085, .215), (.020, .098, .205)], .0145),
    ]  # fmt: skip


def articulated() -> list[Piece]:
    """Long, thin and jointed."""
    front_plan = ((0, 0), (.006, .6), (.02, .88), (.05, .98), (.1, 1), (.4, 1), (.7, 1), (1, 1), (1, .5), (1, 0))
    back_plan = tuple((1 - u, v) for u, v in reversed(front_plan))
    levels = lambda nose, tail: (  # noqa: E731
        (nose + .006, tail - .006, .064, .010), (nose, tail, .070, .018), (nose, tail, .070, .074),
        (nose + .001, tail - .001, .069, .130), (nose + .004, tail - .004, .064, .145), (nose + .010, tail - .010, .054, .150),
    )  # fmt: skip
    shell = together([hull(front_plan, levels(0, .535), .003, steps=1), hull(back_plan, levels(.585, 1), .003, steps=1)])
    shell = stamp(shell, "across", rectangle(.975, 2, 0, .036), "bumper_back")
    shell = stamp(shell, "across", rectangle(-1, 2, .136, 1), "roof")
    shell = stamp(shell, "nose", rectangle(-.062, .062, .056, .128, .008, 1), "", GLASS, within=AHEAD)
    shell = stamp(shell, "tail", rectangle(-.056, .056, .088, .130, .006, 1), "", GLASS, within=BEHIND)
    shell = stamp(shell, "tail", rectangle(-.058, .058, .038, .080), "", SEAM, within=BEHIND)
    shell = stamp(shell, "tail", rectangle(-.056, .056, .040, .078), "trunk", 1.0, within=BEHIND)
    shell = windows(shell, "left", [(.020, .070), *row(6, .084, .520, .009)], .078, .126)
    shell = windows(shell, "left", row(6, .600, .980, .009), .078, .126)
    for name, start, stop in (("front", .020, .082), ("mid", .345, .407), ("back", .680, .742)):
        shell = door(shell, "right", f"door_{name}_right", start, stop, .020, .130)
    for count, start, stop in ((4, .092, .335), (2, .417, .520), (1, .600, .670), (4, .752, .980)):
        shell = windows(shell, "right", row(count, start, stop, .009), .078, .126)
    shell, *wheels = running_gear(shell, .030, .069, (("wheel_front_{}", .145), ("", .455), ("wheel_back_{}", .830)), 6)
    folds = [(.530 + .005 * i, *((.069, .012, .150) if i % 2 else (.062, .018, .143)), 9) for i in range(13)]
    pods = [
        loft([(s, .036, .140, .152), (s + .006, .042, .140, .163), (s + .104, .042, .140, .163), (s + .110, .036, .140, .152)], 1, 12, 8)
        for s in (.21, .74)
    ]
    head, tail = rectangle(.040, .062, .024, .038, .004, 1), rectangle(.048, .064, .044, .074, .003, 1)
    return [
        *ends(shell, head, tail, .036, .058), *wheels, loft(folds, 1, 16, 9, 20).tinted(.6), *(pod.named("roof") for pod in pods),
        mirrors(.008, .080, .112, [(.02, .066, .138), (.010, .078, .135)], .009),
    ]  # fmt: skip
