"""Cross-encoders: models that read question and passage together and say how well they fit."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from rag_index.errors import ModelError

BATCH = 32


class Reranker:
    """A cross-encoder from a local folder, or by name from the hub's cache; none of its code is run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._model = _load(name)

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers the question, 0 to 1, in order; in batches."""
        if not texts:
            return []
        import torch

        pairs = [(question, text) for text in texts]
        with torch.inference_mode():
            raw = self._model.predict(
                pairs,
                batch_size=BATCH,
                activation_fn=torch.nn.Sigmoid(),
                show_progress_bar=False,
                convert_to_numpy=True,
            )
        return [float(value) for value in raw.reshape(len(texts), -1)[:, -1]]


def _load(name: str) -> Any:  # noqa: ANN401 (a CrossEncoder)
    try:
        from sentence_transformers import CrossEncoder

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return CrossEncoder(
                name,
                device="cpu",
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
    except Exception as error:  # a model's files can be wrong in any way
        hint = "Name a folder with a cross-encoder, or one that the hub's cache holds."
        raise ModelError(f"can't load the reranker {name}: {_first_line(error)}", hint) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
