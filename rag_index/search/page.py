"""One HTML page that shows each passage marked inside its document; nothing loaded, no script, all text escaped."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path

from rag_index.search.pictures import page_picture
from rag_index.store import Snapshot
from rag_index.types import Document, Passage, Rect, Span

AROUND = 800
"""Characters of the document shown on each side of a passage."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1d1d1f; --paper: #fdfdfb; --faint: #6b6b70; --rule: #d9d9d4; --mark: #ffe37a;
  --glow: #fff6cf; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --paper: #1b1c1f; --faint: #9a9aa2; --rule: #3a3b40;
  --mark: #7a5f00; --glow: #3a3420; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.35rem; } h2 { font-size: 1rem; margin: 0; } a { color: inherit; }
article { border-top: 1px solid var(--rule); padding: 1rem 0 1.5rem; break-inside: avoid; }
.place, .note { color: var(--faint); font-size: .85rem; margin: .15rem 0 .7rem; }
.note { color: #b3541e; }
.text { white-space: pre-wrap; margin: 0; } .around { color: var(--faint); }
.passage { background: var(--glow); box-shadow: -4px 0 0 var(--glow), 4px 0 0 var(--glow); color: var(--ink);
  -webkit-box-decoration-break: clone; box-decoration-break: clone; }
mark { background: var(--mark); color: inherit; border-radius: 2px; }
figure { margin: 0 0 .8rem; } svg { width: 100%; height: auto; border: 1px solid var(--rule); background: #fff; }
@media print { body { margin: 0; max-width: none; } mark, .passage { -webkit-print-color-adjust: exact;
  print-color-adjust: exact; } }
"""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def as_page(snapshot: Snapshot, question: str, passages: Sequence[Passage]) -> str:
    """Return the page for the answers to `question`.

    Passages of PDF files that are as they were show the page with rectangles around their lines; all others show the
    text around them.
    """
    ids = {row.path: row.id for row in snapshot.documents()} if passages else {}
    root = snapshot.info.root
    articles = [
        _article(rank, passage, snapshot.document(ids[passage.path]), root) for rank, passage in enumerate(passages, 1)
    ]
    return _page(question, articles or ['<p class="note">No passages found.</p>'])


def document_page(document: Document, span: Span | None) -> str:
    """Return a page with the document around `span`, which is marked; with all of its text if there is none."""
    text = _text(document, span, (span,)) if span else f'<p class="text" dir="auto">{_clean(document.text)}</p>'
    return _page(_decoded(document.source.path), [f"<article>{text}</article>"])


def _page(title: str, articles: Iterable[str]) -> str:
    shown = _clean(" ".join(title.split()))
    return (
        f'<!doctype html>\n<html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{_POLICY}"><meta name="viewport" content="width=device-width"><title>{shown}</title>'
        f'<style>{_STYLE}</style></head>\n<body>\n<h1 dir="auto">{shown}</h1>\n'
        + "\n".join(articles)
        + "\n</body></html>\n"
    )


def _article(rank: int, passage: Passage, document: Document, root: Path) -> str:
    label = " · ".join(part for part in (passage.location.label, " > ".join(passage.location.heading)) if part)
    link = escape(_link(root, passage), quote=True)
    also = "".join(f"<br>also {_shown(place.path)}" for place in passage.also)
    note = f'<p class="note">{escape(passage.note)}</p>' if passage.note else ""
    figures = "" if passage.stale else "".join(_figures(root / passage.path, passage.location.rects))
    text = _alone(passage) if passage.stale else _text(document, Span(passage.start, passage.end), passage.highlights)
    return (
        f'<article><h2 dir="auto">{rank}. <a href="{link}">{_shown(passage.path)}</a></h2>'
        f'<p class="place" dir="auto">{escape(label)} · score {passage.score:.2f}{also}</p>'
        f"{note}{figures}{text}</article>"
    )


def _link(root: Path, passage: Passage) -> str:
    """Return an address that opens the file at the passage; the location's link is relative to the root."""
    with suppress(ValueError):
        return root.absolute().as_uri().rstrip("/") + "/" + (passage.location.link or "")
    return passage.location.link


def _text(document: Document, span: Span, marks: Sequence[Span]) -> str:
    text = document.text
    before = text[max(0, span.start - AROUND) : span.start]
    after = text[span.end : span.end + AROUND]
    head = "" if span.start <= AROUND else "… "
    tail = "" if span.end + AROUND >= len(text) else " …"
    return (
        f'<p class="text" dir="auto"><span class="around">{head}{_clean(before)}</span>'
        f'<span class="passage">{_marked(text, span, marks)}</span>'
        f'<span class="around">{_clean(after)}{tail}</span></p>'
    )


def _alone(passage: Passage) -> str:
    shift = passage.start
    marks = [Span(mark.start - shift, mark.end - shift) for mark in passage.highlights]
    inner = _marked(passage.text, Span(0, len(passage.text)), marks)
    return f'<p class="text" dir="auto"><span class="passage">{inner}</span></p>'


def _marked(text: str, span: Span, marks: Sequence[Span]) -> str:
    parts = []
    at = span.start
    for mark in marks:
        parts += [_clean(text[at : mark.start]), f"<mark>{_clean(mark.of(text))}</mark>"]
        at = mark.end
    return "".join([*parts, _clean(text[at : span.end])])


def _clean(text: str) -> str:
    """Return text for HTML; characters that HTML can't hold become visible stand-ins."""
    kept = "".join(
        char if char.isprintable() or char in "\n\t" else _stand_in(char) for char in text.replace("\r\n", "\n")
    )
    return escape(kept)


def _stand_in(char: str) -> str:
    return (
        "\n"
        if char == "\r"
        else " "
        if char.isspace()
        else "\ufffd"
        if char < " " or "\ud800" <= char < "\ue000"
        else char
    )


def _shown(path: str) -> str:
    return _clean(_decoded(path))


def _decoded(path: str) -> str:
    """Return a path without the surrogates that stand for undecodable bytes."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _figures(path: Path, rects: Sequence[Rect]) -> Iterable[str]:
    """Yield a picture of each page that `rects` lie on, with a frame around each of them."""
    for number in dict.fromkeys(rect.page for rect in rects):
        picture = page_picture(path, number)
        if picture is None:
            continue
        frames = "".join(_frame(rect, picture.height) for rect in rects if rect.page == number)
        data = b64encode(picture.png).decode()
        yield (
            f'<figure><svg viewBox="0 0 {picture.width:.1f} {picture.height:.1f}" role="img" '
            f'aria-label="page {number}">'
            f'<image width="{picture.width:.1f}" height="{picture.height:.1f}" href="data:image/png;base64,{data}"/>'
            f"{frames}</svg></figure>"
        )


def _frame(rect: Rect, height: float) -> str:
    """Return a frame around a rectangle; SVG counts down from the top, PDF up from the bottom."""
    size = f'width="{rect.right - rect.left + 2:.1f}" height="{rect.top - rect.bottom + 2:.1f}"'
    return (
        f'<rect x="{rect.left - 1:.1f}" y="{height - rect.top - 1:.1f}" {size} rx="1.5" '
        'fill="#ffcf33" fill-opacity=".35" stroke="#c77800" stroke-width=".7"/>'
    )
