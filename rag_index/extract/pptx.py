"""PPTX: the slides in their order, with tables, grouped shapes and speaker notes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET

from rag_index.extract.archive import Archive, attribute, child, descend, local, relations
from rag_index.extract.office import core_properties, finished, main_part
from rag_index.extract.writing import Writer
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, Source

_TITLES = {"title", "ctrTitle"}
_FURNITURE = {"sldNum", "dt", "ftr", "hdr"}
_NOT_SHOWN = {"Fallback", "extLst", "nvGrpSpPr", "grpSpPr"}


def read_pptx(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read a presentation; the n-th ``slide`` block is slide n."""
    archive = Archive(data, options)
    main = main_part(archive, "ppt/presentation.xml")
    related = relations(archive, main)
    writer = Writer()
    number = 0
    for entry in child(archive.xml(main), "sldIdLst") or ():
        part = related.get(_relation(entry), ("", ""))[1]
        if part in archive:
            number += 1
            _slide(archive, part, number, writer, options)
    return finished(writer, source, core_properties(archive))


def _relation(entry: ET.Element) -> str:
    """Return the relation's id: the attribute ``r:id``, not the entry's own ``id``."""
    return next((value for key, value in entry.attrib.items() if key.endswith("}id")), "")


def _slide(archive: Archive, part: str, number: int, writer: Writer, options: ExtractSettings) -> None:
    root = archive.xml(part)
    unseen = attribute(root, "show") == "0" and options.hidden_text != "keep"
    if unseen and options.hidden_text == "drop":
        return
    title: list[str] = []
    begin = len(writer.blocks)
    with writer.inside("slide", f"slide {number}", role="hidden" if unseen else "body"):
        _shapes(child(root, "cSld", "spTree"), writer, title, 0)
        targets = relations(archive, part).values()
        for notes in [target for kind, target in targets if kind == "notesSlide" and target in archive]:
            with writer.inside("note", f"notes of slide {number}"):
                _notes(child(archive.xml(notes), "cSld", "spTree"), writer)
    if title and len(writer.blocks) > begin:
        slide = writer.blocks[begin]
        writer.blocks.append(Block(slide.start, slide.end, "section", title[0], slide.role, 1))


def _shapes(tree: ET.Element | None, writer: Writer, title: list[str], depth: int) -> None:
    """Write the shapes of a tree, groups and alternatives walked through."""
    depth = descend(depth)
    for shape in tree if tree is not None else ():
        name = local(shape)
        if name in {"sp", "cxnSp"}:
            _text_shape(shape, writer, title)
        elif name == "graphicFrame":
            _frame(shape, writer, depth)
        elif name not in _NOT_SHOWN:
            _shapes(shape, writer, title, depth)


def _text_shape(shape: ET.Element, writer: Writer, title: list[str]) -> None:
    place = _placeholder(shape)
    text = "\n".join(_paragraphs(child(shape, "txBody")))
    if place in _TITLES and text.strip():
        title.append(" ".join(text.split()))
        writer.add(text, "heading", title[-1])
    else:
        writer.add(text, "paragraph", role="furniture" if place in _FURNITURE else "body")


def _placeholder(shape: ET.Element) -> str:
    for name in ("nvSpPr", "nvCxnSpPr"):
        place = child(shape, name, "nvPr", "ph")
        if place is not None:
            return attribute(place, "type") or "body"
    return ""


def _frame(frame: ET.Element, writer: Writer, depth: int) -> None:
    """Write a table: a row is a line; cells that go on with a merged one are not shown."""
    table = child(frame, "graphic", "graphicData", "tbl")
    if table is None:
        inner = child(frame, "graphic", "graphicData")
        for text in _texts(inner, depth) if inner is not None else ():
            writer.add(text, "paragraph")
        return
    writer.part()
    with writer.inside("table"):
        for row in table:
            if local(row) == "tr":
                cells = [" ".join(" ".join(_paragraphs(child(cell, "txBody"))).split()) for cell in row if _shown(cell)]
                writer.add("\t".join(cells).rstrip("\t"), "row", gap="\n")
    writer.part()


def _shown(cell: ET.Element) -> bool:
    return local(cell) == "tc" and not {attribute(cell, "hMerge"), attribute(cell, "vMerge")} & {"1", "true"}


def _paragraphs(body: ET.Element | None) -> Iterator[str]:
    """Yield the paragraphs of a text body, blank ones left out."""
    for paragraph in body if body is not None else ():
        if local(paragraph) == "p":
            text = "".join(_pieces(paragraph, 0)).strip()
            if text:
                yield text


def _pieces(element: ET.Element, depth: int) -> Iterator[str]:
    depth = descend(depth)
    for inner in element:
        name = local(inner)
        if name == "t":
            yield inner.text or ""
        elif name == "br":
            yield "\n"
        elif name == "tab":
            yield "\t"
        elif name not in {"pPr", "rPr", "endParaRPr", "Fallback"}:
            yield from _pieces(inner, depth)


def _texts(element: ET.Element, depth: int) -> Iterator[str]:
    """Yield the paragraphs anywhere below `element`."""
    depth = descend(depth)
    for inner in element:
        if local(inner) == "p":
            yield "".join(_pieces(inner, depth)).strip()
        elif local(inner) != "Fallback":
            yield from _texts(inner, depth)


def _notes(tree: ET.Element | None, writer: Writer) -> None:
    for shape in tree if tree is not None else ():
        if local(shape) == "sp" and _placeholder(shape) == "body":
            writer.add("\n".join(_paragraphs(child(shape, "txBody"))), "paragraph")
