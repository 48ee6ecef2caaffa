"""The four bicycles: tubes, wheels and what turns them.

Numbers are shares of the length: s from the nose back, w from the middle to the left, h from the ground up.
"""

from collections.abc import Sequence

from recombine.render.kit import (
    LAMP,
    RUBBER,
    STEEL,
    Piece,
    Point,
    box,
    chain,
    disc,
    fender,
    loft,
    pair,
    ring,
    sides,
    together,
    tube,
    tyre,
    wires,
)

# --- what all have ------------------------------------------------------------------------------------------------


def cycle_wheel(s: float, radius: float, thick: float, knobs: float = 0.0, around: int = 36) -> Piece:
    """A tyre, a rim, a hub and thin spokes."""
    at, inner = (s, 0.0, radius), radius - 2 * thick
    return together([
        tyre(at, radius, thick, thick, around, 5, knobs),
        ring(at, inner - 0.002, 0.006, 0.007, 36, 3),
        wires(at, 0.016, inner - 0.004, 0.020, 18, 0.0016),
        disc(at, 0.014, 0.024, 8, 0),
    ])  # fmt: skip


def cranks(at: Point, long: float, angle: float, ring_size: float, back: Point, size: float = 1.0) -> list[Piece]:
    """Cranks and pedals, and the chain on the right.

    `at` is (s, half the axle, h); the right crank points ahead and up by this angle, the left one the other way; `back`
    is the wheel at the other end of the chain: (s, h, radius).
    """
    s, out, h = at
    centre, pieces = (s, 0.0, h), []
    for side, turn in (("right", angle), ("left", angle + 180.0)):
        arm = tube([(s, -out, h), (s - long, -out - 0.012 * size, h)], [0.0105 * size, 0.008 * size], 6)
        end = (s - long, 0.0, h)
        axle = tube([(s - long, -out, h), (s - long, -out - 0.06 * size, h)], 0.005 * size, 5)
        step = box((s - long - 0.034 * size, s - long + 0.034 * size), (-out - 0.064 * size, -out - 0.018 * size),
                   (h - 0.008 * size, h + 0.008 * size), 0.004 * size)  # fmt: skip
        pedal = together([axle, step.turned("w", -turn, end)])  # level, when its crank has turned
        for name, piece in (("crank_arm_", arm), ("pedal_", pedal)):
            turned = piece.turned("w", turn, centre)
            pieces.append((turned.mirrored() if side == "left" else turned).named(name + side))
    w = -out + 0.012 * size
    star = tube([(s, w, h), (s - ring_size, w, h)], 0.005 * size, 4)
    gear = [chain((s, h, ring_size), back, w, 0.0055 * size), ring((s, w, h), ring_size - 0.003, 0.007, 0.004, 18, 3)]
    gear += [star.turned("w", 72 * i, centre) for i in range(5)]
    gear.append(disc((back[0], w, back[1]), back[2], 0.008 * size, 10, 0))
    return [*pieces, together(gear).named("drive_chain"), tube([(s, -out, h), (s, out, h)], 0.014 * size, 6)]


def saddle(s: float, h: float, long: float, half: float, thick: float = 0.022) -> Piece:
    """A saddle around s; h is its top."""
    rows = (
        (-.45, .10, .95, .45), (-.40, .28, 1.15, .22), (-.10, .42, 1.0, .16), (.15, .66, 1.0, .10), (.38, 1, 1.0, 0),
        (.50, .94, 1.0, -.03), (.55, .55, .75, .15),
    )  # fmt: skip
    sections = [(s + far * long, wide * half, h - low * thick, h - top * thick) for far, wide, low, top in rows]
    return loft(sections, 12, 2.6).tinted(RUBBER)


def grip(way: Sequence[Point], radius: float, steps: int = 1) -> Piece:
    """One side of a handlebar, whose last stretch is a grip."""
    return together([tube(way, radius, 6, steps), tube(way[-2:], 1.45 * radius, 7).tinted(RUBBER)])


def cable(*way: Point) -> Piece:
    """A thin cable."""
    return tube(way, 0.0025, 3, 2)


# --- bicycles -----------------------------------------------------------------------------------------------------
# fmt: off


