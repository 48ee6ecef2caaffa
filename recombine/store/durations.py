"""Times as people say them."""


def time_of(seconds: float) -> str:
    """A time in words.

    >>> time_of(42), time_of(150), time_of(7_500)
    ('42 s', '2 min 30 s', '2 h 5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def duration(seconds: float) -> str:
    """A short time with a unit that suits it.

    >>> duration(0.0000021)
    '2.1 µs'
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
