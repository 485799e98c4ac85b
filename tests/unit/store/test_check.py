from __future__ import annotations

import os
import random
import sqlite3
from pathlib import Path

import pytest

from rag_index.embed import load_embedder
from rag_index.errors import IndexDamagedError, IndexMissingError, IndexUnusableError
from rag_index.pipeline import build, build_documents, check
from rag_index.settings import ChunkSettings, EmbedSettings, Settings, StoreSettings
from rag_index.store import Layout, open_snapshot
from rag_index.store.comparing import compare
from rag_index.store.dump import dump
from rag_index.types import Document, Source
from tests.damage import spoil

SETTINGS = Settings(
    chunk=ChunkSettings(size=80, overlap=20), embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False)
)
EMBEDDER = load_embedder(SETTINGS.embed)
TEXTS = {
    f"{n}.txt": f"Document {n}. " + "Pumps are serviced every spring, seals are kept in the van. " * n for n in range(6)
}


def documents() -> list[Document]:
    return [Document(Source(name, sha256="0" * 64), text=text) for name, text in TEXTS.items()]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index whose sources are on disk, so that it can be built again from them."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in TEXTS.items():
        (docs / name).write_text(text, encoding="utf-8")
    build([docs], docs / ".rag-index", SETTINGS)
    return docs / ".rag-index"


def lines(index: Path) -> list[str]:
    with open_snapshot(index) as snapshot:
        return list(dump(snapshot))


def test_a_sound_index_has_no_faults(index: Path) -> None:
    report = check(index, full=True)
    assert report.faults == []
    assert report.to_dict()["ok"] is True


def test_there_is_nothing_to_check_where_there_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError):
        check(tmp_path / "none")


def break_pointer(index: Path) -> None:
    (index / "current").write_text("{}", encoding="utf-8")


def drop_pointer(index: Path) -> None:
    (index / "current").unlink()


def break_database(index: Path) -> None:
    path = index / "state-1/index.sqlite"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def drop_database(index: Path) -> None:
    (index / "state-1/index.sqlite").unlink()


def break_vectors(index: Path) -> None:
    path = index / "state-1/vectors-1.f32"
    data = bytearray(path.read_bytes())
    data[100] ^= 1
    path.write_bytes(data)


def cut_vectors(index: Path) -> None:
    path = index / "state-1/vectors-1.f32"
    path.write_bytes(path.read_bytes()[:-7])


def change(index: Path, statement: str) -> None:
    """Change the database as no build would, and forge the seal by taking it off."""
    with sqlite3.connect(index / "state-1/index.sqlite") as connection:
        connection.execute(statement)
    connection.close()
    (index / "state-1/seal").unlink()


DAMAGE = [
    pytest.param(break_pointer, "pointer", id="pointer broken"),
    pytest.param(break_database, "database", id="a byte of the database"),
    pytest.param(drop_database, "database", id="no database"),
    pytest.param(break_vectors, "vectors", id="a bit of the vectors"),
    pytest.param(cut_vectors, "vectors", id="vectors cut off"),
    pytest.param(lambda i: (i / "state-1/vectors-1.f32").unlink(), "vectors", id="no vectors"),
    pytest.param(lambda i: change(i, "UPDATE chunks SET start = start + 1 WHERE id = 3"), "chunk", id="an offset"),
    pytest.param(lambda i: change(i, "DELETE FROM chunks WHERE id = 3"), "count", id="a chunk is gone"),
    pytest.param(lambda i: change(i, "UPDATE bodies SET data = x'00' WHERE document = 2"), "document", id="a text"),
    pytest.param(lambda i: change(i, "DELETE FROM terms WHERE text = 2"), "count", id="terms"),
    pytest.param(lambda i: change(i, "UPDATE state SET value = x'' WHERE name = 'live'"), "vectors", id="live list"),
]


