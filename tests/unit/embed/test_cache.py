import sqlite3
from dataclasses import replace

import numpy as np
import pytest

from rag_index.embed.cache import VectorCache, cache_folder, vector_key
from rag_index.types import ModelInfo
from tests.privilege import unprivileged

INFO = ModelInfo("m", "f" * 32, 4)


def vectors(count, dimension=4):
    return np.arange(count * dimension, dtype=np.float32).reshape(count, dimension)


def keys(count):
    return [vector_key(INFO, str(number)) for number in range(count)]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(INFO, fingerprint="0" * 32), id="another model"),
        pytest.param(replace(INFO, document_prompt="passage: "), id="another document prompt"),
        pytest.param(replace(INFO, precision="bf16"), id="another precision"),
    ],
)
def test_what_changes_a_vector_changes_its_key(other):
    assert vector_key(INFO, "text") != vector_key(other, "text")


@pytest.mark.parametrize(
    "same",
    [
        pytest.param(replace(INFO, engine="openvino"), id="another engine of the model"),
        pytest.param(replace(INFO, query_prompt="query: "), id="another question prompt"),
        pytest.param(replace(INFO, name="models/m"), id="another name of the model"),
    ],
)
def test_what_does_not_change_a_vector_does_not_change_its_key(same):
    assert vector_key(INFO, "text") == vector_key(same, "text")


def test_a_key_depends_on_every_character_and_takes_any_text():
    texts = ["", "a", "a ", "\0", "\ud800", "日本"]
    assert len({vector_key(INFO, text) for text in texts}) == len(texts)
    assert all(len(vector_key(INFO, text)) == 32 for text in texts)


def test_a_prompt_and_a_text_do_not_run_together():
    assert vector_key(replace(INFO, document_prompt="a"), "b") != vector_key(replace(INFO, document_prompt=""), "ab")


def test_what_was_put_comes_back_after_closing(tmp_path):
    with VectorCache(tmp_path / "v.sqlite") as cache:
        cache.put_many(keys(1200), vectors(1200))
    with VectorCache(tmp_path / "v.sqlite") as cache:
        assert len(cache) == 1200
        found = cache.get_many([*keys(1201), keys(1)[0]])
    assert set(found) == set(keys(1200))
    assert all(np.array_equal(found[key], row) for key, row in zip(keys(1200), vectors(1200), strict=True))


def test_the_default_file_is_in_the_users_cache_folder(tmp_path):
    assert VectorCache().path == cache_folder() / "vectors.sqlite"
    assert cache_folder({"RAG_INDEX_CACHE_DIR": str(tmp_path)}) == tmp_path
    assert cache_folder({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "rag-index"
    assert cache_folder({"HOME": str(tmp_path)}).is_relative_to(tmp_path)


def test_a_full_cache_drops_what_was_not_used_for_longest(tmp_path):
    with VectorCache(tmp_path / "v.sqlite", limit_mb=1) as cache:
        for start in range(0, 3000, 100):
            cache.put_many(keys(3000)[start : start + 100], vectors(100, 384))
        assert cache.size_mb() <= 1.1
        assert keys(3000)[-1] in cache.get_many(keys(3000))
        assert keys(1)[0] not in cache.get_many(keys(1))


def test_pruning_to_nothing_leaves_nothing(tmp_path):
    with VectorCache(tmp_path / "v.sqlite") as cache:
        cache.put_many(keys(10), vectors(10))
        assert cache.prune(0) == 10
        assert len(cache) == 0
        assert cache.prune(0) == 0


def test_a_file_that_is_no_database_is_begun_anew(tmp_path):
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"not a database" * 1000)
    with VectorCache(path) as cache:
        assert cache.get_many(keys(3)) == {}
        cache.put_many(keys(3), vectors(3))
        assert len(cache.get_many(keys(3))) == 3


def test_a_file_that_is_damaged_while_open_never_gives_a_wrong_vector(tmp_path):
    path = tmp_path / "v.sqlite"
    with VectorCache(path) as cache:
        cache.put_many(keys(500), vectors(500))
    whole = path.read_bytes()
    expected = dict(zip(keys(500), vectors(500), strict=True))
    for seed in range(40):
        data = bytearray(whole)
        for at in np.random.default_rng(seed).integers(100, len(data), 20):
            data[at] ^= 0xFF
        path.write_bytes(data)
        with VectorCache(path) as cache:
            found = cache.get_many(keys(500))
            assert all(np.array_equal(vector, expected[key]) for key, vector in found.items())
            cache.put_many(keys(1), vectors(1))


def test_a_changed_vector_in_a_sound_file_is_not_believed(tmp_path):
    path = tmp_path / "v.sqlite"
    with VectorCache(path) as cache:
        cache.put_many(keys(2), vectors(2))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(20) WHERE key = ?", keys(1))
    with VectorCache(path) as cache:
        assert set(cache.get_many(keys(2))) == {keys(2)[1]}


def test_a_cache_that_can_not_be_written_is_read(tmp_path):
    path = tmp_path / "folder" / "v.sqlite"
    with VectorCache(path) as cache:
        cache.put_many(keys(2), vectors(2))
        cache._connection.execute("PRAGMA journal_mode=DELETE")
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        with unprivileged(), VectorCache(path) as cache:
            assert len(cache.get_many(keys(2))) == 2
            cache.put_many(keys(3), vectors(3))
            assert len(cache) == 2
    finally:
        path.parent.chmod(0o755)


def test_where_no_file_can_be_made_the_cache_works_and_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "v.sqlite"
    with VectorCache(path) as cache:
        cache.put_many(keys(2), vectors(2))
        assert len(cache) == 2
    with VectorCache(path) as cache:
        assert len(cache) == 0


def test_two_caches_on_one_file_see_each_other(tmp_path):
    with VectorCache(tmp_path / "v.sqlite") as one, VectorCache(tmp_path / "v.sqlite") as other:
        one.put_many(keys(2), vectors(2))
        assert len(other.get_many(keys(2))) == 2
