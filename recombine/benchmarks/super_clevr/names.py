"""Names of parts: as the models have them, as questions say them, and the super name that forgets the side.

>>> spoken("wheel_front_left"), spoken("front_left_wheel"), spoken("exhaust_right_s")
('front left wheel', 'front left wheel', 'right exhaust')
>>> super_name("front left wheel"), super_name("license plate")
('wheel', 'license plate')
"""

SIDES = frozenset(("right", "left", "front", "back", "center", "mid"))
"""Words that say where on its vehicle a part is."""


def spoken(raw: str) -> str:
    """The name of a part in words: what says its side comes first."""
    words = [word for word in raw.replace(" ", "_").split("_") if word]
    if words[-1:] == ["s"] and len(words) > 1:
        words.pop()
    for _ in words:
        if words[-1] in SIDES:
            words.insert(0, words.pop())
    return " ".join(words)


def super_name(name: str) -> str:
    """The name without its side; of a name that says nothing else, the name itself."""
    return " ".join(word for word in name.split() if word not in SIDES) or name
