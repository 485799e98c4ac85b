"""The seal: a checksum of the database file that holds while nobody changes it.

SQLite has no checksums of pages, so a flipped byte could change an offset or a keyword without any error. Commits go
to the write-ahead log, which has checksums of its own; the main file changes only when the log is copied into it.
Before that the writer takes the seal off, afterwards it puts a new one on.
"""

from __future__ import annotations

import mmap
import sqlite3
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rag_index.errors import IndexDamagedError, RagIndexError
from rag_index.store.failpoints import passing
from rag_index.store.layout import REPAIR, read_sealed, sync_folder, write_sealed
from rag_index.store.schema import DATABASE, open_to_read

NAME = "seal"
_PART = 1 << 24
"""Bytes under one checksum; parts are read by several threads."""
_STEP = 1 << 20
_DROP: int | None = getattr(mmap, "MADV_DONTNEED", None)  # not on Windows


def unseal(folder: Path) -> None:
    """Take the seal off the database in `folder`, durably."""
    seal = folder / NAME
    if seal.exists():
        seal.unlink()
        sync_folder(folder)
    passing("seal-removed")


def seal(folder: Path, connection: sqlite3.Connection) -> None:
    """Copy the write-ahead log into the database in `folder` as far as readers allow, and seal the result."""
    unseal(folder)
    connection.execute("PRAGMA busy_timeout=0")  # a reader that stays open only keeps the log from being emptied
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    connection.execute("PRAGMA busy_timeout=30000")
    passing("checkpoint-done")
    path = folder / DATABASE
    write_sealed(folder / NAME, {"size": path.stat().st_size, "parts": _sums(path)})
    passing("seal-written")


def close_sealed(folder: Path, connection: sqlite3.Connection) -> None:
    """Close the connection that writes in `folder` and leave the database as it was sealed.

    The last connection that closes copies the log into the database. When a reader that held the log back has gone
    since the seal was made, that would be this one; so one that can only read is kept until afterwards.
    """
    path = folder / DATABASE
    try:
        last = open_to_read(path)
    except (RagIndexError, sqlite3.Error):  # nobody can read it: there is nothing to keep as it was
        connection.close()
        return
    connection.close()
    last.close()


def seal_holds(folder: Path) -> bool:
    """Compare the database in `folder` with its seal; 30 ms for 100 MB.

    Returns:
        True if it is as it was sealed, False if there is no seal.

    Raises:
        IndexDamagedError: it differs, or the seal itself is damaged.
    """
    path = folder / DATABASE
    while True:
        try:
            looks = _looks(folder / NAME), _looks(path)
            values = read_sealed(folder / NAME)
        except FileNotFoundError:
            return False
        if _verified.get(path) == looks:
            return True
        if path.stat().st_size == values["size"] and _sums(path) == values["parts"]:
            _verified[path] = looks
            return True
        if _unchanged(folder, values):
            raise IndexDamagedError(f"{path} is damaged: its checksum differs", REPAIR)


_verified: dict[Path, tuple[tuple[int, ...], tuple[int, ...]]] = {}
"""What seal and database looked like when this process last compared them: it does so once, not for each query."""


def _looks(path: Path) -> tuple[int, ...]:
    stat = path.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _unchanged(folder: Path, values: dict[str, object]) -> bool:
    """Whether the seal still is the one that was read: if not, the writer was at work meanwhile."""
    try:
        return read_sealed(folder / NAME) == values
    except FileNotFoundError:
        return False


def _sums(path: Path) -> list[int]:
    if not path.stat().st_size:
        return []
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        starts = range(0, len(data), _PART)
        with memoryview(data) as view, ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda at: _sum(data, view[at : at + _PART], at), starts))


def _sum(data: mmap.mmap, part: memoryview, at: int) -> int:
    """Return the checksum of the part at `at`; what was read of it counts as memory of this process no longer."""
    total = 0
    for start in range(0, len(part), _STEP):
        step = part[start : start + _STEP]
        total = zlib.crc32(step, total)
        if _DROP is not None:
            data.madvise(_DROP, at + start, len(step))
    return total
