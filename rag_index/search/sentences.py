"""Sentences of a stretch of text, found fast at query time; imports no language data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rag_index.types import Span

LONGEST = 500
"""Most characters in one sentence; longer ones (tables, code, lists without stops) are cut at lines, clauses, words."""

_CLOSERS = "\"'”’»)\\]*_"
_BORDER = re.compile(
    # One leading set of characters lets the search skip to them in C, 5 times as fast as alternatives would.
    r"[.!?…。！？｡।؟۔\\\n](?:"
    rf"(?<=[.!?…])[.!?…]*[{_CLOSERS}]*(?=\s|\\n|$)"  # a stop, what closes with it, space (or the line break of a log)
    r"|(?<=[。！？｡।؟۔])[。！？｡।؟۔]*[」』）”’\"')]*"
    r"|(?<=\\)n(?:\\n)*"
    r"|(?<=\n)(?:[ \t\r]*\n)+"  # a blank line
    r"|(?<=\n)(?=[ \t]*(?:[-*+•|#>]|\d{1,3}[.)])[ \t]))"  # the next item, row or heading
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"“'])(?:[^\W\d_]|[^\W\d_]\.[^\W\d_]|mr|mrs|ms|dr|drs|prof|st|sr|sra|jr|inc|ltd|co|corp|vs|etc|fig|figs|no|nos|nr|"
    r"vol|pp|cf|al|approx|art|bzw|ca|mme|mlle|av|núm|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec)\.$",
    re.IGNORECASE,
)
_NEAR = 16
"""Characters before a full stop that can hold an abbreviation."""


def split_sentences(text: str, start: int, end: int, cuts: Sequence[int] = ()) -> list[Span]:
    """Return the sentences of ``text[start:end]`` in order: none empty, none with white space at its ends.

    Together they hold every character that isn't white space. `cuts` are offsets that no sentence may cross
    (headings, rows, pages), ascending.
    """
    edges = [start, *(cut for cut in cuts if start < cut < end), end]
    return [
        piece
        for first, last in pairwise(edges)
        for sentence in _sentences(text, first, last)
        for piece in _pieces(text, sentence)
    ]


def trim(text: str, start: int, end: int) -> Span:
    """Return the span without the white space at its ends."""
    part = text[start:end]
    start += len(part) - len(part.lstrip())
    return Span(start, max(start, end - len(part) + len(part.rstrip())))


def _sentences(text: str, start: int, end: int) -> Iterator[Span]:
    at = start
    for found in _BORDER.finditer(text, start, end):
        mark = found[0]
        if mark == "." and _ABBREVIATION.search(text[max(at, found.end() - _NEAR) : found.end()]):
            continue
        yield from _whole(text, at, found.end())
        at = found.end()
    yield from _whole(text, at, end)


def _whole(text: str, start: int, end: int) -> Iterator[Span]:
    span = trim(text, start, end)
    if len(span):
        yield span


def _pieces(text: str, span: Span) -> Iterator[Span]:
    """Cut a sentence that is too long at the last line, clause or word that leaves a third of the length or more."""
    start = span.start
    while span.end - start > LONGEST:
        cut = _cut(text, start)
        yield trim(text, start, cut)
        start = trim(text, cut, span.end).start
    if start < span.end:
        yield Span(start, span.end)


def _cut(text: str, start: int) -> int:
    for mark in ("\n", "; ", "；", ", ", "、", "，", " "):
        at = text.rfind(mark, start + LONGEST // 3, start + LONGEST)
        if at > 0:
            return at + len(mark)
    return start + LONGEST
