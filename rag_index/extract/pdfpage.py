"""One page of a PDF: what shows of it, in lines with the place of each word."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import compress, pairwise, repeat
from statistics import median
from typing import Any

from rag_index.extract.pagelines import BOXES, DOWNWARD, RIGHTWARD, UPWARD, Box, Line
from rag_index.extract.pdfchars import CUT, INVISIBLE, RIGHT_TO_LEFT, Characters, Edges
from rag_index.extract.pdfium import address, pdfium

_LINE = re.compile(r"[^\s\x02](?:[^\r\n\x02]*[^\s\x02])?\x02?")
_WORD = re.compile(r"\S+")
_ALEF_LAM = re.compile("[آأإا]ل")
_IMAGE, _FORM = 3, 5
_MOST_DRAWN = 100_000
"""Forms may call each other without end."""
_SCANNED_SHARE = 0.9
_EDGE_PT = 1.0
_TINY = 3
"""Letters less than a point high can't be read: half points, rounded outward."""
_LOOSE, _LOOSER = 0.55, 1.25
"""Lines have gaps in them, as rows of tables do, if their letters take more than this of their height on average, or
this many times what is usual on the page."""
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
        self._spaced = self._text.replace(CUT, " ")
        self._result = Page(box=page_box(page), lost=self._chars.lost)
        left, bottom, right, top = self._result.box
        self._bounds = (left - _EDGE_PT, bottom - _EDGE_PT, right + _EDGE_PT, top + _EDGE_PT)

    def page(self, *, drop: bool = False) -> Page:
        """Read the page, without what can't be seen if `drop`."""
        lines, hidden = self._all_lines(), []
        invisible, images = self._drawn()
        if invisible or any(line.box[3] - line.box[1] < _TINY for line in lines):
            hidden = [span for line in lines for span in self._unseen(line)]
        if images and sum(end - start for start, end in hidden) > _SCANNED_SHARE * sum(line.length for line in lines):
            hidden = []  # a scan: the invisible text is what was read from the image
        if drop and hidden:
            lines = [part for line in lines for part in self._without(line, hidden)]
        result = self._result
        parts: list[str] = []
        length = 0
        for line, gap in zip(lines, _gaps(lines, self._text), strict=True):
            start, size, box, way, words = line
            parts += (gap, self._text[start : start + size])
            length += len(gap)
            result.lines.append(Line(length, size, box, way, words))
            result.places.append(start)
            result.hidden += [
                (first - start + length, last - start + length)
                for first, last in hidden
                if start <= first < last <= start + size
            ]
            length += size
        result.text = "".join(parts).replace(CUT, "\u00ad")
        return result

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
                    pieces = [reduce(_union, pieces)]
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
        spans = [found.span() for found in _LINE.finditer(self._text)]
        left, bottom, right, top = self._bounds
        lines: list[Line] = []
        for line, box in self._straight(spans):
            if box[0] >= left and box[1] >= bottom and box[2] <= right and box[3] <= top:
                lines.append(line)
            else:
                lines += self._shown(line, box)
        return lines

    def _straight(self, spans: Sequence[tuple[int, int]]) -> Iterator[tuple[Line, Edges]]:
        """Yield each line with its box in points, from the places of its first, middle and last letter."""
        find = self._spaced.find
        middles = [find(" ", (start + end) // 2, end) + 1 or start for start, end in spans]
        letters = [*[start for start, _ in spans], *middles, *[end - 1 for _, end in spans]]
        places = [*zip(*self._chars.letter_boxes(letters), strict=True)]
        count = len(spans)
        boxes = [_union(places[index], places[2 * count + index]) for index in range(count)]
        loose = _looseness(boxes, spans)
        for index, (start, end) in enumerate(spans):
            box = boxes[index]
            wide, high = box[2] - box[0], box[3] - box[1]
            if high < _EDGE_PT or (self._chars.bidi and RIGHT_TO_LEFT.search(self._text, start, end)):
                yield self._bent(start, end, box)
            elif high <= wide < loose * high * (end - start):
                middle, x = middles[index] - start, int(2 * places[count + index][0])
                halves = _halves(box)
                anchors = (middle, x) if middle and halves[0] < x < halves[2] else ()
                yield Line(start, end - start, halves, RIGHTWARD, anchors), box
            else:
                turned = UPWARD if places[index][1] < places[2 * count + index][1] else DOWNWARD
                flat = wide >= high or end - start < 3  # noqa: PLR2004 (a letter or two can be tall)
                yield self._worded(start, end, box, RIGHTWARD if flat else turned)

    def _worded(self, start: int, end: int, box: Edges, way: int) -> tuple[Line, Edges]:
        """Return a line with gaps in it, or a turned one: it keeps where each word begins and ends."""
        words = [word.span() for word in _WORD.finditer(self._spaced, start, end)]
        letters = [*[first for first, _ in words], *[last - 1 for _, last in words]]
        lefts, bottoms, rights, tops = self._chars.letter_boxes(letters)
        near, far = {RIGHTWARD: (lefts, rights), UPWARD: (bottoms, tops), DOWNWARD: (tops, bottoms)}[way]
        sign = -1 if way == DOWNWARD else 1
        marks: list[int] = []
        for index, (first, last) in enumerate(words):
            begin, stop = sign * near[index], sign * far[len(words) + index]
            marks += (first - start, int(2 * begin), last - start, int(2 * stop + 0.99))
        if sorted(marks[1::4]) != marks[1::4]:
            return self._bent(start, end, box)
        return Line(start, end - start, _halves(box), way, tuple(marks[2:-2])), box

    def _bent(self, start: int, end: int, box: Edges) -> tuple[Line, Edges]:
        """Return a line whose words don't follow one another on a straight way; each has its own box."""
        spans = [word.span() for word in _WORD.finditer(self._spaced, start, end)]
        found = [self._chars.around(*span) or box for span in spans]
        box = reduce(_union, found, found[0])
        return Line(
            start, end - start, _halves(box), BOXES, tuple([edge for one in found for edge in _halves(one)])
        ), box

    def _shown(self, line: Line, box: Edges) -> list[Line]:
        """Return the parts that show of a line that crosses an edge of the page."""
        left, bottom, right, top = self._bounds
        if box[2] <= left or box[0] >= right or box[3] <= bottom or box[1] >= top:
            self._result.outside += line.length
            return []
        return [part for part, _ in self._straight([*self._inside(line.start, line.start + line.length)])]

    def _inside(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a line that show, each from the beginning of a word to the end of one."""
        begin = stop = -1
        for word in _WORD.finditer(self._spaced, start, end):
            if self._shows(*word.span()):
                begin, stop = (word.start() if begin < 0 else begin), word.end()
                continue
            self._result.outside += len(word.group())
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
            words = [word.span() for word in _WORD.finditer(self._spaced, first, last)]
            if words:
                yield from (part for part, _ in self._straight([(words[0][0], words[-1][1])]))

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


def _looseness(boxes: Sequence[Edges], spans: Sequence[tuple[int, int]]) -> float:
    """Return how wide letters may be, in heights of their line, before the line must have gaps in it."""
    widths = sorted(
        (right - left) / ((top - bottom) * (end - start))
        for (left, bottom, right, top), (start, end) in zip(boxes, spans, strict=True)
        if top - bottom >= _EDGE_PT
    )
    return min(_LOOSE, _LOOSER * widths[len(widths) // 4]) if widths else _LOOSE


def page_box(page: Any) -> Edges:  # noqa: ANN401
    """Return the part of a loaded page that shows."""
    raw = pdfium().raw
    box = raw.FS_RECTF()
    raw.FPDF_GetPageBoundingBox(page, ctypes.byref(box))
    return box.left, box.bottom, box.right, box.top


def _union(one: Edges, other: Edges) -> Edges:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _halves(box: Edges) -> Box:
    """Return a box in half points, no smaller than it is."""
    return int(2 * box[0]), int(2 * box[1]), int(2 * box[2] + 0.99), int(2 * box[3] + 0.99)


def _gaps(lines: Sequence[Line], text: str) -> list[str]:
    """Return what parts each line from the one before: a line end, or a blank line before a paragraph.

    A paragraph begins further down than lines usually do, or up in the next column if that doesn't go on in small
    letters.
    """
    bottoms = [line.box[1] for line in lines]
    pitches = [before - bottom for before, bottom in pairwise(bottoms)]
    down = [pitch for pitch in pitches if pitch > 0]
    usual = _PARAGRAPH_PITCH * median(down) if down else 0
    gaps = [""]
    for (line, below), pitch in zip(pairwise(lines), pitches, strict=True):
        apart = pitch > usual > 0 or (pitch < 0 and not text[below.start].islower())
        gaps.append("\n\n" if apart and text[line.start + line.length - 1] != CUT else "\n")
    return gaps[: len(lines)]
