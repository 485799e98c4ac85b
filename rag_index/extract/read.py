"""One file to one document: read once, told apart by content, never an exception for what is in it."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import replace
from pathlib import Path

from rag_index.extract.archive import Refused
from rag_index.extract.discover import Found
from rag_index.extract.formats import Kind, kind_of
from rag_index.settings import ExtractSettings
from rag_index.types import Document, Source, Status, Warn

VERSION = "3"
"""Changes when the text, blocks or packed positions of any format change: files are then read again."""

_PIECE = 1 << 20


def read_document(found: Found, settings: ExtractSettings) -> Document:
    """Read and extract one file in this process; text and hash come from the same bytes.

    Raises nothing for bad input: the document's status and reason say what is wrong. A native parser may still end
    the process, and nothing bounds time: `Workers` is for files that are not trusted.
    """
    source = Source(found.name, size=found.size, mtime_ns=found.mtime_ns)
    if found.status is not None:
        return Document(source, found.status, found.reason)
    try:
        data = read_bytes(found.path, settings)
    except OSError as error:
        return Document(source, Status.UNREADABLE, error.strerror or str(error))
    if data is None:
        return Document(source, Status.TOO_LARGE, too_large(found.size, settings))
    return replace_source(extract_bytes(data, found.name, settings), mtime_ns=found.mtime_ns)


def too_large(size: int, settings: ExtractSettings) -> str:
    """Return the reason for leaving out a file of `size` bytes."""
    return f"{size / 1e6:.1f} MB is more than max_file_mb = {settings.max_file_mb:g}"


def replace_source(document: Document, *, mtime_ns: int) -> Document:
    """Return the document with the time of its file."""
    return replace(document, source=replace(document.source, mtime_ns=mtime_ns))


def read_bytes(path: Path, settings: ExtractSettings) -> bytes | None:
    """Return a regular file's bytes, or None when there are too many; a FIFO or a link is never opened for reading."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a regular file")
        limit = int(settings.max_file_mb * 1e6)
        pieces = []
        left = limit + 1
        while left > 0 and (piece := file.read(min(_PIECE, left))):
            pieces.append(piece)
            left -= len(piece)
    return b"".join(pieces) if left > 0 else None


def extract_bytes(data: bytes, name: str, settings: ExtractSettings) -> Document:
    """Extract a document from bytes; the format is told by content, then by `name`."""
    source = Source(name, sha256=hashlib.sha256(data).hexdigest(), size=len(data))
    if not data:
        return Document(source, Status.EMPTY, "the file has no bytes")
    kind = kind_of(data, name)
    source = replace(source, format=kind.name, extractor=f"{kind.name or 'none'}/{VERSION}")
    if kind.format is None:
        return Document(source, kind.status, kind.says)
    document = _extract(data, source, kind, settings)
    if kind.says:
        document = replace(document, warnings=(Warn("mismatch", kind.says), *document.warnings))
    return _within(document, settings)


def _extract(data: bytes, source: Source, kind: Kind, settings: ExtractSettings) -> Document:
    """Run the reader of the format; what it can't make sense of is damaged, what it can't hold too large."""
    assert kind.format is not None  # noqa: S101 (the caller has looked)
    try:
        return kind.format.extractor()(data, source, settings)
    except Refused as refusal:
        return Document(source, refusal.status, refusal.reason)
    except MemoryError:
        return Document(source, Status.CRASHED, f"needs more than memory_mb = {settings.memory_mb}")
    except RecursionError:
        return Document(source, Status.DAMAGED, "nested too deeply")
    except Exception as error:  # noqa: BLE001 (whatever a reader or plug-in raises costs this file only)
        return Document(source, Status.DAMAGED, f"{type(error).__name__}: {error}"[:300])


def _within(document: Document, settings: ExtractSettings) -> Document:
    """Cut a text longer than the limit, and say so."""
    limit = settings.max_text
    if len(document.text) <= limit:
        return document
    blocks = tuple(
        replace(block, start=min(block.start, limit), end=min(block.end, limit)) for block in document.blocks
    )
    reason = f"only the first {limit} of {len(document.text)} characters: max_text"
    return replace(document, status=Status.PARTIAL, reason=reason, text=document.text[:limit], blocks=blocks)
