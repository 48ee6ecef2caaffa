"""A limit decides whether there is a result, and is told in a sentence."""

import mmap
import threading
import time
from math import inf, nan

import numpy as np
import pytest

from recombine.store import limit
from recombine.store.errors import UserError
from recombine.store.limit import Exceeded, check, limited, memory, tell, watched


def test_without_a_limit_nothing_is_stopped() -> None:
    check()
    tell("images", 1, 2)
    assert watched(lambda: 7, lambda: None) == 7


def test_too_long_is_told() -> None:
    with (
        pytest.raises(Exceeded, match=r"counting was stopped after 0.01 s; allow more with limit"),
        limited(0.01, what="counting"),
    ):
        while True:
            check()
    check()


@pytest.mark.parametrize("seconds", [nan, -1.0, -inf])
def test_what_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(UserError, match="limit is a number of seconds from 0 on, not"), limited(seconds):
        pytest.fail("nothing would ever stop this")


def test_too_much_memory_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "EVERY", 0.0)
    taken = []
    with pytest.raises(Exceeded, match=r"want of memory: it took over 50 MB"), limited(size=50e6, what="it"):
        for _ in range(20):
            taken.append(mmap.mmap(-1, 20 * 10**6))  # an array could take memory that this process has had for long
            np.frombuffer(taken[-1], np.uint8)[:] = 1
            check()
    assert len(taken) < 20
    assert memory() > 0


def test_limits_may_stand_inside_each_other() -> None:
    with limited(60), pytest.raises(Exceeded), limited(0.0):
        time.sleep(0.01)
        check()


def test_a_loop_in_a_thread_is_stopped_too() -> None:
    ended, stopped = threading.Event(), threading.Event()

    def work() -> None:
        while not stopped.is_set():
            sum(range(1000))
        ended.set()

    with pytest.raises(Exceeded), limited(0.1):
        watched(work, stopped.set)
    assert ended.is_set()
    with limited(60):
        assert watched(lambda: 7, stopped.set) == 7
        with pytest.raises(ZeroDivisionError):
            watched(lambda: 1 / 0, stopped.set)


def test_progress_is_told_now_and_then() -> None:
    told = []
    with limited(inf, what="counting", progress=lambda *words: told.append(words)):
        for i in range(1000):
            tell("images", i, 1000)
        tell("images", 1000, 1000)
    assert told[0] == ("counting: images", 0, 1000) and told[-1] == ("counting: images", 1000, 1000)
    assert len(told) < 20
