"""The four aeroplanes: a fuselage, wings and what hangs on them.

Numbers are shares of the length: s from the nose back, w from the middle to the left, h from the ground up.
"""

from collections.abc import Sequence

from recombine.render.kit import (
    Piece,
    ball,
    box,
    disc,
    ellipse,
    loft,
    pair,
    plate,
    rectangle,
    revolve,
    rounded,
    row,
    sides,
    stamp,
    stamp_pair,
    together,
    tube,
    wing,
)

GLASS, TYRE, DARK = 0.36, 0.42, 0.25
"""Tints: of windows, of tyres, of holes."""


def gear(at: tuple[float, float, float], radius: float, wide: float, leg: float, apart: float = 0.0) -> tuple[Piece, Piece]:
    """A wheel, or two side by side, and the leg above it that reaches up to some height."""
    s, w, h = at
    wheels = [disc((s, w + side * apart, h), radius, wide, 12) for side in ((-1, 1) if apart else (0,))]
    hubs = [disc((s, w + side * apart, h), .5 * radius, 1.15 * wide, 8).tinted(1.0) for side in ((-1, 1) if apart else (0,))]
    return together([*(x.tinted(TYRE) for x in wheels), *hubs]), tube([(s, w, h), (s, w, leg)], .3 * radius, 5)


def airliner() -> list[Piece]:
    """Swept wings with a pod under each, and one tall fin."""
    body = loft([
        (0, .002, .066, .070), (.006, .014, .052, .083), (.03, .030, .038, .102), (.07, .043, .031, .121),
        (.13, .050, .030, .130), (.30, .050, .030, .130), (.52, .050, .030, .130), (.68, .050, .031, .130),
        (.80, .040, .052, .130), (.90, .025, .083, .131), (.97, .012, .108, .131), (1.0, .005, .120, .129),
    ], 1, 20, crease=60)  # fmt: skip
    body = stamp_pair(body, "side", rectangle(.098, .116, .072, .108), "door_{}_s", .80)
    body = stamp_pair(body, "side", rectangle(.735, .753, .072, .106), "door_{}_s", .80)
    for start, stop in row(19, .135, .720, .018):
        body = stamp_pair(body, "side", rectangle(start, stop, .088, .099), None, GLASS)
    body = stamp(body, "nose", [(-.034, .093), (.034, .093), (.026, .110), (-.026, .110)], "", GLASS, within=(0, .1))
    belly = loft([(.40, .030, .030, .045), (.44, .048, .022, .06), (.60, .048, .022, .06), (.66, .030, .030, .045)], 2, 12)
    main = wing([((.425, .045, .048), (.635, .045, .048), .022), ((.500, .17, .060), (.640, .17, .060), .014),
                 ((.585, .435, .088), (.640, .435, .088), .007)])  # fmt: skip
    tip = wing([((.600, .436, .088), (.640, .436, .088), .006), ((.632, .444, .118), (.652, .444, .118), .004)])
    tail = wing([((.865, .015, .122), (.955, .015, .122), .010), ((.955, .190, .140), (.998, .190, .140), .005)])
    fin = wing([((.775, 0, .122), (.950, 0, .122), .016), ((.830, 0, .160), (.955, 0, .160), .013),
                ((.945, 0, .323), (1.0, 0, .323), .006)])  # fmt: skip
    pod = revolve([(.045, .0), (.045, .018), (.020, .022), (.006, .0245), (.0, .027), (.004, .0295), (.05, .030),
                   (.10, .026), (.15, .016), (.15, .012), (.175, .0)], (.310, .145, .040), "s", 16)  # fmt: skip
    hole = pod.corners[..., 0].max(axis=1) - pod.corners[..., 0].min(axis=1)
    fan = revolve([(.006, .0), (.020, .007), (.022, .0235), (.030, .0235), (.030, 0)], (.310, .145, .040), "s", 16)
    pylon = plate([(.345, .066), (.46, .062), (.48, .045), (.37, .062)], (.142, .148))
    nose_wheel, nose_leg = gear((.12, 0, .014), .014, .005, .04, .006)
    main_wheel, main_leg = gear((.51, .090, .017), .017, .006, .05, .008)
    return [
        body, belly, pair("wing_{}", together([main, tip])), pair("tailplane_{}", tail), fin.named("fin"),
        pair("engine_{}", pod), sides(fan).named("propeller").tinted(.6), sides(pylon),
        nose_wheel.named("wheel_front"), nose_leg, pair("wheel_back_{}", main_wheel), sides(main_leg),
    ]  # fmt: skip


