"""Blocks of a document: gathered in any order, then nested by what encloses what."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_index.types import Block

_LINE_END = re.compile(r"\r\n|\r|\n")
_OUTER_FIRST = {"page": 0, "chapter": 1, "message": 1, "slide": 1, "sheet": 1, "cell": 2, "section": 3}


def nest(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Sort blocks by position, outer before inner, and name each one's parent.

    The parent is the innermost block that holds the whole of it. Pages are nobody's parent, since sections run
    across them. Blocks inside furniture or hidden blocks take that role, unless they have one of their own.
    """
    ordered = sorted(blocks, key=lambda block: (block.start, -block.end, _OUTER_FIRST.get(block.kind, 9), block.level))
    nested: list[Block] = []
    open_at: list[int] = []
    for block in ordered:
        while open_at and nested[open_at[-1]].end <= block.start:
            open_at.pop()
        parent = next((at for at in reversed(open_at) if nested[at].end >= block.end), -1)
        role = nested[parent].role if parent >= 0 and block.role == "body" else block.role
        if parent != block.parent or role != block.role:
            block = Block(block.start, block.end, block.kind, block.label, role, block.level, parent)  # noqa: PLW2901
        nested.append(block)
        if block.kind != "page" and block.end > block.start:
            open_at.append(len(nested) - 1)
    return tuple(nested)


def sections(headings: Sequence[Block], end: int) -> list[Block]:
    """Return a ``section`` block for each heading: up to the next one of its level or higher, or to `end`.

    `headings` are in order of position and carry ``level`` (1 = top) and ``label``.
    """
    made: list[Block] = []
    waiting: list[Block] = []
    for heading in headings:
        while waiting and waiting[-1].level >= heading.level:
            made.append(_closed(waiting.pop(), heading.start))
        waiting.append(heading)
    made.extend(_closed(heading, end) for heading in waiting)
    return made


def _closed(heading: Block, end: int) -> Block:
    return replace(heading, kind="section", end=max(end, heading.end))


def line_starts(text: str) -> list[int]:
    """Return the offset of each line, as an editor counts them: LF, CR and CRLF end a line, nothing else does."""
    return [0, *(found.end() for found in _LINE_END.finditer(text))]


def line_at(starts: Sequence[int], at: int) -> int:
    """Return the 1-based number of the line that holds offset `at`."""
    return bisect_right(starts, at)
