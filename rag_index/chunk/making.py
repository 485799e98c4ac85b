"""Chunks made of positions, fast: there may be millions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rag_index.types import Chunk

# The constructor of a frozen dataclass goes through `object.__setattr__` for each field; filling the slots directly
# takes half the time, which is a fifth of all that cutting a text costs.
_NEW: Any = object.__new__
_TEXT, _INDEX, _START, _END, _TOTAL, _DOCUMENT = (
    getattr(Chunk, name).__set__ for name in ("text", "index", "start", "end", "total_chunks", "document")
)


def chunks_of(text: str, places: Iterable[tuple[int, int]]) -> Iterator[Chunk]:
    """Yield the chunks of `text` at (start, end), lazily, numbered from 0; their total is not known."""
    for index, (start, end) in enumerate(places):
        chunk = _NEW(Chunk)
        _TEXT(chunk, text[start:end])
        _INDEX(chunk, index)
        _START(chunk, start)
        _END(chunk, end)
        _TOTAL(chunk, None)
        _DOCUMENT(chunk, "")
        yield chunk