def propeller(at: tuple[float, float, float], radius: float, blades: int, start: float, wide: float) -> Piece:
    """Thin blades about an axis along s, and the cone in their middle."""
    s, w, h = at
    blade = wing([((s - .006, w, h + .2 * radius), (s + .006, w + .6 * wide, h + .2 * radius), .006),
                  ((s - .004, w - .3 * wide, h + .6 * radius), (s + .004, w + .7 * wide, h + .6 * radius), .005),
                  ((s - .002, w - .3 * wide, h + radius), (s + .002, w + .3 * wide, h + radius), .003)])  # fmt: skip
    return together([blade.turned("s", start + 360 * i / blades, at) for i in range(blades)])


def jet() -> list[Piece]:
    """Long, straight wings with a propeller on each."""
    body = loft([
        (0, .002, .120, .128), (.008, .024, .100, .150), (.035, .044, .083, .174), (.08, .058, .074, .192),
        (.14, .064, .071, .199), (.30, .064, .071, .199), (.50, .064, .071, .199), (.66, .062, .073, .199),
        (.80, .046, .096, .196), (.92, .024, .122, .184), (1.0, .006, .140, .166),
    ], 1, 20, crease=60)  # fmt: skip
    body = stamp(body, "left", rectangle(.620, .655, .105, .170, .006, 1), "door_left_s", .80)
    body = stamp(body, "left", rectangle(.115, .145, .110, .172, .006, 1), "door_left_s", .80)
    for start, stop in row(9, .185, .590, .022):
        body = stamp_pair(body, "side", rectangle(start, stop, .140, .166, .006, 1), None, GLASS)
    body = stamp(body, "nose", rounded([(-.044, .148), (-.003, .148), (-.003, .176), (-.036, .174)], .004, 1), "", GLASS, within=(0, .1))
    body = stamp(body, "nose", rounded([(.044, .148), (.003, .148), (.003, .176), (.036, .174)], .004, 1), "", GLASS, within=(0, .1))
    main = wing([((.355, .05, .088), (.545, .05, .088), .034), ((.358, .30, .113), (.520, .30, .113), .024),
                 ((.370, .60, .155), (.450, .60, .155), .012), ((.385, .622, .158), (.440, .622, .158), .007)])  # fmt: skip
    tail = wing([((.855, .03, .160), (.975, .03, .160), .016), ((.880, .225, .190), (.960, .225, .190), .009),
                 ((.892, .238, .192), (.950, .238, .192), .006)])  # fmt: skip
    fin = wing([((.55, 0, .185), (.970, 0, .165), .020), ((.70, 0, .212), (.970, 0, .212), .018), ((.800, 0, .255), (.972, 0, .255), .015),
                ((.868, 0, .355), (.965, 0, .355), .009), ((.885, 0, .370), (.950, 0, .370), .006)])  # fmt: skip
    pod = loft([(.215, .014, .092, .120), (.225, .022, .084, .128), (.26, .030, .074, .136), (.36, .030, .072, .136),
                (.45, .020, .085, .125), (.52, .004, .100, .110)], 1, 14).moved(w=.17)  # fmt: skip
    intake = ellipse(.17, .083, .011, .007, 10)
    pod = stamp(pod, "nose", intake, None, DARK, within=(0, .3))
    blades = propeller((.228, .17, .106), .085, 3, 30, .018)
    spinner = revolve([(-.036, .0), (-.028, .008), (-.012, .014), (.004, .015), (.004, .0)], (.222, .17, .106), "s", 10)
    nose_wheel, nose_leg = gear((.14, 0, .026), .026, .009, .09)
    main_wheel, main_leg = gear((.41, .17, .030), .030, .009, .09, .013)
    return [
        body, pair("wing_{}", main), pair("tailplane_{}", tail), fin.named("fin"), pair("engine_{}", pod),
        sides(together([blades, spinner])).named("propeller"),
        nose_wheel.named("wheel_front"), nose_leg, pair("wheel_back_{}", main_wheel), sides(main_leg),
    ]  # fmt: skip


