"""Vectors that were made before, in one SQLite file of bounded size; losing it costs time, never an answer."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from zlib import crc32

if TYPE_CHECKING:
    from rag_index.types import Matrix, ModelInfo, Vector

LIMIT_MB = 2048
"""Size of the user-wide cache before the vectors that were not used for longest are dropped."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS vectors_used ON vectors (used);
"""
_MANY = 500
"""Keys in one SELECT: below SQLite's oldest bound of 999 variables."""


def vector_key(info: ModelInfo, text: str) -> bytes:
    """Return the 32-byte key of the vector of `text`: model, document prompt and precision class are in it."""
    head = f"{info.fingerprint}\0{info.precision}\0{info.document_prompt}\0"
    return hashlib.sha256((head + text).encode("utf-8", "surrogatepass")).digest()


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the user's cache folder for rag-index (not made): ``RAG_INDEX_CACHE_DIR`` or the system's place."""
    environ = os.environ if environ is None else environ
    if environ.get("RAG_INDEX_CACHE_DIR"):
        return Path(environ["RAG_INDEX_CACHE_DIR"])
    if environ.get("XDG_CACHE_HOME"):
        return Path(environ["XDG_CACHE_HOME"]) / "rag-index"
    home = Path(environ["HOME"]) if environ.get("HOME") else Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "rag-index"
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or home) / "rag-index" / "cache"
    return home / ".cache" / "rag-index"


class VectorCache:
    """Vectors by key, shared by builds and evaluations; several processes may use one file.

    A file that is damaged is begun anew; one that can't be written is only read; where there is none and none
    can be made, the cache is empty and keeps nothing. One instance may be used from one thread at a time.
    """

    def __init__(self, path: Path | None = None, *, limit_mb: float = LIMIT_MB) -> None:
        """Open the cache in the file `path`, by default the user-wide one."""
        self.path = path or cache_folder() / "vectors.sqlite"
        self.limit_mb = limit_mb
        self._connection = self._open()

    def get_many(self, keys: Iterable[bytes]) -> dict[bytes, Vector]:
        """Return the vectors that are known among `keys`."""
        wanted = list(dict.fromkeys(keys))
        found: dict[bytes, Vector] = {}
        with self._damage_is_no_error():
            for start in range(0, len(wanted), _MANY):
                part = wanted[start : start + _MANY]
                marks = ",".join("?" * len(part))
                rows = self._connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part)
                unpacked = ((key, _unpack(key, blob)) for key, blob in rows)
                found.update((key, vector) for key, vector in unpacked if vector is not None)
            self._touch(found)
        return found

    def put_many(self, keys: Sequence[bytes], matrix: Matrix) -> None:
        """Keep one row of `matrix` a key, in one transaction; drop old vectors when the file is full."""
        now = int(time.time())
        rows = [(key, _pack(key, row), now) for key, row in zip(keys, matrix, strict=True)]
        with self._damage_is_no_error(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        if self.size_mb() > self.limit_mb:
            self.prune(self.limit_mb * 0.9)

    def __len__(self) -> int:
        with self._damage_is_no_error():
            return int(self._connection.execute("SELECT count(*) FROM vectors").fetchone()[0])
        return 0

    def size_mb(self) -> float:
        """Return the megabytes that the vectors take in the file."""
        with self._damage_is_no_error():
            pages, free, size = (
                self._connection.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "freelist_count", "page_size")
            )
            return float((pages - free) * size) / 1e6
        return 0.0

    def prune(self, limit_mb: float) -> int:
        """Drop the vectors that were not used for longest until `limit_mb` are left; returns how many."""
        size, count = self.size_mb(), len(self)
        if size <= limit_mb or not count:
            return 0
        drop = count if limit_mb <= 0 else min(count, int(count * (1 - limit_mb / size)) + 1)
        with self._damage_is_no_error(), self._connection:
            self._connection.execute(
                "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used, rowid LIMIT ?)", (drop,)
            )
        return drop

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _touch(self, keys: Iterable[bytes]) -> None:
        """Note the use of `keys`, at most once a day each so that reading seldom writes."""
        now = int(time.time())
        rows = [(now, key, now - 86_400) for key in keys]
        with suppress(sqlite3.OperationalError), self._connection:  # a file that can only be read
            self._connection.executemany("UPDATE vectors SET used = ? WHERE key = ? AND used < ?", rows)

    def _open(self) -> sqlite3.Connection:
        with suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _connect(str(self.path))
        except sqlite3.OperationalError:
            return self._read_only()
        except sqlite3.DatabaseError:
            return self._anew()

    def _read_only(self) -> sqlite3.Connection:
        with suppress(sqlite3.DatabaseError):
            connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True, timeout=5)
            connection.execute("SELECT key FROM vectors LIMIT 1").fetchone()
            return connection
        return _connect(":memory:")

    def _anew(self) -> sqlite3.Connection:
        """Throw the damaged file away and begin an empty one."""
        try:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            return _connect(str(self.path))
        except (OSError, sqlite3.DatabaseError):
            return _connect(":memory:")

    @contextmanager
    def _damage_is_no_error(self) -> Iterator[None]:
        """Go on without the cache where the file is full, locked or read-only; begin anew where it is damaged."""
        try:
            yield
        except sqlite3.OperationalError:
            pass
        except sqlite3.DatabaseError:
            self._connection.close()
            self._connection = self._anew()


def _connect(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=5, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")  # losing the last vectors in a power cut costs time only
        connection.executescript(_SCHEMA)
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def _pack(key: bytes, vector: Vector) -> bytes:
    data = vector.astype("<f4").tobytes()
    return data + crc32(data, crc32(key)).to_bytes(4, "little")


def _unpack(key: bytes, blob: bytes) -> Vector | None:
    """Return the vector, or None where its checksum says that the file has changed under us."""
    import numpy as np

    data, check = blob[:-4], blob[-4:]
    if crc32(data, crc32(key)).to_bytes(4, "little") != check:
        return None
    return np.frombuffer(data, dtype=np.float32)
