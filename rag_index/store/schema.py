"""The tables of the truth, how they are opened, and what their failures mean."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rag_index.errors import IndexDamagedError, IndexMismatchError, StoreError
from rag_index.store.keywords import TOKENIZER
from rag_index.store.layout import REPAIR, may

FORMAT = 1
"""Version of everything below the index folder. A change that older code can't read counts it up."""

APPLICATION = 0x52414749
"""``RAGI``: tells our files from other SQLite databases."""

DATABASE = "index.sqlite"

TABLES = f"""
CREATE TABLE state (name TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- Every file that was seen, searchable or not, and texts that were added without a file (`origin` tells them apart).
CREATE TABLE documents (
  id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, origin TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
  format TEXT NOT NULL, language TEXT NOT NULL, sha256 TEXT NOT NULL, extractor TEXT NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  read_ns INTEGER NOT NULL, meta TEXT NOT NULL, chunks INTEGER NOT NULL,
  seen INTEGER NOT NULL, cut INTEGER NOT NULL, unknown INTEGER NOT NULL);

-- Text, blocks, positions and warnings of a document, packed; apart, so that lists of documents stay small.
CREATE TABLE bodies (document INTEGER PRIMARY KEY, data BLOB NOT NULL);

-- Offsets: they move when text is put in front of them; what they say does not.
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL, place INTEGER NOT NULL, start INTEGER NOT NULL,
  stop INTEGER NOT NULL, text INTEGER NOT NULL, heading INTEGER NOT NULL);
CREATE UNIQUE INDEX chunks_of_document ON chunks (document, place);
CREATE INDEX chunks_of_text ON chunks (text);

-- Each different text once, however many chunks hold it; `digest` is of the text, `uid` of text and what was embedded.
CREATE TABLE texts (id INTEGER PRIMARY KEY, uid BLOB NOT NULL UNIQUE, digest BLOB NOT NULL, slot INTEGER NOT NULL);
CREATE INDEX texts_of_digest ON texts (digest);
CREATE INDEX texts_of_slot ON texts (slot);
CREATE TABLE headings (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);

-- FTS5 without content needs the very terms again to forget a row; bm25 would be wrong if rows only stayed behind.
CREATE VIRTUAL TABLE keywords USING fts5 (terms, content='', tokenize="{TOKENIZER}");
CREATE TABLE terms (text INTEGER PRIMARY KEY, data BLOB NOT NULL);

-- Vectors by what they are of: rows of the file named in `state`; kept after their text is gone, until compaction.
CREATE TABLE vectors (key BLOB PRIMARY KEY, slot INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE sums (block INTEGER PRIMARY KEY, crc INTEGER NOT NULL);
"""


def create(folder: Path) -> sqlite3.Connection:
    """Make the database of a new state in `folder` and return a connection that writes."""
    connection = _open(folder / DATABASE)
    connection.execute(f"PRAGMA application_id={APPLICATION}")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.executescript(f"BEGIN; {TABLES} PRAGMA user_version={FORMAT}; COMMIT;")
    return connection


def open_to_write(folder: Path) -> sqlite3.Connection:
    """Open the database in `folder` for its one writer.

    Raises:
        IndexMismatchError: another version of the program made it.
        IndexDamagedError: it is no such database.
    """
    path = folder / DATABASE
    if not path.is_file():
        raise IndexDamagedError(f"{path} is missing", REPAIR)
    connection = _open(path)
    check_format(connection, path)
    return connection


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=30)
    for pragma in (
        "synchronous=FULL",  # a commit that was acknowledged survives a power loss
        "wal_autocheckpoint=0",  # the main file changes only when its seal is taken off (see seal.py)
        "cache_size=-8192",  # kB; more is memory that a build of any size would fill, and was no faster
        "temp_store=MEMORY",
        "cell_size_check=ON",
        "trusted_schema=OFF",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open the database file `path` for reading only; also in a folder that can't be written.

    Raises:
        IndexMismatchError: another version of the program made it.
        IndexDamagedError: it is no such database.
    """
    if not path.is_file():
        raise IndexDamagedError(f"{path} is missing", REPAIR)
    wal = path.with_name(f"{path.name}-wal")
    frozen = not may(os.W_OK, path.parent) and not (wal.exists() and wal.stat().st_size)
    mode = "immutable=1" if frozen else "mode=ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False, timeout=30
    )
    connection.execute("PRAGMA cell_size_check=ON")
    connection.execute("PRAGMA trusted_schema=OFF")
    check_format(connection, path)
    return connection


def check_format(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database that isn't ours or is of another format."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise IndexDamagedError(f"{path} is not a database of rag-index", REPAIR)
    if version != FORMAT:
        newer = version > FORMAT
        raise IndexMismatchError(
            f"{path.parent.parent} has index format {version}, this version reads {FORMAT}",
            "Install the newer rag-index that made it." if newer else "Delete the folder and run: rag-index build PATH",
        )


def quick_check(connection: sqlite3.Connection, folder: Path) -> None:
    """Raise IndexDamagedError if a database without a seal is not sound; 1 s for 100 MB."""
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise IndexDamagedError(f"{folder / DATABASE} is damaged: {verdict}", REPAIR)


def text_hash(*texts: str) -> bytes:
    """Return 16 bytes made from `texts`: what identifies a text in every index."""
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).digest()[:16]


@contextmanager
def failures(path: Path) -> Iterator[None]:
    """Turn what SQLite, zlib and the disk raise about `path` into errors that a user can act on."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _operational(path, error) from error
    except (sqlite3.DatabaseError, zlib.error, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise IndexDamagedError(f"{path} is damaged: {error}", REPAIR) from error
    except OSError as error:
        raise StoreError(f"can't use {path}: {error.strerror or error}", _room(error)) from error


def _operational(path: Path, error: sqlite3.OperationalError) -> StoreError | IndexDamagedError:
    message = str(error)
    if "disk is full" in message or "disk I/O error" in message:
        return StoreError(f"can't write {path}: {message}", "Make room on the disk and build again.")
    if "locked" in message or "readonly" in message or "unable to open" in message:
        return StoreError(f"can't use {path}: {message}", "Check the permissions and that no other program uses it.")
    return IndexDamagedError(f"{path} is damaged: {message}", REPAIR)


def _room(error: OSError) -> str:
    full = error.errno in {27, 28, 122}  # EFBIG, ENOSPC, EDQUOT
    return "Make room on the disk and build again." if full else "Check the permissions."


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of what the body does, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
