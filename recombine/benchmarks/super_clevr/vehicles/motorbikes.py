"""The four motorbikes.

Numbers are shares of the length: s from the nose back, w from the middle to the left, h from the ground up.
"""

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
        tyre(at, radius, high, wide, 26), ring(at, inner + .15 * high, .45 * high, .7 * wide, 26, 4),
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
        tyre(at, radius, high, wide, 28, knobs=knobs), ring(at, inner + .1 * high, .3 * high, .65 * wide, 28, 4),
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
        fins = [(.025, .0)] + [(.025 + .013 * i + d, r) for i in range(7) for d, r in ((0, .040), (.007, .040), (.007, .032), (.013, .032))]
        fins += [(.122, .036), (.134, .030), (.134, 0)]
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
