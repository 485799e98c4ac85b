"""Ctrl-C and SIGTERM end a build between two steps where something would be lost, and else at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self


class Stop:
    """While this context is open, the first SIGINT or SIGTERM only asks to stop; a second SIGINT stops at once.

    Signals reach the main thread only; in any other thread this does nothing.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._at_once = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _note(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 (the signature of handlers)
        if self.signal == signal.SIGINT == number:
            raise KeyboardInterrupt
        self.signal = number
        if self._at_once:
            self.check()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Let a signal end what is done in this context wherever it is: it may take long, and loses nothing."""
        self._at_once = True
        try:
            self.check()
            yield
        finally:
            self._at_once = False

    def check(self) -> None:
        """End the build here if that was asked for: exit code 130 or 143 follows from the exception."""
        if self.signal == signal.SIGINT:
            raise KeyboardInterrupt
        if self.signal:
            raise SystemExit(128 + self.signal)
