"""Passages as a person sees them, and as JSON."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rag_index.cli import shapes
from rag_index.cli.render_documents import marked, where
from rag_index.cli.terminal import DIM, note, paint, safe, say, say_json, say_json_line
from rag_index.types import Passage, Span


def show_passages(
    question: str, mode: str, passages: Sequence[Passage], root: Path, *, as_json: bool, json_lines: bool
) -> None:
    """Print the passages of one question, best first."""
    hits = [shapes.passage(passage, rank) for rank, passage in enumerate(passages, 1)] if as_json or json_lines else []
    if json_lines:
        for hit in hits:
            say_json_line(hit)
    elif as_json:
        say_json({"query": question, "mode": mode, "hits": hits})
    elif not passages:
        note("no passages found")
    for number, passage in enumerate([] if as_json or json_lines else passages):
        if number:
            say()
        _show_passage(passage, root)


def _show_passage(passage: Passage, root: Path) -> None:
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
        say(paint("  the file has changed since the build", DIM))


def _from_here(root: Path, path: str) -> str:
    """Return the path of a document from the current folder, so that it can be opened from there."""
    try:
        return os.path.relpath(root / path)
    except ValueError:  # on another drive
        return path
