"""The truth as records of a Chroma collection: one for each different text."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_index.errors import IndexDamagedError
from rag_index.store.layout import REPAIR
from rag_index.store.reader import Reader
from rag_index.store.rows import HEADING_SEPARATOR, PATH_SEPARATOR

if TYPE_CHECKING:
    from rag_index.types import Matrix


@dataclass(frozen=True)
class Entry:
    """A record without its text and vector: where the text stands first, and what says so."""

    text: int
    uid: str
    slot: int
    document: int
    metadata: Mapping[str, str | int]

    @cached_property
    def digest(self) -> bytes:
        """8 bytes that change when the metadata do."""
        plain = "\0".join(f"{key}={value}" for key, value in sorted(self.metadata.items()))
        return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def entries(snapshot: Reader, after: int = 0) -> list[Entry]:
    """Return an entry for every live text whose id is above `after`, ordered by where it stands first."""
    first: dict[int, Entry] = {}
    for row in snapshot.places(after):
        if row[0] not in first:
            first[row[0]] = _entry(row)
    return list(first.values())


def _entry(row: Any) -> Entry:  # noqa: ANN401 (a row of SQLite)
    text, uid, slot, document, path, sha256, place, total, start, stop, heading, title = row
    name = path.decode("utf-8", "backslashreplace")  # Chroma takes no lone surrogates
    metadata: dict[str, str | int] = {
        "source": name,
        "document_id": hashlib.sha256(path).hexdigest()[:16],  # LlamaIndex deletes by it
        "index": place,
        "total_chunks": total,
        "start_offset": start,
        "end_offset": stop,
        "start_index": start,  # LangChain's name
        "content_hash": sha256[:16],
    }
    if at_start := heading.partition(PATH_SEPARATOR)[0]:
        metadata["heading"] = at_start.replace(HEADING_SEPARATOR, " > ")
    if title:
        metadata["title"] = title
    return Entry(text, uid.hex(), slot, document, metadata)


def records(
    snapshot: Reader, wanted: Collection[Entry], matrix: Matrix
) -> Iterator[tuple[str, Any, str, Mapping[str, str | int]]]:
    """Yield (id, vector, text, metadata) for entries; lazy, one document's text at a time."""
    for entry in wanted:
        text = snapshot.document(entry.document).text
        start, end = int(entry.metadata["start_offset"]), int(entry.metadata["end_offset"])
        yield entry.uid, matrix[entry.slot], text[start:end].encode("utf-8", "replace").decode(), entry.metadata


def write_index(path: Path, known: Mapping[str, bytes]) -> None:
    """Note which records a generation holds: 16 bytes of id and 8 of digest each."""
    path.write_bytes(b"".join(bytes.fromhex(uid) + digest for uid, digest in sorted(known.items())))


def read_index(path: Path) -> dict[str, bytes]:
    """Read what `write_index` wrote.

    Raises:
        IndexDamagedError: it is missing or cut off.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise IndexDamagedError(f"{path} can't be read: {error.strerror}", REPAIR) from error
    if len(data) % 24:
        raise IndexDamagedError(f"{path} is damaged: {len(data)} bytes", REPAIR)
    return {data[at : at + 16].hex(): data[at + 16 : at + 24] for at in range(0, len(data), 24)}