@pytest.mark.parametrize(("damage", "code"), DAMAGE)
def test_damage_is_named_and_repaired(index: Path, damage, code: str) -> None:
    before = lines(index)
    damage(index)
    found = check(index)
    assert code in {fault.code for fault in found.faults}
    repaired = check(index, repair=True, embedder=EMBEDDER, settings=SETTINGS)
    assert repaired.faults == []
    assert repaired.repaired
    assert lines(index) == before


def test_a_lost_pointer_to_the_only_state_is_no_fault(index: Path) -> None:
    drop_pointer(index)
    assert check(index).ok


def test_a_repair_embeds_nothing_whose_vector_is_sound(index: Path) -> None:
    change(index, "UPDATE bodies SET data = x'00' WHERE document = 2")
    asked: list[str] = []
    check(index, repair=True, embedder=Counting(asked))
    assert asked == []


class Counting:
    """The hash embedder, noting what it is asked to embed."""

    def __init__(self, asked: list[str]) -> None:
        self.asked = asked
        self.info = EMBEDDER.info
        self.tokens = EMBEDDER.tokens
        self.embed_query = EMBEDDER.embed_query

    def embed(self, texts):
        self.asked.extend(texts)
        return EMBEDDER.embed(texts)


def test_texts_without_a_file_survive_a_repair(tmp_path: Path) -> None:
    from rag_index.index import Index

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.txt").write_text("A file about pumps.", encoding="utf-8")
    path = tmp_path / "docs/.rag-index"
    build([tmp_path / "docs"], path, SETTINGS)
    with Index.open(path, embedder=EMBEDDER) as index:
        index.add("note/1", "A note about seals.")
    break_vectors(path)
    assert check(path, repair=True, embedder=EMBEDDER).ok
    with open_snapshot(path) as snapshot:
        assert [(row.path, row.origin) for row in snapshot.documents()] == [("a.txt", "file"), ("note/1", "added")]


@pytest.mark.parametrize("seed", range(200 if os.environ.get("RAG_INDEX_NIGHTLY") else 10))
def test_a_flipped_or_cut_file_is_detected_or_harmless(index: Path, seed: int) -> None:
    """Whatever byte changes: the same answers or an error that names the damage, never anything else."""
    chance = random.Random(seed)
    before = lines(index)
    path = chance.choice([p for p in sorted(index.rglob("*")) if p.is_file() and p.name not in {"lock", ".gitignore"}])
    spoil(path, chance)
    try:
        with open_snapshot(index) as snapshot:
            snapshot.dense(EMBEDDER.embed_query("seals"), 5)
            snapshot.keyword("seals", 5)
            after = list(dump(snapshot))
    except IndexUnusableError as error:
        assert error.hint  # noqa: PT017 (either outcome is right)
    else:
        assert after == before
    assert check(index, repair=True, embedder=EMBEDDER, settings=SETTINGS).ok
    assert lines(index) == before


def test_a_build_refuses_a_damaged_state(index: Path) -> None:
    break_database(index)
    with pytest.raises(IndexDamagedError, match="checksum differs"):
        build([index.parent], index, SETTINGS)


def test_two_indexes_are_compared_document_by_document(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    build_documents(documents(), first, SETTINGS, embedder=EMBEDDER)
    other = Settings(chunk=ChunkSettings(size=50, overlap=10), embed=SETTINGS.embed, store=SETTINGS.store)
    changed = [*documents()[1:], Document(Source("new.txt"), text="Something new.")]
    build_documents(changed, second, other, embedder=EMBEDDER)
    with open_snapshot(first) as a, open_snapshot(second) as b:
        found = compare(a, b)
        assert compare(a, a).same
    assert not found.same
    assert found.settings == {"chunk.size": (80, 50), "chunk.overlap": (20, 10)}
    assert (found.removed, found.added, found.changed) == (["0.txt"], ["new.txt"], [])
    assert found.rechunked == [f"{n}.txt" for n in range(1, 6)]
    assert found.to_dict()["same"] is False


def test_the_pointer_and_the_states_are_listed_in_order(index: Path) -> None:
    layout = Layout(index)
    assert [path.name for path in layout.states()] == ["state-1"]
    assert layout.current() == layout.states()[0]
