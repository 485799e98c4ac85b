"""Extraction for whole folders, in the order given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Self

from rag_index.extract.discover import Found
from rag_index.extract.read import read_document
from rag_index.settings import ExtractSettings
from rag_index.types import Document


class Workers:
    """Reads files; a context manager."""

    def __init__(self, settings: ExtractSettings) -> None:
        self._settings = settings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Give everything back."""

    def documents(self, found: Iterable[Found]) -> Iterator[Document]:
        """Yield the document of each file, in the order given, lazily."""
        return (read_document(one, self._settings) for one in found)
