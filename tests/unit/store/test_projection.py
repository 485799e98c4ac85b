"""Chroma's copy: what others open, what is verified, what is refused."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from rag_index.embed import load_embedder
from rag_index.errors import IndexMismatchError, StoreError
from rag_index.pipeline import build_documents, check
from rag_index.settings import ChunkSettings, EmbedSettings, Settings
from rag_index.store import Layout, chroma_folder, open_snapshot, published
from rag_index.store.guard import refuse_functions
from rag_index.store.projection import ensure_published
from rag_index.store.published import warn_about
from rag_index.types import Document, Event, Filter, Source

SETTINGS = Settings(chunk=ChunkSettings(size=200, overlap=40), embed=EmbedSettings(model="hash"))
EMBEDDER = load_embedder(SETTINGS.embed)


def documents(changed: str = "") -> list[Document]:
    texts = {
        f"part/{n}.txt": f"Text {n}: pump number {n} has a seal of type {n * 7}. {changed * (n == 3)}"
        for n in range(40)
    }
    texts["copy.txt"] = texts["part/1.txt"]
    return [
        Document(Source(name, "f" * 64, format="text"), text=text, meta={"title": "A"}) for name, text in texts.items()
    ]


def make(index: Path, changed: str = "") -> None:
    build_documents(documents(changed), index, SETTINGS, embedder=EMBEDDER)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    index = tmp_path_factory.mktemp("template") / "index"
    make(index)
    return index


@pytest.fixture
def index(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "index")


def collection(index: Path):
    import chromadb

    client = chromadb.PersistentClient(str(chroma_folder(index)))
    return client, client.get_collection("rag_index", embedding_function=None)


def test_every_live_text_is_a_record_with_its_place(index: Path) -> None:
    client, found = collection(index)
    try:
        records = found.get(include=["documents", "metadatas", "embeddings"])
    finally:
        client.close()
    with open_snapshot(index) as snapshot:
        assert len(records["ids"]) == snapshot.info.counts.texts == 40  # the copy is no record of its own
        rows = {row.path: row for row in snapshot.documents()}
        for uid, text, where in zip(records["ids"], records["documents"], records["metadatas"], strict=True):
            document = snapshot.document(rows[where["source"]].id)
            assert document.text[where["start_offset"] : where["end_offset"]] == text
            chunk = snapshot.chunks_of(rows[where["source"]].id)[where["index"]]
            assert (chunk.uid, chunk.total) == (uid, where["total_chunks"])
            vector = records["embeddings"][records["ids"].index(uid)]
            assert np.allclose(vector, snapshot.vectors([chunk.id])[0], atol=1e-6)


def test_no_log_is_left_by_a_reader_that_was_there_until_the_copy_was_made(tmp_path: Path) -> None:
    # The process that makes the copy is such a reader. Who opens the index next would have to read the whole log.
    readers = []

    def report(event: Event) -> None:
        if event.stage == "embed" and not readers:
            readers.append(open_snapshot(tmp_path / "index"))
        if event.stage == "publish":
            readers[0].close()

    build_documents(documents(), tmp_path / "index", SETTINGS, embedder=EMBEDDER, report=report)
    logs = list((tmp_path / "index").rglob("index.sqlite-wal"))
    assert [log.stat().st_size for log in logs] in ([], [0])


def test_a_change_is_published_as_a_copy_with_the_change(index: Path) -> None:
    make(index, "Now with a valve.")
    now = published(Layout(index))
    assert now is not None
    assert (now.number, now.count) == (2, 40)
    assert 0 < now.churn < 10
    client, found = collection(index)
    try:
        assert any("valve" in text for text in found.get()["documents"])
    finally:
        client.close()
    assert not (index / "chroma/gen-000001").exists()
    assert check(index, full=True).faults == []


def test_the_two_retrievers_give_the_same_answers(index: Path) -> None:
    question = EMBEDDER.embed_query("Text 7: pump number 7")
    with open_snapshot(index) as snapshot:
        exact = snapshot.dense(question, 10, retriever="exact")
        assert snapshot.dense(question, 10, retriever="chroma") == exact
        assert snapshot.dense(question, 10, Filter(paths=("part",)), "chroma")[:1] == exact[:1]


LOSSES = [
    pytest.param(shutil.rmtree, id="the folder"),
    pytest.param(lambda f: (f / "chroma.sqlite3").unlink(), id="its database", marks=pytest.mark.nightly),
    pytest.param(lambda f: (f.parent / "current").unlink(), id="the pointer", marks=pytest.mark.nightly),
    pytest.param(lambda f: (f.parent / "current").write_text("?"), id="a sound pointer"),
]


@pytest.mark.parametrize("lose", LOSSES)
def test_a_lost_copy_is_made_again_without_embedding(index: Path, lose) -> None:
    lose(chroma_folder(index))
    with open_snapshot(index) as snapshot:
        assert snapshot.dense(EMBEDDER.embed_query("pump"), 3)
    found = check(index)
    assert [fault.code for fault in found.faults] == ["projection"]
    report = build_documents(documents(), index, SETTINGS, embedder=EMBEDDER)
    assert report.embedded == 0
    assert check(index, full=True).faults == []


def test_a_damaged_copy_is_named_and_mended(index: Path) -> None:
    with sqlite3.connect(chroma_folder(index) / "chroma.sqlite3") as connection:
        connection.execute("DELETE FROM embeddings WHERE id = 5")
        connection.execute("UPDATE embedding_metadata SET string_value = 'other' WHERE id = 7 AND key = 'source'")
    connection.close()
    found = check(index, full=True)
    assert {fault.code for fault in found.faults} == {"projection"}
    assert check(index, repair=True, full=True).faults == []


def test_a_copy_of_another_version_of_chroma_is_made_again(index: Path) -> None:
    layout = Layout(index)
    outer = json.loads(layout.published.read_text())
    values = {**outer["values"], "version": "1.0.20"}
    from rag_index.store.layout import write_sealed

    write_sealed(layout.published, values)
    now = ensure_published(index)
    assert now.number == 2
    assert ensure_published(index) == now


def poison(folder: Path) -> None:
    """Name an embedding function that would run code, as a stranger's folder could."""
    with sqlite3.connect(folder / "chroma.sqlite3") as connection:
        (schema,) = connection.execute("SELECT schema_str FROM collections").fetchone()
        bad = schema.replace(
            '{"type":"legacy"}',
            '{"type":"known","name":"sentence_transformer","config":{"model_name":"x","kwargs":{"trust_remote_code":true}}}',
        )
        assert bad != schema
        connection.execute("UPDATE collections SET schema_str = ?", (bad,))
    connection.close()


