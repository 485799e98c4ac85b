"""What can be taken from a damaged state: never wrong, often incomplete."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rag_index.store import schema
from rag_index.store.matrix import BLOCK
from rag_index.store.packing import unpack_document
from rag_index.types import Document

if TYPE_CHECKING:
    from rag_index.types import Vector

_BROKEN = (sqlite3.Error, zlib.error, ValueError, KeyError, TypeError, OSError, IndexError)


class Salvage:
    """A damaged state, read as far as it goes. Close it."""

    def __init__(self, folder: Path) -> None:
        self._sql: sqlite3.Connection | None = None
        self._good: dict[int, bool] = {}
        self._rows: Any = None
        with suppress(*_BROKEN):
            path = folder / schema.DATABASE
            self._sql = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        where, model = self.value("vectors"), self.value("model")
        with suppress(*_BROKEN):
            path = folder / f"vectors-{where['file']}.f32"
            count = min(int(where["rows"]), path.stat().st_size // (4 * int(model["dimension"])))
            if count:
                self._rows = np.memmap(path, np.dtype("<f4"), "r", shape=(count, int(model["dimension"])))

    def close(self) -> None:
        """Close what is open."""
        if self._sql is not None:
            self._sql.close()

    def value(self, name: str) -> Any:  # noqa: ANN401 (JSON)
        """Return a value that describes the state, or None."""
        rows = self._rows_of("SELECT value FROM state WHERE name = ?", name)
        with suppress(*_BROKEN):
            return json.loads(rows[0][0])
        return None

    def added(self) -> Iterator[Document]:
        """Yield the texts that were added without a file: nothing else has them."""
        for (path,) in self._rows_of("SELECT path FROM documents WHERE origin = 'added'"):
            query = "SELECT data FROM bodies JOIN documents ON id = document WHERE path = ?"
            for (data,) in self._rows_of(query, path):
                with suppress(*_BROKEN):
                    yield unpack_document(data)

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the vectors of those `keys` whose block has the checksum that was stored."""
        found = {}
        for key in keys:
            for (slot,) in self._rows_of("SELECT slot FROM vectors WHERE key = ?", key):
                there = self._rows is not None and isinstance(slot, int) and 0 <= slot < len(self._rows)
                if there and self._sound(slot):
                    found[key] = np.array(self._rows[slot])
        return found

    def _sound(self, slot: int) -> bool:
        block = slot // BLOCK
        if block not in self._good:
            rows = self._rows[block * BLOCK : (block + 1) * BLOCK]
            sums = self._rows_of("SELECT crc FROM sums WHERE block = ?", block)
            self._good[block] = bool(sums) and zlib.crc32(np.ascontiguousarray(rows).tobytes()) == sums[0][0]
        return self._good[block]

    def _rows_of(self, query: str, *values: object) -> list[Any]:
        with suppress(*_BROKEN):
            if self._sql is not None:
                return self._sql.execute(query, values).fetchall()
        return []
