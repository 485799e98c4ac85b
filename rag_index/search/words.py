"""The words of a question in a text: where they stand, and how much they say."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rag_index.store.keywords import fold_word, forms_of, is_unspaced, stem

K1 = 1.2
B = 0.75
"""Parameters of BM25; the same as in SQLite's bm25()."""
LESSER = 0.1
"""What a term that repeats another weighs beside it: enough for the form as written to come first."""


_LONG_FOLD = re.compile(
    "[\u0300-\u036f\u00ad\u00c6\u00df\u00e6\u00de\u00fe\u0132\u0133\u0149\u0152\u0153\u01c4-\u01cc\u01f1-\u01f3\ufb00-\ufb06]"
)
"""Accents that stand as marks of their own, and letters that fold to two."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A word of the question in a text: its span there and the terms that it stands for."""

    start: int
    end: int
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Readable:
    """A part of a text, prepared for any question.

    Attributes:
        text: As it is.
        plain: With the accents off single letters; as long as `text`.
        lower: `plain` in lower case, as long; None where it holds letters that differ in more than accents and case.
    """

    text: str
    plain: str
    lower: str | None

    @classmethod
    def of(cls, text: str) -> Readable:
        """Prepare a part of a text."""
        if text.isascii():
            return cls(text, text, text.lower())
        plain = text.translate(_plain_letters())
        lower = None if _ODD.search(plain) else plain.lower()
        return cls(text, plain, lower if lower is not None and len(lower) == len(plain) else None)


@dataclass(frozen=True, slots=True)
class Weights:
    """The terms of a question with their inverse frequency in the index.

    Attributes:
        idf: Weight of each term, above 0.
        total: The most that BM25 can give for the question.
        frequencies: Number of texts that hold each term.
        lesser: Terms that say again what another says: they prefer a sentence and don't rank chunks.
    """

    idf: Mapping[str, float]
    total: float
    frequencies: Mapping[str, int]
    lesser: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, terms: Sequence[str], frequencies: Mapping[str, int], texts: int, lesser: frozenset[str] = frozenset()
    ) -> Weights:
        """Weigh the terms of a question by the number of `texts` that hold each of them."""
        idf = {term: _idf(frequencies.get(term, 0), texts) * (LESSER if term in lesser else 1) for term in terms}
        total = sum(weight for term, weight in idf.items() if term not in lesser) or sum(idf.values())
        return cls(idf, total * (K1 + 1), dict(frequencies), lesser)

    def common(self, least: int) -> set[str]:
        """Return the terms that `least` texts or more hold, if any other term is found at all."""
        common = {term for term, count in self.frequencies.items() if count >= least}
        return common if len(common) < len(self.frequencies) else set()

    def share(self, bm25: float) -> float:
        """Return a BM25 score as a share of the most it could be, 0 to 1."""
        return min(1.0, max(0.0, bm25 / self.total)) if self.total else 0.0

    def find(self, text: str, start: int = 0, end: int | None = None) -> list[Hit]:
        """Return the words of ``text[start:end]`` that the question asks for, in order; parts of compounds apart."""
        return self.find_in(Readable.of(text[start:end]), start)

    def find_in(self, part: Readable, at: int) -> list[Hit]:
        """Return the words that the question asks for in `part` of a text, which begins at its offset `at`."""
        hits = []
        for first, last in _words_in(part, tuple(self.idf)):
            terms = tuple(term for term in _forms(part.text[first:last]) if term in self.idf)
            if terms:
                hits.append(Hit(at + first, at + last, terms))
        return sorted(hits, key=lambda hit: hit.start)

    def score(self, hits: Sequence[Hit], length: int, average: float) -> float:
        """Return the share of BM25's most, 0 to 1, of a passage of `length` characters in which `hits` stand."""
        counts: dict[str, int] = {}
        for hit in hits:
            for term in hit.terms:
                counts[term] = counts.get(term, 0) + 1
        norm = K1 * (1 - B + B * length / average)
        return self.share(sum(self.idf[term] * (K1 + 1) * count / (count + norm) for term, count in counts.items()))


_ODD = re.compile(f"[\u0130\u0131\u017f\u212a]|{_LONG_FOLD.pattern}")
"""Letters that are another letter in another case, and those of `_LONG_FOLD`."""
_RUN = re.compile(r"[^\W_]*(?:[\u0300-\u036f\u00ad]+[^\W_]*)*")
_forms = lru_cache(maxsize=100_000)(forms_of)


