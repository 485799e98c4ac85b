"""The words of a question in a text: where they stand, and how much they say."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rag_index.store.keywords import fold_word, forms_of, is_unspaced, stem

K1 = 1.2
B = 0.75
"""Parameters of BM25; the same as in SQLite's bm25()."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A word of the question in a text: its span there and the terms that it stands for."""

    start: int
    end: int
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """The terms of a question with their inverse frequency in the index.

    Attributes:
        idf: Weight of each term, above 0.
        total: The most that BM25 can give for the question.
        shares: Share of all texts that hold each term.
    """

    idf: Mapping[str, float]
    total: float
    shares: Mapping[str, float]

    @classmethod
    def of(cls, terms: Sequence[str], frequencies: Mapping[str, int], texts: int) -> Weights:
        """Weigh the terms of a question by the number of `texts` that hold each of them."""
        idf = {term: _idf(frequencies.get(term, 0), texts) for term in terms}
        shares = {term: frequencies.get(term, 0) / max(1, texts) for term in terms}
        return cls(idf, sum(idf.values()) * (K1 + 1), shares)

    def common(self, share: float) -> set[str]:
        """Return the terms that more than `share` of all texts hold."""
        return {term for term, part in self.shares.items() if part > share}

    def share(self, bm25: float) -> float:
        """Return a BM25 score as a share of the most it could be, 0 to 1."""
        return min(1.0, max(0.0, bm25 / self.total)) if self.total else 0.0

    def find(self, text: str, start: int = 0, end: int | None = None) -> list[Hit]:
        """Return the words of ``text[start:end]`` that the question asks for, in order; parts of compounds apart."""
        end = len(text) if end is None else end
        hits = []
        for pattern in _patterns(tuple(self.idf)):
            for found in pattern.finditer(text, start, end):
                first, last = found.span(found.lastindex or 0)
                terms = tuple(term for term in forms_of(text[first:last]) if term in self.idf)
                if terms:
                    hits.append(Hit(first, last, terms))
        return sorted(hits, key=lambda hit: hit.start)

    def score(self, hits: Sequence[Hit], length: int, average: float) -> float:
        """Return the share of BM25's most, 0 to 1, of a passage of `length` characters in which `hits` stand."""
        counts: dict[str, int] = {}
        for hit in hits:
            for term in hit.terms:
                counts[term] = counts.get(term, 0) + 1
        norm = K1 * (1 - B + B * length / average)
        return self.share(sum(self.idf[term] * (K1 + 1) * count / (count + norm) for term, count in counts.items()))


@lru_cache(maxsize=64)
def _patterns(terms: tuple[str, ...]) -> list[re.Pattern[str]]:
    """Return patterns for the words that may be one of `terms`: few, so that most of a text is skipped in C."""
    pairs = [re.escape(term) for term in terms if is_unspaced(term[0])]
    openings = sorted({_opening(term) for term in terms if not is_unspaced(term[0])})
    patterns = []
    if openings:
        words = "|".join("".join(_letter(char) for char in opening) for opening in openings)
        begins = r"(?:(?<![^\W_])|(?<=[a-z\d])(?=[A-Z]))"  # a word, or a capital inside camelCase
        patterns.append(re.compile(rf"{begins}(?i:{words})[^\W_]*(?:[\u0300-\u036f\u00ad]+[^\W_]*)*"))
    if pairs:
        patterns.append(re.compile(f"(?=({'|'.join(pairs)}))"))
    return patterns


def _opening(term: str) -> str:
    """Return what all forms of a word begin with."""
    return term if len(term) < _STEM else stem(term)[: max(_STEM - 1, len(stem(term)) - 1)]


_STEM = 4


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
