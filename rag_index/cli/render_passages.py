"""Passages as a person sees them, and as JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_index.cli import shapes
from rag_index.cli.render_documents import marked, where
from rag_index.cli.terminal import DIM, note, paint, safe, say, say_json, say_json_line
from rag_index.errors import StoreError
from rag_index.types import Event, Passage, Span

if TYPE_CHECKING:
    from rag_index.store import Snapshot


def warn(event: Event) -> None:
    """Print the warning that an event holds."""
    if event.stage == "warning":
        note(f"warning: {event.note}")


def write_page(file: Path, snapshot: Snapshot, question: str, passages: Sequence[Passage]) -> None:
    """Write the page with the marked passages."""
    from rag_index.search import as_page

    try:
        file.write_text(as_page(snapshot, question, passages), encoding="utf-8")
    except OSError as error:
        raise StoreError(f"can't write {file}: {error.strerror}", "Name a file that can be written.") from error
    note(f"wrote {file}")


def show_passages(
    question: str,
    mode: str,
    passages: Sequence[Passage],
    root: Path,
    *,
    as_json: bool,
    json_lines: bool,
    format_: str = "",
    explain: bool = False,
) -> None:
    """Print the passages of one question, best first."""
    if format_:
        from rag_index.search import formatted

        say(formatted(format_, question, passages).removesuffix("\n"))
        return
    plain = as_json or json_lines
    hits = [_hit(passage, rank, explain=explain) for rank, passage in enumerate(passages if plain else (), 1)]
    if json_lines:
        for hit in hits:
            say_json_line(hit)
    elif as_json:
        say_json({"query": question, "mode": mode, "hits": hits})
    elif not passages:
        note("no passages found")
    for number, passage in enumerate(() if plain else passages):
        if number:
            say()
        _show_passage(passage, root, explain=explain)


def _hit(passage: Passage, rank: int, *, explain: bool) -> dict[str, object]:
    """Return a passage for JSON; what was made from what only where it was asked for."""
    hit = shapes.passage(passage, rank)
    if passage.stale:
        hit |= {"stale": True, "note": passage.note}
    return hit | {"parts": dict(passage.parts)} if explain else hit


def _show_passage(passage: Passage, root: Path, *, explain: bool) -> None:
    score = paint(f"{passage.score:.2f}", DIM)
    say(f"{where(_from_here(root, passage.path), passage.location)}  {score}")
    text = marked(
        passage.text, [Span(each.start - passage.start, each.end - passage.start) for each in passage.highlights]
    )
    for line in text.splitlines():
        say(f"  {line}".rstrip())
    if passage.also:
        places = ", ".join(_from_here(root, place.path) for place in passage.also)
        say(paint(f"  the same text: {safe(places)}", DIM))
    if passage.stale:
        say(paint(f"  {passage.note or 'the file has changed since the build'}", DIM))
    if explain:
        say(paint("  " + ", ".join(f"{name} {value:.2f}" for name, value in passage.parts.items()), DIM))


def _from_here(root: Path, path: str) -> str:
    """Return the path of a document from the current folder, so that it can be opened from there."""
    try:
        return os.path.relpath(root / path)
    except ValueError:  # on another drive
        return path
