"""From a question to passages: candidates, their sentences, what is selected, where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rag_index.errors import UsageError
from rag_index.extract.positions import locate
from rag_index.search.library import Library
from rag_index.search.passages import Group, Item, offer, select
from rag_index.search.ranking import MIX, Candidate, Mix, ask, rank
from rag_index.search.reading import Texts
from rag_index.search.reranking import rerank
from rag_index.settings import SearchSettings
from rag_index.store import Snapshot
from rag_index.types import Embedder, Event, Filter, Passage, Place, Reporter, Span, ignore

LONGEST_QUESTION = 4000
"""Characters of a question that are read: more than any model reads of it."""
READ = 40
"""Chunks whose sentences are looked at: some 40,000 characters, 10 ms. Half as many lose 0.3 points of recall at 3,000
characters."""


def search(
    snapshot: Snapshot,
    embedder: Embedder | Callable[[], Embedder] | None,
    question: str,
    settings: SearchSettings,
    where: Filter | None = None,
    *,
    report: Reporter = ignore,
) -> list[Passage]:
    """Return the passages that answer `question`, best first; no character of a document is in two of them.

    The score goes from 0 to 1: the weighed mean of the cosine of question and chunk, of the share that the question's
    words reach in the chunk, in its neighbours and in the sentence (`Passage.parts`); with a reranker it is what that
    model says. Equal scores are ordered by path
    and place, so the order depends on the content of the index alone.

    Args:
        snapshot: What to search.
        embedder: The index's model, or a function that loads it; never called in keyword mode.
        question: Words; ``"quoted phrases"`` must occur, ``-word`` must not.
        settings: Mode, number or budget, kind of passages.
        where: Documents that may answer.
        report: Told when the question was cut.

    Raises:
        UsageError: the question is empty.
    """
    texts, items = offers(Library(snapshot), embedder, read_question(question, report), settings, where)
    return [_passage(texts, group) for group in select(texts, items, settings)]


@dataclass(frozen=True, slots=True)
class Answer:
    """Where a passage stands: what an evaluation needs of it.

    Attributes:
        path: Of its document.
        start: First code point.
        end: One past the last.
        also: Other places of the same text.
    """

    path: str
    start: int
    end: int
    also: tuple[Place, ...] = ()


def answers_each(
    library: Library,
    embedder: Embedder | Callable[[], Embedder] | None,
    question: str,
    wishes: Sequence[SearchSettings],
) -> list[list[Answer]]:
    """Return for each of `wishes` where the passages stand that `search` returns for it; the chunks are ranked once.

    Args:
        library: What to search; the same one for many questions saves most of the work.
        embedder: As for `search`.
        question: As for `search`.
        wishes: One or more settings that differ in `limit`, `budget`, `context` and `max_per_file` alone.

    Raises:
        UsageError: the question is empty.
    """
    most = max(wishes, key=lambda wish: wish.limit)
    texts, items = offers(library, embedder, read_question(question), most)
    return [[_answer(texts, group) for group in select(texts, items, wish)] for wish in wishes]


def offers(
    library: Library,
    embedder: Embedder | Callable[[], Embedder] | None,
    question: str,
    settings: SearchSettings,
    where: Filter | None = None,
    mix: Mix = MIX,
) -> tuple[Texts, list[Item]]:
    """Return all sentences, chunks or windows on offer, best first, before any is selected; and what was read."""
    snapshot = library.snapshot
    tokens = None
    if settings.budget and settings.budget_unit == "tokens":
        if embedder is None:
            raise UsageError("a budget in tokens needs the model of the index", "Give the budget in characters.")
        embedder = embedder() if callable(embedder) else embedder
        tokens = embedder.tokens
    asked = ask(snapshot, embedder, question, settings, mix)
    candidates = rank(snapshot, asked, settings, where)[: max(READ, settings.limit * 2)]
    texts = Texts(library, asked, candidates, tokens)
    items = offer(texts, candidates, settings, where.heading if where else "")
    return texts, rerank(texts, items, question, settings) if settings.rerank else items


def read_question(question: str, report: Reporter = ignore) -> str:
    """Return the question as it is searched for: one line, without control characters, not too long.

    Raises:
        UsageError: nothing is left.
    """
    plain = " ".join("".join(char if char.isprintable() else " " for char in question).split())
    if not plain:
        raise UsageError("the question is empty", "Ask something.")
    if len(plain) > LONGEST_QUESTION:
        report(
            Event(
                "warning", note=f"the question has {len(plain):,} characters; the first {LONGEST_QUESTION:,} are used"
            )
        )
        plain = plain[:LONGEST_QUESTION]
    return plain


def _answer(texts: Texts, group: Group) -> Answer:
    path = texts.document(group.document).source.path
    return Answer(path, group.span.start, group.span.end, _also(texts, group))


def _passage(texts: Texts, group: Group) -> Passage:
    document = texts.document(group.document)
    best = group.items[0]
    span = group.span
    chunks = dict.fromkeys(item.chunk.row.uid for item in group.items)
    return Passage(
        path=document.source.path,
        start=span.start,
        end=span.end,
        text=span.of(document.text),
        score=round(best.score, 6),
        chunks=tuple(chunks),
        highlights=_highlights(texts, group),
        location=locate(document, span.start, span.end),
        also=_also(texts, group),
        parts={name: round(value, 6) for name, value in best.parts.items()},
    )


def _highlights(texts: Texts, group: Group) -> tuple[Span, ...]:
    """Return the question's words in the passage; where it has none, the sentences that it was chosen for."""
    spans = [Span(hit.start, hit.end) for hit in texts.hits_in(group.document, group.span)]
    return tuple(_apart(spans)) or tuple(_apart(_within(item.span, group.span) for item in group.items))


def _within(span: Span, outer: Span) -> Span:
    return Span(max(span.start, outer.start), min(span.end, outer.end))


def _apart(spans: Iterable[Span]) -> list[Span]:
    """Return the spans ascending, those that overlap or touch as one, empty ones left out."""
    apart: list[Span] = []
    for span in sorted(spans):
        if apart and span.start <= apart[-1].end:
            apart[-1] = Span(apart[-1].start, max(apart[-1].end, span.end))
        elif len(span):
            apart.append(span)
    return apart


def _also(texts: Texts, group: Group) -> tuple[Place, ...]:
    """Return the other places of the passage's text: in chunks with the same text, and among what was looked at."""
    text = group.span.of(texts.document(group.document).text)
    places = set()
    for chunk in _chunks_that_hold(group):
        for other in texts.same_text(chunk):
            start = other.start + group.span.start - chunk.row.start
            places.add((other.document, Span(start, start + len(group.span))))
    for item in group.items:
        for document, span in item.copies:
            start = span.start + group.span.start - item.span.start
            places.add((document, Span(start, start + len(group.span))))
    found = (
        Place(texts.document(id_).source.path, *_ends(span)) for id_, span in places if _says(texts, id_, span, text)
    )
    return tuple(sorted(found, key=lambda place: (place.path, place.start)))


def _ends(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _says(texts: Texts, document: int, span: Span, text: str) -> bool:
    return span.start >= 0 and span.of(texts.document(document).text) == text


def _chunks_that_hold(group: Group) -> list[Candidate]:
    chunks = {item.chunk.row.id: item.chunk for item in group.items}.values()
    return [each for each in chunks if each.row.start <= group.span.start and group.span.end <= each.row.end]
