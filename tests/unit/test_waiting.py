"""A wait that a signal can end, at a place where no lock is held."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest

from rag_index.waiting import awaited


def test_what_check_raises_ends_the_wait_and_leaves_the_thread_able_to_end() -> None:
    asked = 0

    def check() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise KeyboardInterrupt

    release = Event()
    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(release.wait)
        with pytest.raises(KeyboardInterrupt):
            awaited(future, check)
        release.set()
    assert future.result()


def test_a_result_and_what_the_work_raised_come_out_as_they_are() -> None:
    done: Future[int] = Future()
    done.set_result(3)
    assert awaited(done) == 3
    failed: Future[int] = Future()
    failed.set_exception(TimeoutError("of the work, not of the wait"))
    with pytest.raises(TimeoutError, match="of the work"):
        awaited(failed)
