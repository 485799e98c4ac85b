"""The position map of PDF: the lines of each page and where their words stand."""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, islice, pairwise
from operator import add, sub
from typing import NamedTuple

from rag_index.extract.packing import Packer, Unpacker, pack_column, unpack_columns
from rag_index.types import Rect

Box = tuple[int, int, int, int]
"""Left, bottom, right, top in half points, page not rotated: an edge is less than a hair away."""

_WORD = re.compile(r"\S+")
_WIDTHS = dict.fromkeys("ijl'|", 0.22) | dict.fromkeys(" ,.:;/!tfI[]\\", 0.28) | dict.fromkeys('()-r"*`', 0.34)
_WIDTHS |= dict.fromkeys("cksvxyzJ", 0.5) | dict.fromkeys("FTZ", 0.61) | dict.fromkeys("ABEKPSVXY&", 0.67)
_WIDTHS |= dict.fromkeys("CDHNRUw", 0.72) | dict.fromkeys("GOQ", 0.78) | dict.fromkeys("mM", 0.83)
_WIDTHS |= dict.fromkeys("W@%—…", 0.97)
_USUAL_WIDTH, _FULL_WIDTH = 0.56, 1.0
"""Of letters in an ordinary proportional font, in ems."""
BOXES, RIGHTWARD, UPWARD, DOWNWARD = range(4)
"""How the words of a line are kept: each with its box, or by where it begins on the way that the line runs."""

_FIRST_WIDE = "\u1100"
_QUICK = 1
"""Of zlib: a tenth more bytes than its usual level, in half the time."""


class Line(NamedTuple):
    """A line of a PDF page: characters in a row, with the box around them.

    Attributes:
        start: Offset from the beginning of the page's text.
        length: Characters.
        box: The box around them.
        runs: ``RIGHTWARD``, ``UPWARD`` or ``DOWNWARD``, else ``BOXES``.
        marks: Places between its ends, each as an offset from `start` and where that letter begins on the line's way,
            in half points, y negated for DOWNWARD; for BOXES the edges of each word's box.
    """

    start: int
    length: int
    box: Box
    runs: int = RIGHTWARD
    marks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PageMap:
    """The pages of a document: where each begins in the text, and its packed lines."""

    starts: tuple[int, ...]
    packed: tuple[bytes, ...]

    def lines(self, index: int) -> tuple[Line, ...]:
        """Unpack the lines of page `index`."""
        return _unpack_lines(self.packed[index])


def pack_pages(starts: Sequence[int], pages: Sequence[Sequence[Line]]) -> bytes:
    """Return the lines of all pages as bytes, each page compressed by itself: about 1 kB for a full one."""
    out = Packer()
    out.number(len(pages))
    blobs = [_pack_lines(lines) for lines in pages]
    for before, start, blob in zip((0, *starts), starts, blobs, strict=False):
        out.number(start - before)
        out.number(len(blob))
    return bytes(out.data) + b"".join(blobs)


@lru_cache(maxsize=4)
def unpack_pages(data: bytes) -> PageMap:
    """Return the pages that `pack_pages` packed; their lines are unpacked when they are asked for."""
    if not data:
        return PageMap((), ())
    packed = Unpacker(data)
    steps = [(packed.number(), packed.number()) for _ in range(packed.number())]
    starts = tuple(accumulate(step for step, _ in steps))
    ends = list(accumulate((length for _, length in steps), initial=packed.at))
    return PageMap(starts, tuple(data[a:b] for a, b in pairwise(ends)))


