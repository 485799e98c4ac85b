"""What writer and readers read alike."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import numpy as np

from rag_index.store.packing import unpack_path
from rag_index.store.rows import Hint, Known
from rag_index.types import Status

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unpack_live(packed: bytes, rows: int) -> NDArray[np.bool_]:
    """Return which of the `rows` vectors belong to a live text."""
    bits = np.unpackbits(np.frombuffer(packed, np.uint8))[:rows]
    live = np.zeros(rows, bool)
    live[: len(bits)] = bits
    return live


def read_known(connection: sqlite3.Connection) -> dict[str, Known]:
    """Return every document's path and what it looked like when it was read."""
    rows = connection.execute(
        "SELECT path, id, origin, status, reason, sha256, extractor, size, mtime_ns, ctime_ns, inode, read_ns "
        "FROM documents"
    )
    return {
        unpack_path(path): Known(id_, origin, Status(status), reason, sha256, extractor, Hint(*hint))
        for path, id_, origin, status, reason, sha256, extractor, *hint in rows
    }
