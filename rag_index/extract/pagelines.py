"""The position map of PDF: the lines of each page and where their words stand."""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from rag_index.extract.packing import Packer, Unpacker
from rag_index.types import Rect

Box = tuple[int, int, int, int]
"""Left, bottom, right, top in tenths of a point, page not rotated."""

_WORD = re.compile(r"\S+")
_NARROW, _WIDE = set("iljtfrI.,:;'|!()[]- "), set("mwMW@%—")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a PDF page: characters in a row, with the box around them.

    Attributes:
        start: Offset in the text.
        length: Characters.
        box: Left, bottom, right, top in tenths of a point, page not rotated.
        words: Where each word begins, in tenths of a point from the left; for a line that runs from left to right.
        boxes: The box of each word, for all other lines; `words` is then empty.
    """

    start: int
    length: int
    box: Box
    words: tuple[int, ...] = ()
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of one page, in order of the text."""

    start: int
    lines: list[Line] = field(default_factory=list)


def pack_pages(pages: Sequence[PageLines]) -> bytes:
    """Return pages as compressed bytes: about 1 kB for a full page."""
    out = Packer()
    out.number(len(pages))
    start = 0
    for page in pages:
        out.number(page.start - start)
        out.number(len(page.lines))
        start = page.start
        last = (0, 0, 0, 0)
        for line in page.lines:
            _pack_line(out, line, start, last)
            start, last = line.start + line.length, line.box
    return zlib.compress(bytes(out.data), 6)


def _pack_line(out: Packer, line: Line, start: int, last: Box) -> None:
    out.number(line.start - start)
    out.number(line.length)
    for value, before in zip(line.box, last, strict=True):
        out.signed(value - before)
    out.number(0 if line.boxes else len(line.words) + 1)
    at = line.box[0]
    for word in line.words:
        out.signed(word - at)
        at = word
    if line.boxes:
        out.number(len(line.boxes))
        for box in line.boxes:
            for value, edge in zip(box, line.box, strict=True):
                out.signed(value - edge)


def _unpack_line(packed: Unpacker, start: int, last: Box) -> Line:
    begin = start + packed.number()
    length = packed.number()
    left, bottom, right, top = (before + packed.signed() for before in last)
    box = (left, bottom, right, top)
    count = packed.number()
    if not count:
        boxes = tuple(_unpack_box(packed, box) for _ in range(packed.number()))
        return Line(begin, length, box, (), boxes)
    words = []
    at = left
    for _ in range(count - 1):
        at += packed.signed()
        words.append(at)
    return Line(begin, length, box, tuple(words))


def _unpack_box(packed: Unpacker, edge: Box) -> Box:
    left, bottom, right, top = (value + packed.signed() for value in edge)
    return left, bottom, right, top


@lru_cache(maxsize=4)
def unpack_pages(data: bytes) -> tuple[PageLines, ...]:
    """Return the pages that `pack_pages` packed."""
    if not data:
        return ()
    packed = Unpacker(zlib.decompress(data))
    pages = []
    start = 0
    for _ in range(packed.number()):
        start += packed.number()
        count = packed.number()
        page = PageLines(start)
        last = (0, 0, 0, 0)
        for _ in range(count):
            line = _unpack_line(packed, start, last)
            page.lines.append(line)
            start, last = line.start + line.length, line.box
        pages.append(page)
    return tuple(pages)


def rectangles(data: bytes, text: str, start: int, end: int) -> tuple[Rect, ...]:
    """Return a rectangle for each line, or part of one, that the span covers, in points."""
    pages = unpack_pages(data)
    found: list[Rect] = []
    first = max(bisect_right(pages, start, key=lambda page: page.start) - 1, 0)
    for number, page in enumerate(pages[first:], first + 1):
        if page.start >= end:
            break
        for line in page.lines:
            if line.start < end and line.start + line.length > start:
                boxes = part_of_line(line, text, max(start, line.start), min(end, line.start + line.length))
                found += [Rect(number, *(edge / 10 for edge in box)) for box in boxes]
    return tuple(found)


def part_of_line(line: Line, text: str, start: int, end: int) -> Iterator[Box]:
    """Yield the boxes of ``text[start:end]``, a part of `line`.

    Exact where a word begins; inside a word by the usual widths of letters.
    """
    if line.boxes:
        yield from _whole_words(line, text, start, end)
        return
    left, bottom, right, top = line.box
    if start == line.start and end == line.start + line.length:
        yield line.box
        return
    marks = [*line.words, right]
    words = list(_WORD.finditer(text, line.start, line.start + line.length))
    edges = []
    for at, after in ((start, False), (end, True)):
        edges.append(_edge(text, words, marks, at, after=after))
    low, high = (edges[0] if edges[0] is not None else left), (edges[1] if edges[1] is not None else right)
    if high > low:
        yield low, bottom, high, top


def _whole_words(line: Line, text: str, start: int, end: int) -> Iterator[Box]:
    for word, box in zip(_WORD.finditer(text, line.start, line.start + line.length), line.boxes, strict=False):
        if word.start() < end and word.end() > start:
            yield box


def _edge(text: str, words: Sequence[re.Match[str]], marks: Sequence[int], at: int, *, after: bool) -> int | None:
    """Return the x of the left edge of character `at`, or of the right edge of the one before when `after`."""
    for number, word in enumerate(words[: len(marks) - 1]):
        if at < word.start() or (after and at == word.start()):
            return marks[number]
        inside = at <= word.end() if after else at < word.end()
        if inside:
            gap = text[word.end()] if number + 2 < len(marks) else ""
            whole = _width(word.group()) + _width(gap)
            share = _width(text[word.start() : at]) / whole if whole else 0.0
            return round(marks[number] + share * (marks[number + 1] - marks[number]))
    return None


def _width(part: str) -> float:
    """Return about how wide letters are, in ems of an ordinary proportional font."""
    return sum(0.3 if char in _NARROW else 0.85 if char in _WIDE else 0.55 for char in part)
