"""The rules of the recursive splitter of Chroma's chunking report, as it describes them, with true offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rag_index.evaluate.metrics import Interval

Count = Callable[[str], int]
SEPARATORS = ("\n\n", "\n", ".", "?", "!", " ", "")


def pieces(text: str, start: int, end: int, separator: str) -> Iterator[Interval]:
    """Cut before each separator; with the empty one, into characters."""
    if not separator:
        borders = list(range(start, end))
    else:
        borders = [start, *(match.start() for match in re.finditer(re.escape(separator), text[start:end]))]
        borders = [start, *(start + at for at in borders[1:] if at > 0)]
    yield from zip(borders, [*borders[1:], end], strict=True)


def packed(parts: list[tuple[Interval, int]], size: int, overlap: int, glue: int) -> Iterator[Interval]:
    """Join neighbours while they fit; begin the next with the last ones that fit into the overlap."""
    held: list[tuple[Interval, int]] = []
    total = 0
    for part in parts:
        if held and total + part[1] + glue > size:
            yield (held[0][0][0], held[-1][0][1])
            while held and (total > overlap or total + part[1] + glue > size):
                total -= held[0][1] + (glue if len(held) > 1 else 0)
                held = held[1:]
        total += part[1] + (glue if held else 0)
        held.append(part)
    if held:
        yield (held[0][0][0], held[-1][0][1])


def split(text: str, start: int, end: int, level: int, size: int, overlap: int, count: Count) -> Iterator[Interval]:
    while SEPARATORS[level] and SEPARATORS[level] not in text[start:end]:
        level += 1
    small: list[tuple[Interval, int]] = []
    for piece in pieces(text, start, end, SEPARATORS[level]):
        tokens = count(text[slice(*piece)])
        if tokens < size:
            small.append((piece, tokens))
            continue
        yield from packed(small, size, overlap, count(""))
        small = []
        yield from split(text, *piece, level + 1, size, overlap, count)
    yield from packed(small, size, overlap, count(""))


def recursive(text: str, size: int, overlap: int, count: Count) -> list[Interval]:
    """The report's recursive splitter, with true offsets: a chunk is stripped, so its ends move inward."""
    spans = []
    for start, end in split(text, 0, len(text), 0, size, overlap, count):
        chunk = text[start:end]
        inner = (end - len(chunk.lstrip()), start + len(chunk.rstrip()))
        spans += [inner] if inner[0] < inner[1] else []
    return spans
