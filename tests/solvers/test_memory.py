"""Freed memory stays with the process: some large tensor after the first costs no fresh pages."""

import subprocess
import sys

import pytest

from recombine.solvers.memory import keep_memory

PROGRAM = """
import resource
import torch
from recombine.solvers.memory import keep_memory
{first}
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def one():
    before = faults()
    torch.zeros(10_000_000)
    return faults() - before
print(min(one() for _ in range(12)))
"""


def faults(first: str) -> int:
    program = PROGRAM.format(first=first)
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not keep_memory(), reason="this C library cannot be told to keep memory")
def test_a_large_tensor_is_made_of_the_pages_of_those_before():
    assert faults("keep_memory()") < faults("") / 10
