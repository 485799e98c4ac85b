"""The parts of documents that a search looks at: their sentences and the question's words in them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from rag_index.search.library import Library, Stretch
from rag_index.search.ranking import Asked, Candidate
from rag_index.search.sentences import trim
from rag_index.search.words import Hit, Weights
from rag_index.store import ChunkRow
from rag_index.types import Document, Span, Tokens

Count = Callable[[str], Tokens]
"""Finds the tokens of a text, as `Embedder.tokens` does."""

_LAST_WORD = re.compile(r"\s+\S*\Z|\S\Z")


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a document with the words of the question in it, and what they make of its sentences."""

    stretch: Stretch
    hits: list[Hit]
    shares: list[float] = field(default_factory=list)

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.stretch.span

    @property
    def sentences(self) -> list[Span]:
        """Its sentences, in order."""
        return self.stretch.sentences

    def weigh(self, weights: Weights, average: float) -> list[float]:
        """Return how much of the question stands in each sentence, 0 to 1; worked out once."""
        if not self.shares:
            self.shares.extend([0.0] * len(self.sentences))
            inside: dict[int, list[Hit]] = {}
            for hit in self.hits:
                inside.setdefault(bisect_right(self.stretch.ends, hit.start), []).append(hit)
            for number, hits in inside.items():
                if number < len(self.sentences):
                    self.shares[number] = weights.score(hits, len(self.sentences[number]), average)
        return self.shares

    def hits_in(self, start: int, end: int) -> list[Hit]:
        """Return the hits that lie inside a span."""
        first = bisect_left(self.hits, start, key=lambda hit: hit.start)
        last = bisect_left(self.hits, end, key=lambda hit: hit.start)
        return [hit for hit in self.hits[first:last] if hit.end <= end]

    def around(self, span: Span, count: int) -> Span:
        """Return the span with `count` more sentences on each side, as far as there are any."""
        numbers = self.stretch.numbers(span.start, span.end)
        first, last = max(0, numbers.start - count), min(len(self.sentences), numbers.stop + count) - 1
        return Span(min(span.start, self.sentences[first].start), max(span.end, self.sentences[last].end))


class Texts:
    """Documents of one search: sentences and hits of the parts that were looked at."""

    def __init__(
        self, library: Library, asked: Asked, candidates: Sequence[Candidate], tokens: Count | None = None
    ) -> None:
        self._library = library
        self._tokens = tokens
        self.asked = asked
        self._parts: dict[int, list[Part]] = {}
        self._starts: dict[int, list[int]] = {}
        for id_, spans in _by_document(candidates).items():
            stretches = library.stretches(id_, spans)
            self._starts[id_] = [each.span.start for each in stretches]
            self._parts[id_] = [Part(each, asked.weights.find_in(each.readable, each.span.start)) for each in stretches]
        all_ = [part.stretch for parts in self._parts.values() for part in parts]
        count = sum(len(each.sentences) for each in all_)
        self._average = sum(each.characters for each in all_) / count if count else 1.0

    def document(self, id_: int) -> Document:
        """Return a document."""
        return self._library.document(id_)

    def part(self, document: int, at: int) -> Part:
        """Return the part that holds offset `at`, which must lie in a candidate."""
        return self._parts[document][bisect_right(self._starts[document], at) - 1]

    def hits_in(self, document: int, span: Span) -> list[Hit]:
        """Return the question's words that lie inside a span."""
        return [hit for part in self._parts.get(document, ()) for hit in part.hits_in(span.start, span.end)]

    def same_text(self, chunk: Candidate) -> list[ChunkRow]:
        """Return the other chunks of the index with the chunk's very text."""
        same = self._library.snapshot.same_text([chunk.row.id])[chunk.row.id]
        rows = self._library.snapshot.chunks(same)
        return [rows[id_] for id_ in same if id_ in rows]

    def shares(self, part: Part) -> list[float]:
        """Return how much of the question stands in each sentence of a part, 0 to 1."""
        return part.weigh(self.asked.weights, self._average)

    def trimmed(self, document: int, span: Span) -> Span:
        """Return the span without white space at its ends."""
        return trim(self.document(document).text, span.start, span.end)

    def widened(self, document: int, span: Span) -> Span:
        """Return the span grown to the nearest blank lines, without white space at its ends."""
        return self.trimmed(document, self._library.widened(document, span))

    def begins(self, document: int, at: int) -> bool:
        """Tell whether a section begins at an offset."""
        return self._library.begins_with_title(document, at)

    def size(self, document: int, span: Span) -> int:
        """Return how much of a budget a span takes: characters, or tokens where these are counted."""
        return len(self._tokens(span.of(self.document(document).text)).starts) if self._tokens else len(span)

    def cut(self, document: int, span: Span, room: int) -> Span:
        """Return the beginning of a span: as much as `room` holds, to the end of a word where there is one."""
        if self._tokens:
            ends = self._tokens(span.of(self.document(document).text)).ends
            return span if len(ends) <= room else self._cut(document, span, ends[room - 1] if room > 0 else 0)
        return self._cut(document, span, room)

    def _cut(self, document: int, span: Span, room: int) -> Span:
        if len(span) <= room:
            return span
        text = self.document(document).text
        whole = _LAST_WORD.sub("", text[span.start : span.start + room + 1]) if room > 0 else ""
        return self.trimmed(document, Span(span.start, span.start + (len(whole) or max(0, room))))


def _by_document(candidates: Iterable[Candidate]) -> dict[int, list[Span]]:
    spans: dict[int, list[Span]] = {}
    for each in candidates:
        spans.setdefault(each.row.document, []).append(Span(each.row.start, each.row.end))
    return spans
