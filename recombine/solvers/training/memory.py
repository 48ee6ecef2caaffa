"""Memory that is kept: a training takes and gives back the same large tensors at every step.

The C library hands large pieces back to the system at once, and the system clears them before it gives them out again;
on one core that was a third of the time of a convolution's step. Here the process keeps what it has.
"""

import ctypes
import sys
from functools import cache

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the numbers of mallopt's settings, from malloc.h
LARGEST = 2**31 - 1


@cache
def keep_memory() -> bool:
    """Let this process keep the memory that it has freed; whether the C library could be told."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False  # another C library than GNU's
    return all(mallopt(setting, LARGEST) == 1 for setting in (TRIM_THRESHOLD, MMAP_THRESHOLD))
