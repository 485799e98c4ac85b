"""What may be wrong with one state of an index, found by reading all of it."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rag_index.errors import IndexDamagedError, RagIndexError
from rag_index.store import schema
from rag_index.store.keywords import TOKENIZER
from rag_index.store.layout import Layout
from rag_index.store.reader import Reader
from rag_index.store.rows import ChunkRow, DocumentRow
from rag_index.store.seal import seal_holds
from rag_index.store.stored import unpack_live
from rag_index.types import Document


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is not as it must be.

    Attributes:
        code: Stable name of the kind: ``pointer``, ``database``, ``vectors``, ``document``, ``chunk``, ``keywords``,
            ``count``, ``projection``.
        where: The file, document or chunk.
        message: What is wrong with it.
    """

    code: str
    where: str
    message: str


def state_faults(layout: Layout, folder: Path, *, full: bool = False) -> Iterator[Fault]:
    """Yield the faults of the state in `folder`; with `full` the keyword index is made again and compared."""
    path = folder / schema.DATABASE
    try:
        reader = Reader(layout, folder)
    except RagIndexError as error:
        yield Fault("vectors" if ".f32" in error.message else "database", str(path), error.message)
        return
    with reader:
        yield from _guarded("database", str(path), lambda: _database(reader, folder))
        yield from _guarded("vectors", str(folder), lambda: _vectors(reader))
        yield from _guarded("document", str(path), lambda: _documents(reader))
        yield from _guarded("count", str(path), lambda: _counts(reader))
        if full:
            yield from _guarded("keywords", str(path), lambda: _keywords(reader))


def _guarded(code: str, where: str, look: Callable[[], Iterator[Fault]]) -> Iterator[Fault]:
    """Turn what looking runs into into a fault: damaged data may raise anything."""
    try:
        yield from look()
    except RagIndexError as error:
        yield Fault(code, where, error.message)
    except (sqlite3.Error, zlib.error, ValueError, KeyError, TypeError, IndexError) as error:
        yield Fault(code, where, f"it can't be read: {error}")


def _database(reader: Reader, folder: Path) -> Iterator[Fault]:
    path = folder / schema.DATABASE
    seal_holds(folder)
    with reader.reading() as sql:
        for (line,) in sql.execute("PRAGMA integrity_check(10)"):
            if line != "ok":
                yield Fault("database", str(path), line)


def _vectors(reader: Reader) -> Iterator[Fault]:
    matrix = reader.matrix  # raises where a checksum differs
    with reader.reading() as sql:
        (packed,) = sql.execute("SELECT value FROM state WHERE name = 'live'").fetchone()
        used = np.zeros(len(matrix), bool)
        slots = [row[0] for row in sql.execute("SELECT DISTINCT slot FROM texts")]
        used[slots] = True
        if not np.array_equal(unpack_live(packed, len(matrix)), used):
            yield Fault("vectors", str(reader.folder), "the list of live vectors is not that of the texts")
        (double,) = sql.execute("SELECT count(*) - count(DISTINCT slot) FROM vectors").fetchone()
    if double:
        yield Fault("vectors", str(reader.folder), f"{double} rows belong to more than one key")
    for at in range(0, len(matrix), 1 << 16):
        norms = np.linalg.norm(matrix[at : at + (1 << 16)][used[at : at + (1 << 16)]], axis=1)
        if len(norms) and not np.allclose(norms, 1, atol=1e-3):
            yield Fault("vectors", str(reader.folder), "a live vector is not of length 1")


def _documents(reader: Reader) -> Iterator[Fault]:
    digests = reader.digests()
    for row in reader.documents():
        try:
            document = reader.document(row.id)
        except RagIndexError as error:
            yield Fault("document", row.path, error.message)
            continue
        if document.source.path != row.path or document.source.sha256 != row.sha256:
            yield Fault("document", row.path, "its stored text is of another version")
        yield from _chunks(row, document, reader.chunks_of(row.id), digests)


def _chunks(row: DocumentRow, document: Document, chunks: list[ChunkRow], digests: dict[int, bytes]) -> Iterator[Fault]:
    """The laws of spans: inside the text, both ends rising, never empty, and the text is the one that was embedded."""
    if len(chunks) != row.chunks or [chunk.index for chunk in chunks] != list(range(len(chunks))):
        yield Fault("count", row.path, f"it has {len(chunks)} chunks but {row.chunks} were stored")
    before = (-1, -1)
    for chunk in chunks:
        where = f"{row.path} {chunk.start}-{chunk.end}"
        text = document.text[chunk.start : chunk.end]
        if not 0 <= chunk.start < chunk.end <= len(document.text) or not text.strip():
            yield Fault("chunk", where, "it is empty or outside of the document")
        elif schema.text_hash(text) != digests.get(chunk.id):
            yield Fault("chunk", where, "its text is not the one that was embedded")
        if not (chunk.start > before[0] and chunk.end > before[1]):
            yield Fault("chunk", where, "it does not lie behind the chunk before it")
        before = (chunk.start, chunk.end)


_COUNTS = {
    "chunks without a document": "SELECT count(*) FROM chunks WHERE document NOT IN (SELECT id FROM documents)",
    "chunks without a text": "SELECT count(*) FROM chunks WHERE text NOT IN (SELECT id FROM texts)",
    "texts without a chunk": "SELECT count(*) FROM texts WHERE id NOT IN (SELECT text FROM chunks)",
    "texts without a vector": "SELECT count(*) FROM texts WHERE slot NOT IN (SELECT slot FROM vectors)",
    "texts without keywords": "SELECT count(*) FROM texts WHERE id NOT IN (SELECT text FROM terms)",
    "keywords without a text": "SELECT count(*) FROM terms WHERE text NOT IN (SELECT id FROM texts)",
    "documents without a body": "SELECT count(*) FROM documents WHERE id NOT IN (SELECT document FROM bodies)",
    "bodies without a document": "SELECT count(*) FROM bodies WHERE document NOT IN (SELECT id FROM documents)",
}


def _counts(reader: Reader) -> Iterator[Fault]:
    with reader.reading() as sql:
        for what, query in _COUNTS.items():
            (count,) = sql.execute(query).fetchone()
            if count:
                yield Fault("count", str(reader.folder / schema.DATABASE), f"{count} {what}")


def _keywords(reader: Reader) -> Iterator[Fault]:
    """Make the keyword index again from the stored terms, in memory, and compare every count."""
    with reader.reading() as sql, closing(sqlite3.connect(":memory:")) as other:
        other.execute(f"CREATE VIRTUAL TABLE keywords USING fts5 (terms, content='', tokenize=\"{TOKENIZER}\")")
        rows: Any = sql.execute("SELECT text, data FROM terms")
        other.executemany(
            "INSERT INTO keywords (rowid, terms) VALUES (?, ?)",
            ((text, zlib.decompress(data).decode("utf-8", "surrogatepass")) for text, data in rows),
        )
        other.execute("CREATE VIRTUAL TABLE words USING fts5vocab (keywords, row)")
        wanted = other.execute("SELECT term, doc, cnt FROM words ORDER BY term").fetchall()
    if wanted != reader.vocabulary():
        yield Fault("keywords", str(reader.folder / schema.DATABASE), "the keyword index is not that of the texts")


def readable(layout: Layout, folder: Path) -> bool:
    """Whether a state can be opened at all."""
    with suppress(IndexDamagedError, RagIndexError), Reader(layout, folder):
        return True
    return False
