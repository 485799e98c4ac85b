"""One state of the index for reading, the same for as long as it is open."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from rag_index.errors import IndexDamagedError, UsageError
from rag_index.settings import Settings
from rag_index.store import lock, schema
from rag_index.store.kept import Kept
from rag_index.store.languages import LanguageRow, read_languages
from rag_index.store.layout import REPAIR, Layout
from rag_index.store.matrix import map_rows, verify_rows
from rag_index.store.packing import unpack_document, unpack_path
from rag_index.store.rows import HEADING_SEPARATOR, PATH_SEPARATOR, ChunkRow, Counts, DocumentRow, IndexInfo, Known
from rag_index.store.seal import seal_holds
from rag_index.store.selection import matches
from rag_index.store.stored import read_known
from rag_index.types import Document, Filter, Ledger, ModelInfo, Status

if TYPE_CHECKING:
    from rag_index.types import Matrix

_TRIES = 3
"""How often a reader looks again when a build switches states under its hands."""

R = TypeVar("R", bound="Reader")


def open_state(index: Path, kind: type[R]) -> R:
    """Open the state of the index folder `index` that answers now; builds don't change it while it is open.

    Raises:
        IndexMissingError: there is no index.
        IndexDamagedError: a file is missing, too short, or not what was written.
        IndexMismatchError: another version of the program made it.
    """
    layout = Layout(index)
    for _ in range(_TRIES - 1):
        folder = layout.current()
        try:
            return kind(layout, folder)
        except IndexDamagedError:
            if layout.current() == folder:
                raise
    return kind(layout, layout.current())


class Reader:
    """One state of an index. A context manager; its methods may be called from several threads.

    Raises (every method):
        IndexDamagedError: what is stored can't be what was written.
    """

    def __init__(self, layout: Layout, folder: Path) -> None:
        self.index = layout.index
        self.folder = folder
        self._lock = threading.RLock()
        with schema.failures(folder):
            self._sql = schema.open_to_read(folder / schema.DATABASE)
            try:
                self._begin(layout)
            except BaseException:
                self._sql.close()
                raise
        self._frequency = lru_cache(10_000)(self._count_texts)  # what is read never changes: it is one transaction
        self.document = Kept(self._document)  # type: ignore[method-assign]

    def _begin(self, layout: Layout) -> None:
        self._sql.execute("BEGIN")
        self._rows = self._value("vectors")  # from here on, what others commit is not seen
        if not seal_holds(self.folder) and not lock.held(layout.lock):
            schema.quick_check(self._sql, self.folder)
        self._model = ModelInfo(**{**self._value("model"), "languages": tuple(self._value("model")["languages"])})
        self._path = self.folder / f"vectors-{self._rows['file']}.f32"
        self._all = map_rows(self._path, self._model.dimension, self._rows["rows"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the state."""
        with self._lock:
            self._sql.close()

    # --- what is there ---

    @property
    def generation(self) -> int:
        """Counts up with every change of the content."""
        with self.reading():
            return int(self._value("generation"))

    @property
    def index_id(self) -> str:
        """Random identity of the index; the same in all its states."""
        with self.reading():
            return str(self._value("index_id"))

    def is_current(self) -> bool:
        """Whether a snapshot opened now would hold the same."""
        layout = Layout(self.index)
        if layout.current() != self.folder:
            return False
        with schema.failures(self.folder):
            other = schema.open_to_read(self.folder / schema.DATABASE)
            try:
                (now,) = other.execute("SELECT value FROM state WHERE name = 'generation'").fetchone()
            finally:
                other.close()
        return int(json.loads(now)) == self.generation

    @cached_property
    def info(self) -> IndexInfo:
        """How the index was made, and how much it holds."""
        with self.reading() as sql:
            documents, chunks, seen, cut, unknown = sql.execute(
                "SELECT count(*), total(chunks), total(seen), total(cut), total(unknown) FROM documents"
            ).fetchone()
            (searchable,) = sql.execute("SELECT count(*) FROM documents WHERE status IN ('ok', 'partial')").fetchone()
            (texts,) = sql.execute("SELECT count(*) FROM texts").fetchone()
            built = self._value("built_at")
            return IndexInfo(
                settings=Settings.from_dict(self._value("settings")),
                model=self._model,
                ledger=Ledger(int(seen), int(seen - cut), int(cut), int(unknown)),
                generation=self.generation,
                root=Path(os.path.normpath(self.index.absolute() / self._value("root"))),
                scopes=tuple(self._value("scopes")),
                built_at=datetime.fromisoformat(built) if built else None,
                counts=Counts(documents, searchable, int(chunks), texts, self._rows["rows"]),
                last=self._value("last") or {},
            )

    def documents(self, where: Filter | None = None) -> list[DocumentRow]:
        """Return all documents, searchable or not, or those that `where` lets through; ordered by path."""
        with self.reading() as sql:
            rows = sql.execute(
                "SELECT id, path, status, reason, format, language, sha256, size, mtime_ns, meta, chunks, origin "
                "FROM documents ORDER BY path"
            ).fetchall()
            found = [_document_row(row) for row in rows]
        return [row for row in found if where is None or matches(row, where)]

    def by_language(self) -> list[LanguageRow]:
        """Return how much the index holds in each language, most tokens first."""
        with self.reading() as sql:
            return read_languages(sql)

    def known(self) -> dict[str, Known]:
        """Return every document's path and what its file looked like when it was read."""
        with self.reading() as sql:
            return read_known(sql)

    def has_vectors(self, keys: Iterable[bytes]) -> set[bytes]:
        """Return those of `keys` whose vectors are stored, live or not."""
        with self.reading() as sql:
            return {key for key in keys if sql.execute("SELECT 1 FROM vectors WHERE key = ?", (key,)).fetchone()}

    def _document(self, id: int) -> Document:  # noqa: A002 (the interface's name)
        with self.reading() as sql:
            row = sql.execute("SELECT data FROM bodies WHERE document = ?", (id,)).fetchone()
            if row is None:
                raise UsageError(f"there is no document {id}")
            return unpack_document(row[0])

    def document(self, id: int) -> Document:  # noqa: A002
        """Return the document with its text and positions; those used last are kept (see `Kept`)."""
        return self._document(id)

    def paths(self, ids: Iterable[int]) -> dict[int, str]:
        """Return the paths of documents; their texts aren't read."""
        found = self._in("SELECT id, path FROM documents WHERE id IN", ids)
        return {id_: unpack_path(path) for id_, path in found}

    def chunks(self, ids: Sequence[int]) -> dict[int, ChunkRow]:
        """Return chunks by id; ids that aren't live are left out."""
        return {row.id: row for row in self._chunk_rows("c.id", ids)}

    def chunks_of(self, document: int) -> list[ChunkRow]:
        """Return the chunks of a document, in order."""
        return sorted(self._chunk_rows("c.document", [document]), key=lambda row: row.index)

    def same_text(self, ids: Sequence[int]) -> dict[int, list[int]]:
        """Return, for each chunk, the other live chunks with the very same text, ordered by path and place."""
        found: dict[int, list[int]] = {id_: [] for id_ in ids}
        with self.reading() as sql:
            for id_ in ids:
                rows = sql.execute(
                    "SELECT o.id FROM chunks c JOIN texts t ON t.id = c.text JOIN texts s ON s.digest = t.digest "
                    "JOIN chunks o ON o.text = s.id JOIN documents d ON d.id = o.document "
                    "WHERE c.id = ? AND o.id <> c.id ORDER BY d.path, o.place",
                    (id_,),
                )
                found[id_] = [row[0] for row in rows]
        return found

    def vectors(self, ids: Sequence[int]) -> Matrix:
        """Return the vectors of chunks, one row each, in the order given."""
        slots = dict(self._in("SELECT c.id, t.slot FROM chunks c JOIN texts t ON t.id = c.text WHERE c.id IN", ids))
        return self._matrix[np.array([slots[id_] for id_ in ids], np.int64)]

    def places(self, after: int = 0) -> list[Any]:
        """Return where each text whose id is above `after` stands, ordered by path and place (see ``records``)."""
        with self.reading() as sql:
            return sql.execute(
                "SELECT t.id, t.uid, t.slot, d.id, d.path, d.sha256, c.place, d.chunks, c.start, c.stop, h.path, "
                "json_extract(d.meta, '$.title') FROM texts t JOIN chunks c ON c.text = t.id "
                "JOIN documents d ON d.id = c.document JOIN headings h ON h.id = c.heading WHERE t.id > ? "
                "ORDER BY d.path, c.place",
                (after,),
            ).fetchall()

    @property
    def matrix(self) -> Matrix:
        """All stored vectors, mapped and checked; rows by slot."""
        return self._matrix

    def vocabulary(self) -> list[tuple[str, int, int]]:
        """Return every term of the keyword index with the texts that hold it, and how often they do."""
        with self.reading() as sql:
            sql.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab (main, keywords, row)")
            return sql.execute("SELECT term, doc, cnt FROM temp.words ORDER BY term").fetchall()

    def uids(self) -> set[bytes]:
        """Return the identities of all live texts."""
        with self.reading() as sql:
            return {row[0] for row in sql.execute("SELECT uid FROM texts")}

    def digests(self) -> dict[int, bytes]:
        """Return the hash of the text of every chunk, by its id."""
        with self.reading() as sql:
            return dict(sql.execute("SELECT c.id, t.digest FROM chunks c JOIN texts t ON t.id = c.text"))

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Return in how many texts each of `terms` occurs; terms that occur nowhere are left out."""
        return {term: count for term in terms if (count := self._frequency(term))}

    # --- parts ---

    def _count_texts(self, term: str) -> int:
        """Return in how many texts a term occurs; SQLite reads the whole list of them to tell."""
        with self.reading() as sql:
            sql.execute("CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab (main, keywords, row)")
            row = sql.execute("SELECT doc FROM temp.words WHERE term = ?", (term,)).fetchone()
            return int(row[0]) if row else 0

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread, and say what its failures mean."""
        with self._lock, schema.failures(self.folder):
            yield self._sql

    @cached_property
    def _matrix(self) -> Matrix:
        with self.reading() as sql:
            verify_rows(self._all, dict(sql.execute("SELECT block, crc FROM sums")), self._path)
        return self._all

    def _value(self, name: str) -> Any:  # noqa: ANN401 (JSON)
        row = self._sql.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise IndexDamagedError(f"{self.folder / schema.DATABASE} is damaged: it has no {name!r}", REPAIR)
        return json.loads(row[0])

    def _chunk_rows(self, column: str, ids: Sequence[int]) -> list[ChunkRow]:
        rows = self._in(
            "SELECT c.id, t.uid, c.document, c.place, c.start, c.stop, d.chunks, h.path FROM chunks c "
            "JOIN texts t ON t.id = c.text JOIN documents d ON d.id = c.document JOIN headings h ON h.id = c.heading "
            f"WHERE {column} IN",
            ids,
        )
        return [
            ChunkRow(id_, uid.hex(), document, place, start, stop, total, _titles(heading))
            for id_, uid, document, place, start, stop, total, heading in rows
        ]

    def _in(self, query: str, values: Iterable[int]) -> list[Any]:
        """Run a query that ends in ``IN`` for `values`, however many."""
        with self.reading() as sql:
            return sql.execute(f"{query} (SELECT value FROM json_each(?))", (json.dumps(list(values)),)).fetchall()


def _titles(heading: str) -> tuple[str, ...]:
    at_start = heading.partition(PATH_SEPARATOR)[0]
    return tuple(at_start.split(HEADING_SEPARATOR)) if at_start else ()


def _document_row(row: Any) -> DocumentRow:  # noqa: ANN401 (a row of SQLite)
    id_, path, status, reason, format_, language, sha256, size, mtime_ns, meta, chunks, origin = row
    return DocumentRow(
        id=id_,
        path=unpack_path(path),
        status=Status(status),
        reason=reason,
        format=format_,
        language=language,
        sha256=sha256,
        size=size,
        mtime_ns=mtime_ns,
        meta=json.loads(meta),
        chunks=chunks,
        origin=origin,
    )
