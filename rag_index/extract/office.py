"""What Office formats share: the main part, the properties, and the document at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rag_index.extract.archive import Archive, local, relations
from rag_index.extract.writing import Writer, clean
from rag_index.types import Document, PositionMap, Source, Status, Warn

_PROPERTIES = {
    "title": "title",
    "creator": "author",
    "subject": "subject",
    "keywords": "keywords",
    "description": "description",
    "language": "language",
    "created": "created",
    "modified": "modified",
}


def main_part(archive: Archive, usual: str) -> str:
    """Return the name of the part that is the document itself."""
    for kind, part in relations(archive, "").values():
        if kind == "officeDocument" and part in archive:
            return part
    return usual


def core_properties(archive: Archive) -> dict[str, str]:
    """Return title, author and the like."""
    meta = {}
    for kind, part in relations(archive, "").values():
        if kind != "core-properties" or part not in archive:
            continue
        for entry in archive.xml(part):
            value = " ".join(clean(entry.text or "").split())
            if value and local(entry) in _PROPERTIES:
                meta[_PROPERTIES[local(entry)]] = value
    return meta


def finished(writer: Writer, source: Source, meta: Mapping[str, str], warnings: tuple[Warn, ...] = ()) -> Document:
    """Return the document that a writer has collected; NO_TEXT when that is nothing."""
    text = writer.text()
    document = Document(source, positions=PositionMap("blocks"), meta=meta, warnings=warnings)
    if not text.strip():
        return replace(document, status=Status.NO_TEXT, reason="it holds no text")
    return replace(document, text=text, blocks=writer.all_blocks())
