"""The four motorbikes.

Numbers are shares of the length: s from the nose back, w from the middle to the left, h from the ground up.
"""

import numpy as np

from recombine.render.kit import (
    Piece,
    arms,
    ball,
    belt,
    box,
    disc,
    ellipse,
    fender,
    hull,
    loft,
    pair,
    plate,
    rectangle,
    revolve,
    ring,
    rounded,
    sides,
    stamp,
    stamp_pair,
    together,
    tube,
    tyre,
    wires,
)

GLASS, LAMP, GRIP, DARK = 0.38, 0.6, 0.4, 0.25
"""Tints: of screens, of lamps, of rubber grips, of holes."""


def cast_wheel(at, radius, high, wide, spokes, brake=.0) -> Piece:
    """A tyre on a cast rim with some broad spokes and brake discs."""
    inner = radius - 2 * high
    parts = [
        tyre(at, radius, high, wide, 24, 6), ring(at, inner + .15 * high, .45 * high, .7 * wide, 24, 4),
        arms(at, .1 * radius, inner, (.016, .012), .5 * wide, spokes), disc(at, .2 * radius, .9 * wide, 10),
    ]  # fmt: skip
    if brake:
        s, w, h = at
        parts += [disc((s, w + side * .85 * wide, h), brake, .1 * wide, 14, 0).tinted(.8) for side in (-1, 1)]
    return together(parts)


def wire_wheel(at, radius, high, wide, spokes, knobs=0.0, hub=.18) -> Piece:
    """A tyre on a thin rim with wire spokes."""
    inner = radius - 2 * high
    return together([
        tyre(at, radius, high, wide, 24 if not knobs else 32, 6, knobs), ring(at, inner + .1 * high, .3 * high, .65 * wide, 24, 4),
        wires(at, hub * radius, inner, .6 * wide, spokes, .0022, 60), disc(at, hub * radius, .9 * wide, 10),
    ])  # fmt: skip


def lamp(at, radius, deep, around=14) -> Piece:
    """A round lamp that looks ahead, its glass within a bright ring."""
    s, w, h = at
    bowl = revolve([(0, 0), (0, .8 * radius), (-.1 * deep, radius), (.15 * deep, radius), (.6 * deep, .8 * radius), (deep, .3 * radius), (deep, 0)],
                   at, "s", around)  # fmt: skip
    return stamp(bowl, "nose", ellipse(w, h, .8 * radius, count=around), None, LAMP)


def grips(way, radius, start) -> Piece:
    """One side of a handlebar along a way; from some point on it is a grip."""
    return together([tube(way, radius, 7, 2), tube(way[start:], 1.5 * radius, 7, 1).tinted(GRIP)])