def road() -> list[Piece]:
    """A drop bar, thin tyres, no fenders."""
    frame = [
        tube([(.300, 0, .415), (.322, 0, .345)], .014, 7),
        tube([(.305, 0, .396), (.592, 0, .392)], .0105, 7),
        tube([(.318, 0, .358), (.480, 0, .150)], .0125, 7),
        tube([(.480, 0, .150), (.602, 0, .425)], .0115, 7),
        tube([(.600, 0, .42), (.632, 0, .500)], .008, 6), tube([(.625, 0, .500), (.655, 0, .515)], .008, 6),
        sides(tube([(.594, .010, .400), (.800, .022, .200)], .0065, 6)),
        sides(tube([(.480, .018, .148), (.800, .022, .200)], .0075, 6)),
        tube([(.300, 0, .428), (.250, 0, .440)], .010, 6),
    ]
    fork = together([
        tube([(.298, 0, .424), (.312, 0, .380)], .010, 6), tube([(.322, 0, .350), (.328, 0, .330)], .016, 8),
        sides(tube([(.327, .018, .336), (.262, .021, .268), (.200, .021, .200)], [.0105, .009, .007], 6, 2)),
    ])
    bars = together([
        tube([(.250, 0, .440), (.250, .085, .440), (.238, .098, .438), (.195, .103, .428), (.178, .104, .395),
              (.200, .105, .360), (.262, .106, .352)], .0085, 6, 2),
        tube([(.196, .105, .362), (.262, .106, .352)], .0105, 7).tinted(RUBBER),
    ])
    brakes = together([
        sides(tube([(.200, .102, .432), (.162, .102, .448), (.152, .102, .468)], [.011, .010, .007], 6)),
        sides(tube([(.160, .102, .448), (.150, .104, .400), (.168, .104, .362)], .0050, 4)),
        sides(cable((.165, .100, .450), (.215, .075, .475), (.275, .020, .450), (.290, .012, .36))),
        tube([(.300, .012, .41), (.590, .012, .405), (.625, .01, .375)], .0024, 3),
        sides(tube([(.318, .024, .330), (.300, .024, .375), (.306, 0, .395)], .007, 5)),
        sides(tube([(.640, .024, .385), (.625, .024, .395), (.618, 0, .395)], .007, 5)),
    ])
    return [
        *frame,
        fork.named("fork"),
        pair("handle_{}", bars),
        saddle(.640, .550, .165, .042).named("saddle"),
        brakes.named("brake_system"),
        cycle_wheel(.200, .200, .010).named("wheel_front"),
        cycle_wheel(.800, .200, .010).named("wheel_back"),
        *cranks((.480, .036, .150), .098, -25, .055, (.800, .200, .022)),
    ]


