"""The characters of a PDF page: one string, and where each of them stands.

The text is made unit by unit from PDFium's own character list. Every character of that list gives exactly one
UTF-16 unit of the page's string, so an index in the one is an index in the other but for pairs of surrogates.
"""

from __future__ import annotations

import ctypes
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from itertools import count, repeat
from typing import Any

from rag_index.extract.pdfium import address, pdfium

Edges = tuple[float, float, float, float]
"""Left, bottom, right, top in points, page not rotated."""

CUT = "\x02"
"""What PDFium gives for a hyphen at the end of a line; no line end comes after it."""
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_LOST = re.compile(r"(?<=\w)\x00(?=\w)")
_DIRTY = re.compile("[\x00\x01\x03-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\uffff]")
_RARE = re.compile(_DIRTY.pattern[:-1] + RIGHT_TO_LEFT.pattern[1:])
"""One search instead of two on most pages; a class without letters above U+FFFF is twice as fast."""
_CLEANED: dict[int, str] = dict.fromkeys((*range(9), 0xB, 0xC, *range(0xE, 0x20), 0x7F, 0xFFFF), " ")
_CLEANED |= {2: CUT, **dict.fromkeys(range(0xD800, 0xE000), "\ufffd")}
INVISIBLE = {3, 7}
_STRETCH = 256


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
        units = self._units()
        text = units.decode("utf-16-le", "surrogatepass").replace("\ufffe", CUT)
        rare = bool(_RARE.search(text))
        self._astral = [found.start() for found in _ASTRAL.finditer(text)] if 2 * len(text) < len(units) else []
        self.bidi = rare and bool(RIGHT_TO_LEFT.search(text))
        self.lost = len(_LOST.findall(text)) if "\0" in text else 0
        self.text = _LOST.sub("\ufffd", text).translate(_CLEANED) if rare and _DIRTY.search(text) else text

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

    def letter_boxes(self, places: Sequence[int]) -> tuple[list[float], list[float], list[float], list[float]]:
        """Return left, bottom, right and top of some characters, as high as their font, in points."""
        size = len(places)
        natives = map(self.native, places) if self._astral else places
        floats, begin = self._pdfium.floats(4 * size)
        # A loop in C: for a letter it costs less than one line of Python would.
        deque(map(self._pdfium.loose_box, repeat(self._handle), natives, count(begin, 16)), maxlen=0)
        lefts, tops, rights, bottoms = (floats[at : 4 * size : 4] for at in range(4))
        return lefts, bottoms, rights, tops

    def invisible(self, at: int) -> bool:
        """Tell whether one character is drawn in a mode that shows nothing."""
        drawn = self._pdfium.drawn_by(self._handle, self.native(at))
        return bool(drawn) and self._pdfium.render_mode(drawn or 0) in INVISIBLE
