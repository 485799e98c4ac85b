"""Waiting for other threads in a way that a signal can end."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

Result = TypeVar("Result")
_STEP_S = 0.1


def nothing() -> None:
    """Let the wait go on."""


def awaited(future: Future[Result], check: Callable[[], None] = nothing) -> Result:
    """Return what `future` gives; `check` is called ten times a second and ends the wait by raising.

    A signal handler that raised could do so between taking a lock and giving it back, and the thread that is waited
    for would stand still for ever; `check` raises where no lock is held.
    """
    while not wait([future], timeout=_STEP_S).done:
        check()
    return future.result()
