"""From a line, a page or characters to a span of a document."""

from __future__ import annotations

from bisect import bisect_right

from rag_index.errors import UsageError
from rag_index.extract.blocks import line_starts
from rag_index.types import Document, Span


def find_place(
    document: Document,
    *,
    line: int | None = None,
    page: int | None = None,
    start: int | None = None,
    end: int | None = None,
) -> Span | None:
    """Return the span that is meant; characters are more exact than pages, those than lines. None: nothing said.

    Raises:
        UsageError: the document has no such place.
    """
    if start is not None or end is not None:
        return _characters(document, start or 0, len(document.text) if end is None else end)
    if page is not None:
        return _page(document, page)
    return None if line is None else _line(document, line)


def lines_around(text: str, span: Span, count: int) -> list[tuple[int, Span]]:
    """Return the lines that `span` touches, and `count` before and after it: 1-based number and span."""
    starts = _starts(text)
    first = max(0, bisect_right(starts, span.start) - 1 - count)
    last = min(len(starts), bisect_right(starts, max(span.start, span.end - 1)) + count)
    ends = [*starts[1:], len(text)]
    return [(number + 1, Span(starts[number], ends[number])) for number in range(first, last)]


def _characters(document: Document, start: int, end: int) -> Span:
    if not 0 <= start < end <= len(document.text):
        raise UsageError(
            f"{document.source.path} has no characters {start} to {end}",
            f"Choose --start and --end from 0 to {len(document.text)}.",
        )
    return Span(start, end)


def _page(document: Document, page: int) -> Span:
    pages = [block for block in document.blocks if block.kind in {"page", "slide", "sheet"}]
    if not 1 <= page <= len(pages):
        hint = f"Choose --page from 1 to {len(pages)}." if pages else "Name a line or characters."
        raise UsageError(f"{document.source.path} has no page {page}", hint)
    return Span(pages[page - 1].start, pages[page - 1].end)


def _line(document: Document, line: int) -> Span:
    starts = _starts(document.text)
    if not 1 <= line <= len(starts):
        raise UsageError(f"{document.source.path} has no line {line}", f"Choose a line from 1 to {len(starts)}.")
    return Span(starts[line - 1], starts[line] if line < len(starts) else len(document.text))


def _starts(text: str) -> list[int]:
    """Return where lines begin; what follows a newline at the very end is none."""
    starts = line_starts(text)
    return starts[:-1] if len(starts) > 1 and starts[-1] == len(text) else starts
