"""An iterator that another thread draws from while the caller is busy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from queue import Empty, Full, Queue
from types import TracebackType
from typing import Generic, Self, TypeVar

Item = TypeVar("Item")
_STEP_S = 0.1


class Drawn(Generic[Item]):
    """Gives what `source` gives, in order; drawing begins at once.

    Args:
        source: A generator; used by the other thread only, and closed there. What it raises is raised here.
        most: Items that may wait.

    A context: at its end the item in hand is waited for, and what was not taken is dropped. When Ctrl-C ends it nothing
    is waited for, and the thread doesn't keep the process from ending.
    """

    def __init__(self, source: Iterator[Item], most: int = 2) -> None:
        self._source = source
        self._items: Queue[tuple[Item | None, BaseException | None]] = Queue(most)
        self._enough = self._gone = self._over = False
        self._thread = threading.Thread(target=self._draw, name="drawn", daemon=True)
        self._thread.start()

    def _draw(self) -> None:
        try:
            for item in self._source:
                self._give(item, None)
                if self._enough:
                    break
            getattr(self._source, "close", lambda: None)()
            self._give(None, StopIteration())
        except BaseException as error:  # noqa: BLE001 (the caller gets it, whatever it is)
            self._give(None, error)

    def _give(self, item: Item | None, error: BaseException | None) -> None:
        while not self._gone:
            try:
                self._items.put((item, error), timeout=_STEP_S)
            except Full:
                continue
            return

    def enough(self) -> None:
        """Have no more drawn; what has been, the item in hand included, is still given."""
        self._enough = True

    @property
    def ended(self) -> bool:
        """Whether all has been drawn that will be; some of it may still wait here."""
        return not self._thread.is_alive()

    def ready(self) -> Iterator[Item]:
        """Give what has been drawn so far; waits for nothing."""
        with suppress(Empty):
            while not self._over:
                yield from self._taken(*self._items.get_nowait())

    def __iter__(self) -> Iterator[Item]:
        while not self._over:
            with suppress(Empty):  # a wait without an end would keep signal handlers from running on some systems
                yield from self._taken(*self._items.get(timeout=_STEP_S))

    def _taken(self, item: Item | None, error: BaseException | None) -> Iterator[Item]:
        self._over = error is not None
        if error is None:
            yield item  # type: ignore[misc]  # an item without an error is one of `source`
        elif not isinstance(error, StopIteration):
            raise error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._enough = self._gone = True
        while self._thread.is_alive() and not isinstance(error, (KeyboardInterrupt, SystemExit)):
            self._thread.join(_STEP_S)
