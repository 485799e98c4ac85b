"""Pictures of PDF pages for people: the blocks of a page, or a passage highlighted; drawn in an isolated process."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

from rag_index.errors import UsageError
from rag_index.extract.drawing import Drawing, Mark
from rag_index.extract.pagelines import rectangles
from rag_index.extract.worker import picture
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, Rect, Span

_COLOURS = {
    "heading": (0, 130, 60),
    "paragraph": (40, 90, 220),
    "furniture": (130, 130, 130),
    "hidden": (220, 0, 0),
}
_HIGHLIGHT = (255, 200, 0)


def blocks_png(path: Path, document: Document, page: int, settings: ExtractSettings) -> bytes:
    """Return page `page` (1-based) of the PDF at `path` as PNG, each block outlined.

    Paragraphs are blue, headings green, running headers and footers grey, hidden text red.

    Raises:
        UsageError: the document is no PDF, or has no such page.
        RagIndexError: the page can't be drawn.
    """
    begin, end = _page_span(document, page)
    marks = []
    for block in document.blocks:
        if block.start < end and block.end > begin and _colour(block):
            box = _around(
                rectangles(document.positions.data, document.text, max(block.start, begin), min(block.end, end))
            )
            if box:
                marks.append(Mark(box, _colour(block) or (0, 0, 0)))
    return picture(path, Drawing(page, tuple(marks)), settings)


def passage_png(path: Path, document: Document, spans: Sequence[Span], page: int, settings: ExtractSettings) -> bytes:
    """Return page `page` of the PDF at `path` as PNG, with the spans of the document's text highlighted.

    Rectangles are exact to the letter as long as the file gives the text that the document has; else they are those
    that were kept when it was read.

    Raises:
        UsageError: the document is no PDF, has no such page, or nothing of the passage on it.
        RagIndexError: the page can't be drawn.
    """
    begin, end = _page_span(document, page)
    parts = (Span(max(span.start, begin), min(span.end, end)) for span in spans)
    inside = [part for part in parts if part.start < part.end]
    if spans and not inside:
        raise UsageError(f"the passage is not on page {page} of {document.source.path}", "Leave the page out.")
    known = [rect for span in inside for rect in _rects(document, span.start, span.end)]
    drawing = Drawing(
        page,
        tuple(Mark((rect.left, rect.bottom, rect.right, rect.top), _HIGHLIGHT, filled=True) for rect in known),
        document.text[begin:end],
        tuple((span.start - begin, span.end - begin) for span in inside),
        _HIGHLIGHT,
    )
    return picture(path, drawing, settings)


def page_of(document: Document, at: int) -> int:
    """Return the 1-based page that holds offset `at` of a PDF's text."""
    pages = [block.start for block in document.blocks if block.kind == "page"]
    return max(bisect_right(pages, at), 1)


def _page_span(document: Document, page: int) -> tuple[int, int]:
    pages = [block for block in document.blocks if block.kind == "page"]
    if not pages:
        raise UsageError(f"{document.source.path} is not a PDF with text, so no page can be drawn", "Name a PDF.")
    if not 1 <= page <= len(pages):
        raise UsageError(f"{document.source.path} has no page {page}", f"Choose one from 1 to {len(pages)}.")
    return pages[page - 1].start, pages[page - 1].end


def _rects(document: Document, start: int, end: int) -> tuple[Rect, ...]:
    return rectangles(document.positions.data, document.text, start, end)


def _colour(block: Block) -> tuple[int, int, int] | None:
    return _COLOURS.get(block.role) or _COLOURS.get(block.kind)


def _around(rects: Sequence[Rect]) -> tuple[float, float, float, float] | None:
    if not rects:
        return None
    return (
        min(rect.left for rect in rects),
        min(rect.bottom for rect in rects),
        max(rect.right for rect in rects),
        max(rect.top for rect in rects),
    )
