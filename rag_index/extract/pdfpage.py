"""One page of a PDF: its characters, clipped to what shows, in lines with the place of each word.

The text is made unit by unit from PDFium's own character list. Every character of that list gives exactly one
UTF-16 unit of the page's string, so an index in the one is an index in the other but for pairs of surrogates.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, count, pairwise, repeat
from statistics import median
from typing import Any

from rag_index.extract.pagelines import BOXES, DOWNWARD, RIGHTWARD, UPWARD, Box, Line
from rag_index.extract.pdfium import address, pdfium

Edges = tuple[float, float, float, float]
"""Left, bottom, right, top in points, page not rotated."""

_CUT = "\x02"
"""What PDFium gives for a hyphen at the end of a line; no line end comes after it."""
_LINE = re.compile("[^\r\n\x02]+\x02?")
_WORD = re.compile(r"\S+")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_RARE = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010000-\U0010ffff]")
_ALEF_LAM = re.compile("[آأإا]ل")
_LOST = re.compile(r"(?<=\w)\x00(?=\w)")
_DIRTY = re.compile("[\x00\x01\x03-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\uffff]")
_CLEANED: dict[int, str] = dict.fromkeys((*range(9), 0xB, 0xC, *range(0xE, 0x20), 0x7F, 0xFFFF), " ")
_CLEANED |= {2: _CUT, **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}
_IMAGE, _FORM = 3, 5
_MOST_DRAWN = 100_000
"""Forms may call each other without end."""
_INVISIBLE = {3, 7}
_SCANNED_SHARE = 0.9
_EDGE_PT = 1.0
_TINY = 3
"""Letters less than a point high can't be read: half points, rounded outward."""
_STOPS = frozenset('.!?:。！？…"”')
_STRETCH = 256
_PARAGRAPH_PITCH = 1.4
"""Lines this many times further apart than usual on the page begin a paragraph."""


@dataclass(slots=True)
class Page:
    r"""What one page gives.

    Attributes:
        text: Its lines, parted by ``\n``, paragraphs by a blank line.
        lines: Lines with offsets in `text`.
        hidden: Spans of `text` that a reader of the page can't see.
        box: The part of the page that shows.
        outside: Characters left out because they stand outside of it.
        lost: Letters that the file gives no character for.
    """

    text: str = ""
    lines: list[Line] = field(default_factory=list)
    hidden: list[tuple[int, int]] = field(default_factory=list)
    box: Edges = (0, 0, 0, 0)
    outside: int = 0
    lost: int = 0


def read_page(document: Any, index: int) -> Page | None:  # noqa: ANN401 (a PDFium handle)
    """Read page `index` of an open document; None when the page can't be loaded."""
    raw = pdfium().raw
    page = raw.FPDF_LoadPage(document, index)
    if not page:
        return None
    characters = raw.FPDFText_LoadPage(page)
    try:
        return _Reader(page, characters).page() if characters else None
    finally:
        raw.FPDFText_ClosePage(characters)
        raw.FPDF_ClosePage(page)