def chopper() -> list[Piece]:
    """A raked fork, bars pulled back, a tall bar behind the seat."""
    front, back = (.125, 0, .123), (.855, 0, .123)
    frame = [
        tube([(.36, 0, .375), (.45, 0, .300), (.62, 0, .245), (.70, 0, .190)], .014, 8, 2),
        tube([(.375, 0, .345), (.395, 0, .200), (.41, 0, .075)], .011, 7, 2),
        sides(tube([(.41, .0, .075), (.45, .045, .062), (.66, .050, .062), (.72, .055, .085), (.855, .064, .123)], .009, 6, 2)),
        sides(tube([(.64, .03, .235), (.74, .058, .180), (.855, .064, .123)], .010, 6, 2)),
        tube([(.355, 0, .395), (.378, 0, .335)], .018, 8),
    ]  # fmt: skip
    sissy = tube([(.845, .060, .160), (.905, .052, .300), (.955, .048, .440), (.970, .030, .482), (.972, 0, .4875)], .0065, 6, 2)
    pad = plate(rounded([(.912, .330), (.928, .325), (.958, .425), (.942, .430)], .006, 1), (-.042, .042), .006)
    fork = together([
        sides(tube([(.125, .048, .123), (.235, .048, .245)], .012, 8)), sides(tube([(.235, .046, .245), (.385, .046, .412)], .0085, 8)),
        plate([(.318, .352), (.345, .338), (.356, .350), (.329, .364)], (-.058, .058)), plate([(.352, .392), (.380, .378), (.391, .390), (.363, .404)], (-.058, .058)),
        tube([(.125, -.048, .123), (.125, .048, .123)], .008, 6),
    ])  # fmt: skip
    bars = grips([(.375, .0, .418), (.375, .035, .420), (.400, .070, .452), (.455, .118, .458), (.525, .135, .430), (.595, .146, .402)], .0062, 4)
    mirror = together([
        loft([(.468, .006, .452, .464), (.474, .022, .448, .474), (.480, .022, .448, .474)], 1, 10, 3).moved(w=.122),
        tube([(.470, .122, .462), (.47, .112, .44)], .003, 4),
    ])
    tank = loft([(.375, .012, .325, .352), (.395, .034, .302, .378), (.44, .056, .282, .394), (.50, .060, .272, .388),
                 (.56, .044, .268, .358), (.605, .018, .268, .322), (.62, .006, .27, .30)], 1, 16, 2.4)  # fmt: skip
    cap = disc((.455, 0, .394), .014, .004, 10).turned("s", 90, (.455, 0, .394)).tinted(.8)
    seat = loft([(.600, .030, .255, .285), (.63, .052, .240, .292), (.68, .068, .222, .282), (.73, .066, .222, .290),
                 (.765, .050, .245, .318), (.80, .050, .262, .334), (.86, .044, .268, .338), (.895, .018, .285, .328)], 1, 14, 2.6)  # fmt: skip
    engine = [
        revolve([(-.052, 0), (-.052, .040), (-.044, .050), (.044, .050), (.052, .040), (.052, 0)], (.525, 0, .122), "w", 16),
        loft([(.57, .040, .085, .165), (.59, .050, .075, .175), (.69, .050, .080, .170), (.73, .036, .095, .155)], 1, 12, 4),
        disc((.545, .056, .115), .050, .010, 16), disc((.660, .056, .120), .034, .008, 14),
    ]  # fmt: skip
    for lean, s in ((-24, .500), (26, .550)):
        fins = [(.03, 0), *((.035 + .008 * i, .030 if i % 2 else .042) for i in range(11)), (.130, .028), (.130, 0)]
        engine.append(revolve(fins, (s, 0, .125), "h", 12, 20).turned("w", lean, (s, 0, .122)))
    cleaner = disc((.515, -.060, .225), .028, .014, 14)
    pipes = together([
        tube([(.465, -.035, .215), (.430, -.066, .190), (.425, -.074, .120), (.475, -.078, .082), (.60, -.078, .080)], .0105, 7, 2),
        tube([(.585, -.035, .215), (.60, -.074, .195), (.60, -.080, .135), (.64, -.080, .112), (.70, -.078, .108)], .0105, 7, 2),
        tube([(.58, -.079, .080), (.62, -.080, .080), (.93, -.082, .088), (.975, -.082, .090)], [.011, .018, .020, .017], 8),
        tube([(.68, -.079, .118), (.72, -.081, .120), (.94, -.083, .138), (.985, -.083, .141)], [.011, .018, .020, .017], 8),
    ])  # fmt: skip
    pipes = stamp(pipes, "tail", ellipse(-.082, .090, .011, count=8), None, DARK, within=(.95, 1))
    pipes = stamp(pipes, "tail", ellipse(-.083, .141, .011, count=8), None, DARK, within=(.95, 1))
    chain = together([belt((.690, .120, .022), (.855, .123, .042), .070, .006), disc((.690, .070, .120), .020, .004, 10), disc((.855, .070, .123), .040, .003, 14)])
    rest = together([tube([(.455, .045, .075), (.435, .095, .078), (.430, .128, .078)], [.007, .007, .009], 6), box((.40, .46), (.112, .132), (.074, .080), .002)])
    return [
        *frame, sides(sissy), pad, fork.named("fork"), pair("handle_{}", bars), pair("mirror_{}", mirror),
        together([tank, cap]).named("gas_tank"), seat.named("seat"), together([*engine, cleaner]).named("engine"),
        pipes.named("exhaust_right_s"), chain.named("drive_chain"), pair("footrest_{}_s", rest),
        wire_wheel(front, .123, .020, .026, 20, hub=.22).named("wheel_front"),
        cast_wheel(back, .123, .032, .050, 6, .055).named("wheel_back"),
        together([fender(front, .130, 40, 150, .034, .005, .5), sides(tube([(.125, .048, .123), (.150, .038, .245)], .004, 4))]).named("fender_front"),
        fender(back, .130, 25, 205, .060, .006, .35, 12).named("fender_back"),
        lamp((.262, 0, .338), .038, .070).named("headlight_center"),
        box((.962, .984), (-.024, .024), (.185, .212), .006).tinted(LAMP).named("taillight_center"),
        tube([(.30, 0, .335), (.345, 0, .36)], .012, 6),
    ]  # fmt: skip


