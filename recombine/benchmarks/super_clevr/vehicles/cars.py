"""The five cars. A car is a body and a cabin, two hulls; everything else is stamped into them or put on.

Numbers are shares of the length: s from the nose back, w from the middle to the left, h from the ground up. Outlines
from the side are (s, h), from above (s, w), from the nose and from the tail (w, h).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
    hull,
    loft,
    pair,
    rectangle,
    revolve,
    rounded,
    scaled,
    shrunk,
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
ROUND = ((0, 0), (.003, .45), (.022, .79), (.07, .935), (.17, .988), (.30, 1), (.50, 1), (.70, 1), (.86, .98),
         (.95, .92), (.988, .73), (.999, .4), (1, 0))
"""The plan of a body: nose and tail are rounded."""
CABIN = ((0, 0), (.012, .5), (.05, .84), (.13, .97), (.35, 1), (.7, 1), (.89, .96), (.965, .82), (.99, .5), (1, 0))
"""The plan of a cabin: its screens are bent."""
# fmt: on


@dataclass(frozen=True)
class Car:
    """The drawing of a car."""

    body: Sequence[Level]
    cabin: Sequence[Level]
    wheels: tuple[float, float, float]
    """Their radius, s of the front and of the back axle."""
    out: float
    """How far to the side wheels and doors reach."""
    bumpers: tuple[float, float, float]
    """How far they go round the corners, and how high they reach in front and behind."""
    doors: Mapping[str, Outline]
    windows: Sequence[Outline]
    windscreen: Outline
    back_screen: Outline
    hood: Outline
    roof: tuple[float, float, float]
    """From s to s, and how far to the side."""
    trunk: Sequence[tuple[str, Outline]]
    """The views in which it is seen."""
    tail_light: Outline
    head_light: Outline = ()
    grilles: Sequence[Outline] = ()
    mirror: Point = ()
    handles: Sequence[tuple[float, float]] = ()
    plates: tuple[float, float] | None = None
    """Their heights in front and behind."""
    plan: Outline = ROUND
    crown: float | Outline = 0.010
    cabin_plan: Outline = CABIN
    cabin_crown: float = 0.009
    spokes: int = 5
    rim: float = 0.7


def car(drawing: Car) -> list[Piece]:
    """The shell of a car, then everything that is put on it."""
    shell = _panelled(drawing, together([
        hull(drawing.plan, drawing.body, drawing.crown),
        hull(drawing.cabin_plan, drawing.cabin, drawing.cabin_crown),
    ]))  # fmt: skip
    return [_lit(drawing, _glazed(drawing, shell)), *_put_on(drawing)]


def _panelled(drawing: Car, shell: Piece) -> Piece:
    """Wheel arches, bumpers, doors, hood, trunk and roof."""
    radius, *axles = drawing.wheels
    for s in axles:
        shell = stamp_pair(shell, "side", arch(s, radius), tint=HOLE, depth=0.06)
    reach, ahead, behind = drawing.bumpers
    if reach:
        shell = stamp(shell, "across", rectangle(-0.1, reach, 0, ahead), "front_bumper")
        shell = stamp(shell, "across", rectangle(1 - reach, 1.1, 0, behind), "back_bumper")
    for name, outline in drawing.doors.items():
        shell = stamp_pair(shell, "side", outline, "", SEAM)
        shell = stamp_pair(shell, "side", shrunk(outline, 0.003), name + "_{}_door", 1.0)
    shell = stamp(shell, "top", drawing.hood, "hood")
    for view, outline in drawing.trunk:
        shell = stamp(shell, view, outline, "trunk")
    start, stop, half = drawing.roof
    return stamp(shell, "top", rectangle(start, stop, -half, half), "roof", within=(0.25, 1))


def _glazed(drawing: Car, shell: Piece) -> Piece:
    for outline in drawing.windows:
        shell = stamp_pair(shell, "side", outline, "", GLASS)
    shell = stamp(shell, "nose", drawing.windscreen, "", GLASS, within=(0.1, 0.6))
    return stamp(shell, "tail", drawing.back_screen, "", GLASS, within=(0.5, 1))


def _lit(drawing: Car, shell: Piece) -> Piece:
    """Grilles and lamps."""
    for outline in drawing.grilles:
        shell = stamp(shell, "nose", outline, None, HOLE, within=AHEAD)
    if drawing.head_light:
        shell = stamp_pair(shell, "nose", drawing.head_light, "{}_head_light", LAMP, within=AHEAD)
        shell = stamp_pair(shell, "nose", scaled(drawing.head_light, 0.7), None, 1.0, within=AHEAD)
    return stamp_pair(shell, "tail", drawing.tail_light, "{}_tail_light", LAMP, within=BEHIND)


def _put_on(drawing: Car) -> list[Piece]:
    """Wheels, mirrors, handles, plates."""
    radius, front, back = drawing.wheels
    pieces = []
    for name, s in (("front", front), ("back", back)):
        made = wheel((s, drawing.out, radius), radius, rim=drawing.rim, spokes=drawing.spokes)
        pieces.append(pair(name + "_{}_wheel", made))
    for s, h in drawing.handles:
        handle = box((s - 0.014, s + 0.014), (drawing.out - 0.006, drawing.out + 0.003), (h - 0.003, h + 0.003))
        pieces.append(sides(handle.tinted(SEAM)))
    if drawing.plates:
        for name, s, h in (("front", -0.001, drawing.plates[0]), ("back", 0.995, drawing.plates[1])):
            plate = box((s, s + 0.006), (-0.055, 0.055), (h - 0.0125, h + 0.0125))
            pieces.append(plate.named(name + "_license_plate"))
    if drawing.mirror:
        pieces.append(pair("{}_mirror", _mirror(*drawing.mirror)))
    return pieces


def _mirror(s: float, w: float, h: float) -> Piece:
    """A mirror on a short arm; s and w are those of its glass and its outer edge."""
    shell = loft([
        (s - .024, .004, h - .006, h + .006), (s - .017, .015, h - .014, h + .015), (s, .018, h - .016, h + .017),
    ], 8, 3)  # fmt: skip
    arm = tube([(s - 0.01, w - 0.015, h - 0.01), (s - 0.012, w - 0.05, h - 0.018)], 0.006, 5)
    return together([shell.moved(w=w - 0.018), arm])


# --- drawings -----------------------------------------------------------------------------------------------------
# fmt: off

SEDAN = Car(
    body=(
        (.04, .96, .150, .050),
        (.010, .992, .172, .060),
        (0, 1, .179, .092),
        (.003, .998, .181, .122),
        (.016, .992, .179, [(.02, .146), (.27, .176), (.6, .186), (1, .186)]),
        (.034, .977, .164, [(.03, .156), (.15, .181), (.27, .197), (.6, .206), (.98, .203)]),
    ),
    cabin=(
        (.225, .925, .166, .185),
        (.345, .800, .146, .254),
        (.405, .735, .131, .281),
        (.435, .700, .112, .290),
    ),
    wheels=(.065, .21, .78),
    out=.180,
    bumpers=(.075, .120, .132),
    doors={
        "front": [(.285, .070), (.528, .070), (.528, .208), (.300, .205)],
        "back": [(.534, .070), (.690, .070), (.735, .125), (.765, .208), (.534, .208)],
    },
    windows=(
        rounded([(.325, .214), (.527, .214), (.527, .273), (.43, .270)], .012),
        rounded([(.542, .214), (.765, .217), (.67, .268), (.542, .273)], .012),
    ),
    windscreen=rounded([(-.138, .209), (.138, .209), (.106, .281), (-.106, .281)], .012),
    back_screen=rounded([(-.130, .222), (.130, .222), (.100, .281), (-.100, .281)], .012),
    hood=[(.036, -.125), (.036, .125), (.10, .145), (.255, .150), (.255, -.150), (.10, -.145)],
    roof=(.42, .72, .12),
    trunk=(
        ("top", [(.895, -.14), (.895, .14), (.985, .125), (.985, -.125)]),
        ("tail", rectangle(-.088, .088, .135, .195)),
    ),
    head_light=rounded([(.082, .126), (.160, .130), (.168, .158), (.088, .149)], .010, 1),
    tail_light=rounded([(.092, .146), (.175, .150), (.172, .182), (.092, .180)], .006, 1),
    grilles=(
        rounded([(-.072, .127), (.072, .127), (.078, .147), (-.078, .147)], .005, 1),
        rectangle(-.10, .10, .068, .084, .006, 1),
    ),
    mirror=(.360, .197, .222),
    handles=((.505, .178), (.735, .178)),
    plates=(.102, .108),
)

WAGON = Car(
    body=(
        (.045, .955, .155, .052),
        (.012, .990, .178, .062),
        (0, 1, .187, .095),
        (.003, .998, .190, .128),
        (.016, .992, .188, [(.02, .150), (.27, .176), (.6, .184), (1, .186)]),
        (.036, .980, .172, [(.03, .160), (.15, .180), (.28, .194), (.6, .202), (.98, .203)]),
    ),
    cabin=(
        (.250, .990, .176, .180),
        (.345, .950, .157, .250),
        (.395, .912, .143, .279),
        (.425, .885, .122, .288),
    ),
    wheels=(.075, .17, .77),
    out=.190,
    bumpers=(.065, .122, .122),
    doors={
        "front": [(.290, .075), (.520, .075), (.520, .206), (.305, .204)],
        "back": [(.526, .075), (.660, .075), (.700, .125), (.715, .206), (.526, .206)],
    },
    windows=(
        rounded([(.335, .212), (.520, .212), (.520, .270), (.425, .268)], .010),
        rounded([(.533, .212), (.705, .212), (.705, .271), (.533, .270)], .010, 1),
        rounded([(.718, .212), (.930, .218), (.880, .266), (.718, .271)], .012, 1),
    ),
    windscreen=rounded([(-.148, .206), (.148, .206), (.118, .279), (-.118, .279)], .012),
    back_screen=rounded([(-.142, .212), (.142, .212), (.116, .274), (-.116, .274)], .012),
    hood=[(.038, -.130), (.038, .130), (.10, .152), (.270, .158), (.270, -.158), (.10, -.152)],
    roof=(.41, .90, .128),
    trunk=(("tail", rectangle(-.110, .110, .124, .280)),),
    head_light=rounded([(.088, .130), (.168, .134), (.178, .160), (.094, .152)], .010, 1),
    tail_light=rounded([(.118, .150), (.188, .150), (.176, .215), (.125, .215)], .006, 1),
    grilles=(
        rounded([(-.060, .126), (.060, .126), (.072, .153), (-.072, .153)], .008, 1),
        rectangle(-.11, .11, .070, .088, .006, 1),
    ),
    mirror=(.345, .2136, .220),
    handles=((.497, .180), (.690, .180)),
    plates=(.107, .145),
)

SUV = Car(
    plan=((0, 0), (.002, .48), (.018, .82), (.065, .95), (.16, .990), (.30, 1), (.50, 1), (.72, 1), (.88, .98),
          (.96, .93), (.990, .76), (.999, .4), (1, 0)),
    body=(
        (.05, .95, .155, .075),
        (.014, .988, .182, .085),
        (0, 1, .189, .125),
        (.002, 1, .190, .165),
        (.010, .995, .188, [(.01, .192), (.28, .222), (.6, .232), (1, .236)]),
        (.030, .985, .172, [(.02, .205), (.14, .232), (.29, .245), (.6, .252), (1, .255)]),
    ),
    crown=.009,
    cabin=(
        (.250, .995, .178, .225),
        (.355, .965, .158, .310),
        (.405, .940, .143, .344),
        (.440, .915, .122, .355),
    ),
    cabin_crown=.010,
    wheels=(.085, .18, .78),
    out=.190,
    bumpers=(.060, .150, .158),
    doors={
        "front": [(.295, .090), (.530, .090), (.530, .256), (.312, .252)],
        "back": [(.536, .090), (.660, .090), (.705, .145), (.735, .256), (.536, .256)],
    },
    windows=(
        rounded([(.350, .264), (.526, .264), (.526, .332), (.435, .332)], .012),
        rounded([(.540, .264), (.735, .266), (.735, .333), (.540, .333)], .012, 1),
        rounded([(.750, .268), (.880, .278), (.850, .331), (.750, .333)], .014, 1),
    ),
    windscreen=rounded([(-.148, .262), (.148, .262), (.120, .343), (-.120, .343)], .014),
    back_screen=rounded([(-.140, .266), (.140, .266), (.116, .338), (-.116, .338)], .014),
    hood=[(.030, -.130), (.030, .130), (.10, .152), (.275, .158), (.275, -.158), (.10, -.152)],
    roof=(.42, .925, .128),
    trunk=(("tail", rectangle(-.112, .112, .160, .345)),),
    head_light=rounded([(.080, .166), (.164, .172), (.178, .206), (.086, .196)], .010, 1),
    tail_light=rounded([(.122, .185), (.190, .185), (.182, .250), (.126, .245)], .008, 1),
    grilles=(
        rounded([(.006, .164), (.066, .164), (.072, .198), (.006, .198)], .012, 1),
        rounded([(-.006, .164), (-.066, .164), (-.072, .198), (-.006, .198)], .012, 1),
        rectangle(-.115, .115, .098, .118, .006, 1),
    ),
    mirror=(.370, .208, .272),
    handles=((.505, .228), (.712, .228)),
)

MINIVAN = Car(
    plan=((0, 0), (.004, .42), (.028, .76), (.08, .925), (.17, .985), (.30, 1), (.50, 1), (.72, 1), (.90, .985),
          (.97, .94), (.993, .78), (1, .4), (1, 0)),
    body=(
        (.05, .955, .155, .048),
        (.014, .992, .180, .058),
        (0, 1, .187, .100),
        (.004, 1, .188, .145),
        (.018, .997, .187, [(.02, .178), (.25, .215), (.6, .222), (1, .222)]),
        (.045, .992, .176, [(.04, .198), (.12, .226), (.28, .240), (.6, .240), (1, .240)]),
    ),
    crown=.014,
    cabin_plan=((0, 0), (.010, .45), (.05, .80), (.13, .95), (.30, 1), (.7, 1), (.93, .985), (.985, .88), (.998, .5),
                (1, 0)),
    cabin=(
        (.105, .998, .182, .210),
        (.255, .985, .167, .318),
        (.345, .970, .153, .366),
        (.400, .950, .130, .382),
    ),
    cabin_crown=.014,
    wheels=(.069, .18, .78),
    out=.186,
    bumpers=(.065, .118, .130),
    doors={
        "front": [(.275, .068), (.465, .068), (.465, .246), (.265, .246), (.262, .150)],
        "back": [(.471, .068), (.680, .068), (.700, .120), (.700, .246), (.471, .246)],
    },
    windows=(
        rounded([(.240, .254), (.303, .254), (.303, .292)], .005, 1),
        rounded([(.314, .254), (.462, .254), (.462, .350), (.404, .350), (.314, .299)], .008, 1),
        rounded([(.476, .254), (.690, .254), (.690, .352), (.476, .352)], .012, 1),
        rounded([(.706, .254), (.935, .256), (.925, .346), (.706, .352)], .016, 1),
    ),
    windscreen=rounded([(-.132, .256), (.132, .256), (.118, .364), (-.118, .364)], .014),
    back_screen=rounded([(-.150, .250), (.150, .250), (.128, .358), (-.128, .358)], .014),
    hood=[(.050, -.110), (.050, .110), (.10, .145), (.17, .160), (.17, -.160), (.10, -.145)],
    roof=(.385, .965, .137),
    trunk=(("tail", rectangle(-.132, .132, .135, .372)),),
    head_light=rounded([(.070, .142), (.150, .146), (.172, .178), (.080, .174)], .010, 1),
    tail_light=rounded([(.140, .165), (.188, .165), (.182, .248), (.146, .248)], .006, 1),
    grilles=(
        rounded([(-.055, .146), (.055, .146), (.064, .168), (-.064, .168)], .006, 1),
        rectangle(-.11, .11, .066, .090, .006, 1),
    ),
    mirror=(.310, .2198, .274),
    handles=((.440, .214), (.500, .214)),
    plates=(.120, .162),
)

TRUCK = Car(
    plan=((0, 0), (.002, .60), (.012, .89), (.05, .97), (.14, .992), (.28, 1), (.50, 1), (.74, 1), (.88, .985),
          (.97, .95), (.993, .82), (1, .5), (1, 0)),
    body=(
        (.055, .965, .150, .052),
        (.035, .990, .174, .062),
        (.028, .996, .181, .105),
        (.030, .998, .182, .150),
        (.022, 1, .181, [(.02, .178), (.3, .188), (.6, .186), (1, .180)]),
        (.030, .995, .172, [(.02, .198), (.16, .208), (.3, .212), (.6, .212), (1, .206)]),
    ),
    crown=[(0, .006), (.2, .012), (.5, .010), (.58, .0), (1, .0)],
    cabin_plan=((0, 0), (.02, .5), (.07, .82), (.15, .95), (.35, 1), (.7, 1), (.92, .99), (.98, .92), (.995, .6),
                (1, 0)),
    cabin=(
        (.250, .566, .172, .200),
        (.310, .556, .157, .262),
        (.350, .548, .146, .296),
        (.380, .535, .124, .308),
    ),
    cabin_crown=.010,
    wheels=(.069, .15, .74),
    out=.178,
    bumpers=(0, 0, 0),
    doors={"front": [(.295, .068), (.530, .068), (.530, .215), (.300, .213)]},
    windows=(
        rounded([(.325, .222), (.372, .222), (.372, .285)], .006, 1),
        rounded([(.380, .222), (.525, .222), (.518, .290), (.388, .290)], .010),
    ),
    windscreen=rounded([(-.152, .222), (.152, .222), (.130, .296), (-.130, .296)], .014),
    back_screen=rounded([(-.130, .226), (.130, .226), (.118, .290), (-.118, .290)], .014),
    hood=[(.034, -.150), (.034, .150), (.250, .158), (.250, -.158)],
    roof=(.365, .550, .130),
    trunk=(),
    tail_light=rounded([(.140, .128), (.180, .128), (.180, .178), (.140, .178)], .010, 1),
    handles=((.505, .184),),
    spokes=10,
    rim=.62,
)


# --- cars ---------------------------------------------------------------------------------------------------------


def sedan() -> list[Piece]:
    """Three boxes: a hood, an arched cabin and a short, flat boot."""
    return [*car(SEDAN), tube([(.95, .10, .062), (1, .10, .062)], .010, 8).tinted(SEAM)]


def wagon() -> list[Piece]:
    """As low as a sedan, but the roof runs to the tail; a sunroof of two panes."""
    shell, *others = car(WAGON)
    for start, stop in ((.455, .565), (.600, .730)):
        shell = stamp(shell, "top", rectangle(start, stop, -.085, .085, .012, 1), "", GLASS, within=(.25, 1))
    return [shell, *others, sides(tube([(.95, .11, .066), (1, .11, .066)], .010, 8).tinted(SEAM))]


def suv() -> list[Piece]:
    """Tall on large wheels, with a big sunroof and rails along the roof."""
    shell, *others = car(SUV)
    shell = stamp(shell, "top", rectangle(.475, .650, -.100, .100, .020), "", GLASS, .006, within=(.3, 1))
    rail = tube([(.455, .132, .348), (.49, .129, .366), (.86, .129, .366), (.90, .132, .348)], .006, 4)
    step = tube([(.26, .180, .092), (.285, .196, .092), (.675, .196, .092), (.70, .180, .092)], .008, 5).tinted(SEAM)
    return [shell, *others, sides(rail), sides(step)]


def minivan() -> list[Piece]:
    """One slope from the bumper to the tallest roof of all cars."""
    return [*car(MINIVAN), sides(box((.700, .930), (.180, .190), (.226, .230)).tinted(SEAM))]


def truck() -> list[Piece]:
    """A pick-up of the sixties: two doors, an empty bed, round lamps, mirrors on the front fenders."""
    shell, *others = car(TRUCK)
    shell = stamp(shell, "top", rectangle(.585, .983, -.152, .152, .012, 1), "trunk", depth=.100, within=(.18, 1))
    for w in (.10, .05, 0):
        shell = stamp_pair(shell, "top", rectangle(.60, .97, w, w + .012), None, .6, within=(.09, .15))
    shell = stamp(shell, "nose", rectangle(-.168, .168, .128, .182, .014, 1), "", HOLE, .006, within=AHEAD)
    for h in (.140, .153):
        shell = stamp(shell, "nose", rectangle(-.115, .115, h, h + .006), None, 1.0, within=AHEAD)
    lamp = revolve([(0, 0), (-.004, .014), (0, .020), (.006, .023), (.014, .023), (.014, 0)], (.024, .142, .155), "s",
                   12)
    bar = tube([(.05, .185, .088), (.018, .176, .088), (.006, .13, .088), (.003, 0, .088), (.006, -.13, .088),
                (.018, -.176, .088), (.05, -.185, .088)], .017, 6, flat=.8)
    rear = tube([(.965, .176, .080), (.988, .168, .080), (.991, 0, .080), (.988, -.168, .080), (.965, -.176, .080)],
                .012, 6)
    glass = revolve([(-.006, 0), (-.005, .012), (.004, .018), (.006, .016), (.006, 0)], (.092, .180, .238), "s", 8)
    return [
        shell,
        *others,
        pair("{}_head_light", lamp),
        sides(box((.650, .830), (.112, .156), (.105, .156), .010)).named("trunk"),
        bar.named("front_bumper"),
        rear.named("back_bumper"),
        pair("{}_mirror", together([glass, tube([(.095, .165, .200), (.093, .176, .228)], .0035, 4)])),
        box((-.016, -.012), (-.055, .055), (.076, .101)).named("front_license_plate"),
    ]
