"""Models through sentence-transformers; the only importer of torch."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rag_index.embed.files import ModelFiles, identity
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
        dimension = int(self._model.get_embedding_dimension())
        self._info = identity(files, settings, dimension, max_tokens_of(self._model), ENGINE, precision)
        self.tokenizer = Tokenizer(tokenizer_definition(self._model, files.name), self._info.max_tokens)

    @property
    def info(self) -> ModelInfo:
        """Identity and limits of the model."""
        return self._info

    def tokens(self, text: str) -> Tokens:
        """Find the token borders of `text`; `extra` counts special tokens and the document prompt."""
        return self.tokenizer.borders(text, prompt=self._info.document_prompt)

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


def max_tokens_of(model: Any) -> int | None:  # noqa: ANN401
    """Return the most tokens that a loaded model reads, special ones included; None when there is no limit."""
    limit = model.max_seq_length
    return None if limit is None else int(limit)


def traceable(model: Any) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401
    """Return a torch module that makes normalised vectors of (ids, mask), and an example input.

    Raises:
        ModelError: the model leaves its prompt out of the pooling, which a fixed graph can't do.
    """
    import torch

    if any(getattr(part, "include_prompt", True) is False for part in model):
        raise ModelError("the model leaves its prompt out of the pooling")

    class Sentences(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:  # noqa: ANN401
            made = self.inner({"input_ids": input_ids, "attention_mask": attention_mask})
            return torch.nn.functional.normalize(made["sentence_embedding"], p=2, dim=-1)

    ids = torch.ones((2, 8), dtype=torch.int64)
    mask = torch.tensor([[1] * 8, [1] * 5 + [0] * 3])
    return Sentences().eval(), {"input_ids": ids, "attention_mask": mask}


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
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"  # read when the hub's library is imported: a local folder needs no hub
    try:
        import transformers

        notices: Any = transformers.utils.logging
        level, bars = notices.get_verbosity(), notices.is_progress_bar_enabled()
        notices.set_verbosity_error()
        notices.disable_progress_bar()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
        notices.set_verbosity(level)
        if bars:
            notices.enable_progress_bar()
    finally:
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
