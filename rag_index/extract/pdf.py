"""PDF: the text that a reader sees on each page, in content order, with the place of every word.

PDFium is called through its C interface, one document at a time in one thread.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rag_index.extract.blocks import nest, sections
from rag_index.extract.pagelines import pack_pages
from rag_index.extract.pdfpage import Page, read_page
from rag_index.extract.pdfstructure import furniture, outline_headings
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, PositionMap, Source, Status, Warn

_ERRORS = {
    3: (Status.DAMAGED, "the file is not a PDF, or damaged beyond repair"),
    4: (Status.ENCRYPTED, "a password is needed to open it"),
    5: (Status.ENCRYPTED, "its security scheme is not supported"),
    6: (Status.DAMAGED, "a page is missing or can't be read"),
}
_META = {"Title": "title", "Author": "author", "Subject": "subject", "Keywords": "keywords", "CreationDate": "created"}
_USUAL = 512
_PAGE_BREAK = "\n\n"


def read_pdf(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read a PDF; NO_TEXT names a scan, and a warning the pages without a text layer."""
    with opened(data) as document:
        if isinstance(document, int):
            status, reason = _ERRORS.get(document, (Status.DAMAGED, f"PDFium can't open it (error {document})"))
            return Document(source, status, reason)
        return _Reading(document, source, options).document()


@contextmanager
def opened(data: bytes) -> Iterator[Any]:
    """Open a PDF that lies in memory; gives PDFium's handle, or its error number."""
    import pypdfium2.raw as pdfium

    handle = pdfium.FPDF_LoadMemDocument64(data, len(data), None)
    if not handle:
        yield int(pdfium.FPDF_GetLastError())
        return
    try:
        yield handle
    finally:
        pdfium.FPDF_CloseDocument(handle)


@dataclass(slots=True)
class _Reading:
    """One pass over an open document."""

    handle: Any
    source: Source
    options: ExtractSettings
    pages: list[Page] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)

    def document(self) -> Document:
        """Read all pages and put them together."""
        import pypdfium2.raw as pdfium

        count = pdfium.FPDF_GetPageCount(self.handle)
        for index in range(min(count, self.options.max_pages)):
            page = read_page(self.handle, index, drop=self.options.hidden_text == "drop")
            self.pages.append(page or Page())
            if page is None:
                self.unreadable.append(index + 1)
        meta = _metadata(pdfium, self.handle)
        warnings = self._warnings(count)
        if not any(page.text for page in self.pages):
            return Document(self.source, *self._textless(count), warnings=warnings, meta=meta)
        text, starts = self._joined()
        blocks = self._blocks(pdfium, text, starts)
        positions = PositionMap("pdf", pack_pages(starts, [page.lines for page in self.pages]))
        status, reason = self._status(count)
        return Document(self.source, status, reason, text, nest(blocks), positions, warnings, meta)

    def _joined(self) -> tuple[str, list[int]]:
        """Return the text of all pages and where each begins."""
        parts: list[str] = []
        starts = []
        length = 0
        for page in self.pages:
            gap = _PAGE_BREAK if page.text and length else ""
            starts.append(length + len(gap))
            parts += (gap, page.text)
            length += len(gap) + len(page.text)
        return "".join(parts), starts

    def _blocks(self, pdfium: Any, text: str, starts: list[int]) -> list[Block]:  # noqa: ANN401
        blocks = []
        running = furniture(self.pages)
        keep = self.options.hidden_text == "keep"
        for index, (page, start) in enumerate(zip(self.pages, starts, strict=True)):
            blocks.append(Block(start, start + len(page.text), "page", _label(pdfium, self.handle, index)))
            blocks += [
                Block(start + line.start, start + line.start + line.length, "running", role="furniture")
                for line in running[index]
            ]
            if not keep:
                blocks += [Block(start + a, start + b, "hidden", role="hidden") for a, b in page.hidden]
            at = start
            for paragraph in page.text.split(_PAGE_BREAK):
                blocks.append(Block(at, at + len(paragraph), "paragraph"))
                at += len(paragraph) + len(_PAGE_BREAK)
        headings = outline_headings(self.handle, self.pages, starts)
        return blocks + headings + sections(headings, len(text))

    def _status(self, count: int) -> tuple[Status, str]:
        lost = [*self.unreadable, *range(len(self.pages) + 1, count + 1)]
        if lost:
            return Status.PARTIAL, f"pages {ranges(lost)} were not read"
        return Status.OK, ""

    def _textless(self, count: int) -> tuple[Status, str]:
        if not count or len(self.unreadable) == len(self.pages):
            return Status.DAMAGED, "no page can be read"
        return Status.NO_TEXT, f"{_pages([*range(1, count + 1)])} no text layer: a scan, or drawings only"

    def _warnings(self, count: int) -> tuple[Warn, ...]:
        found = []
        blank = [number for number, page in enumerate(self.pages, 1) if not page.text and number not in self.unreadable]
        if blank and len(blank) < count:
            found.append(Warn("no_text_layer", f"{_pages(blank)} no text layer", len(blank)))
        if outside := sum(page.outside for page in self.pages):
            found.append(Warn("off_page", f"{outside} characters outside the pages were left out", outside))
        if hidden := sum(b - a for page in self.pages for a, b in page.hidden):
            found.append(Warn("hidden_text", f"{hidden} characters can't be seen by a reader of the page", hidden))
        if lost := sum(page.lost for page in self.pages):
            found.append(Warn("lost_letters", f"{lost} letters have no Unicode value in the file", lost))
        return tuple(found)


def _pages(numbers: list[int]) -> str:
    return f"page {numbers[0]} has" if len(numbers) == 1 else f"pages {ranges(numbers)} have"


def ranges(numbers: list[int]) -> str:
    """Return ascending numbers as people write them: ``1-3, 7``."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _label(pdfium: Any, handle: Any, index: int) -> str:  # noqa: ANN401
    """Return what the file calls a page: ``iii``, ``A-2``; its number when it has no name."""
    return _string(lambda buffer, size: pdfium.FPDF_GetPageLabel(handle, index, buffer, size)) or str(index + 1)


def _metadata(pdfium: Any, handle: Any) -> dict[str, str]:  # noqa: ANN401
    meta = {}
    for key, name in _META.items():
        named = key.encode()
        value = _string(lambda buffer, size, named=named: pdfium.FPDF_GetMetaText(handle, named, buffer, size))  # type: ignore[misc]
        if value:
            meta[name] = value
    return meta


def _string(fill: Callable[[Any, int], int]) -> str:
    """Return the UTF-16 string that one of PDFium's functions fills in, on one line."""
    buffer = ctypes.create_string_buffer(_USUAL)
    size = fill(buffer, _USUAL)
    if size > _USUAL:
        buffer = ctypes.create_string_buffer(size)
        fill(buffer, size)
    return clean(buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "replace"))


def clean(value: str) -> str:
    """Return metadata on one line, without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in value).split())
