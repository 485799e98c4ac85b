"""The parts of documents that a search looks at: their sentences and the question's words in them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rag_index.chunk.structure import borders, regions
from rag_index.search.ranking import Asked, Candidate
from rag_index.search.sentences import split_sentences, trim
from rag_index.search.words import Hit, Weights
from rag_index.store import ChunkRow, Snapshot
from rag_index.types import Document, Span

REACH = 300
"""How far beyond a chunk the borders of its sentences are looked for; also the most a `window` grows on a side."""
_LAST_WORD = re.compile(r"\s+\S*\Z|\S\Z")
_BLANK = re.compile(r"\n[ \t\r]*\n")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a document with its sentences, the words of the question in it, and what they make of a sentence."""

    span: Span
    sentences: list[Span]
    hits: list[Hit]
    shares: list[float] = field(default_factory=list)

    def weigh(self, weights: Weights, average: float) -> list[float]:
        """Return how much of the question stands in each sentence, 0 to 1; worked out once."""
        if not self.shares:
            at = 0
            for span in self.sentences:
                first = at
                while at < len(self.hits) and self.hits[at].start < span.end:
                    at += 1
                self.shares.append(weights.score(self.hits[first:at], len(span), average) if at > first else 0.0)
        return self.shares

    def hits_in(self, start: int, end: int) -> list[Hit]:
        """Return the hits that lie inside a span."""
        first = bisect_left(self.hits, start, key=lambda hit: hit.start)
        last = bisect_left(self.hits, end, key=lambda hit: hit.start)
        return [hit for hit in self.hits[first:last] if hit.end <= end]

    def numbers(self, start: int, end: int) -> range:
        """Return the numbers of the sentences that share a character with a span."""
        first = bisect_right(self.sentences, start, key=lambda each: each.end)
        return range(first, bisect_left(self.sentences, end, key=lambda each: each.start))

    def around(self, span: Span, count: int) -> Span:
        """Return the span with `count` more sentences on each side, as far as there are any."""
        numbers = self.numbers(span.start, span.end)
        first, last = max(0, numbers.start - count), min(len(self.sentences), numbers.stop + count) - 1
        return Span(min(span.start, self.sentences[first].start), max(span.end, self.sentences[last].end))


class Texts:
    """Documents of one search: sentences and hits of the parts that were looked at."""

    def __init__(self, snapshot: Snapshot, asked: Asked, candidates: Sequence[Candidate], *, furniture: bool) -> None:
        self.snapshot = snapshot
        self.asked = asked
        self._furniture = furniture
        self._documents: dict[int, Document] = {}
        self._parts: dict[int, list[Part]] = {}
        for id_, spans in _by_document(candidates).items():
            self._parts[id_] = self._read(id_, spans)

    def document(self, id_: int) -> Document:
        """Return a document, unpacked once a search."""
        if id_ not in self._documents:
            self._documents[id_] = self.snapshot.document(id_)
        return self._documents[id_]

    def parts(self, document: int) -> list[Part]:
        """Return the parts of a document that were looked at, in order."""
        return self._parts.get(document, [])

    def part(self, document: int, at: int) -> Part:
        """Return the part that holds offset `at`, which must lie in a candidate."""
        parts = self.parts(document)
        return parts[bisect_right(parts, at, key=lambda part: part.span.start) - 1]

    def hits_in(self, document: int, span: Span) -> list[Hit]:
        """Return the question's words that lie inside a span."""
        return [hit for part in self.parts(document) for hit in part.hits_in(span.start, span.end)]

    def same_text(self, chunk: Candidate) -> list[ChunkRow]:
        """Return the other chunks of the index with the chunk's very text."""
        same = self.snapshot.same_text([chunk.row.id])[chunk.row.id]
        rows = self.snapshot.chunks(same)
        return [rows[id_] for id_ in same if id_ in rows]

    def words(self, part: Part, number: int) -> float:
        """Return how much of the question stands in a sentence, 0 to 1."""
        return part.weigh(self.asked.weights, self.average)[number]

    def trimmed(self, document: int, span: Span) -> Span:
        """Return the span without white space at its ends."""
        return trim(self.document(document).text, span.start, span.end)

    def cut(self, document: int, span: Span, room: int) -> Span:
        """Return the beginning of a span: at most `room` characters, to the end of a word where there is one."""
        if len(span) <= room:
            return span
        text = self.document(document).text
        whole = _LAST_WORD.sub("", text[span.start : span.start + room + 1]) if room > 0 else ""
        return self.trimmed(document, Span(span.start, span.start + (len(whole) or max(0, room))))

    @cached_property
    def average(self) -> float:
        """Return the mean length of all sentences that were looked at."""
        lengths = [len(each) for parts in self._parts.values() for part in parts for each in part.sentences]
        return sum(lengths) / len(lengths) if lengths else 1.0

    def body(self, id_: int) -> list[Span]:
        """Return the stretches of a document that passages stay in."""
        return regions(self.document(id_), sections=False, keep_furniture=self._furniture)

    def _read(self, id_: int, spans: list[Span]) -> list[Part]:
        document = self.document(id_)
        cuts = sorted({at for each in borders(document) for at in each})
        body = self.body(id_)
        wide = _joined(widen(document.text, span, body) for span in spans)
        titles = [(block.start, block.end) for block in document.blocks if block.kind == "heading"]
        return [self._part(document.text, span, cuts, titles) for span in wide]

    def _part(self, text: str, span: Span, cuts: Sequence[int], titles: Sequence[tuple[int, int]]) -> Part:
        inside = cuts[bisect_left(cuts, span.start) : bisect_right(cuts, span.end)]
        sentences = _with_titles(split_sentences(text, span.start, span.end, inside), titles)
        hits = self.asked.weights.find(text, span.start, span.end)
        return Part(span, sentences, hits)


def _with_titles(sentences: list[Span], titles: Sequence[tuple[int, int]]) -> list[Span]:
    """Return the sentences, each heading as one with what follows it: alone it answers nothing."""
    joined: list[Span] = []
    open_ = False
    for span in sentences:
        start = joined.pop().start if open_ else span.start
        joined.append(Span(start, span.end))
        at = (
            bisect_right(titles, span.end, key=lambda title: title[0]) - 1
        )  # the last heading that begins before its end
        open_ = at >= 0 and span.end <= titles[at][1]
    return joined


def widen(text: str, span: Span, body: Sequence[Span]) -> Span:
    """Return `span` grown to the nearest blank lines, at most `REACH` on a side and never out of its part of `body`."""
    home = next((each for each in body if each.start <= span.start < each.end), span)
    low, high = max(home.start, span.start - REACH), min(home.end, span.end + REACH)
    before = [found.end() for found in _BLANK.finditer(text, low, span.start)]
    after = _BLANK.search(text, max(low, span.end - 1), high)
    return Span(before[-1] if before else low, max(span.end, after.start() if after else high))


def _by_document(candidates: Iterable[Candidate]) -> dict[int, list[Span]]:
    spans: dict[int, list[Span]] = {}
    for each in candidates:
        spans.setdefault(each.row.document, []).append(Span(each.row.start, each.row.end))
    return spans


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, those that overlap or touch as one."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined
