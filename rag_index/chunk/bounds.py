"""How far a chunk may reach: one mechanism for sizes in characters, sizes in tokens and the model's limit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Protocol

from rag_index.errors import UsageError
from rag_index.settings import ChunkSettings
from rag_index.types import Span, Tokens


class Bounds(Protocol):
    """What a cutter asks before it cuts; all positions are code points of the text."""

    def reach(self, start: int) -> int:
        """Return the furthest end of a chunk that begins at `start`; more than `start`, maybe beyond the text."""
        ...

    def back(self, end: int) -> int:
        """Return the earliest start of a chunk that follows one that ends at `end`."""
        ...

    def least(self, start: int) -> int:
        """Return the earliest start of a chunk that follows one that starts at `start`: progress."""
        ...

    def excess(self, start: int, end: int) -> int:
        """Return by how many tokens the chunk may be too long for the model, counted at the worst; 0 when it fits."""
        ...


def bounds_for(settings: ChunkSettings, text: str, tokens: Tokens | None) -> Bounds:
    """Return the bounds that `settings` and the model's limit (in `tokens`) put on the chunks of `text`.

    Raises:
        UsageError: the unit is tokens and none are given, or the model has no room for text.
    """
    if settings.unit == "tokens" and tokens is None:
        raise UsageError("sizes in tokens need the tokens of a model", "Pass tokens=embedder.tokens(text).")
    if tokens is None or (settings.unit == "characters" and tokens.limit is None):
        return Characters(settings.size, settings.overlap)
    return TokenBounds(settings, text, tokens)


class Characters:
    """Sizes in code points, no model."""

    def __init__(self, size: int, overlap: int) -> None:
        self.size = size
        self.overlap = overlap
        # A chunk that adds less is not worth its overlap; also bounds how many chunks there can be.
        self.progress = max(1, (size - overlap) // 4)

    def reach(self, start: int) -> int:
        """Return the furthest end of a chunk that begins at `start`."""
        return start + self.size

    def back(self, end: int) -> int:
        """Return the earliest start of a chunk that follows one that ends at `end`."""
        return end - self.overlap

    def least(self, start: int) -> int:
        """Return the earliest start that is worth an overlap."""
        return start + self.progress

    def excess(self, start: int, end: int) -> int:  # noqa: ARG002 (no model, nothing to exceed)
        """Return by how many tokens the chunk may be too long, counted at the worst."""
        return 0


class TokenBounds:
    """Sizes in code points or tokens, and the model's limit.

    The tokens of a slice are those of the document, but for two places: a model may read the first word
    otherwise there than after another word, and a token that is cut. Both are counted as a token a byte,
    the most that any tokenizer makes of them.
    """

    def __init__(self, settings: ChunkSettings, text: str, tokens: Tokens) -> None:
        self.text = text
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.size = settings.size
        self.overlap = settings.overlap
        self.progress = max(1, (settings.size - settings.overlap) // 4)
        self.in_tokens = settings.unit == "tokens"
        self.room = None if tokens.limit is None else tokens.limit - tokens.extra
        if self.room is not None and self.room < 1:
            raise UsageError(
                f"the model reads {tokens.limit} tokens, of which {tokens.extra} are its own",
                "Shorten the document prompt or take another model.",
            )

    def reach(self, start: int) -> int:
        """Return the furthest end of a chunk that begins at `start`."""
        far = self._after(start, self.size) if self.in_tokens else start + self.size
        if self.room is not None:
            far = min(far, self._after(start, self.room))
        return far

    def back(self, end: int) -> int:
        """Return the earliest start of a chunk that follows one that ends at `end`."""
        if self.in_tokens:
            return self._before(end, self.overlap)
        start = end - self.overlap
        if self.room is not None:  # a chunk that the limit keeps short shares a part, not nearly all of it
            start = max(start, self._before(end, self.room * self.overlap // self.size))
        return start

    def least(self, start: int) -> int:
        """Return the earliest start that is worth an overlap."""
        return self._after(start, self.progress) if self.in_tokens else start + self.progress

    def excess(self, start: int, end: int) -> int:
        """Return by how many tokens the chunk may be too long, counted at the worst."""
        over = self._worst(start, end) - self.room if self.room is not None else 0
        return max(0, over)

    def _after(self, start: int, count: int) -> int:
        """Return where the token begins that follows `count` tokens from `start` on."""
        place = bisect_right(self.ends, start) + count
        far = self.starts[place] if place < len(self.starts) else len(self.text)
        return max(far, start + 1)

    def _before(self, end: int, count: int) -> int:
        """Return where the last `count` tokens before `end` begin."""
        if count < 1:
            return end
        last = bisect_left(self.starts, end)  # a token that `end` cuts counts whole
        return self.starts[max(0, last - count)] if last else end

    def _worst(self, start: int, end: int) -> int:
        first = min(self._first_word_end(start), end) if start else start
        at = bisect_left(self.starts, first)
        last = bisect_right(self.ends, end, lo=at)
        cut = last < len(self.starts) and self.starts[last] < end
        tail = self._bytes(max(first, self.starts[last]), end) if cut else 0
        return self._bytes(start, first) + last - at + tail

    def _first_word_end(self, start: int) -> int:
        """Return where what a tokenizer may read otherwise at `start` ends: a word, and the token it ends in."""
        end = start + 1
        while end < len(self.text) and self.text[end].isalnum() and not _is_han(self.text[end - 1]):
            end += 1
        place = bisect_left(self.starts, end)
        return max(end, self.ends[place - 1]) if place else end

    def _bytes(self, start: int, end: int) -> int:
        return len(self.text[start:end].encode("utf-8", "replace"))


def count_tokens(tokens: Tokens, span: Span) -> tuple[int, int]:
    """Return how many tokens a span holds, the model's own included, and how many of them it doesn't know.

    Counted by the borders in the whole document: where a span begins or ends inside a word, the model may
    read that word as a few tokens more or fewer.
    """
    first = bisect_right(tokens.ends, span.start)
    last = bisect_left(tokens.starts, span.end)
    unknown = bisect_left(tokens.unknown, span.end) - bisect_left(tokens.unknown, span.start)
    return max(0, last - first) + tokens.extra, max(0, unknown)


def _is_han(char: str) -> bool:
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff" or "\U00020000" <= char <= "\U0003ffff"
