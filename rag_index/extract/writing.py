"""Text that is put together piece by piece, with the blocks that the pieces are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from rag_index.extract.blocks import nest, sections
from rag_index.types import Block

_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LONE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    r"""Return `text` without control characters, lone surrogates marked as lost and line ends as ``\n``."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _LONE.sub("\ufffd", _UNWANTED.sub("", text))


class Writer:
    """Collects the text of a document and its blocks; headings with a level open sections if `sectioned`."""

    def __init__(self, *, sectioned: bool = True) -> None:
        self.sectioned = sectioned
        self.length = 0
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._gap = ""

    def write(self, text: str, gap: str = "\n\n") -> tuple[int, int]:
        """Append `text`, after `gap` unless it is the first; returns its span. An empty text changes nothing."""
        text = clean(text)
        if not text:
            return self.length, self.length
        if self._parts:
            gap = max(gap, self._gap, key=len)
            self._parts.append(gap)
            self.length += len(gap)
        self._gap = ""
        start = self.length
        self._parts.append(text)
        self.length += len(text)
        return start, self.length

    def part(self) -> None:
        """See to it that a blank line comes before whatever is written next."""
        self._gap = "\n\n"

    def add(
        self, text: str, kind: str, label: str = "", *, level: int = 0, role: str = "body", gap: str = "\n\n"
    ) -> None:
        """Append `text` as a block."""
        start, end = self.write(text, gap)
        if end > start:
            self.blocks.append(Block(start, end, kind, clean(label), role, level))

    @contextmanager
    def inside(self, kind: str, label: str = "", *, role: str = "body", level: int = 0) -> Iterator[None]:
        """Make one block of all that is written inside; none if that is nothing."""
        before = len(self._parts)
        begin = len(self.blocks)
        yield
        if len(self._parts) > before:
            start = self.length - sum(map(len, self._parts[before + (before > 0) :]))
            self.blocks.insert(begin, Block(start, self.length, kind, clean(label), role, level))

    def text(self) -> str:
        """Return the text."""
        return "".join(self._parts)

    def all_blocks(self) -> tuple[Block, ...]:
        """Return the blocks, nested, with the sections that the headings open."""
        if not self.sectioned:
            return nest(self.blocks)
        headings = sorted((b for b in self.blocks if b.kind == "heading" and b.level), key=lambda block: block.start)
        return nest([*self.blocks, *sections(headings, self.length)])
