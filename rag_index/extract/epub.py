"""EPUB: the chapters in reading order."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from rag_index.extract.archive import Archive, Refused, attribute, child, local, resolve
from rag_index.extract.decode import decode
from rag_index.extract.office import finished
from rag_index.extract.webpage import write_page
from rag_index.extract.writing import Writer, clean
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, Source, Status, Warn

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = {"application/xhtml+xml", "text/html"}
_META = {"title": "title", "creator": "author", "language": "language", "subject": "subject", "date": "date"}
_SCRAMBLED = re.compile(rb'URI="[^"]+\.x?html?"')


def read_epub(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read a book; each ``chapter`` block is one file of the spine, named by its first heading or its title."""
    archive = Archive(data, options)
    if _ENCRYPTION in archive and _SCRAMBLED.search(archive.read(_ENCRYPTION)):
        raise Refused(Status.ENCRYPTED, "its chapters are locked (DRM)")
    package = _package(archive)
    root = archive.xml(package, doctype=True)
    writer = Writer(sectioned=False)
    missing = []
    for name in _spine(root, package.rpartition("/")[0]):
        if name in archive:
            _chapter(archive.read(name), name, writer, options)
        else:
            missing.append(name)
    warnings = (
        (Warn("missing_parts", f"missing from the book: {', '.join(missing[:5])}", len(missing)),) if missing else ()
    )
    return finished(writer, source, _meta(root), warnings)


def _package(archive: Archive) -> str:
    """Return the name of the part that lists the book's files."""
    for element in archive.xml(_CONTAINER, doctype=True).iter():
        if local(element) == "rootfile":
            return attribute(element, "full-path")
    raise Refused(Status.DAMAGED, "it doesn't say where its contents are listed")


def _spine(root: ET.Element, folder: str) -> list[str]:
    items = {
        attribute(item, "id"): resolve(folder, attribute(item, "href"))
        for item in child(root, "manifest") or ()
        if attribute(item, "media-type") in _PAGES
    }
    order = [attribute(entry, "idref") for entry in child(root, "spine") or ()]
    return [items[name] for name in order if name in items]


def _chapter(data: bytes, name: str, writer: Writer, options: ExtractSettings) -> None:
    decoded = decode(data)
    if decoded is None:
        return
    begin = len(writer.blocks)
    start, end, title = write_page(decoded.text, writer, options)
    first = next((block.label for block in writer.blocks[begin:] if block.kind == "heading" and block.label), "")
    if end > start:
        writer.blocks.append(Block(start, end, "chapter", first or title or name))


def _meta(root: ET.Element) -> dict[str, str]:
    meta: dict[str, str] = {}
    for entry in child(root, "metadata") or ():
        value = " ".join(clean(entry.text or "").split())
        if value and local(entry) in _META:
            meta.setdefault(_META[local(entry)], value)
    return meta