def fighter() -> list[Piece]:
    """An arrow: wings swept forward, canards, two fins that lean out, flat behind."""
    body = loft([
        (0, .001, .072, .074), (.02, .006, .066, .080), (.08, .015, .056, .092), (.16, .026, .046, .104),
        (.24, .036, .038, .108), (.34, .046, .032, .108), (.45, .062, .026, .102), (.55, .085, .022, .092),
        (.70, .100, .022, .086), (.85, .090, .030, .078), (.96, .060, .044, .066), (1.0, .050, .050, .060),
    ], 1, 18, 2.3, crease=50)  # fmt: skip
    canopy = loft([(.150, .004, .090, .097), (.175, .016, .090, .112), (.22, .024, .090, .128), (.27, .025, .090, .131),
                   (.33, .021, .090, .124), (.40, .014, .090, .112), (.47, .005, .090, .100)], 1, 14)  # fmt: skip
    canopy = stamp(canopy, "across", rectangle(.15, .222, .098, .2), None, GLASS)
    canopy = stamp(canopy, "across", rectangle(.230, .335, .098, .2), None, GLASS)
    canard = wing([((.290, .035, .082), (.415, .035, .082), .010), ((.420, .165, .090), (.462, .165, .090), .004)])
    main = wing([((.600, .080, .062), (.880, .080, .062), .020), ((.545, .420, .070), (.635, .420, .070), .006)])
    tail = wing([((.850, .080, .040), (1.0, .080, .040), .010), ((.915, .215, .030), (.995, .215, .030), .004)])
    fin = wing([((.800, .095, .078), (.980, .095, .078), .012), ((.915, .150, .210), (.998, .150, .210), .005)])
    engine = loft([(.555, .026, .016, .060, 4), (.60, .034, .010, .070, 3), (.80, .036, .008, .076), (.92, .034, .010, .074),
                   (.98, .028, .016, .066)], 1, 14).moved(w=.085)  # fmt: skip
    engine = stamp(engine, "tail", ellipse(.085, .041, .024, .021, 12), None, DARK, .02)
    inlet = loft([(.41, .022, .020, .062, 5), (.415, .024, .018, .064, 5), (.56, .034, .012, .066, 3)], 1, 12).moved(w=.066)
    inlet = stamp(inlet, "nose", rectangle(.048, .084, .024, .058, .006, 1), None, DARK, .02)
    missile = together([
        revolve([(0, .0), (.02, .007), (.05, .009), (.19, .009), (.20, .006), (.20, 0)], (.600, .215, .030), "s", 8),
        box((.775, .795), (.194, .236), (.0285, .0315)), box((.775, .795), (.2135, .2165), (.009, .051)),
        plate([(.66, .036), (.74, .036), (.76, .064), (.66, .064)], (.2125, .2175)),
    ])
    leg = together([disc((.27, 0, .016), .016, .006, 12).tinted(TYRE), tube([(.27, 0, .016), (.27, 0, .05)], .004, 4)])
    back = together([disc((.66, .07, .018), .018, .007, 12).tinted(TYRE), tube([(.66, .07, .016), (.66, .07, .05)], .005, 4)])
    return [
        body, canopy, pair("wing_{}", main), pair("tailplane_{}", tail), sides(fin).named("fin"),
        pair("engine_{}", together([engine, inlet])), sides(canard), sides(missile), leg, sides(back),
    ]  # fmt: skip


