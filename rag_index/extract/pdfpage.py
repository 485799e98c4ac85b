"""One page of a PDF: its characters, clipped to what shows, in lines with the place of each word.

The text is made unit by unit from PDFium's own character list. Every character of that list gives exactly one
UTF-16 unit of the page's string, so an index in the one is an index in the other but for pairs of surrogates.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

from rag_index.extract.pagelines import Box, Line

_LINE = re.compile(r"[^\r\n]+")
_WORD = re.compile(r"\S+")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_ALEF_LAM = re.compile("[آأإا]ل")
_LOST = re.compile(r"(?<=\w)\x00(?=\w)")
_CLEANED = dict.fromkeys((*range(9), *range(11, 13), *range(14, 32), 127), " ")
_CLEANED |= {2: "\u00ad", 0xFFFE: "\u00ad", 0xFFFF: " "} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_DIRTY = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_TEXT, _IMAGE, _FORM = 1, 3, 5
_INVISIBLE = {3, 7}
_EDGE_PT = 1.0
_TINY = 10
"""Letters less than a point high can't be read: tenths of a point."""
_PARAGRAPH_PITCH = 1.4
"""Lines this many times further apart than usual on the page begin a paragraph."""


@dataclass(slots=True)
class Page:
    r"""What one page gives.

    Attributes:
        text: Its lines, parted by ``\n``, paragraphs by a blank line.
        lines: Lines with offsets in `text`.
        hidden: Spans of `text` that a reader of the page can't see.
        box: Left, bottom, right, top of the part that shows, in points.
        outside: Characters left out because they stand outside of it.
        lost: Letters that the file gives no character for.
    """

    text: str = ""
    lines: list[Line] = field(default_factory=list)
    hidden: list[tuple[int, int]] = field(default_factory=list)
    box: tuple[float, float, float, float] = (0, 0, 0, 0)
    outside: int = 0
    lost: int = 0


def read_page(document: Any, index: int) -> Page | None:  # noqa: ANN401 (a PDFium handle)
    """Read page `index` of an open document; None when the page can't be loaded."""
    import pypdfium2.raw as pdfium

    handle = pdfium.FPDF_LoadPage(document, index)
    if not handle:
        return None
    characters = pdfium.FPDFText_LoadPage(handle)
    try:
        return _Reader(pdfium, handle, characters).page() if characters else None
    finally:
        pdfium.FPDFText_ClosePage(characters)
        pdfium.FPDF_ClosePage(handle)


class Characters:
    """The characters of a page and where they stand.

    Attributes:
        text: One string; offsets in it are ours, `native` gives PDFium's.
    """

    def __init__(self, pdfium: Any, handle: Any) -> None:  # noqa: ANN401
        self._pdfium = pdfium
        self.handle = handle
        self._edges = [ctypes.c_double() for _ in range(4)]
        self._refs = [ctypes.byref(edge) for edge in self._edges]
        text = self._units().decode("utf-16-le", "surrogatepass")
        self._astral = [found.start() for found in _ASTRAL.finditer(text)]
        self.lost = len(_LOST.findall(text))
        self.text = _LOST.sub("\ufffd", text).translate(_CLEANED) if _DIRTY.search(text) else text

    def _units(self) -> bytes:
        """Return one UTF-16 unit for each of PDFium's characters."""
        count = self._pdfium.FPDFText_CountChars(self.handle)
        units = (ctypes.c_ushort * (count + 1))()
        written = self._pdfium.FPDFText_GetText(self.handle, 0, count, units) - 1
        if written != count:
            # Characters without a Unicode value are not in PDFium's string: ask for each one.
            one = self._pdfium.FPDFText_GetUnicode
            units = (ctypes.c_ushort * (count + 1))(*(one(self.handle, i) & 0xFFFF for i in range(count)))
        return bytes(units)[: 2 * count]

    def native(self, at: int) -> int:
        """Return PDFium's index of character `at`."""
        return at + bisect_left(self._astral, at) if self._astral else at

    def boxes(self, start: int, end: int) -> Iterator[tuple[float, float, float, float]]:
        """Yield the rectangles around characters, one for each stretch of one style: left, bottom, right, top."""
        first = self.native(start)
        count = self._pdfium.FPDFText_CountRects(self.handle, first, self.native(end) - first)
        left, top, right, bottom = self._refs
        a, b, c, d = self._edges
        one = self._pdfium.FPDFText_GetRect
        for index in range(count):
            one(self.handle, index, left, top, right, bottom)
            yield a.value, d.value, c.value, b.value

    def box(self, at: int) -> tuple[float, float, float, float]:
        """Return the box of one character: left, bottom, right, top."""
        left, right, bottom, top = self._refs
        self._pdfium.FPDFText_GetCharBox(self.handle, self.native(at), left, right, bottom, top)
        a, b, c, d = self._edges
        return a.value, c.value, b.value, d.value

    def left(self, at: int) -> float:
        """Return the x where the pen stood for one character."""
        self._pdfium.FPDFText_GetCharOrigin(self.handle, self.native(at), self._refs[0], self._refs[1])
        return float(self._edges[0].value)

    def render_mode(self, at: int) -> int:
        """Return the mode that one character is drawn in; 3 is invisible."""
        drawn = self._pdfium.FPDFText_GetTextObject(self.handle, self.native(at))
        return int(self._pdfium.FPDFTextObj_GetTextRenderMode(drawn)) if drawn else 0


