"""One writer an index: an OS lock, which a dead process can't keep."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from rag_index.errors import LockedError, StoreError

_PATIENCE_S = 0.5
"""A reader that asks whether anyone writes holds the lock for microseconds; a writer outwaits it."""


class WriterLock:
    """The right to change the index at `path`'s folder; a context manager, free again when its process ends.

    Raises:
        LockedError: another process or thread holds it; says which and since when.
        StoreError: the lock file can't be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        try:
            self._file = self._path.open("a+", encoding="utf-8")
        except OSError as error:
            raise StoreError(
                f"can't write {self._path}: {error.strerror}", "Make the index folder writable."
            ) from error
        deadline = time.monotonic() + _PATIENCE_S
        while not _try_lock(self._file):
            if time.monotonic() > deadline:
                holder = _holder(self._file)
                self._file.close()
                raise LockedError(f"{self._path.parent} is being built {holder}", "Wait for it to end, or stop it.")
            time.sleep(0.02)
        self._sign(self._file)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @staticmethod
    def _sign(file: IO[str]) -> None:
        import socket  # a question doesn't need it

        since = datetime.now(UTC).isoformat(timespec="seconds")
        file.seek(0)
        file.truncate()
        json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": since}, file)
        file.flush()


def held(path: Path) -> bool:
    """Whether a living writer holds the lock file `path`; also False where it can't be found out."""
    try:
        with path.open("r", encoding="utf-8") as file:
            return not _try_lock(file, shared=True)
    except OSError:
        return False


def _holder(file: IO[str]) -> str:
    """Say who signed the lock; the text is another process's, so anything may stand there."""
    try:
        file.seek(0)
        who = json.loads(file.read())
        return f"by process {who['pid']} on {who['host']} since {who['since']}"
    except (ValueError, KeyError, TypeError, OSError):
        return "by another process"


try:
    import fcntl

    def _try_lock(file: IO[str], *, shared: bool = False) -> bool:
        try:
            fcntl.flock(file.fileno(), (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

except ImportError:  # pragma: no cover (Windows)
    import msvcrt

    def _try_lock(file: IO[str], *, shared: bool = False) -> bool:  # noqa: ARG001
        file.seek(1 << 20)  # a byte that is never written, so that others can read who holds the lock
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
        return True
