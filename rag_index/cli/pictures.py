"""Pages of a PDF as pictures, and documents as HTML, into a file that the user names."""

from __future__ import annotations

from pathlib import Path

from rag_index.cli.terminal import note, safe
from rag_index.errors import UsageError
from rag_index.settings import ExtractSettings
from rag_index.types import Document, Span


def save_blocks(document: Document, page: int, out: Path, settings: ExtractSettings) -> None:
    """Write a page with its blocks outlined.

    Raises:
        UsageError: the document is no PDF, or has no such page, or `out` can't be written.
    """
    from rag_index.extract.render import blocks_png

    _write(out, blocks_png(Path(document.source.path), document, page, settings))


def save_passage(
    document: Document, file: Path, span: Span | None, page: int | None, out: Path, settings: ExtractSettings
) -> None:
    """Write the page that holds `span`, or page `page` of it, with the span marked.

    Raises:
        UsageError: the document is no PDF, or has no such page, or `out` can't be written.
    """
    from rag_index.extract.render import page_of, passage_png

    number = page or page_of(document, span.start if span else 0)
    _write(out, passage_png(file, document, [span] if span else [], number, settings))


def save_page(document: Document, span: Span | None, out: Path) -> None:
    """Write an HTML page with the text around `span`, which is marked; the whole text if there is none.

    Raises:
        UsageError: `out` can't be written.
    """
    from rag_index.search import document_page

    _write(out, document_page(document, span).encode())


def _write(out: Path, content: bytes) -> None:
    try:
        out.write_bytes(content)
    except OSError as error:
        raise UsageError(f"can't write {out}: {error.strerror}", "Name another file.") from error
    note(safe(f"wrote {out}"))