def mountain() -> list[Piece]:
    """A wide, flat bar, fat tyres, a shock in a sloping frame."""
    frame = [
        tube([(.288, 0, .505), (.318, 0, .400)], .019, 7),
        tube([(.303, 0, .462), (.44, 0, .395), (.560, 0, .330)], [.016, .014, .012], 7),
        tube([(.316, 0, .425), (.380, 0, .320), (.475, 0, .170)], [.019, .018, .020], 7),
        tube([(.475, 0, .165), (.570, 0, .370)], .0145, 7), tube([(.505, 0, .240), (.43, 0, .375)], .010, 6),
        tube([(.566, 0, .36), (.625, 0, .520)], .0095, 6), tube([(.618, 0, .518), (.655, 0, .530)], .010, 6),
        sides(tube([(.555, .020, .325), (.68, .034, .280), (.800, .036, .200)], .0085, 6)),
        sides(tube([(.490, .024, .185), (.64, .036, .175), (.800, .036, .200)], .0105, 6)),
        tube([(.405, 0, .300), (.520, 0, .285)], .010, 7),
        tube([(.288, 0, .515), (.252, 0, .552)], .013, 6),
    ]
    coil = ring((.435, 0, .297), .016, .004, .004, 8, 3).turned("h", 90, (.435, 0, .297))
    coils = [coil.moved(.016 * i, 0, -.002 * i).tinted(STEEL) for i in range(5)]
    fork = together([
        sides(tube([(.200, .038, .200), (.252, .038, .300)], .0155, 7)),
        sides(tube([(.252, .038, .300), (.300, .038, .395)], .0115, 7)),
        box((.282, .332), (-.052, .052), (.385, .405), .008),
        tube([(.255, -.038, .318), (.240, -.020, .365), (.240, .020, .365), (.255, .038, .318)], .010, 5),
        tube([(.200, -.038, .200), (.200, .038, .200)], .007, 6),
    ])
    bars = grip([(.252, 0, .552), (.256, .055, .556), (.266, .085, .572), (.276, .128, .575), (.290, .193, .578)], .009)
    lever = together([
        tube([(.264, .115, .570), (.240, .130, .564), (.246, .178, .558)], .0050, 4),
        cable((.266, .10, .570), (.236, .06, .584), (.232, .03, .49), (.240, .047, .34), (.200, .044, .22)),
    ])
    brakes = together([
        sides(lever),
        *(disc((s, .031, .200), .052, .0025, 16, 0).tinted(STEEL) for s in (.200, .800)),
        box((.222, .250), (.022, .044), (.222, .262), .004), box((.750, .780), (.022, .044), (.222, .254), .004),
    ])
    return [
        *frame, *coils,
        fork.named("fork"),
        pair("handle_{}", bars),
        saddle(.645, .555, .170, .045, .026).named("saddle"),
        brakes.named("brake_system"),
        cycle_wheel(.200, .200, .026, .12, 40).named("wheel_front"),
        cycle_wheel(.800, .200, .026, .12, 40).named("wheel_back"),
        *cranks((.475, .046, .165), .098, -35, .048, (.800, .200, .030)),
    ]


def utility() -> list[Piece]:
    """A low frame, a rack, fenders, a swept bar."""
    frame = [
        tube([(.262, 0, .520), (.300, 0, .370)], .0165, 7),
        tube([(.285, 0, .445), (.335, 0, .330), (.410, 0, .225), (.505, 0, .180), (.545, 0, .230)], .0125, 7, 2),
        tube([(.298, 0, .392), (.345, 0, .270), (.415, 0, .170), (.480, 0, .145)], .0140, 7, 2),
        tube([(.480, 0, .145), (.572, 0, .400)], .0130, 7), tube([(.568, 0, .39), (.600, 0, .480)], .009, 6),
        sides(tube([(.556, .010, .350), (.780, .028, .190)], .0070, 6)),
        sides(tube([(.480, .020, .142), (.780, .028, .190)], .0080, 6)),
        tube([(.262, 0, .520), (.245, 0, .585), (.222, 0, .612)], .0105, 6),
        sides(tube([(.595, .012, .478), (.640, .040, .470)], .006, 5)),
        loft([(.172, .020, .455, .495), (.180, .024, .450, .500), (.215, .014, .46, .49)], 10).tinted(LAMP),
        tube([(.21, 0, .475), (.27, 0, .478)], .006, 5),
    ]
    fork = together([
        tube([(.298, 0, .385), (.304, 0, .360)], .018, 8),
        sides(tube([(.302, .024, .372), (.245, .027, .262), (.200, .027, .190)], [.0115, .010, .0075], 6, 2)),
    ])
    bars = grip([(.222, 0, .612), (.222, .040, .616), (.245, .085, .642), (.300, .140, .645), (.320, .152, .640),
                 (.375, .174, .625)], .0088)
    lever = together([
        tube([(.290, .128, .640), (.268, .150, .632), (.318, .176, .618)], .0050, 4),
        cable((.285, .125, .64), (.230, .095, .660), (.19, .04, .60), (.235, .012, .45), (.278, .02, .385)),
    ])
    brakes = together([
        sides(lever),
        sides(tube([(.285, .028, .355), (.265, .028, .395), (.270, 0, .412)], .007, 5)),
        sides(tube([(.650, .032, .335), (.640, 0, .345)], .007, 5)),
    ])
    rack = together([
        sides(tube([(.640, .030, .400), (.680, .046, .404), (.960, .050, .404), (.985, .030, .404), (.988, 0, .404)],
                   .0060, 5)),
        *(tube([(s, -.047, .404), (s, .047, .404)], .0048, 4) for s in (.70, .77, .84, .91)),
        tube([(.650, 0, .404), (.985, 0, .404)], .0048, 4),
        sides(tube([(.780, .034, .195), (.74, .048, .402)], .0050, 4)),
        sides(tube([(.782, .034, .195), (.86, .046, .30), (.905, .049, .402)], .0050, 4)),
    ])
    stand = together([
        tube([(.520, .015, .140), (.560, .055, .070), (.590, .088, .010)], .0085, 6),
        box((.578, .608), (.076, .102), (0, .011)),
    ])
    front = together([fender((.200, 0, .190), .197, 20, 175, .026, .004, .5, 12),
                      sides(tube([(.20, .027, .19), (.015, .024, .245)], .0028, 3))])
    back = together([fender((.780, 0, .190), .197, 25, 200, .028, .004, .5, 12),
                     sides(tube([(.78, .028, .19), (.965, .025, .25)], .0028, 3))])
    return [
        *frame,
        fork.named("fork"),
        pair("handle_{}", bars),
        saddle(.615, .512, .185, .070, .034).named("saddle"),
        brakes.named("brake_system"),
        rack.named("carrier"),
        stand.named("side_stand"),
        front.named("fender_front"),
        back.named("fender_back"),
        cycle_wheel(.200, .190, .015).named("wheel_front"),
        cycle_wheel(.780, .190, .015).named("wheel_back"),
        *cranks((.480, .040, .145), .092, 20, .050, (.780, .190, .026)),
    ]


