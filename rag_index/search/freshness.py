"""Tell whether a passage's file has changed since the build, and find the passage again in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from rag_index.extract import extract_bytes
from rag_index.extract.positions import locate
from rag_index.settings import ExtractSettings
from rag_index.store import DocumentRow, Snapshot
from rag_index.types import Document, Passage, Span

GONE = "the file is gone; the text is as it was when the index was built"
LOST = "the file has changed and the passage is no longer in it; the text is as it was when the index was built"
MOVED = "the file has changed since the build; the passage was found again in it"


def freshen(snapshot: Snapshot, passages: Iterable[Passage]) -> list[Passage]:
    """Return the passages, those of changed files marked stale.

    A passage that still stands in its file moves there: positions, marks and location are those of the file as it is
    now (of several places, the nearest). Otherwise all is as it was at the build, and `Passage.note` says so. Files
    whose size and time haven't changed are not read.
    """
    passages = list(passages)
    wanted = {passage.path for passage in passages}
    rows = {row.path: row for row in snapshot.documents() if row.path in wanted} if wanted else {}
    settings = snapshot.info.settings.extract
    now: dict[str, Document | str] = {}
    fresh = []
    for passage in passages:
        if passage.path not in now:
            now[passage.path] = _look(snapshot.info.root, rows.get(passage.path), settings)
        fresh.append(_mended(passage, now[passage.path]))
    return fresh


def _look(root: Path, row: DocumentRow | None, settings: ExtractSettings) -> Document | str:
    """Return the document as its file is now, "" where it hasn't changed, or why there is none."""
    if row is None or row.origin != "file":
        return ""
    path = root / row.path
    try:
        state = path.stat()
        if (state.st_size, state.st_mtime_ns) == (row.size, row.mtime_ns):
            return ""
        data = path.read_bytes()
    except OSError:
        return GONE
    if hashlib.sha256(data).hexdigest() == row.sha256:
        return ""
    return extract_bytes(data, row.path, settings)


def _mended(passage: Passage, now: Document | str) -> Passage:
    if isinstance(now, str):
        return replace(passage, stale=True, note=now) if now else passage
    start = _nearest(now.text, passage.text, passage.start)
    if start < 0:
        return replace(passage, stale=True, note=LOST)
    shift = start - passage.start
    return replace(
        passage,
        start=start,
        end=passage.end + shift,
        highlights=tuple(Span(mark.start + shift, mark.end + shift) for mark in passage.highlights),
        location=locate(now, start, passage.end + shift),
        stale=True,
        note=MOVED,
    )


def _nearest(text: str, passage: str, at: int) -> int:
    """Return where `passage` stands in `text` nearest to `at`, or -1."""
    after = text.find(passage, max(0, at))
    before = text.rfind(passage, 0, max(0, at) + len(passage) - 1)
    places = [place for place in (before, after) if place >= 0]
    return min(places, key=lambda place: abs(place - at), default=-1)
