"""Work done ahead of whoever needs it, in one other thread, with a bound on what waits."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from rag_index.waiting import awaited, nothing

Job = TypeVar("Job")
Result = TypeVar("Result")


def ahead(
    jobs: Iterable[Job],
    work: Callable[[Job], Result],
    *,
    weight: Callable[[Job], int],
    most: int,
    check: Callable[[], None] = nothing,
) -> Generator[Result, None, None]:
    """Yield ``work(job)`` for each job, in order; other jobs are worked on while the caller is busy.

    Args:
        jobs: Pulled in the caller's thread when a result is asked for, until there is one or as much waits as may.
        work: Called in one other thread; what it raises is raised where its result would have come.
        weight: Bytes that a job and its result hold, about.
        most: Bytes that may wait. A job that is heavier waits alone.
        check: Called now and then while a result is waited for; what it raises ends the work.

    When the caller stops early, jobs that were not begun are dropped, and the one in hand is waited for.
    """
    waiting: deque[tuple[int, Future[Result]]] = deque()
    held = 0
    thread = ThreadPoolExecutor(1, "ahead")

    def first() -> Result:
        nonlocal held
        size, future = waiting.popleft()
        held -= size
        return awaited(future, check)

    try:
        for job in jobs:
            size = weight(job)
            while waiting and held + size > most:
                yield first()
            waiting.append((size, thread.submit(work, job)))
            held += size
            while waiting and waiting[0][1].done():
                yield first()
        while waiting:
            yield first()
    finally:
        with suppress(RuntimeError):  # the interpreter is ending already
            thread.shutdown(wait=True, cancel_futures=True)
