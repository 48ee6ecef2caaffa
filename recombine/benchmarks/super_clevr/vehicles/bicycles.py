"""The four bicycles: tubes, wheels and what turns them.

Numbers are shares of the length: s from the nose back, w from the middle to the left, h from the ground up.
"""

from recombine.render.kit import (
    Piece,
    belt,
    box,
    disc,
    ellipse,
    fender,
    loft,
    pair,
    plate,
    ring,
    rounded,
    sides,
    stamp,
    together,
    tube,
    tyre,
    wires,
)

GRIP, DARK = 0.45, 0.3
"""Tints: of rubber grips and saddles, of holes."""


def cycle_wheel(s: float, radius: float, thick: float, spokes: int = 20, knobs: float = 0.0, around: int = 36) -> Piece:
    """A tyre, a rim, a hub and thin spokes."""
    at = (s, 0.0, radius)
    inner = radius - 2 * thick
    return together([
        tyre(at, radius, thick, thick, around, 5 if not knobs else 6, knobs), ring(at, inner - .003, .006, .007, around, 3),
        wires(at, .016, inner - .004, .020, spokes, .0015, 50), disc(at, .014, .024, 8, 0),
    ])  # fmt: skip


def cranks(s: float, h: float, long: float, degrees: float, out: float, ring_size: float, rear: tuple[float, float, float]) -> list[Piece]:
    """Cranks and pedals on both sides, and the chain on the right; degrees from pointing ahead for the right one."""
    arm = tube([(s, -out, h), (s - long, -out - .012, h)], [.0105, .008], 6, flat=.7)
    step = together([box((s - long - .034, s - long + .034), (-out - .062, -out - .018), (h - .008, h + .008), .004),
                     tube([(s - long, -out - .008, h), (s - long, -out - .06, h)], .005, 5)])  # fmt: skip
    right, right_step = (piece.turned("w", -degrees, (s, 0, h)) for piece in (arm, step))
    level = step.turned("w", -degrees, (s, 0, h)).turned("w", degrees, _end(s, h, long, degrees))
    left, left_step = arm.mirrored().turned("w", 180 - degrees, (s, 0, h)), None
    left_level = step.mirrored().turned("w", 180 - degrees, (s, 0, h)).turned("w", degrees - 180, _end(s, h, long, degrees - 180))
    w = -out + .012
    chain = together([belt((s, h, ring_size), rear, w, .0052, 1.0, 8), ring((s, w, h), ring_size - .004, .007, .004, 20, 4),
                      disc((rear[0], w, rear[1]), rear[2], .008, 12)]
                     + [tube([(s, w, h), (s + ring_size * c, w, h + ring_size * d)], .0045, 4) for c, d in SPIDER])  # fmt: skip
    return [
        right.named("crank_arm_right"), left.named("crank_arm_left"), level.named("pedal_right"), left_level.named("pedal_left"),
        chain.named("drive_chain"), tube([(s, -out, h), (s, out, h)], .014, 8),
    ]  # fmt: skip


SPIDER = ((1.0, 0.0), (.309, .951), (-.809, .588), (-.809, -.588), (.309, -.951))


def _end(s, h, long, degrees):
    from math import cos, radians, sin
    return (s - long * cos(radians(degrees)), 0, h - long * sin(radians(degrees)))


def saddle(s: float, h: float, long: float, half: float, thick: float = .022) -> Piece:
    """A saddle from its nose back; h is its top."""
    return loft([
        (s - .45 * long, .006, h - .010 - thick * .5, h - .008), (s - .40 * long, .014, h - .006 - thick, h - .004), (s - .1 * long, .20 * half + .008, h - thick, h - .004),
        (s + .15 * long, .6 * half, h - thick, h - .003), (s + .38 * long, half, h - thick, h), (s + .50 * long, .92 * half, h - thick, h + .001),
        (s + .55 * long, .5 * half, h - .7 * thick, h - .004),
    ], 1, 12, 2.6).tinted(GRIP)  # fmt: skip