def rectangles(data: bytes, text: str, start: int, end: int) -> tuple[Rect, ...]:
    """Return a rectangle for each line, or part of one, that the span covers, in points."""
    pages = unpack_pages(data)
    found: list[Rect] = []
    first = max(bisect_right(pages.starts, start) - 1, 0)
    for index in range(first, len(pages.starts)):
        begin = pages.starts[index]
        if begin >= end:
            break
        words = text[begin : pages.starts[index + 1] if index + 1 < len(pages.starts) else len(text)]
        for line in pages.lines(index):
            after = line.start + line.length
            if begin + line.start < end and begin + after > start:
                boxes = part_of_line(line, words, max(start - begin, line.start), min(end - begin, after))
                found += [Rect(index + 1, *(edge / 2 for edge in box)) for box in boxes]
    return tuple(found)


def part_of_line(line: Line, text: str, start: int, end: int) -> Iterator[Box]:
    """Yield the boxes of ``text[start:end]``, a part of `line`.

    Exact to half a point at the line's ends and at its marks; between these by the usual widths of letters, which is
    less than half a letter off for most words.
    """
    left, bottom, right, top = line.box
    if line.runs == BOXES:
        words = _WORD.finditer(text, line.start, line.start + line.length)
        boxes = zip(*[iter(line.marks)] * 4, strict=True)
        yield from (box for word, box in zip(words, boxes, strict=False) if word.start() < end and word.end() > start)
        return
    low, high = _place(line, text, start - line.start), _place(line, text, end - line.start)
    if line.runs == DOWNWARD:
        low, high = -high, -low
    if high > low:
        yield (low, bottom, high, top) if line.runs == RIGHTWARD else (left, low, right, high)


def _place(line: Line, text: str, at: int) -> int:
    """Return where the letter `at` letters from the line's start begins on the line's way."""
    left, bottom, right, top = line.box
    begin, stop = {RIGHTWARD: (left, right), UPWARD: (bottom, top), DOWNWARD: (-top, -bottom)}[line.runs]
    offsets = (0, *line.marks[::2], line.length)
    places = (begin, *line.marks[1::2], stop)
    index = max(bisect_right(offsets, at) - 1, 0)
    if offsets[index] == at:
        return places[index]
    near, far = line.start + offsets[index], line.start + offsets[index + 1]
    share = _width(text[near : line.start + at]) / _width(text[near:far])
    return round(places[index] + share * (places[index + 1] - places[index]))


def _width(part: str) -> float:
    """Return about how wide letters are, in ems of an ordinary proportional font."""
    return sum(_WIDTHS.get(char, _FULL_WIDTH if char >= _FIRST_WIDE else _USUAL_WIDTH) for char in part)


def _pack_lines(lines: Sequence[Line]) -> bytes:
    """Return the lines of a page, column by column, since like numbers compress best beside each other."""
    if not lines:
        return b""
    starts, lengths, boxes, runs, places = zip(*lines, strict=True)
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    marks = [*chain.from_iterable(places)]
    steps = [*map(sub, marks, (0, *marks))]
    columns: tuple[Iterable[int], ...] = (
        map(sub, starts, (0, *map(add, starts, lengths))),
        lengths,
        map(sub, lefts, (0, *lefts)),
        map(sub, bottoms, (0, *bottoms)),
        map(sub, rights, (0, *rights)),
        map(sub, tops, bottoms),
        runs,
        map(len, places),
        steps[::2],
        steps[1::2],
    )
    return zlib.compress(b"".join(map(pack_column, columns)), _QUICK)


def _unpack_lines(data: bytes) -> tuple[Line, ...]:
    if not data:
        return ()
    gaps, lengths, lefts, bottoms, rights, heights, runs, counts, *steps = unpack_columns(zlib.decompress(data), 10)
    marks = accumulate(chain.from_iterable(zip(*steps, strict=True)))
    edges = zip(accumulate(lefts), accumulate(bottoms), accumulate(rights), heights, strict=True)
    lines = []
    end = 0
    for gap, length, way, size, (left, bottom, right, height) in zip(gaps, lengths, runs, counts, edges, strict=True):
        lines.append(Line(end + gap, length, (left, bottom, right, bottom + height), way, tuple(islice(marks, size))))
        end += gap + length
    return tuple(lines)
