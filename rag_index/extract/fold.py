"""The search text: letters as people type them, with an exact map back to the document."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from rag_index.types import Span

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

_TABLE = {"œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE", "ŀ": "l", "ĳ": "ij", "Ĳ": "IJ"}
_UNSEEN = set("\u200b\u2060\ufeff\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u00ad")
_KEPT_CONTROLS = set("\t\n\r\f\v")
_SOFT_HYPHEN = re.compile("\u00ad[ \t]*(?:\r\n?|\n)?[ \t]*")
_HYPHEN = re.compile(r"(?<=[^\W\d_])-[ \t]*(?:\r\n?|\n)[ \t]*(?=[^\W\d_])")
_BEFORE, _AFTER = re.compile(r"[^\W\d_]+\Z"), re.compile(r"[^\W\d_]+")
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LONGEST_WORD = 40


@dataclass(frozen=True, slots=True)
class Folded:
    """A search text and how it lies over the document's.

    Attributes:
        text: Ligatures spelled out, compatibility forms and composed letters unified (NFKC), œ and æ as oe and ae,
            words joined that a line end had cut, controls and invisible marks gone.
        edits: Where the two differ: (start, end) in the document, (start, end) in `text`, ascending.
    """

    text: str
    edits: tuple[tuple[int, int, int, int], ...] = ()
    _starts: list[int] = field(default_factory=list, repr=False, compare=False)
    _folded: list[int] = field(default_factory=list, repr=False, compare=False)

    def slice(self, start: int, end: int) -> str:
        """Return the search text of ``document.text[start:end]``; what a border cuts is whole on both sides."""
        span = self.span(start, end)
        return self.text[span.start : span.end]

    def span(self, start: int, end: int) -> Span:
        """Return the span of the search text that covers the document's ``[start, end)``."""
        return self._carry(self._starts, 0, start, end)

    def back(self, start: int, end: int) -> Span:
        """Return the span of the document that a span of the search text comes from."""
        return self._carry(self._folded, 2, start, end)

    def back_all(self, starts: Sequence[int], ends: Sequence[int]) -> tuple[list[int], list[int]]:
        """Do `back` for many spans at once; returns where they start and where they end."""
        if not self.edits:
            return list(starts), list(ends)
        import numpy as np  # what only reads documents doesn't wait for it

        edits = np.array(self.edits)
        first = _all_moved(edits, np.asarray(starts), last=False)
        return first.tolist(), np.maximum(first, _all_moved(edits, np.asarray(ends), last=True)).tolist()

    def _carry(self, starts: list[int], side: int, start: int, end: int) -> Span:
        if not self.edits:
            return Span(start, end)
        first = _moved(self.edits, starts, side, start, last=False)
        return Span(first, max(first, _moved(self.edits, starts, side, end, last=True)))


def _moved(edits: tuple[tuple[int, int, int, int], ...], starts: list[int], side: int, at: int, *, last: bool) -> int:
    """Carry offset `at` from one text (`side` 0: document, 2: search text) to the other.

    Inside an edit, go to its far end when `last`, else to its near end. A deletion at the border belongs to
    neither side: a start skips it, an end stops before it.
    """
    find = bisect_left if last else bisect_right
    index = find(starts, at) - 1
    if index < 0:
        return at
    edit = edits[index]
    other = 2 - side
    if at >= edit[side + 1]:
        return edit[other + 1] + at - edit[side + 1]
    return edit[other + 1] if last else edit[other]


def _all_moved(edits: Ints, at: Ints, *, last: bool) -> Ints:
    """Do `_moved` for many offsets of the search text."""
    import numpy as np

    index = np.searchsorted(edits[:, 2], at, "left" if last else "right") - 1
    start, end, _, folded_end = edits[np.maximum(index, 0)].T
    behind = end + at - folded_end
    moved = np.where(at >= folded_end, behind, end if last else start)
    return np.where(index < 0, at, moved)


def fold(text: str) -> Folded:
    """Return the search text of `text`; for text that folding leaves alone it is `text` itself, at little cost."""
    found = {char for char in set(text) if not "\x1f" < char < "\x7f" and char not in _KEPT_CONTROLS}
    changing = {char for char in found if _changes(char)}
    hyphens = _cut_words(text)
    if not changing and not hyphens:
        return Folded(text)
    edits = _merge(hyphens, _letter_edits(text, changing))
    return _apply(text, edits)


