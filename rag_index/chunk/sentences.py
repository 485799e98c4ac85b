"""Sentences found by NLTK Punkt, judged only where a chunk may end; the only importer of nltk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from rag_index.chunk.abbreviations import BEFORE_NUMBERS, EXTRA, TITLES
from rag_index.chunk.characters import BLANK_LINE, CharacterCutter, character
from rag_index.chunk.cutting import Scope, skip_space, trim_space
from rag_index.chunk.languages import PUNKT, detect_language

MAIN = 4096
"""Code points that decide the language of a document; few, so that a stream need not wait for more."""
PASSAGE = 8192
"""Code points that share one detected language."""
_SAMPLE = 800
_LOOKAHEAD = 64
NEAR = 256
"""Code points looked through at a time."""
LONGEST_WORD = 1000
"""Code points of a word, or of the white space behind it, that are looked at."""
_SHORT = 5
"""Letters of a word that may be an abbreviation though no table has it."""

_SPACES = " \n\t\r\x0b\x0c"
_SPACE = re.compile(f"[{_SPACES}]")
_UNIT = r"[ \t]*(?:\#{1,6}[ \t]|(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]|```|~~~|\||\r?\n)"
_HEADING = re.compile(r"[ \t]*(?:#{1,6}[ \t]|```|~~~)")
_CANDIDATE = re.compile(
    rf"[.?!](?![^\W_]|[.?!])|[。！？．｡…](?![。！？．｡…])|\n(?={_UNIT})|^(?=[ \t]*(?:\#{{1,6}}[ \t]|```|~~~))",
    re.MULTILINE,
)
_AFTER = re.compile(r"[\"')\]}’”»」』）】〕》〉]*")
_CJK_STOPS = "。！？．｡"
_CJK_GOES_ON = re.compile(r"\s*(?:と|って|という|や|の|を|が|は|も|に|で|など)")
_MARKER = re.compile(r"(?:^|\n)[ \t>]*(?:\d{1,3}|[A-Za-z])[.)]$")
_CLOSED = frozenset('.!?。！？．…:;：；"”’»」』)')
_OPENERS = "«“‘„‹「『"
_INITIALS = re.compile(r"\b[^\W\d_]\. [^\W\d_]\.$")
_LAST_PART = re.compile(r"[^'’(\[«“\"‘„/-]*$")


def sentence(scope: Scope) -> SentenceCutter:
    """Make the strategy `sentence`."""
    return SentenceCutter(Sentences(scope.text, scope.settings.language), character(scope))


class Sentences:
    """The ends of the sentences of one text, each found by looking at its surroundings only.

    A sentence ends at a blank line, before and behind a heading or a fence, before a list item, at a CJK stop,
    and where NLTK Punkt says so, corrected where its tables are known to fall short.

    Args:
        text: The whole text.
        language: ISO 639-1 code, or ``auto``: detected, passage by passage where a document mixes languages.
    """

    def __init__(self, text: str, language: str = "auto") -> None:
        self.text = text
        self.language = language
        self._main = detect_language(text[:MAIN]) if language == "auto" else language
        self._passages: dict[int, str] = {}

    def last_end(self, low: int, far: int) -> int:
        """Return the last end of a sentence in ``(low, far]``, or -1."""
        high = far + 1
        while high > low:
            start = max(low, high - NEAR)
            for place in reversed(self._candidates(self._line_start(start, low), high)):
                end, _ = self._judge(place)
                if low < end <= far:
                    return end
            high = start
        return -1

    def first_start(self, back: int, end: int) -> int:
        """Return the first start of a sentence in ``[back, end)``, or `end`."""
        at = trim_space(self.text, 0, back)
        for match in _CANDIDATE.finditer(self.text, self._line_start(max(0, at - 8), 0), end):
            stop, start = self._judge(match.start())
            if stop >= 0:
                start = skip_space(self.text, start, end)
                if back <= start < end:
                    return start
        return end

    def closed(self, place: int) -> bool:
        """Whether a border between blocks is no place inside a sentence, as the end of a page may be."""
        end = trim_space(self.text, max(0, place - LONGEST_WORD), place)
        return self.text.startswith(BLANK_LINE, end) or self.text[end - 1 : end] in _CLOSED

    def ends(self) -> Iterator[tuple[int, int]]:
        """Yield every (end of a sentence, start of the next), lazily; the last sentence has no such pair."""
        done = 0
        for match in _CANDIDATE.finditer(self.text):
            end, start = self._judge(match.start())
            if end > done:
                yield end, start
                done = end

    def _candidates(self, start: int, stop: int) -> list[int]:
        """Return where a sentence may end in ``[start, stop)``."""
        found = _CANDIDATE.finditer(self.text, start, stop + _LOOKAHEAD)
        return [place for place in [match.start() for match in found] if place < stop]

    def _line_start(self, at: int, low: int) -> int:
        """Return where the line of `at` begins, so that a heading is seen; `at` where that is far away."""
        return max(self.text.rfind("\n", max(low, at - LONGEST_WORD), at) + 1, 0) or (0 if at <= LONGEST_WORD else at)

    def _judge(self, at: int) -> tuple[int, int]:
        """Return (end of the sentence, start of the next) where the candidate at `at` ends one, else (-1, -1)."""
        char = self.text[at]
        if char == "\n":
            return at, at + 1
        here = self.text.rfind("\n", max(0, at - LONGEST_WORD), at) + 1
        if (here or at <= LONGEST_WORD) and _HEADING.match(self.text, here):
            return self._heading_end(at)
        if char in _CJK_STOPS:
            return self._judge_cjk(at)
        if char == "…":
            return self._judge_ellipsis(at)
        return self._judge_stop(at)

    def _heading_end(self, at: int) -> tuple[int, int]:
        """A heading or the line of a fence is one sentence, whatever stops it holds."""
        end = self.text.find("\n", at, at + LONGEST_WORD)
        return (end, end + 1) if end >= 0 else (-1, -1)

    def _judge_cjk(self, at: int) -> tuple[int, int]:
        text = self.text
        if text[at] == "．" and text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit():
            return -1, -1
        end = _end_of(_AFTER, text, at + 1)
        if end > at + 1 and _CJK_GOES_ON.match(text, end):
            return -1, -1  # a quotation inside a sentence
        return end, end

    def _judge_ellipsis(self, at: int) -> tuple[int, int]:
        """An ellipsis ends a sentence where a capital follows."""
        end = _end_of(_AFTER, self.text, at + 1)
        start = skip_space(self.text, end, min(len(self.text), end + LONGEST_WORD))
        return (end, start) if start > end and self.text[start : start + 1].isupper() else (-1, -1)

    def _judge_stop(self, at: int) -> tuple[int, int]:
        text = self.text
        if text[at - 2 : at + 1] == "...":
            return self._judge_ellipsis(at)
        match = self._context(at)
        if match is None:
            return -1, -1
        begin = _word_begin(text, at)
        end, start = match.end(), match.start("next_tok") if match["next_tok"] else match.end()
        closers = _realignment().match(text, start, start + LONGEST_WORD)
        if closers and not (start > end and text[start] in _OPENERS):
            end, start = start + len(closers.group().rstrip()), closers.end()
        if self._goes_on(begin, at, skip_space(text, start, min(len(text), start + LONGEST_WORD))):
            return -1, -1
        if not _breaks(self._language(at), text[begin : at + 1] + match["after_tok"]):
            return -1, -1
        return end, start

    def _context(self, at: int) -> re.Match[str] | None:
        """Return what NLTK's pattern finds at `at`; of the stops in a word it judges the last only."""
        text = self.text
        match = _period_context().match(text, at, at + LONGEST_WORD)
        if match is None:
            return None
        stop = _word_end(text, at + 1)
        if stop > at + 1:
            later = _period_context().search(text, at + 1, at + LONGEST_WORD)
            if later is not None and later.start() < stop:
                return None
        return match

    def _goes_on(self, begin: int, at: int, start: int) -> bool:
        """What Punkt's tables can't say: list markers, numbers after abbreviations, a small letter that follows."""
        text = self.text
        follows = text[start : start + 1]
        if text[at] != ".":
            return follows.islower()
        if _MARKER.search(text[max(0, begin - 12) : at + 1]):
            return True
        found = _LAST_PART.search(text, begin, at)
        word = found.group().lower() if found else ""
        language = self._language(at)
        if follows.isdigit():
            return word in BEFORE_NUMBERS
        if follows.isupper():
            return word in TITLES.get(language, ()) or _INITIALS.search(text, max(0, at - 5), at + 1) is not None
        return follows.islower() and (len(word) <= _SHORT or "." in word or word in EXTRA.get(language, ()))

    def _language(self, at: int) -> str:
        """Return the Punkt language at `at`: the document's, or that of the passage where it is another."""
        part = at // PASSAGE
        if part not in self._passages:
            language = self.language
            if language == "auto":
                language = detect_language(self.text[part * PASSAGE : part * PASSAGE + _SAMPLE]) or self._main
            self._passages[part] = language if language in PUNKT else "en"
        return self._passages[part]


