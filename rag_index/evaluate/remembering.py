"""An embedder that asks the model only for what it has not been asked before."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rag_index.embed.cache import VectorCache, vector_key
from rag_index.types import Embedder, ModelInfo, Tokens

if TYPE_CHECKING:
    from rag_index.types import Matrix, Vector


class Remembering:
    """A model behind a memory: token borders of each text are found once, questions are embedded once for good.

    The model is loaded when it is first needed: never, where all questions are known.
    Vectors of chunks are not its business: the build keeps them in the same cache.

    Args:
        load: Gives the model.
        cache: Holds the vectors of questions, under keys that no chunk has.
        info: What is known of the model already; None to ask it.
        tokens: Borders that are known already.

    What was asked before may be asked for from any thread.
    """

    def __init__(
        self,
        load: Callable[[], Embedder],
        cache: VectorCache,
        info: ModelInfo | None = None,
        tokens: Mapping[str, Tokens] | None = None,
    ) -> None:
        self._load = load
        self._cache = cache
        self._info = info
        self._model: Embedder | None = None
        self._tokens: dict[str, Tokens] = dict(tokens or {})
        self._questions: dict[str, Vector] = {}

    @property
    def info(self) -> ModelInfo:
        """Identity and limits of the model."""
        if self._info is None:
            self._info = self._loaded().info
        return self._info

    @property
    def batch_tokens(self) -> int:
        """Padded tokens in one batch, as the model wishes; 0 where it has no wish."""
        return int(getattr(self._loaded(), "batch_tokens", 0))

    def tokens(self, text: str) -> Tokens:
        """Find the token borders of `text`, once."""
        if text not in self._tokens:
            self._tokens[text] = self._loaded().tokens(text)
        return self._tokens[text]

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed documents; nothing is remembered."""
        return self._loaded().embed(texts)

    def embed_stream(self, batches: Iterable[Sequence[str]]) -> Iterator[Matrix]:
        """Embed documents batch after batch, as the model does it best."""
        model = self._loaded()
        return model.embed_stream(batches) if hasattr(model, "embed_stream") else map(model.embed, batches)

    def embed_query(self, text: str) -> Vector:
        """Embed a question, from the cache where it is known."""
        if text not in self._questions:
            self._questions[text] = self._question(text)
        return self._questions[text]

    def _question(self, text: str) -> Vector:
        import numpy as np

        asking = replace(self.info, document_prompt=f"\0question\0{self.info.query_prompt}")
        key = vector_key(asking, text)
        known = self._cache.get_many([key])
        if key not in known:
            vector = self._loaded().embed_query(text)
            self._cache.put_many([key], np.asarray(vector)[None])
            return vector
        return known[key]

    def _loaded(self) -> Embedder:
        if self._model is None:
            self._model = self._load()
        return self._model