def test_a_poisoned_folder_is_refused_by_everything_and_mended_on_request(index: Path) -> None:
    poison(chroma_folder(index))
    refused = pytest.raises(IndexMismatchError, match=r"names an embedding function .'sentence_transformer'.")
    with refused:
        open_snapshot(index)
    with refused:
        make(index, "changed")
    found = check(index)
    assert ["run code" in fault.message for fault in found.faults] == [True]
    assert check(index, repair=True).faults == []
    make(index, "changed")


@pytest.mark.parametrize(
    "value",
    [
        {"embedding_function": {"type": "known", "name": "openai"}},
        {"a": [{"embedding_function": {"name": "x"}}]},
        {"embedding_function": "x"},
        {"sparse": {"config": {"embedding_function": {"type": "known", "name": "bm25"}}}},
    ],
)
def test_functions_are_found_wherever_they_stand(value) -> None:
    with pytest.raises(IndexMismatchError):
        refuse_functions([value], "x")


def test_collections_without_a_function_are_let_through() -> None:
    refuse_functions([None, {"embedding_function": {"type": "legacy"}}, {"embedding_function": None}, 5], "x")


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://localhost:8000", False),
        ("http://127.0.0.1:8000", False),
        ("http://[::1]:8000", False),
        ("https://example.org", False),
        ("http://example.org:8000", True),
        ("http://10.0.0.5:8000", True),
        ("", False),
    ],
)
def test_a_server_elsewhere_without_tls_is_warned_about(url: str, warned: bool) -> None:  # noqa: FBT001
    assert bool(warn_about(url)) == warned


