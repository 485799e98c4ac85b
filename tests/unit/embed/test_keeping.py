import json

import numpy as np
import pytest

from rag_index.embed import keeping
from rag_index.embed.cache import VectorCache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder of the test's own."""
    monkeypatch.setenv("RAG_INDEX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fill(folder):
    with VectorCache() as cache:
        cache.put_many([bytes([number]) * 32 for number in range(200)], np.ones((200, 384), dtype=np.float32))
    for name in ("b", "a"):
        (folder / "models" / name).mkdir(parents=True)
        (folder / "models" / name / "about.json").write_text(json.dumps({"name": f"model {name}"}))
        (folder / "models" / name / "model.bin").write_bytes(bytes(1_000_000))
    (folder / "models" / "making-x").mkdir()
    (folder / "digests.json").write_text("{}")
    (folder / "other").write_text("not ours")


def test_looking_at_nothing_makes_nothing(folder):
    kept = keeping.look()
    assert (kept.folder, kept.vectors, kept.models) == (folder, 0, ())
    assert keeping.prune(0) == 0
    assert not folder.exists()


def test_vectors_and_models_are_counted(folder):
    fill(folder)
    kept = keeping.look()
    assert kept.vectors == 200
    assert 0.3 < kept.vectors_mb < 1
    assert [model.name for model in kept.models] == ["model a", "model b", "unfinished"]
    assert [round(model.mb) for model in kept.models] == [1, 1, 0]


def test_pruning_leaves_what_was_asked_for(folder):
    fill(folder)
    dropped = keeping.prune(0.1)
    kept = keeping.look()
    assert dropped > 0
    assert kept.vectors == 200 - dropped
    assert len(kept.models) == 3


def test_clearing_removes_all_that_is_ours_and_nothing_else(folder):
    fill(folder)
    keeping.clear()
    kept = keeping.look()
    assert (kept.vectors, kept.models) == (0, ())
    assert [path.name for path in folder.iterdir() if path.is_file()] == ["other"]
