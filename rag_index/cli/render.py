"""What a person sees of documents, chunks, passages and settings; and the JSON that says the same."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from rag_index.cli import shapes
from rag_index.cli.places import lines_around
from rag_index.cli.terminal import BOLD, DIM, mark, note, paint, safe, say, say_json, say_json_line, to_json
from rag_index.extract.positions import locate
from rag_index.settings import Resolved
from rag_index.types import Document, Location, Passage, Span


def show_settings(resolved: Resolved, *, as_json: bool) -> None:
    """Print every setting with its value and origin."""
    parts = resolved.settings.to_dict()
    if as_json:
        say_json(
            {
                part: {
                    name: {"value": value, "origin": resolved.origins[f"{part}.{name}"]}
                    for name, value in names.items()
                }
                for part, names in parts.items()
            }
        )
        return
    for part, names in parts.items():
        say(f"[{part}]")
        for name, value in names.items():
            line = f"{name} = {to_json(value)}" if value is not None else f"# {name} is not set"
            say(f"{safe(line):<58} {paint('# ' + safe(resolved.origins[f'{part}.{name}']), DIM)}")
        say()


def show_text(document: Document, *, as_json: bool) -> None:
    """Print a document's text: exactly, or with control characters escaped on a terminal."""
    if as_json:
        say_json(shapes.document(document))
    elif sys.stdout.isatty():
        say(safe(document.text))
    else:
        sys.stdout.write(document.text)


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
    say(f"{_where(_from_here(root, passage.path), passage.location)}  {score}")
    text = _marked(
        passage.text, [Span(each.start - passage.start, each.end - passage.start) for each in passage.highlights]
    )
    for line in text.splitlines():
        say(f"  {line}".rstrip())
    if passage.also:
        places = ", ".join(_from_here(root, place.path) for place in passage.also)
        say(paint(f"  the same text: {safe(places)}", DIM))
    if passage.stale:
        say(paint("  the file has changed since the build", DIM))


def show_place(document: Document, span: Span | None, around: int, *, as_json: bool) -> None:
    """Print the lines of a document around `span`, which is marked; all lines if there is none."""
    whole = Span(0, len(document.text))
    lines = lines_around(document.text, span or whole, around)
    shown = Span(lines[0][1].start, lines[-1][1].end)
    place = locate(document, (span or whole).start, (span or whole).end)
    if as_json:
        say_json(
            {
                "path": document.source.path,
                "start": shown.start,
                "end": shown.end,
                "text": shown.of(document.text),
                "highlights": shapes.spans([span] if span else []),
                "location": shapes.location(place),
            }
        )
        return
    say(_where(document.source.path, place if span else Location()))
    width = len(str(lines[-1][0]))
    for number, line in lines:
        text = line.of(document.text).rstrip("\r\n")
        part = _within(span, line, len(text)) if span else None
        label = f"{number:>{width}}" if place.line else " " * width
        # A line that is meant as a whole has its sign at the beginning, and that is enough.
        text = _marked(text, [part] if part and 0 < len(part) < len(text) else [])
        say(f"{paint(label, DIM)} {'>' if part else ' '} {text}".rstrip())


def _within(span: Span, line: Span, length: int) -> Span | None:
    """Return what `span` covers of `line`, counted from its start and without its newline."""
    if line.start >= span.end or span.start >= line.end:
        return None
    return Span(min(max(span.start - line.start, 0), length), min(span.end - line.start, length))


def _where(path: str, place: Location) -> str:
    """Return ``path:line`` and what a person would call the place."""
    at = f":{place.line}" if place.line else ""
    label = " > ".join(place.heading) or ("" if place.line else place.label)
    if place.page and place.heading:
        label = f"p. {place.page}  {label}"
    return paint(safe(f"{path}{at}"), BOLD) + (f"  {safe(label)}" if label else "")


def _marked(text: str, highlights: Sequence[Span]) -> str:
    """Return `text`, safe to print, with the highlights marked."""
    parts, done = [], 0
    for each in highlights:
        parts += [safe(text[done : each.start]), mark(safe(each.of(text)))]
        done = each.end
    return "".join([*parts, safe(text[done:])])


def _from_here(root: Path, path: str) -> str:
    """Return the path of a document from the current folder, so that it can be opened from there."""
    try:
        return os.path.relpath(root / path)
    except ValueError:  # on another drive
        return path
