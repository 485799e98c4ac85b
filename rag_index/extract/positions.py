"""From a span of ``Document.text`` to its place in the file; works from the document alone."""

from __future__ import annotations

import re
import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from urllib.parse import quote

from rag_index.extract.blocks import line_at, line_starts
from rag_index.extract.packing import Packer, Unpacker
from rag_index.extract.pagelines import rectangles
from rag_index.extract.runs import source_lines
from rag_index.types import Block, Document, Location

_TITLED = {"section", "definition", "chapter", "message"}
_PLACES = {"slide", "sheet", "row", "cell", "message", "chapter", "note"}
_WORD = re.compile(r"\S+")
_PACKED = struct.Struct("<B")
_FORMAT = 1


def locate(document: Document, start: int, end: int) -> Location:
    """Return where ``document.text[start:end]`` stands in the file."""
    heading = heading_path(document, start)
    path = quote(document.source.path, errors="surrogateescape")
    kind = document.positions.kind
    if kind == "pdf":
        return _on_page(document, path, heading, start, end)
    if kind == "runs":
        return _in_page_source(document, path, heading, start, end)
    place = _innermost(document, start, _PLACES)
    if kind == "blocks" and place is not None:
        return _in_place(document, path, heading, start, place)
    return _in_lines(document, path, heading, start, end)


def heading_path(document: Document, at: int) -> tuple[str, ...]:
    """Return the titles of the sections, definitions, chapters and messages around offset `at`, outermost first."""
    blocks = document.blocks
    titles = [blocks[i].label for i in _enclosing(blocks, at) if blocks[i].kind in _TITLED and blocks[i].label]
    outermost_first = reversed(titles)
    # A chapter and the heading it begins with are one title.
    return tuple(title for title, _ in groupby(outermost_first))


def heading_paths(document: Document, start: int, end: int) -> list[tuple[str, ...]]:
    """Return the heading path at `start` and that of each titled block that begins before `end`, in order."""
    blocks = document.blocks
    first = bisect_right(blocks, start, key=lambda block: block.start)
    last = bisect_left(blocks, end, first, key=lambda block: block.start)
    inside = (block.start for block in blocks[first:last] if block.kind in _TITLED)
    return [*dict.fromkeys(heading_path(document, at) for at in (start, *inside))]


def _enclosing(blocks: tuple[Block, ...], at: int) -> Iterable[int]:
    """Yield the indices of the blocks that hold `at`, innermost first, pages left out."""
    index = bisect_right(blocks, at, key=lambda block: block.start) - 1
    while index >= 0 and blocks[index].kind == "page":
        index -= 1
    while index >= 0:
        if blocks[index].start <= at < blocks[index].end:
            yield index
        index = blocks[index].parent


def _innermost(document: Document, at: int, kinds: set[str]) -> int | None:
    blocks = document.blocks
    return next((i for i in _enclosing(blocks, at) if blocks[i].kind in kinds), None)


def _in_lines(document: Document, path: str, heading: tuple[str, ...], start: int, end: int) -> Location:
    (line, begin), (last, _) = _line(document.text, start), _line(document.text, max(start, end - 1))
    label, anchor = _line_label(line, last)
    column = start - begin + 1
    return Location(label, f"{path}#{anchor}", line=line, end_line=last, column=column, heading=heading)


def _line_label(line: int, last: int) -> tuple[str, str]:
    return (f"L{line}", f"L{line}") if last == line else (f"L{line}-{last}", f"L{line}-L{last}")


def _line(text: str, at: int) -> tuple[int, int]:
    """Return the 1-based number of the line that holds offset `at`, and where it begins."""
    if "\r" in text:
        starts = _lines(text)
        line = line_at(starts, at)
        return line, starts[line - 1]
    # Twenty times as fast as finding all lines; a search locates some passages of as many documents.
    return text.count("\n", 0, at) + 1, text.rfind("\n", 0, at) + 1