def road() -> list[Piece]:
    """A drop bar, thin tyres, no fenders."""
    frame = [
        tube([(.300, 0, .415), (.322, 0, .345)], .014, 8), tube([(.305, 0, .396), (.592, 0, .392)], .0105, 8), tube([(.318, 0, .358), (.480, 0, .150)], .0125, 8),
        tube([(.480, 0, .150), (.602, 0, .425)], .0115, 8), tube([(.600, 0, .42), (.632, 0, .500)], .008, 7),
        sides(tube([(.594, .010, .400), (.800, .022, .200)], .0065, 6)), sides(tube([(.480, .018, .148), (.800, .022, .200)], .0075, 6)),
        tube([(.625, 0, .500), (.655, 0, .515)], .008, 6),
    ]  # fmt: skip
    fork = together([tube([(.322, 0, .350), (.328, 0, .330)], .016, 8), sides(tube([(.327, .018, .336), (.262, .021, .268), (.200, .021, .200)], [.009, .008, .006], 6, 2)),
                     tube([(.298, 0, .424), (.312, 0, .380)], .010, 6)])  # fmt: skip
    stem = tube([(.300, 0, .428), (.250, 0, .440)], .010, 7)
    bars = together([tube([(.250, 0, .440), (.250, .085, .440), (.238, .100, .438), (.195, .106, .428), (.178, .107, .395), (.200, .108, .360), (.262, .109, .352)], .0085, 7, 2),
                     tube([(.200, .108, .360), (.262, .109, .352)], .0105, 7).tinted(GRIP)])  # fmt: skip
    hood = together([tube([(.200, .105, .432), (.162, .105, .448), (.152, .105, .468)], [.011, .010, .007], 6), tube([(.160, .105, .448), (.150, .107, .400), (.168, .107, .362)], .0045, 4, 2)])
    cables = [sides(tube([(.165, .100, .450), (.215, .075, .475), (.275, .020, .450), (.290, .012, .36)], .0024, 3, 2)), tube([(.300, .012, .41), (.45, .014, .405), (.590, .012, .395), (.625, .01, .375)], .0024, 3)]
    callipers = [tube([(.318, -.024, .330), (.300, -.024, .375), (.306, 0, .395), (.300, .024, .375), (.318, .024, .330)], .006, 5, 2),
                 tube([(.640, -.024, .385), (.625, -.024, .395), (.618, 0, .395), (.625, .024, .395), (.640, .024, .385)], .006, 5, 2)]  # fmt: skip
    return [
        *frame, stem, fork.named("fork"), pair("handle_{}", bars), saddle(.640, .550, .165, .042).named("saddle"),
        together([sides(hood), *cables, *callipers]).named("brake_system"),
        cycle_wheel(.200, .200, .010).named("wheel_front"), cycle_wheel(.800, .200, .010).named("wheel_back"),
        *cranks(.480, .150, .098, 25, .036, .055, (.800, .200, .022)),
    ]  # fmt: skip


def mountain() -> list[Piece]:
    """A wide, flat bar, fat tyres, a shock in a sloping frame."""
    frame = [
        tube([(.292, 0, .490), (.318, 0, .400)], .019, 8), tube([(.305, 0, .455), (.44, 0, .395), (.560, 0, .330)], [.016, .014, .012], 8), tube([(.316, 0, .425), (.380, 0, .320), (.475, 0, .170)], [.019, .018, .020], 8),
        tube([(.475, 0, .165), (.570, 0, .370)], .0145, 8), tube([(.566, 0, .36), (.620, 0, .500)], .0095, 7), tube([(.505, 0, .240), (.43, 0, .375)], .010, 6),
        sides(tube([(.555, .020, .325), (.68, .032, .280), (.800, .032, .200)], .0085, 6)), sides(tube([(.490, .024, .185), (.64, .034, .175), (.800, .032, .200)], .0105, 6)),
        tube([(.612, 0, .498), (.650, 0, .512)], .010, 6),
    ]  # fmt: skip
    shock = together([tube([(.405, 0, .300), (.520, 0, .285)], .010, 8)] + [ring((0, 0, 0), .016, .004, .004, 10, 3).turned("h", 90).moved(.435 + .016 * i, 0, .297 - .002 * i) for i in range(5)]).tinted(.75)
    fork = together([
        sides(tube([(.200, .036, .200), (.252, .036, .300)], .0155, 8)), sides(tube([(.252, .036, .300), (.300, .036, .395)], .0115, 8)), box((.282, .332), (-.050, .050), (.385, .405), .008),
        tube([(.255, -.036, .318), (.240, -.020, .365), (.240, .020, .365), (.255, .036, .318)], .010, 6), tube([(.200, -.036, .200), (.200, .036, .200)], .007, 6),
    ])  # fmt: skip
    stem = tube([(.294, 0, .498), (.258, 0, .528)], .013, 7)
    bars = together([tube([(.258, 0, .528), (.262, .055, .530), (.272, .085, .548), (.290, .193, .552)], .0085, 7, 1), tube([(.281, .130, .550), (.2905, .194, .552)], .0125, 7).tinted(GRIP)])
    lever = together([tube([(.268, .115, .546), (.245, .130, .540), (.250, .175, .535)], .0045, 4), tube([(.270, .10, .546), (.240, .06, .560), (.235, .03, .48), (.24, .045, .34), (.20, .04, .22)], .0025, 3, 2)])
    rotors = [disc((s, .030, .200), .052, .0025, 18, 0).tinted(.75) for s in (.200, .800)]
    clamps = [box((.222, .248), (.024, .042), (.222, .260), .004), box((.752, .780), (.024, .042), (.222, .252), .004)]
    return [
        *frame, shock, fork.named("fork"), stem, pair("handle_{}", bars), saddle(.640, .535, .170, .045, .026).named("saddle"),
        together([lever, lever.mirrored(), *rotors, *clamps]).named("brake_system"),
        cycle_wheel(.200, .200, .026, 20, .10, 44).named("wheel_front"), cycle_wheel(.800, .200, .026, 20, .10, 44).named("wheel_back"),
        *cranks(.475, .165, .098, 35, .044, .048, (.800, .200, .030)),
    ]  # fmt: skip