class _Reader:
    def __init__(self, pdfium: Any, page: Any, characters: Any) -> None:  # noqa: ANN401
        self._pdfium = pdfium
        self._page = page
        self._chars = Characters(pdfium, characters)
        self._result = Page(box=page_box(pdfium, page), lost=self._chars.lost)

    def page(self) -> Page:
        """Read the page."""
        text = self._mended(self._chars.text)
        shown = [piece for line in _LINE.finditer(text) for piece in self._inside(line.start(), line.end())]
        invisible, images = self._drawn()
        lines = [line for start, end in shown if (line := self._line(text, start, end)) is not None]
        result = self._result
        gaps = _gaps([line.box for line in lines])
        parts: list[str] = []
        length = 0
        for line, gap in zip(lines, gaps, strict=True):
            words = text[line.start : line.start + line.length]
            moved = Line(length + len(gap), line.length, line.box, line.words, line.boxes)
            parts += (gap, words)
            length += len(gap) + len(words)
            result.lines.append(moved)
            if invisible or line.box[3] - line.box[1] < _TINY:
                result.hidden += self._unseen(line, moved)
        result.text = "".join(parts)
        if images and sum(end - start for start, end in result.hidden) > 0.9 * length:
            result.hidden = []  # a scan: the invisible text is what was read from the image
        return result

    def _mended(self, text: str) -> str:
        """Put lam before alef where the two are one glyph, which PDFium gives in the wrong order."""
        if not _ALEF_LAM.search(text):
            return text
        letters = list(text)
        for found in _ALEF_LAM.finditer(text):
            at = found.start()
            if self._chars.box(at) == self._chars.box(at + 1):
                letters[at], letters[at + 1] = letters[at + 1], letters[at]
        return "".join(letters)

    def _inside(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the parts of a line that show: all of it, nearly always."""
        edges = [*self._chars.boxes(start, end)]
        if all(self._shows(box, whole=True) for box in edges):
            yield start, end
            return
        begin = -1
        for at in range(start, end):
            seen = self._shows(self._chars.box(at), whole=False) or self._chars.text[at].isspace()
            self._result.outside += not seen
            if seen and begin < 0:
                begin = at
            elif not seen and begin >= 0:
                yield begin, at
                begin = -1
        if begin >= 0:
            yield begin, end

    def _shows(self, box: tuple[float, float, float, float], *, whole: bool) -> bool:
        left, bottom, right, top = self._result.box
        edge = _EDGE_PT
        if whole:
            return box[0] >= left - edge and box[1] >= bottom - edge and box[2] <= right + edge and box[3] <= top + edge
        return box[2] > left - edge and box[0] < right + edge and box[3] > bottom - edge and box[1] < top + edge

    def _line(self, text: str, start: int, end: int) -> Line | None:
        """Return a line with the places of its words, offsets still in the page's own string."""
        words = [*_WORD.finditer(text, start, end)]
        if not words:
            return None
        start, end = words[0].start(), words[-1].end()
        edges = [*self._chars.boxes(start, end)]
        if not edges:
            return Line(start, end - start, (0, 0, 0, 0))
        box = _tenths(_around(edges))
        marks = [round(10 * self._chars.left(word.start())) for word in words]
        upright = box[2] - box[0] >= box[3] - box[1] or end - start < 3  # noqa: PLR2004
        if upright and all(a < b for a, b in pairwise(marks)) and not _RIGHT_TO_LEFT.search(text, start, end):
            return Line(start, end - start, box, tuple(marks))
        boxes = tuple(_tenths(_around([*self._chars.boxes(*word.span())] or edges)) for word in words)
        return Line(start, end - start, box, (), boxes)

    def _unseen(self, line: Line, moved: Line) -> Iterator[tuple[int, int]]:
        """Yield the spans of the page's text in `line` that are drawn invisibly, or too small to be read."""
        if line.box[3] - line.box[1] < _TINY and line.box[2] - line.box[0] < _TINY * line.length:
            yield moved.start, moved.start + moved.length
            return
        begin = -1
        for at in range(line.start, line.start + line.length):
            unseen = self._chars.text[at] == " " or self._chars.render_mode(at) in _INVISIBLE
            if unseen and begin < 0:
                begin = at
            elif not unseen and begin >= 0:
                yield from _worded(self._chars.text, begin, at, moved.start - line.start)
                begin = -1
        if begin >= 0:
            yield from _worded(self._chars.text, begin, line.start + line.length, moved.start - line.start)

    def _drawn(self) -> tuple[bool, bool]:
        """Tell whether the page draws invisible text, and whether it shows images."""
        count, one = self._pdfium.FPDFPage_CountObjects, self._pdfium.FPDFPage_GetObject
        waiting = [one(self._page, index) for index in range(count(self._page))]
        invisible = images = False
        kind_of, mode_of = self._pdfium.FPDFPageObj_GetType, self._pdfium.FPDFTextObj_GetTextRenderMode
        seen = 0
        while waiting and seen < 100_000:  # noqa: PLR2004 (forms may call each other without end)
            drawn = waiting.pop()
            seen += 1
            kind = kind_of(drawn)
            if kind == _TEXT:
                invisible = invisible or mode_of(drawn) in _INVISIBLE
            elif kind == _IMAGE:
                images = True
            elif kind == _FORM:
                inner = range(self._pdfium.FPDFFormObj_CountObjects(drawn))
                waiting += [self._pdfium.FPDFFormObj_GetObject(drawn, index) for index in inner]
        return invisible, images


def page_box(pdfium: Any, page: Any) -> tuple[float, float, float, float]:  # noqa: ANN401
    """Return the part of a loaded page that shows: left, bottom, right, top in points."""
    box = pdfium.FS_RECTF()
    pdfium.FPDF_GetPageBoundingBox(page, ctypes.byref(box))
    return box.left, box.bottom, box.right, box.top


def _worded(text: str, start: int, end: int, shift: int) -> Iterator[tuple[int, int]]:
    if text[start:end].strip():
        yield start + shift, end + shift


def _around(boxes: Sequence[tuple[float, float, float, float]]) -> tuple[float, float, float, float]:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _tenths(box: tuple[float, float, float, float]) -> Box:
    left, bottom, right, top = (round(10 * edge) for edge in box)
    return left, bottom, right, top


def _gaps(boxes: Sequence[Box]) -> list[str]:
    """Return what parts each line from the one before: a line end, or a blank line before a paragraph."""
    pitches = [before[1] - box[1] for before, box in pairwise(boxes)]
    down = [pitch for pitch in pitches if pitch > 0]
    usual = _PARAGRAPH_PITCH * median(down) if down else 0
    return ["", *("\n\n" if pitch > usual > 0 else "\n" for pitch in pitches)][: len(boxes)]
