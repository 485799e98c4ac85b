"""The index on disk: our truth in SQLite and a file of vectors, and Chroma as its published projection."""

from rag_index.store.languages import LanguageRow
from rag_index.store.layout import FOLDER, Layout, find_index
from rag_index.store.lock import WriterLock
from rag_index.store.manifest import Manifest
from rag_index.store.published import Published, chroma_folder, published
from rag_index.store.rows import (
    HEADING_SEPARATOR,
    PATH_SEPARATOR,
    ChunkRow,
    Counts,
    DocumentRow,
    Hint,
    IndexInfo,
    Known,
    Piece,
    Prepared,
)
from rag_index.store.snapshot import Snapshot, open_snapshot

__all__ = [
    "FOLDER",
    "HEADING_SEPARATOR",
    "PATH_SEPARATOR",
    "ChunkRow",
    "Counts",
    "DocumentRow",
    "Hint",
    "IndexInfo",
    "Known",
    "LanguageRow",
    "Layout",
    "Manifest",
    "Piece",
    "Prepared",
    "Published",
    "Snapshot",
    "WriterLock",
    "chroma_folder",
    "find_index",
    "open_snapshot",
    "published",
]
