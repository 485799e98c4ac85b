"""From what a person names on the command line to a document."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, cast

from rag_index.cli.terminal import note, safe
from rag_index.errors import IndexMissingError, UnknownNameError, UsageError
from rag_index.settings import Settings
from rag_index.types import Chunk, Document

if TYPE_CHECKING:
    from rag_index.store import Snapshot

STDIN = "-"
_BLOCK = 1 << 16
_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?:[-:]\d+)?")
"""``path:line`` as `query`, compilers and grep print it, a last line or a column after it."""


def near(file: str) -> Path:
    """Return the folder from which settings for `file` are looked for upward."""
    return Path() if file == STDIN else Path(file).parent


def read_file(file: str, settings: Settings) -> Document:
    """Extract one file, or standard input for ``-``. Its path is `file`, as it was given.

    Raises:
        UsageError: there is no such file, or it is a folder.
    """
    from rag_index.extract import Workers, discover, extract_bytes

    if file == STDIN:
        return extract_bytes(sys.stdin.buffer.read(), STDIN, settings.extract)
    path = Path(file)
    if path.is_dir():
        raise UsageError(f"{file} is a folder", "Name one file in it.")
    asked_for = replace(settings.extract, include=(), exclude=(), hidden=True, no_ignore=True, workers=1)
    found = list(discover([path], asked_for, root=path.parent))
    with Workers(asked_for) as workers:
        (document,) = workers.documents(found)
    return replace(document, source=replace(document.source, path=file))


def say_status(document: Document, *, quiet: bool = False) -> None:
    """Say on stderr what is wrong with a document, if anything is."""
    if document.status != "ok":
        note(safe(f"{document.source.path}: {document.status}: {document.reason}"), quiet=quiet)
    for warning in document.warnings:
        note(safe(f"{document.source.path}: {warning.message}"), quiet=quiet)


def chunks_of(document: Document, settings: Settings) -> Sequence[tuple[Chunk, int]]:
    """Return the chunks that a build would make of `document`, each with its size in tokens of the model."""
    from rag_index.embed import load_for_questions
    from rag_index.pipeline.prepare import prepare
    from rag_index.store import Hint

    pieces = prepare(document, load_for_questions(settings.embed), settings, hint=Hint()).pieces
    return [
        (Chunk(document.text[piece.start : piece.end], index, piece.start, piece.end, len(pieces)), piece.tokens)
        for index, piece in enumerate(pieces)
    ]


def streamed(file: str, settings: Settings) -> Iterator[tuple[Chunk, int]]:
    """Yield the chunks of a plain text, or of standard input, while it is read; each with its size in tokens.

    Raises:
        UsageError: the file can't be opened, or its bytes are not UTF-8.
    """
    from rag_index.chunk.stream import decoded, stream_chunks
    from rag_index.embed import load_for_questions

    embedder = load_for_questions(settings.embed)
    with _opened(file) as source:
        # read1 gives what is there: it does not wait for a full block.
        blocks = iter(lambda: source.read1(_BLOCK), b"")
        for chunk in stream_chunks(decoded(blocks), settings.chunk, embedder.tokens, embed=embedder.embed):
            tokens = embedder.tokens(chunk.text)
            yield chunk, len(tokens.starts) + tokens.extra


def _opened(file: str) -> BufferedReader:
    try:
        return cast("BufferedReader", sys.stdin.buffer) if file == STDIN else Path(file).open("rb")
    except OSError as error:
        raise UsageError(f"can't read {file}: {error.strerror}", "Check the path.") from error


def split_place(place: str) -> tuple[str, int | None]:
    """Return the path and the line of ``PATH[:LINE]``; a file whose name ends like that is a path."""
    if not Path(place).exists() and (found := _PLACE.fullmatch(place)):
        return found["path"], int(found["line"])
    return place, None


def name_in(snapshot: Snapshot, path: str) -> str:
    """Return what the index calls the document that `path` names, as the index does or as a file from here."""
    root, here = snapshot.info.root.resolve(), Path(path).resolve()
    if not here.is_relative_to(root) or any(row.path == path for row in snapshot.documents()):
        return path
    name = here.relative_to(root).as_posix()
    return name if any(row.path == name for row in snapshot.documents()) else path


def open_document(place: str, index: Path | None, settings: Settings) -> tuple[Document, int | None]:
    """Return the document that ``PATH[:LINE]`` names, and the line.

    Raises:
        UsageError: neither a file nor the index has that name.
        IndexMissingError: there is no index at `index`.
    """
    path, line = split_place(place)
    return _indexed(path, index) or read_file(path, settings), line


def file_of(place: str, document: Document, index: Path | None) -> Path:
    """Return the file of the document that `open_document` gave for `place`."""
    from rag_index.store import find_index, open_snapshot

    for path in (Path(place), Path(document.source.path)):
        if path.is_file():
            return path
    with open_snapshot(find_index(Path(), index)) as snapshot:
        return snapshot.info.root / document.source.path


def _indexed(path: str, index: Path | None) -> Document | None:
    """Return the document as the index holds it; None if it doesn't, and the file is there to be read."""
    from rag_index.store import find_index, open_snapshot

    file = Path(path)
    try:
        folder = find_index(file.parent if file.exists() else Path(), index)
    except IndexMissingError:
        if index:
            raise
        return None
    with open_snapshot(folder) as snapshot:
        rows = {row.path: row for row in snapshot.documents()}
        row = rows.get(name_in(snapshot, path))
        if row:
            return snapshot.document(row.id)
    if file.exists():
        return None
    error = UnknownNameError.named("document", path, rows)
    raise UsageError(f"{path} is neither a file nor a document of the index", error.hint)
