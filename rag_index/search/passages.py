"""From ranked chunks to passages: the best sentences, nothing twice, within a number or a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rag_index.extract.positions import heading_paths
from rag_index.search.ranking import Candidate
from rag_index.search.reading import Part, Texts
from rag_index.settings import SearchSettings
from rag_index.types import Span

JOINS = 0.6
"""Least score, as a share of the best in a passage, with which a sentence beside it joins it."""
LONGEST = 1000
"""Most characters that a passage grows to by joining."""


@dataclass(slots=True)
class Item:
    """A stretch of a document on offer: a sentence, a chunk or a window.

    Attributes:
        document: Id of the document.
        span: Where it stands.
        score: 0 to 1.
        chunk: The candidate that it is from.
        parts: What the score was made from.
        copies: Other places among what was looked at with the same text: (document, span).
    """

    document: int
    span: Span
    score: float
    chunk: Candidate
    parts: dict[str, float]
    copies: list[tuple[int, Span]] = field(default_factory=list)


@dataclass(slots=True)
class Group:
    """Items of one document that overlap or touch: one passage. The first item is the best."""

    document: int
    span: Span
    items: list[Item]


def offer(texts: Texts, candidates: Sequence[Candidate], settings: SearchSettings, heading: str = "") -> list[Item]:
    """Return what the candidates have to offer, best first, each text once; equal scores by path and place.

    With a `heading`, only what reaches below a title that contains it: a chunk may hold more than one section.
    """
    if settings.passages == "sentence":
        items = list(_sentences(texts, candidates))
    else:
        items = list(_chunks(texts, candidates, grown=settings.passages == "window"))
    if heading:
        items = [item for item in items if _is_below(texts, item, heading.casefold())]
    paths = {item.document: texts.document(item.document).source.path for item in items}
    if not settings.rerank:  # its scores are what counts then
        items = [item for item in items if item.score >= settings.min_score]
    items.sort(key=lambda item: (-round(item.score, 6), paths[item.document], item.span))
    return _without_copies(texts, items)


def _is_below(texts: Texts, item: Item, wanted: str) -> bool:
    paths = heading_paths(texts.document(item.document), item.span.start, item.span.end)
    return any(wanted in title.casefold() for titles in paths for title in titles)


def select(texts: Texts, items: Iterable[Item], settings: SearchSettings) -> list[Group]:
    """Take items, best first, until the number of passages or, where there is one, the budget is reached.

    What overlaps or touches a passage of the same section joins it and doesn't count as one more. What is too long
    for the rest of the budget is cut after a word and ends the list.
    """
    groups: list[Group] = []
    left = settings.budget
    for item in items:
        span = _grown(texts, item, settings.context)
        joined = _touching(texts, groups, item.document, span)
        if not joined and _is_full(groups, settings):
            break
        spans = [span, *(group.span for group in joined)]
        whole = Span(min(each.start for each in spans), max(each.end for each in spans))
        if not (_may_join(joined, item, whole, settings) if joined else _may_begin(groups, item, settings)):
            continue
        more = texts.size(item.document, whole) - sum(texts.size(item.document, group.span) for group in joined)
        if settings.budget and more > left:
            _fill(texts, groups, joined, item, left)
            break
        left -= more
        _join(groups, joined, item, whole)
    return groups


def _sentences(texts: Texts, candidates: Sequence[Candidate]) -> Iterator[Item]:
    """Yield each sentence that stands in a candidate, with the best candidate that holds half of it or more."""
    taken: set[tuple[int, int]] = set()
    less: list[tuple[Candidate, Part, int]] = []  # a sentence longer than its chunks may have no half in any
    for each in candidates:
        document = each.row.document
        part = texts.part(document, each.row.start)
        for at, half in _shared(part, each):
            place = (document, part.stretch.starts[at])
            if not half:
                less.append((each, part, at))
            elif place not in taken:
                taken.add(place)
                yield _sentence(texts, part, at, each)
    for each, part, at in less:
        place = (each.row.document, part.stretch.starts[at])
        if place not in taken:
            taken.add(place)
            yield _sentence(texts, part, at, each)


def _shared(part: Part, chunk: Candidate) -> Iterator[tuple[int, bool]]:
    """Yield the numbers of the sentences that share a character with the chunk, and whether it is half of them."""
    row, starts, ends = chunk.row, part.stretch.starts, part.stretch.ends
    for at in part.stretch.numbers(row.start, row.end):
        start, end = starts[at], ends[at]
        shared = min(end, row.end) - max(start, row.start)
        if shared > 0:
            yield at, shared >= 0.5 * (end - start)


def _sentence(texts: Texts, part: Part, at: int, chunk: Candidate) -> Item:
    shares = texts.shares(part)
    words = shares[at]
    before = shares[at - 1] if at else 0.0
    mix = texts.asked.mix
    score = (chunk.merit + mix.sentence * words + mix.before * before) / (1 + mix.sentence + mix.before)
    parts = {
        "dense": chunk.dense,
        "keyword": chunk.keyword,
        "neighbours": chunk.nearby / 2,
        "sentence": words,
        "before": before,
    }
    return Item(chunk.row.document, part.sentences[at], score, chunk, parts)


def _chunks(texts: Texts, candidates: Sequence[Candidate], *, grown: bool) -> Iterator[Item]:
    for each in candidates:
        document, span = each.row.document, Span(each.row.start, each.row.end)
        part = texts.part(document, span.start)
        shares = texts.shares(part)
        words = max((shares[at] for at, half in _shared(part, each) if half), default=0.0)
        score = (each.merit + texts.asked.mix.best * words) / (1 + texts.asked.mix.best)
        parts = {"dense": each.dense, "keyword": each.keyword, "neighbours": each.nearby / 2, "sentence": words}
        if grown:
            span = texts.widened(document, span)
        yield Item(document, span, score, each, parts)


def _without_copies(texts: Texts, items: Iterable[Item]) -> list[Item]:
    """Leave out items whose text came before; the first one remembers where they are."""
    first: dict[str, Item] = {}
    for item in items:
        text = item.span.of(texts.document(item.document).text)
        if text in first:
            first[text].copies.append((item.document, item.span))
        else:
            first[text] = item
    return list(first.values())


def _grown(texts: Texts, item: Item, context: int) -> Span:
    """Return the item's span with `context` neighbouring sentences on each side."""
    return texts.part(item.document, item.span.start).around(item.span, context) if context else item.span


