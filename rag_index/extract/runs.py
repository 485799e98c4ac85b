"""The position map of HTML: which characters of the source each run of the text is."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, repeat
from operator import add, sub
from typing import TypeAlias

from rag_index.extract.packing import pack_column, unpack_columns


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of the text that stand as they are, on one line, in the source.

    Attributes:
        start: Offset in the text.
        length: Characters in the text.
        source: Offset in the decoded source.
        source_length: Characters there: `length`, or those of an entity such as ``&amp;``.
        line: 1-based line of the source.
        column: 1-based column there.
    """

    start: int
    length: int
    source: int
    source_length: int
    line: int
    column: int


RunRow: TypeAlias = tuple[int, int, int, int]
"""A run while it is gathered: start, length, source and source length of `Run`."""


def pack_runs(runs: Sequence[RunRow], line_starts: Sequence[int]) -> bytes:
    """Return runs, at least one and in order, as compressed bytes; `line_starts` are those of the source."""
    starts, lengths, sources, source_lengths = zip(*runs, strict=True)
    lines = [*map(bisect_right, repeat(line_starts), sources)]
    begins = [line_starts[line - 1] for line in lines]
    columns: tuple[Iterable[int], ...] = (
        map(sub, starts, chain((0,), map(add, starts, lengths))),
        lengths,
        map(sub, sources, chain((0,), map(add, sources, source_lengths))),
        map(sub, source_lengths, lengths),
        map(sub, lines, chain((0,), lines)),
        map(sub, sources, begins),
    )
    return zlib.compress(b"".join(map(pack_column, columns)), 6)


@lru_cache(maxsize=4)
def unpack_runs(data: bytes) -> tuple[Run, ...]:
    """Return the runs that `pack_runs` packed."""
    if not data:
        return ()
    gaps, lengths, jumps, longer, steps, columns = unpack_columns(zlib.decompress(data), 6)
    runs = []
    start = source = line = 0
    for gap, length, jump, more, step, column in zip(gaps, lengths, jumps, longer, steps, columns, strict=True):
        line += step
        runs.append(Run(start + gap, length, source + jump, length + more, line, column + 1))
        start, source = start + gap + length, source + jump + length + more
    return tuple(runs)


def source_lines(data: bytes, start: int, end: int) -> tuple[int, int, int]:
    """Return (first line, its column, last line) in the source of a span of the text; zeros where there is none."""
    runs = unpack_runs(data)
    first = max(bisect_right(runs, start, key=lambda run: run.start) - 1, 0)
    touched = []
    for run in runs[first:]:
        if run.start >= end:
            break
        if run.start + run.length > start:
            touched.append(run)
    if not touched:
        return 0, 0, 0
    head = touched[0]
    inside = max(start - head.start, 0) if head.source_length == head.length else 0
    return head.line, head.column + inside, touched[-1].line
