"""`character` and `window`: borders found by C-level searches near the cut only, never character by character."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from rag_index.chunk.cutting import Scope
from rag_index.chunk.graphemes import border_after, border_before, joins

BLANK_LINE = ("\n\n", "\r\n\r\n")
LINE = ("\n", "\r")
SENTENCE = (". ", "! ", "? ", "。", "！", "？", "．", "…", "؟ ", "। ")
COMMA = ("、", "，", "；", "：")
CLOSERS = frozenset("」』）】〕》〉”’\"')]}»。、，！？．；：…ー")
"""Marks that may not begin a chunk: they belong to what stands before them."""
MOST_CLOSERS = 8


def character(scope: Scope) -> CharacterCutter:
    """Make the strategy `character` (also called `recursive`)."""
    return CharacterCutter(scope.text, scope.settings.separators, scope.borders)


def window(scope: Scope) -> WindowCutter:
    """Make the strategy `window`; the borders of blocks do not matter to it."""
    return WindowCutter(scope.text)


class WindowCutter:
    """Cut at the last white space that fits; a word longer than a chunk is cut hard."""

    def __init__(self, text: str) -> None:
        self.text = text

    def cut(self, start: int, far: int, done: int) -> tuple[int, bool]:  # noqa: ARG002 (the last is always best)
        """Return the last white space, or the last place between two visible characters."""
        place = last_space(self.text, start, far)
        return (place, False) if place > start else (border_before(self.text, start, far), True)

    def rest(self, start: int, stop: int, done: int) -> int:  # noqa: ARG002
        """Return `stop`: what fits stays together."""
        return stop

    def resume(self, back: int, end: int) -> int:
        """Return the first word that begins in the overlap."""
        return word_start(self.text, back, end)


class CharacterCutter:
    """Cut at the best border in the second half of what fits: block, blank line, line, sentence, space, grapheme.

    Args:
        text: The whole text.
        separators: The caller's separators, best first, in place of blank line, line and sentence.
        borders: Groups of places where blocks of the document begin, best first, each ascending.
    """

    def __init__(self, text: str, separators: Sequence[str] = (), borders: Sequence[Sequence[int]] = ()) -> None:
        self.text = text
        self.borders = borders
        own = tuple((separator,) for separator in separators if separator)
        self.levels: tuple[tuple[str, ...], ...] = own or (BLANK_LINE, LINE, SENTENCE)
        self.starts = self.levels if own else (LINE, SENTENCE)
        self.plain = not own and not borders
        """Whether the usual separators are all that there is: what the fused walk is made for."""

    def cut(self, start: int, far: int, done: int) -> tuple[int, bool]:
        """Return the best border in the second half, else between unspaced letters, else in the first half."""
        low = max(start + (far - start) // 2, done)
        place = self._good(start, low, far)
        if place > low:
            return place, False
        if far - 1 > low and _between_letters_without_spaces(self.text, far):
            return self._tidy(low, far), True
        place = max(self._best(max(start, done), low), last_space(self.text, start, far))
        return (place, False) if place > start else (border_before(self.text, start, far), True)

    def rest(self, start: int, stop: int, done: int) -> int:  # noqa: ARG002
        """Return `stop`: what fits stays together."""
        return stop

    def resume(self, back: int, end: int) -> int:
        """Return the first line, sentence or word that begins in the overlap."""
        for level in self.starts:
            place = self._first(level, back, end)
            if place < end:
                return place
        return self._resume_at_word(back, end)

    def resume_in_line(self, back: int, end: int) -> int:
        """Return what `resume` does, where the usual separators are all and no line ends in the overlap."""
        place = self._first(SENTENCE, back, end)
        return place if place < end else self._resume_at_word(back, end)

    def _resume_at_word(self, back: int, end: int) -> int:
        place = word_start(self.text, back, end)
        if place >= end and _between_letters_without_spaces(self.text, back):
            comma = self._first(COMMA, back, end)
            place = comma if comma < end else border_after(self.text, back, end)
        return place

    def _good(self, start: int, low: int, far: int) -> int:
        """Return the best border, white space or comma in ``(low, far]``, or a place at or before `low`."""
        place = self._best(low, far)
        if place <= low:
            place = last_space(self.text, start, far)
        return place if place > low else self._last(COMMA, low, far)

    def block_end(self, low: int, far: int) -> int:
        """Return the best border between blocks of the document, else paragraphs, in ``(low, far]``, or -1."""
        place = self._block(low, far)
        return place if place > low else self._last(BLANK_LINE, low, far)

    def _block(self, low: int, far: int) -> int:
        for group in self.borders:
            at = bisect_right(group, far)
            if at and group[at - 1] > low:
                return group[at - 1]
        return -1

    def _best(self, low: int, far: int) -> int:
        """Return the best border in ``(low, far]``, or -1."""
        place = self._block(low, far)
        levels = iter(self.levels)
        while place <= low and (level := next(levels, None)):
            place = self._last(level, low, far)
        return place

    def _last(self, level: tuple[str, ...], low: int, far: int) -> int:
        """Return the last end of a piece in ``(low, far]`` that a separator of `level` makes, or -1.

        What is found narrows the search for the rest, so that ten separators cost little more than one.
        """
        text, best = self.text, -1
        for separator in level:
            if separator.isspace():  # the piece ends before it
                best = max(best, text.rfind(separator, max(low + 1, best), far + len(separator)))
                continue
            mark = len(separator.rstrip())
            place = text.rfind(separator, max(low + 1 - mark, best - mark, 0), far + len(separator) - mark)
            if place >= 0:
                best = max(best, place + mark)
        return self._behind_closers(best, far) if best > low and text[best - 1] > "\u2000" else best

    def _behind_closers(self, place: int, far: int) -> int:
        while place < far and self.text[place] in CLOSERS:
            place += 1
        return place

    def _first(self, level: tuple[str, ...], back: int, end: int) -> int:
        """Return the first place in ``[back, end)`` right behind a separator of `level`, or `end`."""
        text, best = self.text, end
        for separator in level:
            size = len(separator)
            place = text.find(separator, max(0, back - size), best)
            if place >= 0:
                best = min(best, place + size)
        if best < end and text[best - 1] > "\u2000":
            return self._behind_closers(best, end)
        return best

    def _tidy(self, low: int, far: int) -> int:
        """Return the last place in ``(low, far]`` where no closing mark would begin the next chunk."""
        place = far
        while place - 1 > low and far - place < MOST_CLOSERS and self.text[place] in CLOSERS:
            place -= 1
        tidy = border_before(self.text, low, place)
        # Where there is none, a whole visible character matters more than how the next chunk begins.
        return border_before(self.text, low, far) if self.text[tidy] in CLOSERS or joins(self.text, tidy) else tidy


def last_space(text: str, start: int, far: int) -> int:
    """Return the last white space in ``(start, far]``, or -1; ``text[start]`` is none and far < len(text)."""
    if text[far].isspace():
        return far
    if text[far - 1].isspace():
        return far - 1
    # One C call for every kind of white space; the copy of one chunk is cheaper than a search a kind.
    parts = text[start:far].rsplit(None, 1)
    return far - len(parts[1]) - 1 if len(parts) == 2 else -1  # noqa: PLR2004 (head and last word)


def word_start(text: str, back: int, end: int) -> int:
    """Return where the first whole word in ``text[back:end]`` begins, or the white space before it; else `end`."""
    if text[back].isspace() or text[back - 1].isspace():
        return back
    first = text[back:end].split(None, 1)[0]
    return min(back + len(first), end)


def _between_letters_without_spaces(text: str, at: int) -> bool:
    """Whether both neighbours of a cut are of a script that writes no spaces between words."""
    return _unspaced(text[at - 1]) and _unspaced(text[at])


def _unspaced(char: str) -> bool:
    return (
        "\u3000" < char <= "\u9fff"
        or "\uf900" <= char <= "\ufaff"
        or "\uff00" <= char <= "\uffef"
        or "\U00020000" <= char <= "\U0003ffff"
        or "\u0e00" <= char <= "\u0eff"
        or "\u1000" <= char <= "\u109f"
        or "\u1780" <= char <= "\u17ff"
    )
