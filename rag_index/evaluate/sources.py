"""Where the documents of an evaluation come from: folders, or an index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rag_index.errors import UsageError
from rag_index.extract import Workers, discover
from rag_index.settings import ExtractSettings
from rag_index.store import open_snapshot
from rag_index.types import Document, Event, Reporter, ignore


def documents_in(paths: Sequence[Path], settings: ExtractSettings, *, report: Reporter = ignore) -> dict[str, Document]:
    """Extract the files under `paths`; name -> document, named relative to the folder, or to what they share.

    Raises:
        UsageError: a path is missing, or nothing there has text.
    """
    whole = [path.absolute() for path in paths]
    folders = [path if path.is_dir() else path.parent for path in whole]
    root = Path(os.path.commonpath(folders))
    found = [each for each in discover(whole, settings, root=root) if each.status is None]
    documents: dict[str, Document] = {}
    with Workers(settings) as workers:
        for done, document in enumerate(workers.documents(found), 1):
            report(Event("read", done, len(found), document.source.path))
            if document.status.searchable:
                documents[document.source.path] = document
    if not documents:
        names = ", ".join(str(path) for path in paths)
        raise UsageError(f"no file in {names} has text", "Point --docs at a folder with documents.")
    return documents


def documents_of(index: Path) -> dict[str, Document]:
    """Return the searchable documents of an index; name -> document."""
    with open_snapshot(index) as snapshot:
        rows = [row for row in snapshot.documents() if row.status.searchable]
        return {row.path: snapshot.document(row.id) for row in rows}