class Characters:
    """The characters of a page and where they stand.

    Attributes:
        text: One string; offsets in it are ours, `native` gives PDFium's. Hyphens at line ends are U+0002.
        lost: Letters that the file gives no character for.
        bidi: Whether some of it runs from right to left.
    """

    def __init__(self, handle: Any) -> None:  # noqa: ANN401
        self._pdfium = pdfium()
        self._handle = address(handle)
        self._edges = (ctypes.c_double * 4)()
        base = ctypes.addressof(self._edges)
        self._refs = (base, base + 8, base + 16, base + 24)
        text = self._units().decode("utf-16-le", "surrogatepass").replace("\ufffe", _CUT)
        rare = bool(_RARE.search(text))
        self._astral = [found.start() for found in _ASTRAL.finditer(text)] if rare else []
        self.bidi = rare and bool(_RIGHT_TO_LEFT.search(text))
        self.lost = len(_LOST.findall(text)) if "\0" in text else 0
        self.text = _LOST.sub("\ufffd", text).translate(_CLEANED) if _DIRTY.search(text) else text

    def _units(self) -> bytes:
        """Return one UTF-16 unit for each of PDFium's characters."""
        size = self._pdfium.count_chars(self._handle)
        whole = self._pdfium.units(self._handle, 0, size)
        if whole is not None:
            return whole
        # Characters without a Unicode value are not in PDFium's string: find where they are missing.
        return b"".join(self._stretch(start, min(_STRETCH, size - start)) for start in range(0, size, _STRETCH))

    def _stretch(self, start: int, size: int) -> bytes:
        units = self._pdfium.units(self._handle, start, size)
        if units is not None:
            return units
        one = self._pdfium.unit
        return b"".join((one(self._handle, at) & 0xFFFF).to_bytes(2, "little") for at in range(start, start + size))

    def native(self, at: int) -> int:
        """Return PDFium's index of character `at`."""
        return at + bisect_left(self._astral, at) if self._astral else at

    def around(self, start: int, end: int) -> Edges | None:
        """Return the box around characters; None where nothing is drawn."""
        if self._astral:
            start, end = self.native(start), self.native(end)
        handle, one = self._handle, self._pdfium.rect
        rects = self._pdfium.count_rects(handle, start, end - start)
        if not rects:
            return None
        west, north, east, south = self._refs
        one(handle, 0, west, north, east, south)
        left, top, right, bottom = self._edges
        for index in range(1, rects):
            one(handle, index, west, north, east, south)
            a, d, c, b = self._edges
            left, bottom = (min(left, a)), (min(bottom, b))
            right, top = (max(right, c)), (max(top, d))
        return left, bottom, right, top

    def pieces(self, start: int, end: int) -> list[Edges]:
        """Return a box for each stretch of characters in one style."""
        first = self.native(start)
        found = []
        for index in range(self._pdfium.count_rects(self._handle, first, self.native(end) - first)):
            self._pdfium.rect(self._handle, index, *self._refs)
            left, top, right, bottom = self._edges
            found.append((left, bottom, right, top))
        return found

    def box(self, at: int) -> Edges:
        """Return the box of one character."""
        self._pdfium.char_box(self._handle, self.native(at), *self._refs)
        left, right, bottom, top = self._edges
        return left, bottom, right, top

    def xs(self, places: Sequence[int]) -> list[int]:
        """Return the x where the pen stood for each of some characters, in half points."""
        size = len(places)
        points = (ctypes.c_double * (2 * _rounded(size)))()
        base = ctypes.addressof(points)
        natives = map(self.native, places) if self._astral else places
        # A loop in C: for a word it costs less than one line of Python would.
        deque(map(self._pdfium.origin, repeat(self._handle), natives, count(base, 16), count(base + 8, 16)), maxlen=0)
        return [int(2 * x) for x in points[: 2 * size : 2]]

    def tall_boxes(self, places: Sequence[int]) -> list[Edges]:
        """Return the boxes of some characters, as high as their font."""
        size = len(places)
        floats = (ctypes.c_float * (4 * _rounded(size)))()
        natives = map(self.native, places) if self._astral else places
        loose = self._pdfium.loose_box
        deque(map(loose, repeat(self._handle), natives, count(ctypes.addressof(floats), 16)), maxlen=0)
        lefts, tops, rights, bottoms = (floats[at : 4 * size : 4] for at in range(4))
        return [*zip(lefts, bottoms, rights, tops, strict=True)]

    def ys(self, places: Sequence[int]) -> list[int]:
        """Return the y where the pen stood for each of some characters, in half points."""
        found = []
        for at in places:
            self._pdfium.origin(self._handle, self.native(at), *self._refs[:2])
            found.append(int(2 * self._edges[1]))
        return found

    def invisible(self, at: int) -> bool:
        """Tell whether one character is drawn in a mode that shows nothing."""
        drawn = self._pdfium.drawn_by(self._handle, self.native(at))
        return bool(drawn) and self._pdfium.render_mode(drawn or 0) in _INVISIBLE


