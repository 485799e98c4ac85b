"""An index of every format version that was ever written stays here, and is read or refused in words."""

from __future__ import annotations

import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from rag_index.errors import IndexDamagedError, IndexMismatchError, IndexMissingError
from rag_index.store import find_index, open_snapshot
from rag_index.store.dump import dump
from rag_index.store.schema import FORMAT

INDEXES = Path(__file__).resolve().parents[2] / "data/indexes"


def unpack(version: int, folder: Path) -> Path:
    with zipfile.ZipFile(INDEXES / f"format-{version}.zip") as packed:
        packed.extractall(folder)
    return folder


@pytest.mark.parametrize("version", range(1, FORMAT + 1))
def test_an_index_of_each_format_is_read_as_it_was_written(tmp_path: Path, version: int) -> None:
    with open_snapshot(unpack(version, tmp_path / "index")) as snapshot:
        assert "\n".join(dump(snapshot)) + "\n" == (INDEXES / f"format-{version}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(("version", "hint"), [(99, "Install the newer"), (0, "Delete the folder")])
def test_another_format_is_refused_with_what_to_do(tmp_path: Path, version: int, hint: str) -> None:
    index = unpack(1, tmp_path / "index")
    with closing(sqlite3.connect(index / "state-1/index.sqlite")) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    with pytest.raises(IndexMismatchError, match=f"has index format {version}, this version reads {FORMAT}") as caught:
        open_snapshot(index)
    assert hint in caught.value.hint


def test_another_programs_database_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "index/state-1").mkdir(parents=True)
    with closing(sqlite3.connect(tmp_path / "index/state-1/index.sqlite")) as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(IndexDamagedError, match="not a database of rag-index"):
        open_snapshot(tmp_path / "index")


def test_an_index_is_found_upward_by_variable_and_by_name(tmp_path: Path) -> None:
    index = unpack(1, tmp_path / "docs/.rag-index")
    deep = tmp_path / "docs/a/b"
    deep.mkdir(parents=True)
    assert find_index(deep, environ={}) == index
    assert find_index(tmp_path, environ={"RAG_INDEX_DIR": str(index)}) == index
    assert find_index(tmp_path, tmp_path / "docs", environ={}) == index
    with pytest.raises(IndexMissingError):
        find_index(tmp_path, environ={})
    with pytest.raises(IndexMissingError, match="no index in"):
        find_index(deep, tmp_path / "none", environ={})
