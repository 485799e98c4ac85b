"""What a document's blocks say about where to cut: regions that chunks stay in, borders that they prefer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rag_index.types import Block, Document, Span

STRONG = frozenset(("section", "heading", "chapter", "page", "slide", "sheet", "message", "definition"))
"""Kinds whose start is the best place to cut."""

WEAK = frozenset(("paragraph", "item", "list", "code", "table", "row", "note", "cell", "quote"))


def regions(document: Document, *, sections: bool, keep_furniture: bool) -> list[Span]:
    """Return the parts of the text that chunks may not cross or leave, in order, none empty.

    Hidden text is in no region, furniture only if it is kept. With `sections`, each heading section (without
    the sections inside it) is a region of its own.
    """
    left_out = ("hidden",) if keep_furniture else ("hidden", "furniture")
    size = len(document.text)
    cuts = {0, size}
    holes = _merged([block for block in document.blocks if block.role in left_out])
    for start, end in holes:
        cuts |= {start, end}
    if sections:
        for block in document.blocks:
            if block.kind in {"section", "heading"}:
                cuts.add(block.start)
            if block.kind == "section":
                cuts.add(block.end)
    edges = sorted(cut for cut in cuts if 0 <= cut <= size)
    ends = dict(holes)
    parts, inside = [], 0
    for start, end in pairwise(edges):
        inside = max(inside, ends.get(start, 0))
        if start >= inside:
            parts.append(Span(start, end))
    return parts


def borders(document: Document) -> tuple[Sequence[int], ...]:
    """Return where blocks begin, the best kind first, each ascending."""
    body = [block for block in document.blocks if block.role == "body"]
    groups = []
    for kinds in (STRONG, WEAK):
        places = sorted({block.start for block in body if block.kind in kinds and block.start > 0})
        groups.append(places)
    return tuple(group for group in groups if group)


def _merged(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Return the union of blocks as ascending, disjoint ranges."""
    ranges: list[tuple[int, int]] = []
    for start, end in sorted((block.start, block.end) for block in blocks if block.end > block.start):
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return ranges