ROLL = 9.4
"""Degrees by which the biplane is banked: its left wings are up."""


def biplane() -> list[Piece]:
    """Two wings, one above the other, and a propeller in front; in a bank, on one wheel."""
    body = loft([
        (.035, .040, .175, .255), (.045, .054, .160, .270), (.10, .060, .155, .275), (.20, .060, .155, .276), (.34, .058, .155, .275),
        (.50, .048, .165, .268), (.70, .030, .188, .252), (.88, .016, .206, .240), (.97, .006, .214, .232),
    ], 1, 18, 2.4, crease=50)  # fmt: skip
    body = stamp(body, "top", ellipse(.415, 0, .042, .030, 14), None, DARK, .02)
    body = stamp(body, "top", ellipse(.545, 0, .038, .026, 14), None, DARK, .02)
    cowl = revolve([(.0, .0), (.0, .030), (-.006, .050), (.004, .062), (.05, .068), (.085, .064), (.085, 0)], (.035, 0, .215), "s", 18)
    cylinders = [tube([(.03, 0, .235), (.03, 0, .262)], .010, 6).turned("s", 60 * i, (.03, 0, .215)).tinted(.45) for i in range(6)]
    blades = propeller((.012, 0, .215), .150, 2, 35, .030)
    spinner = revolve([(-.012, .0), (-.008, .012), (.006, .018), (.03, .018), (.03, 0)], (.012, 0, .215), "s", 10)
    def plane(half, h, lead):
        return wing([((lead, 0, h), (lead + .28, 0, h), .026), ((lead, half - .10, h), (lead + .28, half - .10, h), .024),
                     ((lead + .012, half - .045, h), (lead + .272, half - .045, h), .020), ((lead + .05, half - .012, h), (lead + .24, half - .012, h), .014),
                     ((lead + .10, half, h), (lead + .19, half, h), .008)])  # fmt: skip
    wings = together([plane(.605, .360, .20), plane(.45, .150, .22)])
    struts = [tube([(s, w, .150), (s - .02, w + .04, .360)], .006, 5, flat=1) for s in (.26, .44) for w in (.34,)]
    cabane = [tube([(s, .045, .262), (s - .015, .055, .355)], .005, 5) for s in (.25, .38)]
    brace = [tube([(.35, .07, .165), (.34, .375, .350)], .0022, 3), tube([(.34, .34, .165), (.35, .07, .350)], .0022, 3)]
    tail = wing([((.805, .0, .230), (.985, .0, .230), .012), ((.815, .13, .230), (.985, .13, .230), .010),
                 ((.850, .205, .230), (.97, .205, .230), .007), ((.88, .228, .230), (.945, .228, .230), .005)])  # fmt: skip
    fin = wing([((.820, 0, .225), (.990, 0, .215), .010), ((.845, 0, .290), (1.0, 0, .280), .009), ((.885, 0, .345), (.995, 0, .340), .007),
                ((.915, 0, .365), (.965, 0, .365), .004)])  # fmt: skip
    wheel = together([disc((.28, .100, .055), .052, .013, 16).tinted(TYRE), disc((.28, .104, .055), .036, .013, 12)])
    legs = [tube([(s, .045, .170), (.28, .092, .060)], .006, 5) for s in (.23, .36)]
    axle = tube([(.28, -.095, .055), (.28, .095, .055)], .005, 5)
    skid = tube([(.93, 0, .215), (.97, 0, .175)], .006, 5)
    whole = [
        body, cowl, *cylinders, together([blades, spinner]).named("propeller"), pair("wing_{}", wings), sides(together([*struts, *cabane, *brace])),
        pair("tailplane_{}", tail), fin.named("fin"), sides(wheel).named("wheel_front"), sides(together(legs)), axle, skid,
    ]  # fmt: skip
    return [piece.turned("s", ROLL, (0, 0, .215)) for piece in whole]