def _letter_edits(text: str, changing: set[str]) -> list[tuple[int, int, str]]:
    """Return (start, end, replacement) for each letter, with the marks on it, that folding changes."""
    if not changing:
        return []
    joining = "".join(re.escape(char) for char in changing if _joins(char))
    alone = "".join(re.escape(char) for char in changing if not _joins(char))
    ways = ([f"(?s:.)?[{joining}]+"] if joining else []) + ([f"[{alone}]"] if alone else [])
    edits = []
    for found in re.finditer("|".join(ways), text):
        was = found.group()
        now = _replacement(was)
        if now != was:
            edits.append((found.start(), found.end(), now))
    return edits


@lru_cache(maxsize=8192)
def _replacement(letters: str) -> str:
    composed = unicodedata.normalize("NFKC", "".join(_single(char) for char in letters))
    # A composition can give a letter of the table or one that is compatible with another: go on until it rests.
    return composed if composed == letters else _replacement(composed)


def _single(char: str) -> str:
    if char in _UNSEEN:
        return ""
    if char in _KEPT_CONTROLS:
        return char
    category = unicodedata.category(char)
    if category == "Cc":
        return " "
    if category == "Cs":
        return "\ufffd"
    return _TABLE.get(char, char)


@lru_cache(maxsize=65536)
def _changes(char: str) -> bool:
    return _joins(char) or unicodedata.normalize("NFKC", char) != char or _single(char) != char


@lru_cache(maxsize=65536)
def _joins(char: str) -> bool:
    """Tell whether `char` can unite with the letter before it: a combining mark, a vowel of a Hangul syllable."""
    first = unicodedata.normalize("NFKD", char)[:1]
    return unicodedata.combining(first) != 0 or first in _second_parts()


@lru_cache(maxsize=1)
def _second_parts() -> frozenset[str]:
    """Return the letters, not marks, that unite with the one before them."""
    hangul = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}
    pairs = (unicodedata.decomposition(chr(code)).split() for code in range(0x900, 0x1_2000))
    return frozenset(hangul | {chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and pair[0][0] != "<"})  # noqa: PLR2004


def _cut_words(text: str) -> list[tuple[int, int, str]]:
    """Return the edits that join words cut at a line end.

    A soft hyphen goes away, unless the document spells the word with a hyphen elsewhere and never without.
    A typed hyphen before a line end may belong to the word: it goes, or its line end does, only where the document
    has the word elsewhere in that form.
    """
    gaps = [found for found in _SOFT_HYPHEN.finditer(text) if found.end() - found.start() > 1]
    gaps += _HYPHEN.finditer(text) if "-" in text else ()
    if not gaps:
        return []
    forms = [_forms(text, gap) for gap in gaps]
    spelled = {form for pair in forms for form in pair} & set(_WORDS.findall(text))
    edits = []
    for gap, (joined, hyphened) in zip(gaps, forms, strict=True):
        soft = gap.group()[0] == "\u00ad"
        if joined in spelled or (soft and hyphened not in spelled):
            edits.append((gap.start(), gap.end(), ""))
        elif hyphened in spelled:
            edits.append((gap.start(), gap.end(), "-"))
    return sorted(edits)


def _forms(text: str, gap: re.Match[str]) -> tuple[str, str]:
    """Return the word around a line end, joined and with a hyphen."""
    before = _BEFORE.search(text, max(0, gap.start() - _LONGEST_WORD), gap.start())
    after = _AFTER.match(text, gap.end(), gap.end() + _LONGEST_WORD)
    if not before or not after:
        return "", ""
    return before.group() + after.group(), f"{before.group()}-{after.group()}"


def _merge(first: list[tuple[int, int, str]], second: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return both lists in order; an edit of `second` that touches one of `first` gives way."""
    if not first:
        return second
    starts = [edit[0] for edit in first]
    kept = list(first)
    for edit in second:
        index = bisect_left(starts, edit[1]) - 1
        if index < 0 or first[index][1] <= edit[0]:
            kept.append(edit)
    return sorted(kept)


def _apply(text: str, edits: list[tuple[int, int, str]]) -> Folded:
    parts: list[str] = []
    placed = []
    done = length = 0
    for start, end, now in edits:
        parts += (text[done:start], now)
        length += start - done
        placed.append((start, end, length, length + len(now)))
        length += len(now)
        done = end
    parts.append(text[done:])
    return Folded("".join(parts), tuple(placed), [edit[0] for edit in placed], [edit[2] for edit in placed])
