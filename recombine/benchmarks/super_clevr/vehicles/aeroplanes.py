"""The four aeroplanes: a fuselage, wings and what hangs on them.

Numbers are shares of the length: s from the nose back, w from the middle to the left, h from the ground up. Outlines
from the side are (s, h), from above (s, w), from the nose and from the tail (w, h).
"""

from recombine.render.kit import (
    GLASS,
    HOLE,
    RUBBER,
    SEAM,
    Piece,
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

DOOR = 0.78
"""The tint of a door, which lies in the line of the fuselage."""


def gear(s: float, w: float, radius: float, wide: float, top: float, apart: float = 0.0) -> tuple[Piece, Piece]:
    """A wheel on the ground, or two side by side, and the leg that reaches up from it."""
    at = [(s, w + side * apart, radius) for side in ((-1, 1) if apart else (0,))]
    tyres = [disc(place, radius, wide, 12).tinted(RUBBER) for place in at]
    hubs = [disc(place, 0.5 * radius, 1.15 * wide, 8, 0) for place in at]
    return together([*tyres, *hubs]), tube([(s, w, radius), (s, w, top)], 0.3 * radius, 5)


def hinged(wings: Piece, inner: tuple[float, float], outer: tuple[float, float]) -> Piece:
    """Wings with the line of a flap on their upper side, from (s, w) to (s, w)."""
    (s, w), (t, v), thin = inner, outer, 0.0045
    return stamp(wings, "top", [(s, w), (s + thin, w), (t + thin, v), (t, v)], None, SEAM)


def propeller(at: tuple[float, float, float], radius: float, blades: int, start: float, wide: float) -> Piece:
    """Thin, twisted blades about an axis along s."""
    s, w, h = at
    stations = ((0.15, 0.009, 0.5), (0.55, 0.005, 1.0), (0.85, 0.003, 0.85), (1.0, 0.002, 0.4))
    blade = wing([
        ((s - turn, w - share * wide / 2, h + far * radius), (s + turn, w + share * wide / 2, h + far * radius), 0.006)
        for far, turn, share in stations
    ])  # fmt: skip
    return together(blade.turned("s", start + 360 * i / blades, at) for i in range(blades))


# --- aeroplanes ---------------------------------------------------------------------------------------------------
# fmt: off


def airliner() -> list[Piece]:
    """Swept wings with a pod under each, and one tall fin."""
    body = loft([
        (0, .002, .066, .070), (.006, .014, .052, .083), (.03, .030, .038, .102), (.07, .043, .031, .121),
        (.13, .050, .030, .130), (.68, .050, .031, .130), (.80, .040, .052, .130), (.90, .025, .083, .131),
        (.97, .012, .108, .131), (1.0, .005, .120, .129),
    ], 20, crease=60)
    for s in (.098, .735):
        body = stamp_pair(body, "side", rectangle(s, s + .020, .070, .110), "door_{}_s", DOOR)
    for start, stop in row(18, .135, .720, .019):
        body = stamp_pair(body, "side", rectangle(start, stop, .088, .099), None, GLASS)
    body = stamp(body, "nose", [(-.034, .093), (.034, .093), (.026, .110), (-.026, .110)], "", GLASS, within=(0, .1))
    belly = loft([
        (.40, .030, .030, .045), (.44, .048, .022, .060), (.60, .048, .022, .060), (.66, .030, .030, .045),
    ], 12)
    main = wing([
        ((.425, .045, .048), (.635, .045, .048), .022), ((.500, .17, .060), (.640, .17, .060), .014),
        ((.585, .435, .088), (.640, .435, .088), .007),
    ])
    main = hinged(hinged(main, (.610, .06), (.614, .165)), (.615, .175), (.626, .400))
    tip = wing([((.600, .436, .088), (.640, .436, .088), .006), ((.632, .444, .118), (.652, .444, .118), .004)])
    tail = wing([((.865, .015, .122), (.955, .015, .122), .010), ((.955, .190, .140), (.998, .190, .140), .005)])
    fin = wing([
        ((.775, 0, .122), (.950, 0, .122), .016), ((.830, 0, .160), (.955, 0, .160), .013),
        ((.945, 0, .323), (1.0, 0, .323), .006),
    ])
    fin = stamp_pair(fin, "side", [(.915, .145), (.919, .145), (.985, .318), (.981, .318)], None, SEAM)
    pod = revolve([
        (.045, 0), (.045, .018), (.020, .022), (.006, .0245), (0, .027), (.004, .0295), (.05, .030), (.10, .026),
        (.15, .016), (.15, .012), (.175, 0),
    ], (.310, .145, .040), "s", 16)
    fan = revolve([(-.006, 0), (.004, .010), (.004, .0258), (.030, .0225), (.030, 0)], (.310, .145, .040), "s", 14)
    nose_wheel, nose_leg = gear(.12, 0, .022, .008, .04, .011)
    main_wheel, main_leg = zip(*(gear(s, .084, .022, .009, .05, .013) for s in (.438, .483)))
    return [
        body, belly,
        pair("wing_{}", together([main, tip])),
        pair("tailplane_{}", tail),
        fin.named("fin"),
        pair("engine_{}", pod),
        sides(fan).named("propeller").tinted(.6),
        sides(plate([(.345, .066), (.46, .062), (.48, .045), (.37, .062)], (.142, .148))),
        nose_wheel.named("wheel_front"), nose_leg,
        pair("wheel_back_{}", together(main_wheel)), sides(together(main_leg)),
    ]


def jet() -> list[Piece]:
    """Long, straight wings with a propeller on each."""
    body = loft([
        (0, .002, .120, .128), (.008, .024, .100, .150), (.035, .044, .083, .174), (.08, .058, .074, .192),
        (.14, .064, .071, .199), (.66, .062, .073, .199), (.80, .046, .096, .196), (.92, .024, .122, .184),
        (1.0, .006, .140, .166),
    ], 20, crease=60)
    for s in (.115, .620):
        body = stamp(body, "left", rectangle(s, s + .036, .103, .175, .006, 1), "door_left_s", DOOR)
    for start, stop in row(9, .185, .590, .022):
        body = stamp_pair(body, "side", rectangle(start, stop, .140, .166, .006, 1), None, GLASS)
    pane = rounded([(.044, .148), (.003, .148), (.003, .176), (.036, .174)], .004, 1)
    body = stamp_pair(body, "nose", pane, "", GLASS, within=(0, .1))
    main = wing([
        ((.355, .05, .088), (.545, .05, .088), .034), ((.358, .30, .113), (.520, .30, .113), .024),
        ((.370, .60, .155), (.450, .60, .155), .012), ((.385, .622, .158), (.440, .622, .158), .007),
    ])
    main = hinged(hinged(main, (.508, .08), (.486, .29)), (.482, .31), (.424, .59))
    tail = wing([
        ((.855, .03, .160), (.975, .03, .160), .016), ((.880, .225, .190), (.960, .225, .190), .009),
        ((.892, .238, .192), (.950, .238, .192), .006),
    ])
    fin = wing([
        ((.55, 0, .185), (.970, 0, .165), .020), ((.70, 0, .212), (.970, 0, .212), .018),
        ((.800, 0, .255), (.972, 0, .255), .015), ((.868, 0, .355), (.965, 0, .355), .009),
        ((.885, 0, .370), (.950, 0, .370), .006),
    ])
    fin = stamp_pair(fin, "side", rectangle(.920, .924, .205, .362), None, SEAM)
    pod = loft([
        (.215, .014, .092, .120), (.225, .022, .084, .128), (.26, .030, .074, .136), (.36, .030, .072, .136),
        (.45, .020, .085, .125), (.52, .004, .100, .110),
    ], 14).moved(w=.17)
    pod = stamp(pod, "nose", ellipse(.17, .083, .011, .007, 8), None, HOLE, within=(0, .3))
    spinner = revolve([(-.036, 0), (-.028, .008), (-.012, .014), (.004, .015), (.004, 0)], (.222, .17, .106), "s", 10)
    nose_wheel, nose_leg = gear(.14, 0, .028, .010, .09)
    main_wheel, main_leg = gear(.41, .17, .031, .009, .09, .013)
    return [
        body,
        pair("wing_{}", main),
        pair("tailplane_{}", tail),
        fin.named("fin"),
        pair("engine_{}", pod),
        sides(together([propeller((.214, .17, .106), .088, 3, 30, .026), spinner])).named("propeller"),
        nose_wheel.named("wheel_front"), nose_leg,
        pair("wheel_back_{}", main_wheel), sides(main_leg),
    ]


def fighter() -> list[Piece]:
    """An arrow: wings swept forward, canards, two fins that lean out, flat behind."""
    body = loft([
        (0, .001, .072, .074), (.02, .006, .066, .080), (.08, .015, .056, .092), (.16, .026, .046, .104),
        (.24, .036, .038, .108), (.34, .046, .032, .108), (.45, .062, .026, .102), (.55, .085, .022, .092),
        (.70, .100, .022, .086), (.85, .090, .030, .078), (.96, .060, .044, .066), (1.0, .050, .050, .060),
    ], 18, 2.3, crease=50)
    canopy = loft([
        (.150, .004, .090, .097), (.175, .016, .090, .112), (.22, .024, .090, .128), (.27, .025, .090, .131),
        (.33, .021, .090, .124), (.40, .014, .090, .112), (.47, .005, .090, .100),
    ], 14)
    for start, stop in ((.15, .222), (.230, .335)):
        canopy = stamp(canopy, "across", rectangle(start, stop, .098, .2), None, GLASS)
    canard = wing([((.290, .035, .082), (.415, .035, .082), .010), ((.420, .165, .090), (.462, .165, .090), .004)])
    main = wing([((.600, .080, .062), (.880, .080, .062), .020), ((.545, .420, .070), (.635, .420, .070), .006)])
    main = hinged(hinged(main, (.815, .11), (.720, .25)), (.715, .26), (.620, .40))
    tail = wing([((.850, .080, .040), (1.0, .080, .040), .010), ((.915, .215, .030), (.995, .215, .030), .004)])
    fin = wing([((.800, .095, .078), (.980, .095, .078), .012), ((.915, .150, .210), (.998, .150, .210), .005)])
    fin = stamp_pair(fin, "side", [(.938, .092), (.943, .092), (.978, .198), (.973, .198)], None, SEAM)
    engine = loft([
        (.555, .026, .016, .060, 4), (.60, .034, .010, .070, 3), (.80, .036, .008, .076), (.92, .034, .010, .074),
        (.98, .028, .016, .066),
    ], 14).moved(w=.085)
    engine = stamp(engine, "tail", ellipse(.085, .041, .024, .021, 12), None, HOLE, .02)
    inlet = loft([(.41, .022, .020, .062), (.415, .024, .018, .064), (.56, .034, .012, .066, 3)], 12, 5).moved(w=.066)
    inlet = stamp(inlet, "nose", rectangle(.048, .084, .024, .058, .006, 1), None, HOLE, .02)
    missile = together([
        revolve([(0, 0), (.02, .007), (.05, .009), (.19, .009), (.20, .006), (.20, 0)], (.600, .215, .030), "s", 8),
        box((.775, .795), (.194, .236), (.0285, .0315)), box((.775, .795), (.2135, .2165), (.009, .051)),
        plate([(.66, .036), (.74, .036), (.76, .064), (.66, .064)], (.2125, .2175)),
    ])
    return [
        body, canopy,
        pair("wing_{}", main),
        pair("tailplane_{}", tail),
        sides(fin).named("fin"),
        pair("engine_{}", together([engine, inlet])),
        sides(canard), sides(missile),
        *gear(.27, 0, .016, .006, .05), *(sides(piece) for piece in gear(.66, .07, .018, .007, .05)),
    ]


ROLL = 9.4
"""Degrees by which the biplane banks, as it is measured: its left wings are up."""


def biplane() -> list[Piece]:
    """Two wings, one above the other, and a propeller in front; it stands on one wheel, in a bank."""
    def plane(half: float, h: float, s: float) -> Piece:
        tip = ((0, 0, .280, .026), (half - .10, 0, .280, .024), (half - .045, .012, .272, .020),
               (half - .012, .05, .240, .014), (half, .10, .190, .008))
        return wing([((s + lead, w, h), (s + trail, w, h), thick) for w, lead, trail, thick in tip])
    body = loft([
        (.035, .040, .175, .255), (.045, .054, .160, .270), (.10, .060, .155, .275), (.34, .058, .155, .275),
        (.50, .048, .165, .268), (.70, .030, .188, .252), (.88, .016, .206, .240), (.97, .006, .214, .232),
    ], 18, 2.4, crease=50)
    for s, long in ((.415, .042), (.545, .038)):
        body = stamp(body, "top", ellipse(s, 0, long, .7 * long, 12), None, HOLE, .02)
    shields = [plate([(s, .262), (s + .005, .260), (s + .022, .292), (s + .017, .294)], (-.024, .024)).tinted(GLASS)
               for s in (.345, .480)]
    cowl = revolve([(0, 0), (0, .030), (-.006, .050), (.004, .062), (.05, .068), (.085, .064), (.085, 0)],
                   (.035, 0, .215), "s", 18)
    cylinder = tube([(.030, 0, .235), (.030, 0, .262)], .010, 6).tinted(SEAM)
    engine = [cylinder.turned("s", 360 * i / 7, (.03, 0, .215)) for i in range(7)]
    spinner = revolve([(-.012, 0), (-.008, .012), (.006, .018), (.03, .018), (.03, 0)], (.012, 0, .215), "s", 10)
    upper, lower = plane(.605, .360, .20), plane(.45, .150, .22)
    upper = hinged(upper, (.425, .30), (.425, .54))
    struts = [tube([(s, .34, .150), (s - .02, .38, .360)], .006, 5) for s in (.26, .44)]
    struts += [tube([(s, .045, .262), (s - .015, .055, .355)], .005, 5) for s in (.25, .38)]
    struts += [tube([(.35, .07, .165), (.34, .375, .350)], .0022, 3)]
    struts += [tube([(.34, .34, .165), (.35, .07, .350)], .0022, 3)]
    struts += [tube([(s, .045, .170), (.28, .092, .060)], .006, 5) for s in (.23, .36)]
    tail = wing([
        ((.805, 0, .230), (.985, 0, .230), .012), ((.815, .13, .230), (.985, .13, .230), .010),
        ((.850, .205, .230), (.97, .205, .230), .007), ((.88, .228, .230), (.945, .228, .230), .005),
    ])
    fin = wing([
        ((.820, 0, .225), (.990, 0, .215), .010), ((.845, 0, .290), (1.0, 0, .280), .009),
        ((.885, 0, .345), (.995, 0, .340), .007), ((.915, 0, .365), (.965, 0, .365), .004),
    ])
    wheel = together([disc((.28, .100, .055), .054, .014, 16).tinted(RUBBER), disc((.28, .104, .055), .036, .013, 12)])
    pieces = [
        body, *shields, cowl, *engine,
        together([propeller((.012, 0, .215), .150, 2, 35, .040), spinner]).named("propeller"),
        pair("wing_{}", together([upper, lower])),
        pair("tailplane_{}", hinged(tail, (.915, .02), (.915, .20))),
        stamp_pair(fin, "side", rectangle(.925, .929, .235, .350), None, SEAM).named("fin"),
        sides(wheel).named("wheel_front"),
        sides(together(struts)),
        tube([(.28, -.095, .055), (.28, .095, .055)], .005, 5),
        tube([(.93, 0, .215), (.97, 0, .175)], .006, 5),
    ]
    return [piece.turned("s", ROLL, (0, 0, .215)) for piece in pieces]
