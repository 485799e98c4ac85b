"""What a PDF's pages have in common: running headers and footers; and what its outline calls their parts."""

from __future__ import annotations

import ctypes
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from rag_index.extract.pagelines import Line
from rag_index.extract.pdfpage import Page
from rag_index.types import Block

_DIGITS = re.compile(r"\d+|\b[ivxlcIVXLC]+\b")
_LEAST_PAGES = 3
_LEAST_SHARE = 0.3
_EDGE_SHARE = 0.15
_SAME_PLACE = 12
_OUTLINE_LIMIT = 10_000
_WORD = re.compile(r"\w+")


def furniture(pages: Sequence[Page]) -> list[list[Line]]:
    """Return each page's running headers and footers.

    A line is one if it stands in the outer part of the page, and three pages or more, near to one another, have the
    same words, digits apart, in the same place.
    """
    if len(pages) < _LEAST_PAGES:
        return [[] for _ in pages]
    seen: dict[str, list[tuple[int, Line]]] = defaultdict(list)
    for number, page in enumerate(pages):
        for line in _at_edges(page):
            words = _DIGITS.sub("#", page.text[line.start : line.start + line.length])
            seen[" ".join(words.split())].append((number, line))
    found: list[list[Line]] = [[] for _ in pages]
    for places in seen.values():
        for number, line in _repeated(places):
            found[number].append(line)
    return found


def _at_edges(page: Page) -> list[Line]:
    """Return the lines in the outer parts of the page."""
    _, bottom, _, top = page.box
    margin = _EDGE_SHARE * (top - bottom)
    low, high = 2 * (bottom + margin), 2 * (top - margin)
    return [line for line in page.lines if line.box[1] > high or line.box[3] < low]


def _repeated(places: Sequence[tuple[int, Line]]) -> Iterator[tuple[int, Line]]:
    if len({number for number, _ in places}) < _LEAST_PAGES:
        return
    for number, line in places:
        pages = {other for other, twin in places if abs(twin.box[1] - line.box[1]) < _SAME_PLACE}
        if len(pages) >= _LEAST_PAGES and len(pages) >= _LEAST_SHARE * (max(pages) - min(pages) + 1):
            yield number, line


def outline_headings(document: Any, pages: Sequence[Page], starts: Sequence[int]) -> list[Block]:  # noqa: ANN401
    """Return a heading for each entry of the outline, where its words stand on its page, in order of position."""
    import pypdfium2.raw as pdfium

    headings = []
    for mark, level in _bookmarks(pdfium, document):
        title = " ".join(_title(pdfium, mark).split())
        target = pdfium.FPDFBookmark_GetDest(document, mark)
        number = pdfium.FPDFDest_GetDestPageIndex(document, target) if target else -1
        if not title or not 0 <= number < len(pages):
            continue
        line = _line_of(pages[number], title, _height(pdfium, target))
        begin, length = (line.start, line.length) if line else (0, 0)
        headings.append(Block(starts[number] + begin, starts[number] + begin + length, "heading", title, level=level))
    return sorted(headings, key=lambda block: (block.start, block.level))


def _bookmarks(pdfium: Any, document: Any) -> Iterator[tuple[Any, int]]:  # noqa: ANN401
    """Yield the outline's entries with their depth, in order; an outline that bites its tail ends."""
    first = pdfium.FPDFBookmark_GetFirstChild(document, None)
    waiting = [(first, 1)] if first else []
    seen: set[int] = set()
    while waiting and len(seen) < _OUTLINE_LIMIT:
        mark, level = waiting.pop()
        address = ctypes.cast(mark, ctypes.c_void_p).value or 0
        if address in seen:
            continue
        seen.add(address)
        yield mark, level
        following = pdfium.FPDFBookmark_GetNextSibling(document, mark)
        inner = pdfium.FPDFBookmark_GetFirstChild(document, mark)
        waiting += [(following, level)] if following else []
        waiting += [(inner, level + 1)] if inner else []


def _title(pdfium: Any, mark: Any) -> str:  # noqa: ANN401
    size = pdfium.FPDFBookmark_GetTitle(mark, None, 0)
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFBookmark_GetTitle(mark, buffer, size)
    return buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "replace")


def _height(pdfium: Any, target: Any) -> float | None:  # noqa: ANN401
    """Return the y that an outline entry points to, in points, if it says one."""
    given = [ctypes.c_int() for _ in range(3)]
    values = [ctypes.c_float() for _ in range(3)]
    refs = [*map(ctypes.byref, given), *map(ctypes.byref, values)]
    found = pdfium.FPDFDest_GetLocationInPage(target, *refs)
    return float(values[1].value) if found and given[1].value else None


def _line_of(page: Page, title: str, height: float | None) -> Line | None:
    """Return the line that holds the title's words, else the first one below `height`."""
    wanted = _WORD.findall(title.casefold())
    for line in page.lines:
        words = _WORD.findall(page.text[line.start : line.start + line.length].casefold())
        if words and (words == wanted or (words[-len(wanted) :] == wanted and len(words) <= len(wanted) + 2)):
            return line
    if height is None:
        return None
    return next((line for line in page.lines if line.box[1] / 2 < height), None)
