from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rag_index.embed import load_embedder
from rag_index.errors import IndexMismatchError, IndexMissingError, UnknownNameError, UsageError
from rag_index.index import Index
from rag_index.pipeline import build
from rag_index.settings import ChunkSettings, EmbedSettings, Settings, StoreSettings
from rag_index.types import Filter

SETTINGS = Settings(
    chunk=ChunkSettings(size=200, overlap=40), embed=EmbedSettings(model="hash"), store=StoreSettings(publish=False)
)


def test_a_text_is_found_at_once_and_replaced_when_it_is_saved_again(tmp_path: Path) -> None:
    with Index.open(tmp_path / "notes", SETTINGS) as index:
        index.add("note/1", "The boiler was serviced in May.", {"author": "Ann"})
        index.add("note/2", "The pump has a new seal.")
        assert index.query("When was the boiler serviced?")[0].path == "note/1"
        index.add("note/1", "The boiler was replaced in June.")
        (first, *_) = index.query("boiler")
        assert "June" in first.text
        assert [row.path for row in index.documents()] == ["note/1", "note/2"]
    with Index.open(tmp_path / "notes") as again:
        assert again.query("boiler", limit=1)[0].text == first.text


def test_a_removed_text_is_not_found(tmp_path: Path) -> None:
    with Index.open(tmp_path / "notes", SETTINGS) as index:
        index.add("a", "The boiler was serviced.")
        index.add("b", "The pump was serviced.")
        assert index.remove("a")
        assert not index.remove("a")
        assert {passage.path for passage in index.query("boiler serviced")} == {"b"}


def test_metadata_limits_a_query(tmp_path: Path) -> None:
    with Index.open(tmp_path / "notes", SETTINGS) as index:
        index.add("a", "The boiler was serviced.", {"author": "Ann"})
        index.add("b", "The boiler was serviced, too.", {"author": "Bob"})
        found = index.query("boiler", Filter(meta=(("author", "Bob"),)))
        assert [passage.path for passage in found] == ["b"]


def test_a_build_of_files_leaves_added_texts_alone(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.txt").write_text("A file about boilers.", encoding="utf-8")
    path = tmp_path / "docs/.rag-index"
    build([tmp_path / "docs"], path, SETTINGS)
    with Index.open(tmp_path / "docs") as index:
        index.add("note", "A note about boilers.")
        other = Settings(chunk=ChunkSettings(size=10, overlap=2), embed=SETTINGS.embed, store=SETTINGS.store)
        for settings in (SETTINGS, other):
            build([tmp_path / "docs"], path, settings)
            assert [row.path for row in index.documents()] == ["a.txt", "note"]
        assert index.documents()[1].origin == "added"


def test_threads_may_share_an_index(tmp_path: Path) -> None:
    errors: list[BaseException] = []
    with Index.open(tmp_path / "notes", SETTINGS) as index:
        index.add("0", "Text 0 about pumps.")

        def work(number: int) -> None:
            try:
                for turn in range(3):
                    index.add(f"{number}/{turn}", f"Text {number} {turn} about pumps.")
                    assert index.query("pumps", limit=3)
            except BaseException as error:  # noqa: BLE001 (shown by the test)
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert len(index.documents()) == 13


@pytest.mark.parametrize(("id_", "text"), [("", "text"), ("a", "\ud800"), ("\ud800", "text")])
def test_what_can_not_be_stored_is_refused(tmp_path: Path, id_: str, text: str) -> None:
    with Index.open(tmp_path / "notes", SETTINGS) as index, pytest.raises(UsageError):
        index.add(id_, text)


def test_an_unknown_option_is_named(tmp_path: Path) -> None:
    with Index.open(tmp_path / "notes", SETTINGS) as index:
        index.add("a", "A text.")
        with pytest.raises(UnknownNameError, match="unknown option 'limits'"):
            index.query("text", limits=3)


def test_there_is_nothing_to_ask_before_the_first_text(tmp_path: Path) -> None:
    with Index.open(tmp_path / "notes", SETTINGS) as index, pytest.raises(IndexMissingError):
        index.query("anything")


def test_another_model_is_refused(tmp_path: Path) -> None:
    other = load_embedder(EmbedSettings(model="hash", document_prompt="passage: "))
    with Index.open(tmp_path / "notes", SETTINGS) as index:
        index.add("a", "A text.")
    with Index.open(tmp_path / "notes", embedder=other) as index, pytest.raises(IndexMismatchError):
        index.add("b", "Another text.")


def test_an_empty_text_is_kept_but_not_found(tmp_path: Path) -> None:
    with Index.open(tmp_path / "notes", SETTINGS) as index:
        index.add("a", "  ")
        index.add("b", "A text.")
        assert [(row.path, row.status) for row in index.documents()] == [("a", "empty"), ("b", "ok")]