def utility() -> list[Piece]:
    """A low frame, a rack, fenders, a swept bar."""
    frame = [
        tube([(.262, 0, .520), (.300, 0, .370)], .0165, 8), tube([(.285, 0, .445), (.335, 0, .330), (.410, 0, .225), (.505, 0, .180), (.545, 0, .230)], .0125, 8, 2),
        tube([(.298, 0, .392), (.345, 0, .270), (.415, 0, .170), (.480, 0, .145)], .0140, 8, 2), tube([(.480, 0, .145), (.572, 0, .400)], .0130, 8), tube([(.568, 0, .39), (.600, 0, .480)], .009, 7),
        sides(tube([(.556, .010, .350), (.780, .028, .190)], .0070, 6)), sides(tube([(.480, .020, .142), (.780, .028, .190)], .0080, 6)),
    ]  # fmt: skip
    fork = together([tube([(.298, 0, .385), (.304, 0, .360)], .018, 8), sides(tube([(.302, .024, .372), (.245, .027, .262), (.200, .027, .190)], [.011, .0095, .007], 6, 2))])
    stem = tube([(.262, 0, .520), (.245, 0, .585), (.222, 0, .612)], .0105, 7)
    bars = together([tube([(.222, 0, .612), (.222, .040, .616), (.245, .085, .642), (.300, .140, .645), (.375, .176, .625)], .0085, 7, 2), tube([(.318, .150, .640), (.378, .1775, .624)], .0135, 7).tinted(GRIP)])
    lever = together([tube([(.290, .128, .640), (.268, .150, .632), (.318, .176, .618)], .0045, 4), tube([(.285, .125, .64), (.230, .095, .665), (.19, .04, .60), (.235, .012, .45), (.278, .02, .385)], .0025, 3, 2)])
    callipers = [tube([(.285, -.026, .355), (.265, -.026, .395), (.270, 0, .410), (.265, .026, .395), (.285, .026, .355)], .006, 5), tube([(.650, -.030, .335), (.640, 0, .345), (.650, .030, .335)], .006, 5)]
    rack = together([
        sides(tube([(.640, .030, .400), (.680, .046, .404), (.960, .050, .404), (.985, .030, .404), (.988, 0, .404)], .0058, 5)), *(tube([(s, -.047, .404), (s, .047, .404)], .0045, 4) for s in (.70, .77, .84, .91)),
        tube([(.650, 0, .404), (.985, 0, .404)], .0045, 4), sides(tube([(.780, .034, .195), (.76, .046, .30), (.74, .048, .402)], .0048, 4)), sides(tube([(.782, .034, .195), (.86, .046, .30), (.905, .049, .402)], .0048, 4)),
    ])  # fmt: skip
    stand = together([tube([(.520, .015, .140), (.560, .055, .070), (.590, .088, .010)], .0075, 6, 2), box((.580, .606), (.078, .100), (.0, .010), .003)])
    seat_springs = sides(tube([(.595, .012, .478), (.640, .040, .470)], .006, 5))
    lamp = loft([(.172, .020, .455, .495), (.180, .024, .450, .500), (.215, .014, .46, .49)], 1, 10).tinted(.65)
    return [
        *frame, stem, lamp, tube([(.21, 0, .475), (.27, 0, .478)], .006, 5), seat_springs, fork.named("fork"), pair("handle_{}", bars),
        saddle(.615, .512, .185, .070, .034).named("saddle"), together([lever, lever.mirrored(), *callipers]).named("brake_system"),
        rack.named("carrier"), stand.named("side_stand"),
        together([fender((.200, 0, .190), .197, 20, 175, .026, .004, .5, 14), sides(tube([(.20, .027, .19), (.015, .024, .245)], .0028, 3))]).named("fender_front"),
        together([fender((.780, 0, .190), .197, -20, 155, .028, .004, .5, 14).turned("h", 180, (.78, 0, 0)), sides(tube([(.78, .028, .19), (.965, .025, .25)], .0028, 3))]).named("fender_back"),
        cycle_wheel(.200, .190, .015, 22).named("wheel_front"), cycle_wheel(.780, .190, .015, 22).named("wheel_back"),
        *cranks(.480, .145, .092, -20, .040, .050, (.780, .190, .026)),
    ]  # fmt: skip