def scooter() -> list[Piece]:
    """A step-through gap between the leg shield and the seat, small wheels, big mirrors."""
    front, back = (.125, 0, .124), (.835, 0, .124)
    shield = hull(((0, 0), (.04, .38), (.16, .70), (.40, .95), (.70, 1), (.95, .92), (1, .6), (1, 0)), (
        (.345, .420, .050, .110), (.300, .415, .078, .190), (.130, .408, .092, .250), (.045, .402, .098, .285),
        (.062, .396, .102, .325), (.125, .380, .102, .410), (.180, .362, .090, .490), (.215, .350, .066, .535),
    ), .012, steps=1)  # fmt: skip
    shield = stamp_pair(shield, "side", rounded([(.10, .300), (.20, .290), (.17, .350)], .012, 2), None, LAMP)
    shield = stamp(shield, "nose", rounded([(-.030, .375), (.030, .375), (.016, .345), (-.016, .345)], .006, 1), None, DARK)
    beak = fender(front, .132, 30, 165, .042, .006, .6)
    head = loft([(.225, .012, .520, .548), (.240, .045, .505, .570), (.290, .060, .505, .590), (.345, .048, .515, .588), (.375, .020, .53, .575)],
                1, 14, 2.4)  # fmt: skip
    light = loft([(.222, .020, .522, .552), (.228, .034, .514, .560), (.245, .036, .512, .562)], 1, 12, 2.6)
    bars = grips([(.310, .030, .560), (.325, .100, .562), (.355, .150, .552), (.372, .196, .545)], .009, 2)
    lever = tube([(.322, .105, .552), (.325, .185, .540)], .004, 4)
    mirror = together([
        loft([(.372, .008, .615, .635), (.380, .036, .600, .650), (.388, .036, .600, .650)], 1, 12, 2.6).moved(w=.200),
        tube([(.335, .115, .565), (.35, .135, .605), (.378, .185, .620)], .004, 5, 2),
    ])  # fmt: skip
    fork = together([sides(tube([(.125, .040, .124), (.165, .040, .200), (.215, .036, .300)], .012, 8)),
                     tube([(.125, -.040, .124), (.125, .040, .124)], .010, 6), disc((.125, .040, .124), .020, .012, 10)])  # fmt: skip
    floor = loft([(.36, .075, .085, .118), (.40, .082, .080, .112), (.50, .080, .082, .114), (.58, .066, .095, .150), (.66, .050, .13, .20)], 1, 12, 5)
    post = hull(((0, 0), (.02, .5), (.10, .85), (.3, 1), (.7, 1), (.95, .9), (1, 0)), (
        (.500, .66, .058, .100), (.505, .72, .062, .180), (.495, .78, .070, .260), (.480, .80, .074, .315)), .0, steps=1)  # fmt: skip
    seat = loft([(.465, .018, .325, .352), (.485, .050, .312, .382), (.53, .072, .310, .400), (.60, .080, .318, .402), (.66, .080, .328, .402),
                 (.72, .076, .342, .422), (.80, .064, .358, .432), (.835, .026, .375, .425)], 1, 14, 2.6)  # fmt: skip
    rear = loft([(.560, .058, .250, .320), (.62, .082, .230, .345), (.72, .090, .235, .372), (.82, .084, .265, .395), (.90, .060, .310, .408),
                 (.955, .024, .350, .405)], 1, 16, 2.6)  # fmt: skip
    rack = tube([(.80, .052, .412), (.87, .050, .440), (.94, .040, .448), (.955, .0, .448)], .008, 6, 2)
    tail = loft([(.905, .034, .325, .362), (.945, .030, .332, .376), (.968, .014, .345, .372)], 1, 12, 3)
    flap = plate([(.875, .265), (.900, .300), (.955, .215), (.998, .135), (.985, .128), (.93, .205)], (-.034, .034), .006)
    hugger = fender(back, .132, 40, 150, .036, .006, .4)
    case = hull(((0, 0), (.05, .7), (.2, 1), (.8, 1), (.97, .7), (1, 0)), (
        (.56, .86, .0, .085),), .0, steps=1) if False else plate(rounded([(.565, .155), (.590, .095), (.830, .080), (.885, .110), (.880, .150), (.700, .180)], .030, 2), (.040, .066), .008)  # fmt: skip
    motor = together([
        revolve([(-.05, 0), (-.05, .038), (.036, .042), (.036, 0)], (.625, 0, .140), "w", 14),
        tube([(.60, 0, .150), (.535, 0, .175)], [.034, .030], 10), disc((.625, -.052, .140), .036, .008, 14),
        sides(tube([(.79, .060, .150), (.765, .066, .290)], .012, 8)),
    ])  # fmt: skip
    coil = together([revolve([(0, 0), *((.012 * i, .019 if i % 2 else .013) for i in range(9)), (.1, 0)], (.778, .064, .17), "h", 8, 20)])
    pipe = together([
        tube([(.56, .02, .13), (.565, .072, .090), (.62, .084, .075), (.69, .088, .095)], .010, 6, 2),
        tube([(.665, .089, .088), (.70, .090, .098), (.880, .092, .165), (.915, .092, .180)], [.014, .030, .034, .026], 10),
    ])  # fmt: skip
    pipe = stamp(pipe, "tail", ellipse(.092, .178, .010, count=8), None, DARK, within=(.9, 1))
    return [
        together([shield, beak]).named("cover_front"), head, light.tinted(LAMP).named("headlight_center"),
        pair("handle_{}", together([bars, lever])), pair("mirror_{}", mirror), fork.named("fork"), floor, post, seat.named("seat"),
        rear.named("cover_back"), sides(rack).named("cover_back"), tail.tinted(LAMP).named("taillight_center"), together([flap, hugger]).named("fender_back"),
        case.named("drive_chain"), together([motor, sides(coil)]).named("engine"), pipe.named("exhaust_left_s"),
        cast_wheel(front, .124, .026, .030, 5, .05).named("wheel_front"), cast_wheel(back, .124, .028, .034, 5).named("wheel_back"),
        sides(tube([(.60, .03, .10), (.63, .05, .012), (.655, .052, .004)], .006, 5)),
    ]  # fmt: skip


