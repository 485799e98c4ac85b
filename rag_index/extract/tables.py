"""CSV, TSV, JSON lines and subtitles: the text is the file; its records become blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from rag_index.extract.blocks import nest
from rag_index.extract.decode import decode
from rag_index.extract.text import as_document
from rag_index.settings import ExtractSettings
from rag_index.types import Block, Document, Source

_LINE = re.compile(r"[^\r\n]+")
_CUE = re.compile(r"^(?:(\d\d:)?\d\d:\d\d[.,]\d{3}) -->[^\r\n]*(?:(?:\r\n|\r|\n)[^\r\n]+)*", re.MULTILINE)
_LABEL = 200


def read_csv(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read a table of comma- or tab-separated values; the ``table`` block's label is its first row."""
    document = as_document(decode(data, options.encoding), source)
    rows = list(_records(document.text))
    blocks = [Block(start, end, "row") for start, end in rows]
    if rows:
        head = document.text[rows[0][0] : rows[0][1]]
        blocks.append(Block(rows[0][0], rows[-1][1], "table", " ".join(head[:_LABEL].split())))
    return replace(document, blocks=nest(blocks))


def read_jsonl(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read one JSON object a line, as it stands."""
    document = as_document(decode(data, options.encoding), source)
    return replace(document, blocks=nest(Block(*found.span(), "row") for found in _LINE.finditer(document.text)))


def read_subtitles(data: bytes, source: Source, options: ExtractSettings) -> Document:
    """Read SubRip or WebVTT as it stands; each cue's block is named by its beginning."""
    document = as_document(decode(data, options.encoding), source)
    cues = _CUE.finditer(document.text)
    return replace(document, blocks=nest(Block(*cue.span(), "cue", cue.group().split()[0]) for cue in cues))


def _records(text: str) -> Iterator[tuple[int, int]]:
    """Yield the span of each row; a quoted field may hold line ends."""
    start = -1
    quotes = 0
    for line in _LINE.finditer(text):
        start = line.start() if start < 0 else start
        quotes += line.group().count('"')
        if quotes % 2 == 0:
            yield start, line.end()
            start, quotes = -1, 0
    if start >= 0:
        yield start, len(text)