@pytest.mark.filterwarnings("ignore:legacy embedding function config:DeprecationWarning")  # Chroma's own
def test_langchain_opens_the_folder_with_its_standard_call(index: Path) -> None:
    chroma = pytest.importorskip("langchain_chroma")

    class Embeddings:
        def embed_query(self, text: str) -> list[float]:
            return EMBEDDER.embed_query(text).tolist()

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return EMBEDDER.embed(texts).tolist()

    store = chroma.Chroma(
        collection_name="rag_index", persist_directory=str(chroma_folder(index)), embedding_function=Embeddings()
    )
    (found, score), *_ = store.similarity_search_with_relevance_scores("Text 7: pump number 7", k=3)
    with open_snapshot(index) as snapshot:
        ((_, cosine),) = snapshot.dense(EMBEDDER.embed_query("Text 7: pump number 7"), 1)
    assert found.page_content.startswith("Text 7: pump number 7")
    assert found.metadata["source"] == "part/7.txt"
    assert (found.metadata["start_offset"], found.metadata["end_offset"]) == (0, len(found.page_content))
    assert score == pytest.approx(cosine, abs=1e-5)  # it reads the kind of distance from the collection
    store._client.close()


def test_llama_index_opens_the_folder_with_its_standard_call(index: Path) -> None:
    module = pytest.importorskip("llama_index.vector_stores.chroma")
    from llama_index.core.vector_stores.types import VectorStoreQuery

    client, found = collection(index)
    try:
        store = module.ChromaVectorStore(chroma_collection=found)
        question = EMBEDDER.embed_query("Text 7: pump number 7").tolist()
        result = store.query(VectorStoreQuery(query_embedding=question, similarity_top_k=3))
        assert result.nodes[0].get_content().startswith("Text 7: pump number 7")
        assert result.nodes[0].metadata["source"] == "part/7.txt"
        assert result.nodes[0].metadata["start_offset"] == 0
    finally:
        client.close()


def some(names: list[str], *first: str) -> list:
    """All names; those that are not among the first ones are tried at night."""
    return [pytest.param(name, marks=[] if name in first else [pytest.mark.nightly]) for name in names]


POINTS = some(["projection-begun", "projection-added", "projection-closed"], "projection-added")
PARENT = some(
    ["projection-verified", "projection-synced", "projection-renamed", "projection-pointed", "projection-cleaned"],
    "projection-verified",
    "projection-renamed",
)


@pytest.mark.parametrize("point", POINTS)
def test_when_the_loading_child_is_killed_the_truth_is_complete(index: Path, monkeypatch, point: str) -> None:
    monkeypatch.setenv("RAG_INDEX_FAILPOINT", f"{point}:1")
    with pytest.raises(StoreError, match="killed by signal 9"):
        make(index, "changed")
    monkeypatch.delenv("RAG_INDEX_FAILPOINT")
    with open_snapshot(index) as snapshot:
        assert snapshot.keyword("changed", 3)
    assert published(Layout(index)).number == 1
    make(index, "changed")
    assert check(index, full=True).faults == []


@pytest.mark.parametrize("point", PARENT)
def test_when_publishing_is_killed_the_next_build_publishes(index: Path, point: str) -> None:
    pid = os.fork()
    if not pid:
        os.environ["RAG_INDEX_FAILPOINT"] = f"{point}:1"
        make(index, "changed")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    with open_snapshot(index) as snapshot:
        assert snapshot.keyword("changed", 3)
    make(index, "changed")
    assert check(index, full=True).faults == []
    assert len(list(index.glob("chroma/gen-*[0-9]"))) == 1