def dirtbike() -> list[Piece]:
    """A beak far above the front wheel, large clearance, knobbly tyres."""
    front, back = (.155, 0, .155), (.840, 0, .155)
    fork = together([
        sides(tube([(.155, .044, .155), (.225, .044, .285)], .013, 8)), sides(tube([(.225, .044, .285), (.368, .044, .552)], .0175, 8)),
        plate([(.300, .430), (.335, .412), (.343, .427), (.308, .445)], (-.058, .058)), plate([(.345, .520), (.385, .500), (.393, .515), (.353, .535)], (-.058, .058)),
        tube([(.155, -.044, .155), (.155, .044, .155)], .009, 6),
    ])  # fmt: skip
    beak = loft([(.020, .010, .376, .382), (.045, .030, .378, .394), (.12, .042, .392, .412), (.22, .044, .404, .426), (.31, .040, .400, .418),
                 (.365, .020, .375, .388)], 1, 10, 4)  # fmt: skip
    number = plate(rounded([(.268, .430), (.285, .425), (.348, .545), (.332, .556)], .008, 1), (-.052, .052), .008)
    bars = grips([(.372, .0, .555), (.372, .036, .556), (.366, .075, .572), (.385, .130, .570), (.402, .173, .566)], .0068, 3)
    pad = box((.352, .380), (-.035, .035), (.566, .5742), .006)
    guard = tube([(.350, .100, .570), (.340, .140, .562), (.362, .172, .558)], .008, 5, 2)
    tank = loft([(.355, .020, .395, .440), (.385, .044, .360, .456), (.43, .050, .345, .452), (.48, .042, .350, .436), (.52, .024, .365, .425)], 1, 14, 2.6)
    shroud = plate(rounded([(.275, .335), (.335, .300), (.470, .355), (.455, .425), (.370, .448), (.290, .405)], .016, 1), (.046, .064), .008)
    seat = loft([(.405, .014, .440, .462), (.43, .030, .428, .460), (.50, .040, .412, .448), (.62, .046, .410, .446), (.74, .046, .418, .452),
                 (.80, .036, .430, .458), (.83, .014, .440, .454)], 1, 12, 3.2)  # fmt: skip
    panels = plate(rounded([(.590, .365), (.640, .300), (.720, .305), (.860, .420), (.840, .445), (.600, .430)], .016, 1), (.040, .056), .006)
    mudguard = loft([(.74, .040, .420, .436), (.84, .044, .432, .448), (.94, .040, .452, .464), (.995, .018, .470, .478)], 1, 10, 4)
    engine = together([
        loft([(.430, .030, .185, .240), (.445, .045, .172, .262), (.54, .050, .165, .262), (.62, .044, .172, .250), (.645, .024, .19, .23)], 1, 14, 3),
        revolve([(0, 0), *((.010 + .009 * i, .030 if i % 2 else .040) for i in range(8)), (.085, .030), (.105, .028), (.105, 0)], (.495, 0, .245), "h", 10, 20)
        .turned("w", 10, (.495, 0, .245)),
        sides(disc((.555, .052, .205), .036, .008, 14)), sides(disc((.475, .050, .210), .024, .006, 12)),
    ])  # fmt: skip
    radiator = sides(box((.345, .385), (.018, .046), (.270, .345), .004)).tinted(.5)
    pipe = together([
        tube([(.460, -.020, .320), (.405, -.040, .300), (.395, -.058, .240), (.44, -.066, .200), (.56, -.066, .225), (.66, -.064, .310)], .0125, 8, 2),
        tube([(.64, -.064, .300), (.68, -.068, .325), (.86, -.072, .400), (.895, -.072, .412)], [.016, .029, .029, .020], 10),
    ])  # fmt: skip
    pipe = stamp(pipe, "tail", ellipse(-.072, .412, .012, count=8), None, DARK, within=(.85, 1))
    frame = [
        tube([(.362, 0, .530), (.335, 0, .420)], .020, 8),
        sides(tube([(.350, .012, .450), (.40, .042, .360), (.41, .046, .200), (.45, .044, .150), (.60, .044, .150)], .010, 6, 2)),
        sides(tube([(.365, .02, .480), (.50, .046, .380), (.62, .046, .300), (.63, .046, .150)], .011, 6, 2)),
        sides(tube([(.60, .040, .345), (.82, .034, .430)], .008, 5)),
        sides(tube([(.61, .046, .200), (.72, .048, .195), (.84, .048, .155)], [.016, .015, .011], 8)),
        tube([(.655, 0, .200), (.615, 0, .350)], .012, 6), revolve([(0, 0), *((.010 * i, .026 if i % 2 else .019) for i in range(9)), (.085, 0)], (.645, 0, .235), "h", 8, 20),
        tube([(.84, -.050, .155), (.84, .050, .155)], .009, 6),
    ]  # fmt: skip
    chain = together([belt((.625, .205, .020), (.840, .155, .050), -.038, .005), disc((.840, -.038, .155), .050, .003, 16), disc((.625, -.038, .205), .018, .005, 10)])
    rest = together([tube([(.585, .048, .170), (.590, .100, .168)], .007, 5), box((.578, .605), (.085, .118), (.163, .173), .003)])
    return [
        *frame, fork.named("fork"), beak.named("fender_front"), number.named("panel"), pair("handle_{}", together([bars, guard])), pad,
        tank.named("gas_tank"), sides(shroud).named("cover_front"), seat.named("seat"), together([sides(panels), mudguard]).named("cover_back"),
        engine.named("engine"), radiator, pipe.named("exhaust_right_s"), chain.named("drive_chain"), pair("footrest_{}_s", rest),
        wire_wheel(front, .155, .019, .024, 20, .12).named("wheel_front"), wire_wheel(back, .155, .025, .030, 20, .12).named("wheel_back"),
    ]  # fmt: skip


