"""DOCX: everything that Word shows, with text boxes and notes; headers and footers as furniture."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree import ElementTree as ET

from rag_index.extract.archive import Archive, attribute, child, descend, local, relations
from rag_index.extract.office import core_properties, finished, main_part
from rag_index.extract.writing import Writer
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, Source

_NOT_SHOWN = {"del", "moveFrom", "Fallback", "instrText", "delText", "pPr", "rPr", "tblPr", "tcPr", "sectPr", "fldData"}
_CHARACTERS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "softHyphen": "\u00ad"}
_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote", "commentReference": "comment"}
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|otsikko|заголовок)\s*(\d)", re.IGNORECASE)
_OFF = {"0", "false", "off", "none"}


def read_docx(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read a Word document, transitional or Strict."""
    archive = Archive(data, options)
    return _Reader(archive, source, options).document()


@dataclass(slots=True)
class _Paragraph:
    """A paragraph as it is walked: its pieces, and what stands beside it."""

    pieces: list[str] = field(default_factory=list)
    hidden: list[tuple[int, int]] = field(default_factory=list)
    length: int = 0
    boxes: list[ET.Element] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    def add(self, text: str, *, hidden: bool) -> None:
        if hidden and text:
            self.hidden.append((self.length, self.length + len(text)))
        self.pieces.append(text)
        self.length += len(text)


