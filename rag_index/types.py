"""The nouns of the pipeline and the Protocols at its seams; frozen, slotted, and importing nothing of ours.

Every position is a code point offset into ``Document.text``, half-open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float32]
    """One embedding, shape (dimension,), L2-normalised."""
    Matrix: TypeAlias = NDArray[np.float32]
    """Embeddings, shape (n, dimension), each row L2-normalised."""


class Status(StrEnum):
    """How the extraction of one file ended. Only OK and PARTIAL documents are searchable."""

    OK = "ok"
    PARTIAL = "partial"
    NO_TEXT = "no_text"
    ENCRYPTED = "encrypted"
    DAMAGED = "damaged"
    EMPTY = "empty"
    UNSUPPORTED = "unsupported"
    MISMATCH = "mismatch"
    TOO_LARGE = "too_large"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    UNREADABLE = "unreadable"
    SKIPPED = "skipped"

    @property
    def searchable(self) -> bool:
        """Whether documents of this status enter the index."""
        return self in {Status.OK, Status.PARTIAL}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points: ``0 <= start <= end``."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """Return the passage of `text` that this span marks."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a document that its format names: a page, a section, a code fence, a table row.

    Attributes:
        start: First code point of the block in ``Document.text``.
        end: One past its last.
        kind: ``section`` (a heading and all below it), ``heading``, ``paragraph``, ``item``, ``code``,
            ``table``, ``row``, ``page``, ``slide``, ``sheet``, ``cell``, ``message``, ``chapter``, ``note``,
            ``definition`` (of source code), ...
        label: What a person would call it: a heading's text, a page's label, ``Q1!A7:D7``.
        role: ``body``, ``furniture`` (navigation, running headers) or ``hidden``; only ``body`` is chunked.
        level: Depth of a heading or section (1 = top), else 0.
        parent: Index in ``Document.blocks`` of the enclosing block, or -1.
    """

    start: int
    end: int
    kind: str
    label: str = ""
    role: str = "body"
    level: int = 0
    parent: int = -1


@dataclass(frozen=True, slots=True)
class Warn:
    """Something the reader of a file should know. `code` is stable, `message` is for people."""

    code: str
    message: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Source:
    """Where a document came from.

    Attributes:
        path: Name in the index: POSIX, relative to the indexed root; undecodable bytes stay surrogate escapes.
        sha256: Hex digest of the file's bytes; text and digest come from one read.
        size: Bytes.
        mtime_ns: Modification time, a hint only.
        format: ``text``, ``markdown``, ``html``, ``pdf``, ``python``, ...
        encoding: Codec that decoded the bytes, or None where bytes are not text.
        bom: Bytes of byte order mark before the text.
        extractor: Name and version; part of what decides whether a file is read again.
    """

    path: str
    sha256: str = ""
    size: int = 0
    mtime_ns: int = 0
    format: str = ""
    encoding: str | None = None
    bom: int = 0
    extractor: str = ""


@dataclass(frozen=True, slots=True)
class PositionMap:
    """How the text lies in the file, packed; ``rag_index.extract.positions`` reads it.

    Attributes:
        kind: ``identity`` (text formats: lines follow from the text), ``runs`` (HTML), ``pdf``, ``blocks``.
        data: Packed records, empty for ``identity`` and ``blocks``. Survives without the source file.
    """

    kind: str = "identity"
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Document:
    """One file as text. ``text`` is the only text there is; nothing downstream edits it."""

    source: Source
    status: Status = Status.OK
    reason: str = ""
    text: str = ""
    blocks: tuple[Block, ...] = ()
    positions: PositionMap = PositionMap()
    warnings: tuple[Warn, ...] = ()
    meta: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle on a PDF page: points, origin lower left, page not rotated."""

    page: int
    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class Location:
    """Where a passage stands in its file, as a person would look for it.

    Attributes:
        label: Short form: ``p. 3``, ``L10-14``, ``Q1!A7:D7``, ``Guide > Install``.
        link: Opens the place: ``guide.pdf#page=3``, ``readme.md#L10-L14``, ``page.html#:~:text=...``.
        page: 1-based page or slide, where there is one.
        line: 1-based first line as an editor counts (LF, CR and CRLF end a line), for text formats.
        end_line: 1-based last line.
        column: 1-based column of the first character, in code points.
        heading: Titles of the enclosing sections, outermost first.
        rects: Rectangles of the passage, for PDF.
    """

    label: str = ""
    link: str = ""
    page: int | None = None
    line: int | None = None
    end_line: int | None = None
    column: int | None = None
    heading: tuple[str, ...] = ()
    rects: tuple[Rect, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A slice of a document: ``text == document.text[start:end]``.

    Attributes:
        text: The passage.
        index: 0-based place among the chunks of its document.
        start: First code point.
        end: One past the last.
        total_chunks: How many chunks the document has; None while the input is still open.
        document: Path of the document, or "".
    """

    text: str
    index: int
    start: int
    end: int
    total_chunks: int | None = None
    document: str = ""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Where a model's tokens lie in one text, found once; positions in code points, ascending.

    Attributes:
        starts: First code point of each token.
        ends: One past the last of each token.
        unknown: Starts of the tokens that the model doesn't know.
        extra: Tokens added to every text: special tokens and the document prompt.
        limit: Most tokens the model reads, `extra` included; None when it has no limit.
    """

    starts: Sequence[int]
    ends: Sequence[int]
    unknown: Sequence[int] = ()
    extra: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Ledger:
    """Tokens of a build, summed over chunks: shared text counts in each chunk that holds it.

    Attributes:
        seen: Tokens in the chunks.
        embedded: Tokens that the model read.
        cut: Tokens beyond the model's limit: 0 unless a user's own chunker made chunks too long to split.
        unknown: Tokens that the model doesn't know.
    """

    seen: int = 0
    embedded: int = 0
    cut: int = 0
    unknown: int = 0

    def __add__(self, other: Ledger) -> Ledger:
        return Ledger(
            self.seen + other.seen,
            self.embedded + other.embedded,
            self.cut + other.cut,
            self.unknown + other.unknown,
        )


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What decides whether two vectors may be compared.

    Attributes:
        name: As the user named it.
        fingerprint: Digest of weights, tokenizer, pooling and normalisation. Engines of one model share it:
            their vectors agree within the stated tolerance. Vectors' keys hold the document prompt beside it.
        dimension: Length of a vector.
        max_tokens: Most tokens read, special ones included; None when there is no limit.
        query_prompt: Put before every question.
        document_prompt: Put before every chunk.
        engine: ``sentence-transformers``, ``openvino``, ``use`` or ``hash``.
        precision: ``fp32`` or ``bf16``.
        languages: ISO 639-1 codes that the model was made for; empty when not known.
    """

    name: str
    fingerprint: str
    dimension: int
    max_tokens: int | None = None
    query_prompt: str = ""
    document_prompt: str = ""
    engine: str = ""
    precision: str = "fp32"
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents may answer; applied before the best are chosen.

    Attributes:
        paths: Globs over document paths (``**`` crosses folders); any may match.
        formats: Formats; any may match.
        heading: Text that a title on the passage's heading path contains, case ignored.
        meta: Metadata values that must be equal.
        modified_since: Modification time in seconds since the epoch.
    """

    paths: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    heading: str = ""
    meta: tuple[tuple[str, str], ...] = ()
    modified_since: float | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A passage's place: a document and a span in it."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """One answer: a slice of one document that no other answer shares a character with.

    Attributes:
        path: Document.
        start: First code point.
        end: One past the last.
        text: ``document.text[start:end]``.
        score: 0 to 1; its meaning follows the search mode (see ``rag_index.search``).
        chunks: Ids of the chunks that it was made from, best first.
        highlights: Spans in the document, each inside the passage, ascending.
        location: Where it stands in the file.
        also: Other places with the same text.
        parts: The parts of the score: ``dense``, ``keyword``, ...
        stale: The file has changed since the build.
        note: What a person should know about it: "not found again in the changed file".
    """

    path: str
    start: int
    end: int
    text: str
    score: float
    chunks: tuple[str, ...] = ()
    highlights: tuple[Span, ...] = ()
    location: Location = Location()
    also: tuple[Place, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    stale: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """What a long job tells whoever watches: `done` of `total` (None: not known) in `stage`."""

    stage: str
    done: int = 0
    total: int | None = None
    note: str = ""


Reporter: TypeAlias = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Report to nobody."""


class Extractor(Protocol):
    """Turn the bytes of one file into a document. Raises nothing for bad input: the status says it."""

    def __call__(self, data: bytes, source: Source, options: Any, /) -> Document: ...  # noqa: ANN401, D102


class Chunker(Protocol):
    """Cut a text into spans, lazily, in order; any function of this shape is a chunker."""

    def __call__(self, text: str, /) -> Iterable[Span]: ...  # noqa: D102


class Embedder(Protocol):
    """A model that turns texts into vectors: one owner at a time, but `tokens` may be called beside `embed`."""

    @property
    def info(self) -> ModelInfo:
        """Identity and limits of the model."""
        ...

    def tokens(self, text: str) -> Tokens:
        """Find the token borders of `text` as the model would read it, special tokens not among them."""
        ...

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed documents, the document prompt added; one normalised row a text, in order."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Embed a question, the query prompt added."""
        ...


class VectorStore(Protocol):
    """A published set of vectors: a Chroma folder or a collection on a server."""

    def add(self, records: Iterator[tuple[str, Sequence[float], str, Mapping[str, str | int]]]) -> int:
        """Add (id, vector, text, metadata) records; repeats are harmless. Returns how many."""
        ...

    def nearest(self, vector: Vector, k: int) -> list[tuple[str, float]]:
        """Return the ids of the `k` nearest records with their cosine, best first; approximate."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...
