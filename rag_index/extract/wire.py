"""Documents as bytes, for the pipe between processes: no pickle, since a reader of hostile files writes them."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rag_index.extract.discover import Found
from rag_index.extract.drawing import Drawing, Mark
from rag_index.extract.positions import pack_blocks, unpack_blocks
from rag_index.settings import ExtractSettings
from rag_index.types import Document, PositionMap, Source, Status, Warn

_LENGTH = struct.Struct("<Q")
_LONGEST = 1 << 32


def write_parts(write: Callable[[bytes], object], parts: list[bytes]) -> None:
    """Write byte strings, each after its length."""
    write(b"".join(piece for part in parts for piece in (_LENGTH.pack(len(part)), part)))


def read_parts(read: Callable[[int], bytes], count: int) -> list[bytes]:
    """Read `count` byte strings.

    Raises:
        EOFError: the other side is gone.
    """
    parts = []
    for _ in range(count):
        (length,) = _LENGTH.unpack(_exactly(read, _LENGTH.size))
        if length > _LONGEST:
            raise EOFError("the other side writes nonsense")
        parts.append(_exactly(read, length))
    return parts


def _exactly(read: Callable[[int], bytes], length: int) -> bytes:
    data = read(length)
    if len(data) != length:
        raise EOFError("the other side is gone")
    return data


DOCUMENT_PARTS = 4


def document_parts(document: Document) -> list[bytes]:
    """Return a document as `DOCUMENT_PARTS` byte strings."""
    head = {
        "source": asdict(document.source),
        "status": document.status.value,
        "reason": document.reason,
        "map": document.positions.kind,
        "warnings": [[warn.code, warn.message, warn.count] for warn in document.warnings],
        "meta": dict(document.meta),
    }
    text = document.text.encode("utf-8", "surrogatepass")
    return [json.dumps(head).encode(), text, pack_blocks(document.blocks), document.positions.data]


def document_of(parts: list[bytes]) -> Document:
    """Return the document that `document_parts` took apart."""
    head: dict[str, Any] = json.loads(parts[0])
    return Document(
        source=Source(**head["source"]),
        status=Status(head["status"]),
        reason=head["reason"],
        text=parts[1].decode("utf-8", "surrogatepass"),
        blocks=unpack_blocks(parts[2]),
        positions=PositionMap(head["map"], parts[3]),
        warnings=tuple(Warn(*warn) for warn in head["warnings"]),
        meta=head["meta"],
    )


def found_bytes(found: Found) -> bytes:
    """Return a file's whereabouts as bytes."""
    return json.dumps([str(found.path), found.name, found.size, found.mtime_ns, found.inode]).encode()


def found_of(data: bytes) -> Found:
    """Return the file that `found_bytes` described."""
    path, *rest = json.loads(data)
    return Found(Path(path), *rest)


def drawing_bytes(path: Path, drawing: Drawing) -> bytes:
    """Return a request to draw a page of the file at `path`."""
    return json.dumps({"path": str(path), **asdict(drawing)}).encode()


def drawing_of(data: bytes) -> tuple[Path, Drawing] | None:
    """Return the request that `drawing_bytes` wrote; None for any other."""
    values = json.loads(data)
    if not isinstance(values, dict):
        return None
    path = Path(values.pop("path"))
    marks = tuple(Mark(tuple(mark["box"]), tuple(mark["colour"]), mark["filled"]) for mark in values.pop("marks"))
    spans = tuple((start, end) for start, end in values.pop("spans"))
    return path, Drawing(**{**values, "marks": marks, "spans": spans, "colour": tuple(values["colour"])})


def settings_bytes(settings: ExtractSettings) -> bytes:
    """Return extraction settings as bytes."""
    return json.dumps(asdict(settings)).encode()


def settings_of(data: bytes) -> ExtractSettings:
    """Return the settings that `settings_bytes` wrote."""
    values: dict[str, Any] = json.loads(data)
    tuples = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return replace(ExtractSettings(), **{**values, **tuples})
