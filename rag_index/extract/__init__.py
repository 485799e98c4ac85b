"""Files to documents: discovery, a reader for every format, positions, search text, isolated processes."""

from __future__ import annotations

from rag_index.extract.discover import Found, discover
from rag_index.extract.read import extract_bytes, read_document
from rag_index.extract.worker import Workers

__all__ = ["Found", "Workers", "discover", "extract_bytes", "read_document"]
