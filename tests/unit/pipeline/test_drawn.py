import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_index.pipeline.drawn import Drawn


@given(st.lists(st.integers(), max_size=30), st.integers(1, 5))
def test_items_come_as_they_were_drawn(items, most):
    with Drawn(iter(items), most) as drawn:
        assert list(drawn) == items


def test_drawing_begins_at_once_and_goes_no_further_than_may_wait():
    begun = [threading.Event() for _ in range(9)]
    with Drawn((begun[n].set() or n for n in range(9)), 2) as drawn:
        assert begun[2].wait(5)  # two wait, one is in hand
        time.sleep(0.05)
        assert not begun[3].is_set()
        assert list(drawn) == list(range(9))


def test_a_failure_is_raised_in_its_place():
    def numbers():
        yield 1
        raise ValueError("two")

    with Drawn(numbers()) as drawn:
        results = iter(drawn)
        assert next(results) == 1
        with pytest.raises(ValueError, match="two"):
            next(results)


def test_when_there_is_enough_the_item_in_hand_is_given_and_no_other_begun():
    begun, gate, closed = [], threading.Event(), []

    def numbers():
        try:
            for n in range(9):
                begun.append(n)
                if n == 1:
                    gate.wait(5)
                yield n
        finally:
            closed.append(threading.current_thread().name)

    with Drawn(numbers()) as drawn:
        results = iter(drawn)
        assert next(results) == 0
        drawn.enough()
        gate.set()
        assert list(results) in ([], [1])  # the second was in hand, or was not begun
    assert begun in ([0], [0, 1])
    assert closed == ["drawn"]  # by the thread that used it


def test_an_early_end_waits_for_the_item_in_hand():
    done = []

    def numbers():
        yield 0
        time.sleep(0.2)
        done.append(1)
        yield 1

    with Drawn(numbers()) as drawn:
        assert next(iter(drawn)) == 0
    assert "drawn" not in {thread.name for thread in threading.enumerate()}
    assert done in ([], [1])  # the second was not begun, or is whole


def test_ctrl_c_waits_for_nothing():
    gate = threading.Event()

    def numbers():
        yield 0
        gate.wait(60)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), Drawn(numbers()) as drawn:  # noqa: PT012 (raised in the body)
        assert next(iter(drawn)) == 0
        raise KeyboardInterrupt
    assert time.monotonic() - began < 30
    gate.set()
