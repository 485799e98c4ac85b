"""A document as bytes, so that its text and positions outlive the file."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import asdict
from typing import Any

from rag_index.types import Block, Document, PositionMap, Source, Status, Warn

_LENGTHS = struct.Struct("<II")


def pack_document(document: Document) -> bytes:
    """Return `document` as compressed bytes that carry their own checksum."""
    head = {
        "source": asdict(document.source),
        "status": document.status.value,
        "reason": document.reason,
        "blocks": [[b.start, b.end, b.kind, b.label, b.role, b.level, b.parent] for b in document.blocks],
        "positions": document.positions.kind,
        "warnings": [[w.code, w.message, w.count] for w in document.warnings],
        "meta": dict(document.meta),
    }
    first = json.dumps(head, separators=(",", ":")).encode()
    text = document.text.encode("utf-8", "surrogatepass")
    data = _LENGTHS.pack(len(first), len(text)) + first + text + document.positions.data
    return zlib.compress(data, 1)  # level 1: half the size at 5 times the speed of level 6


def unpack_document(data: bytes) -> Document:
    """Return the document that `pack_document` packed.

    Raises:
        zlib.error or UnicodeDecodeError: the bytes are damaged.
    """
    plain = zlib.decompress(data)
    try:
        size, length = _LENGTHS.unpack_from(plain)
        middle = _LENGTHS.size + size
        head: dict[str, Any] = json.loads(plain[_LENGTHS.size : middle])
        return Document(
            source=Source(**head["source"]),
            status=Status(head["status"]),
            reason=head["reason"],
            text=plain[middle : middle + length].decode("utf-8", "surrogatepass"),
            blocks=tuple(Block(*block) for block in head["blocks"]),
            positions=PositionMap(head["positions"], plain[middle + length :]),
            warnings=tuple(Warn(*warn) for warn in head["warnings"]),
            meta=head["meta"],
        )
    except (ValueError, KeyError, TypeError, struct.error) as error:
        raise zlib.error(f"a stored document is damaged: {error}") from error


def pack_path(path: str) -> bytes:
    """Return a path as bytes: undecodable bytes of file names come back as they were."""
    return path.encode("utf-8", "surrogateescape")


def unpack_path(data: bytes) -> str:
    """Return the path that `pack_path` packed."""
    return data.decode("utf-8", "surrogateescape")
