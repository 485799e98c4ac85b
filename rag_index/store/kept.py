"""The documents that were read last, within a bound of memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from rag_index.types import Document

MOST = 16_000_000
"""Code points of text that are kept; the last document is kept however long it is."""


class Kept:
    """Reads documents by id and keeps those that were used last. Threads may share it."""

    def __init__(self, read: Callable[[int], Document], most: int = MOST) -> None:
        self._read = read
        self._most = most
        self._lock = threading.Lock()
        self._documents: OrderedDict[int, Document] = OrderedDict()
        self._size = 0

    def __call__(self, id: int) -> Document:  # noqa: A002 (as `Reader.document`, which it stands for)
        """Return a document, from memory where it is there."""
        with self._lock:
            if id in self._documents:
                self._documents.move_to_end(id)
                return self._documents[id]
        document = self._read(id)
        with self._lock:
            if id not in self._documents:
                self._documents[id] = document
                self._size += len(document.text)
            while self._size > self._most and len(self._documents) > 1:
                _, oldest = self._documents.popitem(last=False)
                self._size -= len(oldest.text)
        return document