def tandem() -> list[Piece]:
    """Two saddles, two bars, a long low frame; only few of its things are parts."""
    frame = [
        tube([(.178, 0, .330), (.200, 0, .235)], .0115, 7),
        tube([(.198, 0, .255), (.25, 0, .145), (.33, 0, .085), (.42, 0, .070), (.67, 0, .070)], .0105, 6, 2),
        tube([(.190, 0, .300), (.30, 0, .180), (.415, 0, .130), (.55, 0, .135), (.680, 0, .170)], .0085, 6, 2),
        tube([(.420, 0, .070), (.440, 0, .215)], .0095, 6), tube([(.670, 0, .070), (.690, 0, .255)], .0095, 6),
        sides(tube([(.686, .008, .235), (.860, .020, .120)], .0050, 5)),
        sides(tube([(.670, .014, .070), (.860, .020, .120)], .0058, 5)),
    ]
    for s, h, stem in ((.280, .408, (.178, 0, .330)), (.570, .378, (.492, 0, .130))):
        frame.append(tube([stem, (s - .048, 0, h - .025), (s - .040, 0, h)], .0080, 6, 2))
        frame.append(sides(grip([(s - .040, 0, h), (s - .045, .022, h + .004), (s - .020, .052, h + .005),
                                 (s + .012, .067, h - .008), (s + .045, .0775, h - .020)], .0064)))
    for s, h, foot in ((.450, .266, .440), (.712, .306, .690)):
        frame += [saddle(s, h, .110, .048, .020), tube([(foot, 0, h - .06), (s, 0, h - .015)], .0068, 6)]
    for s, hub in ((.420, (.670, .070, .026)), (.670, (.860, .120, .016))):
        frame += cranks((s, .026, .070), .050, -20, .026, hub, .62)
    fork = together([
        tube([(.200, 0, .240), (.204, 0, .225)], .0125, 7),
        sides(tube([(.203, .015, .232), (.158, .017, .165), (.120, .017, .120)], [.0085, .0075, .006], 6, 2)),
    ])
    front = together([fender((.120, 0, .120), .125, 35, 125, .018, .003, .5, 8),
                      sides(tube([(.12, .017, .12), (.195, .015, .225)], .0022, 3))])
    back = together([fender((.860, 0, .120), .125, 15, 190, .019, .003, .5, 12),
                     sides(tube([(.86, .018, .12), (.98, .016, .15)], .0022, 3))])
    return [
        *(piece.named("") for piece in frame),
        fork.named("fork"),
        front.named("fender_front"),
        back.named("fender_back"),
        box((.970, .998), (-.016, .016), (.165, .198), .005).tinted(LAMP).named("rearlight"),
        cycle_wheel(.120, .120, .008, 0, 30).named("wheel_front"),
        cycle_wheel(.860, .120, .008, 0, 30).named("wheel_back"),
    ]
