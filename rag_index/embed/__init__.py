"""Text becomes vectors: models behind one Embedder, batches by token budget, a cache of vectors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rag_index.embed.files import ModelFiles, find_model
from rag_index.errors import ModelError
from rag_index.registry import Registry
from rag_index.types import Event, Reporter, ignore

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


def load_embedder(settings: EmbedSettings, *, download: bool = False, report: Reporter = ignore) -> Embedder:
    """Load the model that `settings` name.

    Engine ``auto`` is OpenVINO on a processor (which needs no torch once the model is converted), and
    sentence-transformers on another device or where OpenVINO can't be used; a ``warning`` then says why.

    Args:
        settings: Model, engine, precision, device and prompts.
        download: Fetch a model from the hub when it is not on this machine (for `build`); else the network
            is never touched.
        report: Told when a model is converted (stage ``model``), and of warnings.

    Raises:
        ModelError: the model is not on this machine, is not safe to load, or can't be loaded.
    """
    if settings.model in embedders.names():
        embedder: Embedder = embedders.load(settings.model)(settings)
        return embedder
    files = find_model(settings.model, download=download)
    if settings.engine == "openvino":
        return _openvino(files, settings, report)
    if settings.engine == "auto" and _on_processor(settings.device):
        try:
            return _openvino(files, settings, report)
        except ModelError as error:
            report(Event("warning", note=f"{error}; using sentence-transformers, which is slower"))
    from rag_index.embed.models import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(files, settings)


def load_for_questions(settings: EmbedSettings, *, report: Reporter = ignore) -> Embedder:
    """Load the model of an index to embed questions: on the processor, which is ready before a GPU is.

    Raises:
        ModelError: as `load_embedder` does.
    """
    return load_embedder(replace(settings, device="cpu"), report=report)


def _openvino(files: ModelFiles, settings: EmbedSettings, report: Reporter) -> Embedder:
    from rag_index.embed.openvino import OpenVinoEmbedder

    return OpenVinoEmbedder(files, settings, report=report)


def _on_processor(device: str) -> bool:
    """Tell whether the work goes to the processor; asking torch would take seconds, so drivers are looked for."""
    drivers = (Path("/proc/driver/nvidia/version"), Path("/dev/kfd"))
    return device == "cpu" or (device == "auto" and not any(driver.exists() for driver in drivers))
