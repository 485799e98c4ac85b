"""The writer's side of the truth: documents, chunks, keywords and vectors of one state, changed unit by unit."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rag_index.errors import StoreError
from rag_index.settings import Settings
from rag_index.store import languages, schema
from rag_index.store.failpoints import passing
from rag_index.store.layout import drop_folder, sync_folder
from rag_index.store.matrix import BLOCK, VectorFile
from rag_index.store.packing import pack_document, pack_path, unpack_document
from rag_index.store.rows import Hint, Known, Piece, Prepared
from rag_index.store.schema import transaction
from rag_index.store.seal import close_sealed, seal, seal_holds, unseal
from rag_index.store.stored import read_known, unpack_live
from rag_index.types import Document, Ledger, ModelInfo

if TYPE_CHECKING:
    from rag_index.types import Matrix

_MANY = 500
"""Keys in one query."""
_LOG_LIMIT = 64 << 20
"""Bytes of write-ahead log at which a long build copies it into the database."""


class Manifest:
    """One state, open for its one writer (who holds the lock). Not thread-safe. Close it, or use it as a context.

    Every method that changes something is one transaction: after a crash all of it is there, or nothing.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._sql = connection
        self._changed = False
        where = self.value("vectors")
        self._number, rows = int(where["file"]), int(where["rows"])
        last = connection.execute("SELECT crc FROM sums WHERE block = ?", (rows // BLOCK,)).fetchone()
        path = folder / f"vectors-{self._number}.f32"
        self._vectors = VectorFile(path, self.model.dimension, rows, last[0] if last and rows % BLOCK else 0)
        (packed,) = connection.execute("SELECT value FROM state WHERE name = 'live'").fetchone()
        self.live = unpack_live(packed, rows)
        self._generation = int(self.value("generation"))

    @classmethod
    def create(
        cls, folder: Path, settings: Settings, model: ModelInfo, *, root: str, generation: int = 0, index_id: str = ""
    ) -> Self:
        """Make a new, empty state in `folder`, which may not be there yet; it appears whole or not at all."""
        values = {
            "settings": settings.to_dict(),
            "model": asdict(model),
            "root": root,
            "index_id": index_id or os.urandom(16).hex(),
            "scopes": [],
            "generation": generation,
            "vectors": {"file": 1, "rows": 0},
            "built_at": None,
            "last": {},
        }
        rows = [(name, json.dumps(value)) for name, value in values.items()]
        aside = folder.with_name(f"{folder.name}.tmp")
        with schema.failures(folder):
            drop_folder(aside)
            aside.mkdir()
            connection = schema.create(aside)
            with transaction(connection):
                connection.executemany("INSERT INTO state VALUES (?, ?)", [*rows, ("live", b"")])
            connection.close()
            sync_folder(aside)
            aside.rename(folder)
            sync_folder(folder.parent)
        passing("state-created")
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the state in `folder` to change it.

        Raises:
            IndexMismatchError: another version of the program made it.
            IndexDamagedError: it can't be read.
        """
        with schema.failures(folder):
            connection = schema.open_to_write(folder)
            try:
                if not seal_holds(folder):
                    schema.quick_check(connection, folder)
                return cls(folder, connection)
            except BaseException:
                connection.close()
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Put the seal on and close the files."""
        try:
            self.seal()
        except StoreError:  # the disk is full
            unseal(self.folder)
        finally:
            self._vectors.close()
            close_sealed(self.folder, self._sql)

    # --- what is there ---

    def value(self, name: str) -> Any:  # noqa: ANN401 (JSON)
        """Return one of the values that describe the state: ``settings``, ``model``, ``scopes`` ..."""
        row = self._sql.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
        return json.loads(row[0]) if row else None

    @property
    def model(self) -> ModelInfo:
        """Identity of the model whose vectors are stored."""
        values = self.value("model")
        return ModelInfo(**{**values, "languages": tuple(values["languages"])})

    def totals(self) -> tuple[int, Ledger]:
        """Return how many chunks are live, and their tokens."""
        row = self._sql.execute(
            "SELECT total(chunks), total(seen), total(cut), total(unknown) FROM documents"
        ).fetchone()
        chunks, seen, cut, unknown = map(int, row)
        return chunks, Ledger(seen, seen - cut, cut, unknown)

    def by_language(self) -> list[languages.LanguageRow]:
        """Return how much is live in each language, most tokens first."""
        return languages.read_languages(self._sql)

    def known(self) -> dict[str, Known]:
        """Return every document's path and what it looked like when it was read."""
        return read_known(self._sql)

    def document(self, path: str) -> Document | None:
        """Return the stored document called `path`, or None."""
        row = self._sql.execute(
            "SELECT data FROM bodies JOIN documents ON id = document WHERE path = ?", (pack_path(path),)
        ).fetchone()
        return unpack_document(row[0]) if row else None

    def slots(self, keys: Iterable[bytes]) -> dict[bytes, int]:
        """Return the rows of those `keys` whose vectors are here."""
        found: dict[bytes, int] = {}
        wanted = list(set(keys))
        for start in range(0, len(wanted), _MANY):  # each call lets another thread run first, so few of them
            part = wanted[start : start + _MANY]
            marks = ",".join("?" * len(part))
            found.update(self._sql.execute(f"SELECT key, slot FROM vectors WHERE key IN ({marks})", part))
        return found

    def vectors_of(self, slots: Sequence[int]) -> Matrix:
        """Read rows of the vector file."""
        dimension = self.model.dimension
        rows = np.memmap(self._vectors.path, np.dtype("<f4"), "r", shape=(self._vectors.rows, dimension))
        return np.array(rows[list(slots)])

    # --- changes ---

    def add_vectors(self, keys: Sequence[bytes], matrix: Matrix) -> int:
        """Keep the vectors of `keys` (none of them here yet), whatever becomes of the texts that need them.

        Returns:
            The row of the first; the others follow.
        """
        first = self._vectors.rows
        if not keys:
            return first
        with schema.failures(self.folder), self._vectors.appending(matrix) as sums, self._commit():
            pairs = [(key, first + at) for at, key in enumerate(keys)]
            self._sql.executemany("INSERT INTO vectors VALUES (?, ?)", pairs)
            self._sql.executemany("INSERT OR REPLACE INTO sums VALUES (?, ?)", sums.items())
            self._put("vectors", {"file": self._number, "rows": self._vectors.rows})
        passing("keys-committed")
        self.live = np.concatenate([self.live, np.zeros(len(keys), bool)])
        return first

    def put(self, documents: Sequence[Prepared]) -> tuple[int, int]:
        """Make `documents` live in place of what was stored under their paths; their vectors must be here.

        Returns:
            How many chunks were added, and how many removed.
        """
        added = removed = 0
        with self._changing():
            passing("unit-begun")
            for prepared in documents:
                came, went = self._put_document(prepared)
                added, removed = added + came, removed + went
            passing("unit-written")
        passing("unit-committed")
        return added, removed

    def touch(self, hints: Mapping[int, Hint]) -> None:
        """Note what unchanged files look like now, by document id."""
        with self._commit():
            self._sql.executemany(
                "UPDATE documents SET size=?, mtime_ns=?, ctime_ns=?, inode=?, read_ns=? WHERE id=?",
                [(h.size, h.mtime_ns, h.ctime_ns, h.inode, h.read_ns, id_) for id_, h in hints.items()],
            )

    def remove(self, ids: Sequence[int]) -> int:
        """Forget documents; returns how many chunks went with them."""
        removed = 0
        with self._changing():
            for id_ in ids:
                removed += self._drop_chunks(id_).total()
                self._sql.execute("DELETE FROM bodies WHERE document = ?", (id_,))
                self._sql.execute("DELETE FROM documents WHERE id = ?", (id_,))
        passing("removal-committed")
        return removed

    def note(self, **values: Any) -> None:  # noqa: ANN401 (JSON)
        """Set values that describe the state."""
        with self._commit():
            for name, value in values.items():
                self._put(name, value)

    def seal(self) -> None:
        """Copy the write-ahead log into the database and put the seal on, if anything changed since the last one."""
        log = self.folder / f"{schema.DATABASE}-wal"
        if self._changed or (log.exists() and log.stat().st_size) or not (self.folder / "seal").exists():
            with schema.failures(self.folder):
                seal(self.folder, self._sql)
            self._changed = False
            for path in self.folder.glob("vectors-*.f32"):  # left by a compaction, which the log no longer needs
                if path != self._vectors.path:
                    path.unlink(missing_ok=True)

    def relieve_log(self) -> None:
        """Copy the write-ahead log into the database when it has grown long."""
        log = self.folder / f"{schema.DATABASE}-wal"
        if log.exists() and log.stat().st_size > _LOG_LIMIT:
            with schema.failures(self.folder):
                unseal(self.folder)
                self._sql.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            self._changed = True

    def compact(self) -> bool:
        """Rewrite the vector file without dead vectors if they are the larger part; returns whether it was done."""
        live = int(self.live.sum())
        if len(self.live) - live <= max(live, BLOCK):
            return False
        old = self._vectors
        number = self._number + 1
        keep = [slot for (slot,) in self._sql.execute("SELECT slot FROM texts GROUP BY slot ORDER BY min(uid)")]
        with schema.failures(self.folder):
            new = VectorFile(self.folder / f"vectors-{number}.f32", old.dimension, 0, 0)
            sums: dict[int, int] = {}
            for at in range(0, len(keep), BLOCK):
                with new.appending(self.vectors_of(keep[at : at + BLOCK])) as part:
                    sums.update(part)
            sync_folder(self.folder)
            passing("compaction-written")
            self._move(keep, sums, number)
            passing("compaction-committed")
            self._vectors, self._number = new, number
            old.close()
            self.seal()  # the log holds the move; were the log lost, the old file would still be needed
        return True

    # --- parts ---

    @contextmanager
    def _commit(self) -> Iterator[None]:
        with schema.failures(self.folder), transaction(self._sql):
            yield
        self._changed = True

    @contextmanager
    def _changing(self, step: int = 1) -> Iterator[None]:
        """One transaction that changes which vectors are live; after a `step` queries may answer otherwise."""
        before = self.live.copy()
        try:
            with self._commit():
                yield
                self._sql.execute("UPDATE state SET value = ? WHERE name = 'live'", (np.packbits(self.live).tobytes(),))
                self._put("generation", self._generation + step)
        except BaseException:
            self.live = before
            raise
        self._generation += step

    def _put(self, name: str, value: Any) -> None:  # noqa: ANN401 (JSON)
        self._sql.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, json.dumps(value)))

    def _put_document(self, prepared: Prepared) -> tuple[int, int]:
        document, source, hint = prepared.document, prepared.document.source, prepared.hint
        path = pack_path(source.path)
        row = self._sql.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
        values = {
            "path": path, "origin": prepared.origin, "status": document.status.value,
            "reason": document.reason, "format": source.format, "language": prepared.language,
            "sha256": source.sha256, "extractor": source.extractor, "size": hint.size or source.size,
            "mtime_ns": hint.mtime_ns or source.mtime_ns, "ctime_ns": hint.ctime_ns, "inode": hint.inode,
            "read_ns": hint.read_ns, "meta": json.dumps(dict(document.meta), sort_keys=True),
            "chunks": len(prepared.pieces), "seen": prepared.ledger.seen, "cut": prepared.ledger.cut,
            "unknown": prepared.ledger.unknown,
        }  # fmt: skip
        names = ", ".join(values)
        new, old = Counter(piece.uid for piece in prepared.pieces), Counter[bytes]()
        if row:
            id_ = row[0]
            old = self._drop_chunks(id_, keep=new.keys())
            marks = ", ".join(f"{name} = ?" for name in values)
            self._sql.execute(f"UPDATE documents SET {marks} WHERE id = ?", (*values.values(), id_))
        else:
            marks = ", ".join("?" * len(values))
            id_ = self._sql.execute(
                f"INSERT INTO documents ({names}) VALUES ({marks})", tuple(values.values())
            ).lastrowid
        self._sql.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?)", (id_, pack_document(document)))
        self._put_pieces(id_, prepared.pieces)
        return (new - old).total(), (old - new).total()

    def _put_pieces(self, document: int | None, pieces: Sequence[Piece]) -> None:
        rows = []
        for place, piece in enumerate(pieces):
            text = self._text_id(piece)
            rows.append((document, place, piece.start, piece.end, text, self._heading_id(piece.heading)))
        self._sql.executemany(
            "INSERT INTO chunks (document, place, start, stop, text, heading) VALUES (?, ?, ?, ?, ?, ?)", rows
        )

    def _text_id(self, piece: Piece) -> int:
        row = self._sql.execute("SELECT id FROM texts WHERE uid = ?", (piece.uid,)).fetchone()
        if row:
            return int(row[0])
        (slot,) = self._sql.execute("SELECT slot FROM vectors WHERE key = ?", (piece.key,)).fetchone()
        made = self._sql.execute(
            "INSERT INTO texts (uid, digest, slot) VALUES (?, ?, ?)", (piece.uid, piece.digest, slot)
        ).lastrowid
        id_ = int(made or 0)
        self._sql.execute("INSERT INTO keywords (rowid, terms) VALUES (?, ?)", (id_, piece.terms))
        terms = zlib.compress(piece.terms.encode("utf-8", "surrogatepass"), 1)
        self._sql.execute("INSERT INTO terms VALUES (?, ?)", (id_, terms))
        self.live[slot] = True
        return id_

    def _heading_id(self, path: str) -> int:
        self._sql.execute("INSERT OR IGNORE INTO headings (path) VALUES (?)", (path,))
        return int(self._sql.execute("SELECT id FROM headings WHERE path = ?", (path,)).fetchone()[0])

    def _drop_chunks(self, document: int, keep: Container[bytes] = ()) -> Counter[bytes]:
        """Delete the chunks of a document, and the texts that no chunk holds any more but those in `keep`."""
        rows = self._sql.execute(
            "SELECT t.id, t.uid, t.slot FROM chunks c JOIN texts t ON t.id = c.text WHERE c.document = ?", (document,)
        ).fetchall()
        self._sql.execute("DELETE FROM chunks WHERE document = ?", (document,))
        for text, uid, slot in set(rows):
            used = self._sql.execute("SELECT 1 FROM chunks WHERE text = ? LIMIT 1", (text,)).fetchone()
            if not used and uid not in keep:
                self._drop_text(text, slot)
        return Counter(uid for _, uid, _ in rows)

    def _drop_text(self, text: int, slot: int) -> None:
        (data,) = self._sql.execute("SELECT data FROM terms WHERE text = ?", (text,)).fetchone()
        terms = zlib.decompress(data).decode("utf-8", "surrogatepass")
        self._sql.execute("INSERT INTO keywords (keywords, rowid, terms) VALUES ('delete', ?, ?)", (text, terms))
        self._sql.execute("DELETE FROM terms WHERE text = ?", (text,))
        self._sql.execute("DELETE FROM texts WHERE id = ?", (text,))
        if not self._sql.execute("SELECT 1 FROM texts WHERE slot = ? LIMIT 1", (slot,)).fetchone():
            self.live[slot] = False

    def _move(self, keep: Sequence[int], sums: Mapping[int, int], number: int) -> None:
        """Let `keep` be the rows of the new vector file, in order."""
        place = {slot: at for at, slot in enumerate(keep)}
        with self._changing(step=0):
            keys = [(k, place[s]) for k, s in self._sql.execute("SELECT key, slot FROM vectors") if s in place]
            texts = [(place[s], t) for t, s in self._sql.execute("SELECT id, slot FROM texts")]
            self._sql.execute("DELETE FROM vectors")
            self._sql.executemany("INSERT INTO vectors VALUES (?, ?)", keys)
            self._sql.executemany("UPDATE texts SET slot = ? WHERE id = ?", texts)
            self._sql.execute("DELETE FROM sums")
            self._sql.executemany("INSERT INTO sums VALUES (?, ?)", sums.items())
            self._put("vectors", {"file": number, "rows": len(keep)})
            self.live = np.ones(len(keep), bool)
