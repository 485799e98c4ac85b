"""Text becomes vectors: models behind one Embedder, batches by token budget, a cache of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rag_index.embed.files import find_model
from rag_index.registry import Registry

if TYPE_CHECKING:
    from rag_index.settings import EmbedSettings
    from rag_index.types import Embedder

embedders = Registry(
    "embedder",
    {
        "hash": "rag_index.embed.hashing:HashEmbedder",
        "use-multilingual": "rag_index.embed.universal:UniversalEmbedder",
    },
)
"""Names of models that are not sentence-transformers'; each is a function from EmbedSettings to an Embedder."""


def load_embedder(settings: EmbedSettings, *, download: bool = False) -> Embedder:
    """Load the model that `settings` name.

    Args:
        settings: Model, engine, precision, device and prompts.
        download: Fetch a model from the hub when it is not on this machine (for `build`); else the network
            is never touched.

    Raises:
        ModelError: the model is not on this machine, is not safe to load, or can't be loaded.
    """
    if settings.model in embedders.names():
        embedder: Embedder = embedders.load(settings.model)(settings)
        return embedder
    from rag_index.embed.models import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(find_model(settings.model, download=download), settings)
