"""One page of a PDF: what shows of it, in lines with the place of each word."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import accumulate, chain, compress, pairwise, repeat
from operator import add, sub
from statistics import median
from typing import Any

from rag_index.extract.pagelines import BOXES, DOWNWARD, UPWARD, Line
from rag_index.extract.pdfchars import CUT, INVISIBLE, Characters, Edges
from rag_index.extract.pdfium import address, pdfium
from rag_index.extract.pdflines import EDGE_PT, Ruler, line_of, union

_LINE = re.compile(r"[^\s\x02](?:[^\r\n\x02]*[^\s\x02])?\x02?")
_ALEF_LAM = re.compile("[آأإا]ل")
_IMAGE, _FORM = 3, 5
_MOST_DRAWN = 100_000
"""Forms may call each other without end."""
_SCANNED_SHARE = 0.9
_TINY = 3
"""Letters less than a point high can't be read: half points, rounded outward."""
_TURNED = {UPWARD, DOWNWARD}
_PARAGRAPH_PITCH = 1.4
"""Lines this many times further apart than usual on the page begin a paragraph."""


@dataclass(slots=True)
class Page:
    r"""What one page gives.

    Attributes:
        text: Its lines, parted by ``\n``, paragraphs by a blank line.
        lines: Lines with offsets in `text`.
        places: Where each line begins in PDFium's own text.
        hidden: Spans of `text` that a reader of the page can't see.
        box: The part of the page that shows.
        outside: Characters left out because they stand outside of it.
        lost: Letters that the file gives no character for.
    """

    text: str = ""
    lines: list[Line] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    hidden: list[tuple[int, int]] = field(default_factory=list)
    box: Edges = (0, 0, 0, 0)
    outside: int = 0
    lost: int = 0


def read_page(document: Any, index: int, *, drop: bool = False) -> Page | None:  # noqa: ANN401 (a PDFium handle)
    """Read page `index` of an open document, without hidden text if `drop`; None when the page can't be loaded."""
    raw = pdfium().raw
    page = raw.FPDF_LoadPage(document, index)
    if not page:
        return None
    characters = raw.FPDFText_LoadPage(page)
    try:
        return _Reader(page, characters).page(drop=drop) if characters else None
    finally:
        raw.FPDFText_ClosePage(characters)
        raw.FPDF_ClosePage(page)


def passage_boxes(document: Any, index: int, text: str, spans: Sequence[tuple[int, int]]) -> list[Edges] | None:  # noqa: ANN401
    """Return the boxes of spans of a page's text, exact to the letter; None when the page doesn't have that text."""
    raw = pdfium().raw
    page = raw.FPDF_LoadPage(document, index)
    characters = raw.FPDFText_LoadPage(page) if page else None
    try:
        reader = _Reader(page, characters) if characters else None
        return reader.boxes(text, spans) if reader else None
    finally:
        raw.FPDFText_ClosePage(characters)
        raw.FPDF_ClosePage(page)


