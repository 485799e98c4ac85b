"""What is stored and what is read back: plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from rag_index.settings import Settings
from rag_index.types import Document, Ledger, ModelInfo, Status


@dataclass(frozen=True, slots=True)
class Hint:
    """What a file looked like when it was read; only a hint that it is still the same.

    Attributes:
        size: Bytes.
        mtime_ns: Modification time.
        ctime_ns: Time of the last change of content or name; no user can set it.
        inode: Number of the file.
        read_ns: When it was read, by the clock; a file changed about then or later may have changed after.
    """

    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0
    read_ns: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What a build must know of a stored document to decide whether to read its file."""

    id: int
    origin: str
    status: Status
    reason: str
    sha256: str
    extractor: str
    hint: Hint


@dataclass(frozen=True, slots=True)
class Piece:
    """One chunk on its way into the index.

    Attributes:
        start: First code point in the document.
        end: One past the last.
        uid: Identity of the text: 16 bytes made from its content.
        digest: 16 bytes of a hash of the exact text.
        key: Key of its vector.
        embedded: What the model reads.
        terms: What the keyword search reads.
        heading: Titles of the sections around its start, joined by ``HEADING_SEPARATOR``; after a ``PATH_SEPARATOR``
            those of each section that begins inside.
        tokens: Tokens, those added to every text included.
    """

    start: int
    end: int
    uid: bytes
    digest: bytes
    key: bytes
    embedded: str
    terms: str
    heading: str = ""
    tokens: int = 0


HEADING_SEPARATOR = "\x1f"
PATH_SEPARATOR = "\x1e"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document with its chunks, ready to be stored.

    `origin` tells files from texts that were added; `language` is an ISO 639-1 code or "".
    """

    document: Document
    origin: str = "file"
    hint: Hint = field(default_factory=Hint)
    pieces: tuple[Piece, ...] = ()
    ledger: Ledger = field(default_factory=Ledger)
    language: str = ""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as the index lists it, text not included; all statuses.

    Attributes:
        id: Number in this index.
        path: Name: POSIX, relative to the root, or what an application called it.
        status: How its extraction ended.
        reason: Why it isn't searchable, or only in part.
        format: ``markdown``, ``pdf``, ...
        language: ISO 639-1 code, or "" where not known.
        sha256: Hex digest of the file's bytes.
        size: Bytes.
        mtime_ns: Modification time when it was read.
        meta: Title, author, ... as the file or the application gave them.
        chunks: How many chunks it has.
        origin: ``file``, or ``added`` for a text without a file.
    """

    id: int
    path: str
    status: Status
    reason: str
    format: str
    language: str
    sha256: str
    size: int
    mtime_ns: int
    meta: Mapping[str, str]
    chunks: int
    origin: str = "file"


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A live chunk.

    Attributes:
        id: Number in this index.
        uid: Identity of its text, made from the content: the same in every index.
        document: Id of its document.
        index: 0-based place in its document.
        start: First code point.
        end: One past the last.
        total: Chunks of its document.
        heading: Titles of the sections around its start, outermost first.
    """

    id: int
    uid: str
    document: int
    index: int
    start: int
    end: int
    total: int
    heading: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is live: `texts` counts different texts, `dead` vectors without a text."""

    documents: int = 0
    searchable: int = 0
    chunks: int = 0
    texts: int = 0
    vectors: int = 0

    @property
    def dead(self) -> int:
        """Vectors kept for texts that are no longer in the index."""
        return self.vectors - self.texts


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """How an index was made.

    Attributes:
        settings: What decided its content; a query takes these and no others.
        model: Identity of the model.
        ledger: Tokens of all live chunks.
        generation: Counts up with every change of the content.
        root: Folder that document paths are relative to.
        scopes: Paths below the root that were indexed.
        built_at: End of the last build (UTC), None while the first one has not ended.
        counts: How much is live.
        last: Report of the last build that ended.
    """

    settings: Settings
    model: ModelInfo
    ledger: Ledger
    generation: int
    root: Path
    scopes: tuple[str, ...]
    built_at: datetime | None
    counts: Counts
    last: Mapping[str, Any] = field(default_factory=dict)
