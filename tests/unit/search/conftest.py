"""Small indexes of given texts, made by the real pipeline with the hash embedder."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from rag_index.embed import load_embedder
from rag_index.pipeline import build_documents
from rag_index.settings import ChunkSettings, EmbedSettings, SearchSettings, Settings
from rag_index.store import Snapshot, open_snapshot
from rag_index.types import Document, Embedder, Passage, Source

Search = Callable[..., list[Passage]]


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder(EmbedSettings(model="hash"))


@pytest.fixture
def index_of(tmp_path: Path, embedder: Embedder) -> Iterator[Callable[..., Snapshot]]:
    """Make an index of ``{path: text}`` and open it."""
    opened: list[Snapshot] = []

    def make(texts: Mapping[str, str], size: int = 200, overlap: int = 40, chunker: str = "character") -> Snapshot:
        settings = Settings(
            embed=EmbedSettings(model="hash"), chunk=ChunkSettings(chunker=chunker, size=size, overlap=overlap)
        )
        documents = [Document(Source(path, sha256=path, format="text"), text=text) for path, text in texts.items()]
        folder = tmp_path / f"index-{len(opened)}"
        build_documents(documents, folder, settings, embedder=embedder, publish=False)
        opened.append(open_snapshot(folder))
        return opened[-1]

    yield make
    for snapshot in opened:
        snapshot.close()


@pytest.fixture
def ask(embedder: Embedder) -> Search:
    """Search a snapshot with settings given by name."""
    from rag_index.search import search

    def run(snapshot: Snapshot, question: str, where=None, report=None, **settings) -> list[Passage]:
        told = {} if report is None else {"report": report}
        return search(snapshot, embedder, question, SearchSettings(**settings), where, **told)

    return run
