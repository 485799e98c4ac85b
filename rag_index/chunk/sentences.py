"""Sentences found by NLTK Punkt, judged only where a chunk may end; the only importer of nltk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from rag_index.chunk.characters import CharacterCutter, character
from rag_index.chunk.cutting import Scope
from rag_index.chunk.languages import PUNKT, detect_language

EXTRA_ABBREVIATIONS = {
    "en": (
        "e.g i.e cf al etc fig figs eq eqs sec ch vol ed eds pp approx dept est resp ca viz incl m.d ph.d b.a m.a "
        "b.sc m.sc a.k.a no nos"
    ),
    "fr": "mme mmes mlle mlles mm p.ex ex cf env art chap fig éd vol pp dr me st ste av tél n.b c.-à-d réf",
    "pt": (
        "sr sra srs sras dr dra drs dras prof profa profª pág págs p.ex ex art arts fig cap vol núm nº av exmo "
        "exma tel obs ltda sto sta eng"
    ),
    "es": "sr sra sres dr dra ud uds pág págs p.ej ej art fig cap vol núm av tel etc aprox",
    "de": "z.b d.h u.a usw bzw ca vgl nr abb bd evtl ggf inkl s.o s.u str dr prof hr fr",
    "it": "sig sigg dott prof pag pagg art fig cap vol ecc es p.es avv ing",
}
"""Abbreviations that Punkt's models lack, though readers of these languages meet them daily."""

BEFORE_NUMBERS = frozenset((
    "no", "nos", "nr", "n", "fig", "figs", "art", "arts", "p", "pp", "pág", "págs",
    "pag", "pagg", "ch", "chap", "cap", "vol", "eq", "sec", "núm", "nº", "abb", "bd",
    "§",
))  # fmt: skip
"""Abbreviations only when a number follows: "No. 5", "art. 12"."""

