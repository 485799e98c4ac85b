"""The position map of HTML: which characters of the source each run of the text is."""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rag_index.extract.packing import Packer, Unpacker


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


def pack_runs(runs: Iterable[Run]) -> bytes:
    """Return runs, in order of `start`, as compressed bytes."""
    out = Packer()
    listed = list(runs)
    out.number(len(listed))
    start = source = line = 0
    for run in listed:
        out.number(run.start - start)
        out.number(run.length)
        out.signed(run.source - source)
        out.number(0 if run.source_length == run.length else run.source_length + 1)
        out.signed(run.line - line)
        out.number(run.column)
        start, source, line = run.start + run.length, run.source + run.source_length, run.line
    return zlib.compress(bytes(out.data), 6)


@lru_cache(maxsize=4)
def unpack_runs(data: bytes) -> tuple[Run, ...]:
    """Return the runs that `pack_runs` packed."""
    if not data:
        return ()
    packed = Unpacker(zlib.decompress(data))
    runs = []
    start = source = line = 0
    for _ in range(packed.number()):
        begin = start + packed.number()
        length = packed.number()
        at = source + packed.signed()
        other = packed.number()
        line += packed.signed()
        run = Run(begin, length, at, other - 1 if other else length, line, packed.number())
        runs.append(run)
        start, source = run.start + run.length, run.source + run.source_length
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