def tandem() -> list[Piece]:
    """Two saddles, two bars, a long low frame."""
    frame = [
        tube([(.178, 0, .330), (.200, 0, .235)], .0115, 8), tube([(.198, 0, .255), (.25, 0, .145), (.33, 0, .085), (.42, 0, .070), (.67, 0, .070)], .0105, 8, 2), tube([(.190, 0, .300), (.30, 0, .180), (.415, 0, .130), (.55, 0, .135), (.665, 0, .165)], .0085, 7, 2),
        tube([(.420, 0, .070), (.440, 0, .215)], .0095, 7), tube([(.670, 0, .070), (.690, 0, .255)], .0095, 7),
        sides(tube([(.686, .008, .235), (.860, .020, .120)], .0050, 5)), sides(tube([(.670, .014, .070), (.860, .020, .120)], .0058, 5)),
    ]  # fmt: skip
    fork = together([tube([(.200, 0, .240), (.204, 0, .225)], .0125, 8), sides(tube([(.203, .015, .232), (.158, .017, .165), (.120, .017, .120)], [.0075, .0065, .005], 6, 2))])
    def bars(s, h, foot):
        return [tube([foot, (s - .045, 0, h - .025), (s - .040, 0, h)], .0078, 7, 2), sides(together([
            tube([(s - .040, 0, h), (s - .045, .022, h + .004), (s - .020, .052, h + .005), (s + .04, .078, h - .018)], .0062, 7, 2), tube([(s + .010, .068, h - .008), (s + .045, .080, h - .020)], .0090, 7).tinted(GRIP)]))]
    seats = []
    for s, h, foot in ((.450, .262, .440), (.712, .302, .690)):
        seats += [saddle(s, h, .105, .046, .020), tube([(foot, 0, h - .06), (s, 0, h - .015)], .0068, 6)]
    drive = []
    for s, turn in ((.420, 30), (.670, 30)):
        drive += cranks(s, .070, .055, turn, .026, .026, (s + .250 if s < .5 else .860, .070 if s < .5 else .120, .024 if s < .5 else .016))
    drive = [piece.named("") for piece in drive]
    return [
        *frame, fork.named("fork"), *bars(.280, .408, (.178, 0, .330)), *bars(.570, .378, (.470, 0, .150)), *seats, *drive, 
        together([fender((.120, 0, .120), .125, 95, 175, .017, .003, .5, 8), sides(tube([(.12, .017, .12), (.235, .015, .165)], .0022, 3))]).named("fender_front"),
        together([fender((.860, 0, .120), .125, -10, 165, .018, .003, .5, 14).turned("h", 180, (.86, 0, 0)), sides(tube([(.86, .018, .12), (.98, .016, .15)], .0022, 3))]).named("fender_back"),
        box((.975, .992), (-.012, .012), (.168, .192), .004).named("rearlight"),
        cycle_wheel(.120, .120, .008, 20, 0, 30).named("wheel_front"), cycle_wheel(.860, .120, .008, 20, 0, 30).named("wheel_back"),
    ]  # fmt: skip