NEAR = 256
"""Code points looked through at a time."""
_LONGEST_WORD = 1000
_SPACES = " \n\t\r\x0b\x0c"
_CANDIDATE = re.compile(r"[.?!](?![^\W_])|[。！？．｡]|…|\n")
_AFTER = re.compile(r"[\"')\]}’”»」』）】〕》〉]*")
_CJK_STOPS = "。！？．｡"
_CJK_GOES_ON = re.compile(r"[\s]*(?:と|って|という|との|や|の|を|が|は|も|に|で|など)")
_UNIT = re.compile(r"[ \t]*(?:#{1,6}[ \t]|(?:[-*+•‣◦]|\d{1,3}[.)])[ \t]|```|~~~|\|)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_BLANK = re.compile(r"[ \t\r\x0b\x0c]*(?:\n|$)")
_MARKER = re.compile(r"(?:^|\n)[ \t>]*(?:\d{1,3}|[A-Za-z])[.)]$")


def sentence(scope: Scope) -> SentenceCutter:
    """Make the strategy `sentence`."""
    return SentenceCutter(Sentences(scope.text, scope.settings.language), character(scope))


class Sentences:
    """The ends of the sentences of one text, each found by looking at its surroundings only.

    Args:
        text: The whole text.
        language: ISO 639-1 code, or ``auto``: detected, passage by passage where a document mixes languages.
    """

    def __init__(self, text: str, language: str = "auto") -> None:
        self.text = text
        self.language = language
        self._main = detect_language(text) if language == "auto" else language

    def last_end(self, low: int, far: int) -> int:
        """Return the last end of a sentence in ``(low, far]``, or -1."""
        high = far
        while high > low:
            start = max(low, high - NEAR)
            for place in reversed([match.start() for match in _CANDIDATE.finditer(self.text, start, high)]):
                end, _ = self._judge(place)
                if low < end <= far:
                    return end
            high = start
        return -1

    def first_start(self, back: int, end: int) -> int:
        """Return the first start of a sentence in ``[back, end)``, or `end`."""
        text, at = self.text, back
        while at > 0 and text[at - 1].isspace():
            at -= 1
        for match in _CANDIDATE.finditer(text, max(0, at - 8), end):
            stop, start = self._judge(match.start())
            if stop >= 0 and back <= start < end:
                return start
        return end

    def ends(self) -> Iterator[tuple[int, int]]:
        """Yield every (end of a sentence, start of the next), lazily; the last sentence has no such pair."""
        done = 0
        for match in _CANDIDATE.finditer(self.text):
            end, start = self._judge(match.start())
            if end > done:
                yield end, start
                done = end

    def _judge(self, at: int) -> tuple[int, int]:
        """Return (end of the sentence, start of the next) where the candidate at `at` ends one, else (-1, -1)."""
        char = self.text[at]
        if char == "\n":
            return self._judge_line(at)
        if char in _CJK_STOPS:
            return self._judge_cjk(at)
        if char == "…":
            return self._judge_ellipsis(at)
        return self._judge_stop(at)

    def _judge_line(self, at: int) -> tuple[int, int]:
        """A line end is a border at a blank line, and where a heading, an item or a fence begins or ends."""
        text = self.text
        here = text.rfind("\n", 0, at) + 1
        if _BLANK.match(text, at + 1) or _UNIT.match(text, at + 1):
            return at, at + 1
        if _HEADING.match(text, here) or _FENCE.match(text, here):
            return at, at + 1
        return -1, -1

    def _judge_cjk(self, at: int) -> tuple[int, int]:
        text = self.text
        if text[at] == "．" and text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit():
            return -1, -1
        if text[at + 1 : at + 2] and text[at + 1] in _CJK_STOPS + "…":
            return -1, -1  # the last of several stops ends the sentence
        end = _end_of(_AFTER, text, at + 1)
        if end > at + 1 and _CJK_GOES_ON.match(text, end):
            return -1, -1  # a quotation inside a sentence
        return end, end

    def _judge_ellipsis(self, at: int) -> tuple[int, int]:
        end = _end_of(_AFTER, self.text, at + 1)
        follows = self.text[end : end + NEAR].lstrip()[:1]
        if self.text[end : end + 1].isspace() and follows.isupper():
            return end, end + 1
        return -1, -1

    def _judge_stop(self, at: int) -> tuple[int, int]:
        text = self.text
        begin = _word_begin(text, at)
        found = self._candidate(begin, at)
        if found is None:
            return -1, -1
        after_token, end, start = found
        if text[at] == "." and self._is_no_end(begin, at, start):
            return -1, -1
        tokenizer = _tokenizer(self._language(at))
        if not tokenizer.text_contains_sentbreak(text[begin:at] + text[at] + after_token):
            return -1, -1
        closers = _realignment().match(text, start)
        if closers:
            end, start = start + len(closers.group().rstrip()), closers.end()
        return end, start

    def _candidate(self, begin: int, at: int) -> tuple[str, int, int] | None:
        """Return what NLTK would judge at `at`: (text that follows, end, next start); of a word's stops the last."""
        text = self.text
        match = _context().match(text, at)
        if match is None:
            return None
        stop = _word_end(text, at + 1)
        later = _context().search(text, at + 1, _word_end(text, stop + 1))
        if later is not None and later.start() < stop:
            return None
        del begin
        next_token = match.group("next_tok")
        return match.group("after_tok"), match.end(), match.start("next_tok") if next_token else match.end()

    def _is_no_end(self, begin: int, at: int, start: int) -> bool:
        """What Punkt's tables can't say: a list marker, or an abbreviation that goes with a number."""
        text = self.text
        if _MARKER.search(text[max(0, begin - 12) : at + 1]):
            return True
        word = text[begin:at].lstrip("(\"'«“").lower()
        return word in BEFORE_NUMBERS and text[start : start + 1].isdigit()

    def _language(self, at: int) -> str:  # noqa: ARG002
        return self._main if self._main in PUNKT else "en"


class SentenceCutter:
    """Whole sentences, as many as fit; a sentence longer than a chunk goes the way of `character`."""

    def __init__(self, sentences: Sentences, fallback: CharacterCutter) -> None:
        self.sentences = sentences
        self.fallback = fallback

    def cut(self, start: int, far: int, done: int) -> tuple[int, bool]:
        """Return the last end of a sentence that fits, else what `character` chooses."""
        place = self.sentences.last_end(max(start, done), far)
        return (place, False) if place > start else self.fallback.cut(start, far, done)

    def resume(self, back: int, end: int) -> int:
        """Return the first sentence that begins in the overlap."""
        return self.sentences.first_start(back, end)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _word_begin(text: str, at: int) -> int:
    """Return where the word that ends at `at` begins, as NLTK sees words: between ASCII white space."""
    low = max(0, at - _LONGEST_WORD)
    return max(low, *(text.rfind(space, low, at) + 1 for space in _SPACES))


_SPACE = re.compile(f"[{_SPACES}]")


def _word_end(text: str, at: int) -> int:
    high = min(len(text), at + _LONGEST_WORD)
    match = _SPACE.search(text, at, high)
    return match.start() if match else high


@cache
def _context() -> re.Pattern[str]:
    pattern: re.Pattern[str] = _punkt_module().PunktLanguageVars().period_context_re()
    return pattern


@cache
def _realignment() -> re.Pattern[str]:
    pattern: re.Pattern[str] = _punkt_module().PunktLanguageVars.re_boundary_realignment
    return pattern


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
    parameters.abbrev_types = {*tables.ABBREV_TYPES, *EXTRA_ABBREVIATIONS.get(language, "").split()}
    parameters.collocations = set(tables.COLLOCATIONS)
    parameters.sent_starters = set(tables.SENT_STARTERS)
    parameters.ortho_context = defaultdict(int, tables.ORTHO_CONTEXT)
    return punkt.PunktSentenceTokenizer(parameters)