@lru_cache(maxsize=4)
def _lines(text: str) -> list[int]:
    return line_starts(text)


def _in_place(document: Document, path: str, heading: tuple[str, ...], start: int, index: int) -> Location:
    """Locate in a format whose places are blocks: a slide, a sheet's range, a cell, a message."""
    blocks = document.blocks
    block = blocks[index]
    page = None
    slide = _innermost(document, start, {"slide"})
    if slide is not None:
        page = 1 + sum(block.kind == "slide" for block in blocks[:slide])
    label = block.label if block.kind != "chapter" else " > ".join(heading)
    link = f"{path}#{quote(label, safe='!:')}" if label else path
    return Location(label, link, page=page, heading=heading)


def _in_page_source(document: Document, path: str, heading: tuple[str, ...], start: int, end: int) -> Location:
    """Locate in HTML: lines of the source by its runs, and a link that scrolls to the words."""
    link = f"{path}#:~:text={_text_fragment(document.text[start:end])}"
    line, column, last = source_lines(document.positions.data, start, end)
    if not line:
        return Location(" > ".join(heading), link, heading=heading)
    label, _ = _line_label(line, last)
    return Location(label, link, line=line, end_line=last, column=column, heading=heading)


def _text_fragment(passage: str) -> str:
    """Return the passage's first and last words in the form that browsers look for."""
    words = _WORD.findall(passage)
    if len(words) <= 8:  # noqa: PLR2004 (a fragment short enough to give whole)
        return quote(" ".join(words), safe="").replace("-", "%2D")
    ends = (" ".join(words[:4]), " ".join(words[-4:]))
    return ",".join(quote(part, safe="").replace("-", "%2D") for part in ends)


def _on_page(document: Document, path: str, heading: tuple[str, ...], start: int, end: int) -> Location:
    pages = [block for block in document.blocks if block.kind == "page"]
    number = bisect_right(pages, start, key=lambda block: block.start)
    if not number:
        return Location("", path, heading=heading)
    label = pages[number - 1].label or str(number)
    shown = f"p. {label}" if label == str(number) else f"p. {label} ({number})"
    rects = rectangles(document.positions.data, document.text, start, end)
    return Location(shown, f"{path}#page={number}", page=number, heading=heading, rects=rects)


def pack_blocks(blocks: Iterable[Block]) -> bytes:
    """Return blocks as compressed bytes: some 4 bytes each."""
    listed = tuple(blocks)
    kinds = sorted({block.kind for block in listed} | {block.role for block in listed})
    labels = sorted({block.label for block in listed})
    number = {name: i for i, name in enumerate(kinds)}
    label_number = {name: i for i, name in enumerate(labels)}
    out = Packer()
    out.strings(kinds)
    out.strings(labels)
    out.number(len(listed))
    at = 0
    for index, block in enumerate(listed):
        out.number(block.start - at)
        out.number(block.end - block.start)
        out.number(number[block.kind])
        out.number(label_number[block.label])
        out.number(number[block.role])
        out.number(block.level)
        out.number(index - block.parent)
        at = block.start
    return _PACKED.pack(_FORMAT) + zlib.compress(bytes(out.data), 6)


def unpack_blocks(data: bytes) -> tuple[Block, ...]:
    """Return the blocks that `pack_blocks` packed."""
    (form,) = _PACKED.unpack_from(data)
    if form != _FORMAT:
        raise ValueError(f"blocks are packed in form {form}, but this version reads form {_FORMAT}")
    source = Unpacker(zlib.decompress(data[_PACKED.size :]))
    kinds, labels = source.strings(), source.strings()
    blocks = []
    at = 0
    for index in range(source.number()):
        start = at + source.number()
        end = start + source.number()
        kind, label, role = kinds[source.number()], labels[source.number()], kinds[source.number()]
        blocks.append(Block(start, end, kind, label, role, source.number(), index - source.number()))
        at = start
    return tuple(blocks)
