"""Candidates from the published projection, for indexes too large to compare with every vector."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rag_index.errors import LockedError, RagIndexError, StoreError
from rag_index.store.chroma import ChromaStore
from rag_index.store.digests import check_digests
from rag_index.store.layout import Layout, copy_folder, may
from rag_index.store.projection import ensure_published
from rag_index.store.published import Published, is_fresh, readable

if TYPE_CHECKING:
    from rag_index.store.reader import Reader
    from rag_index.types import Vector

_FETCH = 4
"""Candidates for each answer wanted: the graph misses some, and the order of what it finds is rough."""
_LEAST = 50


class Nearby:
    """The projection of one snapshot, open for questions.

    Args:
        snapshot: What it must hold.
        required: Publish it if need be, and raise if that can't be done; else give no candidates then.

    Raises:
        StoreError: it is required but can't be had.
        IndexUnusableError: it is damaged or names an embedding function.
    """

    def __init__(self, snapshot: Reader, *, required: bool) -> None:
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._store: ChromaStore | None = None
        layout = Layout(snapshot.index)
        found = readable(layout)
        if not is_fresh(found, layout, snapshot, snapshot.info.settings.store):
            found = _publish(snapshot.index) if required else None
        if found is None or (found.lossy and not required):
            return
        try:
            self._store = self._open(layout, found)
        except RagIndexError:
            if required:
                raise

    def uids(self, vector: Vector, k: int) -> list[bytes] | None:
        """Return the ids of texts that are near, None if there is no projection to ask."""
        if self._store is None:
            return None
        return [bytes.fromhex(uid) for uid, _ in self._store.nearest(vector, max(_LEAST, _FETCH * k))]

    def close(self) -> None:
        """Close the projection."""
        if self._store:
            self._store.close()
        if self._copy:
            self._copy.cleanup()

    def _open(self, layout: Layout, found: Published) -> ChromaStore:
        if found.url:
            return ChromaStore(found.url, found.collection)
        folder = found.folder(layout)
        check_digests(folder, found.files)  # a damaged graph would crash this process
        if not may(os.W_OK, folder, folder / "chroma.sqlite3"):
            self._copy = tempfile.TemporaryDirectory(prefix="rag-index-")  # Chroma writes when it only reads
            copy_folder(folder, Path(self._copy.name) / "chroma")
            folder = Path(self._copy.name) / "chroma"
        return ChromaStore(folder, found.collection)


def _publish(index: Path) -> Published:
    try:
        return ensure_published(index)
    except LockedError as error:
        raise StoreError(
            f"Chroma's copy is not up to date: {error.message}", "Wait, or use --retriever exact."
        ) from error
