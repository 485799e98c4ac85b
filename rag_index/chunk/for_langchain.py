"""Our chunkers as a LangChain text splitter, with true positions; needs the extra ``langchain``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from rag_index.chunk import chunk
from rag_index.errors import UsageError
from rag_index.types import Chunker, Tokens

try:
    from langchain_core.documents import Document
    from langchain_text_splitters import TextSplitter
except ImportError as error:
    raise UsageError("LangChain is not installed", "Run pip install 'rag-index[langchain]'.") from error


class RagIndexTextSplitter(TextSplitter):
    """Split documents with `rag_index.chunk`.

    Every document that it makes has ``start_index`` and ``end_index`` in its metadata: code points of the text
    it came from, so that ``text[start_index:end_index] == page_content``, always.

    Args:
        chunker: A name, or a function from a text to spans.
        size: Most units in a chunk.
        overlap: Most units that neighbours share, less than `size`.
        unit: ``characters`` or ``tokens``.
        tokens: Finds the token borders of a text (``embedder.tokens``); no chunk exceeds the model's limit.
        settings: Further keywords of `rag_index.chunk`: ``separators``, ``language``, ``embed``.

    Raises:
        UsageError: at once, where a value is out of its range.
    """

    def __init__(
        self,
        chunker: str | Chunker = "character",
        size: int = 1000,
        overlap: int = 200,
        *,
        unit: str = "characters",
        tokens: Callable[[str], Tokens] | None = None,
        **settings: Any,  # noqa: ANN401 (handed on to `chunk`, which checks them)
    ) -> None:
        self._chunker = chunker
        self._tokens = tokens
        self._settings = {"unit": unit, **settings}
        chunk("", chunker, size, overlap, tokens=self._borders(""), **self._settings)
        super().__init__(chunk_size=size, chunk_overlap=overlap, add_start_index=True)

    def split_text(self, text: str) -> list[str]:
        """Return the texts of the chunks of `text`."""
        return [item.page_content for item in self.create_documents([text])]

    def create_documents(self, texts: Sequence[str], metadatas: Sequence[dict[Any, Any]] | None = None) -> list[Any]:
        """Return the chunks of all `texts`, each with its text's metadata and its own positions."""
        documents = []
        for text, metadata in zip(texts, metadatas or [{}] * len(texts), strict=True):
            found = chunk(
                text,
                self._chunker,
                self._chunk_size,
                self._chunk_overlap,
                tokens=self._borders(text),
                **self._settings,
            )
            for item in found:
                place = {"start_index": item.start, "end_index": item.end}
                documents.append(Document(page_content=item.text, metadata={**deepcopy(metadata), **place}))
        return documents

    def _borders(self, text: str) -> Tokens | None:
        return self._tokens(text) if self._tokens else None