class _Reader:
    def __init__(self, page: Any, characters: Any) -> None:  # noqa: ANN401
        self._page = page
        self._chars = Characters(characters)
        self._text = self._mended(self._chars.text) if self._chars.bidi else self._chars.text
        self._spaced = self._text.replace(_CUT, " ")
        self._result = Page(box=page_box(page), lost=self._chars.lost)
        left, bottom, right, top = self._result.box
        self._bounds = (left - _EDGE_PT, bottom - _EDGE_PT, right + _EDGE_PT, top + _EDGE_PT)

    def page(self) -> Page:
        """Read the page."""
        lines = self._all_lines()
        invisible, images = self._drawn()
        result = self._result
        parts: list[str] = []
        length = 0
        for line, gap in zip(lines, _gaps(lines, self._text), strict=True):
            start, size, box, way, words = line
            moved = Line(length + len(gap), size, box, way, words)
            parts += (gap, self._text[start : start + size])
            length += len(gap) + size
            result.lines.append(moved)
            if invisible or box[3] - box[1] < _TINY:
                result.hidden += self._unseen(line, moved)
        result.text = "".join(parts).replace(_CUT, "\u00ad")
        if images and sum(end - start for start, end in result.hidden) > _SCANNED_SHARE * length:
            result.hidden = []  # a scan: the invisible text is what was read from the image
        return result

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
        words = [*_WORD.finditer(self._spaced)]
        starts = [word.start() for word in words]
        ends = [word.end() for word in words]
        xs = self._chars.xs(starts)
        rows: list[tuple[int, int, int]] = []
        first = 0
        for found in _LINE.finditer(self._text):
            end = found.end()
            after = bisect_right(ends, end, first)
            if after > first:
                rows.append((first, after, end if self._text[end - 1] == _CUT else ends[after - 1]))
                first = after
        boxes = self._chars.tall_boxes([at for first, _, end in rows for at in (starts[first], end - 1)])
        left, bottom, right, top = self._bounds
        lines: list[Line] = []
        for (first, after, end), one, other in zip(rows, boxes[::2], boxes[1::2], strict=True):
            box = _union(one, other)
            line = self._line(starts[first:after], xs[first:after], end, box)
            if box[0] >= left and box[1] >= bottom and box[2] <= right and box[3] <= top:
                lines.append(line)
            else:
                lines += self._shown(line, starts[first:after], xs[first:after], box)
        return lines

    def _shown(self, line: Line, words: list[int], xs: list[int], box: Edges) -> list[Line]:
        """Return the parts that show of a line that crosses an edge of the page."""
        start, end = line.start, line.start + line.length
        left, bottom, right, top = self._bounds
        if box[2] <= left or box[0] >= right or box[3] <= bottom or box[1] >= top:
            self._result.outside += end - start
            return []
        lines = []
        for first, last in self._inside(start, end):
            inner = slice(bisect_left(words, first), bisect_left(words, last))
            lines.append(self._line(words[inner], xs[inner], last, self._chars.around(first, last) or box))
        return lines

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

    def _line(self, words: list[int], xs: list[int], end: int, around: Edges) -> Line:
        start = words[0]
        box = _halves(around)
        tall = box[3] - box[1] > box[2] - box[0] and end - start > 2  # noqa: PLR2004 (a letter or two can be tall)
        if not (self._chars.bidi and _RIGHT_TO_LEFT.search(self._text, start, end)):
            if not tall and sorted(xs) == xs:
                return Line(start, end - start, box, RIGHTWARD, tuple(xs))
            ys = self._chars.ys([*words, end - 1])
            if tall and max(xs) - min(xs) <= 2 and (way := _way(ys)):  # noqa: PLR2004 (a point)
                return Line(start, end - start, box, way, tuple(ys[:-1]))
        spans = (word.span() for word in _WORD.finditer(self._spaced, start, end))
        edges = tuple([edge for span in spans for edge in _halves(self._chars.around(*span) or around)])
        return Line(start, end - start, box, BOXES, edges)

    def _unseen(self, line: Line, moved: Line) -> Iterator[tuple[int, int]]:
        """Yield the spans of the page's text in `line` that are drawn invisibly, or too small to be read."""
        if line.box[3] - line.box[1] < _TINY and line.box[2] - line.box[0] < _TINY * line.length:
            yield moved.start, moved.start + moved.length
            return
        shift = moved.start - line.start
        begin = stop = -1
        for at in range(line.start, line.start + line.length):
            if self._text[at].isspace():
                continue
            if self._chars.invisible(at):
                begin, stop = (at if begin < 0 else begin), at + 1
            elif begin >= 0:
                yield begin + shift, stop + shift
                begin = -1
        if begin >= 0:
            yield begin + shift, stop + shift

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
            invisible = invisible or not _INVISIBLE.isdisjoint(modes)
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


def _rounded(size: int) -> int:
    """Return a size of few different ones: ctypes makes a new type for each length of an array."""
    return 1 << max(size, 1).bit_length()


def _union(one: Edges, other: Edges) -> Edges:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _way(ys: list[int]) -> int:
    """Return which way a turned line runs: up, down, or neither."""
    if sorted(ys) == ys:
        return UPWARD
    return DOWNWARD if sorted(ys, reverse=True) == ys else BOXES


def _halves(box: Edges) -> Box:
    """Return a box in half points, no smaller than it is."""
    return int(2 * box[0]), int(2 * box[1]), int(2 * box[2] + 0.99), int(2 * box[3] + 0.99)


def _gaps(lines: Sequence[Line], text: str) -> list[str]:
    """Return what parts each line from the one before: a line end, or a blank line before a paragraph.

    A paragraph begins further down than lines usually do, or up in the next column if the one before had ended.
    """
    bottoms = [line.box[1] for line in lines]
    pitches = [before - bottom for before, bottom in pairwise(bottoms)]
    down = [pitch for pitch in pitches if pitch > 0]
    usual = _PARAGRAPH_PITCH * median(down) if down else 0
    gaps = [""]
    for line, pitch in zip(lines, pitches, strict=False):
        last = text[line.start + line.length - 1]
        apart = pitch > usual > 0 or (pitch < 0 and last in _STOPS)
        gaps.append("\n\n" if apart and last != _CUT else "\n")
    return gaps[: len(lines)]