def _words_in(part: Readable, terms: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield where the words stand that may be one of `terms`: few, for most of a text is skipped in C."""
    openings, pairs = _openings(terms)
    if part.lower is not None and all(map(str.isascii, openings)):
        yield from _begun(part.plain, part.lower, openings)
    elif openings:
        accented = not part.plain.isascii() and bool(_LONG_FOLD.search(part.plain))
        yield from (found.span() for found in _pattern(openings, accented=accented).finditer(part.plain))
    if pairs:
        yield from (found.span(1) for found in pairs.finditer(part.plain))


def _begun(plain: str, lower: str, openings: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield what `_pattern` finds, by searching for strings: some ten times as fast, and right for plain letters."""
    last = 0
    for at in sorted({at for opening in openings for at in _places(lower, opening) if _begins(plain, at)}):
        if at >= last:
            run = _RUN.match(plain, at)
            last = run.end() if run else at
            yield at, last


def _places(lower: str, opening: str) -> Iterator[int]:
    at = lower.find(opening)
    while at >= 0:
        yield at
        at = lower.find(opening, at + 1)


def _begins(plain: str, at: int) -> bool:
    """Tell whether a word begins at an offset, or a capital inside camelCase does."""
    before = plain[at - 1 : at]
    if not before.isalnum():
        return True
    return "A" <= plain[at] <= "Z" and ("a" <= before <= "z" or before.isdecimal())


@lru_cache(maxsize=64)
def _openings(terms: tuple[str, ...]) -> tuple[tuple[str, ...], re.Pattern[str] | None]:
    """Return what the words begin with that may be one of `terms`, and a pattern for terms that are pairs."""
    pairs = [re.escape(term) for term in terms if is_unspaced(term[0])]
    openings = sorted({_opening(term) for term in terms if not is_unspaced(term[0])})
    return tuple(openings), re.compile(f"(?=({'|'.join(pairs)}))") if pairs else None


@lru_cache(maxsize=64)
def _pattern(openings: tuple[str, ...], *, accented: bool) -> re.Pattern[str]:
    """Return a pattern for words that begin so.

    With `accented` it finds letters that have marks of their own or fold to two: slower, and seldom needed.
    """
    words = "|".join(_spelled(each) if accented else re.escape(each) for each in openings)
    begins = r"(?:(?<![^\W_])|(?<=[a-z\d])(?=[A-Z]))"  # a word, or a capital inside camelCase
    return re.compile(rf"{begins}(?i:{words})[^\W_]*(?:[\u0300-\u036f\u00ad]+[^\W_]*)*")


@cache
def _plain_letters() -> dict[int, str]:
    """Return the table that takes the accents off single letters and leaves every letter in its place."""
    codes = (*range(0xC0, 0x250), *range(0x370, 0x530), *range(0x1E00, 0x2000))
    folded = {code: fold_word(chr(code)) for code in codes}
    return {code: plain for code, plain in folded.items() if len(plain) == 1}


def _opening(term: str) -> str:
    """Return what all forms of a word begin with."""
    return term if len(term) < _STEM else stem(term)[: max(_STEM - 1, len(stem(term)) - 1)]


_STEM = 4


def _spelled(opening: str) -> str:
    """Return a pattern for the beginning of a word in all its spellings."""
    parts = re.split("(oe|ae)", opening)
    return "".join(
        f"(?:{_letter(p[0])}{_letter(p[1])}|[{_ONE[p]}])" if p in _ONE else "".join(map(_letter, p)) for p in parts
    )


_ONE = {"oe": "œŒ", "ae": "æÆ"}


def _letter(char: str) -> str:
    """Return a pattern for a letter with or without accents."""
    variants = _accented().get(char, "")
    letter = f"[{char}{variants}]" if variants else re.escape(char)
    return f"{letter}[\u0300-\u036f\u00ad]*"


@cache
def _accented() -> dict[str, str]:
    """Return, for each plain letter, the Latin and Greek letters that fold to it or begin with it when folded."""
    found: dict[str, str] = {}
    for code in (*range(0xC0, 0x250), *range(0x370, 0x400), *range(0x1E00, 0x2000), *range(0xFB00, 0xFB07)):
        folded = fold_word(chr(code))
        if folded[:1].isalpha() and folded != chr(code):
            found[folded[0]] = found.get(folded[0], "") + chr(code)
    return found


def _idf(frequency: int, texts: int) -> float:
    """Return the weight that SQLite's bm25() gives a term."""
    return max(1e-6, math.log((texts - frequency + 0.5) / (frequency + 0.5)))