class _Reader:
    def __init__(self, page: Any, characters: Any) -> None:  # noqa: ANN401
        self._page = page
        self._chars = Characters(characters)
        self._text = self._mended(self._chars.text) if self._chars.bidi else self._chars.text
        self._ruler = Ruler(self._text, self._chars)
        self._result = Page(box=page_box(page), lost=self._chars.lost)
        left, bottom, right, top = self._result.box
        self._bounds = (left - EDGE_PT, bottom - EDGE_PT, right + EDGE_PT, top + EDGE_PT)

    def page(self, *, drop: bool = False) -> Page:
        """Read the page, without what can't be seen if `drop`."""
        lines, result = self._all_lines(), self._result
        hidden = self._hidden(lines)
        if drop and hidden:
            lines = [part for line in lines for part in self._without(line, hidden)]
        if not lines:
            return result
        text = self._text
        places, sizes, *others = zip(*lines, strict=True)
        shown = [text[start : start + size] for start, size in zip(places, sizes, strict=True)]
        gaps = _gaps(lines, text)
        after = [*accumulate(map(add, map(len, gaps), sizes))]
        starts = [*map(sub, after, sizes)]
        result.lines = [*map(line_of, zip(starts, sizes, *others, strict=True))]
        result.places = [*places]
        if hidden:
            result.hidden = _moved(hidden, result)
        result.text = "".join(chain.from_iterable(zip(gaps, shown, strict=True))).replace(CUT, "\u00ad")
        return result

    def _hidden(self, lines: Sequence[Line]) -> list[tuple[int, int]]:
        """Return the spans of the page's own string that a reader of the page can't see."""
        invisible, images = self._drawn()
        if not invisible and not any(line.box[3] - line.box[1] < _TINY for line in lines):
            return []
        hidden = [span for line in lines for span in self._unseen(line)]
        if images and sum(end - start for start, end in hidden) > _SCANNED_SHARE * sum(line.length for line in lines):
            return []  # a scan: the invisible text is what was read from the image
        return hidden

    def boxes(self, text: str, spans: Sequence[tuple[int, int]]) -> list[Edges] | None:
        """Return the boxes of spans of `text`, which must be the page's: one for each line, or word of a bent one."""
        page = self.page()
        if page.text != text:
            return None
        found: list[Edges] = []
        for line, place in zip(page.lines, page.places, strict=True):
            for start, end in spans:
                first, last = max(start, line.start), min(end, line.start + line.length)
                if first >= last:
                    continue
                pieces = self._chars.pieces(first - line.start + place, last - line.start + place)
                if line.runs != BOXES and pieces:
                    pieces = [reduce(union, pieces)]
                found += pieces
        return found

    def _mended(self, text: str) -> str:
        """Put lam before alef where the two are one glyph, which PDFium gives in the wrong order."""
        letters = list(text)
        for found in _ALEF_LAM.finditer(text):
            at = found.start()
            if self._chars.box(at) == self._chars.box(at + 1):
                letters[at], letters[at + 1] = letters[at + 1], letters[at]
        return "".join(letters)

    def _all_lines(self) -> list[Line]:
        """Return the lines of the page, with offsets in its own string."""
        lines, boxes = self._ruler.lines([found.span() for found in _LINE.finditer(self._text)])
        if not lines:
            return lines
        left, bottom, right, top = self._bounds
        lefts, bottoms, rights, tops = zip(*boxes, strict=True)
        if min(lefts) >= left and min(bottoms) >= bottom and max(rights) <= right and max(tops) <= top:
            return lines
        return [part for line, box in zip(lines, boxes, strict=True) for part in self._shown(line, box)]

    def _shown(self, line: Line, box: Edges) -> list[Line]:
        """Return the parts of a line that show."""
        left, bottom, right, top = self._bounds
        if box[0] >= left and box[1] >= bottom and box[2] <= right and box[3] <= top:
            return [line]
        if box[2] <= left or box[0] >= right or box[3] <= bottom or box[1] >= top:
            self._result.outside += line.length
            return []
        return self._ruler.lines([*self._inside(line.start, line.start + line.length)])[0]

    def _inside(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a line that show, each from the beginning of a word to the end of one."""
        begin = stop = -1
        for first, last in self._ruler.words(start, end):
            if self._shows(first, last):
                begin, stop = (first if begin < 0 else begin), last
                continue
            self._result.outside += last - first
            if begin >= 0:
                yield begin, stop
                begin = -1
        if begin >= 0:
            yield begin, stop

    def _shows(self, start: int, end: int) -> bool:
        """Tell whether the middle of a word is on the page."""
        box = self._chars.around(start, end)
        if box is None:
            return False
        left, bottom, right, top = self._bounds
        return left < (box[0] + box[2]) / 2 < right and bottom < (box[1] + box[3]) / 2 < top

    def _unseen(self, line: Line) -> Iterator[tuple[int, int]]:
        """Yield the spans of a line, in the page's own string, that are drawn invisibly or too small to be read."""
        end = line.start + line.length
        if line.box[3] - line.box[1] < _TINY and line.box[2] - line.box[0] < _TINY * line.length:
            yield line.start, end
            return
        begin = stop = -1
        for at in range(line.start, end):
            if self._text[at].isspace():
                continue
            if self._chars.invisible(at):
                begin, stop = (at if begin < 0 else begin), at + 1
            elif begin >= 0:
                yield begin, stop
                begin = -1
        if begin >= 0:
            yield begin, stop

    def _without(self, line: Line, hidden: Sequence[tuple[int, int]]) -> Iterator[Line]:
        """Yield the parts of a line between hidden spans."""
        end = line.start + line.length
        inside = [span for span in hidden if line.start <= span[0] < end]
        if not inside:
            yield line
            return
        borders = [line.start, *(at for span in inside for at in span), end]
        for first, last in zip(borders[::2], borders[1::2], strict=True):
            words = self._ruler.words(first, last)
            if words:
                yield from self._ruler.lines([(words[0][0], words[-1][1])])[0]

    def _drawn(self) -> tuple[bool, bool]:
        """Tell whether the page draws invisible text, and whether it shows images."""
        lib = pdfium()
        page = address(self._page)
        waiting = [*map(lib.drawn, repeat(page), range(lib.count_drawn(page)))]
        invisible = images = False
        seen = 0
        while waiting and seen < _MOST_DRAWN:
            seen += len(waiting)
            modes = [*map(lib.render_mode, waiting)]  # -1 for all that is not text
            invisible = invisible or not INVISIBLE.isdisjoint(modes)
            others = [*compress(waiting, map((0).__gt__, modes))]
            kinds = [*map(lib.kind, others)]
            images = images or _IMAGE in kinds
            forms = compress(others, map(_FORM.__eq__, kinds))
            waiting = [lib.inner(form, index) for form in forms for index in range(lib.count_inner(form))]
        return invisible, images


def page_box(page: Any) -> Edges:  # noqa: ANN401
    """Return the part of a loaded page that shows."""
    raw = pdfium().raw
    box = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page, ctypes.byref(box))
    return box.left, box.bottom, box.right, box.top


def _moved(hidden: Sequence[tuple[int, int]], page: Page) -> list[tuple[int, int]]:
    """Return spans of the page's own string as spans of its text."""
    return [
        (first - place + line.start, last - place + line.start)
        for line, place in zip(page.lines, page.places, strict=True)
        for first, last in hidden
        if place <= first < last <= place + line.length
    ]


def _gaps(lines: Sequence[Line], text: str) -> list[str]:
    """Return what parts each line from the one before: a line end, or a blank line before a paragraph.

    A paragraph begins further down than lines usually do, or up in the next column if that doesn't go on in small
    letters. So does a line that runs another way than the one before: a stamp on the margin.
    """
    bottoms = [line.box[1] for line in lines]
    pitches = [before - bottom for before, bottom in pairwise(bottoms)]
    down = [pitch for pitch in pitches if pitch > 0]
    usual = _PARAGRAPH_PITCH * median(down) if down else 0
    gaps = [""]
    for (line, below), pitch in zip(pairwise(lines), pitches, strict=True):
        turned = line.runs != below.runs and not {line.runs, below.runs}.isdisjoint(_TURNED)
        apart = turned or pitch > usual > 0 or (pitch < 0 and not text[below.start].islower())
        gaps.append("\n\n" if apart and text[line.start + line.length - 1] != CUT else "\n")
    return gaps[: len(lines)]
