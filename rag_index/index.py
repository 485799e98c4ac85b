"""An index as an object: open, add, remove, query."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rag_index.embed import load_embedder, load_for_questions
from rag_index.errors import UnknownNameError, UsageError
from rag_index.pipeline.adding import add_document, remove_document
from rag_index.settings import SearchSettings, Settings
from rag_index.store import FOLDER, DocumentRow, Layout, Snapshot, open_snapshot
from rag_index.store.projection import ensure_published
from rag_index.types import Document, Embedder, Filter, ModelInfo, Passage, Source, Status

if TYPE_CHECKING:
    from rag_index.types import Matrix, Tokens, Vector


class Index:
    """An index that an application reads and writes. A context manager; threads may share one.

    Texts without files are documents like others: what is added is chunked, embedded and stored before `add` returns,
    replaces what had the same id, and is answered from by the next `query`, here and in other processes.
    """

    def __init__(self, path: Path, settings: Settings, embedder: Embedder | None) -> None:
        self.path = path
        self.settings = settings
        self._embedder = embedder
        self._for_questions: Embedder | None = None
        self._snapshot: Snapshot | None = None
        self._writing = threading.Lock()
        self._model = threading.RLock()
        self._reading = threading.RLock()

    @classmethod
    def open(cls, path: str | Path, settings: Settings | None = None, *, embedder: Embedder | None = None) -> Self:
        """Open the index in the folder `path`, or in ``path/.rag-index``; where there is none, `add` makes it.

        Args:
            path: Folder of the index.
            settings: What to make a new index with; an index that is there has its own.
            embedder: The model, if it is loaded already.

        Raises:
            IndexDamagedError or IndexMismatchError: the index that is there can't be used.
        """
        folder = Path(path)
        if not Layout(folder).states() and Layout(folder / FOLDER).states():
            folder = folder / FOLDER
        if Layout(folder).states():
            with open_snapshot(folder) as snapshot:
                settings = snapshot.info.settings
        return cls(folder, settings or Settings(), embedder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, id: str, text: str, metadata: Mapping[str, str] | None = None) -> None:  # noqa: A002
        """Store `text` under `id`, in place of what was stored there.

        Args:
            id: Any name; ``/`` makes folders that `query` can be limited to.
            text: Any text.
            metadata: Values by which `query` can be limited.

        Raises:
            UsageError: `id` is empty, or `text` can't be encoded as UTF-8.
            LockedError: another process is building the index.
        """
        document = _document(id, text, metadata or {})
        with self._writing, self._model:
            add_document(document, self.path, self.settings, self._load())

    def remove(self, id: str) -> bool:  # noqa: A002
        """Forget what is stored under `id`; returns whether anything was.

        Raises:
            LockedError: another process is building the index.
        """
        with self._writing:
            return remove_document(id, self.path)

    def query(self, question: str, where: Filter | None = None, **options: Any) -> list[Passage]:  # noqa: ANN401
        """Return the best passages for `question`, best first.

        Args:
            question: Words, or a sentence.
            where: Which documents may answer.
            options: Fields of `SearchSettings`: ``limit``, ``mode``, ``min_score`` ...

        Raises:
            UsageError: an option is unknown or out of range.
            IndexMissingError: nothing was added yet.
        """
        from rag_index.search import search

        try:
            settings = replace(self.settings.search, **options)
        except TypeError as error:
            unknown = sorted(set(options) - set(SearchSettings.__dataclass_fields__))
            raise UnknownNameError.named("option", unknown[0], SearchSettings.__dataclass_fields__) from error
        with self._reading:
            return search(self._current(), lambda: _Shared(self._model, self._asker), question, settings, where)

    def documents(self) -> list[DocumentRow]:
        """Return all documents, ordered by path."""
        with self._reading:
            return self._current().documents()

    def publish(self) -> Path:
        """Make Chroma's copy of what is stored now and return its folder."""
        done = ensure_published(self.path)
        return done.folder(Layout(self.path))

    def close(self) -> None:
        """Give everything back; the index can be used again after it."""
        with self._reading:
            if self._snapshot is not None:
                self._snapshot.close()
                self._snapshot = None

    def _current(self) -> Snapshot:
        if self._snapshot is not None and not self._snapshot.is_current():
            self._snapshot.close()
            self._snapshot = None
        if self._snapshot is None:
            self._snapshot = open_snapshot(self.path)
        return self._snapshot

    def _load(self) -> Embedder:
        with self._model:
            if self._embedder is None:
                self._embedder = load_embedder(self.settings.embed)
            self._for_questions = self._embedder
            return self._embedder

    def _asker(self) -> Embedder:
        """Return the model that is loaded already, else one that is ready at once."""
        with self._model:
            if self._for_questions is None:
                self._for_questions = self._embedder or load_for_questions(self.settings.embed)
            return self._for_questions


class _Shared:
    """The model of an index, one thread at a time; loaded when it is first asked."""

    def __init__(self, lock: threading.RLock, load: Callable[[], Embedder]) -> None:
        self._lock = lock
        self._load = load

    @property
    def info(self) -> ModelInfo:
        with self._lock:
            return self._load().info

    def tokens(self, text: str) -> Tokens:
        with self._lock:
            return self._load().tokens(text)

    def embed(self, texts: Sequence[str]) -> Matrix:
        with self._lock:
            return self._load().embed(texts)

    def embed_query(self, text: str) -> Vector:
        with self._lock:
            return self._load().embed_query(text)


def _document(id_: str, text: str, metadata: Mapping[str, str]) -> Document:
    if not id_:
        raise UsageError("the id is empty", "Give each text a name.")
    try:
        data = text.encode("utf-8")
        id_.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            f"{id_!r}: its text or id is not Unicode: {error.reason}", "Decode it with its encoding."
        ) from error
    digest = hashlib.sha256(data).hexdigest()
    source = Source(id_, digest, len(data), time.time_ns(), format="text", encoding="utf-8", extractor="added")
    status = Status.OK if text.strip() else Status.EMPTY
    reason = "" if text.strip() else "the text is empty"
    return Document(source, status, reason, text, meta={key: str(value) for key, value in metadata.items()})
