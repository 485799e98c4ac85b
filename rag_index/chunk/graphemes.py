"""Where a text may be cut without splitting a visible character."""

from __future__ import annotations

from unicodedata import category

LONGEST = 64
"""Code points that are walked over to find a border: longer clusters exist only in hostile input."""

_ZWJ = "\u200d"
_FIRST_JOIN = "\u0300"
"""Below it only LF joins what stands before it (CR)."""


def joins(text: str, at: int) -> bool:
    """Whether a cut before ``text[at]`` would split a visible character; ``0 < at < len(text)``."""
    char, before = text[at], text[at - 1]
    if char < _FIRST_JOIN:
        return before == _ZWJ if char != "\n" else before == "\r"
    if before == _ZWJ or char in (_ZWJ, "\ufe0e", "\ufe0f") or "\U0001f3fb" <= char <= "\U0001f3ff":
        return True
    if "\U0001f1e6" <= char <= "\U0001f1ff":
        return _flag_letters_before(text, at) % 2 == 1
    return category(char) in ("Mn", "Me", "Mc") or _hangul_joins(before, char)


def border_before(text: str, low: int, at: int) -> int:
    """Return the last border in ``(low, at]``, or `at` when none is near."""
    for place in range(at, max(low, at - LONGEST), -1):
        if not joins(text, place):
            return place
    return at


def border_after(text: str, at: int, high: int) -> int:
    """Return the first border in ``[at, high)``, or `high` when none is near."""
    for place in range(max(at, 1), min(high, at + LONGEST)):
        if not joins(text, place):
            return place
    return high


def _flag_letters_before(text: str, at: int) -> int:
    count = 0
    while count < at and count <= LONGEST and "\U0001f1e6" <= text[at - 1 - count] <= "\U0001f1ff":
        count += 1
    return count


def _hangul_joins(before: str, char: str) -> bool:
    """Whether a vowel or final consonant (conjoining jamo) belongs to the syllable before it."""
    if not "\u1160" <= char <= "\u11ff":
        return False
    return "\u1100" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7a3"