class _Reader:
    def __init__(self, archive: Archive, source: Source, options: ExtractSettings) -> None:
        self._archive = archive
        self._source = source
        self._options = options
        self._writer = Writer()
        self._main = main_part(archive, "word/document.xml")
        self._relations = relations(archive, self._main)
        self._levels = self._heading_levels()
        self._notes = {name: self._notes_of(name) for name in ("footnote", "endnote", "comment")}
        self._tables = 0

    def document(self) -> Document:
        """Read the parts in the order of a printed page: headers, body, footers."""
        body = self._archive.xml(self._main)
        self._furniture("header")
        self._blocks(body, 0)
        self._furniture("footer")
        return finished(self._writer, self._source, core_properties(self._archive))

    def _furniture(self, kind: str) -> None:
        """Write the headers or footers, each different one once."""
        seen: set[bytes] = set()
        for part in self._related(kind):
            root = self._archive.xml(part)
            words = ET.tostring(root)
            if words not in seen:
                seen.add(words)
                with self._writer.inside(kind, role="furniture"):
                    self._blocks(root, 0)

    def _related(self, kind: str) -> list[str]:
        return [part for name, part in self._relations.values() if name == kind and part in self._archive]

    def _blocks(self, element: ET.Element, depth: int) -> None:
        """Write the paragraphs and tables inside `element`."""
        depth = descend(depth)
        for inner in element:
            name = local(inner)
            if name == "p":
                self._paragraph(inner, depth)
            elif name == "tbl":
                self._table(inner, depth)
            elif name not in _NOT_SHOWN:
                self._blocks(inner, depth)

    def _paragraph(self, element: ET.Element, depth: int) -> None:
        paragraph = self._walked(element, depth)
        text = "".join(paragraph.pieces)
        properties = child(element, "pPr")
        level = self._level(properties)
        item = child(properties, "numPr") is not None
        kind = "heading" if level is not None else "item" if item else "paragraph"
        start, end = self._writer.write(text.strip(), "\n" if item else "\n\n")
        if end > start:
            label = " ".join(text.split()) if level is not None else ""
            self._writer.blocks.append(Block(start, end, kind, label, level=level or 0))
            self._mark_hidden(paragraph, text, start, end)
        self._beside(paragraph, depth)

    def _mark_hidden(self, paragraph: _Paragraph, text: str, start: int, end: int) -> None:
        """Flag what is formatted as hidden; a paragraph that cleaning has changed is flagged whole."""
        if not paragraph.hidden or self._options.hidden_text == "keep":
            return
        lead = len(text) - len(text.lstrip())
        for a, b in paragraph.hidden:
            exact = end - start == len(text.strip())
            first, last = (start + max(a - lead, 0), min(start + b - lead, end)) if exact else (start, end)
            if last > first:
                self._writer.blocks.append(Block(first, last, "hidden", role="hidden"))

    def _beside(self, paragraph: _Paragraph, depth: int) -> None:
        """Write the text boxes of a paragraph and the notes that it refers to, after it."""
        for box in paragraph.boxes:
            with self._writer.inside("textbox"):
                self._blocks(box, depth)
        for kind, number in paragraph.notes:
            note = self._notes[kind].pop(number, None)
            if note is None:
                continue
            author = attribute(note, "author") if kind == "comment" else ""
            with self._writer.inside("note", f"{kind} by {author}" if author else f"{kind} {number}"):
                self._blocks(note, depth)

    def _walked(self, element: ET.Element, depth: int) -> _Paragraph:
        paragraph = _Paragraph()
        self._walk(element, paragraph, depth, hidden=False)
        return paragraph

    def _walk(self, element: ET.Element, paragraph: _Paragraph, depth: int, *, hidden: bool) -> None:
        """Collect the characters below `element`."""
        depth = descend(depth)
        for inner in element:
            name = local(inner)
            if name == "t":
                paragraph.add(inner.text or "", hidden=hidden)
            elif name in _CHARACTERS:
                paragraph.add(_CHARACTERS[name], hidden=hidden)
            elif name == "txbxContent":
                paragraph.boxes.append(inner)
            elif name in _NOTES:
                paragraph.notes.append((_NOTES[name], attribute(inner, "id")))
            elif name == "r":
                vanish = child(inner, "rPr", "vanish")
                unseen = vanish is not None and attribute(vanish, "val") not in _OFF
                if not (unseen and self._options.hidden_text == "drop"):
                    self._walk(inner, paragraph, depth, hidden=hidden or unseen)
            elif name not in _NOT_SHOWN:
                self._walk(inner, paragraph, depth, hidden=hidden)

    def _table(self, table: ET.Element, depth: int) -> None:
        """Write a table: a row is a line, cells are parted by tabs, a merged cell comes once."""
        self._tables += 1
        aside = _Paragraph()
        number = self._tables
        self._writer.part()
        with self._writer.inside("table", f"table {number}"):
            for count, row in enumerate(_rows(table, depth), 1):
                cells = [self._cell(cell, aside, depth) for cell in _cells(row, depth)]
                line = "\t".join(cells).rstrip("\t")
                if line.strip():
                    self._writer.add(line, "row", f"table {number}, row {count}", gap="\n")
        self._writer.part()
        self._beside(aside, depth)

    def _cell(self, cell: ET.Element, aside: _Paragraph, depth: int) -> str:
        """Return a cell's text on one line; a table inside it too."""
        words: list[str] = []
        self._cell_text(cell, words, aside, descend(depth))
        return " ".join(words)

    def _cell_text(self, element: ET.Element, words: list[str], aside: _Paragraph, depth: int) -> None:
        depth = descend(depth)
        for inner in element:
            name = local(inner)
            if name == "p":
                paragraph = self._walked(inner, depth)
                words += "".join(paragraph.pieces).split()
                aside.boxes += paragraph.boxes
                aside.notes += paragraph.notes
            elif name not in _NOT_SHOWN and not (name == "tc" and _continues(inner)):
                self._cell_text(inner, words, aside, depth)

    def _level(self, properties: ET.Element | None) -> int | None:
        """Return a paragraph's heading level, 0 for a title, None for other text."""
        direct = child(properties, "outlineLvl")
        if direct is not None and attribute(direct, "val").isdigit():
            level = int(attribute(direct, "val"))
            return level + 1 if level < 9 else None  # noqa: PLR2004 (9 is body text)
        style = child(properties, "pStyle")
        return self._levels.get(attribute(style, "val")) if style is not None else None

    def _heading_levels(self) -> dict[str, int]:
        """Return style -> heading level, following what styles are based on."""
        levels: dict[str, int] = {f"Heading{level}": level for level in range(1, 10)} | {"Title": 0}
        based: dict[str, str] = {}
        for part in self._related("styles"):
            for style in self._archive.xml(part):
                name = attribute(style, "styleId")
                parent = child(style, "basedOn")
                if parent is not None:
                    based[name] = attribute(parent, "val")
                level = _style_level(style)
                if level is not None:
                    levels[name] = level
        for name in based:
            seen = {name}
            at = name
            while at not in levels and at in based and based[at] not in seen:
                at = based[at]
                seen.add(at)
            if levels.get(at):
                levels.setdefault(name, levels[at])
        return levels

    def _notes_of(self, kind: str) -> dict[str, ET.Element]:
        """Return the notes of a kind by id, without those that only draw a separator."""
        notes = {}
        for part in self._related(kind + "s"):
            for note in self._archive.xml(part):
                if local(note) == kind and not attribute(note, "type").endswith(("eparator", "Notice")):
                    notes[attribute(note, "id")] = note
        return notes


def _style_level(style: ET.Element) -> int | None:
    outline = child(style, "pPr", "outlineLvl")
    if outline is not None and attribute(outline, "val").isdigit():
        level = int(attribute(outline, "val"))
        return level + 1 if level < 9 else None  # noqa: PLR2004
    name = child(style, "name")
    found = _HEADING.match(attribute(name, "val")) if name is not None else None
    return int(found[1]) if found else None


def _rows(table: ET.Element, depth: int) -> Iterator[ET.Element]:
    depth = descend(depth)
    for inner in table:
        if local(inner) == "tr":
            yield inner
        elif local(inner) not in _NOT_SHOWN:
            yield from _rows(inner, depth)


def _cells(row: ET.Element, depth: int) -> Iterator[ET.Element]:
    depth = descend(depth)
    for inner in row:
        if local(inner) == "tc":
            if not _continues(inner):
                yield inner
        elif local(inner) not in _NOT_SHOWN:
            yield from _cells(inner, depth)


def _continues(cell: ET.Element) -> bool:
    """Tell whether a cell only goes on with the one above it or beside it: what it holds is not shown."""
    for name in ("vMerge", "hMerge"):
        merge = child(cell, "tcPr", name)
        if merge is not None and attribute(merge, "val") != "restart":
            return True
    return False
