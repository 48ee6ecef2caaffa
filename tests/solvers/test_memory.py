"""Freed memory stays with the process: a large piece after the first costs no fresh pages."""

import subprocess
import sys

import pytest

from recombine.solvers.training.memory import keep_memory

PROGRAM = """
import ctypes
import resource
from recombine.solvers.training.memory import keep_memory
{first}
libc, size = ctypes.CDLL(None), ctypes.c_size_t(40_000_000)
libc.malloc.restype = ctypes.c_void_p
def one():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    place = ctypes.c_void_p(libc.malloc(size))
    libc.memset(place, 1, size)
    libc.free(place)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(min(one() for _ in range(6)))
"""


def faults(first: str) -> int:
    program = PROGRAM.format(first=first)
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not keep_memory(), reason="this C library cannot be told to keep memory")
def test_a_large_piece_is_made_of_the_pages_of_one_before():
    assert faults("keep_memory()") < faults("") / 10
