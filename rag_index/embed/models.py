"""Models through sentence-transformers; the only importer of torch."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rag_index.embed.files import ModelFiles, prompts_of
from rag_index.embed.languages import declared_languages
from rag_index.embed.tokenizer import Tokenizer
from rag_index.errors import ModelError
from rag_index.types import ModelInfo, Tokens

if TYPE_CHECKING:
    from rag_index.settings import EmbedSettings
    from rag_index.types import Matrix, Vector

ENGINE = "sentence-transformers"


class SentenceTransformerEmbedder:
    """Any sentence-transformers model on any device; the reference that other engines are measured against."""

    def __init__(self, files: ModelFiles, settings: EmbedSettings) -> None:
        self._model = load_model(files, settings.device)
        precision = "bf16" if settings.precision == "bf16" else "fp32"
        if precision == "bf16":
            self._model.bfloat16()
        self._info = describe(files, self._model, settings, precision)
        self.tokenizer = Tokenizer(tokenizer_definition(self._model, files.name))

    @property
    def info(self) -> ModelInfo:
        """Identity and limits of the model."""
        return self._info

    def tokens(self, text: str) -> Tokens:
        """Find the token borders of `text`; `extra` counts special tokens and the document prompt."""
        return self.tokenizer.borders(text, prompt=self._info.document_prompt, limit=self._info.max_tokens)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Embed documents in one batch, one normalised row a text, in order."""
        return self._encode([self._info.document_prompt + text for text in texts])

    def embed_query(self, text: str) -> Vector:
        """Embed a question."""
        vector: Vector = self._encode([self._info.query_prompt + text])[0]
        return vector

    def _encode(self, texts: list[str]) -> Matrix:
        import numpy as np
        import torch

        if not texts:
            return np.zeros((0, self._info.dimension), dtype=np.float32)
        with torch.inference_mode():
            vectors = self._model.encode(
                texts, batch_size=len(texts), prompt="", normalize_embeddings=True, show_progress_bar=False,
                convert_to_tensor=True,
            )  # fmt: skip
        return np.ascontiguousarray(vectors.float().cpu().numpy(), dtype=np.float32)


def load_model(files: ModelFiles, device: str = "cpu") -> Any:  # noqa: ANN401 (a SentenceTransformer)
    """Load a sentence-transformers model from its folder: safetensors only, none of its code, no network.

    Raises:
        ModelError: sentence-transformers can't be imported, or can't read the model.
    """
    with _quiet():
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ModelError(f"can't import sentence-transformers: {error}", "Reinstall rag-index.") from error
        try:
            return SentenceTransformer(
                str(files.folder),
                device=None if device == "auto" else device,
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            ).eval()
        except Exception as error:  # a model's files can be wrong in any way
            raise ModelError(f"can't load {files.name}: {error}", "Check the model's folder.") from error


def describe(files: ModelFiles, model: Any, settings: EmbedSettings, precision: str) -> ModelInfo:  # noqa: ANN401
    """Return the identity of a loaded model; prompts given in the settings win over its own."""
    query, document = prompts_of(files.folder)
    limit = model.max_seq_length
    return ModelInfo(
        name=files.name,
        fingerprint=files.fingerprint,
        dimension=int(model.get_embedding_dimension()),
        max_tokens=None if limit is None else int(limit),
        query_prompt=query if settings.query_prompt is None else settings.query_prompt,
        document_prompt=document if settings.document_prompt is None else settings.document_prompt,
        engine=ENGINE,
        precision=precision,
        languages=declared_languages(files.folder),
    )


def tokenizer_definition(model: Any, name: str) -> str:  # noqa: ANN401
    """Return the model's tokenizer as the text of a ``tokenizer.json``."""
    tokenizer = model.tokenizer
    backend = getattr(tokenizer, "backend_tokenizer", tokenizer)
    if not hasattr(backend, "to_str"):
        raise ModelError(f"{name} has no fast tokenizer, so its token borders can't be found", "Choose another model.")
    definition: str = backend.to_str()
    return definition


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep progress bars, notices and the network out while a model is loaded."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    logger = logging.getLogger("transformers")
    level = logger.level
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when the hub's library is imported: a local folder needs no hub
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
