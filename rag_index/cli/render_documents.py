"""Documents as a person sees them: their text, or the lines around a place."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rag_index.cli import shapes
from rag_index.cli.places import lines_around
from rag_index.cli.terminal import BOLD, DIM, mark, paint, safe, say, say_json
from rag_index.extract.positions import locate
from rag_index.types import Document, Location, Span


def show_text(document: Document, *, as_json: bool) -> None:
    """Print a document's text: exactly, or with control characters escaped on a terminal."""
    if as_json:
        say_json(shapes.document(document))
    elif sys.stdout.isatty():
        say(safe(document.text))
    else:
        sys.stdout.write(document.text)


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
    say(where(document.source.path, place if span else Location()))
    width = len(str(lines[-1][0]))
    for number, line in lines:
        text = line.of(document.text).rstrip("\r\n")
        part = _within(span, line, len(text)) if span else None
        label = f"{number:>{width}}" if place.line else " " * width
        # A line that is meant as a whole has its sign at the beginning, and that is enough.
        text = marked(text, [part] if part and 0 < len(part) < len(text) else [])
        say(f"{paint(label, DIM)} {'>' if part else ' '} {text}".rstrip())


def _within(span: Span, line: Span, length: int) -> Span | None:
    """Return what `span` covers of `line`, counted from its start and without its newline."""
    if line.start >= span.end or span.start >= line.end:
        return None
    return Span(min(max(span.start - line.start, 0), length), min(span.end - line.start, length))


def where(path: str, place: Location) -> str:
    """Return ``path:line`` and what a person would call the place."""
    at = f":{place.line}" if place.line else ""
    label = " > ".join(place.heading) or ("" if place.line else place.label)
    if place.page and place.heading:
        label = f"p. {place.page}  {label}"
    return paint(safe(f"{path}{at}"), BOLD) + (f"  {safe(label)}" if label else "")


def marked(text: str, highlights: Sequence[Span]) -> str:
    """Return `text`, safe to print, with the highlights marked."""
    parts, done = [], 0
    for each in highlights:
        parts += [safe(text[done : each.start]), mark(safe(each.of(text)))]
        done = each.end
    return "".join([*parts, safe(text[done:])])
