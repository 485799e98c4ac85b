"""What a document's blocks say about where to cut: regions that chunks stay in, borders that they prefer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rag_index.chunk.cutting import trim_space
from rag_index.types import Block, Document, Span

STRONG = frozenset(("section", "heading", "chapter", "page", "slide", "sheet", "message", "definition"))
"""Kinds whose start is the best place to cut."""

ROWS = frozenset(("row", "cell"))
"""Kinds whose start is used only where nothing better is near: the inside of a table."""

ENCLOSED = frozenset(("code", "table", "html"))
"""Kinds that end as plainly as they begin."""


def regions(document: Document, *, sections: bool, keep_furniture: bool) -> list[Span]:
    """Return the parts of the text that chunks may not cross or leave, in order, none empty.

    Hidden text is in no region, furniture only if it is kept. With `sections`, each heading section (without
    the sections inside it) is a region of its own; a heading with nothing below it goes with the section that
    follows.
    """
    size = len(document.text)
    left_out = ("hidden",) if keep_furniture else ("hidden", "furniture")
    holes = dict(_merged([block for block in document.blocks if block.role in left_out]))
    cuts = {0, size, *holes, *holes.values()}
    if sections:
        cuts |= _without_orphans(document, _section_edges(document))
    parts, inside = [], 0
    for start, end in pairwise(sorted(cut for cut in cuts if 0 <= cut <= size)):
        inside = max(inside, holes.get(start, 0))
        if start >= inside:
            parts.append(Span(start, end))
    return parts


def borders(document: Document) -> tuple[Sequence[int], ...]:
    """Return where blocks begin, the best kind first, each ascending; never right behind a heading."""
    groups: tuple[set[int], set[int], set[int]] = (set(), set(), set())
    for block in document.blocks:
        if block.role != "body":
            continue
        rank = 0 if block.kind in STRONG else 2 if block.kind in ROWS else 1
        groups[rank].add(block.start)
        if block.kind in ENCLOSED:
            groups[1].add(block.end)
    kept = (_without_orphans(document, group) for group in groups)
    return tuple(sorted(group - {0}) for group in kept if group - {0})


def _section_edges(document: Document) -> set[int]:
    edges = {block.start for block in document.blocks if block.kind in {"section", "heading"}}
    return edges | {block.end for block in document.blocks if block.kind == "section"}


def _without_orphans(document: Document, places: set[int]) -> set[int]:
    """Leave out the places where a cut would end a chunk with a heading, away from what it is the heading of."""
    ends = {trim_space(document.text, block.start, block.end) for block in document.blocks if block.kind == "heading"}
    return {place for place in places if trim_space(document.text, 0, place) not in ends} if ends else places


def _merged(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """Return the union of blocks as ascending, disjoint ranges."""
    ranges: list[tuple[int, int]] = []
    for start, end in sorted((block.start, block.end) for block in blocks if block.end > block.start):
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return ranges
