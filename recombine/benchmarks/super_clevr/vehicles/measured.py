"""What is known of the vehicles of Super-CLEVR: their kinds, their boxes and their parts. Our models keep to these.

Lengths are in units of the diagonal of a vehicle's box. Parts are numbered by their places in these lists.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Measured:
    """A vehicle: its box, how high its origin stands above the ground, and its parts."""

    box: tuple[float, float, float]
    """Length, width and height, with mirrors and handlebars."""
    ground: float
    parts: tuple[str, ...]
    ahead: float = 0.0
    """How far the middle of the box, where our models have their origin, is ahead of the origin of published scenes,"""
    right: float = 0.0
    """and how far to its right."""


TAXONOMY = {
    "car": ("suv", "wagon", "minivan", "sedan", "truck"),
    "bus": ("articulated", "regular", "double", "school"),
    "motorbike": ("chopper", "dirtbike", "scooter", "cruiser"),
    "aeroplane": ("jet", "fighter", "biplane", "airliner"),
    "bicycle": ("road", "utility", "mountain", "tandem"),
}
"""The kinds of each category."""

FACELESS = {"chopper": ("windscreen", "panel"), "scooter": ("panel",)}
"""Parts that are listed and have no surface in the published models, nor in ours."""


def _parts(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_CAR = _parts("""
    front_left_door left_tail_light left_head_light back_left_door back_right_wheel right_head_light front_bumper
    right_mirror front_license_plate front_right_wheel back_bumper left_mirror back_left_wheel right_tail_light hood
    trunk front_left_wheel back_right_door roof front_right_door back_license_plate""")
_BICYCLE = _parts("""
    handle_left brake_system wheel_front pedal_left handle_right wheel_back saddle fork crank_arm_right drive_chain
    crank_arm_left pedal_right""")


def _without(parts: tuple[str, ...], *missing: str) -> tuple[str, ...]:
    return tuple(part for part in parts if part not in missing)


MEASURED = {
    "suv": Measured(
        (.8736, .3646, .3224), .1253, _without(_CAR, "front_license_plate", "back_license_plate"), ahead=-.01,
    ),
    "wagon": Measured((.8872, .3790, .2630), .0968, _CAR, ahead=-.04),
    "minivan": Measured((.8603, .3782, .3419), .1623, _CAR, ahead=-.017),
    "sedan": Measured((.8964, .3528, .2685), .1151, _CAR, ahead=-.087),
    "truck": Measured(
        (.8906, .3554, .2837), .1179, _without(_CAR, "back_left_door", "back_right_door", "back_license_plate"),
        ahead=-.068, right=.008,
    ),
    "articulated": Measured((.9718, .1729, .1603), .0503, _parts("""
        tail_light_left license_plate_front door_front_right bumper_back head_light_right wheel_front_left mirror_left
        tail_light_right door_back_right wheel_back_left wheel_back_right license_plate_back wheel_front_right
        head_light_left mirror_right trunk door_mid_right roof"""), ahead=-.004),
    "regular": Measured((.9299, .2646, .2555), .0764, _parts("""
        tail_light_left license_plate_front door_front_right bumper_front bumper_back head_light_right wheel_front_left
        mirror_left tail_light_right door_back_right wheel_back_left wheel_back_right license_plate_back
        wheel_front_right head_light_left mirror_right trunk door_mid_right roof"""), ahead=-.022, right=.008),
    "double": Measured((.9290, .2161, .3005), .1573, _parts("""
        tail_light_left license_plate_front door_front_right bumper_front bumper_back head_light_right wheel_front_left
        mirror_left tail_light_right wheel_back_left wheel_back_right license_plate_back door_mid_left door_front_left
        wheel_front_right head_light_left mirror_right trunk door_mid_right roof"""), ahead=.017, right=.02),
    "school": Measured((.9491, .2027, .2411), .0672, _parts("""
        tail_light_left license_plate_front door_front_right bumper_front bumper_back head_light_right wheel_front_left
        mirror_left tail_light_right wheel_back_left wheel_back_right license_plate_back door_mid_left
        wheel_front_right head_light_left mirror_right roof"""), ahead=.03),
    "chopper": Measured((.8685, .2588, .4228), .1991, _parts("""
        handle_left headlight_center wheel_front handle_right wheel_back taillight_center mirror_left gas_tank
        fender_front fork drive_chain footrest_left_s mirror_right windscreen engine fender_back exhaust_right_s seat
        panel footrest_right_s"""), ahead=.047),
    "dirtbike": Measured((.8293, .2925, .4761), .1877, _parts("""
        handle_left wheel_front handle_right cover_back wheel_back gas_tank cover_front fender_front fork drive_chain
        footrest_left_s engine exhaust_right_s seat panel footrest_right_s"""), ahead=.066),
    "scooter": Measured((.7773, .3679, .5104), .2147, _parts("""
        handle_left headlight_center wheel_front handle_right cover_back wheel_back taillight_center mirror_left
        cover_front fork drive_chain mirror_right engine exhaust_left_s fender_back seat panel"""), ahead=-.031),
    "cruiser": Measured((.8444, .2810, .4561), .2186, _parts("""
        handle_left headlight_center headlight_right taillight_right wheel_front handle_right cover_back wheel_back
        taillight_left mirror_left headlight_left gas_tank cover_front fender_front fork drive_chain footrest_left_s
        license_plate mirror_right windscreen exhaust_left_s fender_back exhaust_right_s seat panel
        footrest_right_s"""), ahead=-.039),
    "jet": Measured((.6082, .7609, .2262), .0769, _parts("""
        door_left_s wheel_front fin engine_right propeller wheel_back_left engine_left wheel_back_right tailplane_left
        tailplane_right wing_right wing_left"""), ahead=-.026),
    "fighter": Measured((.7543, .6369, .1591), .0546, _parts("""
        fin engine_right engine_left tailplane_left tailplane_right wing_right wing_left"""), ahead=-.065),
    "biplane": Measured((.6087, .7423, .2802), .1518, _parts("""
        wheel_front fin propeller tailplane_left tailplane_right wing_right wing_left"""), ahead=-.013, right=-.01),
    "airliner": Measured((.7261, .6449, .2386), .0689, _parts("""
        door_left_s wheel_front fin engine_right propeller wheel_back_left engine_left wheel_back_right tailplane_left
        door_right_s tailplane_right wing_right wing_left"""), ahead=-.025),
    "road": Measured((.8583, .1990, .4731), .2365, _BICYCLE),
    "utility": Measured((.7973, .2970, .5254), .2627, _parts("""
        handle_left brake_system wheel_front pedal_left handle_right wheel_back saddle carrier fork crank_arm_right
        fender_front drive_chain fender_back crank_arm_left side_stand pedal_right""")),
    "mountain": Measured((.8162, .3183, .4822), .2411, _BICYCLE),
    "tandem": Measured((.9121, .1572, .3787), .1894, _parts("""
        rearlight wheel_front wheel_back fork fender_front fender_back""")),
}  # fmt: skip
"""The twenty-one vehicles."""
