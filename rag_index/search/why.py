"""Say at which stage of build and search a passage was lost, or where it ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch

from rag_index.errors import UsageError
from rag_index.extract.blocks import line_starts
from rag_index.search.query import read_question, search
from rag_index.search.ranking import Asked, ask, expression
from rag_index.settings import SearchSettings
from rag_index.store import ChunkRow, DocumentRow, Snapshot
from rag_index.types import Document, Embedder, Filter, Passage, Span

DEEP = 2000
"""Ranks that are looked through."""


@dataclass(frozen=True, slots=True)
class Reason:
    """What became of a place in a document.

    Attributes:
        stage: ``found``, ``not indexed``, ``not extracted``, ``furniture``, ``not in a chunk``, ``filtered``,
            ``excluded``, ``outranked`` or ``not matched``.
        text: One sentence for people.
        passage: Rank of the passage that holds the place, 1-based; None where it isn't among the answers.
        dense: Rank of its chunk by cosine; None where that side wasn't asked or it is beyond `DEEP`.
        keyword: Rank of its chunk by words; None likewise.
    """

    stage: str
    text: str
    passage: int | None = None
    dense: int | None = None
    keyword: int | None = None


def why(
    snapshot: Snapshot,
    embedder: Embedder | Callable[[], Embedder] | None,
    question: str,
    path: str,
    settings: SearchSettings,
    *,
    line: int | None = None,
    where: Filter | None = None,
) -> Reason:
    """Follow the line `line` (1-based; None: the whole document) of the document `path` through build and search.

    Raises:
        UsageError: the question is empty, or the document has no such line.
    """
    question = read_question(question)
    rows = {row.path: row for row in snapshot.documents()}
    row = rows.get(path)
    if row is None:
        near = next((name for name in sorted(rows) if fnmatch(name, f"*{path}*")), "")
        return Reason("not indexed", f"{path} is not in the index" + (f"; {near} is" if near else ""))
    if not row.status.searchable:
        return Reason(
            "not extracted", f"{path} could not be read: {row.status}" + (f", {row.reason}" if row.reason else "")
        )
    document = snapshot.document(row.id)
    span = _span(document, line)
    chunks = [each for each in snapshot.chunks_of(row.id) if each.start < span.end and span.start < each.end]
    if not chunks:
        return _outside(document, span)
    if where is not None and path not in {each.path for each in snapshot.documents(where)}:
        return Reason("filtered", f"the filter leaves {path} out")
    answers = search(snapshot, embedder, question, settings, where)
    return _ranked(snapshot, ask(snapshot, embedder, question, settings), row, span, chunks, answers, where)


def _span(document: Document, line: int | None) -> Span:
    if line is None:
        return Span(0, len(document.text))
    starts = line_starts(document.text)
    if len(starts) > 1 and starts[-1] == len(document.text):  # what follows the last newline is no line
        starts.pop()
    if not 1 <= line <= len(starts):
        raise UsageError(
            f"{document.source.path} has {len(starts):,} lines, no line {line:,}", "Name a line that is there."
        )
    end = starts[line] if line < len(starts) else len(document.text)
    return Span(starts[line - 1], max(end, starts[line - 1] + 1))


def _outside(document: Document, span: Span) -> Reason:
    for block in document.blocks:
        if block.role != "body" and block.start < span.end and span.start < block.end:
            said = "hidden text" if block.role == "hidden" else "navigation or a running header or footer"
            return Reason("furniture", f"the place is {said}, which is not indexed")
    if not span.of(document.text).strip():
        return Reason("not in a chunk", "there is only white space at the place")
    return Reason("not in a chunk", "no chunk holds the place")


def _ranked(
    snapshot: Snapshot,
    asked: Asked,
    row: DocumentRow,
    span: Span,
    chunks: list[ChunkRow],
    answers: list[Passage],
    where: Filter | None,
) -> Reason:
    mine = {each.id for each in chunks}
    same = {copy for copies in snapshot.same_text(list(mine)).values() for copy in copies}
    dense = _rank(snapshot.dense(asked.vector, DEEP, where), mine | same) if asked.vector is not None else None
    keyword = _rank(snapshot.keyword(expression(asked), DEEP, where), mine | same) if asked.words > 0 else None
    sides = f"{_nth(dense)} by dense and {_nth(keyword)} by keyword"
    for rank, answer in enumerate(answers, 1):
        places = [(answer.path, answer.start, answer.end), *((p.path, p.start, p.end) for p in answer.also)]
        if any(path == row.path and start < span.end and span.start < end for path, start, end in places):
            return Reason("found", f"found: passage {rank}; its chunk is ranked {sides}", rank, dense, keyword)
    if dense is None and keyword is None:
        return Reason("not matched", f"neither side ranks it among the first {DEEP:,}")
    return Reason(
        "outranked", f"ranked {sides}; the {len(answers)} passages returned score higher", None, dense, keyword
    )


def _rank(ranked: list[tuple[int, float]], wanted: set[int]) -> int | None:
    return next((rank for rank, (id_, _) in enumerate(ranked, 1) if id_ in wanted), None)


def _nth(rank: int | None) -> str:
    if rank is None:
        return "not at all"
    ending = "th" if rank % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
    return f"{rank:,}{ending}"
