"""Where the lines of a PDF page stand, and the words of those that have gaps.

All lines of a page are measured at once, as columns of numbers: a loop over them costs as much as PDFium itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial, reduce
from itertools import chain, repeat
from operator import sub
from typing import Any

from rag_index.extract.pagelines import BOXES, DOWNWARD, RIGHTWARD, UPWARD, Box, Line
from rag_index.extract.pdfchars import CUT, RIGHT_TO_LEFT, Characters, Edges

EDGE_PT = 1.0
_WORD = re.compile(r"\S+")
_LOOSE, _LOOSER = 0.55, 1.25
"""Lines have gaps in them, as rows of tables do, if their letters take more than this of their height on average, or
this many times what is usual on the page."""
_UP = 0.99
"""What makes half points round upward."""
line_of: Any = partial(tuple.__new__, Line)
"""Makes a line of a row of columns, without the Python code of a named tuple."""


class Ruler:
    """Measures parts of a page's string.

    Attributes:
        text: The string.
    """

    def __init__(self, text: str, characters: Characters) -> None:
        self.text = text
        self._chars = characters
        self._spaced = text.replace(CUT, " ")

    def words(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the spans of the words between two offsets."""
        return [word.span() for word in _WORD.finditer(self._spaced, start, end)]

    def lines(self, spans: Sequence[tuple[int, int]]) -> tuple[list[Line], list[Edges]]:
        """Return the lines at some spans, and the box of each in points."""
        if not spans:
            return [], []
        starts, ends = zip(*spans, strict=True)
        find = self._spaced.find
        middles = [find(" ", (start + end) // 2, end) + 1 or start for start, end in spans]
        letters = self._chars.letter_boxes([*starts, *middles, *[end - 1 for end in ends]])
        one, two = len(spans), 2 * len(spans)
        lows = [[*map(min, edges, edges[two:])] for edges in letters[:2]]
        highs = [[*map(max, edges, edges[two:])] for edges in letters[2:]]
        boxes = [*zip(*lows, *highs, strict=True)]
        down = [[int(2 * edge) for edge in edges] for edges in lows]
        up = [[int(2 * edge + _UP) for edge in edges] for edges in highs]
        anchors = [
            (middle - start, x) if middle > start and left < x < right else ()
            for start, middle, x, left, right in zip(
                starts, middles, [int(2 * edge) for edge in letters[0][one:two]], down[0], up[0], strict=True
            )
        ]
        lengths = [*map(sub, ends, starts)]
        halves = zip(*down, *up, strict=True)
        lines: list[Line] = [*map(line_of, zip(starts, lengths, halves, repeat(RIGHTWARD), anchors))]
        rising = [first < last for first, last in zip(letters[1], letters[1][two:], strict=False)]
        self._mend(lines, boxes, rising)
        return lines, boxes

    def _mend(self, lines: list[Line], boxes: list[Edges], rising: Sequence[bool]) -> None:
        """Measure anew, word by word, the lines whose words two ends and a middle don't place."""
        wide = [right - left for left, _, right, _ in boxes]
        high = [top - bottom for _, bottom, _, top in boxes]
        sizes = [line[1] for line in lines]
        loose = _looseness(sizes, wide, high)
        measured = enumerate(zip(sizes, wide, high, strict=True))
        odd = [at for at, (size, w, h) in measured if not (EDGE_PT <= h <= w < loose * h * size)]
        ways: dict[int, list[int]] = {}
        for index in range(len(lines)) if self._chars.bidi else odd:
            line = lines[index]
            if high[index] < EDGE_PT or (self._chars.bidi and self._right_to_left(line)):
                ways.setdefault(BOXES, []).append(index)
            elif not high[index] <= wide[index] < loose * high[index] * line.length:
                flat = wide[index] >= high[index] or line.length < 3  # noqa: PLR2004 (a letter or two can be tall)
                way = RIGHTWARD if flat else UPWARD if rising[index] else DOWNWARD
                ways.setdefault(way, []).append(index)
        bent = ways.pop(BOXES, [])
        for way, places in ways.items():
            found = self._worded([lines[index] for index in places], way)
            bent += [index for index, worded in zip(places, found, strict=True) if worded is None]
            for index, worded in zip(places, found, strict=True):
                lines[index] = worded or lines[index]
        for index in bent:
            lines[index], boxes[index] = self._bent(lines[index], boxes[index])

    def _right_to_left(self, line: Line) -> bool:
        return bool(RIGHT_TO_LEFT.search(self.text, line.start, line.start + line.length))

    def _worded(self, lines: Sequence[Line], way: int) -> list[Line | None]:
        """Return lines with gaps in them, or turned ones, with where each word begins and ends.

        None for one whose words don't follow one another on its way.
        """
        words = [self.words(line.start, line.start + line.length) for line in lines]
        spans = [*chain.from_iterable(words)]
        firsts, lasts = zip(*spans, strict=True)
        lefts, bottoms, rights, tops = self._chars.letter_boxes([*firsts, *[last - 1 for last in lasts]])
        near, far = {RIGHTWARD: (lefts, rights), UPWARD: (bottoms, tops), DOWNWARD: (tops, bottoms)}[way]
        double = -2 if way == DOWNWARD else 2
        begins = [int(double * edge) for edge in near[: len(spans)]]
        stops = [int(double * edge + _UP) for edge in far[len(spans) :]]
        found: list[Line | None] = []
        at = 0
        for line, inside in zip(lines, words, strict=True):
            after = at + len(inside)
            marks = [
                mark
                for (first, last), begin, stop in zip(inside, begins[at:after], stops[at:after], strict=True)
                for mark in (first - line.start, begin, last - line.start, stop)
            ]
            straight = begins[at:after] == sorted(begins[at:after])
            found.append(Line(line.start, line.length, line.box, way, tuple(marks[2:-2])) if straight else None)
            at = after
        return found

    def _bent(self, line: Line, box: Edges) -> tuple[Line, Edges]:
        """Return a line whose words don't follow one another on a straight way; each has its own box."""
        found = [self._chars.around(*span) or box for span in self.words(line.start, line.start + line.length)]
        marks = tuple([edge for one in found for edge in _halves(one)])
        box = reduce(union, found)
        return Line(line.start, line.length, _halves(box), BOXES, marks), box


def _looseness(sizes: Sequence[int], wide: Sequence[float], high: Sequence[float]) -> float:
    """Return how wide letters may be, in heights of their line, before the line must have gaps in it."""
    widths = sorted([w / (h * size) for size, w, h in zip(sizes, wide, high, strict=True) if h >= EDGE_PT])
    return min(_LOOSE, _LOOSER * widths[len(widths) // 4]) if widths else _LOOSE


def union(one: Edges, other: Edges) -> Edges:
    """Return the box around two boxes."""
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _halves(box: Edges) -> Box:
    """Return a box in half points, no smaller than it is."""
    return int(2 * box[0]), int(2 * box[1]), int(2 * box[2] + _UP), int(2 * box[3] + _UP)
