"""Blocks of a document: gathered in any order, then nested by what encloses what."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TypeAlias

from rag_index.types import Block

_LINE_END = re.compile(r"\r\n|\r|\n")
_OUTER_FIRST = {"page": 0, "chapter": 1, "message": 1, "slide": 1, "sheet": 1, "cell": 2, "section": 3}


Row: TypeAlias = tuple[int, int, str, str, str, int]
"""A `Block` before it is nested, for a reader with very many: start, end, kind, label, role, level."""


def nest(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Sort blocks by position, outer before inner, and name each one's parent.

    The parent is the innermost block that holds the whole of it. Pages are nobody's parent, since sections run
    across them. Blocks inside furniture or hidden blocks take that role, unless they have one of their own.
    """
    return nest_rows((one.start, one.end, one.kind, one.label, one.role, one.level) for one in blocks)


def nest_rows(rows: Iterable[Row]) -> tuple[Block, ...]:
    """Make blocks of rows, nested as `nest` does."""
    nested: list[Block] = []
    around: list[tuple[int, int, str]] = []
    for at, (start, end, kind, label, role, level) in enumerate(sorted(rows, key=_outer_first)):
        while around and around[-1][0] <= start:
            around.pop()
        parent, inherited = _holder(around, end)
        own = inherited if role == "body" else role
        nested.append(Block(start, end, kind, label, own, level, parent))
        if kind != "page" and end > start:
            around.append((end, at, own))
    return tuple(nested)


def _holder(around: Sequence[tuple[int, int, str]], end: int) -> tuple[int, str]:
    """Return index and role of the innermost of the blocks `around` that reaches to `end`."""
    for until, at, role in reversed(around):
        if until >= end:
            return at, role
    return -1, "body"


def _outer_first(row: Row) -> tuple[int, int, int, int]:
    return row[0], -row[1], _OUTER_FIRST.get(row[2], 9), row[5]


def sections(headings: Sequence[Block], end: int) -> list[Block]:
    """Return a ``section`` block for each heading: up to the next one of its level or higher, or to `end`.

    `headings` are in order of position and carry ``level`` (1 = top) and ``label``.
    """
    rows = section_rows([(one.start, one.end, one.kind, one.label, one.role, one.level) for one in headings], end)
    return [Block(*row) for row in rows]


def section_rows(headings: Sequence[Row], end: int) -> list[Row]:
    """Return the sections of headings, as `sections` does, as rows."""
    made: list[Row] = []
    waiting: list[Row] = []
    for heading in headings:
        while waiting and waiting[-1][5] >= heading[5]:
            made.append(_section(waiting.pop(), heading[0]))
        waiting.append(heading)
    made.extend(_section(heading, end) for heading in waiting)
    return made


def _section(heading: Row, end: int) -> Row:
    start, least, _, label, role, level = heading
    return start, max(end, least), "section", label, role, level


def line_starts(text: str) -> list[int]:
    """Return the offset of each line, as an editor counts them: LF, CR and CRLF end a line, nothing else does."""
    if "\r" not in text or text.count("\r") == text.count("\r\n"):  # the common case, at a tenth of the time
        return [0, *accumulate(len(line) + 1 for line in text.split("\n")[:-1])]
    return [0, *(found.end() for found in _LINE_END.finditer(text))]


def line_at(starts: Sequence[int], at: int) -> int:
    """Return the 1-based number of the line that holds offset `at`."""
    return bisect_right(starts, at)