class SentenceCutter:
    """Whole sentences, as many as fit; a sentence longer than a chunk goes the way of `character`."""

    def __init__(self, sentences: Sentences, fallback: CharacterCutter) -> None:
        self.sentences = sentences
        self.fallback = fallback
        self._inside = False  # whether the last cut was inside a sentence

    def cut(self, start: int, far: int, done: int) -> tuple[int, bool]:
        """Return the last end of a block in the last third, else of a sentence, else what `character` chooses.

        A block's end is preferred so that a text that changed in one place is soon cut as before. Where only
        the overlap keeps the next sentence from fitting, the overlap is given up.
        """
        late = max(done, far - (far - start) // 3)
        place = self.fallback.block_end(late, far)
        if place <= late or not self.sentences.closed(place):
            place = self.sentences.last_end(max(start, done), far)
        self._inside = place < 0
        if self._inside:
            return (done, False) if start < done else self.fallback.cut(start, far, done)
        return place, False

    def rest(self, start: int, stop: int, done: int) -> int:  # noqa: ARG002
        """Return `stop`: what fits stays together."""
        return stop

    def resume(self, back: int, end: int) -> int:
        """Return the first sentence that begins in the overlap; inside a long sentence what `character` chooses."""
        start = self.sentences.first_start(back, end)
        return self.fallback.resume(back, end) if self._inside and start >= end else start


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _word_begin(text: str, at: int) -> int:
    """Return where the word that ends at `at` begins, as NLTK sees words: between ASCII white space."""
    low = max(0, at - LONGEST_WORD)
    return max(low, *(text.rfind(space, low, at) + 1 for space in _SPACES))


def _word_end(text: str, at: int) -> int:
    high = min(len(text), at + LONGEST_WORD)
    match = _SPACE.search(text, at, high)
    return match.start() if match else high


# NLTK compiles its patterns so that each search is timed, which takes 60 µs a call on a long text. What is searched
# here is at most a word or two, so Python's own engine does.
@cache
def _period_context() -> re.Pattern[str]:
    return re.compile(_punkt_module().PunktLanguageVars().period_context_re().pattern, re.VERBOSE)


@cache
def _realignment() -> re.Pattern[str]:
    return re.compile(_punkt_module().PunktLanguageVars.re_boundary_realignment.pattern, re.MULTILINE)


@lru_cache(maxsize=1024)
def _breaks(language: str, context: str) -> bool:
    """Whether Punkt ends a sentence in `context`; kept, for some texts are the same few words over and over."""
    found: bool = _tokenizer(language).text_contains_sentbreak(context)
    return found


def _punkt_module() -> Any:  # noqa: ANN401 (NLTK ships no types)
    from nltk.tokenize import punkt  # half a second or more: only when sentences are wanted

    return punkt


@cache
def _tokenizer(language: str) -> Any:  # noqa: ANN401
    """Return NLTK's tokenizer with the parameters of `language`, read from an installed package."""
    from collections import defaultdict

    punkt = _punkt_module()
    tables = import_module(f"punkt.data.{PUNKT[language]}")
    parameters = punkt.PunktParameters()
    parameters.abbrev_types = {*tables.ABBREV_TYPES, *EXTRA.get(language, frozenset())}
    parameters.collocations = set(tables.COLLOCATIONS)
    parameters.sent_starters = set(tables.SENT_STARTERS)
    parameters.ortho_context = defaultdict(int, tables.ORTHO_CONTEXT)
    return punkt.PunktSentenceTokenizer(parameters)