def _touching(texts: Texts, groups: Iterable[Group], document: int, span: Span) -> list[Group]:
    """Return the passages that overlap a span of a document, or touch it where no section begins."""
    text = texts.document(document).text
    start, end = span.start, span.end
    found = []
    for group in groups:
        if group.document == document:
            low, high = min(group.span.end, end), max(group.span.start, start)
            # Most gaps are long and begin with a letter: it alone is looked at.
            if low >= high or (text[low].isspace() and text[low:high].isspace() and not texts.begins(document, high)):
                found.append(group)
    return found


def _is_full(groups: list[Group], settings: SearchSettings) -> bool:
    return not settings.budget and len(groups) >= settings.limit


def _may_begin(groups: list[Group], item: Item, settings: SearchSettings) -> bool:
    """Tell whether the item's document may have one more passage."""
    return not settings.max_per_file or sum(g.document == item.document for g in groups) < settings.max_per_file


def _may_join(joined: list[Group], item: Item, whole: Span, settings: SearchSettings) -> bool:
    """Tell whether a passage may grow by the item: what is much weaker would only make it longer.

    A budget is there to be used, so there it always may.
    """
    if settings.budget:
        return True
    best = max(group.items[0].score for group in joined)
    return item.score >= JOINS * best and len(whole) <= LONGEST


def _join(groups: list[Group], joined: list[Group], item: Item, whole: Span) -> None:
    """Put the item, and all passages that it joins, in the place of the best of them."""
    if not joined:
        groups.append(Group(item.document, whole, [item]))
        return
    best, *others = joined
    best.span = whole
    best.items = [*best.items, *(each for group in others for each in group.items), item]
    for group in others:
        groups.remove(group)


def _fill(texts: Texts, groups: list[Group], joined: list[Group], item: Item, left: int) -> None:
    """Add as many whole words of the item as the rest of the budget holds, to the passage that it follows, if any."""
    before = [group for group in joined if group.span.start <= item.span.start]
    start = max([item.span.start, *(group.span.end for group in before)])
    stop = min([item.span.end, *(group.span.start for group in joined if group.span.start > start)])
    first = before[-1].span.start if before else start
    room = left + (texts.size(item.document, before[-1].span) if before else 0)
    span = texts.cut(item.document, Span(first, stop), room)
    if span.end > start:
        _join(groups, before[-1:], item, span)