def cruiser() -> list[Piece]:
    """A fairing all round, a screen, a tail that points up."""
    front, back = (.145, 0, .140), (.827, 0, .140)
    nose = hull(((0, 0), (.03, .30), (.14, .62), (.38, .90), (.70, 1), (.95, .97), (1, .6), (1, 0)), (
        (.175, .300, .070, .215), (.140, .310, .095, .260), (.090, .318, .108, .320), (.070, .322, .110, .370),
        (.090, .325, .102, .415), (.135, .325, .085, .455), (.180, .320, .062, .480),
    ), .006, steps=1)  # fmt: skip
    nose = stamp(nose, "nose", rounded([(-.028, .335), (.028, .335), (.036, .378), (-.036, .378)], .010, 1), "headlight_center", LAMP)
    nose = stamp_pair(nose, "nose", rounded([(.042, .345), (.082, .368), (.084, .398), (.046, .384)], .008, 1), "headlight_{}", LAMP)
    nose = stamp(nose, "nose", rounded([(-.036, .285), (.036, .285), (.044, .315), (-.044, .315)], .008, 1), None, DARK)
    screen = loft([(.150, .010, .435, .462), (.175, .045, .440, .492), (.205, .062, .440, .520), (.235, .060, .445, .536), (.25, .052, .45, .530)],
                  1, 12, 2.2)  # fmt: skip
    belly = hull(((0, 0), (.03, .45), (.12, .80), (.3, .97), (.6, 1), (.85, .93), (.97, .7), (1, 0)), (
        (.34, .60, .030, .066), (.285, .625, .075, .085), (.262, .640, .110, .140), (.250, .640, .122, .220),
        (.245, .600, .118, .290), (.250, .520, .096, .345),
    ), .010, steps=1)  # fmt: skip
    belly = stamp_pair(belly, "side", rounded([(.315, .165), (.375, .150), (.400, .250), (.340, .262)], .012, 1), None, DARK)
    belly = stamp_pair(belly, "side", rounded([(.42, .135), (.50, .125), (.505, .155), (.425, .165)], .008, 1), None, DARK)
    tank = loft([(.315, .030, .345, .400), (.335, .060, .335, .438), (.39, .080, .330, .468), (.46, .080, .328, .470), (.52, .066, .328, .450),
                 (.57, .040, .330, .415), (.595, .024, .335, .395)], 1, 16, 2.5)  # fmt: skip
    cap = disc((.41, 0, .470), .016, .005, 10).turned("s", 90, (.41, 0, .470)).tinted(.8)
    seat = loft([(.560, .036, .370, .402), (.59, .060, .362, .404), (.65, .066, .366, .404), (.70, .060, .378, .416), (.735, .045, .392, .436)], 1, 12, 3)
    tail = loft([(.680, .070, .340, .392), (.74, .078, .345, .440), (.80, .070, .368, .462), (.88, .052, .405, .486), (.96, .028, .448, .508),
                 (1.0, .010, .478, .514)], 1, 14, 2.5)  # fmt: skip
    pillion = loft([(.730, .036, .425, .446), (.76, .050, .440, .468), (.85, .046, .462, .490), (.90, .026, .478, .494)], 1, 12, 3).tinted(.7)
    tail = stamp_pair(tail, "tail", rounded([(.006, .432), (.050, .412), (.044, .452), (.006, .466)], .004, 1), "taillight_{}", LAMP)
    hanger = plate([(.880, .400), (.915, .415), (.965, .270), (.950, .265)], (-.022, .022), .004)
    number = plate([(.944, .255), (.958, .258), (.942, .325), (.930, .322)], (-.045, .045))
    panel = plate(rounded([(.232, .450), (.270, .440), (.290, .462), (.252, .486)], .006, 1), (-.042, .042), .006).tinted(.6)
    bars = grips([(.300, .045, .452), (.312, .085, .455), (.340, .120, .440), (.370, .146, .425)], .0075, 1)
    mirror = together([
        loft([(.205, .010, .512, .524), (.222, .028, .502, .534), (.236, .028, .502, .534)], 1, 10, 3).moved(w=.138),
        tube([(.225, .085, .440), (.222, .120, .490), (.225, .132, .512)], .005, 5, 2),
    ])  # fmt: skip
    fork = together([sides(tube([(.145, .055, .140), (.225, .055, .300)], .015, 8)), sides(tube([(.225, .055, .300), (.305, .055, .455)], .011, 8)),
                     tube([(.145, -.055, .140), (.145, .055, .140)], .009, 6), sides(box((.155, .195), (.040, .056), (.150, .205), .006))])  # fmt: skip
    pipe = together([
        tube([(.60, .060, .130), (.68, .085, .180), (.715, .100, .255)], .012, 7, 2),
        tube([(.690, .098, .240), (.715, .103, .262), (.930, .115, .335), (.975, .117, .350)], [.018, .034, .034, .026], 12),
    ])  # fmt: skip
    pipe = stamp(pipe, "tail", ellipse(.117, .348, .015, count=10), None, DARK, within=(.93, 1))
    frame = [
        sides(tube([(.31, .030, .420), (.42, .085, .330), (.56, .086, .280), (.63, .070, .190)], .016, 6, 2, flat=1.0)),
        sides(tube([(.620, .060, .190), (.72, .066, .165), (.827, .060, .140)], [.022, .020, .014], 8)),
        sides(tube([(.60, .040, .300), (.72, .05, .355), (.86, .03, .43)], .010, 6, 2)),
        loft([(.50, .06, .12, .30), (.54, .07, .11, .33), (.62, .06, .12, .32), (.66, .03, .14, .28)], 1, 10, 4).tinted(.6),
        tube([(.827, -.066, .140), (.827, .066, .140)], .011, 8), tube([(.66, 0, .20), (.64, 0, .34)], .022, 8),
    ]  # fmt: skip
    chain = together([belt((.625, .175, .020), (.827, .140, .050), -.064, .006), disc((.827, -.064, .140), .050, .003, 16), disc((.625, -.064, .175), .020, .005, 10)])
    rest = together([plate([(.600, .225), (.640, .270), (.670, .250), (.640, .200)], (.070, .078)), tube([(.635, .074, .212), (.640, .122, .210)], .008, 6)])
    hugger = fender(back, .148, 60, 160, .046, .006, .3)
    mud = together([fender(front, .148, 25, 170, .042, .006, .45), sides(plate([(.130, .140), (.165, .140), (.180, .270), (.110, .270)], (.040, .046)))])
    return [
        *frame, nose_named(nose), screen.tinted(GLASS).named("windscreen"), belly, together([tank, cap]).named("gas_tank"), seat.named("seat"),
        named_rest(tail, "cover_back"), pillion, hanger.tinted(.7), number.named("license_plate"), panel.named("panel"), pair("handle_{}", bars),
        pair("mirror_{}", mirror), fork.named("fork"), pair("exhaust_{}_s", pipe), chain.named("drive_chain"), pair("footrest_{}_s", rest),
        hugger.named("fender_back"), mud.named("fender_front"),
        cast_wheel(front, .140, .024, .034, 3, .085).named("wheel_front"), cast_wheel(back, .140, .028, .046, 3, .06).named("wheel_back"),
    ]  # fmt: skip


def named_rest(piece: Piece, part: str) -> Piece:
    """A piece of which the rest is a part too."""
    return Piece(piece.corners, piece.normals, np.where(piece.part == "", part, piece.part), piece.tint, piece.face)


def nose_named(piece: Piece) -> Piece:
    return named_rest(piece, "cover_front")
