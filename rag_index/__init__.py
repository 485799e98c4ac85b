"""Turn documents into a vector index and answer questions with the exact source passage.

The names below are imported when they are first used, so that ``import rag_index`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rag_index import chunk as chunk
    from rag_index.chunk import chunk as chunk_text
    from rag_index.errors import RagIndexError
    from rag_index.pipeline import BuildReport, build
    from rag_index.search import search as search_passages
    from rag_index.settings import Settings, load_settings
    from rag_index.store import open_snapshot
    from rag_index.types import Chunk, Document, Event, Filter, Location, Passage, Span

__version__ = "0.1.0"

_HOMES = {
    "BuildReport": "pipeline:BuildReport",
    "Chunk": "types:Chunk",
    "Document": "types:Document",
    "Event": "types:Event",
    "Filter": "types:Filter",
    "Location": "types:Location",
    "Passage": "types:Passage",
    "RagIndexError": "errors:RagIndexError",
    "Settings": "settings:Settings",
    "Span": "types:Span",
    "build": "pipeline:build",
    "chunk": "chunk:",
    "chunk_text": "chunk:chunk",
    "load_settings": "settings:load_settings",
    "open_snapshot": "store:open_snapshot",
    "search_passages": "search:search",
}

__all__ = [
    "BuildReport",
    "Chunk",
    "Document",
    "Event",
    "Filter",
    "Location",
    "Passage",
    "RagIndexError",
    "Settings",
    "Span",
    "__version__",
    "build",
    "chunk",
    "chunk_text",
    "load_settings",
    "open_snapshot",
    "search_passages",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 (any of the names above)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    home = import_module(f"{__name__}.{module}")
    return getattr(home, attribute) if attribute else home  # `chunk` is a package that can be called


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
