"""The JSON of the command line: a contract, so that each shape is written out here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rag_index.settings import ChunkSettings
from rag_index.types import Chunk, Document, Location, Passage, Span


def spans(values: Iterable[Span]) -> list[dict[str, int]]:
    """Positions in a document."""
    return [{"start": span.start, "end": span.end} for span in values]


def location(value: Location) -> dict[str, Any]:
    """Where a passage stands in its file."""
    return {
        "label": value.label,
        "page": value.page,
        "line": value.line,
        "end_line": value.end_line,
        "heading": list(value.heading),
        "link": value.link,
    }


def passage(value: Passage, rank: int) -> dict[str, Any]:
    """One hit of `query`."""
    return {
        "rank": rank,
        "score": round(value.score, 6),
        "path": value.path,
        "start": value.start,
        "end": value.end,
        "text": value.text,
        "highlights": spans(value.highlights),
        "location": location(value.location),
        "chunks": list(value.chunks),
        "also": [{"path": place.path, "start": place.start, "end": place.end} for place in value.also],
    }


def document(value: Document) -> dict[str, Any]:
    """What `extract` found in a file."""
    from rag_index.extract.fold import fold

    return {
        "path": value.source.path,
        "status": value.status,
        "reason": value.reason,
        "text": value.text,
        "search_text": fold(value.text).text,
        "format": value.source.format,
        "encoding": value.source.encoding,
        "blocks": [
            {"start": block.start, "end": block.end, "kind": block.kind, "label": block.label, "role": block.role}
            for block in value.blocks
        ],
        "warnings": [{"code": warn.code, "message": warn.message, "count": warn.count} for warn in value.warnings],
        "meta": dict(value.meta),
    }


def chunk(value: Chunk, tokens: int) -> dict[str, Any]:
    """One chunk of `chunk`."""
    return {
        "index": value.index,
        "start": value.start,
        "end": value.end,
        "text": value.text,
        "tokens": tokens,
        "total_chunks": value.total_chunks,
    }


def chunking(path: str, settings: ChunkSettings) -> dict[str, Any]:
    """What was chunked, and how."""
    return {
        "path": path,
        "chunker": settings.chunker,
        "size": settings.size,
        "overlap": settings.overlap,
        "unit": settings.unit,
    }
