"""Documents as a search reads them: what doesn't depend on the question is worked out once."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rag_index.chunk.cutting import skip_space, trim_space
from rag_index.chunk.structure import borders, regions
from rag_index.search.sentences import split_sentences
from rag_index.search.words import Readable
from rag_index.store import Snapshot
from rag_index.types import Document, Span

REACH = 300
"""How far beyond a chunk the borders of its sentences are looked for; also the most a `window` grows on a side."""
_BLANK = re.compile(r"\n[ \t\r]*\n")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a document.

    Attributes:
        span: Where it stands.
        sentences: Its sentences, in order.
        starts: Where they begin.
        ends: Where they end.
        characters: Their length together.
        readable: Its text, to find words in.
    """

    span: Span
    sentences: list[Span]
    starts: list[int]
    ends: list[int]
    characters: int
    readable: Readable

    @classmethod
    def of(cls, text: str, span: Span, sentences: list[Span]) -> Stretch:
        """Make a stretch of `text` from its sentences."""
        starts, ends = [each.start for each in sentences], [each.end for each in sentences]
        return cls(span, sentences, starts, ends, sum(ends) - sum(starts), Readable.of(span.of(text)))

    def numbers(self, start: int, end: int) -> range:
        """Return the numbers of the sentences that share a character with a span."""
        return range(bisect_right(self.ends, start), bisect_left(self.starts, end))


class _Structure(NamedTuple):
    """Where a document may be cut, where its passages stay, where its headings stand."""

    cuts: list[int]
    body: list[Span]
    titles: list[tuple[int, int]]


class Library:
    """The documents of a snapshot. Everything that was read is kept, so one library serves any number of questions."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._furniture = snapshot.info.settings.extract.keep_furniture
        self._documents: dict[int, Document] = {}
        self._structures: dict[int, _Structure] = {}
        self._wide: dict[tuple[int, Span], Span] = {}
        self._stretches: dict[tuple[int, Span], Stretch] = {}

    def document(self, id_: int) -> Document:
        """Return a document."""
        if id_ not in self._documents:
            self._documents[id_] = self.snapshot.document(id_)
        return self._documents[id_]

    def widened(self, id_: int, span: Span) -> Span:
        """Return a span of a document, grown to the nearest blank lines (see `widen`); no heading is its end."""
        if (id_, span) not in self._wide:
            text, body = self.document(id_).text, self._structure(id_).body
            wide = widen(text, span, body)
            while self._ends_with_title(id_, wide):
                home = next((each for each in body if each.start < wide.end <= each.end), wide)
                after = skip_space(text, wide.end, home.end)
                if after >= home.end:
                    break
                wide = Span(wide.start, widen(text, Span(wide.start, after + 1), body).end)
            self._wide[id_, span] = wide
        return self._wide[id_, span]

    def begins_with_title(self, id_: int, at: int) -> bool:
        """Tell whether a heading begins at an offset of a document."""
        titles = self._structure(id_).titles
        near = bisect_left(titles, (at, 0))
        return near < len(titles) and titles[near][0] == at

    def _ends_with_title(self, id_: int, span: Span) -> bool:
        titles = self._structure(id_).titles
        near = bisect_left(titles, (span.end, 0)) - 1
        return near >= 0 and trim_space(self.document(id_).text, span.start, span.end) <= titles[near][1]

    def stretches(self, id_: int, spans: Iterable[Span]) -> list[Stretch]:
        """Return the stretches of a document around `spans`, in order; those that touch are one."""
        return [self._stretch(id_, span) for span in _joined(self.widened(id_, span) for span in spans)]

    def _stretch(self, id_: int, span: Span) -> Stretch:
        if (id_, span) not in self._stretches:
            text, (cuts, _, titles) = self.document(id_).text, self._structure(id_)
            inside = cuts[bisect_left(cuts, span.start) : bisect_right(cuts, span.end)]
            sentences = _with_titles(split_sentences(text, span.start, span.end, inside), titles)
            self._stretches[id_, span] = Stretch.of(text, span, sentences)
        return self._stretches[id_, span]

    def _structure(self, id_: int) -> _Structure:
        if id_ not in self._structures:
            document = self.document(id_)
            self._structures[id_] = _Structure(
                cuts=sorted({at for each in borders(document) for at in each}),
                body=regions(document, sections=False, keep_furniture=self._furniture),
                titles=[(block.start, block.end) for block in document.blocks if block.kind == "heading"],
            )
        return self._structures[id_]


def widen(text: str, span: Span, body: Sequence[Span]) -> Span:
    """Return `span` grown to the nearest blank lines, at most `REACH` on a side and never out of its part of `body`."""
    home = next((each for each in body if each.start <= span.start < each.end), span)
    low, high = max(home.start, span.start - REACH), min(home.end, span.end + REACH)
    before = [found.end() for found in _BLANK.finditer(text, low, span.start)]
    after = _BLANK.search(text, max(low, span.end - 1), high)
    return Span(before[-1] if before else low, max(span.end, after.start() if after else high))


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


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, those that overlap or touch as one."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined
