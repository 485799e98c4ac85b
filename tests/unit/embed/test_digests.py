import hashlib
import os

import pytest

from rag_index.embed import digests
from rag_index.embed.digests import sha256_of
from rag_index.errors import ModelError

LARGE = 3 << 20


def old_file(path, data):
    path.write_bytes(data)
    os.utime(path, (1e9, 1e9))
    return path


@pytest.fixture
def settled(monkeypatch):
    """Let a file count as settled at once, so that no test has to wait for its clock."""
    monkeypatch.setattr(digests, "_SETTLED_NS", 0)


@pytest.mark.parametrize("size", [0, 10, LARGE])
def test_the_digest_is_that_of_the_bytes_the_second_time_too(tmp_path, settled, size):
    path = old_file(tmp_path / "w", os.urandom(size))
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    assert [sha256_of(path), sha256_of(path)] == [expected] * 2


def test_a_file_that_was_changed_is_read_again_though_size_and_time_are_the_same(tmp_path, settled):
    path = old_file(tmp_path / "w", b"a" * LARGE)
    before = sha256_of(path)
    old_file(path, b"b" * LARGE)
    assert sha256_of(path) != before


def test_a_file_just_written_is_not_remembered(tmp_path):
    path = tmp_path / "w"
    path.write_bytes(b"c" * LARGE)
    sha256_of(path)
    assert not any(str(path) in stamp for stamp in digests._known())


@pytest.mark.parametrize("content", ["", "[]", "{", '{"a": 1}'])
def test_a_damaged_memory_is_as_good_as_none(tmp_path, settled, content):
    digests._file().parent.mkdir(parents=True, exist_ok=True)
    digests._file().write_text(content)
    path = old_file(tmp_path / "w", b"d" * LARGE)
    assert sha256_of(path) == hashlib.sha256(b"d" * LARGE).hexdigest()


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(ModelError, match="can't read"):
        sha256_of(tmp_path / "w")
